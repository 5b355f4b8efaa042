//! The worker thread: jobs in, events out.
//!
//! It owns the searcher with its hash table, so whatever takes long (a search, a large allocation,
//! perft) happens here and the controller can always answer.

use std::any::Any;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use cairn_engine::board::Board;
use cairn_engine::moves::Move;
use cairn_engine::score::MATE;
use cairn_engine::search::{Bound, Limits, Outcome, Report, ScoreText, Searcher, Style, Verdict};
use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::clock::{GoControl, PROGRESS_DELAY, PROGRESS_INTERVAL, Pace};
use crate::openings::{self, Request};
use crate::options::DEFAULT_HASH;
use crate::protocol::Info;
use crate::signature;
use crate::views;
use crate::wdl::Wdl;

/// The stack of the worker, in bytes. Deep recursion must not depend on what a system gives to
/// threads; what is not used costs nothing.
pub const STACK: usize = 64 << 20;

/// A mate in so many moves is settled at the depth of this and so many plies more for each move.
const SETTLED_DEPTH: u32 = 8;
const SETTLED_FACTOR: u32 = 8;

/// What the worker can do.
pub enum Job {
    /// Brings the searcher in line with the options.
    Prepare(Setup),
    /// Searches.
    Search(Box<SearchJob>),
    /// Counts the legal move tree.
    Perft {
        /// Where from.
        board: Box<Board>,
        /// How deep, in plies.
        depth: u32,
        /// How castling is written.
        chess960: bool,
        /// Set to break it off.
        stop: Arc<AtomicBool>,
    },
    /// Searches the fixed positions.
    Bench(Option<u32>),
    /// Counts the nodes of a short bench, as a log says them.
    Signature,
    /// Makes up opening positions.
    Openings {
        /// How many, and from where.
        request: Request,
        /// Set to break it off.
        stop: Arc<AtomicBool>,
    },
}

/// What the options say about the searcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The search that is used.
    pub style: Style,
    /// The size of the hash table, in MiB.
    pub hash_mib: usize,
    /// Whether the table has to be emptied.
    pub clear: bool,
}

/// The point at which a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The nodes of the search, as far as they count.
    pub nodes: u64,
    /// The same for the silent second search, where there was one: micro-Max is asked again as if
    /// material were equal when it is so far ahead that it gives no move.
    pub retry: Option<u64>,
}

/// How a search came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Through its own limits, at this point; they suffice to repeat it.
    Itself(Cut),
    /// By a clock or a `stop`, at this point.
    Cut(Cut),
    /// By an internal error.
    Broke,
}

/// A search with all it needs.
pub struct SearchJob {
    /// The searcher to use.
    pub setup: Setup,
    /// The position, with the game up to it.
    pub board: Board,
    /// What the search counts itself.
    pub limits: Limits,
    /// The soft time limit.
    pub soft: Option<Duration>,
    /// When the `go` arrived.
    pub started: Instant,
    /// How castling is written.
    pub chess960: bool,
    /// Whether scores come with chances.
    pub show_wdl: bool,
    /// Where to end, for a search that is played again: where it was cut the first time.
    pub cut: Option<Cut>,
    /// What is shared with the controller.
    pub control: Arc<GoControl>,
}

/// What the worker tells.
#[derive(Debug)]
pub enum Event {
    /// A finished iteration, or line of it, or a bound on one that is under way.
    Line(Info),
    /// Something people should know.
    Note(String),
    /// A line of output of a command that is not UCI.
    Text(String),
    /// Why a command that is not UCI could not do what it was asked for.
    Failed(String),
    /// A hash table could not be had; one of this size, in MiB, is in use instead.
    HashKept(usize),
    /// The nodes of the short bench.
    Signature(u64),
    /// The job is done, and the worker waits for the next one.
    Done(Option<Answer>),
}

/// The answer to a `go`.
#[derive(Debug, PartialEq)]
pub struct Answer {
    /// The move to play, or none if there is no legal one.
    pub best: Option<String>,
    /// The reply that is expected.
    pub ponder: Option<String>,
    /// A last line where the reported ones do not say all about this answer.
    pub closing: Option<Info>,
    /// How the search came to its end.
    pub ending: Ending,
}

/// The handle of the worker thread.
#[derive(Debug)]
pub struct Worker {
    jobs: Sender<Job>,
    events: Receiver<Event>,
}

