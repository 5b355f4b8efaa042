//! Format 1: bare games from the standard start, one after the other. It is only read any more.
//!
//! | bytes | what |
//! |---|---|
//! | 1 | result: 0 black won, 1 draw, 2 white won |
//! | 1 | number of random moves |
//! | 2 | number of searched moves, at least 1 |
//! | 2 each | random moves |
//! | 4 each | searched moves, each with its score from white's view |
//!
//! Everything is little-endian; moves are as [`Move::raw`] has them.

use super::game::{Game, GameResult, Ply};
use super::start::Start;
use crate::moves::Move;

/// The bytes before the moves.
const HEAD: usize = 4;

/// A game from the standard start position: random moves first, searched ones then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// The random moves.
    pub opening: Vec<Move>,
    /// The searched moves with their scores.
    pub plies: Vec<Ply>,
    /// How it ended.
    pub result: GameResult,
}

impl Record {
    /// Appends the record in bytes.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.result as u8);
        bytes.push(self.opening.len() as u8);
        bytes.extend((self.plies.len() as u16).to_le_bytes());
        write_moves(&self.opening, &self.plies, bytes);
    }

    /// Reads the record at the start of `bytes` and tells how long it is; `None` if they hold no
    /// whole record. A record without searched moves is none.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<(Record, usize)> {
        let &[result, opening, low, high] = bytes.first_chunk()?;
        let result = GameResult::from_raw(result)?;
        let plies = u16::from_le_bytes([low, high]);
        if plies == 0 {
            return None;
        }
        let length = HEAD + moves_length(opening, plies);
        let (opening, plies) = read_moves(opening, bytes.get(HEAD..length)?)?;
        Some((Record { opening, plies, result }, length))
    }

    /// Whether these bytes may be the first ones of a record that was not written to its end.
    #[must_use]
    pub fn is_begun(bytes: &[u8]) -> bool {
        let Some(&[result, opening, low, high]) = bytes.first_chunk() else {
            return bytes.first().is_none_or(|&result| GameResult::from_raw(result).is_some());
        };
        let plies = u16::from_le_bytes([low, high]);
        let length = HEAD + moves_length(opening, plies);
        GameResult::from_raw(result).is_some() && plies > 0 && bytes.len() < length
    }
}

impl From<Record> for Game {
    fn from(record: Record) -> Game {
        let Record { opening, plies, result } = record;
        Game { start: Start::STANDARD, opening, plies, result, ending: None }
    }
}

/// How many bytes so many random and searched moves take.
pub(super) fn moves_length(opening: u8, plies: u16) -> usize {
    2 * usize::from(opening) + 4 * usize::from(plies)
}

/// Appends the moves: 2 bytes a random one and 4 bytes a searched one.
pub(super) fn write_moves(opening: &[Move], plies: &[Ply], bytes: &mut Vec<u8>) {
    for mv in opening {
        bytes.extend(mv.raw().to_le_bytes());
    }
    for ply in plies {
        bytes.extend(ply.mv.raw().to_le_bytes());
        bytes.extend(ply.score.to_le_bytes());
    }
}

/// Reads moves, the first `opening` ones random; `None` if one of them can be no move.
pub(super) fn read_moves(opening: u8, bytes: &[u8]) -> Option<(Vec<Move>, Vec<Ply>)> {
    let (moves, searched) = bytes.split_at_checked(2 * usize::from(opening))?;
    let mv = |pair: &[u8]| Move::from_raw(u16::from_le_bytes([pair[0], pair[1]]));
    let opening = moves.chunks_exact(2).map(mv).collect::<Option<_>>()?;
    let ply = |four: &[u8]| {
        Some(Ply { mv: mv(&four[..2])?, score: i16::from_le_bytes([four[2], four[3]]) })
    };
    Some((opening, searched.chunks_exact(4).map(ply).collect::<Option<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;

    #[test]
    fn records_come_back_from_bytes_and_parts_of_them_do_not() {
        let mv = |text| Board::startpos().parse_uci(text).unwrap();
        let record = Record {
            opening: vec![mv("e2e4"), mv("d2d4")],
            plies: vec![Ply { mv: mv("g1f3"), score: -12 }, Ply { mv: mv("a2a3"), score: 8000 }],
            result: GameResult::WhiteWins,
        };
        let mut bytes = Vec::new();
        record.write(&mut bytes);
        assert_eq!(Record::read(&bytes), Some((record, bytes.len())));
        for length in 0..bytes.len() {
            assert_eq!(Record::read(&bytes[..length]), None);
            assert!(Record::is_begun(&bytes[..length]));
        }
        assert!(!Record::is_begun(&bytes));
    }

    #[test]
    fn a_record_without_searched_moves_is_none() {
        for bytes in [&[0; 400][..], &[1, 1, 0, 0, 52, 34], &[1, 0, 0, 0]] {
            assert_eq!(Record::read(bytes), None);
            assert!(!Record::is_begun(bytes));
        }
        assert_eq!(Record::read(&[3, 0, 1, 0, 52, 34, 0, 0]), None, "no such result");
    }
}
