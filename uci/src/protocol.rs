//! Text to commands and replies to text; the only file that knows the crate `vampirc_uci`.
//!
//! That crate has the grammar of UCI, and a few holes: some lines make it panic, some lose half of
//! what they say without a word. So it is only ever shown canonical input (single blanks, lower
//! case, numbers in range, one sub-command of `go` at a time, moves without their FEN), and only its
//! strict parser is used. What it has no notion of (FENs with four fields or Shredder letters,
//! options, unknown tokens, commands beyond UCI) is read here.

use std::fmt::{self, Write as _};
use std::time::Duration;

use cairn_engine::search::{Bound, ScoreText};
use vampirc_uci::{
    Duration as Milliseconds, Serializable, UciInfoAttribute, UciMessage, UciMove, UciOptionConfig,
    UciPiece, UciSearchControl, UciSquare, UciTimeControl, parse_strict,
};

use crate::openings::Request;
use crate::options::{Kind, UciOption};
use crate::wdl::Wdl;

/// What comes in, once it has been understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `uci`: who are you, and which options do you have?
    Uci,
    /// `debug on` or `debug off`.
    Debug(bool),
    /// `isready`: answer when all that came before is done.
    IsReady,
    /// `setoption name <name> [value <value>]`.
    SetOption {
        /// The option, in the sender's spelling, with single blanks.
        name: String,
        /// Its value with outer blanks cut off; `<empty>` is the empty text, a button has none.
        value: Option<String>,
    },
    /// `ucinewgame`: what comes next is another game.
    NewGame,
    /// `position`.
    Position(Position),
    /// `go`.
    Go(Box<Go>),
    /// `stop`: no more searching, out with the move.
    Stop,
    /// `ponderhit`: the expected move was played, so the own clock is running.
    PonderHit,
    /// `quit`.
    Quit,
    /// `perft N` or `go perft N`: count the leaves of the legal move tree, `N` plies deep.
    Perft(u32),
    /// `bench [depth]`: search the fixed positions, to their own depth unless one is given.
    Bench(Option<u32>),
    /// `d`: show the position.
    Display,
    /// `eval`: show what the position is worth before anything is searched.
    Eval,
    /// `genfens N seed S [book <None | file>]`: print opening positions.
    Openings(Request),
    /// `help`.
    Help,
}

/// Where a game starts and which moves were played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The first position of the game.
    pub start: Start,
    /// Moves from there, in lower-case coordinate notation; whether they are legal is not known yet.
    pub moves: Vec<String>,
}

/// The first position of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// The orthodox starting position.
    Orthodox,
    /// A FEN as it came, with single blanks.
    Fen(String),
}

/// The arguments of `go`. They all apply together; what is absent has no influence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    /// Think on the opponent's time, until `ponderhit` or `stop`.
    pub ponder: bool,
    /// Think until `stop`.
    pub infinite: bool,
    /// White's clock.
    pub white: Clock,
    /// Black's clock.
    pub black: Clock,
    /// Moves to the next time control, from 1; none means that there is none.
    pub moves_to_go: Option<u8>,
    /// Think for this long, in milliseconds; zero and less is as short as possible.
    pub move_time: Option<i64>,
    /// Depth in plies.
    pub depth: Option<u8>,
    /// Nodes to search.
    pub nodes: Option<u64>,
    /// Look for a mate in this many moves, from 1.
    pub mate: Option<u8>,
    /// The root moves to look at, in lower-case coordinate notation; none means all of them.
    pub search_moves: Vec<String>,
    /// What was said beside this and not understood.
    pub unreadable: Vec<String>,
}

/// One side's clock, in milliseconds. Negative times are sent by real programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// What is left.
    pub time: Option<i64>,
    /// What is added with each move.
    pub increment: Option<i64>,
}

/// A line that is not carried out, and why. Nothing has changed when one of these comes up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The longest piece of somebody else's text that is repeated in an answer, in characters.
const QUOTE_LENGTH: usize = 60;

