//! Searching: limits, how to stop, reports.
//!
//! A search counts nodes and knows no time. It stops in one place only, immediately before a node is
//! counted: when the node limit is reached or the stop flag is seen. A search that was stopped after N nodes
//! is therefore repeated exactly by `nodes N` if it had one thread, and by [`Limits::leader_nodes`] if it had
//! deterministic ones.

mod cairn;
mod deepen;
mod delay;
mod exchange;
mod history;
pub mod micromax;
mod node;
mod partial_keys;
mod picker;
mod prune;
mod quiesce;
mod root_lines;
pub mod saved;
mod see;
mod speaker;
mod tables;
mod team;
mod thread;
mod tt;
mod vote;

use crate::board::Board;
use crate::machine::memory::{AllocationError, Remains};
use crate::moves::Move;
use crate::score::{MATE, Score, is_mate};
use crate::syzygy::Tables;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::eval::{Neural, PackedNetwork, Tapered};
use cairn::{Cairn, Threads};
use micromax::MicroMax;
use saved::{Get, Put, SavedError, SavedRefusal};
use team::NodeCounter;
pub use tt::Bound;

/// How often a search polls the stop flag and publishes its node count, in nodes.
pub const POLL_INTERVAL: u64 = 1024;

/// The deepest iteration of the strong search, in plies; micro-Max ends earlier.
pub const MAX_DEPTH: u32 = thread::MAX_DEPTH as u32;

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

/// What ends a search: the first limit that is reached, the stop flag or the sink.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The last iteration.
    pub depth: Option<u32>,
    /// The node limit, for the sum of all threads; deterministic ones may exceed it by a period of 4096 nodes for each
    /// helper. Style MicroMax completes its iteration, as the original does.
    pub nodes: Option<u64>,
    /// The node limit of the leader's own nodes: with deterministic threads it repeats an outcome with this
    /// [`Outcome::leader_nodes`].
    pub leader_nodes: Option<u64>,
    /// Style MicroMax: the node count at which it stops within an iteration, with the best move so far, which
    /// the original never does. It ends nothing else: style Cairn stops at `nodes` anyway.
    pub node_cap: Option<u64>,
    /// Stop when a mate in this many moves, or fewer, is found.
    pub mate: Option<u32>,
    /// The root moves to search; empty means all. Moves that are not legal are ignored.
    pub search_moves: Vec<Move>,
    /// How many of the best moves get a line of their own (MultiPV), from 1.
    pub multi_pv: usize,
    /// The endgame tables that style Cairn asks, if any.
    pub tables: Option<TableUse>,
    /// Weakens style Cairn: how many of a hundred quiet moves are searched below the root, 0 to 100. Which
    /// ones depends on the position alone, and one thread searches, so that the result is always the same. `None`
    /// searches all.
    pub quiet_percent: Option<u8>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            depth: None,
            nodes: None,
            leader_nodes: None,
            node_cap: None,
            mate: None,
            search_moves: Vec::new(),
            multi_pv: 1,
            tables: None,
            quiet_percent: None,
        }
    }
}

/// Endgame tables, and how they are asked.
#[derive(Clone, Debug)]
pub struct TableUse {
    /// The tables.
    pub tables: Arc<Tables>,
    /// The least depth at which they are asked, from 1; with fewer pieces than [`Self::pieces`] and than the
    /// largest table has, any depth is enough.
    pub depth: u32,
    /// The most pieces with which they are asked, kings included, 0 to [`crate::syzygy::MOST_PIECES`].
    pub pieces: u32,
    /// Whether a win that the 50-move rule spoils is a draw.
    pub fifty_move_rule: bool,
}

impl TableUse {
    /// The most pieces with which they are asked and can answer.
    fn most_pieces(&self) -> u32 {
        self.pieces.min(self.tables.most_pieces() as u32)
    }
}

/// Equal if they are the same tables, asked in the same way.
impl PartialEq for TableUse {
    fn eq(&self, other: &TableUse) -> bool {
        let key = |using: &TableUse| (using.depth, using.pieces, using.fifty_move_rule);
        Arc::ptr_eq(&self.tables, &other.tables) && key(self) == key(other)
    }
}

impl Eq for TableUse {}

/// What a running search shares with its caller. Each search gets a fresh one, so that no stop is lost or
/// stale.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    nodes: NodeCounter,
    table_hits: AtomicU64,
    /// The counts of the helpers, where several threads search.
    helpers: Mutex<Arc<[NodeCounter]>>,
    /// The iteration and the current root move, packed (see [`CurrentMove`]); written by the search only.
    current: AtomicU64,
}

