//! UCI text to types and back, without any state.
//!
//! The names that the floors above use are repeated here; the files of this floor import each other.

pub mod command;
pub mod notation;
pub mod parse;
pub mod reply;
pub mod san;
pub mod text;

pub use command::{Clock, Command, Go, OpeningsRequest, Position, Refusal, Start};
pub use parse::{GO_LIMITS, MAX_BENCH, MAX_PERFT, parse, read_integer};
pub use reply::{Info, OptionDeclaration, OptionType, Reply, Status, Wdl, speed};
pub use text::{quote, words};
