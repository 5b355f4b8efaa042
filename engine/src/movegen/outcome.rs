//! What a board says by its legal moves: mate, stalemate and the end of a game.

use super::{count_legal, legal_moves};
use crate::board::{Board, GameEnd};
use crate::moves::MoveList;

impl Board {
    /// The legal moves.
    #[must_use]
    pub fn legal_moves(&self) -> MoveList {
        legal_moves(self)
    }

    /// Whether the side to move is checkmated.
    #[must_use]
    pub fn is_checkmate(&self) -> bool {
        self.in_check() && count_legal(self) == 0
    }

    /// How the game has ended, if it has. Mate counts before any draw.
    #[must_use]
    pub fn outcome(&self) -> Option<GameEnd> {
        if count_legal(self) > 0 {
            return self.draw_by_rule();
        }
        Some(if self.in_check() { GameEnd::Checkmate } else { GameEnd::Stalemate })
    }
}
