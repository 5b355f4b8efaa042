//! From clocks to thinking time.
//!
//! There are two limits. The *soft* one is asked for between iterations: is the next one worth
//! beginning? The *hard* one breaks whatever is going on. Both are durations from the moment the
//! clock began to run, which is the arrival of `go`, or of `ponderhit` after `go ponder`.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cairn_engine::moves::Move;
use cairn_engine::search::Control;

use crate::protocol::{Clock, Go};

/// How many moves the rest of the time has to last for when nobody says so. Games are longer, but
/// each move spends a share of what is left then, so the time never runs out, it only gets less.
const MOVES_AHEAD: u32 = 25;

/// For how many moves to come their overhead is kept back, where no increment makes up for it.
const COSTLY_MOVES: u32 = 50;

/// However much is kept back for the moves to come, one part in so many of the time is planned with.
const LEAST_SHARE: u32 = 8;

/// How much of an increment is planned to be spent at once, in percent. The rest builds a reserve.
const INCREMENT_SHARE: u32 = 75;

/// How far an iteration may run beyond the soft limit, as a multiple of it.
const OVERRUN: u32 = 4;

/// The most of the remaining time one move may take, in percent: a search that runs into its hard
/// limit still leaves as much for the rest of the game.
const HARD_SHARE: u32 = 50;

/// The same for the last move before a time control, after which there is new time. Not everything:
/// some GUIs count the moves differently.
const LAST_MOVE_SHARE: u32 = 80;

/// The shortest thinking time. Even with no time at all one iteration gives a better move than none.
pub const SHORTEST: Duration = Duration::from_millis(1);

/// The thinking time for a `go` whose limits could not be read: short, as somebody's clock may be
/// running, and long enough for a sensible move.
pub const UNREADABLE_LIMITS_TIME: Duration = Duration::from_millis(100);

/// The first depth of the exact search that has looked at moves; depth 1 is the bare evaluation.
const FIRST_DEPTH_WITH_MOVES: u32 = 2;

/// How long a search may take. Absent means as long as it wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// The time after which no further iteration is worth beginning.
    pub soft: Option<Duration>,
    /// The time at which the search is broken off.
    pub hard: Option<Duration>,
}

impl Budget {
    /// Plans the time for a `go`.
    ///
    /// `clock` is the clock of the side to move, `overhead` what a move costs beyond thinking, and
    /// `forced` says that there is just one move: then the clock is saved for a real decision.
    #[must_use]
    pub fn plan(go: &Go, clock: &Clock, overhead: Duration, forced: bool) -> Budget {
        let mut budget = Budget::default();
        if go.lost_its_limits(clock) {
            budget.hard = Some(UNREADABLE_LIMITS_TIME);
        }
        if let Some(time) = clock.time {
            let moves =
                go.moves_to_go.map_or(MOVES_AHEAD, |moves| u32::from(moves).min(MOVES_AHEAD));
            let increment = milliseconds(clock.increment.unwrap_or(0));
            let left = usable(time, overhead);
            // What the moves to come cost beyond thinking, where no increment makes up for it.
            let to_come =
                go.moves_to_go.map_or(u32::MAX, |moves| u32::from(moves.saturating_sub(1)));
            let reserve = overhead.saturating_sub(increment) * to_come.min(COSTLY_MOVES);
            let remaining = left.saturating_sub(reserve).max(left / LEAST_SHARE);
            let plan = remaining / moves.max(1) + increment * INCREMENT_SHARE / 100;
            let share = if moves == 1 { LAST_MOVE_SHARE } else { HARD_SHARE };
            let most = remaining * share / 100;
            budget.soft = Some(if forced { Duration::ZERO } else { plan.min(most) });
            budget.hard = Some((plan * OVERRUN).min(most).max(SHORTEST));
        }
        if let Some(time) = go.move_time {
            let most = usable(time, overhead).max(SHORTEST);
            budget.hard = Some(budget.hard.map_or(most, |hard| hard.min(most)));
        }
        if go.infinite {
            return Budget::default();
        }
        budget
    }
}

