//! Pawn key and non-pawn keys: Zobrist keys of parts of the position, which index the correction
//! histories.

use crate::board::{Board, Observer};
use crate::keys::Zobrist;
use crate::moves::Move;
use crate::piece::{Piece, Side};
use crate::square::Square;

/// The key of all pawns, and the keys of each side's other pieces, its king among them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct PartialKeys {
    pub(crate) pawn: u64,
    pub(crate) non_pawn: [u64; 2],
}

/// Follows a board and keeps its [`PartialKeys`] up to date.
#[derive(Clone)]
pub(crate) struct PartialKeysObserver {
    now: PartialKeys,
    before: Vec<PartialKeys>,
    zobrist: &'static Zobrist,
}

impl PartialKeysObserver {
    pub(crate) fn of(board: &Board) -> PartialKeysObserver {
        let mut observer = PartialKeysObserver {
            now: PartialKeys::default(),
            before: Vec::with_capacity(256),
            zobrist: Zobrist::get(),
        };
        for square in Square::all() {
            if let Some(piece) = board.piece_on(square) {
                observer.toggle(piece, square);
            }
        }
        observer
    }

    #[inline(always)]
    pub(crate) const fn current(&self) -> &PartialKeys {
        &self.now
    }

    #[inline(always)]
    fn toggle(&mut self, piece: Piece, square: Square) {
        let key = self.zobrist.piece(piece, square).index;
        if piece.kind().is_pawn() {
            self.now.pawn ^= key;
        } else {
            self.now.non_pawn[piece.side().index()] ^= key;
        }
    }
}

impl Observer for PartialKeysObserver {
    #[inline]
    fn push(&mut self, _board: &Board, _mv: Move) {
        self.before.push(self.now);
    }

    #[inline]
    fn vanish(&mut self, piece: Piece, square: Square) {
        self.toggle(piece, square);
    }

    #[inline]
    fn appear(&mut self, piece: Piece, square: Square) {
        self.toggle(piece, square);
    }

    #[inline]
    fn pop(&mut self) {
        if let Some(before) = self.before.pop() {
            self.now = before;
        }
    }
}

/// The index of a key in a table of `size` entries, a power of two.
#[inline(always)]
pub(crate) const fn table_index(key: u64, size: usize) -> usize {
    key as usize & (size - 1)
}

/// Both sides, for tables with a part for each.
pub(crate) const SIDES: [Side; 2] = Side::ALL;
