//! Pruning, reductions and extensions: pure functions of what a node knows. None of them searches.

use super::picker::QuietFilter;
use super::tt::{Bound, TtEntry};
use crate::moves::Move;
use crate::params;
use crate::score::{MATE_BAND, Score, TB_BAND, is_proved};

/// What a node knows before its moves are searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Facts {
    /// Plies left, at least 1.
    pub(crate) depth: i32,
    pub(crate) beta: Score,
    /// The static evaluation, corrected and refined; means nothing in check.
    pub(crate) eval: Score,
    pub(crate) in_check: bool,
    /// Whether the evaluation is higher than two plies ago; also if that one is unknown (in check, before
    /// the root). Never in check.
    pub(crate) improving: bool,
    /// See [`opponent_seeks_faster_win`].
    pub(crate) opponent_seeks_faster_win: bool,
}

impl Facts {
    /// Takes the table's score as evaluation if it is exact or a bound beyond it.
    #[inline]
    pub(crate) fn refined_by(self, tt_entry: Option<&TtEntry>) -> Facts {
        match tt_entry {
            Some(entry)
                if !self.in_check
                    && entry.is_cutoff(self.eval, self.eval)
                    && !is_proved(entry.score) =>
            {
                Facts { eval: entry.score, ..self }
            }
            _ => self,
        }
    }
}

/// Reverse futility pruning: returns a score if eval - margin >= beta. Source:
/// <https://www.chessprogramming.org/Reverse_Futility_Pruning>.
pub(crate) fn reverse_futility(facts: &Facts) -> Option<Score> {
    let relief = if facts.improving { params::rfp_improving() } else { 0 };
    let margin = (params::rfp_margin() * facts.depth - relief).max(0);
    let prunes = !facts.opponent_seeks_faster_win
        && facts.depth <= params::rfp_depth()
        && facts.eval - margin >= facts.beta
        && facts.eval < TB_BAND
        && facts.beta > -TB_BAND;
    prunes.then(|| facts.beta + (facts.eval - facts.beta) / params::rfp_surplus_divisor())
}

/// The same before the table is probed, near the horizon.
#[inline]
pub(crate) fn early_reverse_futility(facts: &Facts) -> Option<Score> {
    if facts.depth <= params::rfp_early_depth() { reverse_futility(facts) } else { None }
}

/// Razoring: whether eval + margin <= alpha, so that quiescence may settle the node. Source:
/// <https://www.chessprogramming.org/Razoring>.
pub(crate) fn razors(facts: &Facts, alpha: Score) -> bool {
    facts.depth <= params::razor_depth()
        && facts.eval + params::razor_margin() * facts.depth <= alpha
        && !is_proved(alpha)
}

/// The depth reduction of a null move; `None` if it is not tried. Source: <https://www.chessprogramming.org/Null_Move_Pruning>.
pub(crate) fn null_move_reduction(facts: &Facts) -> Option<i32> {
    let tries =
        facts.depth >= params::nmp_depth() && facts.eval >= facts.beta && facts.beta > -TB_BAND;
    let surplus =
        ((facts.eval - facts.beta) / params::nmp_eval_divisor()).min(params::nmp_eval_max());
    tries.then(|| params::nmp_base() + facts.depth / params::nmp_depth_divisor() + surplus)
}

/// Late move and futility pruning: whether to skip all quiet moves from the `number`-th move on.
pub(crate) fn skips_quiets(facts: &Facts, alpha: Score, number: i32) -> bool {
    let reduced_depth = facts.depth - late_move_reduction(facts.depth, number, true) / 1024;
    late_move_limit(facts).is_some_and(|limit| number > limit)
        || is_futile(facts, alpha, reduced_depth)
}

/// Which quiet moves to search where quiet moves are skipped: checks, as a sacrifice may lead up to one. At
/// depth 1 only in decided positions, where a check may lead to mate.
pub(crate) fn quiets_left(depth: i32, alpha: Score) -> QuietFilter {
    if depth >= params::quiet_check_depth() || alpha >= params::decided_score() {
        QuietFilter::Checks
    } else {
        QuietFilter::None
    }
}

