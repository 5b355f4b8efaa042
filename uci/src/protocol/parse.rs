//! Reads a line of text as a [`Command`]; the only file that knows the crate `vampirc_uci`.
//!
//! That crate has the grammar of UCI, with a few holes: some lines make it panic, of others it drops
//! half without an error. So it only gets canonical input (single blanks, lower case, numbers in range,
//! one argument of `go` at a time, moves without their FEN), and only its strict parser is used. What
//! it does not know (FENs with four fields or Shredder letters, options, unknown words, commands beyond
//! UCI) is read here.

use std::ops::RangeInclusive;

use cairn_engine::search::MAX_DEPTH;
use vampirc_uci::{UciMessage, UciSearchControl, UciTimeControl, parse_strict};

use crate::protocol::command::{Command, Go, OpeningsRequest, Position, Refusal, Start};
use crate::protocol::text::{is_blank, next_word, quote, words};

/// The first words of UCI commands. What stands before one of them on a line is skipped, as the
/// specification demands.
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

/// Commands beyond UCI, understood only as the first word of a line.
const CONSOLE_COMMANDS: [&str; 6] = ["bench", "d", "eval", "genfens", "help", "perft"];

/// The first words of lines to a GUI: somebody's echo, ignored without a remark.
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

/// The deepest bench, in plies: deeper the search does not go.
pub const MAX_BENCH: u32 = MAX_DEPTH;

/// The longest time that is read, in milliseconds: 31 years, the most digits vampirc-uci takes.
const MAX_TIME: i64 = 999_999_999_999;

/// The most nodes that are read: again the most digits vampirc-uci takes.
const MAX_NODES: i64 = 999_999_999_999;

/// The arguments of `go` with a number, each with the range of vampirc-uci. Numbers beyond it are
/// clamped: the crate would panic on some of them and cut digits off others.
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

/// The limits of `go` that make sense: the name, the least and the most. Those of a GUI are moved there.
pub const GO_LIMITS: [(&str, i64, i64); 4] = [
    ("depth", 1, MAX_DEPTH as i64),
    ("nodes", 1, MAX_NODES),
    ("mate", 1, 255),
    ("movetime", 1, MAX_TIME),
];

/// The arguments of `go` without a number.
const GO_WORDS: [&str; 4] = ["ponder", "infinite", "searchmoves", "perft"];

/// Reads one line; `Ok(None)` if it asks for nothing.
///
/// # Errors
/// What is wrong with a line that cannot be carried out.
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
        // There is nothing to register.
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
    let depth_from = |least: u32, most: u32| {
        let depth = argument.map(|argument| {
            let depth = argument.parse().ok().filter(|depth| (least..=most).contains(depth));
            depth.ok_or_else(|| {
                let said = quote(argument);
                Refusal(format!("{word} takes a depth from {least} to {most}, not '{said}'"))
            })
        });
        depth.transpose()
    };
    match word {
        "bench" => Ok(Command::Bench(depth_from(1, MAX_BENCH)?)),
        "perft" => match depth_from(0, MAX_PERFT)? {
            Some(depth) => Ok(Command::Perft(depth)),
            None => Err(Refusal("perft needs a depth: perft 5".into())),
        },
        "d" => Ok(Command::Display),
        "eval" => Ok(Command::Eval),
        _ => Ok(Command::Help),
    }
}

/// `genfens N seed S [book <None | file>]`, as OpenBench sends it; other words are skipped.
fn parse_openings(tail: &str) -> Result<Command, Refusal> {
    const USAGE: &str = "genfens is written 'genfens <count> seed <number> book <None or file>'";
    let refusal = || Refusal(USAGE.into());
    let (count, mut rest) = next_word(tail).ok_or_else(refusal)?;
    let mut request =
        OpeningsRequest { count: count.parse().map_err(|_| refusal())?, seed: 0, book: None };
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

/// `debug [on | off]`; other words are skipped.
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

/// `setoption name <name> [value <value>]`. Names may hold blanks and values anything; a name ends at
/// the first word that is exactly `value`.
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

/// `position (startpos | fen <fen>) [moves <move>...]`; the FEN is not read here. What is not written like
/// a move ends the moves and is the last of them, so that whoever plays them can tell of it.
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
    let mut moves: Vec<String> = rest.map(str::to_ascii_lowercase).collect();
    if let Err(index) = read_moves(&moves) {
        moves.truncate(index + 1);
    }
    Ok(Command::Position(Position { start, moves }))
}

/// Reads `go`, one argument at a time: given all at once, vampirc-uci lets later ones hide earlier ones.
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
    /// Reads the number of the argument `name` from `rest` and returns what is left. A word that is no
    /// number is skipped, unless it is the next argument.
    fn read_number<'a>(
        &mut self,
        name: &str,
        range: RangeInclusive<i64>,
        rest: &'a str,
    ) -> &'a str {
        let Some((word, tail)) = next_word(rest).filter(|(word, _)| !is_go_argument(word)) else {
            self.unreadable.push(format!("{name} without a number"));
            return rest;
        };
        match read_integer(word) {
            // There is no mate in 0 moves, and taken as no limit the search would be endless.
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

    /// Adds one argument in canonical form.
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

/// Replaces `slot` by `value` if there is one.
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

/// Reads a whole number with an optional sign; one beyond 64 bits is clamped.
#[must_use]
pub fn read_integer(word: &str) -> Option<i64> {
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

/// Checks moves in lower case; the error is the index of the first that is not written like a move.
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
    // Find the bad one: tried alone, it cannot hide behind the others.
    let is_bad = |text: &String| read_moves(std::slice::from_ref(text)).is_err();
    Err(if texts.len() > 1 { texts.iter().position(is_bad).unwrap_or(0) } else { 0 })
}

/// Lets vampirc-uci read one canonical line as a whole.
fn strict(line: &str) -> Option<UciMessage> {
    parse_strict(line).ok()?.into_iter().next()
}
