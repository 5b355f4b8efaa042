//! Format 2 in bytes: a header that says how the games were made, then a block for each game.
//!
//! Everything is little-endian. The header:
//!
//! | at | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `CairnGam` |
//! | 8 | 2 | format, 2 |
//! | 10 | 2 | length of the header, 64 |
//! | 12 | 4 | number of the first game that belongs into the file |
//! | 16 | 8 | seed |
//! | 24 | 8 | the short bench of the program that played |
//! | 32 | 4 | nodes a move |
//! | 36 | 1 | by how much a search may go beyond them, as a multiple |
//! | 37 | 1 | hash table in MiB |
//! | 38 | 1 | random half-moves at the start; half of the games have one more |
//! | 39 | 1 | percent of the games that start from Chess960 positions |
//! | 40 | 1 | 0 if both sides have the same back rank there, 1 if each has its own |
//! | 41 | 1 | one game in so many is played out to its end; 0 if none is |
//! | 42 | 2 | the largest score of an opening that is kept, in centipawns |
//! | 44 | 2 | the score that has to be exceeded for adjudication, in centipawns |
//! | 46 | 2 | the most searched half-moves of a game |
//! | 48 | 1 | for how many half-moves in a row it has to be exceeded |
//! | 49 | 1 | what the part of a lead beyond the next bound was divided by, 0 or 1 if all of it counted |
//! | 50 | 2 | from where on leads counted in part, in centipawns |
//! | 52 | 8 | 0 |
//! | 60 | 4 | CRC-32 of the 60 bytes before |
//!
//! A block:
//!
//! | at | bytes | what |
//! |---|---|---|
//! | 0 | 4 | number of the game, higher than that of the block before |
//! | 4 | 4 | CRC-32 of the number and of all that follows in the block |
//! | 8 | 2 | start of white: the number of its back rank in Chess960, 518 for the standard one |
//! | 10 | 2 | start of black |
//! | 12 | 1 | result: 0 black won, 1 draw, 2 white won |
//! | 13 | 1 | ending, see [`Ending`] |
//! | 14 | 2 | number of searched moves, at least 1 |
//! | 16 | 1 | number of random moves |
//! | 17 | 2 each | random moves, as [`Move::raw`](crate::moves::Move::raw) has them |
//! | | 4 each | searched moves, each with its score from white's view |
//!
//! One game to a block costs 8 bytes of some 550, and a file never has to be written over: games are
//! only ever appended, a process that is killed loses none that it has written, and damage costs the
//! games that it hits and no others.

use super::format1::{moves_length, read_moves, write_moves};
use super::game::{Ending, Game, GameResult};
use super::start::Start;
use super::{Settings, Sides};
use crate::eval::Damping;
use crate::score::MATE;
use std::fmt;

/// What a file begins with.
pub const MAGIC: [u8; 8] = *b"CairnGam";
/// The bytes of a header.
pub const HEADER_LENGTH: usize = 64;
/// The most bytes that a block can have.
pub const LONGEST_BLOCK: usize = HEAD + 2 * 255 + 4 * 65535;

const FORMAT: u16 = 2;
/// The bytes of a block before its moves.
const HEAD: usize = 17;

/// How the games of a file were made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// The number of the first game that belongs into the file.
    pub first: u32,
    /// What tells the program that played from others: its short bench.
    pub bench: u64,
    /// What the games depend on besides.
    pub settings: Settings,
    /// How the player's evaluation took great leads, which its scores show.
    pub damping: Damping,
}

/// Why bytes are not a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeaderError {
    /// They begin with something else.
    Foreign,
    /// They end within it.
    Short,
    /// They are of another format, which this is the number of.
    Format(u16),
    /// The checksum is not that of the other bytes.
    Checksum,
    /// A setting has a value that it can't have.
    Setting,
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::Foreign => f.write_str("this is no file of games"),
            HeaderError::Short => f.write_str("the header is cut off"),
            HeaderError::Format(number) => {
                write!(f, "the games are in format {number}, which this version does not know")
            }
            HeaderError::Checksum => f.write_str("the header is damaged: its checksum is wrong"),
            HeaderError::Setting => f.write_str("the header has a setting that does not exist"),
        }
    }
}

impl std::error::Error for HeaderError {}