/// Whether to prune and reduce less to find a faster win: in decided positions near the root.
pub(crate) fn seeks_faster_win(alpha: Score, ply: usize) -> bool {
    let plies = if alpha >= MATE_BAND { params::hunt_mate_plies() } else { params::hunt_plies() };
    alpha >= params::decided_score() && ply < plies as usize
}

/// Whether the opponent does so: then the losing side's nodes are not pruned by their evaluation, as the
/// length of the defence matters.
pub(crate) fn opponent_seeks_faster_win(beta: Score, ply: usize) -> bool {
    seeks_faster_win(-beta, ply)
}

/// Check extension: in decided positions only, where checks may lead to mate. Far from the root only with
/// depth left, so that the tree stays finite. Source:
/// <https://www.chessprogramming.org/Check_Extensions>.
pub(crate) fn extends_check(alpha: Score, depth: i32, ply: usize) -> bool {
    alpha >= params::decided_score()
        && (ply as i32) < params::check_extension_plies() + params::check_extension_slope() * depth
}

/// Late move pruning: how many moves are looked at before quiet ones are skipped. Source:
/// <https://www.chessprogramming.org/Futility_Pruning#MoveCountBasedPruning>.
pub(crate) fn late_move_limit(facts: &Facts) -> Option<i32> {
    let all = params::lmp_base() + facts.depth * facts.depth;
    let divisor = if facts.improving { 1 } else { params::lmp_not_improving_divisor() };
    (facts.depth <= params::lmp_depth()).then_some(all / divisor)
}

/// Futility pruning of quiet moves: whether eval + margin <= alpha at this reduced depth. Source:
/// <https://www.chessprogramming.org/Futility_Pruning>.
pub(crate) fn is_futile(facts: &Facts, alpha: Score, reduced_depth: i32) -> bool {
    let margin = params::futility_base() + params::futility_margin() * reduced_depth.max(0);
    reduced_depth <= params::futility_depth()
        && !facts.in_check
        && facts.eval + margin <= alpha
        && !is_proved(alpha)
}

/// SEE pruning: moves below this threshold, a negative number, are skipped; `None` if none is.
pub(crate) fn see_margin(facts: &Facts, quiet: bool, reduced_depth: i32) -> Option<Score> {
    let reduced_depth = reduced_depth.max(0);
    let margin = if quiet {
        -params::see_quiet_margin() * reduced_depth * reduced_depth
    } else {
        -params::see_capture_margin() * facts.depth
    };
    (facts.depth <= params::see_depth()).then_some(margin)
}

/// History pruning: whether a quiet move's history is too bad for this depth. Source:
/// <https://www.chessprogramming.org/History_Leaf_Pruning>.
pub(crate) fn has_bad_history(history: i32, reduced_depth: i32) -> bool {
    reduced_depth <= params::history_prune_depth()
        && history < -params::history_prune_margin() * reduced_depth.max(1)
}

/// Delta pruning in quiescence: returns the upper bound of a capture's score if futility + captured <=
/// alpha. `futility` is stand pat plus a margin. Source:
/// <https://www.chessprogramming.org/Delta_Pruning>.
#[inline]
pub(crate) fn delta_prune(futility: Score, captured: Score, alpha: Score) -> Option<Score> {
    let most = futility + captured;
    (most <= alpha && !is_proved(alpha)).then_some(most)
}

/// The SEE threshold of captures in quiescence: 0, or 1 where an even exchange would stay below alpha.
/// Source:
/// <https://www.chessprogramming.org/Static_Exchange_Evaluation>.
#[inline]
pub(crate) fn see_threshold(futility: Score, alpha: Score) -> Score {
    i32::from(futility <= alpha && !is_proved(alpha))
}

/// Whether a line is short enough for singular extensions: in a forced line each move would be extended, and
/// the depth never run out.
#[inline]
pub(crate) fn may_be_singular(ply: usize, root_depth: i32) -> bool {
    (ply as i32) < params::singular_ply_factor() * root_depth
}

/// The search that tests whether a hash move is singular: all others have to fail low against `beta` at
/// this depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SingularTest {
    pub(crate) beta: Score,
    pub(crate) depth: i32,
}

