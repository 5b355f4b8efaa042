//! A search as a function: a position, limits and options in, typed lines out.
//!
//! For whoever wants results and not a dialogue: the command `go`, and analysis of many positions.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use cairn_engine::board::Board;
use cairn_engine::moves::Move;
use cairn_engine::piece::Side;
use crossbeam_channel::RecvTimeoutError;

use crate::protocol::{Go, Info};
use crate::session::clock::SHORTEST;
use crate::session::messages::{
    Answer, Cut, Ending, Event, GoControl, Job, SearchJob, SearcherSetup,
};
use crate::session::network;
use crate::session::options::Settings;
use crate::session::plan;
use crate::session::tables::{self, Chosen};
use crate::session::worker::Worker;

/// What an analysis finds, in the order in which it is found.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// A line of a finished iteration, or a bound on one that is under way.
    Line(Line),
    /// Something that people should know, such as a hash table that could not be had.
    Note(String),
    /// The end. Nothing follows.
    End(End),
}

/// A line of the search; all of its moves are legal.
pub type Line = Info<Move>;

/// How an analysis has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The best move, or none where there is no legal one.
    pub best: Option<Move>,
    /// The reply that is expected to it.
    pub ponder: Option<Move>,
    /// All nodes of the search; missing after an internal error.
    pub nodes: Option<u64>,
    /// Whether a clock or [`Analysis::stop`] has ended it, so that it may end elsewhere the next time.
    pub is_cut: bool,
}

/// Searches `position`, with its history, within `limits`, from an empty hash table. The search runs
/// on a thread of its own and goes on between the calls of the iterator; one that is dropped is
/// stopped. Without a limit it goes on until then.
///
/// # Errors
/// When one of the root moves is illegal, the network of the options cannot be read, or a thread cannot be started.
pub fn analyze(position: &Board, limits: &Go, options: &Settings) -> Result<Analysis> {
    analyze_with(position, limits, options, &tables::chosen(&mut options.syzygy_path.clone()))
}

/// The same with endgame tables that were read before, as many searches share them.
///
/// # Errors
/// As for [`analyze`].
pub fn analyze_with(
    position: &Board,
    limits: &Go,
    options: &Settings,
    tables: &Chosen,
) -> Result<Analysis> {
    begin(&Arc::new(Worker::spawn()?), position, limits, options, tables)
}

/// Searches one position after the other with one hash table and one set of histories: what was learnt from a
/// position helps with the next. Both are empty in the beginning.
pub struct Analyst {
    worker: Arc<Worker>,
}

impl Analyst {
    /// An analyst who knows nothing yet.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn new() -> Result<Analyst> {
        Ok(Analyst { worker: Arc::new(Worker::spawn()?) })
    }

    /// All that a search finds, as [`analyze_with`] tells it; it should have a limit. With other options that belong to
    /// the hash table the memory is a new one.
    ///
    /// # Errors
    /// As for [`analyze`].
    pub fn analyze(
        &mut self,
        position: &Board,
        limits: &Go,
        options: &Settings,
        tables: &Chosen,
    ) -> Result<Vec<Finding>> {
        Ok(begin(&self.worker, position, limits, options, tables)?.collect())
    }
}

