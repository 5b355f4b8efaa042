//! `cairn replay`: plays a logged session again and compares.

use std::path::PathBuf;

use anyhow::{Context, anyhow};

use super::Failure;
use super::output::print;
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
}

/// Replays, and prints how it went.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = arguments.log.display();
    let unusable = |error| Failure { error, code: UNUSABLE_LOG, is_usage: false };
    let text = std::fs::read(&arguments.log)
        .with_context(|| format!("cannot read {path}"))
        .map_err(unusable)?;
    let session = Session::parse(&text).with_context(|| path.to_string()).map_err(unusable)?;
    session.check_network().with_context(|| path.to_string()).map_err(unusable)?;
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
