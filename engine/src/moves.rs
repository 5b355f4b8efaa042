//! Moves in 16 bits, and lists of them.

use crate::piece::Kind;
use crate::square::Square;
use arrayvec::ArrayVec;
use std::fmt;
use std::num::NonZeroU16;

/// A move in 16 bits: 7 bits from, 7 bits to, 2 bits promotion.
///
/// ```text
/// 15 14 | 13 12 11 10 09 08 07 | 06 05 04 03 02 01 00
/// promo |      to (0x88)       |     from (0x88)
/// ```
///
/// Castling is the king taking its own rook. The promotion bits (0 knight, 1 bishop, 2 rook,
/// 3 queen) mean something only for a pawn that reaches the last row and are 0 otherwise. Bits 3
/// and 10 are free on a 0x88 board. From and to differ, so 0 is never a move and `Option<Move>` is 16 bits
/// too.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move(NonZeroU16);

const _: () = assert!(size_of::<Option<Move>>() == 2);

const PROMOTIONS: [Kind; 4] = [Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen];

impl Move {
    /// A move without promotion.
    ///
    /// # Panics
    /// If both squares are a8: that would be 0.
    #[must_use]
    #[inline]
    pub const fn new(from: Square, to: Square) -> Move {
        Move::from_parts(from, to, 0)
    }

    /// A pawn's move to the last row. `kind` is knight, bishop, rook or queen; anything else
    /// counts as queen.
    #[must_use]
    #[inline]
    pub const fn promotion(from: Square, to: Square, kind: Kind) -> Move {
        let code = match kind {
            Kind::Knight => 0,
            Kind::Bishop => 1,
            Kind::Rook => 2,
            _ => 3,
        };
        Move::from_parts(from, to, code)
    }

    #[inline]
    const fn from_parts(from: Square, to: Square, promotion: u16) -> Move {
        let bits = from.raw() as u16 | (to.raw() as u16) << 7 | promotion << 14;
        match NonZeroU16::new(bits) {
            Some(bits) => Move(bits),
            None => panic!("from and to are both a8"),
        }
    }

    /// The square that the piece leaves.
    #[must_use]
    #[inline]
    pub const fn from(self) -> Square {
        Square::from_index_masked(self.0.get() as u8 & 0x7f)
    }

    /// The square that it goes to; for castling that of its own rook.
    #[must_use]
    #[inline]
    pub const fn to(self) -> Square {
        Square::from_index_masked((self.0.get() >> 7) as u8 & 0x7f)
    }

    /// What a pawn becomes; means something only if [`crate::board::Board::is_promotion`].
    #[must_use]
    #[inline]
    pub const fn promotion_kind(self) -> Kind {
        PROMOTIONS[(self.0.get() >> 14) as usize]
    }

    /// The move with these 16 bits, or `None` if one of its squares is off the board or both are the
    /// same. It need not be legal anywhere.
    #[must_use]
    pub const fn from_raw(bits: u16) -> Option<Move> {
        const FREE_BITS: u16 = 1 << 3 | 1 << 10;
        let same = bits & 0x7f == bits >> 7 & 0x7f;
        match NonZeroU16::new(bits) {
            Some(bits) if bits.get() & FREE_BITS == 0 && !same => Some(Move(bits)),
            _ => None,
        }
    }

    /// The 16 bits.
    #[must_use]
    #[inline]
    pub const fn raw(self) -> u16 {
        self.0.get()
    }
}

/// From and to only: a move alone does not tell whether it promotes or castles. For UCI see
/// [`crate::board::Board::uci_text`].
impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.from(), self.to())
    }
}

/// An upper bound on the moves of any position that FEN reading accepts: 16 pieces a side, none with more
/// than 27 moves.
pub const MAX_MOVES: usize = 16 * 27;

/// A list of moves on the stack.
pub type MoveList = ArrayVec<Move, MAX_MOVES>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back() {
        for from in Square::all() {
            for to in Square::all().filter(|&to| to != from) {
                for kind in PROMOTIONS {
                    let mv = Move::promotion(from, to, kind);
                    assert_eq!((mv.from(), mv.to(), mv.promotion_kind()), (from, to, kind));
                    assert_eq!(mv.raw() & (1 << 3 | 1 << 10), 0, "the free bits are free");
                }
                assert_eq!(Move::new(from, to), Move::promotion(from, to, Kind::Knight));
            }
        }
    }
}
