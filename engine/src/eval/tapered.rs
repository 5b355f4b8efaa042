//! Tapered material and piece-square tables, relative to the kings.
//!
//! Middle game and endgame sums, interpolated by the phase. Each side has a sum of its own, over all pieces,
//! from tables that its king's square selects; the board is flipped to that side, and mirrored so that the
//! king is on the files e to h. The evaluation is the difference of the two sums. Moves update the sums; a
//! king's move that selects another table or mirrors the board recomputes its side's sum.
//!
//! Sources: <https://www.chessprogramming.org/Tapered_Eval>; king-relative tables as in akimbo and other
//! engines that had them before a network.

use super::phase::{FULL_PHASE, phase_of};
use super::weights::{PIECE_SQUARE, TEMPO};
use super::{Evaluator, raw_eval};
use crate::board::{Board, Observer};
use crate::moves::Move;
use crate::piece::{Kind, Piece, Side};
use crate::score::{Score, clamp_evaluation};
use crate::square::Square;

/// The number of the table by king square, rank 8 first, files e to h.
const KING_TABLE: [[u16; 4]; 8] = [
    [9, 9, 9, 9],
    [9, 9, 9, 9],
    [8, 8, 8, 8],
    [8, 8, 8, 8],
    [7, 7, 7, 7],
    [6, 6, 6, 6],
    [4, 4, 5, 5],
    [0, 1, 2, 3],
];

/// The kinds of pieces, pawns of both sides as one.
pub const KINDS: usize = Kind::COMPACT_COUNT;

/// How many tables there are.
pub const KING_TABLES: usize = 10;
/// The weights of one table and phase: own and enemy pieces, six kinds, 64 squares.
pub const TABLE_WEIGHTS: usize = 2 * KINDS * 64;
/// The number of weights of one phase.
pub const WEIGHTS: usize = KING_TABLES * TABLE_WEIGHTS;

/// The table and orientation that a king's square selects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct View {
    side: Side,
    /// The index of the table's first weight.
    table: u16,
    /// XORed to a square number from 0 to 63, flips and mirrors it.
    flip: u8,
}

impl View {
    #[inline(always)]
    const fn new(side: Side, king: Square) -> View {
        let flipped = if let Side::Black = side { 56 } else { 0 };
        let mirrored = if king.file() < 4 { 7 } else { 0 };
        let square = king.compact() ^ flipped ^ mirrored;
        let table = KING_TABLE[square as usize >> 3][square as usize & 3];
        View { side, table: table * TABLE_WEIGHTS as u16, flip: flipped ^ mirrored }
    }

    /// The index of a piece's weight.
    #[inline(always)]
    const fn weight(self, piece: Piece, square: Square) -> usize {
        let plane = piece.compact_seen_by(self.side);
        self.table as usize + 64 * plane + (square.compact() ^ self.flip) as usize
    }
}

/// The indices of a piece's weights in this position, below [`WEIGHTS`]: in white's sum, and in black's, which
/// is subtracted.
#[must_use]
pub fn weights_in(board: &Board, piece: Piece, square: Square) -> [usize; 2] {
    Side::ALL.map(|side| View::new(side, board.king(side)).weight(piece, square))
}

/// A middle game and an endgame score in one integer, so that one addition adds both.
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

/// The incremental state: each side's sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct State {
    views: [View; 2],
    sums: [Pair; 2],
    phase: i32,
}

impl State {
    fn of(board: &Board) -> State {
        let mut state = State {
            views: Side::ALL.map(|side| View::new(side, board.king(side))),
            sums: [Pair(0); 2],
            phase: 0,
        };
        for side in Side::ALL {
            state.recompute(board, side);
        }
        for (piece, _) in pieces(board) {
            state.phase += phase_of(piece.kind());
        }
        state
    }

    #[inline(always)]
    fn add(&mut self, piece: Piece, square: Square, sign: i32) {
        for (view, sum) in self.views.iter().zip(&mut self.sums) {
            sum.0 += sign * PAIRS[view.weight(piece, square)].0;
        }
        self.phase += sign * phase_of(piece.kind());
    }

    /// Recomputes a side's sum.
    fn recompute(&mut self, board: &Board, side: Side) {
        let view = self.views[side.index()];
        let sum = pieces(board).map(|(piece, square)| PAIRS[view.weight(piece, square)].0).sum();
        self.sums[side.index()] = Pair(sum);
    }
}

/// All pieces with their squares.
fn pieces(board: &Board) -> impl Iterator<Item = (Piece, Square)> {
    Side::ALL
        .into_iter()
        .flat_map(|side| {
            let list = board.list(side);
            list.squares_of(list.all())
        })
        .map(Square::from_index_masked)
        .filter_map(|square| Some((board.piece_on(square)?, square)))
}

