//! The file of the option `Hash File`: what the searcher has learnt is saved to it and loaded from it.

use std::io::{self, ErrorKind, Read, Seek};

use cairn_engine::eval::PackedNetwork;
use cairn_engine::search::Searcher;
use cairn_engine::search::saved::{ANY_MAGIC, SavedError, SavedRefusal, identity_of};

use crate::session::files::{Checksum, FilePath};

/// Why a job that was stopped has failed.
const STOPPED: &str = "stopped";

/// Saves what was learnt, until `stopped`, which is asked after each MiB: then the old file stays. Returns what
/// tells the file from others.
///
/// # Errors
/// Why nothing was saved.
pub fn save(
    searcher: &Searcher,
    path: &FilePath,
    stopped: &dyn Fn() -> bool,
) -> Result<Checksum, String> {
    let mut file = path.renew(ANY_MAGIC).map_err(in_words)?;
    let put = &mut |piece: &[u8]| {
        if stopped() {
            return Err(STOPPED.to_owned());
        }
        file.write(piece).map_err(in_words)
    };
    let number = searcher.save(put).map_err(why)?;
    if stopped() {
        return Err(STOPPED.to_owned());
    }
    file.finish().map_err(in_words)?;
    Ok(number.into())
}

/// Loads what was saved. Until all of it is checked `stopped` is asked after each MiB, and nothing is changed.
/// Returns what tells the file from others.
///
/// # Errors
/// Why nothing was loaded; what was learnt is kept, but for a file that changes meanwhile.
pub fn load(
    searcher: &mut Searcher,
    path: &FilePath,
    stopped: &dyn Fn() -> bool,
) -> Result<Checksum, String> {
    let mut file = path.open().map_err(in_words)?;
    let mut get = |place: &mut [u8]| {
        if stopped() {
            return Err(STOPPED.to_owned());
        }
        file.read_exact(place).map_err(in_words)
    };
    let checked = searcher.check_saved(&mut get).map_err(why)?;
    if file.read(&mut [0]).map_err(in_words)? > 0 {
        return Err(why(SavedRefusal::Long.into()));
    }
    file.rewind().map_err(in_words)?;
    searcher.load(checked, &mut |place| file.read_exact(place).map_err(in_words)).map_err(why)?;
    Ok(checked.into())
}

/// What tells a file from others, once all of it is checked.
///
/// # Errors
/// What is wrong with it.
pub fn checksum(path: &FilePath) -> Result<Checksum, String> {
    let mut file = path.open().map_err(in_words)?;
    let checksum =
        identity_of(&mut |place| file.read_exact(place).map_err(in_words)).map_err(why)?;
    Ok(checksum.into())
}

/// Why it has failed, with the options that help.
fn why(error: SavedError<String>) -> String {
    let refusal = match error {
        SavedError::Stream(reason) => return reason,
        SavedError::Changed => {
            return "it has changed while it was read; the hash table is empty now".into();
        }
        SavedError::Refused(refusal) => refusal,
    };
    match refusal {
        SavedRefusal::Hash(mib) => format!("the file has {mib} MiB, set Hash to {mib}"),
        SavedRefusal::Threads { number: 1, .. } => {
            "the file is of 1 thread, set Threads to 1".into()
        }
        SavedRefusal::Threads { number, deterministic } => format!(
            "the file is of {number} {} threads, set Threads to {number} and Deterministic to {deterministic}",
            if deterministic { "deterministic" } else { "free" }
        ),
        SavedRefusal::Network(checksum) if is_built_in(checksum) => {
            "the file was made with the network that is built in, set EvalFile to <empty>".into()
        }
        SavedRefusal::Network(0) => "the file was made without a network".into(),
        SavedRefusal::Network(checksum) => format!(
            "the file was made with another network, set EvalFile to the one with checksum {checksum:016x}"
        ),
        SavedRefusal::Style => "style MicroMax keeps nothing from one search for the next".into(),
        other => format!("the file is {other}"),
    }
}

/// Whether the network that is built in has this checksum.
fn is_built_in(checksum: u64) -> bool {
    let built_in = PackedNetwork::built_in().ok().flatten();
    built_in.is_some_and(|network| network.identity().checksum == checksum)
}

/// What the system says.
fn in_words(error: io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".into(),
        ErrorKind::UnexpectedEof => "the file is cut off".into(),
        ErrorKind::StorageFull => "there is no space left for it".into(),
        _ => error.to_string(),
    }
}