/// Begins a search on a worker that has no other.
fn begin(
    worker: &Arc<Worker>,
    position: &Board,
    limits: &Go,
    options: &Settings,
    Chosen { tables, remarks, .. }: &Chosen,
) -> Result<Analysis> {
    let started = Instant::now();
    let loaded =
        network::chosen(&mut options.eval_file.clone()).map_err(|refusal| anyhow!(refusal))?;
    let mut search_moves = Vec::new();
    for text in &limits.search_moves {
        match position.parse_uci(text) {
            Ok(mv) if search_moves.contains(&mv) => {}
            Ok(mv) => search_moves.push(mv),
            Err(error) => bail!("searchmoves: {error}"),
        }
    }
    let clock = match position.side_to_move() {
        Side::White => limits.white,
        Side::Black => limits.black,
    };
    let choices = match search_moves.len() {
        0 => position.legal_moves().len(),
        some => some,
    };
    let time_limits = plan::time_limits(options, limits, &clock, choices == 1);
    #[cfg(feature = "tune")]
    options.apply_params();
    let control: Arc<GoControl> = Arc::default();
    control.start_clock(started);
    worker.start(Job::Search(Box::new(SearchJob {
        setup: SearcherSetup {
            style: options.style,
            hash_mib: options.hash_mib,
            threads: options.threads,
            deterministic: options.deterministic,
            clear: false,
            loaded,
        },
        board: position.clone(),
        limits: plan::engine_limits(options, limits, search_moves, tables.as_ref()),
        soft: time_limits.soft,
        timed: time_limits.hard.is_some(),
        started,
        // The notation of castling that can be read without doubt.
        chess960: true,
        show_wdl: options.show_wdl,
        cut: None,
        control: Arc::clone(&control),
    })));
    Ok(Analysis {
        position: position.clone(),
        worker: Arc::clone(worker),
        control,
        deadline: time_limits.hard.map(|hard| (started + hard).max(Instant::now() + SHORTEST)),
        found: remarks
            .iter()
            .cloned()
            .chain(plan::remark_on_limits(limits, &clock))
            .map(Finding::Note)
            .collect(),
        has_ended: false,
    })
}

/// A search under way: the iterator over what it finds.
pub struct Analysis {
    position: Board,
    worker: Arc<Worker>,
    control: Arc<GoControl>,
    /// When the search is stopped.
    deadline: Option<Instant>,
    /// What is known and was not yet asked for.
    found: VecDeque<Finding>,
    has_ended: bool,
}

impl Analysis {
    /// Ends the search as soon as possible; what it has found is still told, and the end.
    pub fn stop(&self) {
        self.control.engine.stop();
    }

    /// The next event of the worker. Stops the search at its deadline.
    fn next_event(&mut self) -> Option<Event> {
        let events = self.worker.events();
        if let Some(deadline) = self.deadline.take() {
            match events.recv_deadline(deadline) {
                Err(RecvTimeoutError::Timeout) => self.control.engine.stop(),
                event => {
                    self.deadline = Some(deadline);
                    return event.ok();
                }
            }
        }
        events.recv().ok()
    }

    /// Takes over the answer, with the last line that belongs to it.
    fn end(&mut self, answer: &Answer) {
        self.has_ended = true;
        if let Some(info) = &answer.closing {
            self.found.push_back(Finding::Line(self.line(info)));
        }
        let (nodes, is_cut) = match answer.ending {
            Ending::Itself(Cut { nodes, .. }) => (Some(nodes), false),
            Ending::Cut(Cut { nodes, .. }) => (Some(nodes), true),
            Ending::Broke => (None, true),
        };
        let texts: Vec<String> = answer.best.iter().chain(answer.ponder.iter()).cloned().collect();
        let mut moves = self.moves(&texts).into_iter();
        let (best, ponder) = (moves.next(), moves.next());
        self.found.push_back(Finding::End(End { best, ponder, nodes, is_cut }));
    }

    fn line(&self, info: &Info) -> Line {
        info.with_pv(self.moves(&info.pv))
    }

    /// Moves that the worker has written down.
    fn moves(&self, texts: &[String]) -> Vec<Move> {
        let mut board = self.position.clone();
        let mut moves = Vec::with_capacity(texts.len());
        for text in texts {
            let Ok(mv) = board.parse_uci(text) else { break };
            moves.push(mv);
            board.play(mv);
        }
        moves
    }
}

impl Iterator for Analysis {
    type Item = Finding;