impl Worker {
    /// Starts the thread. It allocates nothing before its first job.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn spawn() -> io::Result<Worker> {
        let (jobs, queue) = unbounded();
        let (sender, events) = unbounded();
        thread::Builder::new().name("search".into()).stack_size(STACK).spawn(move || {
            let mut bench = Workbench { searcher: None, events: sender };
            for job in queue {
                bench.perform(job);
            }
        })?;
        Ok(Worker { jobs, events })
    }

    /// Hands over a job. There is one [`Event::Done`] for each.
    pub fn start(&self, job: Job) {
        // The worker outlives its handle and catches its panics, so it is there.
        let _ = self.jobs.send(job);
    }

    /// What the worker tells.
    pub fn events(&self) -> &Receiver<Event> {
        &self.events
    }
}

/// The state of the worker thread.
struct Workbench {
    searcher: Option<Searcher>,
    events: Sender<Event>,
}

impl Workbench {
    /// Does one job and tells that it is done, come what may.
    fn perform(&mut self, job: Job) {
        let answer = match job {
            Job::Search(job) => Some(self.search(&job)),
            other => {
                if let Err(reason) = guarded(|| self.perform_chore(other)) {
                    self.note(format!("internal error: {reason}"));
                    self.searcher = None;
                }
                None
            }
        };
        self.tell(Event::Done(answer));
    }

    /// Does a job that has no answer.
    fn perform_chore(&mut self, job: Job) {
        let events = self.events.clone();
        let mut print = |line: String| {
            // Nobody listens only when the program is about to end.
            let _ = events.send(Event::Text(line));
        };
        match job {
            Job::Prepare(setup) => {
                self.prepare(&setup);
            }
            Job::Perft { board, depth, chess960, stop } => {
                views::divide(&board, depth, chess960, &stop, &mut print);
            }
            Job::Bench(depth) => {
                if let Err(error) = views::bench(depth, &mut print) {
                    self.tell(Event::Failed(format!("bench: {error}")));
                }
            }
            Job::Signature => match signature::nodes() {
                Ok(nodes) => self.tell(Event::Signature(nodes)),
                Err(error) => self.note(format!("bench: {error}")),
            },
            Job::Openings { request, stop } => {
                if let Err(error) = openings::generate(&request, &stop, &mut print) {
                    self.tell(Event::Failed(format!("genfens: {error:#}")));
                }
            }
            Job::Search(_) => {}
        }
    }

    /// Searches. Whatever happens there is an answer, and the move in it is legal.
    fn search(&mut self, job: &SearchJob) -> Answer {
        let mut watch = Watch::new(job, self.events.clone());
        let outcome = guarded(|| {
            let searcher = self.prepare(&job.setup)?;
            let limits = job.limits();
            let sink = &mut |report: &Report<'_>| watch.take(report);
            Some(searcher.search(&job.board, &limits, &job.control.engine, sink))
        });
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(reason) => {
                self.note(format!("internal error: {reason}; the best move so far is played"));
                // What it was doing to its tables when it broke nobody knows.
                self.searcher = None;
                None
            }
        };
        for note in outcome.iter().flat_map(|outcome| &outcome.notes) {
            self.note(note.clone());
        }
        let ending = watch.ending(outcome.as_ref());
        job.answer(outcome.as_ref(), watch.best_line.as_ref(), ending)
    }

    /// The searcher, in line with the options as far as there is memory for it.
    fn prepare(&mut self, setup: &Setup) -> Option<&mut Searcher> {
        match self.searcher.take() {
            None => self.searcher = self.first_searcher(setup),
            Some(mut searcher) => {
                self.adjust(&mut searcher, setup);
                self.searcher = Some(searcher);
            }
        }
        self.searcher.as_mut()
    }

    /// A new searcher: of the size that is asked for, or of the default one, or the smallest.
    fn first_searcher(&self, setup: &Setup) -> Option<Searcher> {
        let error = match Searcher::new(setup.style, setup.hash_mib) {
            Ok(searcher) => return Some(searcher),
            Err(error) => error,
        };
        for mib in [DEFAULT_HASH.min(setup.hash_mib), 1] {
            if let Ok(searcher) = Searcher::new(setup.style, mib) {
                self.note(format!("{error}; the hash table has {mib} MiB"));
                self.tell(Event::HashKept(mib));
                return Some(searcher);
            }
        }
        self.note(format!("{error}; nothing can be searched"));
        None
    }

    /// Brings an existing searcher in line with the options.
    fn adjust(&self, searcher: &mut Searcher, setup: &Setup) {
        if searcher.style() != setup.style
            && let Err(error) = searcher.set_style(setup.style)
        {
            self.note(format!("the style is unchanged: {error}"));
        }
        if searcher.hash_mib() != setup.hash_mib
            && let Err(error) = searcher.resize(setup.hash_mib)
        {
            let kept = searcher.hash_mib();
            self.note(format!("{error}; the hash table keeps its {kept} MiB"));
            self.tell(Event::HashKept(kept));
        }
        if setup.clear {
            searcher.clear();
        }
    }

    fn note(&self, text: String) {
        self.tell(Event::Note(text));
    }

    fn tell(&self, event: Event) {
        // Nobody listens only when the program is about to end.
        let _ = self.events.send(event);
    }
}