impl Header {
    /// The header in bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; HEADER_LENGTH] {
        let settings = &self.settings;
        let mut bytes = [0; HEADER_LENGTH];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &MAGIC);
        put(8, &FORMAT.to_le_bytes());
        put(10, &(HEADER_LENGTH as u16).to_le_bytes());
        put(12, &self.first.to_le_bytes());
        put(16, &settings.seed.to_le_bytes());
        put(24, &self.bench.to_le_bytes());
        put(32, &settings.nodes.to_le_bytes());
        put(36, &[settings.hard_factor, settings.hash_mib, settings.random_plies]);
        put(39, &[settings.chess960_percent, settings.sides as u8, settings.played_out]);
        put(42, &settings.opening_bound.to_le_bytes());
        put(44, &settings.decided_score.to_le_bytes());
        put(46, &settings.longest_game.to_le_bytes());
        put(48, &[settings.decided_plies, self.damping.divisor]);
        put(50, &self.damping.bound.to_le_bytes());
        let checksum = crc32fast::hash(&bytes[..60]);
        bytes[60..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(bytes: &[u8]) -> Result<Header, HeaderError> {
        let known = bytes.len().min(MAGIC.len());
        if bytes.is_empty() || bytes[..known] != MAGIC[..known] {
            return Err(HeaderError::Foreign);
        }
        if let Some(format) = bytes.get(8..10).map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
            && format != FORMAT
        {
            return Err(HeaderError::Format(format));
        }
        let bytes: &[u8; HEADER_LENGTH] = bytes.first_chunk().ok_or(HeaderError::Short)?;
        if crc32fast::hash(&bytes[..60]).to_le_bytes() != bytes[60..] {
            return Err(HeaderError::Checksum);
        }
        let two = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let settings = Settings {
            seed: eight(bytes, 16),
            nodes: four(bytes, 32),
            hard_factor: bytes[36],
            hash_mib: bytes[37],
            random_plies: bytes[38],
            chess960_percent: bytes[39],
            sides: Sides::from_raw(bytes[40]).ok_or(HeaderError::Setting)?,
            played_out: bytes[41],
            opening_bound: two(42),
            decided_score: two(44),
            longest_game: two(46),
            decided_plies: bytes[48],
        };
        let damping = Damping { bound: two(50), divisor: bytes[49] };
        Ok(Header { first: four(bytes, 12), bench: eight(bytes, 24), settings, damping })
    }

    /// What the games of the two files depend on and differ in, as `nodes 1500, not 5000`; the ranges
    /// of games are no such thing.
    #[must_use]
    pub fn differences(&self, other: &Header) -> Vec<String> {
        let named = |header: &Header| {
            let mut all = header.settings.named().to_vec();
            all.push(("bench", header.bench));
            all.push(("bound of leads", header.damping.bound.into()));
            all.push(("divisor of leads", header.damping.divisor.into()));
            all
        };
        let both = named(self).into_iter().zip(named(other));
        both.filter(|(ours, theirs)| ours != theirs)
            .map(|((name, ours), (_, theirs))| format!("{name} {ours}, not {theirs}"))
            .collect()
    }
}

