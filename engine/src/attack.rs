//! Who attacks what, by 0x88 difference.
//!
//! On a 0x88 board the difference of two squares alone tells how they lie to each other. One table, indexed
//! by it, has the kinds of pieces that attack from one to the other on an empty board, a second one the step
//! that leads there. Source: <https://www.chessprogramming.org/0x88#Attacks>.

use crate::piece::{Kind, Side};
use crate::square::OFF_BOARD;

/// A board as the raw bytes of its pieces, 0 for empty, in 0x88 coordinates.
pub(crate) type Squares = [u8; 128];

/// The piece byte on a square. Bit 7 of the coordinate is ignored, so that no bounds check is needed.
#[inline(always)]
pub(crate) const fn at(squares: &Squares, square: u8) -> u8 {
    squares[(square & 0x7f) as usize]
}

/// The steps of each kind in micro-Max's order.
pub(crate) const fn steps(kind: Kind) -> &'static [i8] {
    match kind {
        Kind::WhitePawn => &[-16, -15, -17],
        Kind::BlackPawn => &[16, 15, 17],
        Kind::Knight => &[-14, 14, -18, 18, -31, 31, -33, 33],
        Kind::Bishop => &[-15, 15, -17, 17],
        Kind::Rook => &[-1, 1, -16, 16],
        Kind::King | Kind::Queen => &[-1, 1, -16, 16, -15, 15, -17, 17],
    }
}

/// The tables are indexed by `to - from + BIAS`, 0 to 0xee.
const BIAS: u8 = 0x77;

const REACH: [u8; 256] = reach_table();
const LINE_STEP: [i8; 256] = line_step_table();

const fn reach_table() -> [u8; 256] {
    let mut table = [0; 256];
    let mut kind = 0;
    while kind < Kind::ALL.len() {
        let kind_now = Kind::ALL[kind];
        let all = steps(kind_now);
        // A pawn's first step is its push, which attacks nothing.
        let mut i = if kind_now.is_pawn() { 1 } else { 0 };
        while i < all.len() {
            let longest = if kind_now.is_slider() { 7 } else { 1 };
            let mut n = 1;
            while n <= longest {
                let at = (BIAS as i16 + all[i] as i16 * n) as usize;
                table[at] |= 1 << kind_now.index();
                n += 1;
            }
            i += 1;
        }
        kind += 1;
    }
    table
}

const fn line_step_table() -> [i8; 256] {
    let mut table = [0; 256];
    let all = steps(Kind::Queen);
    let mut i = 0;
    while i < all.len() {
        let mut n = 1;
        while n <= 7 {
            table[(BIAS as i16 + all[i] as i16 * n) as usize] = all[i];
            n += 1;
        }
        i += 1;
    }
    table
}

#[inline(always)]
const fn difference(from: u8, to: u8) -> usize {
    to.wrapping_sub(from).wrapping_add(BIAS) as usize
}

/// Whether the piece with this byte, standing on `from`, would attack `to` on an empty board.
#[inline(always)]
pub(crate) const fn reaches(piece: u8, from: u8, to: u8) -> bool {
    REACH[difference(from, to)] >> (piece & 7) & 1 != 0
}

/// The step that leads from `from` to `to` along a row, file or diagonal; 0 if none does.
#[inline(always)]
pub(crate) const fn line_step(from: u8, to: u8) -> i8 {
    LINE_STEP[difference(from, to)]
}

/// Whether nothing can block this piece's attacks: pawns, knights and kings.
#[inline(always)]
const fn leaps(piece: u8) -> bool {
    piece & 7 <= Kind::King as u8
}

/// Whether `piece`, standing on `from`, attacks `to`. Squares for which `vacated` holds count as empty.
#[inline(always)]
pub(crate) fn attacks(
    squares: &Squares,
    piece: u8,
    from: u8,
    to: u8,
    vacated: impl Fn(u8) -> bool,
) -> bool {
    if !reaches(piece, from, to) {
        return false;
    }
    if leaps(piece) {
        return true;
    }
    let step = line_step(from, to);
    let mut square = from.wrapping_add_signed(step);
    while square != to {
        if at(squares, square) != 0 && !vacated(square) {
            return false;
        }
        square = square.wrapping_add_signed(step);
    }
    true
}

/// The squares from which a pawn of `side` attacks `target`; they may be off the board.
#[inline(always)]
pub(crate) const fn pawn_attack_origins(side: Side, target: u8) -> [u8; 2] {
    match side {
        Side::White => [target.wrapping_add(15), target.wrapping_add(17)],
        Side::Black => [target.wrapping_sub(15), target.wrapping_sub(17)],
    }
}

/// Whether a 0x88 coordinate is on the board.
#[inline(always)]
pub(crate) const fn on_board(square: u8) -> bool {
    square & OFF_BOARD == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::piece::Piece;
    use crate::square::{Square, Step};

    /// Every attack on an empty board, found by walking the steps.
    fn walk(piece: Piece, from: Square) -> Vec<Square> {
        let kind = piece.kind();
        let mut found = Vec::new();
        for &step in &steps(kind)[usize::from(kind.is_pawn())..] {
            let mut square = from;
            while let Some(next) = square.step(Step(step)) {
                found.push(next);
                square = next;
                if !kind.is_slider() {
                    break;
                }
            }
        }
        found
    }

    #[test]
    fn tables_agree_with_walking() {
        for piece in Piece::all() {
            for from in Square::all() {
                let found = walk(piece, from);
                for to in Square::all() {
                    let expected = found.contains(&to);
                    assert_eq!(reaches(piece.raw(), from.raw(), to.raw()), expected);
                    let empty = [0; 128];
                    let attacked = attacks(&empty, piece.raw(), from.raw(), to.raw(), |_| false);
                    assert_eq!(attacked, expected, "{piece:?} {from} {to}");
                }
            }
        }
    }

    #[test]
    fn pawns_attack_from_their_origins() {
        for side in Side::ALL {
            let pawn = Piece::new(side, side.pawn()).raw();
            for target in Square::all() {
                let origins = pawn_attack_origins(side, target.raw());
                for from in Square::all() {
                    let expected = reaches(pawn, from.raw(), target.raw());
                    assert_eq!(origins.contains(&from.raw()), expected);
                }
            }
        }
    }

    #[test]
    fn a_piece_between_blocks_unless_vacated() {
        let rook = Piece::new(Side::White, Kind::Rook).raw();
        let mut squares = [0; 128];
        squares[0x44] = rook;
        assert!(!attacks(&squares, rook, 0x40, 0x47, |_| false));
        assert!(attacks(&squares, rook, 0x40, 0x47, |square| square == 0x44));
    }
}
