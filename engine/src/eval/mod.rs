//! Static evaluation.
//!
//! An evaluation follows the board as its [`Observer`]; the search does not know which one it is.

mod damping;
pub mod endgame;
pub mod network;
mod network_file;
pub mod neural;
pub mod phase;
pub mod tapered;
mod weights;

use crate::board::{Board, Observer};
use crate::score::{Score, clamp_evaluation};

pub use damping::Damping;
pub use neural::{Neural, PackedNetwork};
pub use tapered::Tapered;

/// An evaluation that follows a board.
pub trait Evaluator: Observer {
    /// The weights that it evaluates with, if it can have others.
    type Weights: Sync;

    /// The evaluation of a position; afterwards it has to observe every move.
    fn of(board: &Board, weights: &Self::Weights) -> Self;

    /// The score for the side to move, in hundredths of a pawn; below [`crate::score::TB_BAND`] either way. A
    /// function of the placement and the side to move alone.
    fn evaluate(&mut self, board: &Board) -> Score;
}

/// The raw evaluation: an evaluation and mop-up, before corrections and scaling. For the side to move, below
/// [`crate::score::TB_BAND`] either way; a function of the placement and the side to move alone, as the
/// delayed gain needs it.
#[inline]
#[must_use]
pub fn raw_eval(evaluator: &mut impl Evaluator, board: &Board) -> Score {
    clamp_evaluation(endgame::mop_up(board, evaluator.evaluate(board)))
}