/// Follows a search from report to report: passes them on, and says when there have been enough.
struct Watch<'a> {
    job: &'a SearchJob,
    events: Sender<Event>,
    /// How many lines make a complete iteration.
    lines: usize,
    /// The last line of rank 1.
    best_line: Option<Info>,
    /// The nodes at the end of the last silent iteration, if there was one.
    retry: Option<u64>,
    /// When the next bound may be told of, counted from the `go`.
    next_bound: Duration,
    /// The watch has told the search to stop.
    cut: bool,
    /// How settled the answer is, where the search tells.
    pace: Pace,
    /// How much of the soft limit may be used when another iteration begins, in permill.
    share: Option<u32>,
}

impl<'a> Watch<'a> {
    fn new(job: &'a SearchJob, events: Sender<Event>) -> Watch<'a> {
        let lines = expected_lines(job);
        let next_bound = PROGRESS_DELAY;
        Watch {
            job,
            events,
            lines,
            best_line: None,
            retry: None,
            next_bound,
            cut: false,
            pace: Pace::default(),
            share: None,
        }
    }

    /// Takes a report.
    fn take(&mut self, report: &Report<'_>) -> Verdict {
        if report.bound != Bound::Exact {
            self.take_bound(report);
            return Verdict::Continue;
        }
        if report.silent {
            self.retry = Some(report.nodes);
        } else {
            let info = self.job.describe(report);
            if info.multi_pv == 1 {
                self.best_line = Some(info.clone());
            }
            // Nobody listens only when the program is about to end.
            let _ = self.events.send(Event::Line(info));
        }
        if report.multi_pv == 1
            && let Some(effort) = report.effort
        {
            let score = clock_score(report.score);
            self.share = Some(self.pace.take(report.pv.first().copied(), score, effort));
        }
        let complete = report.silent || report.multi_pv >= self.lines;
        if complete && self.is_enough(report) {
            self.cut = true;
            return Verdict::Stop;
        }
        Verdict::Continue
    }

    /// Passes on that an iteration goes worse or better than expected: in long searches only, now and
    /// then, for one line only, and never as a mate, which nobody could check.
    fn take_bound(&mut self, report: &Report<'_>) {
        let elapsed = self.job.started.elapsed();
        let is_mate = matches!(report.score, ScoreText::Mate(_));
        if elapsed < self.next_bound || self.job.limits.multi_pv > 1 || is_mate {
            return;
        }
        self.next_bound = elapsed + PROGRESS_INTERVAL;
        // Nobody listens only when the program is about to end.
        let _ = self.events.send(Event::Line(self.job.describe(report)));
    }

    /// Whether to begin no further iteration: the time is up or, where a search is played again, the
    /// point is reached at which it was cut.
    fn is_enough(&self, report: &Report<'_>) -> bool {
        let job = self.job;
        let Some(cut) = job.cut else {
            return self.is_settled(report)
                || job.control.is_enough(job.soft, self.share, report.depth);
        };
        if report.silent {
            return cut.retry.is_some_and(|nodes| report.nodes >= nodes);
        }
        let reached = self.best_line.as_ref().is_some_and(|line| line.nodes >= cut.nodes);
        if reached && cut.retry.is_none() {
            // Nothing came after it the first time.
            job.control.engine.stop();
        }
        reached
    }

    /// Whether a mate has been looked at so much more deeply than it is long that no shorter one will
    /// come: dozens of iterations that take no time would only flood who reads them. What was asked to
    /// be searched in full is.
    fn is_settled(&self, report: &Report<'_>) -> bool {
        let Limits { depth: None, nodes: None, mate: None, multi_pv: 0..=1, .. } = self.job.limits
        else {
            return false;
        };
        match report.score {
            ScoreText::Mate(moves) => {
                report.depth >= SETTLED_DEPTH + SETTLED_FACTOR * moves.unsigned_abs()
            }
            ScoreText::Centipawns(_) => false,
        }
    }

    /// How the search has ended.
    fn ending(&self, outcome: Option<&Outcome>) -> Ending {
        let Some(outcome) = outcome else { return Ending::Broke };
        let shown = self.best_line.as_ref().filter(|_| self.retry.is_some());
        let nodes = shown.map_or(outcome.nodes, |line| line.nodes);
        let point = Cut { nodes, retry: self.retry };
        if self.cut || self.job.control.engine.is_stopped() {
            Ending::Cut(point)
        } else {
            Ending::Itself(point)
        }
    }
}

/// A score in centipawns, for whoever watches its ups and downs.
fn clock_score(score: ScoreText) -> i32 {
    match score {
        ScoreText::Centipawns(value) => value,
        ScoreText::Mate(moves) => MATE * moves.signum(),
    }
}

impl SearchJob {
    /// The limits for the engine. micro-Max completes the iteration in which a node limit is reached
    /// and knows of the limit in one place of its own (the probe of a stalemated root), so there a cut
    /// is made between iterations; any other search stops at the very node.
    fn limits(&self) -> Limits {
        let mut limits = self.limits.clone();
        if let Some(cut) = self.cut
            && (self.setup.style != Style::MicroMax || cut.nodes == 0)
        {
            limits.nodes = Some(limits.nodes.map_or(cut.nodes, |nodes| nodes.min(cut.nodes)));
        }
        limits
    }

