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
pub mod console;
pub mod datagen;
pub mod openings;
pub mod protocol;
pub mod session;
pub mod signature;

pub use session::{run_lines, uci_loop};