/// The words a UCI command can begin with. Whatever stands before the first of them is skipped, as
/// the specification asks for.
const COMMANDS: [&str; 11] = [
    "uci",
    "debug",
    "isready",
    "setoption",
    "register",
    "ucinewgame",
    "position",
    "go",
    "stop",
    "ponderhit",
    "quit",
];

/// Commands beyond UCI. These are only understood as the first word of a line.
const CONSOLE_COMMANDS: [&str; 6] = ["bench", "d", "eval", "genfens", "help", "perft"];

/// The words that lines to a GUI begin with. Somebody's echo, not worth a remark.
const GUI_BOUND: [&str; 9] = [
    "id",
    "uciok",
    "readyok",
    "bestmove",
    "copyprotection",
    "registration",
    "info",
    "option",
    "refutation",
];

/// The deepest perft, in plies. No count of a tree so deep comes to an end, and the stack has to bear it.
pub const MAX_PERFT: u32 = 255;

/// The longest time that is taken, in milliseconds: 31 years, the most digits vampirc-uci reads.
const MAX_TIME: i64 = 999_999_999_999;

/// The most nodes that are taken; again all the digits there are, and more than anybody can wait for.
const MAX_NODES: i64 = 999_999_999_999;

/// The arguments of `go` that take a number, each with the range that vampirc-uci takes. Numbers
/// beyond are moved to the nearest end: it would panic on some of them and cut digits off others.
const GO_NUMBERS: [(&str, i64, i64); 9] = [
    ("wtime", -MAX_TIME, MAX_TIME),
    ("btime", -MAX_TIME, MAX_TIME),
    ("winc", -MAX_TIME, MAX_TIME),
    ("binc", -MAX_TIME, MAX_TIME),
    ("movetime", -MAX_TIME, MAX_TIME),
    ("movestogo", 0, 255),
    ("depth", 0, 255),
    ("nodes", 0, MAX_NODES),
    ("mate", 0, 255),
];

/// The arguments of `go` that take no number.
const GO_WORDS: [&str; 4] = ["ponder", "infinite", "searchmoves", "perft"];

/// Reads one line. `Ok(None)` is a line that asks for nothing.
///
/// # Errors
/// A [`Refusal`] that says what was wrong, for lines that are not carried out.
pub fn parse(line: &[u8]) -> Result<Option<Command>, Refusal> {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_start_matches('\u{feff}');
    let Some((first, tail)) = next_word(text) else { return Ok(None) };
    let first = first.to_ascii_lowercase();
    if CONSOLE_COMMANDS.contains(&first.as_str()) {
        return parse_console(&first, tail).map(Some);
    }
    if GUI_BOUND.contains(&first.as_str()) {
        return Ok(None);
    }
    let mut rest = text;
    while let Some((word, tail)) = next_word(rest) {
        let word = word.to_ascii_lowercase();
        if COMMANDS.contains(&word.as_str()) {
            return parse_command(&word, tail);
        }
        rest = tail;
    }
    Err(Refusal(format!("unknown command '{}' ('help' lists the known ones)", quote(text))))
}

/// Reads the command `word` with what follows it on the line.
fn parse_command(word: &str, tail: &str) -> Result<Option<Command>, Refusal> {
    match word {
        "debug" => parse_debug(tail).map(Some),
        "setoption" => parse_option(tail).map(Some),
        "position" => parse_position(tail).map(Some),
        "go" => parse_go(tail).map(Some),
        // There is nothing to register, so there is nothing to say either.
        "register" => Ok(None),
        _ => Ok(strict(word).and_then(|message| match message {
            UciMessage::Uci => Some(Command::Uci),
            UciMessage::IsReady => Some(Command::IsReady),
            UciMessage::UciNewGame => Some(Command::NewGame),
            UciMessage::Stop => Some(Command::Stop),
            UciMessage::PonderHit => Some(Command::PonderHit),
            UciMessage::Quit => Some(Command::Quit),
            _ => None,
        })),
    }
}

