//! Iterative deepening: iterations until a limit is reached, each with an aspiration window around the last
//! score, and with all lines of MultiPV before the next.
//!
//! Sources: <https://www.chessprogramming.org/Iterative_Deepening>,
//! <https://www.chessprogramming.org/Aspiration_Windows>.

use super::history::Histories;
use super::node::Root;
use super::root_lines::{self, RootLine};
use super::thread::{MAX_DEPTH, Thread};
use super::tt::{self, Bound, CairnTable};
use super::{Control, Limits, Outcome, Report, ScoreText, Verdict};
use crate::board::Board;
use crate::eval::Evaluator;
use crate::hash::Table;
use crate::machine::memory::{AllocationError, Remains};
use crate::moves::Move;
use crate::params;
use crate::score::{DRAW, INFINITY, Score, Window, is_mate};

/// The strong search: what it keeps from one move of a game to the next.
pub(super) struct Cairn {
    tt: CairnTable,
    histories: Box<Histories>,
}

impl Cairn {
    pub(super) fn new(hash_mib: usize) -> Result<Cairn, AllocationError> {
        Ok(Cairn { tt: Table::new(hash_mib)?, histories: Histories::new() })
    }

    pub(super) fn hash_mib(&self) -> usize {
        self.tt.mebibytes()
    }

    pub(super) fn clear_until(&mut self, hurried: &mut dyn FnMut() -> bool) -> Option<Remains> {
        self.histories = Histories::new();
        self.tt.clear_until(hurried)
    }

    pub(super) fn search<E: Evaluator>(
        &mut self,
        board: &Board,
        weights: &E::Weights,
        limits: &Limits,
        control: &Control,
        sink: &mut dyn FnMut(&Report<'_>) -> Verdict,
    ) -> Outcome {
        self.tt.next_generation();
        let legal = board.legal_moves();
        let mut wanted: Vec<Move> =
            legal.iter().copied().filter(|mv| limits.search_moves.contains(mv)).collect();
        if wanted.is_empty() {
            wanted = legal.to_vec();
        }
        let mut outcome = Outcome {
            best: wanted.first().copied(),
            ponder: None,
            score: if board.is_checkmate() {
                ScoreText::Mate(0)
            } else {
                ScoreText::from_score(DRAW)
            },
            depth: 0,
            nodes: 0,
            notes: Vec::new(),
        };
        if wanted.is_empty() {
            return outcome;
        }
        let node_limit = limits.nodes.unwrap_or(u64::MAX);
        let mut thread =
            Thread::<E>::new(board, &self.tt, &mut self.histories, control, node_limit, weights);
        thread.quiet_percent = limits.quiet_percent;
        let mut deepening =
            Deepening { thread, tt: &self.tt, control, wanted, limits, failed_high: None, sink };
        deepening.run(&mut outcome);
        outcome
    }
}

struct Deepening<'a, 'b, E: Evaluator> {
    thread: Thread<'a, E>,
    tt: &'a CairnTable,
    control: &'a Control,
    /// The root moves to search: all legal ones or those of `searchmoves`.
    wanted: Vec<Move>,
    limits: &'a Limits,
    /// The line that failed high in this iteration, while it is searched again.
    failed_high: Option<RootLine>,
    sink: &'b mut dyn FnMut(&Report<'_>) -> Verdict,
}

impl<E: Evaluator> Deepening<'_, '_, E> {
    fn run(&mut self, outcome: &mut Outcome) {
        let lines = self.limits.multi_pv.clamp(1, self.wanted.len());
        let last_depth =
            self.limits.depth.map_or(MAX_DEPTH, |depth| depth.clamp(1, MAX_DEPTH as u32) as i32);
        let mut last: Vec<RootLine> = Vec::new();
        for depth in 1..=last_depth {
            self.thread.root_depth = depth;
            self.thread.seldepth = 0;
            self.control.begin_iteration(depth as u32);
            let mut done: Vec<RootLine> = Vec::new();
            let mut verdict = Verdict::Continue;
            for number in 1..=lines {
                let better: Vec<Move> = done.iter().filter_map(|line| line.mv).collect();
                self.thread.root_moves =
                    self.wanted.iter().copied().filter(|mv| !better.contains(mv)).collect();
                let before = last.get(number - 1);
                self.thread.expected = before.and_then(|line| line.mv);
                self.thread.leaves_moves_out = self.thread.root_moves.len() < self.wanted.len()
                    || !self.limits.search_moves.is_empty();
                let score = self.aspire(depth, number, before);
                if self.thread.stopped {
                    break;
                }
                done.push(RootLine::new(score, depth as u32, self.thread.pv()));
            }
            // A later line may score higher: an earlier one's search reduced its first move.
            root_lines::sort(&mut done);
            if self.thread.stopped {
                if done.is_empty() {
                    done.extend(self.unfinished(depth, lines, &last, outcome));
                }
                root_lines::complete(&mut done, &last, &self.wanted, lines);
            }
            for (best, number) in done.iter().zip(1..) {
                verdict = self.report(number, best, Bound::Exact);
            }
            if let Some(best) = done.first() {
                adopt(best, outcome);
            }
            if self.thread.stopped || verdict == Verdict::Stop || self.mate_is_found(&done) {
                break;
            }
            last = done;
        }
        outcome.nodes = self.thread.nodes;
    }

