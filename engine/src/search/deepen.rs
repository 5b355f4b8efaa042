//! Iterative deepening, as each thread does it: iterations until a limit is reached, each with an aspiration
//! window around the last score, and with all lines of MultiPV before the next.
//!
//! Sources: <https://www.chessprogramming.org/Iterative_Deepening>,
//! <https://www.chessprogramming.org/Aspiration_Windows>.

use super::node::Root;
use super::root_lines::{self, Found, RootLine, Standing};
use super::thread::{MAX_DEPTH, Thread};
use super::tt::{Bound, TtView};
use super::{Limits, Verdict};
use crate::eval::Evaluator;
use crate::moves::Move;
use crate::params;
use crate::score::{DRAW, INFINITY, Score, Window, is_mate, is_proved};

/// Who hears what a thread finds.
pub(super) trait Listener {
    /// Takes a line: an exact one when its iteration is over, else a bound while it lasts. `number` is its
    /// rank, from 1. Answers whether another iteration begins: what is answered to the last line counts.
    fn hear(&mut self, number: usize, line: &RootLine, bound: Bound, at: &Standing) -> Verdict;
}

/// A thread with what it knows of the root.
pub(super) struct Deepening<'a, E: Evaluator, T: TtView> {
    thread: Thread<'a, E, T>,
    /// The root moves to search: all legal ones or those of `searchmoves`. Not empty.
    wanted: &'a [Move],
    limits: &'a Limits,
    /// The line that failed high in this iteration, while it is searched again.
    failed_high: Option<RootLine>,
}