/// The evaluation: its state, and a stack of those before each move.
#[derive(Clone, Debug)]
pub struct Tapered {
    now: State,
    before: Vec<State>,
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
    fn finish_move(&mut self, board: &Board) {
        let mover = board.side_to_move().other();
        let view = View::new(mover, board.king(mover));
        if view != self.now.views[mover.index()] {
            self.now.views[mover.index()] = view;
            self.now.recompute(board, mover);
        }
    }

    #[inline]
    fn pop(&mut self) {
        if let Some(before) = self.before.pop() {
            self.now = before;
        }
    }
}

impl Evaluator for Tapered {
    type Weights = ();

    fn of(board: &Board, (): &()) -> Tapered {
        Tapered { now: State::of(board), before: Vec::with_capacity(256) }
    }

    #[inline]
    fn evaluate(&mut self, board: &Board) -> Score {
        let us = board.side_to_move();
        let balance = Pair(self.now.sums[us.index()].0 - self.now.sums[us.other().index()].0);
        let phase = self.now.phase.min(FULL_PHASE);
        let blended = balance.middlegame() * phase + balance.endgame() * (FULL_PHASE - phase);
        clamp_evaluation(blended / FULL_PHASE + TEMPO)
    }
}

/// Middle game and endgame score of all pieces of a kind and side.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Worth {
    /// In the middle game, material and squares.
    pub middlegame: i32,
    /// In the endgame, material and squares.
    pub endgame: i32,
}

/// The evaluation of a position by terms, in hundredths of a pawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terms {
    /// The scores of the pieces, by side, then pawns, knights, bishops, rooks, queens, king.
    pub pieces: [[Worth; KINDS]; 2],
    /// The phase: the weight of the middle game, of [`FULL_PHASE`].
    pub phase: i32,
    /// The tempo bonus of the side to move, from white's view.
    pub tempo: i32,
    /// Mop-up, from white's view.
    pub driven: i32,
    /// The sum, from white's view.
    pub total: Score,
}

impl Terms {
    /// The terms of a position.
    #[must_use]
    pub fn of(board: &Board) -> Terms {
        let mut eval = Tapered::of(board, &());
        let mut pieces = [[Worth::default(); KINDS]; 2];
        for square in Square::all() {
            if let Some(piece) = board.piece_on(square) {
                let weights = weights_in(board, piece, square).map(|weight| PIECE_SQUARE[weight]);
                let own = weights[piece.side().index()];
                let other = weights[piece.side().other().index()];
                let worth = &mut pieces[piece.side().index()][piece.kind().compact()];
                worth.middlegame += i32::from(own.0) - i32::from(other.0);
                worth.endgame += i32::from(own.1) - i32::from(other.1);
            }
        }
        let view = if board.side_to_move() == Side::White { 1 } else { -1 };
        let mut terms = Terms {
            pieces,
            phase: eval.now.phase.min(FULL_PHASE),
            tempo: view * TEMPO,
            driven: 0,
            total: view * raw_eval(&mut eval, board),
        };
        terms.driven = terms.total - terms.blended() - terms.tempo;
        terms
    }

    /// The interpolated score of all pieces, from white's view.
    #[must_use]
    pub fn blended(&self) -> Score {
        let [white, black] = Side::ALL.map(|side| self.sum(side));
        let blended = (white.middlegame - black.middlegame) * self.phase
            + (white.endgame - black.endgame) * (FULL_PHASE - self.phase);
        blended / FULL_PHASE
    }

    /// The sum of a side's pieces.
    #[must_use]
    pub fn sum(&self, side: Side) -> Worth {
        self.pieces[side.index()].iter().fold(Worth::default(), |sum, worth| Worth {
            middlegame: sum.middlegame + worth.middlegame,
            endgame: sum.endgame + worth.endgame,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    fn assert_terms_add_up(board: &Board, eval: &mut Tapered) {
        let terms = Terms::of(board);
        assert_eq!(terms.total, terms.blended() + terms.tempo + terms.driven);
        assert_eq!(terms.total.abs(), raw_eval(eval, board).abs());
        if eval.now.phase > params::mop_up_phase() {
            assert_eq!(terms.driven, 0, "{}", board.to_fen());
        }
    }

    #[test]
    fn following_a_game_agrees_with_starting_anew() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
        for _ in 0..30 {
            let mut board = Board::startpos();
            let mut eval = Tapered::of(&board, &());
            let first = eval.now;
            let mut made = 0;
            for _ in 0..120 {
                let moves = board.legal_moves();
                if moves.is_empty() {
                    break;
                }
                board.make(moves[random.next_u64() as usize % moves.len()], &mut eval);
                made += 1;
                assert_eq!(eval.now, Tapered::of(&board, &()).now, "{}", board.to_fen());
                assert_terms_add_up(&board, &mut eval);
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
                Tapered::of(&board, &()).evaluate(&board)
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
