//! Games read one after the other, in bounded memory.
//!
//! Read line by line, so that what is broken spoils one game and no more: the next tags, or the end of the
//! game, are where reading goes on. Text is UTF-8 where it can be and else Latin-1, decided for each tag and
//! comment, as files are often put together from several.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::io::{self, BufRead};
use std::mem;

use cairn_engine::board::Board;

use super::super::lines::{FoundLine, Lines, decode};
use super::{Game, GameResult, Line, Step, plain_comment, value};
use crate::protocol::san::read_san;
use crate::protocol::text::quote;

/// The longest line, in bytes. Some programs write a game into one line.
const LONGEST_LINE: usize = 4 << 20;

/// What the moves and texts of one game may take, about in bytes of memory.
const LARGEST_GAME: usize = 32 << 20;

/// What a move, a comment or a variation counts beside its text.
const ITEM_COST: usize = 96;

/// How many games a line may hold: all of them are kept until the line is read.
const MOST_READY: usize = 1 << 14;

/// How deep variations may stand in each other.
const DEEPEST: usize = 100;

/// A game and where it stands.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The number of the game in its file, from 1.
    pub number: u64,
    /// The line of the file that it begins in, from 1.
    pub line: u64,
    /// The game.
    pub game: Game,
}

/// Why there is no game.
#[derive(Debug)]
pub enum PgnError {
    /// A game is broken. Those behind it can still be read.
    Broken {
        /// The number of the game, from 1.
        game: u64,
        /// The line that cannot be read, from 1.
        line: u64,
        /// What is wrong there.
        reason: String,
    },
    /// The file cannot be read any further.
    Input {
        /// How many lines have been read.
        line: u64,
        /// Why.
        error: io::Error,
    },
}

impl fmt::Display for PgnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PgnError::Broken { game, line, reason } => {
                write!(f, "line {line}: {reason}; game {game} is skipped")
            }
            PgnError::Input { line, error } => write!(f, "after line {line}: {error}"),
        }
    }
}

impl Error for PgnError {}

/// Reads games: an iterator over those of a file, broken ones in their places.
pub struct Reader<R> {
    lines: Lines<R>,
    state: State,
    has_ended: bool,
}

impl<R: BufRead> Reader<R> {
    /// A reader of all games in `input`.
    pub fn new(input: R) -> Reader<R> {
        Reader { lines: Lines::new(input, LONGEST_LINE), state: State::default(), has_ended: false }
    }

    /// Reads the next line. Whether there was one.
    fn advance(&mut self) -> io::Result<bool> {
        let Some(found) = self.lines.advance()? else { return Ok(false) };
        self.state.line_number += 1;
        match found {
            FoundLine::Text(line) => self.state.read_line(line),
            FoundLine::TooLong => {
                self.state.building().has_moves = true;
                self.state.refuse(format!("a line of more than {} MiB", LONGEST_LINE >> 20));
            }
        }
        Ok(true)
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Entry, PgnError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.state.ready.pop_front() {
                return Some(item);
            }
            if self.has_ended {
                return None;
            }
            match self.advance() {
                Ok(true) => {}
                Ok(false) => {
                    self.has_ended = true;
                    self.state.end_of_file();
                }
                Err(error) => {
                    self.has_ended = true;
                    let line = self.state.line_number;
                    return Some(Err(PgnError::Input { line, error }));
                }
            }
        }
    }
}

/// What is known between two lines.
#[derive(Default)]
struct State {
    line_number: u64,
    /// Games that were begun.
    games: u64,
    building: Option<Building>,
    /// The comment in braces that is open.
    comment: Option<Vec<u8>>,
    /// The line before was empty.
    after_empty: bool,
    ready: VecDeque<Result<Entry, PgnError>>,
}

