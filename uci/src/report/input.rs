//! The positions of a file: FEN, EPD or PGN.

use std::fmt;
use std::io::{self, BufRead, Chain, Cursor, ErrorKind, Read};
use std::vec;

use anyhow::{Result, anyhow, bail};
use cairn_engine::board::Board;
use cairn_engine::piece::Side;
use serde::{Deserialize, Serialize};

use super::lines::{FoundLine, Lines, decode};
use super::pgn::{Entry, PgnError, Reader, Step};
use crate::protocol::quote;
use crate::protocol::text::next_word;

/// The longest line with a position, in bytes.
const LONGEST_LINE: usize = 1 << 16;

/// How much of an input is looked at for its kind, in bytes.
const LONGEST_BEGINNING: usize = 1 << 20;

/// A position to analyse.
#[derive(Clone, Debug)]
pub struct Position {
    /// Its number among all positions of the input, from 0; who reads several files counts on.
    pub index: u64,
    /// The position, without the moves before it.
    pub board: Board,
    /// Where it comes from.
    pub source: Source,
    /// The operations of EPD that came with it: opcodes and what follows them.
    pub operations: Vec<(String, String)>,
}

/// Where a position comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The file as it was named; `-` is standard input.
    pub file: String,
    /// The line, from 1; of a game that of its beginning.
    pub line: u64,
    /// The number of the game, from 1.
    pub game: Option<u64>,
    /// The half-moves of the game before the position.
    pub ply: Option<u32>,
    /// The name that EPD gives it.
    pub id: Option<String>,
}

/// Which positions of a game are taken.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Those before these moves, from and to.
    pub moves: Option<(u32, u32)>,
    /// Those in which the player whose name contains this is to move.
    pub player: Option<String>,
}

impl Selection {
    /// Reads a range of moves: `10-30`, `10-`, `-30` or `10`.
    ///
    /// # Errors
    /// If the text is no range.
    pub fn parse_moves(text: &str) -> Result<(u32, u32)> {
        let number = |text: &str, missing: u32| match text {
            "" => Some(missing),
            digits => digits.parse().ok(),
        };
        let (from, to) = text.split_once('-').unwrap_or((text, text));
        match (number(from, 0), number(to, u32::MAX)) {
            (Some(from), Some(to)) if from <= to && !text.is_empty() && text != "-" => {
                Ok((from, to))
            }
            _ => bail!("moves are written as in 10-30, not '{}'", quote(text)),
        }
    }

    fn takes(&self, board: &Board, players: &[String; 2]) -> bool {
        let number = board.fullmove_number();
        self.moves.is_none_or(|(from, to)| (from..=to).contains(&number))
            && self.is_player(&players[usize::from(board.side_to_move() == Side::Black)])
    }

    /// Whether positions of this player are taken. Both names are in small letters.
    fn is_player(&self, player: &str) -> bool {
        self.player.as_ref().is_none_or(|name| player.contains(name))
    }
}

/// Something in the input that cannot be read.
#[derive(Debug)]
pub struct InputError {
    file: String,
    /// What is wrong, and in which line.
    text: String,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.text)
    }
}

impl std::error::Error for InputError {}

/// The positions of one input, and in their places what cannot be read.
pub struct Positions<R> {
    file: String,
    text: Text<R>,
    selection: Selection,
    /// The game whose positions are being taken.
    game: Option<OpenGame>,
    /// How many positions were found.
    found: u64,
    has_ended: bool,
}

/// An input by its kind.
enum Text<R> {
    Pgn(Box<Reader<Begun<R>>>),
    Lines(Lines<Begun<R>>),
}

/// An input whose beginning was looked at.
type Begun<R> = Chain<Cursor<Vec<u8>>, R>;

/// A game of which not all positions were taken. They are made one by one: together they would take many times the
/// memory of the game.
struct OpenGame {
    number: u64,
    /// The line that it begins in.
    line: u64,
    /// White and black, in small letters.
    players: [String; 2],
    /// The next position.
    board: Board,
    /// The half-moves before it.
    ply: u32,
    /// The moves from there on.
    moves: vec::IntoIter<Step>,
    /// The last position was taken.
    is_over: bool,
}

