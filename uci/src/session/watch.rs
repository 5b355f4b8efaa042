//! The clock's judgement between iterations: passes reports on and says when to stop.

use std::time::Duration;

use cairn_engine::moves::Move;
use cairn_engine::search::{Bound, Limits, Outcome, Report, ScoreText, Verdict};
use crossbeam_channel::Sender;

use crate::protocol::Info;
use crate::session::messages::{
    Cut, Ending, Event, GoControl, PROGRESS_DELAY, PROGRESS_INTERVAL, SearchJob,
};

/// The first depth at which micro-Max has searched moves; depth 1 is the static evaluation.
const FIRST_DEPTH_WITH_MOVES: u32 = 2;

/// micro-Max begins no iteration after this share of the soft limit, in permill. An iteration takes
/// about five times as long as the one before, so one that begins after a third of the time will
/// probably not end in time, and one that is cut gives nothing.
const MICROMAX_SHARE: u32 = 330;

/// The same for the strong search, before the factors below. An iteration takes about 1.5 times as long
/// as the one before, and one that is cut may still have found a better move.
const CAIRN_SHARE: u32 = 750;

/// Factor on the share, in permill, by how many iterations in a row have kept the best move.
const BY_AGREEMENT: [u32; 6] = [1400, 1150, 1000, 900, 850, 800];

/// Added to the factor for each centipawn that the score falls, in permill; subtracted as it rises.
const BY_SCORE: i32 = 8;
/// The range of the fall, in centipawns; a rise is negative.
const SCORE_RANGE: (i32, i32) = (-20, 60);

/// Factor = (1500 - best move's node share) x 1.3, in permill: where nearly all nodes went into one move
/// there is little to decide.
const EFFORT_OFFSET: u32 = 1500;
/// See [`EFFORT_OFFSET`]; in permill.
const EFFORT_SLOPE: u32 = 1300;

/// How stable the best move of the strong search is: by agreement, score and effort. Source:
/// <https://www.chessprogramming.org/Time_Management>.
#[derive(Clone, Debug, Default)]
struct Pace {
    best: Option<Move>,
    /// How many iterations in a row have kept the best move.
    agreed: usize,
    score: Option<i32>,
}

impl Pace {
    /// Takes a finished iteration and returns the share of the soft limit, in permill, after which no
    /// other begins. `best` is its best move, `score` in centipawns, and `effort` the share of the nodes
    /// that went into the best move, in permill.
    fn take(&mut self, best: Option<Move>, score: i32, effort: u32) -> u32 {
        self.agreed = if self.best == best { self.agreed + 1 } else { 0 };
        self.best = best;
        let fall = self.score.replace(score).map_or(0, |before| before - score);
        let fall = fall.clamp(SCORE_RANGE.0, SCORE_RANGE.1);
        let by_agreement = BY_AGREEMENT[self.agreed.min(BY_AGREEMENT.len() - 1)];
        let by_score = (1000 + BY_SCORE * fall).unsigned_abs();
        let by_effort = EFFORT_OFFSET.saturating_sub(effort) * EFFORT_SLOPE / 1000;
        [by_agreement, by_score, by_effort]
            .iter()
            .fold(CAIRN_SHARE, |share, factor| share * factor / 1000)
    }
}

/// A mate is settled at this depth and [`SETTLED_FACTOR`] plies more for each of its moves.
const SETTLED_DEPTH: u32 = 8;
/// See [`SETTLED_DEPTH`]; in plies.
const SETTLED_FACTOR: u32 = 8;

/// Follows one search: sends its reports to the controller and says when to stop.
pub struct Watch<'a> {
    job: &'a SearchJob,
    events: Sender<Event>,
    /// How many lines make a complete iteration.
    lines: usize,
    /// The last exact line of rank 1.
    best_line: Option<Info>,
    /// The nodes at the end of the last silent iteration, if any.
    retry: Option<u64>,
    /// When the next bound may be sent, counted from the `go`.
    next_bound: Duration,
    /// This watch has stopped the search.
    cut: bool,
    /// The stability of the best move; not for micro-Max, which reports no effort.
    pace: Pace,
    /// What `pace` said last, in permill.
    share: Option<u32>,
}