/// What is left of a time when the overhead has been taken off; nothing if that is more.
fn usable(time: i64, overhead: Duration) -> Duration {
    milliseconds(time).saturating_sub(overhead)
}

/// Milliseconds that may be negative, which is no time at all.
fn milliseconds(time: i64) -> Duration {
    Duration::from_millis(u64::try_from(time).unwrap_or(0))
}

/// How much of the soft limit may be used when another iteration of micro-Max begins, in permill. It
/// takes about five times as long as the one before it, so one that begins after a third of the time
/// is likely to end beyond it, and if the hard limit breaks it, it was for nothing.
const MICROMAX_SHARE: u32 = 330;

/// The same for the strong search while nothing speaks for haste or patience. Its iterations take
/// about half as much again as the one before, and one that is broken may have found a better move.
const CAIRN_SHARE: u32 = 750;

/// What the share is multiplied by, in permill, when the last so many iterations agreed on the move.
const BY_AGREEMENT: [u32; 6] = [1400, 1150, 1000, 900, 850, 800];

/// What each centipawn that the score falls by adds to the share, and each that it rises by takes
/// off, in permill.
const BY_SCORE: i32 = 8;
/// The largest rise and fall that count, in centipawns.
const SCORE_RANGE: (i32, i32) = (-20, 60);

/// The share is multiplied by this less the nodes that went into the best move, in permill of all,
/// times [`EFFORT_SLOPE`]: where nearly all was spent on one move there is little to decide.
const EFFORT_OFFSET: u32 = 1500;
/// See [`EFFORT_OFFSET`]; in permill.
const EFFORT_SLOPE: u32 = 1300;

/// How settled the answer of the strong search is, followed from iteration to iteration. Source of
/// the three signs: <https://www.chessprogramming.org/Time_Management>.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    best: Option<Move>,
    /// How many iterations have agreed with the one before them.
    agreed: usize,
    score: Option<i32>,
}

