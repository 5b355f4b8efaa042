//! Two independent Zobrist keys.
//!
//! One key is the index into the transposition table, the other one verifies the entry, as in micro-Max. Source: <https://www.chessprogramming.org/Zobrist_Hashing>.
//!
//! The numbers come from xoshiro256++ with a fixed seed, so that node counts agree on all machines. The
//! generator must not be additive: with neighbouring bytes of a lagged Fibonacci generator, keys collide a
//! thousand times more often than by chance.

use crate::piece::{Piece, Side};
use crate::square::Square;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::ops::{BitXor, BitXorAssign};
use std::sync::OnceLock;

/// A position's two keys.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Keys {
    /// Chooses the bucket of the transposition table.
    pub index: u64,
    /// Verifies the entry found there.
    pub lock: u64,
}

impl BitXor for Keys {
    type Output = Keys;

    #[inline]
    fn bitxor(self, other: Keys) -> Keys {
        Keys { index: self.index ^ other.index, lock: self.lock ^ other.lock }
    }
}

impl BitXorAssign for Keys {
    #[inline]
    fn bitxor_assign(&mut self, other: Keys) {
        *self = *self ^ other;
    }
}

const SEED: u64 = 0x88_0088_8800_0088;
const PIECES: usize = 32;
const SQUARES: usize = 128;

/// The random numbers of which keys are made.
pub struct Zobrist {
    pieces: [[Keys; SQUARES]; PIECES],
    en_passant: [Keys; SQUARES],
    rights: [Keys; 16],
    castled: [Keys; 4],
    side: Keys,
}

impl Zobrist {
    /// The one set of numbers.
    #[must_use]
    pub fn get() -> &'static Zobrist {
        static ZOBRIST: OnceLock<Box<Zobrist>> = OnceLock::new();
        ZOBRIST.get_or_init(Zobrist::new)
    }

    fn new() -> Box<Zobrist> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
        let mut next = || Keys { index: random.next_u64(), lock: random.next_u64() };
        let mut zobrist = Box::new(Zobrist {
            pieces: [[Keys::default(); SQUARES]; PIECES],
            en_passant: [Keys::default(); SQUARES],
            rights: [Keys::default(); 16],
            castled: [Keys::default(); 4],
            side: next(),
        });
        for piece in Piece::all() {
            for square in Square::all() {
                zobrist.pieces[piece.index()][square.index()] = next();
            }
        }
        for square in Square::all() {
            zobrist.en_passant[square.index()] = next();
        }
        let single_rights: [Keys; 4] = std::array::from_fn(|_| next());
        for (mask, keys) in zobrist.rights.iter_mut().enumerate() {
            for (bit, &right) in single_rights.iter().enumerate() {
                if mask & 1 << bit != 0 {
                    *keys ^= right;
                }
            }
        }
        zobrist.castled = std::array::from_fn(|_| next());
        zobrist
    }

    /// A piece on a square.
    #[must_use]
    #[inline]
    pub const fn piece(&self, piece: Piece, square: Square) -> Keys {
        self.pieces[piece.index() % PIECES][square.index() % SQUARES]
    }

    /// An en-passant square.
    #[must_use]
    #[inline]
    pub const fn en_passant(&self, square: Square) -> Keys {
        self.en_passant[square.index() % SQUARES]
    }

    /// A set of castling rights as the four bits of [`crate::board::Board::castling_rights`].
    #[must_use]
    #[inline]
    pub const fn rights(&self, mask: u8) -> Keys {
        self.rights[(mask & 15) as usize]
    }

    /// Castling since the root: micro-Max hashes that instead of the rights.
    #[must_use]
    #[inline]
    pub const fn castled(&self, side: Side, king_side: bool) -> Keys {
        self.castled[2 * side.index() + king_side as usize]
    }

    /// Black is to move.
    #[must_use]
    #[inline]
    pub const fn side(&self) -> Keys {
        self.side
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn all_numbers_differ() {
        let zobrist = Zobrist::get();
        let mut seen = HashSet::new();
        for square in Square::all() {
            for piece in Piece::all() {
                let keys = zobrist.piece(piece, square);
                assert!(seen.insert(keys.index) && seen.insert(keys.lock));
            }
            let keys = zobrist.en_passant(square);
            assert!(seen.insert(keys.index) && seen.insert(keys.lock));
        }
        for mask in 1..16 {
            assert!(seen.insert(zobrist.rights(mask).index));
        }
        assert_eq!(zobrist.rights(0), Keys::default());
    }
}
