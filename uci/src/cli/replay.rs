//! `cairn replay`: plays a logged session again and compares.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use anyhow::{Context, anyhow};

use super::output::print;
use super::{Failure, bad_usage};
use crate::session::replay::Session;

/// The exit code for a log that cannot be replayed.
const UNUSABLE_LOG: u8 = 2;

/// Play a session again that the option 'Debug Log File' has written down, and compare
///
/// Exit codes: 0 all the same, 1 a difference, 2 no usable log, 3 the log is incomplete but the same
/// as far as it goes.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The log
    log: PathBuf,
    /// A file in place of one that the session has loaded, such as EvalFile=FILE; a replay opens no file
    /// that the log names
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
}

/// Replays, and prints how it went.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = arguments.log.display();
    let unusable = |error| Failure { error, code: UNUSABLE_LOG, is_usage: false };
    let pairs = arguments.options.iter().map(|option| option.split_once('='));
    let files: Option<Vec<(String, String)>> = pairs
        .map(|pair| pair.map(|(name, path)| (name.trim().to_owned(), path.trim().to_owned())))
        .collect();
    let files =
        files.ok_or_else(|| bad_usage(anyhow!("--option is written --option NAME=VALUE")))?;
    let session = File::open(&arguments.log)
        .with_context(|| format!("cannot read {path}"))
        .and_then(|file| Session::read(BufReader::new(file)).with_context(|| path.to_string()))
        .and_then(|session| session.with_files(files))
        .map_err(unusable)?;
    let verdict = session.replay()?;
    print(&format!("{verdict}\n"))?;
    match verdict.exit_code() {
        0 => Ok(()),
        code => Err(Failure {
            error: anyhow!("{path} was not repeated in full"),
            code,
            is_usage: false,
        }),
    }
}
