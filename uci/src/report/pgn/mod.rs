//! Games in PGN: tags, moves, comments, annotations and variations.
//!
//! Read by [`Reader`], written by [`write_game`]; what was read and is written reads back the same. Null
//! moves, which some programs put into variations, cannot be kept: such a variation ends before them.
//! Source: the PGN standard of 1994, <https://www.chessprogramming.org/Portable_Game_Notation>.

mod read;
mod write;

use std::fmt;
use std::str::FromStr;

use cairn_engine::board::Board;
use cairn_engine::moves::Move;

pub use read::{Entry, PgnError, Reader};
pub use write::write_game;

/// A game.
#[derive(Clone, Debug)]
pub struct Game {
    /// The tags in their order, names and values. Of two with one name the first counts.
    pub tags: Vec<(String, String)>,
    /// The position that the game starts from.
    pub start: Board,
    /// What was played.
    pub main: Line,
    /// How it ended.
    pub result: GameResult,
}

impl Game {
    /// A game without moves. It gets the tags that tell of a start that is not the usual one.
    #[must_use]
    pub fn new(start: Board) -> Game {
        let mut tags = Vec::new();
        if !same_position(&start, &Board::startpos()) {
            if start.has_chess960_castling() {
                tags.push(("Variant".into(), "Chess960".into()));
            }
            tags.push(("SetUp".into(), "1".into()));
            tags.push(("FEN".into(), start.to_fen()));
        }
        Game { tags, start, main: Line::default(), result: GameResult::Unknown }
    }

    /// The value of a tag.
    #[must_use]
    pub fn tag(&self, name: &str) -> Option<&str> {
        value(&self.tags, name)
    }

    /// Sets a tag, in its old place or behind the others.
    pub fn set_tag(&mut self, name: &str, value: impl Into<String>) {
        match self.tags.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => *old = value.into(),
            None => self.tags.push((name.to_owned(), value.into())),
        }
    }
}

/// Equal in all that is written.
impl PartialEq for Game {
    fn eq(&self, other: &Game) -> bool {
        self.tags == other.tags
            && same_position(&self.start, &other.start)
            && self.main == other.main
            && self.result == other.result
    }
}

impl Eq for Game {}

/// Whether two positions, with their clocks, are the same.
fn same_position(one: &Board, other: &Board) -> bool {
    one.to_shredder_fen() == other.to_shredder_fen()
}

/// The value of the first tag with this name.
fn value<'a>(tags: &'a [(String, String)], name: &str) -> Option<&'a str> {
    tags.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
}

/// Moves from some position on: what was played, or a variation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// What is said before the first move.
    pub comments: Vec<String>,
    /// The moves, each legal after those before it.
    pub moves: Vec<Step>,
}

/// A move and what is said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The move.
    pub mv: Move,
    /// Numeric annotation glyphs: 1 to 6 are `!`, `?`, `!!`, `??`, `!?` and `?!`.
    pub nags: Vec<u8>,
    /// What is said behind it, single spaces between the words. Braces that close are parentheses, as PGN
    /// has no way to write them.
    pub comments: Vec<String>,
    /// What could have been played instead of it.
    pub variations: Vec<Line>,
}

impl Step {
    /// A move of which nothing is said.
    #[must_use]
    pub const fn new(mv: Move) -> Step {
        Step { mv, nags: Vec::new(), comments: Vec::new(), variations: Vec::new() }
    }
}

/// How a game ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GameResult {
    /// White won.
    WhiteWins,
    /// Black won.
    BlackWins,
    /// A draw.
    Draw,
    /// It has not ended, or nobody knows.
    #[default]
    Unknown,
}

impl fmt::Display for GameResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GameResult::WhiteWins => "1-0",
            GameResult::BlackWins => "0-1",
            GameResult::Draw => "1/2-1/2",
            GameResult::Unknown => "*",
        })
    }
}

/// A text that is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultError;

impl FromStr for GameResult {
    type Err = ResultError;

    fn from_str(text: &str) -> Result<GameResult, ResultError> {
        match text {
            "1-0" => Ok(GameResult::WhiteWins),
            "0-1" => Ok(GameResult::BlackWins),
            "1/2-1/2" | "1/2" | "½-½" => Ok(GameResult::Draw),
            "*" => Ok(GameResult::Unknown),
            _ => Err(ResultError),
        }
    }
}

/// A comment as it is kept: single spaces, and no brace that would end it.
fn plain_comment(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for word in crate::protocol::text::words(text) {
        if !plain.is_empty() {
            plain.push(' ');
        }
        plain.push_str(word);
    }
    if plain.contains('}') { plain.replace('}', ")") } else { plain }
}
