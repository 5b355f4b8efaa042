//! What is under way: the `go` that has not been answered yet, or a long command beyond UCI.

use std::sync::Arc;
use std::time::Instant;

use cairn_engine::board::Board;
use cairn_engine::search::{Bound, Control, CurrentMove};

use crate::protocol::{Go, Info, Reply, Status};
use crate::session::clock::{SHORTEST, TimeLimits};
use crate::session::messages::{Answer, GoControl, PROGRESS_DELAY, PROGRESS_INTERVAL};

/// A `go` that has not been answered yet: its limits, and what was sent about it.
pub struct PendingGo {
    control: Arc<GoControl>,
    /// It stays unanswered until `stop`.
    infinite: bool,
    /// It stays unanswered until `ponderhit` or `stop`.
    pondering: bool,
    /// It is finished even when the input has ended.
    ends_by_itself: bool,
    limits: TimeLimits,
    /// The hard limit as a moment, once the clock runs.
    deadline: Option<Instant>,
    /// The answer while it may not be given yet.
    held: Option<Answer>,
    /// When the `go` came in.
    started: Instant,
    /// When the next status line is due; none once the search is over.
    next_status: Option<Instant>,
    /// The largest node count sent.
    sent_nodes: u64,
    /// The last exact line of rank 1.
    best_line: Option<Info>,
    /// Something was sent after the last exact line.
    exact_line_is_old: bool,
    /// How full the hash table was when that was last sent, in permill.
    hash_full: u32,
    /// How often endgame tables had an answer when that was last sent, if there are any.
    table_hits: Option<u64>,
    /// Castling is written as the king taking its own rook.
    chess960: bool,
    /// The root move that was last sent as current, with its iteration.
    sent_move: Option<CurrentMove>,
}

impl PendingGo {
    /// A search without time limits that answers as soon as it is done. `at` is when its `go` came in.
    #[must_use]
    pub fn unbounded(at: Instant, chess960: bool) -> PendingGo {
        PendingGo {
            control: Arc::default(),
            infinite: false,
            pondering: false,
            ends_by_itself: true,
            limits: TimeLimits::default(),
            deadline: None,
            held: None,
            started: at,
            next_status: None,
            sent_nodes: 0,
            best_line: None,
            exact_line_is_old: false,
            hash_full: 0,
            table_hits: None,
            chess960,
            sent_move: None,
        }
    }

    /// A search as `go` asks for it, with its time limits.
    #[must_use]
    pub fn planned(
        go: &Go,
        limits: TimeLimits,
        ends_by_itself: bool,
        at: Instant,
        chess960: bool,
    ) -> PendingGo {
        PendingGo {
            infinite: go.infinite,
            pondering: go.ponder,
            ends_by_itself,
            limits,
            next_status: Some(at + PROGRESS_DELAY),
            ..PendingGo::unbounded(at, chess960)
        }
    }

    /// What is shared with the worker.
    #[must_use]
    pub fn control(&self) -> &Arc<GoControl> {
        &self.control
    }

    /// The time limits.
    #[must_use]
    pub fn limits(&self) -> TimeLimits {
        self.limits
    }

    /// Whether an answer has to wait for `stop` or `ponderhit`.
    #[must_use]
    pub fn must_hold(&self) -> bool {
        self.infinite || self.pondering
    }

    /// Whether the search is finished even when the input has ended.
    #[must_use]
    pub fn ends_by_itself(&self) -> bool {
        self.ends_by_itself && !self.must_hold()
    }

    /// Starts the clock, unless the search ponders. At least [`SHORTEST`] is left: a `go` may have
    /// waited for another one until its own time was up.
    pub fn start_clock(&mut self, at: Instant) {
        if !self.pondering {
            self.control.start_clock(at);
            self.deadline = self.limits.hard.map(|hard| (at + hard).max(Instant::now() + SHORTEST));
        }
    }

    /// The next moment at which [`Self::strike`] has something to do.
    #[must_use]
    pub fn next_due(&self) -> Option<Instant> {
        [self.deadline, self.next_status].into_iter().flatten().min()
    }

