//! `cairn eval`: the static evaluation of a position, term by term.

use super::output::print;
use super::{Failure, position};
use crate::session::views;

/// Say what a position is worth before anything is searched, term by term
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The position; without it the starting position
    fen: Vec<String>,
}

/// Evaluates and prints.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    print(&(views::evaluation(&position(&arguments.fen)?) + "\n"))
}