/// The root move that is being searched (`currmove`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CurrentMove {
    /// The iteration it belongs to.
    pub iteration: u32,
    /// The move.
    pub mv: Move,
    /// Its place in the order of root moves, from 1.
    pub number: u32,
}

/// The low bits of the packed word hold the iteration, the others the move and its number.
const ITERATION_BITS: u32 = 16;

impl Control {
    /// A control block for one search.
    #[must_use]
    pub fn new() -> Control {
        Control::default()
    }

    /// Sets the stop flag; each thread of the search ends within [`POLL_INTERVAL`] nodes.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the stop flag is set.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The stop flag, for what is stopped alike and is no search.
    #[must_use]
    pub const fn stop_flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// The node count, the sum of all threads, updated every [`POLL_INTERVAL`] nodes.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        let helpers = self.helpers.lock().unwrap_or_else(PoisonError::into_inner);
        helpers.iter().fold(self.nodes.get(), |sum, helper| sum + helper.get())
    }

    /// Begins to count: from 0, with so many helpers. Returns the helpers' counts.
    fn begin(&self, helpers: usize) -> Arc<[NodeCounter]> {
        self.publish(0);
        let counters: Arc<[NodeCounter]> = (0..helpers).map(|_| NodeCounter::default()).collect();
        *self.helpers.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&counters);
        counters
    }

    /// How often endgame tables had an answer.
    #[must_use]
    pub fn table_hits(&self) -> u64 {
        self.table_hits.load(Ordering::Relaxed)
    }

    fn add_table_hits(&self, hits: u64) {
        self.table_hits.fetch_add(hits, Ordering::Relaxed);
    }

    fn publish(&self, nodes: u64) {
        self.nodes.set(nodes);
    }

    /// The current iteration; 0 before the first.
    #[must_use]
    pub fn iteration(&self) -> u32 {
        u32::from(self.current.load(Ordering::Relaxed) as u16)
    }

    /// The current root move; `None` before the first, and in style MicroMax.
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

impl ScoreText {
    /// From a score of the strong search.
    #[must_use]
    pub const fn from_score(score: Score) -> ScoreText {
        if !is_mate(score) {
            ScoreText::Centipawns(score)
        } else if score > 0 {
            ScoreText::Mate(MATE - score)
        } else {
            ScoreText::Mate(-(MATE + score))
        }
    }

    /// As one number: centipawns as they are, mates as in [`crate::score`], so that a better score is
    /// larger.
    #[must_use]
    pub const fn to_score(self) -> Score {
        match self {
            ScoreText::Centipawns(score) => score,
            ScoreText::Mate(moves) if moves > 0 => MATE - moves,
            ScoreText::Mate(moves) => -MATE - moves,
        }
    }
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

/// The result of an iteration for one line of MultiPV.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// The iteration.
    pub depth: u32,
    /// The longest line searched, in half-moves; `None` in style MicroMax.
    pub seldepth: Option<u32>,
    /// The rank of the line, from 1.
    pub multi_pv: usize,
    /// The score of the line.
    pub score: ScoreText,
    /// The score is not the search's: endgame tables know what the first move of the line comes to.
    pub by_tables: bool,
    /// Exact, or a bound: from an aspiration window that failed; what the sink answers to a bound means
    /// nothing.
    pub bound: Bound,
    /// Nodes counted since the search began.
    pub nodes: u64,
    /// How full the hash table is, in permill.
    pub hash_full: u32,
    /// How often endgame tables had an answer; `None` without tables.
    pub table_hits: Option<u64>,
    /// The share of all nodes that the first move of the line took, in permill; `None` in style MicroMax.
    pub effort: Option<u32>,
    /// The principal variation: legal moves; may be empty.
    pub pv: &'a [Move],
    /// Not to be shown: reported for the clock only.
    pub silent: bool,
}

/// What the sink of reports answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Search on.
    Continue,
    /// Begin no further iteration.
    Stop,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The move to play: legal, and there is one unless the game is over.
    pub best: Option<Move>,
    /// The expected reply.
    pub ponder: Option<Move>,
    /// The score of the best move.
    pub score: ScoreText,
    /// The last complete iteration, 0 if there was none.
    pub depth: u32,
    /// The node count, the sum of all threads; given as a limit to one thread it repeats this outcome.
    pub nodes: u64,
    /// How many threads were to search.
    pub threads: usize,
    /// The nodes of the thread that spoke for all, if that number repeats the outcome: not with several free
    /// threads, where chance has a part in it.
    pub leader_nodes: Option<u64>,
    /// Remarks for a person.
    pub notes: Vec<String>,
}

