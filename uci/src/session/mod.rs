//! What runs between a GUI and the engine: four threads, joined by unbounded channels.
//!
//! ```text
//! stdin -> reader -> controller -> worker (the search)
//!                        |   ^________|  events
//!                        v
//!                      writer -> stdout
//! ```
//!
//! The reader reads and stamps. The controller owns the position, the options and the state, and never
//! blocks. The worker searches. The writer is the only owner of standard output.

pub mod answer;
pub mod clock;
pub mod controller;
pub mod files;
pub mod game;
pub mod level;
pub mod log;
pub mod messages;
pub mod network;
pub mod options;
pub mod pending;
pub mod plan;
pub mod reader;
pub mod replay;
pub mod saved;
pub mod table;
pub mod tables;
pub mod views;
pub mod watch;
pub mod wdl;
pub mod worker;
pub mod writer;

use std::io::{Read, Write};

use anyhow::Result;

use controller::{Controller, Manner};
use writer::Writer;

/// Talks UCI on the given streams until `quit`, the end of the input or a broken output.
///
/// # Errors
/// When one of the threads cannot be started, or the output cannot be written; a broken pipe is a peer
/// that has gone.
pub fn uci_loop<R, W>(input: R, output: W) -> Result<()>
where
    R: Read + Send + 'static,
    W: Write + Send + 'static,
{
    let lines = reader::spawn(input)?;
    Controller::new(lines, Writer::spawn(output)?, Manner::Interactive)?.run()
}

/// Runs the given lines in order, each after the one before it has finished, and returns.
///
/// # Errors
/// When one of the threads cannot be started, the output cannot be written, or a command beyond UCI
/// cannot do what it was asked for.
pub fn run_lines(lines: impl IntoIterator<Item = String>, writer: Writer) -> Result<()> {
    Controller::new(reader::script(lines), writer, Manner::Patient)?.run()
}