impl<R: BufRead> Positions<R> {
    /// The positions of `input`. `file` is what it is called; a name that ends in `.pgn` means games, else the
    /// first letters tell.
    ///
    /// # Errors
    /// When it cannot be read, or is no text.
    pub fn new(file: &str, mut input: R, mut selection: Selection) -> Result<Positions<R>> {
        selection.player = selection.player.map(|name| name.to_lowercase());
        let beginning = beginning(&mut input).map_err(|error| anyhow!("{file}: {error}"))?;
        if beginning.contains(&0) {
            bail!("{file}: is no text, but a binary file or UTF-16");
        }
        let is_pgn = file.to_lowercase().ends_with(".pgn") || looks_like_pgn(&beginning);
        let input = Cursor::new(beginning).chain(input);
        let text = if is_pgn {
            Text::Pgn(Box::new(Reader::new(input)))
        } else {
            Text::Lines(Lines::new(input, LONGEST_LINE))
        };
        let file = file.to_owned();
        Ok(Positions { file, text, selection, game: None, found: 0, has_ended: false })
    }

    /// The number of the position that was found now.
    fn count(&mut self) -> u64 {
        self.found += 1;
        self.found - 1
    }

    /// The next position of a list of positions.
    fn next_line(&mut self) -> Option<Result<Position, InputError>> {
        let Text::Lines(lines) = &mut self.text else { return None };
        loop {
            let found = match lines.advance() {
                Ok(None) => return None,
                Ok(Some(FoundLine::Text(bytes))) => match decode(bytes.trim_ascii()) {
                    text if text.is_empty() || text.starts_with('#') => continue,
                    text => read_position(&text),
                },
                Ok(Some(FoundLine::TooLong)) => Err("the line is too long".to_owned()),
                Err(error) => {
                    self.has_ended = true;
                    Err(error.to_string())
                }
            };
            let line = lines.number();
            let file = self.file.clone();
            return Some(match found {
                Ok((board, operations)) => {
                    let id = operations.iter().find(|(opcode, _)| opcode == "id");
                    let id = id.map(|(_, text)| unquoted(text).to_owned());
                    let source = Source { file, line, game: None, ply: None, id };
                    Ok(Position { index: self.count(), board, source, operations })
                }
                Err(reason) => Err(InputError { file, text: format!("line {line}: {reason}") }),
            });
        }
    }

    /// Opens the next game. None at the end.
    fn next_game(&mut self) -> Option<Result<(), InputError>> {
        let Text::Pgn(reader) = &mut self.text else { return None };
        let Entry { number, line, game } = match reader.next()? {
            Ok(entry) => entry,
            Err(error) => {
                self.has_ended = matches!(error, PgnError::Input { .. });
                return Some(Err(InputError { file: self.file.clone(), text: error.to_string() }));
            }
        };
        let name = |tag| game.tag(tag).unwrap_or_default().to_lowercase();
        let players = [name("White"), name("Black")];
        if !players.iter().any(|player| self.selection.is_player(player)) {
            return Some(Ok(()));
        }
        let (board, moves) = (game.start, game.main.moves.into_iter());
        self.game = Some(OpenGame { number, line, players, board, ply: 0, moves, is_over: false });
        Some(Ok(()))
    }

    /// The next position of the open game that is taken. None at its end.
    fn next_of_game(&mut self) -> Option<Position> {
        let game = self.game.as_mut()?;
        while !game.is_over {
            let taken = self.selection.takes(&game.board, &game.players).then(|| {
                let (file, line) = (self.file.clone(), game.line);
                let (game_number, ply) = (Some(game.number), Some(game.ply));
                let source = Source { file, line, game: game_number, ply, id: None };
                (without_history(&game.board), source)
            });
            match game.moves.next() {
                Some(step) => {
                    game.board.play(step.mv);
                    game.ply += 1;
                }
                None => game.is_over = true,
            }
            if let Some((board, source)) = taken {
                let index = self.count();
                return Some(Position { index, board, source, operations: Vec::new() });
            }
        }
        self.game = None;
        None
    }
}

impl<R: BufRead> Iterator for Positions<R> {
    type Item = Result<Position, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(position) = self.next_of_game() {
                return Some(Ok(position));
            }
            if self.has_ended {
                return None;
            }
            if matches!(self.text, Text::Lines(_)) {
                return self.next_line();
            }
            if let Err(error) = self.next_game()? {
                return Some(Err(error));
            }
        }
    }
}