    /// Stops the search if its hard limit is reached, and returns the progress lines that are due.
    /// `board` is the root.
    pub fn strike(&mut self, now: Instant, board: &Board) -> Vec<Reply> {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.deadline = None;
            self.control.engine.stop();
        }
        if self.next_status.is_none_or(|due| due > now) {
            return Vec::new();
        }
        let current = self.new_move(board);
        let status = Reply::Status(self.status(now));
        current.into_iter().chain([status]).collect()
    }

    /// Ends the search and whatever it waits for.
    pub fn stop(&mut self) {
        self.control.engine.stop();
        self.infinite = false;
        self.pondering = false;
    }

    /// The opponent has played the expected move: from now on this is a normal search.
    pub fn ponder_hit(&mut self, at: Instant) {
        if !self.pondering {
            return;
        }
        self.pondering = false;
        self.start_clock(at);
        if self.control.is_ripe(at.saturating_duration_since(self.started)) {
            self.control.engine.stop();
        }
    }

    /// Takes note of a line of the search that is sent.
    pub fn note_line(&mut self, info: &Info) {
        self.exact_line_is_old = info.bound != Bound::Exact;
        self.sent_nodes = self.sent_nodes.max(info.nodes);
        self.hash_full = info.hash_full;
        self.table_hits = info.table_hits;
        if info.multi_pv == 1 && info.bound == Bound::Exact {
            self.best_line = Some(info.clone());
        }
    }

    /// Takes note of a remark of the search that is sent.
    pub fn note_remark(&mut self) {
        self.exact_line_is_old = true;
    }

    /// Takes the answer; the search is over.
    pub fn finish(&mut self, answer: Answer) {
        self.held = Some(answer);
        self.next_status = None;
    }

    /// The answer, if it is there and may be given, and the line to send before it: an exact one that
    /// shows the move, unless that was the last thing sent.
    pub fn take_answer(&mut self) -> Option<(Answer, Option<Info>)> {
        if self.must_hold() {
            return None;
        }
        let mut answer = self.held.take()?;
        let again = self.best_line.take().filter(|_| self.exact_line_is_old);
        let line = answer.closing.take().or(again);
        Some((answer, line))
    }

    /// A status line. Its node count never falls: in the engine, each line of an iteration has a count
    /// of its own.
    fn status(&mut self, now: Instant) -> Status {
        self.next_status = Some(now + PROGRESS_INTERVAL);
        self.exact_line_is_old = true;
        self.sent_nodes = self.sent_nodes.max(self.control.engine.nodes());
        Status {
            depth: self.control.engine.iteration(),
            nodes: self.sent_nodes,
            hash_full: self.hash_full,
            table_hits: self.table_hits.map(|_| self.control.engine.table_hits()),
            elapsed: now - self.started,
        }
    }

    /// The current root move, unless it was sent already.
    fn new_move(&mut self, board: &Board) -> Option<Reply> {
        let current = self.control.engine.current_move();
        let is_new = current != self.sent_move;
        self.sent_move = current;
        let CurrentMove { iteration: depth, mv, number } = current.filter(|_| is_new)?;
        Some(Reply::CurrentMove { depth, mv: board.uci_text(mv, self.chess960), number })
    }
}

/// A long command beyond UCI. It tells that it goes on, which finds out whether anybody reads.
#[derive(Debug)]
pub struct PendingCommand {
    name: &'static str,
    control: Arc<Control>,
    started: Instant,
    next_status: Instant,
}

impl PendingCommand {
    /// The command `name`, which begins now.
    #[must_use]
    pub fn new(name: &'static str) -> PendingCommand {
        let started = Instant::now();
        let next_status = started + PROGRESS_DELAY;
        PendingCommand { name, control: Arc::default(), started, next_status }
    }

    /// What is shared with the worker; it ends the command early.
    #[must_use]
    pub fn control(&self) -> &Arc<Control> {
        &self.control
    }

    /// The next moment at which [`Self::strike`] has something to do.
    #[must_use]
    pub fn next_due(&self) -> Instant {
        self.next_status
    }

    /// The progress line, if it is due.
    pub fn strike(&mut self, now: Instant) -> Option<Reply> {
        if self.next_status > now {
            return None;
        }
        self.next_status = now + PROGRESS_INTERVAL;
        let seconds = (now - self.started).as_secs();
        Some(Reply::Message(format!("{} goes on after {seconds} s", self.name)))
    }
}
