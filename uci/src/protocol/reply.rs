//! What the engine says, as types and as text.

use std::fmt::{self, Write as _};
use std::time::Duration;

use cairn_engine::search::{Bound, ScoreText};

/// A line to the GUI.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// `id name` with the version.
    Name(String),
    /// `id author`.
    Author(&'static str),
    /// `option`: the declaration of an option.
    Option(OptionDeclaration),
    /// `uciok`.
    UciOk,
    /// `readyok`.
    ReadyOk,
    /// `info` with a line of the search.
    Info(Info),
    /// `info` with the progress of a search that has had no new line for a while.
    Status(Status),
    /// `info` with the root move that a long search is at.
    CurrentMove {
        /// The iteration, in plies.
        depth: u32,
        /// The move, ready to be sent.
        mv: String,
        /// Which of the root moves it is, from 1.
        number: u32,
    },
    /// `info string`, for people.
    Message(String),
    /// `bestmove`: the answer to a `go`.
    BestMove {
        /// The move, or none where there is no legal one.
        best: Option<String>,
        /// The expected reply.
        ponder: Option<String>,
    },
    /// Text that is not UCI, in answer to a command that is not.
    Text(String),
}

/// An option as it is declared to a GUI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionDeclaration {
    /// Its name.
    pub name: &'static str,
    /// Its type with default and range.
    pub kind: OptionType,
}

/// The types of options that UCI has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionType {
    /// A whole number.
    Spin {
        /// The value at the start.
        default: i64,
        /// The smallest value.
        min: i64,
        /// The largest value.
        max: i64,
    },
    /// True or false.
    Check {
        /// The value at the start.
        default: bool,
    },
    /// One of several words.
    Combo {
        /// The word at the start.
        default: &'static str,
        /// The words.
        choices: &'static [&'static str],
    },
    /// Any text; UCI's `string`.
    Text {
        /// The text at the start.
        default: &'static str,
    },
    /// Something to do.
    Button,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The current iteration, in plies; 0 if there is none.
    pub depth: u32,
    /// Nodes searched since the `go`.
    pub nodes: u64,
    /// How full the hash table was when last known, in permill.
    pub hash_full: u32,
    /// How often endgame tables had an answer, if there are any.
    pub table_hits: Option<u64>,
    /// Time since the `go`.
    pub elapsed: Duration,
}

/// A line of the search: of a finished iteration, or a bound from one that still runs. Its moves are text
/// that is ready to be sent, or of another type.
#[derive(Clone, Debug, PartialEq)]
pub struct Info<M = String> {
    /// The depth, in plies.
    pub depth: u32,
    /// The longest line searched, in plies, if the search counts it.
    pub seldepth: Option<u32>,
    /// The rank of this line, 1 for the best.
    pub multi_pv: usize,
    /// The score from the engine's point of view, as it is shown: in style Cairn, 100 centipawns are an even chance to
    /// win.
    pub score: ScoreText,
    /// Whether the score is exact or a bound.
    pub bound: Bound,
    /// Win, draw and loss chances, if they are asked for.
    pub wdl: Option<Wdl>,
    /// Nodes searched since the `go`.
    pub nodes: u64,
    /// Time since the `go`.
    pub elapsed: Duration,
    /// How full the hash table is, in permill.
    pub hash_full: u32,
    /// How often endgame tables had an answer, if there are any.
    pub table_hits: Option<u64>,
    /// The moves; may be empty.
    pub pv: Vec<M>,
}

impl<M> Info<M> {
    /// The same line with its moves in another form.
    #[must_use]
    pub fn with_pv<N>(&self, pv: Vec<N>) -> Info<N> {
        let &Info {
            depth,
            seldepth,
            multi_pv,
            score,
            bound,
            wdl,
            nodes,
            elapsed,
            hash_full,
            table_hits,
            ..
        } = self;
        Info {
            depth,
            seldepth,
            multi_pv,
            score,
            bound,
            wdl,
            nodes,
            elapsed,
            hash_full,
            table_hits,
            pv,
        }
    }
}

/// Chances in permill; they add up to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wdl {
    /// To win.
    pub win: u32,
    /// To draw.
    pub draw: u32,
    /// To lose.
    pub loss: u32,
}

impl Wdl {
    /// A certain draw.
    pub const DRAW: Wdl = Wdl { win: 0, draw: 1000, loss: 0 };

