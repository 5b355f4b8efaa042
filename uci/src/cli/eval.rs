//! `cairn eval`: the static evaluation of a position, piece by piece.

use super::output::print;
use super::{Failure, position};
use crate::session::{network, views};

/// Say what a position is worth before anything is searched, piece by piece, and which network says so
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The position; without it the starting position
    fen: Vec<String>,
}

/// Evaluates and prints.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let network = network::playing(None);
    print(&(views::evaluation(&position(&arguments.fen)?, network.as_ref()) + "\n"))
}
