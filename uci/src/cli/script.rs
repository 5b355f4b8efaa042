//! UCI commands as arguments, one to an argument: `cairn "position startpos" "go depth 5"`.

use std::ffi::OsString;
use std::io;

use anyhow::anyhow;

use super::output::failure;
use super::{Failure, bad_usage, names};
use crate::protocol;
use crate::writer::Writer;

/// Whether the arguments are UCI commands: the first one is none of the program's own and can be read as
/// one, or could only have been meant so, as a whole line in one argument.
pub(super) fn is_script(arguments: &[OsString]) -> bool {
    let Some(first) = arguments.first().map(|first| first.to_string_lossy()) else { return false };
    let is_own = first.starts_with('-') || names().iter().any(|name| *name == first);
    let is_line = first.trim().contains(char::is_whitespace);
    !is_own
        && first != "help"
        && (is_line || matches!(protocol::parse(first.as_bytes()), Ok(Some(_))))
}

/// Runs the commands, each after the one before it has finished.
pub(super) fn run(arguments: Vec<OsString>) -> Result<(), Failure> {
    let lines = arguments.into_iter().map(readable).collect::<Result<Vec<String>, Failure>>()?;
    let writer = Writer::spawn(io::stdout())?;
    crate::run_lines(lines, writer).map_err(failure)
}

/// An argument that is a command.
fn readable(argument: OsString) -> Result<String, Failure> {
    let argument = argument.into_string().map_err(|argument| {
        bad_usage(anyhow!("'{}' is not written in UTF-8", argument.to_string_lossy()))
    })?;
    match protocol::parse(argument.as_bytes()) {
        Ok(Some(_)) => Ok(argument),
        Ok(None) => Err(bad_usage(anyhow!("'{argument}' is no command"))),
        Err(refusal) => Err(bad_usage(anyhow!("{refusal}"))),
    }
}