/// Reads a command beyond UCI.
fn parse_console(word: &str, tail: &str) -> Result<Command, Refusal> {
    if word == "genfens" {
        return parse_openings(tail);
    }
    let mut arguments = words(tail);
    let argument = arguments.next();
    if word == "bench" && arguments.next().is_some() {
        return Err(Refusal("bench takes one depth, if any: bench 8".into()));
    }
    let number = argument.map(|argument| {
        argument.parse::<u32>().map_err(|_| {
            Refusal(format!("{word} takes a depth from 0 up, not '{}'", quote(argument)))
        })
    });
    match word {
        "bench" => Ok(Command::Bench(number.transpose()?)),
        "perft" => match number.transpose()? {
            Some(depth @ ..=MAX_PERFT) => Ok(Command::Perft(depth)),
            Some(depth) => {
                Err(Refusal(format!("perft takes a depth from 0 to {MAX_PERFT}, not {depth}")))
            }
            None => Err(Refusal("perft needs a depth: perft 5".into())),
        },
        "d" => Ok(Command::Display),
        "eval" => Ok(Command::Eval),
        _ => Ok(Command::Help),
    }
}

/// `genfens N seed S [book <None | file>]`, as OpenBench asks; what else it may say is passed over.
fn parse_openings(tail: &str) -> Result<Command, Refusal> {
    const USAGE: &str = "genfens is written 'genfens <count> seed <number> book <None or file>'";
    let refusal = || Refusal(USAGE.into());
    let (count, mut rest) = next_word(tail).ok_or_else(refusal)?;
    let mut request = Request { count: count.parse().map_err(|_| refusal())?, seed: 0, book: None };
    while let Some((word, tail)) = next_word(rest) {
        rest = tail;
        let argument = next_word(tail);
        match word {
            "seed" => {
                let (seed, _) = argument.ok_or_else(refusal)?;
                request.seed = seed.parse().map_err(|_| refusal())?;
            }
            "book" => {
                let (book, _) = argument.ok_or_else(refusal)?;
                request.book = (!book.eq_ignore_ascii_case("none")).then(|| book.to_owned());
            }
            _ => {}
        }
    }
    Ok(Command::Openings(request))
}

/// `debug [on | off]`. Any other word in between is skipped.
fn parse_debug(tail: &str) -> Result<Command, Refusal> {
    words(tail)
        .map(str::to_ascii_lowercase)
        .find(|word| word == "on" || word == "off")
        .and_then(|switch| match strict(&format!("debug {switch}"))? {
            UciMessage::Debug(on) => Some(Command::Debug(on)),
            _ => None,
        })
        .ok_or_else(|| Refusal("debug needs 'on' or 'off', nothing changed".into()))
}

/// `setoption name <name> [value <value>]`. Names may hold blanks, values anything at all; a name
/// ends at the first word that is exactly `value`.
fn parse_option(tail: &str) -> Result<Command, Refusal> {
    const USAGE: &str =
        "setoption is written 'setoption name <name> value <value>', nothing changed";
    let mut rest = match next_word(tail) {
        Some((word, rest)) if word.eq_ignore_ascii_case("name") => rest,
        _ => return Err(Refusal(USAGE.into())),
    };
    let mut name = Vec::new();
    let mut value = None;
    while let Some((word, tail)) = next_word(rest) {
        if word.eq_ignore_ascii_case("value") {
            // An argument of the command line may have line breaks, which would spoil a log.
            let text = tail.replace(['\r', '\n'], " ");
            let text = text.trim_matches(is_blank);
            value = Some(if text == "<empty>" { String::new() } else { text.to_owned() });
            break;
        }
        name.push(word);
        rest = tail;
    }
    if name.is_empty() {
        return Err(Refusal(USAGE.into()));
    }
    Ok(Command::SetOption { name: name.join(" "), value })
}