/// Takes as much from an input as is there at once, and as its kind is told by: a pipe may give its first line in
/// pieces.
fn beginning(input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut beginning = Vec::new();
    while beginning.len() < LONGEST_BEGINNING {
        let bytes = match input.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        let length = bytes.len();
        if length == 0 {
            break;
        }
        beginning.extend_from_slice(bytes);
        input.consume(length);
        // Without its end a line may still become another kind.
        let whole = beginning.iter().rposition(|&byte| byte == b'\n').unwrap_or(0);
        if first_line(&beginning[..whole]).is_some() {
            break;
        }
    }
    Ok(beginning)
}

/// The first line that is neither empty nor a remark.
fn first_line(text: &[u8]) -> Option<&[u8]> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    text.split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .find(|line| !line.is_empty() && !line.starts_with(b"#"))
}

/// Whether a text begins like games, and not like positions.
fn looks_like_pgn(text: &[u8]) -> bool {
    first_line(text).is_some_and(|line| {
        let first = line.split(|&byte| byte == b' ').next().unwrap_or_default();
        matches!(line[0], b'[' | b'%' | b';' | b'{') || first.contains(&b'.')
    })
}

/// The position alone: what an analysis finds depends on nothing that its FEN does not tell.
fn without_history(board: &Board) -> Board {
    // A board writes only what it reads.
    Board::from_fen(&board.to_shredder_fen()).unwrap_or_else(|_| board.clone())
}

/// Reads a position of EPD or FEN: four fields, perhaps two numbers, perhaps operations.
fn read_position(text: &str) -> Result<(Board, Vec<(String, String)>), String> {
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let (mut fields, mut rest) = (Vec::new(), text);
    while let Some((word, after)) = next_word(rest)
        && (fields.len() < 4 || (fields.len() < 6 && is_number(word)))
    {
        fields.push(word);
        rest = after;
    }
    let numbers = fields.len().saturating_sub(4);
    let operations = read_operations(rest)?;
    let operand = |name: &str| {
        let found = operations.iter().find(|(opcode, _)| opcode == name);
        found.map(|(_, operand)| operand.as_str())
    };
    let mut fen = fields.join(" ");
    if numbers == 0 {
        let clock = operand("hmvc").unwrap_or("0");
        let number = operand("fmvn").unwrap_or("1");
        fen = format!("{fen} {clock} {number}");
    }
    let board = Board::from_fen(&fen).map_err(|error| error.to_string())?;
    Ok((board, operations))
}

/// Reads the operations of EPD: an opcode, operands and a semicolon each.
fn read_operations(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut operations = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let mut is_quoted = false;
        let end = rest.find(|letter| {
            is_quoted ^= letter == '"';
            letter == ';' && !is_quoted
        });
        if is_quoted && end.is_none() {
            return Err("a text in quotation marks has no end".to_owned());
        }
        let operation = rest[..end.unwrap_or(rest.len())].trim();
        rest = end.map_or("", |end| rest[end + 1..].trim_start());
        let (opcode, operand) = operation
            .split_once(|letter: char| letter.is_ascii_whitespace())
            .unwrap_or((operation, ""));
        if !opcode.is_empty() {
            operations.push((opcode.to_owned(), operand.trim().to_owned()));
        }
    }
    Ok(operations)
}

