//! What the threads say to each other: jobs for the worker, its events, and what both share about a `go`.
//!
//! Of the session only paths are imported here, so every file above them may use this one.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use cairn_engine::board::Board;
use cairn_engine::eval::PackedNetwork;
use cairn_engine::search::{Control, Limits, Style};
use cairn_engine::syzygy::Tables;

use crate::protocol::{Info, OpeningsRequest};
use crate::session::files::{Checksum, FilePath};

/// The stack of every thread that searches or counts moves, in bytes. Deep recursion must not depend on
/// the system's default; the unused part costs no memory.
pub const STACK: usize = 64 << 20;

/// How long a search runs before it tells of its progress: the current move, bounds, the node count.
/// Short searches need none of it, and some GUIs are slow to read many lines.
pub const PROGRESS_DELAY: Duration = Duration::from_secs(3);

/// The least time between two progress lines of one kind.
pub const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Something for the worker to do.
pub enum Job {
    /// Applies the options to the searcher.
    Prepare {
        /// What the searcher has to be.
        setup: SearcherSetup,
        /// Set when somebody waits: then the hash table is not given its memory now.
        hurry: Arc<AtomicBool>,
    },
    /// Reads the network in the file that the option `EvalFile` names.
    Load(FilePath),
    /// Reads the endgame tables in the folders that the option `SyzygyPath` names.
    LoadTables(FilePath),
    /// Saves what was learnt to the file that the option `Hash File` names, or loads it from there.
    HashFile {
        /// Which of both.
        action: HashAction,
        /// What the searcher has to be before.
        setup: SearcherSetup,
        /// The file.
        path: FilePath,
        /// Ends it early.
        control: Arc<Control>,
    },
    /// Runs a `go`.
    Search(Box<SearchJob>),
    /// Counts the legal move tree.
    Perft {
        /// The root.
        board: Box<Board>,
        /// The depth, in plies.
        depth: u32,
        /// Castling is written as the king taking its own rook.
        chess960: bool,
        /// Ends it early.
        control: Arc<Control>,
    },
    /// Searches the fixed positions.
    Bench {
        /// To which depth, if not the usual one.
        depth: Option<u32>,
        /// Ends it early.
        control: Arc<Control>,
    },
    /// Runs the short bench whose node count stands in a log.
    Signature,
    /// Makes opening positions.
    Openings {
        /// How many, and how.
        request: OpeningsRequest,
        /// Ends it early.
        control: Arc<Control>,
    },
}

/// What is done with the file of the option `Hash File`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashAction {
    /// What was learnt is saved to it.
    Save,
    /// What was learnt is loaded from it.
    Load,
}

/// What the options ask of the searcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearcherSetup {
    /// Which search plays.
    pub style: Style,
    /// The size of the hash table, in MiB.
    pub hash_mib: usize,
    /// The threads of the strong search.
    pub threads: usize,
    /// They find the same every time.
    pub deterministic: bool,
    /// Whether the hash table has to be cleared.
    pub clear: bool,
    /// The network to evaluate with, if it is not the one that is built in.
    pub loaded: Option<Arc<PackedNetwork>>,
}

/// The point at which a search ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// The nodes of the search.
    pub nodes: u64,
    /// The nodes of the second, silent search if there was one: where micro-Max is so far ahead that it
    /// gives no move, it is asked again as if material were equal.
    pub retry: Option<u64>,
    /// The nodes of the leader alone, where deterministic threads have searched.
    pub main: Option<u64>,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By its own limits, at this point; the limits alone repeat it.
    Itself(Cut),
    /// By a clock or a `stop`, at this point.
    Cut(Cut),
    /// By an internal error.
    Broke,
}

impl Ending {
    /// Where it ended, unless it broke.
    #[must_use]
    pub fn point(self) -> Option<Cut> {
        match self {
            Ending::Itself(point) | Ending::Cut(point) => Some(point),
            Ending::Broke => None,
        }
    }
}

