//! Standard output of a command: what cannot be written is an error, a reader that has left is the end.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
#[cfg(unix)]
use std::{process, thread};

use anyhow::Context;
use indicatif::ProgressBar;
#[cfg(unix)]
use rustix::event::{PollFd, PollFlags, poll};
#[cfg(unix)]
use rustix::io::Errno;

use super::Failure;
use crate::session::reader::Waiting;

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
        Some(ErrorKind::BrokenPipe) => {
            Failure { error: ReaderGone.into(), code: 0, is_usage: false }
        }
        _ => error.into(),
    }
}

/// Prints to standard output, at once.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut output = Waiting(io::stdout().lock());
    let written = output.write_all(text.as_bytes()).and_then(|()| output.flush());
    written.context("cannot write the output").map_err(failure)
}

/// Whether two paths lead to the same file, which is there.
pub(super) fn is_same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let place = |path: &Path| std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
        place(one).is_some_and(|one| place(other) == Some(one))
    }
    #[cfg(not(unix))]
    {
        let (one, other) = (one.canonicalize(), other.canonicalize());
        one.is_ok_and(|one| other.is_ok_and(|other| one == other))
    }
}

/// Says something on standard error, besides the progress.
pub(super) fn tell(progress: &ProgressBar, text: &str) {
    // Where nobody can be told, the exit code tells.
    progress.suspend(|| drop(writeln!(io::stderr(), "cairn: {text}")));
}

/// Ends the program with `code` as soon as nobody reads standard output any more: a command that prints
/// nothing for hours would not find out by itself. On systems without `poll` it only finds out by printing.
pub(super) fn exit_when_unread(code: u8) {
    #[cfg(unix)]
    {
        // Without the thread nothing is lost but some of the processor's time.
        let _ = thread::Builder::new()
            .name("output".into())
            .spawn(move || wait_until_unread().then(|| process::exit(code.into())));
    }
    #[cfg(not(unix))]
    let _ = code;
}

/// Waits until nobody reads standard output. Whether that has come about; never for a file.
#[cfg(unix)]
fn wait_until_unread() -> bool {
    let output = io::stdout();
    // To be asked for nothing means to be told only of errors.
    let mut polled = [PollFd::new(&output, PollFlags::empty())];
    while let Err(error) = poll(&mut polled, None) {
        if error != Errno::INTR {
            return false;
        }
    }
    polled[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// Prints lines for a function that cannot be told of an error, and keeps the first one for later.
pub(super) struct Printer {
    failed: Option<Failure>,
    /// What shows the progress; it makes room for each line.
    pub(super) progress: ProgressBar,
}

impl Default for Printer {
    fn default() -> Printer {
        Printer::new(ProgressBar::hidden())
    }
}

impl Printer {
    /// A printer beside a bar that shows progress.
    pub(super) fn new(progress: ProgressBar) -> Printer {
        Printer { failed: None, progress }
    }

    /// Prints one line, unless an earlier one could not be printed. Whether there is any use in more.
    pub(super) fn line(&mut self, line: String) -> bool {
        if self.failed.is_none() {
            self.failed = self.progress.suspend(|| print(&(line + "\n"))).err();
        }
        self.failed.is_none()
    }

    /// The first error, if there was one.
    pub(super) fn finish(self) -> Result<(), Failure> {
        self.progress.finish_and_clear();
        self.failed.map_or(Ok(()), Err)
    }
}
