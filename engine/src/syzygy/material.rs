//! Which pieces an ending has, as a number to look tables up by and as the name of a file.

use crate::board::Board;
use crate::piece::{Kind, Piece, Side};
use std::fmt;

/// The most pieces that a table has, kings included.
pub const MOST_PIECES: usize = 7;

/// The letters of a name in their order, after the king's.
const LETTERS: [(char, Kind); 5] = [
    ('Q', Kind::Queen),
    ('R', Kind::Rook),
    ('B', Kind::Bishop),
    ('N', Kind::Knight),
    ('P', Kind::WhitePawn),
];

/// The bits of one kind's count.
const COUNT_BITS: u32 = 4;
/// The bits of one side's counts.
const SIDE_BITS: u32 = 32;
const COUNT: u64 = (1 << COUNT_BITS) - 1;

/// The number of pieces of each kind and side. Kings do not count: everybody has one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Material(u64);

impl Material {
    const BARE_KINGS: Material = Material(0);

    /// The pieces on a board.
    pub(super) fn of(board: &Board) -> Material {
        let mut material = Material::BARE_KINGS;
        for side in Side::ALL {
            for kind in [side.pawn(), Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen] {
                // At most 15 of a kind, as one of the 16 is a king.
                material.0 |= u64::from(board.count(side, kind)) << shift(side, kind);
            }
        }
        material
    }

    /// Reads a name such as `KRPvKN`; white's pieces are those before the `v`.
    pub(super) fn from_name(name: &str) -> Option<Material> {
        let mut material = Material::BARE_KINGS;
        let (white, black) = name.split_once('v')?;
        for (side, text) in [(Side::White, white), (Side::Black, black)] {
            let mut allowed = &LETTERS[..];
            for letter in text.strip_prefix('K')?.chars() {
                let place = allowed.iter().position(|&(other, _)| other == letter)?;
                allowed = &allowed[place..];
                if material.pieces() == MOST_PIECES {
                    return None;
                }
                material.0 += 1 << shift(side, allowed[0].1);
            }
        }
        (material != Material::BARE_KINGS).then_some(material)
    }

    /// How many pieces there are, kings included.
    pub(super) fn pieces(self) -> usize {
        let sum: u64 =
            (0..u64::BITS / COUNT_BITS).map(|n| self.0 >> (n * COUNT_BITS) & COUNT).sum();
        2 + sum as usize
    }

    /// How many pieces of a side and kind there are; one for kings.
    pub(super) fn count(self, piece: Piece) -> u64 {
        match piece.kind() {
            Kind::King => 1,
            kind => self.0 >> shift(piece.side(), kind) & COUNT,
        }
    }

    /// The same with the sides exchanged.
    pub(super) const fn flipped(self) -> Material {
        Material(self.0.rotate_left(SIDE_BITS))
    }

    /// Whether both sides have the same pieces.
    pub(super) fn is_symmetric(self) -> bool {
        self == self.flipped()
    }

    pub(super) fn has_pawns(self) -> bool {
        Side::ALL.into_iter().any(|side| self.has_pawns_of(side))
    }

    pub(super) fn has_pawns_of(self, side: Side) -> bool {
        self.count(Piece::new(side, side.pawn())) > 0
    }

    /// Whether any piece but the kings is the only one of its kind and side.
    pub(super) fn has_single_piece(self) -> bool {
        (0..u64::BITS / COUNT_BITS).any(|n| self.0 >> (n * COUNT_BITS) & COUNT == 1)
    }
}

fn shift(side: Side, kind: Kind) -> u32 {
    SIDE_BITS * side.index() as u32 + COUNT_BITS * kind.compact() as u32
}

impl fmt::Debug for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The name of the ending, white's pieces first.
impl fmt::Display for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (side, before) in [(Side::White, "K"), (Side::Black, "vK")] {
            f.write_str(before)?;
            for (letter, kind) in LETTERS {
                for _ in 0..self.0 >> shift(side, kind) & COUNT {
                    write!(f, "{letter}")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_and_boards_have_them() {
        for name in ["KQvK", "KvKQ", "KRPvKN", "KBNvKPP", "KQQvKQQ", "KPPPPPvK", "KBBNNvKP"] {
            let material = Material::from_name(name).expect(name);
            assert_eq!(material.to_string(), name);
            assert_eq!(material.pieces(), name.len() - 1, "{name}");
            assert_eq!(material.flipped().flipped(), material);
        }
        let of = |fen| Material::of(&Board::from_fen(fen).expect(fen)).to_string();
        assert_eq!(of("8/8/4k3/5p2/2N5/8/8/KQ6 w - - 0 1"), "KQNvKP");
        assert_eq!(of("8/8/4k3/8/8/8/8/K7 w - - 0 1"), "KvK");
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for bad in [
            "",
            "v",
            "KvK",
            "K",
            "KQ",
            "KQvKv",
            "QvK",
            "KQvk",
            "KQK",
            "KNQvK",
            "KKvK",
            "KQvK.",
            "KQQQvKQQQ",
            "KPPPPPPPPPPPPPPPPPPvK",
            "kqvk",
            "KévK",
        ] {
            assert!(Material::from_name(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn kinds_of_endings_are_told_apart() {
        let of = |name| Material::from_name(name).expect(name);
        assert!(of("KQvKQ").is_symmetric() && !of("KQvKR").is_symmetric());
        assert!(of("KPvK").has_pawns() && of("KQvKP").has_pawns() && !of("KQvKR").has_pawns());
        assert!(of("KQvKP").has_pawns_of(Side::Black) && !of("KQvKP").has_pawns_of(Side::White));
        assert!(of("KBBvKN").has_single_piece() && !of("KBBvK").has_single_piece());
        assert_eq!(of("KQvKR").flipped(), of("KRvKQ"));
    }
}
