//! Tapered material and piece-square tables, relative to the kings.
//!
//! Two sums, one for the middle game and one for the endgame, blended by the men that are left. A
//! man's table depends on where the kings are: the board is mirrored so that the own king stands on
//! the files e to h, and there is a table for the enemy king on the same wing and one for the other.
//! All four cases are kept up to date, so that a king that changes wings costs nothing.
//!
//! Sources: <https://www.chessprogramming.org/Tapered_Eval>; king-relative tables as in akimbo and other
//! engines that had them before a network.

use super::Evaluator;
use super::endgame;
use super::weights::{PIECE_SQUARE, TEMPO};
use crate::board::{Board, Observer};
use crate::moves::Move;
use crate::piece::{Kind, Piece, Side};
use crate::score::{Score, clamp_evaluation};
use crate::square::Square;

/// What a man counts towards the middle game, by kind.
const PHASE: [i32; 8] = [0, 0, 0, 1, 0, 1, 2, 4];
/// The sum of the phase at the start of a game; more, after promotions, counts as much.
pub const FULL_PHASE: i32 = 24;
/// With more men than this no king is hunted by evaluation: two queens and a rook.
const MOP_UP_PHASE: i32 = 10;

/// The number of weights of one phase: two cases of the enemy king, six kinds, 64 squares.
pub const WEIGHTS: usize = 2 * 6 * 64;

/// How much a man counts towards the middle game; the sum is [`FULL_PHASE`] at the start.
#[must_use]
pub const fn phase_of(kind: Kind) -> i32 {
    PHASE[kind.index()]
}

/// On which wing a king stands: 1 for the files e to h, 0 for a to d.
#[inline(always)]
const fn wing(king: Square) -> usize {
    (king.file() >> 2) as usize
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

/// The number of the weight that a man takes when its own and the enemy king stand on these wings.
#[inline(always)]
const fn weight_index(piece: Piece, square: Square, own_wing: usize, enemy_wing: usize) -> usize {
    let row = match piece.side() {
        Side::White => square.row(),
        Side::Black => 7 - square.row(),
    };
    let file = if own_wing == 1 { square.file() } else { 7 - square.file() };
    let opposite = (own_wing ^ enemy_wing) & 1;
    opposite * 384 + table_kind(piece.kind()) * 64 + (8 * row + file) as usize
}

/// The number of the weight that a man takes in this position, below [`WEIGHTS`].
#[must_use]
pub fn weight_in(board: &Board, piece: Piece, square: Square) -> usize {
    let own = wing(board.king(piece.side()));
    weight_index(piece, square, own, wing(board.king(piece.side().other())))
}

/// A middle game and an endgame number in one, so that one addition adds both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Pair(i32);

impl Pair {
    const fn new((middlegame, endgame): (i16, i16)) -> Pair {
        Pair(((middlegame as i32) << 16) + endgame as i32)
    }

    const fn middlegame(self) -> i32 {
        (self.0 + 0x8000) >> 16
    }

    const fn endgame(self) -> i32 {
        self.0 as i16 as i32
    }
}

static PAIRS: [Pair; WEIGHTS] = {
    let mut pairs = [Pair(0); WEIGHTS];
    let mut i = 0;
    while i < WEIGHTS {
        pairs[i] = Pair::new(PIECE_SQUARE[i]);
        i += 1;
    }
    pairs
};

/// The running sums: for each side, by own and enemy king's wing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Sums {
    by_wings: [[[Pair; 2]; 2]; 2],
    phase: i32,
}

impl Sums {
    #[inline(always)]
    fn add(&mut self, piece: Piece, square: Square, sign: i32) {
        let sums = &mut self.by_wings[piece.side().index()];
        for (own, sums) in sums.iter_mut().enumerate() {
            for (enemy, sum) in sums.iter_mut().enumerate() {
                sum.0 += sign * PAIRS[weight_index(piece, square, own, enemy)].0;
            }
        }
        self.phase += sign * phase_of(piece.kind());
    }
}

/// The evaluation: its sums, and those before each move that was made.
#[derive(Clone, Debug)]
pub struct Tapered {
    now: Sums,
    before: Vec<Sums>,
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
        let us = board.side_to_move();
        let (own, enemy) = (wing(board.king(us)), wing(board.king(us.other())));
        let ours = self.now.by_wings[us.index()][own][enemy];
        let theirs = self.now.by_wings[us.other().index()][enemy][own];
        let balance = Pair(ours.0 - theirs.0);
        let phase = self.now.phase.min(FULL_PHASE);
        let blended = balance.middlegame() * phase + balance.endgame() * (FULL_PHASE - phase);
        let mop_up = if phase <= MOP_UP_PHASE { endgame::mop_up(board) } else { 0 };
        clamp_evaluation(blended / FULL_PHASE + TEMPO + mop_up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    #[test]
    fn following_a_game_agrees_with_starting_anew() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
        for _ in 0..30 {
            let mut board = Board::startpos();
            let mut eval = Tapered::of(&board);
            let first = eval.now;
            let mut made = 0;
            for _ in 0..120 {
                let moves = board.legal_moves();
                if moves.is_empty() {
                    break;
                }
                board.make(moves[random.next_u64() as usize % moves.len()], &mut eval);
                made += 1;
                assert_eq!(eval.now, Tapered::of(&board).now, "{}", board.to_fen());
            }
            for _ in 0..made {
                board.unmake(&mut eval);
            }
            assert_eq!(eval.now, first);
        }
    }

    #[test]
    fn positions_with_colours_changed_are_worth_the_same() {
        for (fen, changed) in [
            ("4k3/8/8/3p4/8/2N5/8/4K2R w - - 0 1", "4k2r/8/2n5/8/3P4/8/8/4K3 b - - 0 1"),
            ("2k5/ppp5/8/8/8/8/5PPP/6K1 w - - 0 1", "6k1/5ppp/8/8/8/8/PPP5/2K5 b - - 0 1"),
        ] {
            let value = |fen| {
                let board = Board::from_fen(fen).unwrap();
                Tapered::of(&board).evaluate(&board)
            };
            assert_eq!(value(fen), value(changed), "{fen}");
        }
    }

    #[test]
    fn pairs_hold_both_numbers() {
        for middlegame in [-2000, -1, 0, 1, 2000] {
            for endgame in [-2000, -1, 0, 1, 2000] {
                let pair = Pair::new((middlegame, endgame));
                assert_eq!(pair.middlegame(), i32::from(middlegame));
                assert_eq!(pair.endgame(), i32::from(endgame));
            }
        }
    }
}