/// A search with all it needs.
pub struct SearchJob {
    /// What the searcher has to be.
    pub setup: SearcherSetup,
    /// The position with the game before it.
    pub board: Board,
    /// The limits that the engine itself keeps.
    pub limits: Limits,
    /// The soft time limit, from the start of the clock.
    pub soft: Option<Duration>,
    /// Its time is limited, so that a hash table is not given its memory on its clock.
    pub timed: bool,
    /// When the `go` arrived.
    pub started: Instant,
    /// Castling is written as the king taking its own rook.
    pub chess960: bool,
    /// Scores come with win, draw and loss chances.
    pub show_wdl: bool,
    /// In a replay: where the search was cut the first time.
    pub cut: Option<Cut>,
    /// What is shared with the controller.
    pub control: Arc<GoControl>,
}

/// News from the worker.
#[derive(Debug)]
pub enum Event {
    /// A line of the search.
    Line(Info),
    /// A remark for people.
    Note(String),
    /// A line of output of a command that is not UCI.
    Text(String),
    /// Why a command that is not UCI could not do what it was asked for.
    Failed(String),
    /// The hash table has this size in MiB, as there was no memory for what was asked.
    HashKept(usize),
    /// The nodes of the short bench.
    Signature(u64),
    /// The network that was read and its path, or what is wrong with its file.
    Loaded(Result<(Option<Arc<PackedNetwork>>, FilePath), String>),
    /// The endgame tables that were found, and their path.
    TablesLoaded {
        /// The tables; none if there is not one of them.
        tables: Option<Arc<Tables>>,
        /// Their path, with a checksum if there are any.
        path: FilePath,
        /// What people should know of them.
        remarks: Vec<String>,
    },
    /// What has become of saving or loading: what tells the file from others, or why nothing was done.
    HashFile(HashAction, Result<Checksum, String>),
    /// The job is done; a search has an answer.
    Done(Option<Answer>),
}

/// The answer to a `go`.
#[derive(Debug, PartialEq)]
pub struct Answer {
    /// The move to play, or none if there is no legal one.
    pub best: Option<String>,
    /// The expected reply.
    pub ponder: Option<String>,
    /// A last line to send, if the last one sent does not show the move.
    pub closing: Option<Info>,
    /// How the search ended.
    pub ending: Ending,
    /// How many threads were to search; 1 if it broke.
    pub threads: usize,
}

/// What the controller and the worker share about one `go`. Each `go` has its own, so that a `stop` can
/// neither be lost nor end a later search.
#[derive(Default)]
pub struct GoControl {
    /// The engine's part: stop flag, node count, current move.
    pub engine: Control,
    /// When the clock was started; empty while pondering.
    clock_started: OnceLock<Instant>,
    /// While pondering: the microseconds that the search needs, 0 for unknown.
    ripe_after: AtomicU64,
}

impl GoControl {
    /// Starts the clock, at `go` or at `ponderhit`. Only the first call counts.
    pub fn start_clock(&self, at: Instant) {
        // Fails if the clock runs already.
        let _ = self.clock_started.set(at);
    }

    /// How long the clock has been running, if it has been started.
    #[must_use]
    pub fn clock_elapsed(&self) -> Option<Duration> {
        self.clock_started.get().map(Instant::elapsed)
    }

    /// Notes while pondering that the search needs no more time than this.
    pub fn note_ripe_after(&self, time: Duration) {
        self.ripe_after.store((time.as_micros() as u64).max(1), Ordering::Relaxed);
    }

    /// Whether a search that has pondered for so long may end when the expected move is played.
    #[must_use]
    pub fn is_ripe(&self, pondered: Duration) -> bool {
        match self.ripe_after.load(Ordering::Relaxed) {
            0 => false,
            needed => pondered >= Duration::from_micros(needed),
        }
    }
}