    /// A report in words.
    fn describe(&self, report: &Report<'_>) -> Info {
        Info {
            depth: report.depth,
            seldepth: report.seldepth,
            multi_pv: report.multi_pv,
            score: report.score,
            bound: report.bound,
            wdl: self.wdl(report.score),
            nodes: report.nodes,
            elapsed: self.started.elapsed(),
            hash_full: report.hash_full,
            pv: self.line(report.pv, report.score),
        }
    }

    /// The chances that go with a score, if they are asked for.
    fn wdl(&self, score: ScoreText) -> Option<Wdl> {
        self.show_wdl.then(|| Wdl::of(score))
    }

    /// A principal variation in words, as far as it is legal and the game goes on. A mate that is not
    /// reached on the board is not shown: it would contradict its own score.
    fn line(&self, pv: &[Move], score: ScoreText) -> Vec<String> {
        let mut board = self.board.clone();
        let mut texts = Vec::with_capacity(pv.len());
        for &mv in pv {
            if !board.legal_moves().contains(&mv)
                || (!texts.is_empty() && board.outcome().is_some())
            {
                break;
            }
            texts.push(board.uci_text(mv, self.chess960));
            board.play(mv);
        }
        if texts.len() < pv.len() && matches!(score, ScoreText::Mate(_)) {
            texts.clear();
        }
        texts
    }

    /// The answer to this `go`, where `outcome` is missing if the search broke and `best_line` is the
    /// last line of rank 1 that was reported.
    fn answer(
        &self,
        outcome: Option<&Outcome>,
        best_line: Option<&Info>,
        ending: Ending,
    ) -> Answer {
        let found = outcome.and_then(|outcome| self.found(outcome));
        let best = found.or_else(|| best_line?.pv.first().cloned()).or_else(|| self.first_legal());
        let ponder = outcome.and_then(|outcome| self.expected_reply(outcome));
        let closing = self.closing_line(best.as_deref(), outcome, best_line);
        Answer { best, ponder, closing, ending }
    }

    /// The move a search has found, in words, if it is a legal one.
    fn found(&self, outcome: &Outcome) -> Option<String> {
        let best = outcome.best.filter(|best| self.board.legal_moves().contains(best))?;
        Some(self.board.uci_text(best, self.chess960))
    }

    /// Some legal move, if there is one.
    fn first_legal(&self) -> Option<String> {
        self.board.legal_moves().first().map(|&mv| self.board.uci_text(mv, self.chess960))
    }

    /// The reply that is expected to the move that was found, in words, if it is a legal one.
    fn expected_reply(&self, outcome: &Outcome) -> Option<String> {
        self.found(outcome)?;
        let mut board = self.board.clone();
        board.play(outcome.best?);
        let reply = outcome.ponder.filter(|reply| board.legal_moves().contains(reply))?;
        Some(board.uci_text(reply, self.chess960))
    }