/// `position (startpos | fen <fen>) [moves <move>...]`. The FEN is left to the board.
fn parse_position(tail: &str) -> Result<Command, Refusal> {
    const USAGE: &str = "position is written 'position startpos' or 'position fen <fen>', \
                         with 'moves <move> ...' behind it; the position is unchanged";
    let (kind, rest) = next_word(tail).ok_or_else(|| Refusal(USAGE.into()))?;
    let mut rest = words(rest);
    let before_moves: Vec<&str> =
        rest.by_ref().take_while(|word| !word.eq_ignore_ascii_case("moves")).collect();
    let start = match kind.to_ascii_lowercase().as_str() {
        "startpos" if before_moves.is_empty() => Start::Orthodox,
        "fen" => Start::Fen(before_moves.join(" ")),
        _ => return Err(Refusal(USAGE.into())),
    };
    let moves: Vec<String> = rest.map(str::to_ascii_lowercase).collect();
    match read_moves(&moves) {
        Ok(moves) => Ok(Command::Position(Position { start, moves })),
        Err(index) => Err(Refusal(format!(
            "move {} of the position, '{}', is not written like a move; the position is unchanged",
            index + 1,
            quote(&moves[index])
        ))),
    }
}

/// Reads `go` and its arguments, each one on its own: in one piece the later would hide the earlier.
fn parse_go(tail: &str) -> Result<Command, Refusal> {
    let mut go = Go::default();
    let mut rest = tail;
    while let Some((word, tail)) = next_word(rest) {
        rest = tail;
        let word = word.to_ascii_lowercase();
        match word.as_str() {
            "ponder" | "infinite" => go.merge(&word),
            "perft" => return parse_console("perft", rest),
            "searchmoves" => rest = go.read_search_moves(rest),
            _ => match GO_NUMBERS.iter().find(|(name, ..)| *name == word) {
                Some(&(name, least, most)) => rest = go.read_number(name, least..=most, rest),
                None => go.unreadable.push(quote(&word)),
            },
        }
    }
    Ok(Command::Go(Box::new(go)))
}

impl Go {
    /// Whether nothing but unreadable arguments was given, or none that means anything to the side
    /// to move: such a search has to end by itself although nothing says when.
    ///
    /// `clock` is the clock of the side to move.
    #[must_use]
    pub fn lost_its_limits(&self, clock: &Clock) -> bool {
        let unlimited = self.depth.is_none()
            && self.nodes.is_none()
            && self.mate.is_none()
            && self.move_time.is_none()
            && clock.time.is_none();
        let search_moves = self.search_moves.clone();
        let bare = Go { ponder: self.ponder, search_moves, ..Go::default() };
        unlimited && !self.infinite && *self != bare
    }

    /// Reads the number of the argument `name` from `rest` and returns what is left. A word that is
    /// no number is passed over, unless it is the next argument.
    fn read_number<'a>(
        &mut self,
        name: &str,
        range: std::ops::RangeInclusive<i64>,
        rest: &'a str,
    ) -> &'a str {
        let Some((word, tail)) = next_word(rest).filter(|(word, _)| !is_go_argument(word)) else {
            self.unreadable.push(format!("{name} without a number"));
            return rest;
        };
        match read_integer(word) {
            // There is no mate in no moves; without this limit the search would have no end.
            Some(..1) if name == "mate" => self.unreadable.push(format!("{name} {}", quote(word))),
            Some(number) => {
                self.merge(&format!("{name} {}", number.clamp(*range.start(), *range.end())));
            }
            None => self.unreadable.push(format!("{name} {}", quote(word))),
        }
        tail
    }

    /// Reads the moves behind `searchmoves` from `rest` and returns what is left.
    fn read_search_moves<'a>(&mut self, mut rest: &'a str) -> &'a str {
        let mut some = false;
        while let Some((word, tail)) = next_word(rest).filter(|(word, _)| !is_go_argument(word)) {
            some = true;
            rest = tail;
            match read_moves(&[word.to_ascii_lowercase()]) {
                Ok(mut moves) => self.search_moves.append(&mut moves),
                Err(_) => self.unreadable.push(format!("searchmoves {}", quote(word))),
            }
        }
        if !some {
            self.unreadable.push("searchmoves without a move".into());
        }
        rest
    }

    /// Takes over one canonical argument.
    fn merge(&mut self, argument: &str) {
        let Some(UciMessage::Go { time_control, search_control }) =
            strict(&format!("go {argument}"))
        else {
            return;
        };
        match time_control {
            Some(UciTimeControl::Ponder) => self.ponder = true,
            Some(UciTimeControl::Infinite) => self.infinite = true,
            Some(UciTimeControl::MoveTime(time)) => self.move_time = Some(time.num_milliseconds()),
            Some(UciTimeControl::TimeLeft {
                white_time,
                black_time,
                white_increment,
                black_increment,
                moves_to_go,
            }) => {
                overwrite(&mut self.white.time, white_time.map(|time| time.num_milliseconds()));
                overwrite(&mut self.black.time, black_time.map(|time| time.num_milliseconds()));
                overwrite(
                    &mut self.white.increment,
                    white_increment.map(|time| time.num_milliseconds()),
                );
                overwrite(
                    &mut self.black.increment,
                    black_increment.map(|time| time.num_milliseconds()),
                );
                overwrite(&mut self.moves_to_go, moves_to_go.filter(|&moves| moves > 0));
            }
            None => {}
        }
        if let Some(UciSearchControl { mate, depth, nodes, .. }) = search_control {
            overwrite(&mut self.mate, mate);
            overwrite(&mut self.depth, depth);
            overwrite(&mut self.nodes, nodes);
        }
    }
}