/// What lives from one search to the next: the style, the hash table and the histories.
pub struct Searcher {
    program: Program,
    /// Those that style Cairn searches with.
    threads: Threads,
    /// What style Cairn evaluates with; without one it has its tables.
    network: Option<Arc<PackedNetwork>>,
}

/// The program that plays: one at a time has memory.
enum Program {
    Cairn(Cairn),
    MicroMax(MicroMax),
}

impl Program {
    fn new(style: Style, hash_mib: usize, threads: Threads) -> Result<Program, AllocationError> {
        Ok(match style {
            Style::Cairn => Program::Cairn(Cairn::new(hash_mib, threads)?),
            Style::MicroMax => Program::MicroMax(MicroMax::new(hash_mib)?),
        })
    }
}

impl Searcher {
    /// A searcher of one thread with a hash table of so many MiB; 0 counts as 1. It evaluates with the network that is
    /// built in, if there is one. Takes no time: the table gets its memory when it is first cleared, else in
    /// the search, which is slower.
    ///
    /// # Errors
    /// If the memory can't be had.
    pub fn new(style: Style, hash_mib: usize) -> Result<Searcher, AllocationError> {
        // The build has checked what is built in, so there is no error to tell.
        let built_in = PackedNetwork::built_in().ok().flatten();
        Searcher::with_network(style, hash_mib, built_in)
    }

    /// The same with another network, or without one, evaluating by the tables.
    ///
    /// # Errors
    /// If the memory can't be had.
    pub fn with_network(
        style: Style,
        hash_mib: usize,
        network: Option<Arc<PackedNetwork>>,
    ) -> Result<Searcher, AllocationError> {
        let threads = Threads { number: 1, deterministic: false };
        Ok(Searcher { program: Program::new(style, hash_mib, threads)?, threads, network })
    }

    /// The network that style Cairn evaluates with, if it does with one.
    #[must_use]
    pub const fn network(&self) -> Option<&Arc<PackedNetwork>> {
        self.network.as_ref()
    }

    /// Lets style Cairn evaluate with another network, or without one by its tables. What was learnt is
    /// forgotten, as it was said in other numbers.
    pub fn set_network(&mut self, network: Option<Arc<PackedNetwork>>) {
        drop(self.set_network_until(network, &mut || false));
    }

    /// The same, forgetting as in [`Self::clear_until`].
    pub fn set_network_until(
        &mut self,
        network: Option<Arc<PackedNetwork>>,
        hurried: &mut dyn FnMut() -> bool,
    ) -> Vec<Remains> {
        self.network = network;
        self.clear_until(hurried)
    }

    /// The style that plays.
    #[must_use]
    pub const fn style(&self) -> Style {
        match self.program {
            Program::Cairn(_) => Style::Cairn,
            Program::MicroMax(_) => Style::MicroMax,
        }
    }

    /// Sets the style; a new one begins with an empty table, as in [`Self::new`].
    ///
    /// # Errors
    /// If the memory for its table can't be had; the style stays as it was.
    pub fn set_style(&mut self, style: Style) -> Result<(), AllocationError> {
        if style != self.style() {
            self.program = Program::new(style, self.hash_mib(), self.threads)?;
        }
        Ok(())
    }

    /// How many threads style Cairn searches with.
    #[must_use]
    pub const fn threads(&self) -> usize {
        self.threads.number
    }

    /// Whether several threads find the same every time.
    #[must_use]
    pub const fn is_deterministic(&self) -> bool {
        self.threads.deterministic
    }

    /// Lets style Cairn search with so many threads; 0 counts as 1. Free ones share what they learn at once, in an
    /// order that is chance. Deterministic ones find the same every time, and the hash memory is shared out
    /// among them, at least one MiB each. Free threads keep the table and the histories of those that
    /// stay; else all is forgotten. Style MicroMax has one thread. Returns whether the table is a new
    /// one, as in [`Self::new`].
    ///
    /// # Errors
    /// If the memory can't be had; everything stays as it was.
    pub fn set_threads(
        &mut self,
        threads: usize,
        deterministic: bool,
    ) -> Result<bool, AllocationError> {
        let threads = Threads { number: threads.max(1), deterministic };
        let mut is_new = false;
        if let Program::Cairn(cairn) = &mut self.program
            && threads != self.threads
        {
            if threads.shares_with(self.threads) {
                cairn.set_threads(threads.number);
            } else {
                *cairn = Cairn::new(cairn.hash_mib(), threads)?;
                is_new = true;
            }
        }
        self.threads = threads;
        Ok(is_new)
    }

