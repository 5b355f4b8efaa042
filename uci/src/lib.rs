//! The front-end of Cairn: it reads, prints and times; the engine crate only counts nodes.
//!
//! ```text
//! stdin -> reader -> controller -> worker (the search)
//!                        |   ^________|  events
//!                        v
//!                      writer -> stdout
//! ```
//!
//! Four threads, joined by unbounded channels. The reader only reads and stamps, the controller owns
//! the position, the options and the state and never blocks, the worker searches, and the writer is
//! the one owner of standard output. [`uci_loop`] puts them together; [`console`] is the command line.

pub mod analysis;
pub mod clock;
pub mod console;
pub mod controller;
pub mod datagen;
pub mod game;
pub mod games;
pub mod level;
pub mod log;
pub mod notation;
pub mod openings;
pub mod options;
pub mod protocol;
pub mod reader;
pub mod replay;
pub mod signature;
pub mod wdl;
pub mod worker;
pub mod writer;

use std::io::{Read, Write};

use crossbeam_channel::{Receiver, unbounded};

use controller::{Controller, Manner};
use reader::Input;
use writer::Writer;

/// Talks UCI on the given streams until `quit`, the end of the input or a broken output.
///
/// # Errors
/// When one of the threads cannot be started.
pub fn uci_loop<R, W>(input: R, output: W) -> std::io::Result<()>
where
    R: Read + Send + 'static,
    W: Write + Send + 'static,
{
    let lines = reader::spawn(input)?;
    Controller::new(lines, Writer::spawn(output)?, Manner::Interactive)?.run();
    Ok(())
}

/// Runs the given lines in order, each after the one before it has finished, and returns.
///
/// # Errors
/// When one of the threads cannot be started.
pub fn run_lines(lines: impl IntoIterator<Item = String>, writer: Writer) -> std::io::Result<()> {
    Controller::new(script(lines), writer, Manner::Patient)?.run();
    Ok(())
}

/// The given lines as if they had been read, with the end of the input behind them.
pub(crate) fn script(lines: impl IntoIterator<Item = String>) -> Receiver<Input> {
    let (sender, receiver) = unbounded();
    for line in lines {
        // The receiver is alive in this very function, so this cannot fail.
        let _ = sender.send(Input::line(line.into_bytes()));
    }
    let _ = sender.send(Input::end());
    receiver
}
