//! Deepening at the root: one iteration after the other until the node budget is spent, each with an
//! aspiration window around the last score, and all lines of MultiPV before the next.
//!
//! Sources: <https://www.chessprogramming.org/Iterative_Deepening>,
//! <https://www.chessprogramming.org/Aspiration_Windows>.

use super::entry::{self, Bound, CairnTable};
use super::history::Histories;
use super::node::{Line, MAX_DEPTH, Root, Thread};
use super::{Control, Limits, Outcome, Report, ScoreText, Verdict};
use crate::board::Board;
use crate::eval::Evaluator;
use crate::hash::Table;
use crate::machine::memory::AllocationError;
use crate::moves::Move;
use crate::params;
use crate::score::{DRAW, INFINITY, MATE, Score, Window, is_mate};
use std::cmp::Reverse;

/// The strong search with what it keeps from one move of a game to the next.
pub(super) struct Cairn {
    table: CairnTable,
    histories: Box<Histories>,
}

/// A finished line.
#[derive(Clone)]
struct Best {
    score: Score,
    line: Line,
}

fn score_text(score: Score) -> ScoreText {
    if !is_mate(score) {
        ScoreText::Centipawns(score)
    } else if score > 0 {
        ScoreText::Mate(MATE - score)
    } else {
        ScoreText::Mate(-(MATE + score))
    }
}

impl Cairn {
    pub(super) fn new(hash_mib: usize) -> Result<Cairn, AllocationError> {
        Ok(Cairn { table: Table::new(hash_mib)?, histories: Histories::new() })
    }

    pub(super) fn hash_mib(&self) -> usize {
        self.table.mebibytes()
    }

    pub(super) fn clear(&mut self) {
        self.table.clear();
        self.histories = Histories::new();
    }

    pub(super) fn search<E: Evaluator>(
        &mut self,
        board: &Board,
        weights: &E::Weights,
        limits: &Limits,
        control: &Control,
        sink: &mut dyn FnMut(&Report<'_>) -> Verdict,
    ) -> Outcome {
        self.table.next_generation();
        let legal = board.legal_moves();
        let mut wanted: Vec<Move> =
            legal.iter().copied().filter(|mv| limits.search_moves.contains(mv)).collect();
        if wanted.is_empty() {
            wanted = legal.to_vec();
        }
        let mut outcome = Outcome {
            best: wanted.first().copied(),
            ponder: None,
            score: if board.is_checkmate() { ScoreText::Mate(0) } else { score_text(DRAW) },
            depth: 0,
            nodes: 0,
            notes: Vec::new(),
        };
        if wanted.is_empty() {
            return outcome;
        }
        let node_limit = limits.nodes.unwrap_or(u64::MAX);
        let (table, histories) = (&self.table, &mut self.histories);
        let mut thread = Thread::<E>::new(board, table, histories, control, node_limit, weights);
        thread.attention = limits.attention;
        let mut deepening = Deepening {
            thread,
            table: &self.table,
            control,
            wanted,
            limits,
            failed_high: None,
            sink,
        };
        deepening.run(&mut outcome);
        outcome
    }
}

struct Deepening<'a, 'b, E: Evaluator> {
    thread: Thread<'a, E>,
    table: &'a CairnTable,
    control: &'a Control,
    /// The root moves to look at.
    wanted: Vec<Move>,
    limits: &'a Limits,
    /// What proved better than expected in this iteration, until it is searched again.
    failed_high: Option<Best>,
    sink: &'b mut dyn FnMut(&Report<'_>) -> Verdict,
}

impl<E: Evaluator> Deepening<'_, '_, E> {
    fn run(&mut self, outcome: &mut Outcome) {
        let lines = self.limits.multi_pv.clamp(1, self.wanted.len());
        let last_depth =
            self.limits.depth.map_or(MAX_DEPTH, |depth| depth.clamp(1, MAX_DEPTH as u32) as i32);
        let mut last: Vec<Best> = Vec::new();
        for depth in 1..=last_depth {
            self.thread.seldepth = 0;
            self.control.begin_iteration(depth as u32);
            let mut done: Vec<Best> = Vec::new();
            let mut verdict = Verdict::Continue;
            for number in 1..=lines {
                let better: Vec<Move> =
                    done.iter().filter_map(|best| best.line.first().copied()).collect();
                self.thread.root_moves =
                    self.wanted.iter().copied().filter(|mv| !better.contains(mv)).collect();
                let before = last.get(number - 1);
                self.thread.expected = before.and_then(|best| best.line.first().copied());
                self.thread.leaves_moves_out = self.thread.root_moves.len() < self.wanted.len()
                    || !self.limits.search_moves.is_empty();
                let score = self.aspire(depth, number, before);
                if self.thread.stopped {
                    break;
                }
                done.push(Best { score, line: self.thread.line().iter().copied().collect() });
            }
            // A later line may turn out better than an earlier one, whose search looked at its first
            // move less closely.
            done.sort_by_key(|best| Reverse(best.score));
            for (best, number) in done.iter().zip(1..) {
                verdict = self.report(depth, number, best, Bound::Exact);
            }
            if self.thread.stopped {
                self.adopt_unfinished(depth, &done, outcome);
                break;
            }
            if let Some(best) = done.first() {
                adopt(best, depth, outcome);
            }
            if verdict == Verdict::Stop || self.mate_is_found(&done) {
                break;
            }
            last = done;
        }
        outcome.nodes = self.thread.nodes;
    }

