//! Where games start: the standard position and those of Chess960.

use crate::board::Board;
use crate::piece::Kind;

/// The start positions of Chess960.
pub const CHESS960_POSITIONS: u16 = 960;

/// The ways to put two knights on five free squares, in the order of Scharnagl's numbers.
const KNIGHTS: [[usize; 2]; 10] =
    [[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 4]];

/// A start position: the back rank of each side as its number in Chess960, 0 to 959. Two different
/// ones make a start of double Chess960.
///
/// Source: <https://www.chessprogramming.org/Chess960>.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Start {
    white: u16,
    black: u16,
}

impl Start {
    /// The number of the standard start position.
    pub const STANDARD_NUMBER: u16 = 518;

    /// The standard start position.
    pub const STANDARD: Start =
        Start { white: Start::STANDARD_NUMBER, black: Start::STANDARD_NUMBER };

    /// The start with these back ranks; `None` if a number is 960 or more.
    #[must_use]
    pub const fn new(white: u16, black: u16) -> Option<Start> {
        if white < CHESS960_POSITIONS && black < CHESS960_POSITIONS {
            Some(Start { white, black })
        } else {
            None
        }
    }

    /// The number of white's back rank.
    #[must_use]
    pub const fn white(self) -> u16 {
        self.white
    }

    /// The number of black's back rank.
    #[must_use]
    pub const fn black(self) -> u16 {
        self.black
    }

    /// The position as FEN, with the files of the rooks as castling rights.
    #[must_use]
    pub fn to_fen(self) -> String {
        let (white, black) = (back_rank(self.white), back_rank(self.black));
        let letters = |rank: [Kind; 8]| rank.map(Kind::letter).iter().collect::<String>();
        let rooks = |rank: [Kind; 8]| -> String {
            let files = (b'a'..=b'h').zip(rank).filter(|&(_, kind)| kind == Kind::Rook);
            // The king's side first.
            files.collect::<Vec<_>>().into_iter().rev().map(|(file, _)| char::from(file)).collect()
        };
        format!(
            "{}/pppppppp/8/8/8/8/PPPPPPPP/{} w {}{} - 0 1",
            letters(black),
            letters(white).to_ascii_uppercase(),
            rooks(white).to_ascii_uppercase(),
            rooks(black),
        )
    }

    /// The position.
    ///
    /// # Panics
    /// Never: every number is a valid position, which a test goes through.
    #[must_use]
    pub fn board(self) -> Board {
        Board::from_fen(&self.to_fen()).expect("every start position is valid")
    }
}

/// The pieces from file a to h: bishops, queen and knights by the digits of the number, then rook,
/// king and rook on what is free.
fn back_rank(number: u16) -> [Kind; 8] {
    let number = usize::from(number);
    let mut rank = [None; 8];
    rank[2 * (number % 4) + 1] = Some(Kind::Bishop);
    rank[2 * (number / 4 % 4)] = Some(Kind::Bishop);
    put(&mut rank, number / 16 % 6, Kind::Queen);
    let [first, second] = KNIGHTS[number / 96 % 10];
    // The second one first, as it stands behind: so the first one's place stays what it was.
    put(&mut rank, second, Kind::Knight);
    put(&mut rank, first, Kind::Knight);
    for kind in [Kind::Rook, Kind::King, Kind::Rook] {
        put(&mut rank, 0, kind);
    }
    rank.map(|kind| kind.unwrap_or(Kind::King))
}

/// Puts a piece on the free square with this number, from 0.
fn put(rank: &mut [Option<Kind>; 8], number: usize, kind: Kind) {
    if let Some(square) = rank.iter_mut().filter(|square| square.is_none()).nth(number) {
        *square = Some(kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::piece::Side;
    use std::collections::HashSet;

    #[test]
    fn the_standard_start_is_one_of_them() {
        assert_eq!(Start::STANDARD.board().to_fen(), Board::startpos().to_fen());
        assert_eq!(Start::STANDARD.board().keys(), Board::startpos().keys());
    }

    #[test]
    fn known_numbers_are_the_known_positions() {
        // From the table of Chess960 positions.
        for (number, rank) in
            [(0, "bbqnnrkr"), (1, "bqnbnrkr"), (518, "rnbqkbnr"), (959, "rkrnnqbb")]
        {
            let letters: String = back_rank(number).map(Kind::letter).iter().collect();
            assert_eq!(letters.to_ascii_lowercase(), rank, "{number}");
        }
    }

    #[test]
    fn every_number_is_a_position_of_its_own_with_all_castling_rights() {
        let mut fens = HashSet::new();
        for number in 0..CHESS960_POSITIONS {
            let start = Start::new(number, CHESS960_POSITIONS - 1 - number).unwrap();
            let board = start.board();
            assert!(board.is_ok(), "{number}");
            assert_eq!(board.castling_rights(), 15);
            assert_eq!(board.to_shredder_fen(), start.to_fen());
            for side in Side::ALL {
                let king = board.king(side);
                let rook = |king_side| board.castling_rook(side, king_side).unwrap();
                assert!(rook(false) < king && king < rook(true), "{number}");
            }
            fens.insert(start.to_fen());
        }
        assert_eq!(fens.len(), usize::from(CHESS960_POSITIONS));
        assert_eq!(Start::new(CHESS960_POSITIONS, 0), None);
        assert_eq!(Start::new(0, CHESS960_POSITIONS), None);
    }
}