/// The singular test of a hash move; `None` if the depth or the entry's depth and bound do not allow it.
/// Source:
/// <https://www.chessprogramming.org/Singular_Extensions>.
pub(crate) fn singular_test(facts: &Facts, entry: &TtEntry) -> Option<SingularTest> {
    let tries = facts.depth >= params::singular_depth()
        && entry.depth >= facts.depth - params::singular_depth_slack()
        && entry.bound != Bound::Upper
        && !is_proved(entry.score);
    tries.then(|| SingularTest {
        beta: entry.score - params::singular_margin() * facts.depth / 16,
        depth: (facts.depth - 1) / params::singular_depth_divisor(),
    })
}

/// The result of a singular search, and its node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Others {
    pub(crate) score: Score,
    pub(crate) pv: bool,
    pub(crate) cut_node: bool,
    /// The line has double extensions left.
    pub(crate) may_double: bool,
}

/// What a singular test decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Singularity {
    /// Extends the hash move by so many plies; reduces it if negative.
    Extend(i32),
    /// Multi-cut: the node returns this score.
    Cut(Score),
}

/// The decision for a hash move with this score in the table. Sources:
/// <https://www.chessprogramming.org/Singular_Extensions>, and for the cut
/// <https://www.chessprogramming.org/Multi-Cut>.
pub(crate) fn singularity(
    facts: &Facts,
    tt_score: Score,
    test: &SingularTest,
    others: &Others,
) -> Singularity {
    if others.score < test.beta {
        let clearly = others.score < test.beta - params::singular_double_margin();
        let by_far = others.score < test.beta - params::singular_triple_margin();
        let more = i32::from(clearly) + i32::from(clearly && by_far);
        Singularity::Extend(1 + if others.may_double { more } else { 0 })
    } else if test.beta >= facts.beta && !others.pv {
        // More than one move beats beta.
        Singularity::Cut(test.beta)
    } else if tt_score >= facts.beta || others.cut_node {
        Singularity::Extend(-1)
    } else {
        Singularity::Extend(0)
    }
}

/// Whether a weakened search overlooks a quiet move, if it sees `quiet_percent` of a hundred. A hash of
/// position and move, so that searches repeat.
pub(crate) fn overlooks(quiet_percent: Option<u8>, position: u64, mv: Move) -> bool {
    quiet_percent.is_some_and(|percent| {
        let mixed = (position ^ u64::from(mv.raw())).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed >> 32) * 100) >> 32 >= u64::from(percent)
    })
}

/// 1024 times the binary logarithm of 0 to 63 (of 1 for 0), rounded down.
const LOG2: [i32; 64] = {
    let mut table = [0; 64];
    let mut n = 2;
    while n < 64 {
        table[n] = log2_scaled(n as u64);
        n += 1;
    }
    table
};

/// 1024 log2(n) by repeated squaring.
const fn log2_scaled(n: u64) -> i32 {
    let whole = n.ilog2();
    // n / 2^whole as a fraction with 30 bits, in 1..2.
    let mut fraction = (n << 30) >> whole;
    let mut result = whole as i32;
    let mut bit = 0;
    while bit < 10 {
        fraction = (fraction * fraction) >> 30;
        result <<= 1;
        if fraction >= 2 << 30 {
            result += 1;
            fraction >>= 1;
        }
        bit += 1;
    }
    result
}

/// Late move reduction of the `number`-th move (from 1), in 1024ths of a ply. Source:
/// <https://www.chessprogramming.org/Late_Move_Reductions>.
pub(crate) fn late_move_reduction(depth: i32, number: i32, quiet: bool) -> i32 {
    let depth = LOG2[depth.clamp(1, 63) as usize];
    let number = LOG2[number.clamp(1, 63) as usize];
    // 1024 * 1024 from the logarithms, 100 from the divisor, 1024 for the result.
    let product = depth * number / 1024 * 100 / params::lmr_divisor();
    if quiet { params::lmr_base() + product } else { product * params::lmr_noisy_share() / 1024 }
}