    /// One iteration within an aspiration window, widened on the side where it fails.
    fn aspire(&mut self, depth: i32, number: usize, last: Option<&RootLine>) -> Score {
        self.failed_high = None;
        let mut delta = params::aspiration_delta();
        let mut window = match last.map(|best| best.score) {
            Some(last) if depth >= params::aspiration_depth() && !is_mate(last) => {
                Window { alpha: (last - delta).max(-INFINITY), beta: (last + delta).min(INFINITY) }
            }
            _ => Window::FULL,
        };
        loop {
            self.thread.clear_pv();
            let score = self.thread.search_node::<Root>(window, depth, 0, false);
            if self.thread.stopped {
                return score;
            }
            delta *= params::aspiration_growth();
            if score <= window.alpha {
                self.failed_high = None;
                // Fail low: no move raised alpha, so report the line of the last iteration.
                let pv = last.map_or(&[][..], |best| &best.pv);
                self.report(number, &RootLine::new(score, depth as u32, pv), Bound::Upper);
                window.beta = i32::midpoint(window.alpha, window.beta);
                window.alpha =
                    if is_mate(score) { -INFINITY } else { (score - delta).max(-INFINITY) };
            } else if score >= window.beta {
                let best = RootLine::new(score, depth as u32, self.thread.pv());
                self.report(number, &best, Bound::Lower);
                // A fail-high mate score has no line that shows the mate: fall back to the bound.
                let sure = if is_mate(best.score) { window.beta } else { best.score };
                self.failed_high = (!is_mate(sure)).then_some(RootLine { score: sure, ..best });
                window.beta = if is_mate(score) { INFINITY } else { (score + delta).min(INFINITY) };
            } else {
                return score;
            }
        }
    }

    fn report(&mut self, number: usize, best: &RootLine, bound: Bound) -> Verdict {
        let effort = best.mv.map(|mv| self.thread.effort(mv));
        (self.sink)(&Report {
            depth: best.depth,
            seldepth: Some(self.thread.seldepth as u32),
            multi_pv: number,
            score: ScoreText::from_score(best.score),
            bound,
            nodes: self.thread.nodes,
            hash_full: tt::fill(self.tt),
            effort,
            pv: &best.pv,
            silent: false,
        })
    }

    /// After a stop within the first line of an iteration: a move that already raised alpha and is another one
    /// than the last iteration's. If only a fail-high is known, returns it as if it were exact: bestmove must
    /// match a shown PV. With several lines each rank needs one, so the first iteration always returns a line,
    /// if need be without a search.
    fn unfinished(
        &mut self,
        depth: i32,
        lines: usize,
        last: &[RootLine],
        outcome: &Outcome,
    ) -> Option<RootLine> {
        let found = RootLine::new(self.thread.root_score, depth as u32, self.thread.pv());
        let best = if found.pv.is_empty() { self.failed_high.take() } else { Some(found) };
        if lines > 1 && last.is_empty() {
            let unsearched = || RootLine::new(DRAW, 0, &self.wanted[..1]);
            return Some(best.unwrap_or_else(unsearched));
        }
        best.filter(|best| outcome.best != best.mv)
    }

    /// Whether the mate that `go mate` asks for is found.
    fn mate_is_found(&self, done: &[RootLine]) -> bool {
        match (self.limits.mate, done.first().map(|best| ScoreText::from_score(best.score))) {
            (Some(asked), Some(ScoreText::Mate(moves))) => moves > 0 && moves as u32 <= asked,
            _ => false,
        }
    }
}

fn adopt(best: &RootLine, outcome: &mut Outcome) {
    if let Some(first) = best.mv {
        outcome.best = Some(first);
        outcome.ponder = best.pv.get(1).copied();
        outcome.score = ScoreText::from_score(best.score);
        outcome.depth = best.depth;
    }
}
