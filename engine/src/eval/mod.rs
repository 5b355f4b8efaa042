//! What a position is worth, as seen from the board alone.
//!
//! An evaluation follows the board as its [`Observer`] and is asked for a number; nothing in the
//! search knows which one it is.

pub mod endgame;
pub mod network;
pub mod neural;
pub mod tapered;
mod weights;

use crate::board::{Board, Observer};
use crate::score::Score;

pub use neural::{Neural, PackedNetwork};
pub use tapered::Tapered;

/// An evaluation that follows a board.
pub trait Evaluator: Observer {
    /// What it takes its numbers from, if it can have others.
    type Weights;

    /// An evaluation of this position; afterwards it has to be told of every move.
    fn of(board: &Board, weights: &Self::Weights) -> Self;

    /// What the position is worth to the side to move, in hundredths of a pawn; below
    /// [`crate::score::MATE_BAND`] either way. Depends on the placement and the side to move alone.
    fn evaluate(&mut self, board: &Board) -> Score;
}
