//! UCI text to types and back, without any state.

pub mod notation;
pub mod parse;

pub use parse::{
    Clock, Command, Go, Info, Position, Refusal, Reply, Start, Status, parse, quote, speed,
};