impl Pace {
    /// Takes a finished iteration and tells how much of the soft limit may be used when another one
    /// begins, in permill: `best` is its move, `score` in centipawns, and `effort` how much of the
    /// search went into the move, in permill.
    pub fn take(&mut self, best: Option<Move>, score: i32, effort: u32) -> u32 {
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

/// When a search begins to tell what it is at: the move under way, bounds, how many nodes. Quick
/// searches have no need of it, and some GUIs are slow to take many lines.
pub const PROGRESS_DELAY: Duration = Duration::from_secs(3);

/// The least time between two lines of a kind that only tell of progress.
pub const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// What the controller and the search share about one `go`. Each gets a fresh one, so that no `stop`
/// can be lost or end another search than the one it was meant for.
#[derive(Default)]
pub struct GoControl {
    /// The engine's part: the stop flag and the node count.
    pub engine: Control,
    /// When the clock began to run; empty while pondering.
    clock_started: OnceLock<Instant>,
    /// While pondering: the microseconds after which the search has had its time, 0 for unknown.
    ripe_after: AtomicU64,
}

impl GoControl {
    /// Starts the clock, at `go` or at `ponderhit`. Only the first call counts.
    pub fn start_clock(&self, at: Instant) {
        // An error only says that the clock runs already.
        let _ = self.clock_started.set(at);
    }

    /// Whether the search should end now that iteration `depth` is complete. `share` is what the
    /// strong search's [`Pace`] says, in permill. While pondering it goes on, and it is noted when it
    /// will be [ripe](Self::is_ripe).
    #[must_use]
    pub fn is_enough(&self, soft: Option<Duration>, share: Option<u32>, depth: u32) -> bool {
        let Some(soft) = soft else { return false };
        let time = soft * share.unwrap_or(MICROMAX_SHARE) / 1000;
        let has_move = depth >= FIRST_DEPTH_WITH_MOVES;
        if let Some(start) = self.clock_started.get() {
            has_move && start.elapsed() >= time
        } else {
            if has_move {
                self.ripe_after.store((time.as_micros() as u64).max(1), Ordering::Relaxed);
            }
            false
        }
    }

    /// Whether a search that has pondered for so long need not go on once the expected move is played.
    #[must_use]
    pub fn is_ripe(&self, pondered: Duration) -> bool {
        match self.ripe_after.load(Ordering::Relaxed) {
            0 => false,
            needed => pondered >= Duration::from_micros(needed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVERHEAD: Duration = Duration::from_millis(10);

    fn clock(time: i64, increment: i64) -> Clock {
        Clock { time: Some(time), increment: Some(increment) }
    }

    #[test]
    fn no_budget_exceeds_what_is_left() {
        for time in [-1_000_000, -1, 0, 1, 5, 10, 11, 12, 50, 100, 1_000, 60_000, 999_999_999_999] {
            for increment in [-5, 0, 1, 10, 100, 10_000, 999_999_999_999] {
                for moves_to_go in [None, Some(1), Some(2), Some(40), Some(255)] {
                    let go = Go { moves_to_go, ..Go::default() };
                    let budget = Budget::plan(&go, &clock(time, increment), OVERHEAD, false);
                    let hard = budget.hard.expect("a hard limit");
                    let soft = budget.soft.expect("a soft limit");
                    let left = milliseconds(time).saturating_sub(OVERHEAD);
                    assert!(soft <= left, "{time} {increment} {moves_to_go:?}");
                    assert!(hard <= left.max(SHORTEST), "{time} {increment} {moves_to_go:?}");
                    assert!(hard >= SHORTEST);
                }
            }
        }
    }

    #[test]
    fn a_whole_game_fits_into_its_clock() {
        // Each move is broken by its hard limit and then costs half of what the overhead allows for.
        for (start, increment) in [(100.0, 10.0), (1000.0, 10.0), (60_000.0, 600.0)] {
            let mut left: f64 = start;
            for _ in 0..400 {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "a GUI sends whole milliseconds"
                )]
                let sent = clock(left as i64, increment as i64);
                let hard =
                    Budget::plan(&Go::default(), &sent, OVERHEAD, false).hard.expect("a limit");
                left -= hard.as_secs_f64() * 1000.0 + 5.0;
                assert!(left >= 0.0, "{start}+{increment}");
                left += increment;
            }
        }
    }

    #[test]
    fn without_increment_time_is_kept_for_a_long_game() {
        // Each move takes its soft limit and a little more that nobody tells of.
        for (start, lag, moves) in [(100, 1, 80), (1000, 5, 110), (1000, 1, 300), (60_000, 5, 220)]
        {
            let mut left = Duration::from_millis(start);
            for number in 1..=moves {
                let sent = clock(left.as_millis() as i64, 0);
                let soft = Budget::plan(&Go::default(), &sent, OVERHEAD, false).soft;
                let cost = soft.expect("a limit") + Duration::from_millis(lag);
                assert!(cost <= left, "{start} ms, {lag} ms lag: flag falls at move {number}");
                left -= cost;
            }
        }
    }

    #[test]
    fn limits_apply_together() {
        let go = Go { move_time: Some(200), ..Go::default() };
        let both = Budget::plan(&go, &clock(60_000, 0), OVERHEAD, false);
        assert_eq!(both.hard, Some(Duration::from_millis(190)));
        let short = Budget::plan(&go, &clock(100, 0), OVERHEAD, false);
        assert!(short.hard < Some(Duration::from_millis(50)));
    }

    #[test]
    fn an_infinite_search_has_no_budget() {
        let go = Go { infinite: true, move_time: Some(5), ..Go::default() };
        assert_eq!(Budget::plan(&go, &clock(1000, 0), OVERHEAD, false), Budget::default());
        assert_eq!(
            Budget::plan(&Go::default(), &Clock::default(), OVERHEAD, false),
            Budget::default()
        );
    }

    #[test]
    fn limits_that_could_not_be_read_are_not_infinite() {
        let go = Go { unreadable: vec!["nodes 5k".into()], ..Go::default() };
        let budget = Budget::plan(&go, &Clock::default(), OVERHEAD, false);
        assert_eq!(budget.hard, Some(UNREADABLE_LIMITS_TIME));
    }

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
        let ends = |soft, depth| control.is_enough(soft, None, depth);
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