/// Replaces `slot` if there is something to replace it with.
fn overwrite<T>(slot: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *slot = value;
    }
}

/// Whether a word begins an argument of `go`.
fn is_go_argument(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    GO_WORDS.contains(&word.as_str()) || GO_NUMBERS.iter().any(|(name, ..)| *name == word)
}

/// Reads a whole number with an optional sign; beyond 64 bits it stays at the end of their range.
fn read_integer(word: &str) -> Option<i64> {
    let (negative, digits) = match word.as_bytes().first()? {
        b'-' => (true, &word[1..]),
        b'+' => (false, &word[1..]),
        _ => (false, word),
    };
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse().unwrap_or(i64::MAX);
    Some(if negative { -size } else { size })
}

/// Reads moves in lower case. The error is the index of the first one that is not written like a move.
fn read_moves(texts: &[String]) -> Result<Vec<String>, usize> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let message = strict(&format!("position startpos moves {}", texts.join(" ")));
    let moves = match message {
        Some(UciMessage::Position { moves, .. }) => moves,
        _ => Vec::new(),
    };
    let moves: Vec<String> = moves.iter().map(ToString::to_string).collect();
    if moves == texts {
        return Ok(moves);
    }
    // One of them is odd. Alone in its line it cannot hide behind the others.
    let bad = texts.len() > 1;
    Err(if bad {
        texts.iter().position(|text| read_moves(std::slice::from_ref(text)).is_err()).unwrap_or(0)
    } else {
        0
    })
}

/// Lets vampirc-uci read one canonical line, and nothing less than all of it.
fn strict(line: &str) -> Option<UciMessage> {
    parse_strict(line).ok()?.into_iter().next()
}

/// What counts as a blank: any white space, and control characters as some pipes leave them.
fn is_blank(letter: char) -> bool {
    letter.is_whitespace() || letter.is_control()
}

/// The first word of a text, and all that follows.
fn next_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(is_blank);
    let end = text.find(is_blank).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_blank).filter(|word| !word.is_empty())
}

/// Somebody else's text, short enough and clean enough to be repeated in one line of our own.
#[must_use]
pub fn quote(text: &str) -> String {
    let mut short = String::new();
    let mut letters = 0;
    for word in words(text) {
        if !short.is_empty() {
            short.push(' ');
        }
        for letter in word.chars() {
            if letters == QUOTE_LENGTH {
                short.push_str("...");
                return short;
            }
            short.push(letter);
            letters += 1;
        }
    }
    short
}