impl<'a> Watch<'a> {
    /// A watch that sends to `events`.
    #[must_use]
    pub fn new(job: &'a SearchJob, events: Sender<Event>) -> Watch<'a> {
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

    /// Takes a report of the search and says whether it goes on.
    pub fn take(&mut self, report: &Report<'_>) -> Verdict {
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
            let score = report.score.to_score();
            self.share = Some(self.pace.take(report.pv.first().copied(), score, effort));
        }
        let complete = report.silent || report.multi_pv >= self.lines;
        if complete && self.is_enough(report) {
            self.cut = true;
            return Verdict::Stop;
        }
        Verdict::Continue
    }

    /// Sends a fail-low or fail-high: only late in a search, now and then, without MultiPV, and never a
    /// mate, which would have no line to check it by.
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

    /// Whether to begin no other iteration: time is up or, in a replay, the logged cut is reached.
    fn is_enough(&self, report: &Report<'_>) -> bool {
        let job = self.job;
        let Some(cut) = job.cut else {
            return self.is_settled(report)
                || is_time_up(&job.control, job.soft, self.share, report.depth);
        };
        if report.silent {
            return cut.retry.is_some_and(|nodes| report.nodes >= nodes);
        }
        let reached = self.best_line.as_ref().is_some_and(|line| line.nodes >= cut.nodes);
        if reached && cut.retry.is_none() {
            // Nothing came after this line the first time.
            job.control.engine.stop();
        }
        reached
    }

    /// Whether a mate was searched so much deeper than it is long that no shorter one will come: dozens
    /// of instant iterations would only flood the output. Explicit limits are searched in full.
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

    /// The last exact line of rank 1, if there was one.
    #[must_use]
    pub fn best_line(&self) -> Option<&Info> {
        self.best_line.as_ref()
    }

    /// How the search ended; `outcome` is missing if it broke.
    #[must_use]
    pub fn ending(&self, outcome: Option<&Outcome>) -> Ending {
        let Some(outcome) = outcome else { return Ending::Broke };
        let shown = self.best_line.as_ref().filter(|_| self.retry.is_some());
        let nodes = shown.map_or(outcome.nodes, |line| line.nodes);
        let main = outcome.leader_nodes.filter(|_| outcome.threads > 1);
        let point = Cut { nodes, retry: self.retry, main };
        if self.cut || self.job.control.engine.is_stopped() {
            Ending::Cut(point)
        } else {
            Ending::Itself(point)
        }
    }
}

/// Whether no other iteration should begin after iteration `depth`: the strong search's `share` of the
/// soft limit is used up, in permill, or micro-Max's own. While pondering the search goes on, and the
/// time that it needs is noted for `ponderhit`.
fn is_time_up(control: &GoControl, soft: Option<Duration>, share: Option<u32>, depth: u32) -> bool {
    let Some(soft) = soft else { return false };
    let time = soft * share.unwrap_or(MICROMAX_SHARE) / 1000;
    let has_move = depth >= FIRST_DEPTH_WITH_MOVES;
    if let Some(elapsed) = control.clock_elapsed() {
        return has_move && elapsed >= time;
    }
    if has_move {
        control.note_ripe_after(time);
    }
    false
}

/// How many lines make a complete iteration: MultiPV, or fewer if there are fewer moves.
fn expected_lines(job: &SearchJob) -> usize {
    let moves = match job.limits.search_moves.len() {
        0 => job.board.legal_moves().len(),
        restricted => restricted,
    };
    job.limits.multi_pv.min(moves)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_settled_answer_takes_less_time_than_one_in_doubt() {
        let (a, b) = (Move::from_raw(0x0123), Move::from_raw(0x0321));
        let mut settled = Pace::default();
        let shares: Vec<u32> = (0..8).map(|_| settled.take(a, 30, 900)).collect();
        assert!(shares.is_sorted_by(|earlier, later| earlier >= later), "{shares:?}");
        let calm = shares[7];
        assert!(settled.clone().take(b, 30, 900) > calm, "another move");
        assert!(settled.clone().take(a, 0, 900) > calm, "a worse score");
        assert!(settled.clone().take(a, 30, 400) > calm, "no move stands out");
        assert!(settled.clone().take(a, 60, 900) < calm, "a better score");
        assert!(settled.take(None, -8000, 1000) < 4000, "whatever happens");
    }

    #[test]
    fn the_soft_limit_waits_for_the_clock_and_for_a_move() {
        let control = GoControl::default();
        let soft = Some(Duration::ZERO);
        let ends = |soft, depth| is_time_up(&control, soft, None, depth);
        assert!(!ends(soft, 1), "no move has been looked at");
        assert!(!control.is_ripe(Duration::from_secs(9)));
        assert!(!ends(soft, 20), "pondering");
        assert!(control.is_ripe(Duration::from_secs(9)) && !control.is_ripe(Duration::ZERO));
        control.start_clock(Instant::now());
        assert!(!ends(soft, 1), "no move has been looked at");
        assert!(ends(soft, 2));
        assert!(!ends(None, 20), "no limit");
        assert!(!ends(Some(Duration::from_secs(100)), 20));
    }
}
