//! The delayed-gain pair: scores shrink with each move a gain is put off, and windows are opened to match.
//!
//! A gain over the mover's standing loses a point for each move before it is made, so the engine takes the
//! short way. `standing` is the raw evaluation of the node where the move is chosen, known in check too.
//! `settle` shrinks the score of a reply, `open` widens the window for it, so that the pair is exact:
//! micro-Max, where the rule comes from, has a window that is a point too wide.
//!
//! Every search of a reply goes through the pair; searches of the same node (singular, razoring) do not.
//! Table entries hold the node's own score, unsettled.

use crate::params;
use crate::score::{INFINITY, MATE_BAND, Score, TB_BAND, Window};

/// Searches a reply within the pair: `search` gets the opened window from the replying side's view; its
/// score is returned settled, from the view of the side that made the move.
#[inline(always)]
pub(super) fn delayed(
    window: Window,
    standing: Score,
    search: impl FnOnce(Window) -> Score,
) -> Score {
    settle(-search(open(window, standing).flipped()), standing)
}

/// A reply's score, shrunk for the delay; from the view of the side that made the move.
#[inline]
fn settle(score: Score, standing: Score) -> Score {
    settle_by(score, standing, params::delay_penalty())
}

/// The window for the reply, from the view of the side that made the move: exactly the scores that settle
/// to within `window`.
#[inline]
fn open(window: Window, standing: Score) -> Window {
    open_by(window, standing, params::delay_penalty())
}

#[inline]
fn settle_by(score: Score, standing: Score, penalty: Score) -> Score {
    if score <= standing || score >= INFINITY {
        score
    } else if score >= MATE_BAND {
        score - 1
    } else if score >= TB_BAND {
        // A win by tables stays one, however long it is.
        TB_BAND.max(score - 1)
    } else {
        standing.max(score - penalty)
    }
}

#[inline]
fn open_by(window: Window, standing: Score, penalty: Score) -> Window {
    Window {
        alpha: largest_settling_to_at_most(window.alpha, standing, penalty),
        beta: smallest_settling_to_at_least(window.beta, standing, penalty),
    }
}

#[inline]
fn largest_settling_to_at_most(alpha: Score, standing: Score, penalty: Score) -> Score {
    if alpha < standing || alpha >= INFINITY {
        alpha
    } else if alpha >= TB_BAND {
        alpha + 1
    } else {
        (alpha + penalty).min(TB_BAND - 1)
    }
}

#[inline]
fn smallest_settling_to_at_least(beta: Score, standing: Score, penalty: Score) -> Score {
    if beta <= standing || beta >= INFINITY {
        beta
    } else if beta > TB_BAND {
        beta + 1
    } else {
        (beta + penalty).min(TB_BAND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::MATE;

    /// Standings and scores around everything that the rule distinguishes.
    fn interesting() -> Vec<Score> {
        let around = |centre: Score| centre - 6..=centre + 6;
        let bands = [TB_BAND, -TB_BAND, MATE_BAND, -MATE_BAND, MATE - 7, 7 - MATE];
        let mut scores: Vec<Score> =
            [0, -100, 100].into_iter().chain(bands).flat_map(around).collect();
        scores.extend([-INFINITY, INFINITY]);
        scores.sort_unstable();
        scores.dedup();
        scores
    }

    #[test]
    fn the_pair_is_exact() {
        let scores = interesting();
        for penalty in 0..=3 {
            for &standing in scores.iter().filter(|score| score.abs() < TB_BAND) {
                for &alpha in &scores {
                    let above: Vec<Score> = (alpha - 12..=alpha + 12)
                        .filter(|&raw| {
                            raw.abs() <= MATE && settle_by(raw, standing, penalty) > alpha
                        })
                        .collect();
                    let opened = largest_settling_to_at_most(alpha, standing, penalty);
                    for raw in (alpha - 12..=alpha + 12).filter(|raw| raw.abs() <= MATE) {
                        assert_eq!(raw > opened, above.contains(&raw), "{raw} {alpha} {standing}");
                        let reaches = settle_by(raw, standing, penalty) >= alpha;
                        let opened = smallest_settling_to_at_least(alpha, standing, penalty);
                        assert_eq!(raw >= opened, reaches, "{raw} {alpha} {standing} {penalty}");
                    }
                }
            }
        }
    }

    #[test]
    fn null_windows_stay_null_and_infinities_stay() {
        for penalty in 0..=3 {
            for standing in -120..=120 {
                for alpha in interesting().into_iter().filter(|score| score.abs() < MATE) {
                    let opened = open_by(Window::null(alpha), standing, penalty);
                    assert_eq!(opened.beta - opened.alpha, 1, "{alpha} {standing} {penalty}");
                }
                assert_eq!(open_by(Window::FULL, standing, penalty), Window::FULL);
            }
        }
    }

    #[test]
    fn settling_is_monotone_and_shrinks_mates() {
        for penalty in 0..=3 {
            for standing in [-200, 0, 50] {
                let settled: Vec<Score> =
                    (-MATE..=MATE).map(|raw| settle_by(raw, standing, penalty)).collect();
                assert!(settled.is_sorted());
            }
            assert_eq!(settle_by(MATE, 0, penalty), MATE - 1);
            assert_eq!(settle_by(-MATE, 0, penalty), -MATE);
            assert_eq!(settle_by(MATE_BAND, 0, penalty), MATE_BAND - 1);
            assert_eq!(settle_by(TB_BAND + 1, 0, penalty), TB_BAND);
            assert_eq!(settle_by(TB_BAND, 0, penalty), TB_BAND, "a win stays a win");
            assert_eq!(settle_by(-TB_BAND - 1, 0, penalty), -TB_BAND - 1);
        }
        assert_eq!(settle_by(51, 50, 3), 50, "never below the standing");
    }
}