/// What goes out.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// `id name` with the version.
    Name(String),
    /// `id author`.
    Author(&'static str),
    /// The declaration of an option.
    Option(&'static UciOption),
    /// `uciok`.
    UciOk,
    /// `readyok`.
    ReadyOk,
    /// What the search has found so far.
    Info(Info),
    /// How far a search is that has not found anything new for a while.
    Status(Status),
    /// Which of the root's moves a long search is at.
    CurrentMove {
        /// The iteration, in plies.
        depth: u32,
        /// The move, ready to be sent.
        mv: String,
        /// Which of the root's moves it is, from 1.
        number: u32,
    },
    /// `info string`, for people.
    Message(String),
    /// `bestmove`: the answer to a `go`.
    BestMove {
        /// The move, or none where there is no legal one.
        best: Option<String>,
        /// The answer that is expected.
        ponder: Option<String>,
    },
    /// A line that is not UCI, in answer to a command that is not.
    Text(String),
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The iteration under way, in plies; 0 if there is none.
    pub depth: u32,
    /// Nodes searched since the `go`.
    pub nodes: u64,
    /// How full the hash table was when that was last known, in permill.
    pub hash_full: u32,
    /// Time since the `go`.
    pub elapsed: Duration,
}

/// A line of the search: of a finished iteration, or a bound on one that is under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Info {
    /// The depth, in plies.
    pub depth: u32,
    /// The longest line that was looked at, in plies, where the search keeps count of it.
    pub seldepth: Option<u32>,
    /// The rank of this line, 1 for the best.
    pub multi_pv: usize,
    /// The score from the engine's point of view.
    pub score: ScoreText,
    /// Whether it is just that, or a bound.
    pub bound: Bound,
    /// The chances that go with the score, if they are asked for.
    pub wdl: Option<Wdl>,
    /// Nodes searched since the `go`.
    pub nodes: u64,
    /// Time since the `go`.
    pub elapsed: Duration,
    /// How full the hash table is, in permill.
    pub hash_full: u32,
    /// The moves, ready to be sent; may be empty.
    pub pv: Vec<String>,
}

impl Reply {
    /// Appends the reply to `out` as one line, or several for a text that has several.
    pub fn write_line(&self, out: &mut String) {
        match self {
            Reply::Name(name) => {
                out.push_str(&UciMessage::id_name(name).serialize());
            }
            Reply::Author(author) => out.push_str(&UciMessage::id_author(author).serialize()),
            Reply::Option(option) => out.push_str(&UciMessage::Option(declare(option)).serialize()),
            Reply::UciOk => out.push_str(&UciMessage::UciOk.serialize()),
            Reply::ReadyOk => out.push_str(&UciMessage::ReadyOk.serialize()),
            Reply::Info(info) => {
                out.push_str(&UciMessage::Info(info.attributes()).serialize());
            }
            Reply::Status(status) => {
                out.push_str(&UciMessage::Info(status.attributes()).serialize());
            }
            Reply::CurrentMove { depth, mv, number } => {
                let attributes = vec![
                    depth_attribute("depth", *depth, UciInfoAttribute::Depth),
                    UciInfoAttribute::Any("currmove".into(), mv.clone()),
                    // The crate has another word for it than UCI.
                    UciInfoAttribute::Any("currmovenumber".into(), number.to_string()),
                ];
                out.push_str(&UciMessage::Info(attributes).serialize());
            }
            Reply::Message(text) => {
                // A line break in here would begin a line of its own and be taken for a reply.
                let line = text.replace(['\r', '\n'], " ");
                out.push_str(&UciMessage::info_string(line).serialize());
            }
            Reply::BestMove { best, ponder } => {
                write_best_move(best.as_deref(), ponder.as_deref(), out)
            }
            Reply::Text(text) => out.push_str(text),
        }
        out.push('\n');
    }

    /// Whether the reply only tells how a search goes on, so that any later one makes it stale.
    #[must_use]
    pub fn tells_progress(&self) -> bool {
        match self {
            Reply::Status(_) | Reply::CurrentMove { .. } => true,
            Reply::Info(info) => info.bound != Bound::Exact,
            _ => false,
        }
    }
}

impl Info {
    /// Nodes per second.
    #[must_use]
    pub fn speed(&self) -> u64 {
        speed(self.nodes, self.elapsed)
    }