    fn next(&mut self) -> Option<Finding> {
        loop {
            if let Some(finding) = self.found.pop_front() {
                return Some(finding);
            }
            if self.has_ended {
                return None;
            }
            match self.next_event() {
                Some(Event::Line(info)) => self.found.push_back(Finding::Line(self.line(&info))),
                Some(Event::Note(text)) => self.found.push_back(Finding::Note(text)),
                Some(Event::Done(Some(answer))) => self.end(&answer),
                Some(Event::Done(None)) | None => self.has_ended = true,
                Some(
                    Event::Text(_)
                    | Event::Failed(_)
                    | Event::HashKept(_)
                    | Event::Signature(_)
                    | Event::Loaded(_)
                    | Event::HashFile(..)
                    | Event::TablesLoaded { .. },
                ) => {}
            }
        }
    }
}

impl Drop for Analysis {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn findings(fen: &str, limits: &Go, options: &Settings) -> Vec<Finding> {
        let board = Board::from_fen(fen).expect("a FEN");
        analyze(&board, limits, options).expect("an analysis").collect()
    }

    /// The lines without their times, which differ from run to run, and the end.
    fn timeless(findings: &[Finding]) -> Vec<Finding> {
        let mut findings = findings.to_vec();
        for finding in &mut findings {
            if let Finding::Line(line) = finding {
                line.elapsed = Duration::ZERO;
            }
        }
        findings
    }

    const MIDDLEGAME: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

    #[test]
    fn the_same_analysis_finds_the_same_whatever_was_analysed_before() {
        let limits = Go { nodes: Some(5000), ..Go::default() };
        let options = Settings { multi_pv: 3, ..Settings::default() };
        let first = timeless(&findings(MIDDLEGAME, &limits, &options));
        findings("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", &limits, &options);
        assert_eq!(first, timeless(&findings(MIDDLEGAME, &limits, &options)));
        let ranks: Vec<usize> = first
            .iter()
            .filter_map(|finding| match finding {
                Finding::Line(line) => Some(line.multi_pv),
                _ => None,
            })
            .collect();
        assert!([1, 2, 3].iter().all(|rank| ranks.contains(rank)), "{ranks:?}");
        let Some(Finding::End(end)) = first.last() else { panic!("no end: {first:?}") };
        assert_eq!((end.nodes, end.is_cut), (Some(5000), false));
    }

    #[test]
    fn a_game_that_is_over_has_no_best_move_and_castling_is_a_move() {
        let limits = Go { depth: Some(3), ..Go::default() };
        let mated = findings("R5k1/5ppp/8/8/8/8/8/K7 b - - 0 1", &limits, &Settings::default());
        let Some(Finding::End(end)) = mated.last() else { panic!("no end: {mated:?}") };
        assert_eq!(end.best, None);
        let castles = Go { search_moves: vec!["e1g1".into()], ..limits };
        let castled = findings(MIDDLEGAME, &castles, &Settings::default());
        let Some(Finding::End(End { best: Some(best), .. })) = castled.last() else {
            panic!("no move: {castled:?}")
        };
        assert_eq!(best.to().to_string(), "h1", "the king takes its own rook");
    }

    #[test]
    fn a_search_without_limits_ends_when_it_is_told_to_or_dropped() {
        let board = Board::startpos();
        let mut analysis =
            analyze(&board, &Go::default(), &Settings::default()).expect("an analysis");
        assert!(matches!(analysis.next(), Some(Finding::Line(_))));
        analysis.stop();
        let Some(Finding::End(end)) = analysis.last() else { panic!("no end") };
        assert!(end.is_cut && end.best.is_some());
        let started = Instant::now();
        drop(analyze(&board, &Go::default(), &Settings::default()));
        let timed = Go { move_time: Some(20), ..Go::default() };
        analyze(&board, &timed, &Settings::default()).expect("an analysis").for_each(drop);
        assert!(started.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn an_illegal_root_move_is_refused() {
        let limits = Go { search_moves: vec!["e2e5".into()], depth: Some(1), ..Go::default() };
        let error = analyze(&Board::startpos(), &limits, &Settings::default()).err().expect("e2e5");
        assert!(error.to_string().contains("e2e5"));
    }
}
