//! Standard output of a command: what cannot be written is an error, a reader that has left is the end.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind, Write};

use anyhow::Context;

use super::Failure;

/// Nobody reads the output any more. That ends a command, but is no error.
#[derive(Debug)]
pub(super) struct ReaderGone;

impl fmt::Display for ReaderGone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody reads the output any more")
    }
}

impl Error for ReaderGone {}

/// What an error of a session means to the program.
pub(super) fn failure(error: anyhow::Error) -> Failure {
    match error.downcast_ref::<io::Error>().map(io::Error::kind) {
        Some(ErrorKind::BrokenPipe) => ReaderGone.into(),
        _ => error.into(),
    }
}

/// Prints to standard output, at once.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    let written = output.write_all(text.as_bytes()).and_then(|()| output.flush());
    written.context("cannot write the output").map_err(failure)
}

/// Prints lines for a function that cannot be told of an error, and keeps the first one for later.
#[derive(Default)]
pub(super) struct Printer {
    failed: Option<Failure>,
}

impl Printer {
    /// Prints one line, unless an earlier one could not be printed. Whether there is any use in more.
    pub(super) fn line(&mut self, line: String) -> bool {
        if self.failed.is_none() {
            self.failed = print(&(line + "\n")).err();
        }
        self.failed.is_none()
    }

    /// The first error, if there was one.
    pub(super) fn finish(self) -> Result<(), Failure> {
        self.failed.map_or(Ok(()), Err)
    }
}
