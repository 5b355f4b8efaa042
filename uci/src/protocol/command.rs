//! The commands of a GUI as types, and as text again.

use std::fmt::{self, Write as _};

/// A command that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `uci`: asks for the name and the options.
    Uci,
    /// `debug on` or `debug off`.
    Debug(bool),
    /// `isready`: asks for an answer once all that came before is done.
    IsReady,
    /// `setoption name <name> [value <value>]`.
    SetOption {
        /// The option as the sender spells it, with single blanks.
        name: String,
        /// The value without outer blanks; `<empty>` is the empty text, a button has none.
        value: Option<String>,
    },
    /// `ucinewgame`: the next position belongs to another game.
    NewGame,
    /// `position`: sets up a position.
    Position(Position),
    /// `go`: starts a search.
    Go(Box<Go>),
    /// `stop`: ends the search, which answers at once.
    Stop,
    /// `ponderhit`: the expected move was played, so our clock runs.
    PonderHit,
    /// `quit`: ends the program.
    Quit,
    /// `perft N` or `go perft N`: counts the leaves of the legal move tree, `N` plies deep.
    Perft(u32),
    /// `bench [depth]`: searches the fixed positions, to their own depth unless one is given.
    Bench(Option<u32>),
    /// `d`: shows the position.
    Display,
    /// `eval`: shows the static evaluation.
    Eval,
    /// `genfens N seed S [book <None | file>]`: prints opening positions.
    Openings(OpeningsRequest),
    /// `help`: lists commands and options.
    Help,
}

/// A game: where it starts and which moves were played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The first position of the game.
    pub start: Start,
    /// Moves from there in lower-case coordinate notation; not yet checked for legality. The last may be
    /// a word that is no move.
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

/// The arguments of `go`. They all apply together; an absent one has no influence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    /// Search on the opponent's time, until `ponderhit` or `stop`.
    pub ponder: bool,
    /// Search until `stop`.
    pub infinite: bool,
    /// White's clock.
    pub white: Clock,
    /// Black's clock.
    pub black: Clock,
    /// Moves to the next time control, from 1; none for sudden death.
    pub moves_to_go: Option<u8>,
    /// Search for this long, in milliseconds; zero and less is as short as possible.
    pub move_time: Option<i64>,
    /// Search to this depth, in plies.
    pub depth: Option<u8>,
    /// Search this many nodes.
    pub nodes: Option<u64>,
    /// Search for a mate in this many moves, from 1.
    pub mate: Option<u8>,
    /// The root moves to search, in lower-case coordinate notation; empty for all of them.
    pub search_moves: Vec<String>,
    /// Arguments that were not understood.
    pub unreadable: Vec<String>,
}

/// One side's clock, in milliseconds. Some GUIs send negative times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Time left.
    pub time: Option<i64>,
    /// Added with each move.
    pub increment: Option<i64>,
}

/// The arguments of `genfens`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpeningsRequest {
    /// How many positions to print.
    pub count: u32,
    /// The seed of the random moves.
    pub seed: u64,
    /// A file with a FEN or EPD in each line to start from; none for the starting position.
    pub book: Option<String>,
}

/// Why a line is not carried out. Nothing has changed by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Go {
    /// Whether the sender wanted a limit but none can be used: all were unreadable, or meant for the
    /// other side. `clock` is that of the side to move. Such a search must not be endless.
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
}

/// Writes a command as a GUI would: the reverse of [`parse`](super::parse()).
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

impl fmt::Display for OpeningsRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let book = self.book.as_deref().unwrap_or("None");
        write!(f, "genfens {} seed {} book {book}", self.count, self.seed)
    }
}
