//! Searching: what to search for, how to be stopped, what is reported.
//!
//! A search counts nodes and knows no time. It stops in one place only, immediately before a node is
//! counted: when the count has reached its limit, or when the stop flag is seen. What was searched
//! up to N nodes can therefore be searched again, exactly, with `nodes N`.

mod deepen;
mod delay;
mod entry;
mod exchange;
mod history;
pub mod micromax;
mod node;
mod picker;
mod prune;
mod structure;

use crate::board::Board;
use crate::machine::memory::AllocationError;
use crate::moves::Move;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::eval::{Neural, PackedNetwork, Tapered};
use deepen::Cairn;
pub use entry::Bound;
use micromax::MicroMax;

/// How often, in nodes, a search looks at its stop flag and publishes its count.
pub const POLL_INTERVAL: u64 = 1024;

/// Which program plays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Style {
    /// The strong search.
    #[default]
    Cairn,
    /// micro-Max 3.2, exact to the node.
    MicroMax,
}

impl Style {
    /// All styles.
    pub const ALL: [Style; 2] = [Style::Cairn, Style::MicroMax];
}

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Style::Cairn => "Cairn",
            Style::MicroMax => "MicroMax",
        })
    }
}

/// A name that no style has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StyleNameError;

impl fmt::Display for StyleNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("styles are Cairn and MicroMax")
    }
}

impl std::error::Error for StyleNameError {}

impl FromStr for Style {
    type Err = StyleNameError;

    fn from_str(name: &str) -> Result<Style, StyleNameError> {
        Style::ALL
            .into_iter()
            .find(|style| style.to_string().eq_ignore_ascii_case(name))
            .ok_or(StyleNameError)
    }
}

/// What ends a search; without any limit only the stop flag or the sink does. All that are given
/// hold together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The last iteration.
    pub depth: Option<u32>,
    /// The node budget.
    pub nodes: Option<u64>,
    /// Stop when a mate in this many moves, or fewer, is found.
    pub mate: Option<u32>,
    /// The root moves to look at; empty means all. Moves that are not legal are ignored.
    pub search_moves: Vec<Move>,
    /// How many of the best moves get a line of their own, from 1.
    pub multi_pv: usize,
    /// How many of a hundred quiet moves are seen below the root, in style Cairn; which ones depends
    /// on the position alone. Without it all are.
    pub attention: Option<u8>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            depth: None,
            nodes: None,
            mate: None,
            search_moves: Vec::new(),
            multi_pv: 1,
            attention: None,
        }
    }
}

/// What a running search shares with whoever started it. Each search gets a fresh one, so that no
/// stop is ever lost or stale.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    nodes: AtomicU64,
    /// The iteration and the root move under way, see [`CurrentMove`]; only the search writes it.
    current: AtomicU64,
}

/// The root move that is being searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CurrentMove {
    /// The iteration it belongs to.
    pub iteration: u32,
    /// The move.
    pub mv: Move,
    /// Which of the root's moves it is, from 1.
    pub number: u32,
}

/// The iteration takes the low bits of the word that is shared, the move and its number the others.
const ITERATION_BITS: u32 = 16;

impl Control {
    /// A control block for one search.
    #[must_use]
    pub fn new() -> Control {
        Control::default()
    }

    /// Asks the search to end; it does within [`POLL_INTERVAL`] nodes.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the search has been asked to end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The nodes counted so far, published every [`POLL_INTERVAL`] nodes.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }

    fn publish(&self, nodes: u64) {
        self.nodes.store(nodes, Ordering::Relaxed);
    }

    /// The iteration under way; 0 before the first.
    #[must_use]
    pub fn iteration(&self) -> u32 {
        u32::from(self.current.load(Ordering::Relaxed) as u16)
    }

    /// The root move under way, where the search says it.
    #[must_use]
    pub fn current_move(&self) -> Option<CurrentMove> {
        let current = self.current.load(Ordering::Relaxed);
        let iteration = u32::from(current as u16);
        let word = current >> ITERATION_BITS;
        let mv = Move::from_raw(word as u16)?;
        let number = (word >> 16) as u32;
        (number > 0).then_some(CurrentMove { iteration, mv, number })
    }

    fn begin_iteration(&self, depth: u32) {
        self.current.store(u64::from(depth as u16), Ordering::Relaxed);
    }

    fn begin_root_move(&self, mv: Move, number: u32) {
        let word = u64::from(number) << 16 | u64::from(mv.raw());
        let iteration = u64::from(self.iteration());
        self.current.store(word << ITERATION_BITS | iteration, Ordering::Relaxed);
    }
}

/// A score as protocols want it, from the view of the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScoreText {
    /// In hundredths of a pawn.
    Centipawns(i32),
    /// Mate in so many of the winner's moves; negative if it is the other side that mates, 0 if the
    /// side to move is mated already.
    Mate(i32),
}

/// As UCI has it: `cp 12`, `mate -3`.
impl fmt::Display for ScoreText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScoreText::Centipawns(value) => write!(f, "cp {value}"),
            ScoreText::Mate(moves) => write!(f, "mate {moves}"),
        }
    }
}