impl<'a, E: Evaluator, T: TtView> Deepening<'a, E, T> {
    pub(super) fn new(
        mut thread: Thread<'a, E, T>,
        limits: &'a Limits,
        wanted: &'a [Move],
    ) -> Deepening<'a, E, T> {
        thread.found.best = RootLine::new(DRAW, 0, &wanted[..1]);
        Deepening { thread, wanted, limits, failed_high: None }
    }

    /// Searches until a limit is reached or `listener` has heard enough. Where the leader stops at a depth,
    /// helpers go on for as long as it needs to get there.
    pub(super) fn run(mut self, listener: &mut dyn Listener) -> (Found, T) {
        let lines = self.limits.multi_pv.clamp(1, self.wanted.len());
        let last_depth = match self.limits.depth {
            Some(depth) if self.thread.member.leads() => depth.clamp(1, MAX_DEPTH as u32) as i32,
            _ => MAX_DEPTH,
        };
        let mut last: Vec<RootLine> = Vec::new();
        for depth in 1..=last_depth {
            let mut done = self.iterate(depth, lines, &last, listener);
            if self.thread.stopped {
                if done.is_empty() {
                    done.extend(self.unfinished(depth, lines, last.is_empty()));
                }
                root_lines::complete(&mut done, &last, self.wanted, lines);
            }
            let mut verdict = Verdict::Continue;
            for (line, number) in done.iter().zip(1..) {
                verdict = self.tell(number, line, Bound::Exact, listener);
            }
            if let Some(best) = done.first().filter(|best| best.mv.is_some()) {
                self.thread.found = Found { best: best.clone(), standing: self.standing(best) };
            }
            if self.thread.stopped || verdict == Verdict::Stop {
                break;
            }
            last = done;
        }
        self.thread.publish_nodes();
        (self.thread.found, self.thread.tt)
    }

    /// One iteration: its lines, best first. `last` are those of the iteration before.
    fn iterate(
        &mut self,
        depth: i32,
        lines: usize,
        last: &[RootLine],
        listener: &mut dyn Listener,
    ) -> Vec<RootLine> {
        self.thread.begin_iteration(depth);
        let mut done: Vec<RootLine> = Vec::new();
        for number in 1..=lines {
            let better: Vec<Move> = done.iter().filter_map(|line| line.mv).collect();
            self.thread.root_moves =
                self.wanted.iter().copied().filter(|mv| !better.contains(mv)).collect();
            if let Some(tables) = self.thread.tables {
                tables.keep_best(&mut self.thread.root_moves);
            }
            let before = last.get(number - 1);
            self.thread.expected = before.and_then(|line| line.mv);
            self.thread.leaves_moves_out = self.thread.root_moves.len() < self.wanted.len()
                || !self.limits.search_moves.is_empty();
            let score = self.aspire(depth, number, before, listener);
            if self.thread.stopped {
                break;
            }
            done.push(self.line(score, depth, self.thread.pv()));
        }
        // A later line may score higher: an earlier one's search reduced its first move.
        root_lines::sort(&mut done);
        done
    }

    /// One line within an aspiration window, widened on the side where it fails.
    fn aspire(
        &mut self,
        depth: i32,
        number: usize,
        last: Option<&RootLine>,
        listener: &mut dyn Listener,
    ) -> Score {
        self.failed_high = None;
        let mut delta = params::aspiration_delta();
        // Around what the search finds: what tables say may be far from it at every depth.
        let mut window = match last.map(|best| best.searched) {
            Some(last) if depth >= params::aspiration_depth() && !is_proved(last) => {
                Window { alpha: (last - delta).max(-INFINITY), beta: (last + delta).min(INFINITY) }
            }
            _ => Window::FULL,
        };
        // After a fail high the root is searched less deeply, which costs less; its line is told with the
        // iteration's depth all the same.
        let mut less = 0;
        loop {
            self.thread.clear_pv();
            let reduced = (depth - less).max(1);
            let score = self.thread.search_node::<Root>(window, reduced, 0, false);
            if self.thread.stopped {
                return score;
            }
            delta *= params::aspiration_growth();
            if score <= window.alpha {
                self.failed_high = None;
                less = 0;
                // Fail low: no move raised alpha, so report the line of the last iteration.
                let pv = last.map_or(&[][..], |best| &best.pv);
                let line = self.line(score, depth, pv);
                self.tell(number, &line, Bound::Upper, listener);
                window.beta = i32::midpoint(window.alpha, window.beta);
                window.alpha =
                    if is_proved(score) { -INFINITY } else { (score - delta).max(-INFINITY) };
            } else if score >= window.beta {
                if !is_proved(score) {
                    less = (less + 1).min(params::aspiration_fail_high_plies());
                }
                let best = self.line(score, depth, self.thread.pv());
                self.tell(number, &best, Bound::Lower, listener);
                // A fail-high mate score has no line that shows the mate: fall back to the bound.
                let sure = if is_mate(best.score) { window.beta } else { best.score };
                self.failed_high = (!is_mate(sure)).then_some(RootLine { score: sure, ..best });
                window.beta =
                    if is_proved(score) { INFINITY } else { (score + delta).min(INFINITY) };
            } else {
                return score;
            }
        }
    }

    /// A line of the root, with the score that endgame tables say its move has, if they know it.
    fn line(&self, score: Score, depth: i32, pv: &[Move]) -> RootLine {
        let line = RootLine::new(score, depth as u32, pv);
        match self.thread.tables.and_then(|tables| tables.told(line.mv, score)) {
            Some(score) => RootLine { score, by_tables: true, ..line },
            None => line,
        }
    }

    /// Tells `listener` of a line.
    fn tell(
        &mut self,
        number: usize,
        line: &RootLine,
        bound: Bound,
        listener: &mut dyn Listener,
    ) -> Verdict {
        self.thread.publish_nodes();
        listener.hear(number, line, bound, &self.standing(line))
    }

    /// Where the thread stands now, as to this line.
    fn standing(&self, line: &RootLine) -> Standing {
        Standing {
            seldepth: self.thread.seldepth as u32,
            hash_full: self.thread.tt.fill(),
            effort: line.mv.map(|mv| self.thread.effort(mv)),
        }
    }

    /// After a stop within the first line of an iteration: a move that already raised alpha and is another one
    /// than the last iteration's. If only a fail-high is known, returns it as if it were exact: bestmove must
    /// match a shown PV. With several lines each rank needs one, so the first iteration always returns a line,
    /// if need be without a search.
    fn unfinished(&mut self, depth: i32, lines: usize, is_first: bool) -> Option<RootLine> {
        let found = self.line(self.thread.root_score, depth, self.thread.pv());
        let best = if found.pv.is_empty() { self.failed_high.take() } else { Some(found) };
        if lines > 1 && is_first {
            let unsearched = || self.line(DRAW, 0, &self.wanted[..1]);
            return Some(best.unwrap_or_else(unsearched));
        }
        best.filter(|best| self.thread.found.best.mv != best.mv)
    }
}