/// What a node has for a hash move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HashMove {
    /// Nothing.
    None,
    /// A quiet move.
    Quiet,
    /// A capture or promotion.
    Noisy,
}

/// What a node adds to the reduction of its late moves, in 1024ths of a ply. More in cut nodes, which are
/// expected to fail high, all the more without a hash move, where little is known; and with a noisy hash move, as
/// quiet ones are then rarely best.
pub(crate) fn node_reduction(pv: bool, cut_node: bool, improving: bool, hash: HashMove) -> i32 {
    when(cut_node, params::lmr_cut_node())
        + when(cut_node && hash == HashMove::None, params::lmr_no_hash_move())
        + when(!improving, params::lmr_not_improving())
        + when(hash == HashMove::Noisy, params::lmr_noisy_hash())
        - when(pv, params::lmr_pv())
}

const fn when(condition: bool, amount: i32) -> i32 {
    if condition { amount } else { 0 }
}

/// What a late move takes off its reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Late {
    pub(crate) gives_check: bool,
    /// See [`seeks_faster_win`].
    pub(crate) seeks_faster_win: bool,
    pub(crate) history: i32,
    /// See `Frame::cutoffs`, one ply on.
    pub(crate) cutoffs: i32,
}

/// The depth of a late move's first search: from 1 to `depth`.
pub(crate) fn reduced_depth(depth: i32, reduction: i32, late: Late) -> i32 {
    let reduction = reduction
        - when(late.gives_check, params::lmr_check())
        - when(late.seeks_faster_win, params::hunt_relief())
        - late.history * 1024 / params::lmr_history_divisor()
        + when(late.cutoffs > params::lmr_cutoffs_allowed(), params::lmr_cutoffs());
    (depth - (reduction / 1024).max(0)).clamp(1, depth.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: Facts = Facts {
        depth: 4,
        beta: 0,
        eval: 0,
        in_check: false,
        improving: false,
        opponent_seeks_faster_win: false,
    };

    #[test]
    fn logarithms_are_right_everywhere() {
        for (n, &value) in LOG2.iter().enumerate().skip(1) {
            let exact = 1024.0 * (n as f64).log2();
            assert!((exact - f64::from(value)).abs() <= 1.5, "{n}: {value}");
        }
        let checksum =
            LOG2.iter().fold(0i64, |sum, &value| sum * 31 % 1_000_003 + i64::from(value));
        assert_eq!(checksum, LOG2_CHECKSUM, "the same on every platform");
    }

    const LOG2_CHECKSUM: i64 = 184_078;

    #[test]
    fn reverse_futility_needs_the_margin() {
        let margin = params::rfp_margin() * 4;
        let with = |eval, depth| reverse_futility(&Facts { eval, depth, ..FACTS });
        assert_eq!(with(margin - 1, 4), None);
        assert!(with(margin, 4).is_some_and(|score| score >= 0 && score <= margin));
        assert_eq!(with(7000, params::rfp_depth() + 1), None);
        let improving = Facts { eval: margin - 1, improving: true, ..FACTS };
        assert!(reverse_futility(&improving).is_some());
        let seeking = Facts { eval: 7000, opponent_seeks_faster_win: true, ..FACTS };
        assert_eq!(reverse_futility(&seeking), None, "how long it holds out has to be seen");
        let mated = Facts { beta: -TB_BAND, eval: 500, ..FACTS };
        assert_eq!(reverse_futility(&mated), None, "a mate has to be refuted");
    }

    #[test]
    fn the_null_move_reduces_more_when_deeper_and_better() {
        let with = |eval, depth| null_move_reduction(&Facts { eval, depth, ..FACTS });
        assert_eq!(with(-1, 9), None);
        assert_eq!(with(500, params::nmp_depth() - 1), None);
        assert!(with(0, 12) > with(0, 4));
        assert!(with(500, 9) > with(0, 9));
    }

    #[test]
    fn what_speaks_for_a_move_deepens_it() {
        let plain = Late { gives_check: false, seeks_faster_win: false, history: 0, cutoffs: 0 };
        let depth = |late: Late| reduced_depth(10, 4 * 1024, late);
        assert_eq!(depth(plain), 6);
        assert!(depth(Late { history: 16384, ..plain }) > 6);
        assert!(depth(Late { history: -16384, ..plain }) < 6);
        assert!(depth(Late { gives_check: true, ..plain }) > 6);
        assert!(depth(Late { seeks_faster_win: true, ..plain }) > 6);
        let allowed = params::lmr_cutoffs_allowed();
        assert_eq!(depth(Late { cutoffs: allowed, ..plain }), 6);
        assert!(depth(Late { cutoffs: allowed + 1, ..plain }) < 6);
        for reduction in [-9000, 0, 9000, 90_000] {
            assert!((1..=10).contains(&reduced_depth(10, reduction, plain)));
        }
    }

    #[test]
    fn what_speaks_for_a_node_deepens_its_late_moves() {
        let plain = node_reduction(false, false, true, HashMove::Quiet);
        assert_eq!(plain, 0);
        assert!(node_reduction(true, false, true, HashMove::Quiet) < plain);
        let cut_node = node_reduction(false, true, true, HashMove::Quiet);
        assert!(cut_node > plain);
        assert!(node_reduction(false, true, true, HashMove::None) > cut_node);
        assert_eq!(node_reduction(false, false, true, HashMove::None), plain);
        assert!(node_reduction(false, false, false, HashMove::Quiet) > plain);
        assert!(node_reduction(false, false, true, HashMove::Noisy) > plain);
    }

    #[test]
    fn won_games_are_searched_wider_near_the_root() {
        assert!(
            seeks_faster_win(params::decided_score(), 0)
                && seeks_faster_win(MATE_BAND, params::hunt_mate_plies() as usize - 1)
        );
        assert!(
            !seeks_faster_win(0, 0)
                && !seeks_faster_win(params::decided_score(), params::hunt_plies() as usize)
        );
        assert!(!seeks_faster_win(MATE_BAND, params::hunt_mate_plies() as usize));
    }

    #[test]
    fn later_moves_are_reduced_more() {
        for depth in 2..20 {
            for number in 2..60 {
                let here = late_move_reduction(depth, number, true);
                assert!(here >= 0 && here <= late_move_reduction(depth, number + 1, true));
                assert!(here <= late_move_reduction(depth + 1, number, true));
                assert!(late_move_reduction(depth, number, false) <= here);
            }
        }
    }

    #[test]
    fn limits_grow_with_depth_and_with_improving() {
        let limit = |depth, improving| late_move_limit(&Facts { depth, improving, ..FACTS });
        assert!(limit(3, false) < limit(5, false));
        assert!(limit(3, false) < limit(3, true));
        assert_eq!(limit(params::lmp_depth() + 1, true), None);
        assert!(see_margin(&FACTS, true, 4) < see_margin(&FACTS, true, 2));
        assert!(is_futile(&Facts { eval: -2000, ..FACTS }, 0, 2));
        assert!(!is_futile(&Facts { eval: -2000, in_check: true, ..FACTS }, 0, 2));
        assert!(razors(&Facts { depth: 1, eval: -2000, ..FACTS }, 0));
        assert!(!razors(&FACTS, 0));
        assert!(has_bad_history(-16000, 1) && !has_bad_history(0, 1));
    }

    #[test]
    fn checks_are_spared_at_depth_and_in_won_games() {
        let least = params::quiet_check_depth();
        assert_eq!(quiets_left(least, 0), QuietFilter::Checks);
        assert_eq!(quiets_left(least - 1, 0), QuietFilter::None);
        assert_eq!(quiets_left(least - 1, params::decided_score()), QuietFilter::Checks);
    }

    #[test]
    fn checks_are_extended_in_won_games_near_the_root_or_with_depth_left() {
        let (won, plies) = (params::decided_score(), params::check_extension_plies());
        let slope = params::check_extension_slope();
        assert!(!extends_check(won - 1, 5, 0));
        for depth in 0..10 {
            let end = (plies + slope * depth) as usize;
            assert!(extends_check(won, depth, end - 1) && !extends_check(won, depth, end));
        }
    }

    #[test]
    fn the_winner_seeks_a_faster_win_where_its_opponent_says_so() {
        for score in [-TB_BAND, -params::decided_score(), 0, params::decided_score(), MATE_BAND] {
            for ply in 0..10 {
                assert_eq!(opponent_seeks_faster_win(-score, ply), seeks_faster_win(score, ply));
            }
        }
        assert!(
            opponent_seeks_faster_win(-params::decided_score(), 1)
                && !opponent_seeks_faster_win(0, 1)
        );
    }

    #[test]
    fn quiet_moves_end_when_too_many_failed_or_none_can_reach_alpha() {
        let limit = late_move_limit(&FACTS).unwrap();
        assert!(!skips_quiets(&FACTS, 0, limit) && skips_quiets(&FACTS, 0, limit + 1));
        assert!(skips_quiets(&Facts { eval: -2000, ..FACTS }, 0, 1));
        assert!(!skips_quiets(&Facts { depth: 30, eval: -2000, ..FACTS }, 0, 2));
    }

    #[test]
    fn captures_in_quiescence_have_to_reach_alpha() {
        assert_eq!(delta_prune(-200, 100, 0), Some(-100));
        assert_eq!(delta_prune(-200, 200, 0), Some(0));
        assert_eq!(delta_prune(-200, 201, 0), None);
        assert_eq!(delta_prune(-200, 100, -TB_BAND), None, "a loss has to be refuted");
        assert_eq!(see_threshold(0, 0), 1);
        assert_eq!(see_threshold(1, 0), 0);
        assert_eq!(see_threshold(0, TB_BAND), 0);
    }

    #[test]
    fn only_deep_entries_with_a_lower_bound_are_tested() {
        let depth = params::singular_depth();
        let facts = Facts { depth, ..FACTS };
        let entry = TtEntry { mv: Some(1), score: 50, depth, bound: Bound::Lower };
        let test = singular_test(&facts, &entry).unwrap();
        assert!(test.beta < entry.score && test.depth < depth);
        assert!(singular_test(&facts, &TtEntry { bound: Bound::Exact, ..entry }).is_some());
        assert_eq!(singular_test(&facts, &TtEntry { bound: Bound::Upper, ..entry }), None);
        assert_eq!(singular_test(&facts, &TtEntry { score: TB_BAND, ..entry }), None);
        let too_shallow = depth - params::singular_depth_slack() - 1;
        assert_eq!(singular_test(&facts, &TtEntry { depth: too_shallow, ..entry }), None);
        assert_eq!(singular_test(&Facts { depth: depth - 1, ..facts }, &entry), None);
    }

    #[test]
    fn long_lines_have_no_singular_extensions() {
        for root_depth in 1..40 {
            let end = (params::singular_ply_factor() * root_depth) as usize;
            assert!(may_be_singular(1, root_depth) && may_be_singular(end - 1, root_depth));
            assert!(!may_be_singular(end, root_depth));
        }
    }

    #[test]
    fn a_singular_move_is_extended_and_others_cut_or_are_reduced() {
        let test = SingularTest { beta: 10, depth: 4 };
        let others = Others { score: 9, pv: false, cut_node: false, may_double: true };
        let with = |others: &Others| singularity(&Facts { beta: 20, ..FACTS }, 15, &test, others);
        assert_eq!(with(&others), Singularity::Extend(1));
        let clearly = Others { score: 9 - params::singular_double_margin(), ..others };
        assert_eq!(with(&clearly), Singularity::Extend(2));
        assert_eq!(with(&Others { may_double: false, ..clearly }), Singularity::Extend(1));
        let several = Others { score: 10, ..others };
        assert_eq!(with(&several), Singularity::Extend(0));
        assert_eq!(with(&Others { cut_node: true, ..several }), Singularity::Extend(-1));
        let low = Facts { beta: 10, ..FACTS };
        assert_eq!(singularity(&low, 15, &test, &several), Singularity::Cut(10));
        let pv = Others { pv: true, ..several };
        assert_eq!(singularity(&low, 15, &test, &pv), Singularity::Extend(-1));
    }
}