fn four(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

fn eight(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

/// Why bytes are not a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockError {
    /// They end within it.
    Short,
    /// The checksum is not that of the other bytes.
    Checksum,
    /// A field has a value that it can't have.
    Field(&'static str),
}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BlockError::Short => f.write_str("the game is cut off"),
            BlockError::Checksum => f.write_str("the checksum of the game is wrong"),
            BlockError::Field(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for BlockError {}

/// Appends a game as a block.
///
/// The game has an ending, 1 to 65535 searched moves and at most 255 random ones, as
/// [`play`](super::play) makes them. Without an ending, as those of format 1, it is written as a draw
/// by length or an adjudicated win, which is all that is certain.
pub fn write_block(number: u32, game: &Game, bytes: &mut Vec<u8>) {
    let from = bytes.len();
    let unknown =
        if game.result == GameResult::Draw { Ending::TooLong } else { Ending::Adjudicated };
    bytes.extend(number.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(game.start.white().to_le_bytes());
    bytes.extend(game.start.black().to_le_bytes());
    bytes.extend([game.result as u8, game.ending.unwrap_or(unknown) as u8]);
    bytes.extend((game.plies.len() as u16).to_le_bytes());
    bytes.push(game.opening.len() as u8);
    write_moves(&game.opening, &game.plies, bytes);
    let checksum = checksum(&bytes[from..]).to_le_bytes();
    bytes[from + 4..from + 8].copy_from_slice(&checksum);
}

/// The checksum of a block: of all its bytes but for those that it stands in.
fn checksum(block: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&block[..4]);
    hasher.update(&block[8..]);
    hasher.finalize()
}

/// Reads the block at the start of `bytes`: the number of the game, the game, and how long the block
/// is.
///
/// # Errors
/// What is wrong with it. It is [`BlockError::Short`] only if all that is there could be right.
pub fn read_block(bytes: &[u8]) -> Result<(u32, Game, usize), BlockError> {
    let head: &[u8; HEAD] = bytes.first_chunk().ok_or(BlockError::Short)?;
    let two = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
    let start = Start::new(two(8), two(10)).ok_or(BlockError::Field("there is no such start"))?;
    let result =
        GameResult::from_raw(head[12]).ok_or(BlockError::Field("there is no such result"))?;
    let ending = *Ending::ALL
        .get(usize::from(head[13]))
        .ok_or(BlockError::Field("there is no such ending"))?;
    if ending.is_win() == (result == GameResult::Draw) {
        return Err(BlockError::Field("the result does not follow from the ending"));
    }
    let (plies, opening) = (two(14), head[16]);
    if plies == 0 {
        return Err(BlockError::Field("a game without moves"));
    }
    let length = HEAD + moves_length(opening, plies);
    let block = bytes.get(..length).ok_or(BlockError::Short)?;
    if four(block, 4) != checksum(block) {
        return Err(BlockError::Checksum);
    }
    let (opening, plies) = read_moves(opening, &block[HEAD..])
        .ok_or(BlockError::Field("a move that is none on any board"))?;
    if plies.iter().any(|ply| i32::from(ply.score).abs() > MATE) {
        return Err(BlockError::Field("a score beyond mate"));
    }
    let game = Game { start, opening, plies, result, ending: Some(ending) };
    Ok((four(block, 0), game, length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::selfplay::Ply;

    fn header() -> Header {
        Header {
            first: 70_000,
            bench: 0x0123_4567_89ab_cdef,
            settings: Settings {
                seed: u64::MAX - 1,
                nodes: 1_000_001,
                hard_factor: 2,
                hash_mib: 3,
                random_plies: 4,
                chess960_percent: 5,
                sides: Sides::Same,
                played_out: 6,
                opening_bound: 777,
                decided_score: 8888,
                longest_game: 999,
                decided_plies: 10,
            },
            damping: Damping { bound: 1234, divisor: 5 },
        }
    }

    fn game() -> Game {
        let mv = |text| Board::startpos().parse_uci(text).unwrap();
        Game {
            start: Start::new(17, 958).unwrap(),
            opening: vec![mv("e2e4")],
            plies: vec![Ply { mv: mv("g1f3"), score: -12 }, Ply { mv: mv("a2a3"), score: 8000 }],
            result: GameResult::WhiteWins,
            ending: Some(Ending::Checkmate),
        }
    }

    #[test]
    fn headers_come_back_and_every_flipped_bit_shows() {
        let bytes = header().to_bytes();
        assert_eq!(Header::read(&bytes), Ok(header()));
        for bit in 0..8 * bytes.len() {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            let error = Header::read(&flipped).unwrap_err();
            let expected = match bit / 8 {
                0..8 => HeaderError::Foreign,
                8..10 => HeaderError::Format(u16::from_le_bytes([flipped[8], flipped[9]])),
                _ => HeaderError::Checksum,
            };
            assert_eq!(error, expected, "bit {bit}");
        }
        assert_eq!(Header::read(&[]), Err(HeaderError::Foreign));
        for length in 1..bytes.len() {
            assert_eq!(Header::read(&bytes[..length]), Err(HeaderError::Short));
        }
    }

    #[test]
    fn what_headers_differ_in_is_named_but_for_the_range() {
        let mut other = Header { first: 0, ..header() };
        assert_eq!(header().differences(&other), [""; 0]);
        other.settings.nodes = 5;
        other.bench = 6;
        assert_eq!(
            header().differences(&other),
            ["nodes 1000001, not 5", "bench 81985529216486895, not 6"]
        );
    }

    #[test]
    fn blocks_come_back_and_every_flipped_bit_shows() {
        let mut bytes = Vec::new();
        write_block(123_456, &game(), &mut bytes);
        assert_eq!(bytes.len(), HEAD + moves_length(1, 2));
        assert_eq!(read_block(&bytes), Ok((123_456, game(), bytes.len())));
        for bit in 0..8 * bytes.len() {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(read_block(&flipped).is_err(), "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert_eq!(read_block(&bytes[..length]), Err(BlockError::Short));
        }
    }

    #[test]
    fn a_block_whose_checksum_is_right_may_still_be_none() {
        let wrong = |change: &dyn Fn(&mut Game)| {
            let mut game = game();
            change(&mut game);
            let mut bytes = Vec::new();
            write_block(1, &game, &mut bytes);
            read_block(&bytes).unwrap_err()
        };
        assert_eq!(wrong(&|game| game.plies.clear()), BlockError::Field("a game without moves"));
        let result = BlockError::Field("the result does not follow from the ending");
        assert_eq!(wrong(&|game| game.result = GameResult::Draw), result);
        assert_eq!(wrong(&|game| game.ending = Some(Ending::Stalemate)), result);
        let score = BlockError::Field("a score beyond mate");
        assert_eq!(wrong(&|game| game.plies[0].score = i16::MIN), score);
        assert!(read_block(&[0; 400]).is_err());
    }
}
