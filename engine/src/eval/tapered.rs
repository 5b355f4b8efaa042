//! Tapered material and piece-square tables.
//!
//! Two sums, one for the middle game and one for the endgame, blended by the men that are left.
//! Source of the method: <https://www.chessprogramming.org/Tapered_Eval>.

use super::Evaluator;
use super::weights::{PIECE_SQUARE, TEMPO};
use crate::board::{Board, Observer};
use crate::moves::Move;
use crate::piece::{Kind, Piece, Side};
use crate::score::{Score, clamp_evaluation};
use crate::square::Square;

/// What a man counts towards the middle game, by kind.
const PHASE: [i32; 8] = [0, 0, 0, 1, 0, 1, 2, 4];
/// The sum of [`PHASE`] at the start of a game; more, after promotions, counts as much.
const FULL_PHASE: i32 = 24;

/// The running sums, from white's view.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Sums {
    middlegame: i32,
    endgame: i32,
    phase: i32,
}

/// The evaluation: its sums, and those before each move that was made.
#[derive(Clone, Debug)]
pub struct Tapered {
    now: Sums,
    before: Vec<Sums>,
}

/// The index of a man's square in its table: rank 8 first from the own side's view.
#[inline(always)]
const fn table_square(piece: Piece, square: Square) -> usize {
    let row = match piece.side() {
        Side::White => square.row(),
        Side::Black => 7 - square.row(),
    };
    (8 * row + square.file()) as usize
}

#[inline(always)]
const fn table_kind(kind: Kind) -> usize {
    match kind {
        Kind::WhitePawn | Kind::BlackPawn => 0,
        Kind::Knight => 1,
        Kind::Bishop => 2,
        Kind::Rook => 3,
        Kind::Queen => 4,
        Kind::King => 5,
    }
}

impl Sums {
    #[inline(always)]
    fn add(&mut self, piece: Piece, square: Square, sign: i32) {
        let (middlegame, endgame) =
            PIECE_SQUARE[table_kind(piece.kind())][table_square(piece, square)];
        let signed = if piece.side() == Side::White { sign } else { -sign };
        self.middlegame += signed * i32::from(middlegame);
        self.endgame += signed * i32::from(endgame);
        self.phase += sign * PHASE[piece.kind().index()];
    }
}

impl Observer for Tapered {
    #[inline]
    fn push(&mut self, _board: &Board, _mv: Move) {
        self.before.push(self.now);
    }

    #[inline]
    fn vanish(&mut self, piece: Piece, square: Square) {
        self.now.add(piece, square, -1);
    }

    #[inline]
    fn appear(&mut self, piece: Piece, square: Square) {
        self.now.add(piece, square, 1);
    }

    #[inline]
    fn pop(&mut self) {
        if let Some(before) = self.before.pop() {
            self.now = before;
        }
    }
}

impl Evaluator for Tapered {
    fn of(board: &Board) -> Tapered {
        let mut now = Sums::default();
        for square in Square::all() {
            if let Some(piece) = board.piece_on(square) {
                now.add(piece, square, 1);
            }
        }
        Tapered { now, before: Vec::with_capacity(256) }
    }

    #[inline]
    fn evaluate(&self, board: &Board) -> Score {
        let phase = self.now.phase.min(FULL_PHASE);
        let white =
            (self.now.middlegame * phase + self.now.endgame * (FULL_PHASE - phase)) / FULL_PHASE;
        let own = if board.side_to_move() == Side::White { white } else { -white };
        clamp_evaluation(own + TEMPO)
    }
}
