//! The parameters of search and endgame knowledge: each with its value, range, meaning and source.
//!
//! Integers only, as floating point differs between platforms. In parentheses: the page of CPW,
//! <https://www.chessprogramming.org>, that describes the technique, or Cairn where it is our own. The values
//! were first set by judgement; `scripts/results.csv` has the matches of what was tried instead. With the
//! feature `tune` each can be set at run time.

/// A parameter, for tuners.
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// Its value in the source.
    pub default: i32,
    /// The smallest sensible value.
    pub min: i32,
    /// The largest sensible value.
    pub max: i32,
    /// Sets it. A value beyond its range may turn the technique off.
    #[cfg(feature = "tune")]
    pub set: fn(i32),
}

macro_rules! params {
    ($($(#[$doc:meta])* $name:ident = $default:literal, $min:literal..=$max:literal;)*) => {
        $(
            $(#[$doc])*
            #[cfg(not(feature = "tune"))]
            #[must_use]
            #[inline(always)]
            pub const fn $name() -> i32 {
                const { assert!($min <= $default && $default <= $max) };
                $default
            }

            $(#[$doc])*
            #[cfg(feature = "tune")]
            #[must_use]
            #[inline(always)]
            pub fn $name() -> i32 {
                tuned::$name.load(std::sync::atomic::Ordering::Relaxed)
            }
        )*

        #[cfg(feature = "tune")]
        #[allow(non_upper_case_globals, reason = "named as the functions that read them")]
        mod tuned {
            use std::sync::atomic::AtomicI32;
            $(pub(super) static $name: AtomicI32 = AtomicI32::new($default);)*
        }

        /// All parameters.
        pub static ALL: &[Param] = &[
            $(Param {
                name: stringify!($name),
                default: $default,
                min: $min,
                max: $max,
                #[cfg(feature = "tune")]
                set: |value| tuned::$name.store(value, std::sync::atomic::Ordering::Relaxed),
            },)*
        ];
    };
}

params! {
    /// Points that a gain loses for each move it is put off (micro-Max).
    delay_penalty = 1, 0..=3;

    /// Half-width of the first aspiration window, in centipawns (CPW, Aspiration Windows).
    aspiration_delta = 13, 5..=60;
    /// The first iteration that has a window at all (CPW, Aspiration Windows).
    aspiration_depth = 5, 2..=10;
    /// What the half-width is multiplied by when the score falls outside (CPW, Aspiration Windows).
    aspiration_growth = 2, 2..=4;
    /// After a score above the window the root is searched so much less deeply, a ply for each time in a row up to this
    /// many (Stockfish, `failedHighCnt`).
    aspiration_fail_high_plies = 2, 0..=4;

    /// Deterministic threads: the least depth of what they tell each other (Cairn).
    shared_depth = 2, 0..=12;
    /// Deterministic helpers: late moves are reduced by so much more or less than the leader does it, in 1024ths of
    /// a ply (CPW, Lazy SMP).
    helper_variation = 64, 0..=512;
    /// Vote of the threads: a line with the worst score of all votes with this times its depth, in centipawns
    /// (CPW, Lazy SMP).
    vote_offset = 14, 1..=100;

    /// Reverse futility pruning: deepest depth (CPW, Reverse Futility Pruning).
    rfp_depth = 10, 3..=12;
    /// Reverse futility pruning: up to this depth before the table is probed (CPW, Reverse Futility Pruning).
    rfp_early_depth = 2, 0..=12;
    /// Reverse futility pruning: margin per ply of depth (CPW, Reverse Futility Pruning).
    rfp_margin = 80, 30..=150;
    /// Reverse futility pruning: what improving takes off the margin (CPW, Reverse Futility Pruning).
    rfp_improving = 56, 0..=150;
    /// Reverse futility pruning: returns beta + (eval - beta) / this (CPW, Reverse Futility Pruning).
    rfp_surplus_divisor = 3, 1..=8;

    /// Razoring: deepest depth (CPW, Razoring).
    razor_depth = 3, 1..=6;
    /// Razoring: margin per ply of depth (CPW, Razoring).
    razor_margin = 235, 100..=500;

    /// Null move: least depth (CPW, Null Move Pruning).
    nmp_depth = 3, 2..=5;
    /// Null move: reduction before depth and evaluation count (CPW, Null Move Pruning).
    nmp_base = 4, 2..=6;
    /// Null move: one more ply of reduction per so many plies of depth (CPW, Null Move Pruning).
    nmp_depth_divisor = 4, 2..=8;
    /// Null move: one more ply of reduction per so many centipawns above beta (CPW, Null Move Pruning).
    nmp_eval_divisor = 200, 80..=400;
    /// Null move: at most so many plies of reduction for the evaluation (CPW, Null Move Pruning).
    nmp_eval_max = 3, 1..=6;
    /// Null move verification: least depth (CPW, Null Move Pruning).
    nmp_verification_depth = 10, 6..=20;

    /// Internal iterative reduction: least depth (CPW, Internal Iterative Reductions).
    iir_depth = 4, 2..=8;

    /// Late move pruning: moves allowed before depth counts (CPW, Futility Pruning, move count based).
    lmp_base = 4, 1..=8;
    /// Late move pruning: deepest depth (CPW, Futility Pruning, move count based).
    lmp_depth = 8, 3..=12;
    /// Late move pruning: what the number of moves is divided by where the side to move is not improving (CPW,
    /// Futility Pruning, move count based).
    lmp_not_improving_divisor = 2, 1..=4;

    /// Futility pruning of quiet moves: deepest reduced depth (CPW, Futility Pruning).
    futility_depth = 10, 3..=12;
    /// Futility pruning: margin at depth 0 (CPW, Futility Pruning).
    futility_base = 80, 20..=250;
    /// Futility pruning: margin per ply (CPW, Futility Pruning).
    futility_margin = 85, 30..=200;

    /// SEE pruning of quiet moves: centipawns per squared ply that may be lost (CPW, Static Exchange
    /// Evaluation).
    see_quiet_margin = 20, 5..=60;
    /// SEE pruning of captures: centipawns per ply that may be lost (CPW, Static Exchange Evaluation).
    see_capture_margin = 98, 30..=200;
    /// SEE pruning: deepest depth (CPW, Static Exchange Evaluation).
    see_depth = 10, 3..=14;

    /// History pruning: deepest reduced depth (CPW, History Leaf Pruning).
    history_prune_depth = 4, 1..=8;
    /// History pruning: history per ply below which a quiet move is skipped (CPW, History Leaf Pruning).
    history_prune_margin = 3000, 500..=8000;

    /// Least depth at which quiet checks are exempt from late move, futility and history pruning (Cairn).
    quiet_check_depth = 2, 1..=20;

    /// Decided positions: alpha is at least this (Cairn).
    decided_score = 300, 200..=3000;

    /// Up to this ply, decided positions disable history and SEE pruning, and reverse futility for the loser, to
    /// find faster wins (Cairn).
    hunt_plies = 5, 0..=12;
    /// The same where alpha is a mate score (Cairn).
    hunt_mate_plies = 6, 0..=16;
    /// The same: late moves are reduced less by this, in 1024ths of a ply (Cairn).
    hunt_relief = 3072, 0..=4096;

    /// Check extension in decided positions: up to this ply (CPW, Check Extensions).
    check_extension_plies = 6, 0..=20;
    /// The same: so many plies more for each ply of depth left (CPW, Check Extensions).
    check_extension_slope = 2, 0..=4;

    /// Late move reductions: least depth (CPW, Late Move Reductions).
    lmr_depth = 2, 1..=5;
    /// Late move reductions of quiet moves, constant part in 1024ths of a ply (CPW, Late Move Reductions).
    lmr_base = 800, 0..=2000;
    /// Late move reductions of quiet moves: divisor of log2(depth) * log2(moves), in hundredths (CPW, Late Move
    /// Reductions).
    lmr_divisor = 395, 200..=900;
    /// Late move reductions of captures and promotions: what of the varying part they get, in 1024ths (CPW,
    /// Late Move Reductions).
    lmr_noisy_share = 683, 0..=1024;
    /// Late move reductions: more in cut nodes, in 1024ths of a ply as all that follow (CPW, Late Move
    /// Reductions).
    lmr_cut_node = 1500, 0..=3000;
    /// Late move reductions: more in cut nodes without a hash move (CPW, Late Move Reductions).
    lmr_no_hash_move = 700, 0..=3000;
    /// Late move reductions: more where the side to move is not improving (CPW, Late Move Reductions).
    lmr_not_improving = 620, 0..=1500;
    /// Late move reductions: more where the hash move is a capture or promotion (CPW, Late Move Reductions).
    lmr_noisy_hash = 850, 0..=1500;
    /// Late move reductions: less on the principal variation (CPW, Late Move Reductions).
    lmr_pv = 700, 0..=2000;
    /// Late move reductions: less for a move that gives check (CPW, Late Move Reductions).
    lmr_check = 830, 0..=2000;
    /// Late move reductions: more once replies fail high often (Stockfish, `cutoffCnt`).
    lmr_cutoffs = 1300, 0..=3000;
    /// The same: how many beta cutoffs one ply on are not yet often (Stockfish, `cutoffCnt`).
    lmr_cutoffs_allowed = 2, 0..=10;
    /// Late move reductions: history that makes up one ply (CPW, Late Move Reductions).
    lmr_history_divisor = 9000, 2000..=16000;

    /// Singular extension: least depth (CPW, Singular Extensions).
    singular_depth = 6, 4..=10;
    /// Singular extension: by how much less deeply the hash entry may have been searched (CPW, Singular
    /// Extensions).
    singular_depth_slack = 3, 1..=6;
    /// Singular extension: what the depth is divided by for the search of the other moves (CPW, Singular
    /// Extensions).
    singular_depth_divisor = 2, 2..=4;
    /// Singular extension: margin per ply of depth, in 16ths of a centipawn (CPW, Singular Extensions).
    singular_margin = 29, 8..=64;
    /// Singular extension: up to this many times the depth of the iteration, in plies from the root (CPW, Singular
    /// Extensions).
    singular_ply_factor = 2, 1..=8;
    /// Double extension: how far the others have to fail low (CPW, Singular Extensions).
    singular_double_margin = 15, 0..=60;
    /// Triple extension: how far the others have to fail low (Stockfish).
    singular_triple_margin = 100, 20..=400;
    /// Double extension: how many a line may have (CPW, Singular Extensions).
    singular_double_limit = 6, 0..=16;

    /// Delta pruning in quiescence: margin above stand pat (CPW, Delta Pruning).
    qs_futility_margin = 180, 50..=400;

    /// History: bonus per ply of depth (CPW, History Heuristic).
    history_bonus = 160, 40..=400;
    /// History: offset of the bonus (CPW, History Heuristic).
    history_bonus_offset = 80, 0..=300;
    /// History: largest bonus (CPW, History Heuristic).
    history_bonus_max = 1900, 400..=3000;
    /// History: malus of the quiet moves tried before the best one, in 128ths of its bonus (CPW, History
    /// Heuristic).
    history_malus = 190, 32..=512;
    /// History: bonus of the quiet move that led to a fail low, as no reply refutes it, in 128ths of the bonus for a
    /// beta cutoff (Stockfish, prior counter move).
    history_unrefuted_share = 128, 0..=256;

    /// Order of captures: weight of the victim's value (CPW, MVV-LVA).
    victim_weight = 19, 4..=64;
    /// Order of captures: divisor of the capture history (CPW, History Heuristic).
    capture_history_divisor = 32, 8..=128;

    /// Hash table: an entry of the same position stays if it is so many plies deeper and the new one is a bound
    /// (CPW, Transposition Table).
    hash_depth_slack = 4, 0..=10;
    /// Hash table replacement: plies taken off for each search ago (CPW, Transposition Table).
    hash_age_plies = 4, 1..=8;

    /// 50-move rule: from this halfmove clock on only moves are taken from the table, no scores (CPW, Fifty-move
    /// Rule).
    careful_clock = 90, 60..=100;
    /// 50-move rule: the evaluation is scaled by 1 - clock / this (CPW, Fifty-move Rule).
    fifty_scale = 200, 120..=400;
    /// Without pawns a minor piece up, the loser has at most one: scale in 64ths (CPW, Draw Evaluation).
    scale_minor_up = 6, 0..=32;
    /// The same where the loser has more (CPW, Draw Evaluation).
    scale_minor_up_among_many = 14, 0..=48;
    /// Rook pawns whose corner the enemy king reaches: scale in 64ths (CPW, Wrong Color Bishop).
    scale_rook_pawns = 12, 0..=48;
    /// Opposite bishops and pawns: scale in 64ths (CPW, Bishops of Opposite Colors).
    scale_opposite_bishops = 36, 16..=64;
    /// Opposite bishops with other pieces: scale in 64ths (CPW, Bishops of Opposite Colors).
    scale_opposite_bishops_and_more = 56, 32..=64;

    /// Network: the score from which on a lead counts only in part, in centipawns (Cairn).
    won_eval = 600, 200..=3000;
    /// The same: what is beyond it is divided by this (Cairn).
    won_eval_divisor = 2, 1..=16;

    /// Mop-up: highest phase, that of two queens and a rook (CPW, Mop-up Evaluation).
    mop_up_phase = 10, 4..=16;
    /// Mop-up: centipawns for each step of the losing king from the centre (CPW, Mop-up Evaluation).
    mop_up_edge = 30, 0..=40;
    /// Mop-up: centipawns for each step that the kings are nearer (CPW, Mop-up Evaluation).
    mop_up_close = 16, 0..=30;
    /// Mop-up with bishop and knight: centipawns for each step towards the bishop's corners (CPW, Mop-up
    /// Evaluation).
    mop_up_corner = 40, 0..=300;
    /// A win against a bare king: centipawns before material (CPW, Mop-up Evaluation).
    mop_up_won = 600, 200..=1500;
    /// The same: centipawns for each pawn's worth, 3 for a minor piece, 5 for a rook, 9 for a queen (CPW, Mop-up
    /// Evaluation).
    mop_up_man = 100, 50..=150;

    /// Correction history: the error times depth divided by this is the bonus (CPW, Static Evaluation
    /// Correction History).
    correction_divisor = 6, 2..=32;
    /// Correction history: largest bonus; entries reach 1024 (CPW, Static Evaluation Correction History).
    correction_bonus_max = 220, 64..=1024;
    /// Correction history: weight of the pawn table, in 128ths (CPW, Static Evaluation Correction History).
    correction_pawn_weight = 58, 0..=160;
    /// Correction history: weight of each non-pawn table, in 128ths (CPW, Static Evaluation Correction
    /// History).
    correction_non_pawn_weight = 58, 0..=160;

    /// Exchange value of a pawn (CPW, Point Value).
    see_pawn = 100, 60..=140;
    /// Exchange value of a knight (CPW, Point Value).
    see_knight = 320, 250..=400;
    /// Exchange value of a bishop (CPW, Point Value).
    see_bishop = 330, 250..=420;
    /// Exchange value of a rook (CPW, Point Value).
    see_rook = 500, 420..=620;
    /// Exchange value of a queen (CPW, Point Value).
    see_queen = 950, 800..=1200;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_ranges_hold() {
        for (index, param) in ALL.iter().enumerate() {
            assert!(param.min <= param.default && param.default <= param.max, "{}", param.name);
            assert!(ALL[..index].iter().all(|other| other.name != param.name));
        }
    }
}