    /// The size of the hash table in MiB.
    #[must_use]
    pub fn hash_mib(&self) -> usize {
        match &self.program {
            Program::Cairn(cairn) => cairn.hash_mib(),
            Program::MicroMax(micromax) => micromax.hash_mib(),
        }
    }

    /// Allocates a new, empty hash table of so many MiB, as in [`Self::new`], and clears the histories.
    ///
    /// # Errors
    /// If the memory can't be had; everything stays as it was.
    pub fn resize(&mut self, hash_mib: usize) -> Result<(), AllocationError> {
        self.program = Program::new(self.style(), hash_mib, self.threads)?;
        Ok(())
    }

    /// Clears the hash table and the histories.
    pub fn clear(&mut self) {
        drop(self.clear_until(&mut || false));
    }

    /// The same, with as many threads as search, until `hurried`, which is asked every few MiB, says that somebody waits: the table then gets
    /// fresh memory, which takes next to no time. It is cleared in both cases, and a search sees no
    /// difference, but is slower at first after a hurry. Returns the old memory.
    pub fn clear_until(&mut self, hurried: &mut dyn FnMut() -> bool) -> Vec<Remains> {
        match &mut self.program {
            Program::Cairn(cairn) => cairn.clear_until(hurried),
            Program::MicroMax(micromax) => {
                micromax.clear_until(self.threads.number, hurried).into_iter().collect()
            }
        }
    }

    /// Saves what was learnt: hash table and histories, handed to `put` in pieces of at most a MiB. Returns a
    /// number that tells it from other work.
    ///
    /// # Errors
    /// What `put` says, or that the style learns nothing.
    pub fn save<E>(&self, put: &mut Put<'_, E>) -> Result<u64, SavedError<E>> {
        match &self.program {
            Program::Cairn(cairn) => {
                cairn.save(self.network_checksum(), put).map_err(SavedError::Stream)
            }
            Program::MicroMax(_) => Err(SavedRefusal::Style.into()),
        }
    }

    /// Reads saved work to its end, by `get` in pieces of at most a MiB, and changes nothing. Returns its
    /// number if it can be loaded now.
    ///
    /// # Errors
    /// What `get` says, or why it can't: it is damaged, or of another size, number of threads or
    /// network.
    pub fn check_saved<E>(&self, get: &mut Get<'_, E>) -> Result<u64, SavedError<E>> {
        match &self.program {
            Program::Cairn(cairn) => cairn.check_saved(self.network_checksum(), get),
            Program::MicroMax(_) => Err(SavedRefusal::Style.into()),
        }
    }

    /// Reads the same again, and goes on with it in place of what was learnt: with one thread or deterministic ones
    /// the next search is what it would have been. `checked` is what [`Self::check_saved`] has returned.
    ///
    /// # Errors
    /// If it has changed meanwhile or cannot be read any more: then all is forgotten.
    pub fn load<E>(&mut self, checked: u64, get: &mut Get<'_, E>) -> Result<(), SavedError<E>> {
        match &mut self.program {
            Program::Cairn(cairn) => cairn.load(checked, get),
            Program::MicroMax(_) => Err(SavedRefusal::Style.into()),
        }
    }

    fn network_checksum(&self) -> u64 {
        self.network.as_ref().map_or(0, |network| network.identity().checksum)
    }

    /// Searches a position; reports each finished iteration to `sink`, which is called on this thread. With more
    /// free threads than one, chance has a part in the outcome. A thread that the system refuses is done
    /// without, which is told in the outcome's notes: once of free threads.
    pub fn search(
        &mut self,
        board: &Board,
        limits: &Limits,
        control: &Control,
        sink: &mut dyn FnMut(&Report<'_>) -> Verdict,
    ) -> Outcome {
        self.search_and_answer(board, limits, control, sink, &mut |_| {})
    }

    /// The same, calling `answer` as soon as the outcome is there: deterministic threads go on for a moment
    /// then, to be in the same state when the next search begins.
    pub fn search_and_answer(
        &mut self,
        board: &Board,
        limits: &Limits,
        control: &Control,
        sink: &mut dyn FnMut(&Report<'_>) -> Verdict,
        answer: &mut dyn FnMut(&Outcome),
    ) -> Outcome {
        match (&mut self.program, &self.network) {
            (Program::Cairn(cairn), Some(network)) => {
                cairn.search::<Neural>(board, network, limits, control, sink, answer)
            }
            (Program::Cairn(cairn), None) => {
                cairn.search::<Tapered>(board, &(), limits, control, sink, answer)
            }
            (Program::MicroMax(micromax), _) => {
                let outcome = micromax.search(board, limits, control, sink);
                answer(&outcome);
                outcome
            }
        }
    }
}