    /// An iteration with a window around the last score, opened where that proves wrong.
    fn aspire(&mut self, depth: i32, number: usize, last: Option<&Best>) -> Score {
        self.failed_high = None;
        let mut delta = params::aspiration_delta();
        let mut window = match last.map(|best| best.score) {
            Some(last) if depth >= params::aspiration_depth() && !is_mate(last) => {
                Window { alpha: (last - delta).max(-INFINITY), beta: (last + delta).min(INFINITY) }
            }
            _ => Window::FULL,
        };
        loop {
            self.thread.clear_line();
            let score = self.thread.visit::<Root>(window, depth, 0, false);
            if self.thread.stopped {
                return score;
            }
            delta *= params::aspiration_growth();
            if score <= window.alpha {
                self.failed_high = None;
                // No move is good enough, so the line is the one that was expected.
                let line = last.map(|best| best.line.clone()).unwrap_or_default();
                self.report(depth, number, &Best { score, line }, Bound::Upper);
                window.beta = i32::midpoint(window.alpha, window.beta);
                window.alpha =
                    if is_mate(score) { -INFINITY } else { (score - delta).max(-INFINITY) };
            } else if score >= window.beta {
                let line = self.thread.line().iter().copied().collect();
                let best = Best { score, line };
                self.report(depth, number, &best, Bound::Lower);
                // A mate in so many moves would need a line that shows it: the window is what is sure.
                let sure = if is_mate(best.score) { window.beta } else { best.score };
                self.failed_high = (!is_mate(sure)).then_some(Best { score: sure, ..best });
                window.beta = if is_mate(score) { INFINITY } else { (score + delta).min(INFINITY) };
            } else {
                return score;
            }
        }
    }

    fn report(&mut self, depth: i32, number: usize, best: &Best, bound: Bound) -> Verdict {
        let effort = best.line.first().map(|&mv| self.thread.effort(mv));
        (self.sink)(&Report {
            depth: depth as u32,
            seldepth: Some(self.thread.seldepth as u32),
            multi_pv: number,
            score: score_text(best.score),
            bound,
            nodes: self.thread.nodes,
            hash_full: entry::fill(self.table),
            effort,
            pv: &best.line,
            silent: false,
        })
    }

    /// A search stopped within the first line of an iteration may have found a better move already,
    /// in this window or in the one before. Of the latter only a bound is known; it is told as if it were
    /// the score, as a move is played whose line was shown.
    fn adopt_unfinished(&mut self, depth: i32, done: &[Best], outcome: &mut Outcome) {
        if let Some(best) = done.first() {
            adopt(best, depth, outcome);
            return;
        }
        let line: Line = self.thread.line().iter().copied().collect();
        let found = Best { score: self.thread.root_score, line };
        let best = if found.line.is_empty() { self.failed_high.take() } else { Some(found) };
        if let Some(best) = best
            && outcome.best != best.line.first().copied()
        {
            self.report(depth, 1, &best, Bound::Exact);
            adopt(&best, depth, outcome);
        }
    }

    /// Whether the mate that was asked for has been proved.
    fn mate_is_found(&self, done: &[Best]) -> bool {
        match (self.limits.mate, done.first().map(|best| score_text(best.score))) {
            (Some(asked), Some(ScoreText::Mate(moves))) => moves > 0 && moves as u32 <= asked,
            _ => false,
        }
    }
}

fn adopt(best: &Best, depth: i32, outcome: &mut Outcome) {
    if let Some(&first) = best.line.first() {
        outcome.best = Some(first);
        outcome.ponder = best.line.get(1).copied();
        outcome.score = score_text(best.score);
        outcome.depth = depth as u32;
    }
}