    /// The attributes, in the order that GUIs expect.
    fn attributes(&self) -> Vec<UciInfoAttribute> {
        let mut attributes = vec![depth_attribute("depth", self.depth, UciInfoAttribute::Depth)];
        if let Some(depth) = self.seldepth {
            attributes.push(depth_attribute("seldepth", depth, UciInfoAttribute::SelDepth));
        }
        attributes.extend([
            UciInfoAttribute::MultiPv(u16::try_from(self.multi_pv).unwrap_or(u16::MAX)),
            score_attribute(self.score, self.bound),
        ]);
        if let Some(Wdl { win, draw, loss }) = self.wdl {
            attributes.push(UciInfoAttribute::Any("wdl".into(), format!("{win} {draw} {loss}")));
        }
        attributes.extend([
            UciInfoAttribute::Nodes(self.nodes),
            UciInfoAttribute::Nps(self.speed()),
            hash_attribute(self.hash_full),
            time_attribute(self.elapsed),
        ]);
        if !self.pv.is_empty() {
            attributes.push(UciInfoAttribute::Any("pv".into(), self.pv.join(" ")));
        }
        attributes
    }
}

impl Status {
    fn attributes(&self) -> Vec<UciInfoAttribute> {
        let depth =
            (self.depth > 0).then(|| depth_attribute("depth", self.depth, UciInfoAttribute::Depth));
        let rest = [
            UciInfoAttribute::Nodes(self.nodes),
            UciInfoAttribute::Nps(speed(self.nodes, self.elapsed)),
            hash_attribute(self.hash_full),
            time_attribute(self.elapsed),
        ];
        depth.into_iter().chain(rest).collect()
    }
}

fn hash_attribute(permill: u32) -> UciInfoAttribute {
    UciInfoAttribute::HashFull(u16::try_from(permill).unwrap_or(u16::MAX))
}

fn time_attribute(elapsed: Duration) -> UciInfoAttribute {
    let elapsed = i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX);
    UciInfoAttribute::Time(Milliseconds::milliseconds(elapsed))
}

/// Nodes per second, also for a search that took no measurable time.
#[must_use]
pub fn speed(nodes: u64, elapsed: Duration) -> u64 {
    let nanoseconds = elapsed.as_nanos().max(1);
    u64::try_from(u128::from(nodes) * 1_000_000_000 / nanoseconds).unwrap_or(u64::MAX)
}

/// A depth; vampirc-uci's own attribute holds 8 bits.
fn depth_attribute(name: &str, depth: u32, narrow: fn(u8) -> UciInfoAttribute) -> UciInfoAttribute {
    u8::try_from(depth)
        .map_or_else(|_| UciInfoAttribute::Any(name.into(), depth.to_string()), narrow)
}

/// A score; vampirc-uci's own attribute holds mates up to 127 moves.
fn score_attribute(score: ScoreText, bound: Bound) -> UciInfoAttribute {
    let (cp, mate) = match score {
        ScoreText::Centipawns(centipawns) => (Some(centipawns), None),
        ScoreText::Mate(moves) => match i8::try_from(moves) {
            Ok(moves) => (None, Some(moves)),
            Err(_) => return UciInfoAttribute::Any("score".into(), format!("mate {moves}")),
        },
    };
    UciInfoAttribute::Score {
        cp,
        mate,
        lower_bound: (bound == Bound::Lower).then_some(true),
        upper_bound: (bound == Bound::Upper).then_some(true),
    }
}

/// `bestmove`, `(none)` included, which vampirc-uci has no move for.
fn write_best_move(best: Option<&str>, ponder: Option<&str>, out: &mut String) {
    match (best.and_then(uci_move), ponder.and_then(uci_move)) {
        (Some(best), Some(ponder)) => {
            out.push_str(&UciMessage::best_move_with_ponder(best, ponder).serialize());
        }
        (Some(best), None) => out.push_str(&UciMessage::best_move(best).serialize()),
        (None, _) => out.push_str("bestmove (none)"),
    }
}

/// A move of ours in vampirc-uci's terms.
fn uci_move(text: &str) -> Option<UciMove> {
    let letters: Vec<char> = text.chars().collect();
    let square = |file: char, rank: char| {
        Some(UciSquare::from(file, u8::try_from(rank.to_digit(10)?).ok()?))
    };
    let &[from_file, from_rank, to_file, to_rank, ref promotion @ ..] = letters.as_slice() else {
        return None;
    };
    let promotion = match promotion {
        [piece] => Some(piece.to_string().parse::<UciPiece>().ok()?),
        _ => None,
    };
    Some(UciMove { from: square(from_file, from_rank)?, to: square(to_file, to_rank)?, promotion })
}