/// A text without the quotation marks around it.
fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(file: &str, text: impl AsRef<[u8]>, selection: Selection) -> Vec<String> {
        Positions::new(file, text.as_ref(), selection)
            .expect("a text")
            .map(|found| match found {
                Ok(Position { board, source, .. }) => {
                    format!("{} {:?} {:?} {}", source.line, source.game, source.id, board.to_fen())
                }
                Err(error) => error.to_string(),
            })
            .collect()
    }

    const KINGS: &str = "4k3/8/8/8/8/8/4P3/4K3";

    #[test]
    fn positions_are_read_in_all_forms() {
        let text = format!(
            "\u{feff}{KINGS} w - - 3 9\r\n\r\n# a remark\n{KINGS} b - -\n\
             {KINGS} w - - bm e4; id \"a; b\";\n{KINGS} w - - 7 8 id \"c\"; ce 5\n\
             {KINGS} b - - hmvc 5; fmvn 12;\n"
        );
        let expected = [
            format!("1 None None {KINGS} w - - 3 9"),
            format!("4 None None {KINGS} b - - 0 1"),
            format!("5 None Some(\"a; b\") {KINGS} w - - 0 1"),
            format!("6 None Some(\"c\") {KINGS} w - - 7 8"),
            format!("7 None None {KINGS} b - - 5 12"),
        ];
        assert_eq!(told("x.epd", text, Selection::default()), expected);
    }

    #[test]
    fn what_is_no_position_is_told_with_its_line() {
        let long = "x".repeat(LONGEST_LINE + 1);
        let text =
            format!("hello\n{KINGS} w - - 0 1\n{KINGS} w KQ - 0 1\n{KINGS} w - - id \"x\n{long}\n");
        let told = told("a/x", text, Selection::default());
        assert_eq!(told.len(), 5, "{told:#?}");
        for (index, expected) in [
            (0, "a/x: line 1: a FEN has 4 to 6 fields"),
            (1, "2 None None"),
            (2, "a/x: line 3: castling right"),
            (3, "a/x: line 4: a text in quotation marks"),
            (4, "a/x: line 5: the line is too long"),
        ] {
            assert!(told[index].starts_with(expected), "{told:#?}");
        }
    }

    #[test]
    fn texts_in_quotation_marks_keep_their_blanks() {
        let text =
            format!("{KINGS}  w - -   bm e4;  c0 \"two  blanks;\tand a tab\"; id\t\"a  b\";\n");
        let found: Vec<_> = Positions::new("-", text.as_bytes(), Selection::default())
            .expect("a text")
            .map(|found| found.expect("a position"))
            .collect();
        let operation = |index: usize| {
            let (opcode, operand) = &found[0].operations[index];
            (opcode.as_str(), operand.as_str())
        };
        assert_eq!(operation(0), ("bm", "e4"));
        assert_eq!(operation(1), ("c0", "\"two  blanks;\tand a tab\""));
        assert_eq!(found[0].source.id.as_deref(), Some("a  b"));
        assert!(
            read_position(&format!("{KINGS} w - - 0 1 7")).is_ok_and(|(_, more)| more.len() == 1)
        );
    }

    #[test]
    fn a_pipe_may_give_its_first_line_in_pieces() {
        let games = "\u{feff}\n\n 1.e4 e5 *\n";
        let text = format!("# a remark\n{KINGS} w - -\n");
        for size in 1..20 {
            let found = |text: &str| {
                let input = io::BufReader::with_capacity(size, text.as_bytes());
                let positions = Positions::new("-", input, Selection::default()).expect("a text");
                positions.filter_map(Result::ok).count()
            };
            assert_eq!((found(games), found(&text), found(text.trim_end())), (3, 1, 1), "{size}");
        }
    }

    #[test]
    fn games_are_told_from_positions() {
        let games = "1. e4 e5 2. Nf3 *\n[White \"Ann\"]\n[Black \"Bob\"]\n\n1. d4 *\n";
        let all = told("-", games, Selection::default());
        assert_eq!(all.len(), 4 + 2, "{all:#?}");
        assert!(all[3].ends_with("RNBQKB1R b KQkq - 1 2"), "{all:#?}");
        assert!(all[4].starts_with("2 Some(2)"), "{all:#?}");
        let select = |moves: Option<&str>, player: Option<&str>| {
            let moves = moves.map(|text| Selection::parse_moves(text).expect("moves"));
            told("-", games, Selection { moves, player: player.map(str::to_owned) }).len()
        };
        assert_eq!(select(Some("2-"), None), 2);
        assert_eq!(select(Some("1"), None), 4);
        assert_eq!(select(None, Some("BOB")), 1);
        assert_eq!(select(Some("2"), Some("bob")), 0);
        for wrong in ["", "-", "x", "3-2", "1-2-3", "+1"] {
            assert_eq!(Selection::parse_moves(wrong).is_err(), wrong != "+1", "{wrong}");
        }
        assert!(Positions::new("-", &b"\x7fELF\0\0"[..], Selection::default()).is_err());
    }
}
