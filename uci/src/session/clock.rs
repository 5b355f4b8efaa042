//! From clocks to thinking time.
//!
//! There are two limits. The *soft* one is tested between iterations: is another one worth beginning?
//! The *hard* one stops the search at any node. Both count from the start of the clock, which is the
//! arrival of `go`, or of `ponderhit` after `go ponder`.

use std::time::Duration;

use crate::protocol::{Clock, Go};

/// How many moves the time has to last for without `movestogo`. Games are longer, but each move plans
/// with what is then left, so the time never runs out.
const MOVES_AHEAD: u32 = 25;

/// For how many moves ahead the overhead is kept back, where no increment makes up for it.
const COSTLY_MOVES: u32 = 50;

/// At least one part in so many of the time is planned with, however much is kept back.
const LEAST_SHARE: u32 = 8;

/// How much of the increment is planned for this move, in percent; the rest builds a reserve.
const INCREMENT_SHARE: u32 = 75;

/// The hard limit as a multiple of the planned time.
const OVERRUN: u32 = 4;

/// The largest share of the remaining time that one move may take, in percent.
const HARD_SHARE: u32 = 50;

/// The same for the last move before a time control. Not all of it: some GUIs count the moves
/// differently.
const LAST_MOVE_SHARE: u32 = 80;

/// The shortest thinking time: with no time at all, one iteration is still better than none.
pub const SHORTEST: Duration = Duration::from_millis(1);

/// The thinking time for a `go` without a readable limit: short, as a clock may be running, and long
/// enough for a sensible move.
pub const UNREADABLE_LIMITS_TIME: Duration = Duration::from_millis(100);

/// The time limits of a search, from the start of the clock; none where there is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeLimits {
    /// The time for which the iterations are planned.
    pub soft: Option<Duration>,
    /// The time at which the search is stopped.
    pub hard: Option<Duration>,
}

impl TimeLimits {
    /// Plans the time for a `go`.
    ///
    /// `clock` is that of the side to move and `overhead` what a move costs beyond thinking. `forced`
    /// says that there is only one move; then no time is spent on it.
    #[must_use]
    pub fn plan(go: &Go, clock: &Clock, overhead: Duration, forced: bool) -> TimeLimits {
        let mut limits = TimeLimits::default();
        if go.lost_its_limits(clock) {
            limits.hard = Some(UNREADABLE_LIMITS_TIME);
        }
        if let Some(time) = clock.time {
            let moves =
                go.moves_to_go.map_or(MOVES_AHEAD, |moves| u32::from(moves).min(MOVES_AHEAD));
            let increment = milliseconds(clock.increment.unwrap_or(0));
            let left = usable(time, overhead);
            let to_come =
                go.moves_to_go.map_or(u32::MAX, |moves| u32::from(moves.saturating_sub(1)));
            let reserve = overhead.saturating_sub(increment) * to_come.min(COSTLY_MOVES);
            let remaining = left.saturating_sub(reserve).max(left / LEAST_SHARE);
            let plan = remaining / moves.max(1) + increment * INCREMENT_SHARE / 100;
            let share = if moves == 1 { LAST_MOVE_SHARE } else { HARD_SHARE };
            let most = remaining * share / 100;
            limits.soft = Some(if forced { Duration::ZERO } else { plan.min(most) });
            limits.hard = Some((plan * OVERRUN).min(most).max(SHORTEST));
        }
        if let Some(time) = go.move_time {
            let most = usable(time, overhead).max(SHORTEST);
            limits.hard = Some(limits.hard.map_or(most, |hard| hard.min(most)));
        }
        if go.infinite {
            return TimeLimits::default();
        }
        limits
    }
}

/// A time in milliseconds less the overhead, at least nothing.
fn usable(time: i64, overhead: Duration) -> Duration {
    milliseconds(time).saturating_sub(overhead)
}

/// Milliseconds as a duration; negative ones are none.
fn milliseconds(time: i64) -> Duration {
    Duration::from_millis(u64::try_from(time).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVERHEAD: Duration = Duration::from_millis(10);

    fn clock(time: i64, increment: i64) -> Clock {
        Clock { time: Some(time), increment: Some(increment) }
    }

    #[test]
    fn no_limit_exceeds_what_is_left() {
        for time in [-1_000_000, -1, 0, 1, 5, 10, 11, 12, 50, 100, 1_000, 60_000, 999_999_999_999] {
            for increment in [-5, 0, 1, 10, 100, 10_000, 999_999_999_999] {
                for moves_to_go in [None, Some(1), Some(2), Some(40), Some(255)] {
                    let go = Go { moves_to_go, ..Go::default() };
                    let limits = TimeLimits::plan(&go, &clock(time, increment), OVERHEAD, false);
                    let hard = limits.hard.expect("a hard limit");
                    let soft = limits.soft.expect("a soft limit");
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
                    TimeLimits::plan(&Go::default(), &sent, OVERHEAD, false).hard.expect("a limit");
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
                let soft = TimeLimits::plan(&Go::default(), &sent, OVERHEAD, false).soft;
                let cost = soft.expect("a limit") + Duration::from_millis(lag);
                assert!(cost <= left, "{start} ms, {lag} ms lag: flag falls at move {number}");
                left -= cost;
            }
        }
    }

    #[test]
    fn limits_apply_together() {
        let go = Go { move_time: Some(200), ..Go::default() };
        let both = TimeLimits::plan(&go, &clock(60_000, 0), OVERHEAD, false);
        assert_eq!(both.hard, Some(Duration::from_millis(190)));
        let short = TimeLimits::plan(&go, &clock(100, 0), OVERHEAD, false);
        assert!(short.hard < Some(Duration::from_millis(50)));
    }

    #[test]
    fn an_infinite_search_has_no_time_limits() {
        let go = Go { infinite: true, move_time: Some(5), ..Go::default() };
        assert_eq!(TimeLimits::plan(&go, &clock(1000, 0), OVERHEAD, false), TimeLimits::default());
        assert_eq!(
            TimeLimits::plan(&Go::default(), &Clock::default(), OVERHEAD, false),
            TimeLimits::default()
        );
    }

    #[test]
    fn limits_that_could_not_be_read_are_not_infinite() {
        let go = Go { unreadable: vec!["nodes 5k".into()], ..Go::default() };
        let limits = TimeLimits::plan(&go, &Clock::default(), OVERHEAD, false);
        assert_eq!(limits.hard, Some(UNREADABLE_LIMITS_TIME));
    }
}