/// A game that is being read.
struct Building {
    number: u64,
    line: u64,
    tags: Vec<(String, String)>,
    start: Option<Board>,
    /// Something else than tags has been read.
    has_moves: bool,
    /// The lines of moves that are open: the main line and the variations in each other.
    open: Vec<OpenLine>,
    /// How many variations are open, also where the game is broken.
    depth: usize,
    /// About what it takes, in bytes of memory.
    cost: usize,
    /// What is wrong with it, and the line where that was found.
    fault: Option<(u64, String)>,
}

/// A line of moves that may go on.
struct OpenLine {
    line: Line,
    /// The position after its moves.
    board: Board,
    /// A null move has been read: what follows cannot be kept.
    is_cut: bool,
}

impl Building {
    /// Whether there is nothing to make a game of but comments.
    fn is_empty(&self) -> bool {
        self.tags.is_empty()
            && self.fault.is_none()
            && self.open.iter().all(|open| open.line.moves.is_empty())
    }

    /// The innermost line; none after a fault.
    fn innermost(&mut self) -> Option<&mut OpenLine> {
        if self.fault.is_some() { None } else { self.open.last_mut() }
    }
}

impl State {
    /// The current game, which begins here if there is none.
    fn building(&mut self) -> &mut Building {
        let (games, line) = (&mut self.games, self.line_number);
        self.building.get_or_insert_with(|| {
            *games += 1;
            Building {
                number: *games,
                line,
                tags: Vec::new(),
                start: None,
                has_moves: false,
                open: Vec::new(),
                depth: 0,
                cost: 0,
                fault: None,
            }
        })
    }

    /// Notes the first thing that is wrong with the game, and what it was so far is forgotten.
    fn refuse(&mut self, reason: String) {
        let line = self.line_number;
        let building = self.building();
        if building.fault.is_none() {
            building.fault = Some((line, reason));
        }
        building.open.clear();
        self.comment = None;
    }

    /// Adds to what the game takes.
    fn pay(&mut self, cost: usize) {
        let building = self.building();
        building.cost += cost;
        if building.cost > LARGEST_GAME && building.fault.is_none() {
            self.refuse("the game is too large".to_owned());
        }
    }

    /// Ends the game, if there is one.
    fn finish(&mut self, result: Option<GameResult>) {
        self.comment = None;
        let Some(mut building) = self.building.take() else { return };
        if building.is_empty() && result.is_none() {
            // A comment between two games.
            self.games -= 1;
            return;
        }
        if building.fault.is_none() && building.start.is_none() {
            building.begin_moves(self.line_number);
        }
        if building.open.len() > 1 && building.fault.is_none() {
            building.fault = Some((self.line_number, "a variation has no end".to_owned()));
        }
        let Building { number, line, tags, start, mut open, fault, .. } = building;
        self.ready.push_back(match (fault, start, open.pop()) {
            (None, Some(start), Some(main)) => {
                let told = || value(&tags, "Result")?.trim().parse().ok();
                let result = result.or_else(told).unwrap_or_default();
                Ok(Entry { number, line, game: Game { tags, start, main: main.line, result } })
            }
            (fault, ..) => {
                let (line, reason) = fault.unwrap_or((line, "it has no start".to_owned()));
                Err(PgnError::Broken { game: number, line, reason })
            }
        });
    }

    fn end_of_file(&mut self) {
        if self.comment.is_some() {
            self.refuse("a comment has no end".to_owned());
        }
        self.finish(None);
    }