    /// A last line, if the one that was reported last does not show the move that is played.
    fn closing_line(
        &self,
        best: Option<&str>,
        outcome: Option<&Outcome>,
        best_line: Option<&Info>,
    ) -> Option<Info> {
        let shown = best_line.is_some_and(|line| match line.pv.first() {
            Some(first) => Some(first.as_str()) == best,
            None => true,
        });
        if shown {
            return None;
        }
        let score = match outcome {
            Some(outcome) if best.is_some() => outcome.score,
            _ if best.is_none() && self.board.in_check() => ScoreText::Mate(0),
            _ => ScoreText::Centipawns(0),
        };
        // One move is no mate, so it would not fit to the score of one.
        let fitting = best.filter(|_| !matches!(score, ScoreText::Mate(_)));
        let depth = outcome.map_or(0, |outcome| outcome.depth);
        Some(Info {
            depth,
            seldepth: None,
            multi_pv: 1,
            score,
            bound: Bound::Exact,
            wdl: self.wdl(score),
            nodes: outcome.map_or(0, |outcome| outcome.nodes),
            elapsed: self.started.elapsed(),
            hash_full: 0,
            pv: fitting.map(str::to_owned).into_iter().collect(),
        })
    }
}

/// How many lines make a complete iteration.
fn expected_lines(job: &SearchJob) -> usize {
    let moves = match job.limits.search_moves.len() {
        0 => job.board.legal_moves().len(),
        restricted => restricted,
    };
    job.limits.multi_pv.min(moves)
}

/// Runs something that must not take the thread down with it. The error is what it died of.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|payload| reason_of(payload.as_ref()))
}

/// What a panic said.
fn reason_of(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string))
        .unwrap_or_else(|| "panic".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(fen: &str) -> SearchJob {
        SearchJob {
            setup: Setup { style: Style::MicroMax, hash_mib: 1, clear: false },
            board: Board::from_fen(fen).expect("a position"),
            limits: Limits::default(),
            soft: None,
            started: Instant::now(),
            chess960: false,
            show_wdl: false,
            cut: None,
            control: Arc::default(),
        }
    }

    fn line(moves: &[&str]) -> Info {
        Info {
            depth: 3,
            seldepth: Some(3),
            multi_pv: 1,
            score: ScoreText::Centipawns(5),
            bound: Bound::Exact,
            wdl: None,
            nodes: 100,
            elapsed: Duration::ZERO,
            hash_full: 0,
            pv: moves.iter().map(ToString::to_string).collect(),
        }
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn a_search_that_breaks_still_answers_with_a_legal_move() {
        let reason = guarded(|| -> u32 { panic!("slot {}", 7) }).expect_err("a panic");
        assert_eq!(reason, "slot 7");
        let start = job(START);
        let shown = line(&["g1f3", "g8f6"]);
        let answer = start.answer(None, Some(&shown), Ending::Broke);
        assert_eq!(answer.best.as_deref(), Some("g1f3"), "the best so far");
        assert_eq!(answer.closing, None);
        let blind = start.answer(None, None, Ending::Broke);
        let best = blind.best.expect("a move");
        assert!(start.board.parse_uci(&best).is_ok());
        assert_eq!(blind.closing.expect("a line").pv, [best]);
    }

    #[test]
    fn where_there_is_no_move_the_answer_says_so() {
        let mated = job("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1").answer(None, None, Ending::Broke);
        assert_eq!(mated.best, None);
        assert_eq!(mated.closing.expect("a line").score, ScoreText::Mate(0));
        let stalemated = job("7k/8/6QK/8/8/8/8/8 b - - 0 1").answer(None, None, Ending::Broke);
        assert_eq!(stalemated.best, None);
        assert_eq!(stalemated.closing.expect("a line").score, ScoreText::Centipawns(0));
    }

    #[test]
    fn a_line_ends_where_it_stops_being_legal() {
        let start = job(START);
        let first = start.board.parse_uci("e2e4").expect("legal");
        // White cannot move the same pawn again before black has answered.
        assert_eq!(start.line(&[first, first], ScoreText::Centipawns(0)), ["e2e4"]);
        assert!(start.line(&[first, first], ScoreText::Mate(2)).is_empty());
    }
}