    /// A certain loss.
    pub const LOSS: Wdl = Wdl { win: 0, draw: 0, loss: 1000 };
}

impl Reply {
    /// Appends the reply to `out` as one line, or several for a text of several lines.
    pub fn write_line(&self, out: &mut String) {
        // Writing to a string cannot fail.
        let _ = match self {
            Reply::Name(name) => write!(out, "id name {name}"),
            Reply::Author(author) => write!(out, "id author {author}"),
            Reply::Option(option) => write!(out, "{option}"),
            Reply::UciOk => write!(out, "uciok"),
            Reply::ReadyOk => write!(out, "readyok"),
            Reply::Info(info) => write!(out, "{info}"),
            Reply::Status(status) => write!(out, "{status}"),
            Reply::CurrentMove { depth, mv, number } => {
                write!(out, "info depth {depth} currmove {mv} currmovenumber {number}")
            }
            // A line break in here would begin a line of its own and be taken for a reply.
            Reply::Message(text) => write!(out, "info string {}", text.replace(['\r', '\n'], " ")),
            Reply::BestMove { best: Some(best), ponder: Some(ponder) } => {
                write!(out, "bestmove {best} ponder {ponder}")
            }
            Reply::BestMove { best: Some(best), ponder: None } => write!(out, "bestmove {best}"),
            Reply::BestMove { best: None, .. } => write!(out, "bestmove (none)"),
            Reply::Text(text) => write!(out, "{text}"),
        };
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

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = String::new();
        self.write_line(&mut line);
        f.write_str(line.trim_end_matches('\n'))
    }
}

impl fmt::Display for OptionDeclaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "option name {} type ", self.name)?;
        match &self.kind {
            OptionType::Spin { default, min, max } => {
                write!(f, "spin default {default} min {min} max {max}")
            }
            OptionType::Check { default } => write!(f, "check default {default}"),
            OptionType::Combo { default, choices } => {
                write!(f, "combo default {default}")?;
                choices.iter().try_for_each(|choice| write!(f, " var {choice}"))
            }
            OptionType::Text { default: "" } => write!(f, "string default <empty>"),
            OptionType::Text { default } => write!(f, "string default {default}"),
            OptionType::Button => write!(f, "button"),
        }
    }
}

/// The attributes stand in the order that GUIs expect.
impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "info depth {}", self.depth)?;
        if let Some(seldepth) = self.seldepth {
            write!(f, " seldepth {seldepth}")?;
        }
        write!(f, " multipv {} score ", self.multi_pv)?;
        match self.score {
            ScoreText::Centipawns(centipawns) => write!(f, "cp {centipawns}")?,
            ScoreText::Mate(moves) => write!(f, "mate {moves}")?,
        }
        f.write_str(match self.bound {
            Bound::Lower => " lowerbound",
            Bound::Upper => " upperbound",
            Bound::Exact => "",
        })?;
        if let Some(Wdl { win, draw, loss }) = self.wdl {
            write!(f, " wdl {win} {draw} {loss}")?;
        }
        write_counts(f, self.nodes, self.hash_full, self.table_hits, self.elapsed)?;
        if !self.pv.is_empty() {
            write!(f, " pv {}", self.pv.join(" "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("info")?;
        if self.depth > 0 {
            write!(f, " depth {}", self.depth)?;
        }
        write_counts(f, self.nodes, self.hash_full, self.table_hits, self.elapsed)
    }
}

/// Writes the attributes that all lines of a search share.
fn write_counts(
    f: &mut fmt::Formatter<'_>,
    nodes: u64,
    hash_full: u32,
    table_hits: Option<u64>,
    elapsed: Duration,
) -> fmt::Result {
    let (nps, time) = (speed(nodes, elapsed), elapsed.as_millis());
    write!(f, " nodes {nodes} nps {nps} hashfull {hash_full}")?;
    if let Some(hits) = table_hits {
        write!(f, " tbhits {hits}")?;
    }
    write!(f, " time {time}")
}

/// Nodes per second, also for a search that took no measurable time.
#[must_use]
pub fn speed(nodes: u64, elapsed: Duration) -> u64 {
    let nanoseconds = elapsed.as_nanos().max(1);
    u64::try_from(u128::from(nodes) * 1_000_000_000 / nanoseconds).unwrap_or(u64::MAX)
}