    fn read_line(&mut self, line: &[u8]) {
        if self.line_number == 1 && (line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff"))
        {
            return self.refuse("the file is UTF-16; UTF-8 and Latin-1 can be read".to_owned());
        }
        let text = line.trim_ascii();
        let after_empty = mem::replace(&mut self.after_empty, text.is_empty());
        if self.comment.is_some() && after_empty && text.starts_with(b"[Event \"") {
            self.refuse("a comment has no end".to_owned());
        }
        if self.comment.is_none() {
            if line.starts_with(b"%") {
                return;
            }
            if is_tag(text) {
                return self.read_tags(text);
            }
        }
        self.read_moves(text);
    }

    /// Reads a line that begins with a tag.
    fn read_tags(&mut self, line: &[u8]) {
        let begins_another = self.building.as_ref().is_some_and(|building| {
            let again = line.starts_with(b"[Event ") && value(&building.tags, "Event").is_some();
            building.has_moves || again
        });
        if begins_another {
            self.finish(None);
        }
        let mut rest = line;
        while rest.starts_with(b"[") {
            match parse_tag(rest) {
                Some((name, value, after)) => {
                    self.pay(ITEM_COST + name.len() + value.len());
                    let building = self.building();
                    if building.fault.is_none() {
                        building.tags.push((name, value));
                    }
                    rest = after.trim_ascii_start();
                }
                None => return self.refuse(format!("'{}' is no tag", quote(&decode(rest)))),
            }
        }
        if !rest.is_empty() {
            self.read_moves(rest);
        }
    }

    /// Reads what stands in a line outside of tags, or goes on with a comment.
    fn read_moves(&mut self, line: &[u8]) {
        let mut rest = line;
        loop {
            if let Some(mut comment) = self.comment.take() {
                let end = rest.iter().position(|&byte| byte == b'}');
                comment.extend_from_slice(&rest[..end.unwrap_or(rest.len())]);
                let Some(end) = end else {
                    comment.push(b' ');
                    if comment.len() > LARGEST_GAME {
                        return self.refuse("a comment is too large".to_owned());
                    }
                    self.comment = Some(comment);
                    return;
                };
                self.add_comment(&comment);
                rest = &rest[end + 1..];
            }
            rest = rest.trim_ascii_start();
            let Some(&first) = rest.first() else { return };
            if self.ready.len() >= MOST_READY {
                return self.refuse("too many games on one line".to_owned());
            }
            self.begin_moves();
            let length = match first {
                b'{' => {
                    self.comment = Some(Vec::new());
                    1
                }
                b';' => {
                    self.add_comment(&rest[1..]);
                    return;
                }
                b'(' => {
                    self.building().depth += 1;
                    self.open_variation();
                    1
                }
                b')' => {
                    let building = self.building();
                    building.depth = building.depth.saturating_sub(1);
                    self.close_variation();
                    1
                }
                b'}' => {
                    self.refuse("a comment ends that has not begun".to_owned());
                    1
                }
                _ => {
                    let length = word_length(rest);
                    self.read_word(&rest[..length]);
                    length
                }
            };
            rest = &rest[length..];
        }
    }

    /// Makes ready for moves: the tags are complete.
    fn begin_moves(&mut self) {
        let line = self.line_number;
        let building = self.building();
        building.has_moves = true;
        if building.start.is_none() && building.fault.is_none() {
            building.begin_moves(line);
        }
    }

    fn add_comment(&mut self, bytes: &[u8]) {
        let text = plain_comment(&decode(bytes));
        if text.is_empty() {
            return;
        }
        self.pay(ITEM_COST + text.len());
        let Some(open) = self.building().innermost().filter(|open| !open.is_cut) else { return };
        match open.line.moves.last_mut() {
            Some(step) => step.comments.push(text),
            None => open.line.comments.push(text),
        }
    }

    fn open_variation(&mut self) {
        self.pay(ITEM_COST);
        let building = self.building();
        let depth = building.open.len();
        let Some(open) = building.innermost() else { return };
        let is_cut = open.is_cut;
        let reason = if depth > DEEPEST {
            "too many variations in each other"
        } else if open.line.moves.is_empty() && !is_cut {
            "a variation without a move before it"
        } else {
            let mut board = open.board.clone();
            board.unmake(&mut ());
            building.open.push(OpenLine { line: Line::default(), board, is_cut });
            return;
        };
        self.refuse(reason.to_owned());
    }

    fn close_variation(&mut self) {
        let building = self.building();
        if building.fault.is_some() {
            return;
        }
        if building.open.len() < 2 {
            return self.refuse("a variation ends that has not begun".to_owned());
        }
        let closed = building.open.pop().map(|open| open.line).unwrap_or_default();
        let step = building.innermost().and_then(|open| open.line.moves.last_mut());
        if let Some(step) = step
            && closed != Line::default()
        {
            step.variations.push(closed);
        }
    }

    /// Reads a move, its number, an annotation or a result.
    fn read_word(&mut self, word: &[u8]) {
        if is_move_number(word) {
            return;
        }
        let decoded;
        let text = match str::from_utf8(word) {
            Ok(text) => text,
            // In Latin-1 there are half points and some signs of annotation.
            Err(_) => {
                decoded = decode(word);
                &decoded
            }
        };
        if is_common_move(word) {
            return self.add_marked_move(text);
        }
        if let Ok(result) = text.parse::<GameResult>() {
            // In a variation it says nothing of the game.
            if self.building().depth == 0 {
                self.finish(Some(result));
            }
            return;
        }
        if self.building().fault.is_some() {
            return;
        }
        if let Some(number) = text.strip_prefix('$') {
            return match number.parse() {
                Ok(nag) => self.add_nag(nag),
                Err(_) => self.refuse(format!("'{}' is no annotation", quote(text))),
            };
        }
        let text = without_number(text);
        match text {
            // The last one asks ChessBase for a diagram.
            "" | "e.p." | "ep" | "+" | "++" | "#" | "D" => return,
            "--" | "Z0" | "null" | "@@@@" => return self.null_move(text),
            _ => {}
        }
        if let Some(nag) = symbol(text) {
            return self.add_nag(nag);
        }
        self.add_marked_move(text);
    }

    /// Adds a move with what may stand behind it, such as `!?`.
    fn add_marked_move(&mut self, text: &str) {
        let mv = text.trim_end_matches(['!', '?']);
        self.add_move(mv);
        if mv.len() < text.len()
            && let Some(nag) = symbol(&text[mv.len()..])
        {
            self.add_nag(nag);
        }
    }

    fn add_nag(&mut self, nag: u8) {
        self.pay(1);
        let step = self.building().innermost().filter(|open| !open.is_cut);
        if let Some(step) = step.and_then(|open| open.line.moves.last_mut()) {
            step.nags.push(nag);
        }
    }

    fn add_move(&mut self, text: &str) {
        self.pay(ITEM_COST);
        let Some(open) = self.building().innermost().filter(|open| !open.is_cut) else { return };
        match read_san(&open.board, text) {
            Ok(mv) => {
                open.board.play(mv);
                open.line.moves.push(Step::new(mv));
            }
            Err(error) => self.refuse(error.to_string()),
        }
    }

    fn null_move(&mut self, text: &str) {
        let building = self.building();
        if building.open.len() > 1 {
            building.open.last_mut().into_iter().for_each(|open| open.is_cut = true);
        } else {
            self.refuse(format!("'{text}' is no move of a game"));
        }
    }
}

impl Building {
    /// Sets up the position that the tags tell; `line` is told if they tell none.
    fn begin_moves(&mut self, line: u64) {
        match start(&self.tags) {
            Ok(start) => {
                let (line, board) = (Line::default(), start.clone());
                self.open.push(OpenLine { line, board, is_cut: false });
                self.start = Some(start);
            }
            Err(reason) => self.fault = Some((line, reason)),
        }
    }
}

/// The position that tags tell, or why none.
fn start(tags: &[(String, String)]) -> Result<Board, String> {
    let variant = value(tags, "Variant").unwrap_or_default();
    let letters: String =
        variant.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    let is_chess = matches!(
        letters.as_str(),
        "" | "standard" | "chess" | "normal" | "fromposition" | "chess960" | "960"
    ) || letters.starts_with("fischer");
    if !is_chess {
        return Err(format!("the variant {} is another game", quote(variant)));
    }
    match value(tags, "FEN").map(str::trim) {
        None | Some("" | "startpos") => Ok(Board::startpos()),
        Some(fen) => Board::from_fen(fen).map_err(|error| format!("FEN '{}': {error}", quote(fen))),
    }
}

/// Whether a line begins with a tag, and not with what a comment may begin with.
fn is_tag(line: &[u8]) -> bool {
    matches!(line, [b'[', letter, ..] if letter.is_ascii_alphabetic() || *letter == b' ')
}

/// The name and value of a tag, and what stands behind it. A quotation mark within the value is also
/// read where nothing marks it, as many programs write it, and so is a backslash before the last one.
fn parse_tag(text: &[u8]) -> Option<(String, String, &[u8])> {
    parse_tag_with(text, true).or_else(|| parse_tag_with(text, false))
}

/// The same with or without backslashes that mark what follows.
fn parse_tag_with(text: &[u8], marks: bool) -> Option<(String, String, &[u8])> {
    let text = text.strip_prefix(b"[")?.trim_ascii_start();
    let name_end = text.iter().position(|byte| !is_name_byte(*byte))?;
    let (name, rest) = text.split_at(name_end);
    let rest = rest.trim_ascii_start().strip_prefix(b"\"")?;
    let mut value = Vec::new();
    let mut i = 0;
    loop {
        match *rest.get(i)? {
            b'\\' if marks && matches!(rest.get(i + 1), Some(b'"' | b'\\')) => {
                value.push(rest[i + 1]);
                i += 1;
            }
            b'"' => {
                if let Some(after) = rest[i + 1..].trim_ascii_start().strip_prefix(b"]") {
                    let name = decode(name);
                    let value = decode(&value);
                    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
                    return (!name.is_empty())
                        .then(|| (name, value.chars().map(plain).collect(), after));
                }
                value.push(b'"');
            }
            byte => value.push(byte),
        }
        i += 1;
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'#' | b'=' | b':' | b'.')
}

/// The length of the word that a text begins with, at least 1.
fn word_length(text: &[u8]) -> usize {
    let ends = |&(i, &byte): &(usize, &u8)| match byte {
        b'{' | b'}' | b';' => true,
        b'$' => i > 0,
        // A promotion written e8(Q).
        b'(' => !matches!(text[i..], [b'(', b'N' | b'B' | b'R' | b'Q', b')', ..]),
        b')' => i < 2 || text[i - 2] != b'(',
        byte => byte.is_ascii_whitespace(),
    };
    text.iter().enumerate().find(ends).map_or(text.len(), |(end, _)| end.max(1))
}

/// Whether a word is a move's number with its dots.
fn is_move_number(word: &[u8]) -> bool {
    word.ends_with(b".") && word.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

/// Whether a word can be nothing but a move, as most are: saves looking for everything else.
fn is_common_move(word: &[u8]) -> bool {
    matches!(
        word,
        [b'a'..=b'h' | b'K' | b'Q' | b'R' | b'B' | b'N', b'a'..=b'h' | b'1'..=b'8' | b'x', ..]
    )
}

/// A word without the number that it begins with: `12.e4`, `12...`, `12`.
fn without_number(word: &str) -> &str {
    let behind = word.trim_start_matches(|letter: char| letter.is_ascii_digit());
    match behind.strip_prefix(['.', '…']) {
        Some(_) => behind.trim_start_matches(['.', '…']),
        // Castling may begin with a digit too.
        None if behind.is_empty() => behind,
        None => word,
    }
}

/// The annotation that a symbol stands for.
fn symbol(text: &str) -> Option<u8> {
    Some(match text {
        "!" => 1,
        "?" => 2,
        "!!" => 3,
        "??" => 4,
        "!?" => 5,
        "?!" => 6,
        "□" => 7,
        "=" => 10,
        "∞" => 13,
        "+=" | "+/=" | "⩲" => 14,
        "=+" | "=/+" | "⩱" => 15,
        "+/-" | "±" => 16,
        "-/+" | "∓" => 17,
        "+-" => 18,
        "-+" => 19,
        "N" => 146,
        "" => return None,
        // More marks than there are annotations for.
        marks if marks.chars().all(|mark| mark == '!') => 3,
        marks if marks.chars().all(|mark| mark == '?') => 4,
        _ => return None,
    })
}
