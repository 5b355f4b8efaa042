//! Squares of a 0x88 board and the steps between them.
//!
//! The board is 16 columns by 8 rows; the game is played on the left half. `square = 16 * row + file`, with
//! a8 = 0, h8 = 7 and row 0 for rank 8, as in micro-Max. A square plus a step is off the board exactly when
//! one of the bits `0x88` is set in the sum, so one mask replaces all edge tests. Source: <https://www.chessprogramming.org/0x88>.

use std::fmt;
use std::str::FromStr;

/// The bits that are set in every off-board 0x88 coordinate and in no on-board one.
pub const OFF_BOARD: u8 = 0x88;

/// The coordinate that stands for no square, as in micro-Max. It is off the board and above all squares.
pub(crate) const NO_SQUARE: u8 = 0x80;

/// A square of the board in 0x88 coordinates: a8 = 0, h8 = 7, a1 = 112, h1 = 119.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square(u8);

/// A distance between two squares in 0x88 coordinates, or one step of a piece: -16 is one square
/// towards rank 8, +1 is one square towards the h-file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Step(pub i8);

impl Step {
    /// One square towards rank 8.
    pub const NORTH: Step = Step(-16);
    /// One square towards rank 1.
    pub const SOUTH: Step = Step(16);
    /// One square towards the h-file.
    pub const EAST: Step = Step(1);
    /// One square towards the a-file.
    pub const WEST: Step = Step(-1);
}

impl Square {
    /// The square in this row (0 = rank 8) and file (0 = a).
    ///
    /// # Panics
    /// If either is above 7.
    #[must_use]
    pub const fn new(row: u8, file: u8) -> Square {
        assert!(row < 8 && file < 8);
        Square(16 * row + file)
    }

    /// The square with this 0x88 coordinate, or `None` if that is off the board.
    #[must_use]
    pub const fn from_index(index: u8) -> Option<Square> {
        if index & OFF_BOARD == 0 { Some(Square(index)) } else { None }
    }

    /// As [`Square::from_index`] for a coordinate that is known to be on the board. Clears off-board bits, so
    /// that it can't fail.
    #[must_use]
    #[inline]
    pub(crate) const fn from_index_masked(index: u8) -> Square {
        debug_assert!(index & OFF_BOARD == 0);
        Square(index & !OFF_BOARD)
    }

    /// The 0x88 coordinate, 0 to 119.
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The 0x88 coordinate as a byte.
    #[must_use]
    #[inline]
    pub const fn raw(self) -> u8 {
        self.0
    }

    /// The row: 0 for rank 8, 7 for rank 1.
    #[must_use]
    #[inline]
    pub const fn row(self) -> u8 {
        self.0 >> 4
    }

    /// The file: 0 for a, 7 for h.
    #[must_use]
    #[inline]
    pub const fn file(self) -> u8 {
        self.0 & 7
    }

    /// The number of the square without the gaps of 0x88, 0 for a8 to 63 for h1.
    #[must_use]
    #[inline(always)]
    pub const fn compact(self) -> u8 {
        8 * self.row() + self.file()
    }

    /// The square one step away, or `None` off the board.
    #[must_use]
    #[inline]
    pub const fn step(self, step: Step) -> Option<Square> {
        Square::from_index(self.0.wrapping_add_signed(step.0))
    }

    /// The square of the pawn that is captured en passant on this square, or the en-passant square of that
    /// pawn: their rows differ in the lowest bit, so the function is its own inverse.
    #[must_use]
    #[inline]
    pub const fn en_passant_victim(self) -> Square {
        Square(self.0 ^ 16)
    }

    /// All 64 squares in scan order: a8, b8 ... h8, a7 ... h1.
    pub fn all() -> impl DoubleEndedIterator<Item = Square> + Clone {
        (0..64).map(|i: u8| Square(i + (i & !7)))
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", (b'a' + self.file()) as char, (b'8' - self.row()) as char)
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that names no square.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SquareTextError;

impl fmt::Display for SquareTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a square is a letter a to h and a digit 1 to 8")
    }
}

impl std::error::Error for SquareTextError {}

impl FromStr for Square {
    type Err = SquareTextError;

    fn from_str(text: &str) -> Result<Square, SquareTextError> {
        match text.as_bytes() {
            [file @ b'a'..=b'h', rank @ b'1'..=b'8'] => Ok(Square::new(b'8' - rank, file - b'a')),
            _ => Err(SquareTextError),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_coordinates_agree() {
        assert_eq!(Square::all().count(), 64);
        for square in Square::all() {
            assert_eq!(square.to_string().parse(), Ok(square));
            assert_eq!(Square::from_index(square.raw()), Some(square));
        }
        assert_eq!("a8".parse::<Square>().map(Square::raw), Ok(0));
        assert_eq!("h1".parse::<Square>().map(Square::raw), Ok(119));
        assert_eq!("e4".parse::<Square>().map(Square::raw), Ok(0x44));
        for bad in ["", "e", "e9", "i1", "e44", "E4", "é4"] {
            assert_eq!(bad.parse::<Square>(), Err(SquareTextError), "{bad}");
        }
    }

    #[test]
    fn steps_stop_at_every_edge() {
        let corner = Square::new(0, 0);
        assert_eq!(corner.step(Step::NORTH), None);
        assert_eq!(corner.step(Step::WEST), None);
        assert_eq!(corner.step(Step::EAST), Some(Square::new(0, 1)));
        assert_eq!(corner.step(Step::SOUTH), Some(Square::new(1, 0)));
        let on_board = (0..=255u8).filter(|&i| Square::from_index(i).is_some()).count();
        assert_eq!(on_board, 64);
    }
}
