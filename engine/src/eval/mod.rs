//! What a position is worth, as seen from the board alone.
//!
//! An evaluation follows the board as its [`Observer`] and is asked for a number; nothing in the
//! search knows which one it is.

pub mod endgame;
pub mod network;
pub mod tapered;
mod weights;

use crate::board::{Board, Observer};
use crate::score::Score;

pub use tapered::Tapered;

/// An evaluation that follows a board.
pub trait Evaluator: Observer {
    /// An evaluation of this position; afterwards it has to be told of every move.
    fn of(board: &Board) -> Self;

    /// What the position is worth to the side to move, in hundredths of a pawn; below
    /// [`crate::score::MATE_BAND`] either way. Depends on the placement and the side to move alone.
    fn evaluate(&self, board: &Board) -> Score;
}