/// An option in vampirc-uci's terms.
fn declare(option: &UciOption) -> UciOptionConfig {
    let name = option.name.to_owned();
    match option.kind {
        Kind::Spin { default, min, max, .. } => {
            UciOptionConfig::Spin { name, default: Some(default), min: Some(min), max: Some(max) }
        }
        #[cfg(feature = "tune")]
        Kind::Param(index) => {
            let param = &cairn_engine::params::ALL[index];
            let [default, min, max] = [param.default, param.min, param.max].map(|n| Some(n.into()));
            UciOptionConfig::Spin { name, default, min, max }
        }
        Kind::Check { default, .. } => UciOptionConfig::Check { name, default: Some(default) },
        Kind::Combo { default, choices, .. } => UciOptionConfig::Combo {
            name,
            default: Some(choices[default].to_owned()),
            var: choices.iter().map(ToString::to_string).collect(),
        },
        Kind::Text { default, .. } => {
            let default = if default.is_empty() { "<empty>" } else { default };
            UciOptionConfig::String { name, default: Some(default.to_owned()) }
        }
        Kind::Button { .. } => UciOptionConfig::Button { name },
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = String::new();
        self.write_line(&mut line);
        f.write_str(line.trim_end_matches('\n'))
    }
}

/// Writes a command as a GUI would: the reverse of [`parse`], used to check it.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Uci => f.write_str("uci"),
            Command::Debug(on) => f.write_str(if *on { "debug on" } else { "debug off" }),
            Command::IsReady => f.write_str("isready"),
            Command::SetOption { name, value: None } => write!(f, "setoption name {name}"),
            Command::SetOption { name, value: Some(value) } => {
                let value = if value.is_empty() { "<empty>" } else { value };
                write!(f, "setoption name {name} value {value}")
            }
            Command::NewGame => f.write_str("ucinewgame"),
            Command::Position(position) => position.fmt(f),
            Command::Go(go) => go.fmt(f),
            Command::Stop => f.write_str("stop"),
            Command::PonderHit => f.write_str("ponderhit"),
            Command::Quit => f.write_str("quit"),
            Command::Perft(depth) => write!(f, "perft {depth}"),
            Command::Bench(None) => f.write_str("bench"),
            Command::Bench(Some(depth)) => write!(f, "bench {depth}"),
            Command::Display => f.write_str("d"),
            Command::Eval => f.write_str("eval"),
            Command::Openings(request) => request.fmt(f),
            Command::Help => f.write_str("help"),
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.start {
            Start::Orthodox => f.write_str("position startpos")?,
            Start::Fen(fen) => write!(f, "position fen {fen}")?,
        }
        if !self.moves.is_empty() {
            write!(f, " moves {}", self.moves.join(" "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Go {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = String::from("go");
        let mut number = |name: &str, value: Option<i128>| match value {
            Some(value) => write!(line, " {name} {value}"),
            None => Ok(()),
        };
        number("wtime", self.white.time.map(i128::from))?;
        number("btime", self.black.time.map(i128::from))?;
        number("winc", self.white.increment.map(i128::from))?;
        number("binc", self.black.increment.map(i128::from))?;
        number("movestogo", self.moves_to_go.map(i128::from))?;
        number("movetime", self.move_time.map(i128::from))?;
        number("depth", self.depth.map(i128::from))?;
        number("nodes", self.nodes.map(i128::from))?;
        number("mate", self.mate.map(i128::from))?;
        f.write_str(&line)?;
        if self.ponder {
            f.write_str(" ponder")?;
        }
        if self.infinite {
            f.write_str(" infinite")?;
        }
        if !self.search_moves.is_empty() {
            write!(f, " searchmoves {}", self.search_moves.join(" "))?;
        }
        Ok(())
    }
}