/// What is known after an iteration, for one of the best moves.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// The iteration.
    pub depth: u32,
    /// The longest line looked at, in half-moves, where the search keeps count of it.
    pub seldepth: Option<u32>,
    /// Which of the best moves this is about, from 1.
    pub multi_pv: usize,
    /// What the line is worth.
    pub score: ScoreText,
    /// Whether it is worth just that. An iteration that is still under way may tell of a bound; what
    /// the sink answers to that means nothing.
    pub bound: Bound,
    /// Nodes counted since the search began.
    pub nodes: u64,
    /// How full the hash table is, in permill.
    pub hash_full: u32,
    /// How much of the search so far went into the first move of the line, in permill of its nodes,
    /// where the search keeps count of it.
    pub effort: Option<u32>,
    /// The expected moves, legal one after the other; may be empty.
    pub pv: &'a [Move],
    /// Not for showing: an iteration behind the scenes, reported for whoever keeps the time.
    pub silent: bool,
}

/// What the sink of reports wants to happen next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Search on.
    Continue,
    /// Enough: begin no further iteration.
    Stop,
}

/// What a search came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The move to play: legal, and there is one unless the game is over.
    pub best: Option<Move>,
    /// The reply expected to it.
    pub ponder: Option<Move>,
    /// What the best move is worth.
    pub score: ScoreText,
    /// The last complete iteration, 0 if there was none.
    pub depth: u32,
    /// The node count that, given as a limit, repeats this outcome.
    pub nodes: u64,
    /// Things worth telling a person.
    pub notes: Vec<String>,
}

/// Holds what lives from one search to the next: the style, the hash table and what was learnt.
pub struct Searcher {
    program: Program,
    /// What style Cairn evaluates with; without one it has its tables.
    network: Option<Arc<PackedNetwork>>,
}

/// The program that plays; only one has its tables at a time.
enum Program {
    Cairn(Cairn),
    MicroMax(MicroMax),
}

impl Program {
    fn new(style: Style, hash_mib: usize) -> Result<Program, AllocationError> {
        Ok(match style {
            Style::Cairn => Program::Cairn(Cairn::new(hash_mib)?),
            Style::MicroMax => Program::MicroMax(MicroMax::new(hash_mib)?),
        })
    }
}

impl Searcher {
    /// A searcher with a hash table of so many MiB. It evaluates with the network that is built in, if there
    /// is one.
    ///
    /// # Errors
    /// If the memory can't be had.
    pub fn new(style: Style, hash_mib: usize) -> Result<Searcher, AllocationError> {
        Ok(Searcher {
            program: Program::new(style, hash_mib)?,
            network: PackedNetwork::built_in().ok().flatten(),
        })
    }

    /// The network that style Cairn evaluates with, if it does with one.
    #[must_use]
    pub const fn network(&self) -> Option<&Arc<PackedNetwork>> {
        self.network.as_ref()
    }

    /// Lets style Cairn evaluate with another network, or without one by its tables. What was learnt is
    /// forgotten, as it was said in other numbers.
    pub fn set_network(&mut self, network: Option<Arc<PackedNetwork>>) {
        self.network = network;
        self.clear();
    }

    /// The style that plays.
    #[must_use]
    pub const fn style(&self) -> Style {
        match self.program {
            Program::Cairn(_) => Style::Cairn,
            Program::MicroMax(_) => Style::MicroMax,
        }
    }

    /// Lets another style play.
    ///
    /// # Errors
    /// If the memory for its table can't be had; the style stays as it was.
    pub fn set_style(&mut self, style: Style) -> Result<(), AllocationError> {
        if style != self.style() {
            self.program = Program::new(style, self.hash_mib())?;
        }
        Ok(())
    }

    /// The size of the hash table in MiB.
    #[must_use]
    pub fn hash_mib(&self) -> usize {
        match &self.program {
            Program::Cairn(cairn) => cairn.hash_mib(),
            Program::MicroMax(micromax) => micromax.hash_mib(),
        }
    }

    /// Begins anew with an empty hash table of so many MiB: the histories are forgotten as well.
    ///
    /// # Errors
    /// If the memory can't be had; everything stays as it was.
    pub fn resize(&mut self, hash_mib: usize) -> Result<(), AllocationError> {
        self.program = Program::new(self.style(), hash_mib)?;
        Ok(())
    }

    /// Forgets everything that was learnt.
    pub fn clear(&mut self) {
        match &mut self.program {
            Program::Cairn(cairn) => cairn.clear(),
            Program::MicroMax(micromax) => micromax.clear(),
        }
    }

    /// Searches a position and reports every finished iteration to `sink`.
    pub fn search(
        &mut self,
        board: &Board,
        limits: &Limits,
        control: &Control,
        sink: &mut dyn FnMut(&Report<'_>) -> Verdict,
    ) -> Outcome {
        match &mut self.program {
            Program::Cairn(cairn) => match &self.network {
                Some(network) => cairn.search::<Neural>(board, network, limits, control, sink),
                None => cairn.search::<Tapered>(board, &(), limits, control, sink),
            },
            Program::MicroMax(micromax) => micromax.search(board, limits, control, sink),
        }
    }
}
