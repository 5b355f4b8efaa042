//! The strong search's node.
//!
//! [`Thread::visit`] reads as a table of contents; each step's decision is a function in `prune`, its
//! numbers are in `params`. A score is the node's own until it is settled by the node above (see
//! `delay`): every search of a reply goes through [`delayed`], and only those.
//!
//! What each technique is worth, in Elo of self-play. *Here*: what the search loses without it, with 95 %
//! errors; the rows of `scripts/results.csv` have the games. A star: at 1+0.01, in a test between 0 and 40
//! Elo that decided for 40; such tests stop when it looks best, so the figure flatters. *Elsewhere*: what
//! others have measured when they added it; where that is all there is, the technique is kept on their
//! evidence. CPW is <https://www.chessprogramming.org>; a name with a number is a pull request or commit of
//! that engine.
//!
//! | step | technique, source | here | elsewhere |
//! |---|---|---|---|
//! | 1, `quiesce` | quiescence with exchange evaluation and evasions (CPW Quiescence_Search, Static_Exchange_Evaluation) | 100 +- 60 \* without exchanges; all evasions, not just until one is not mated: -5 +- 17 | 77 + 30 (Rose#32, #38) |
//! | 3 | improving (CPW Improving) |  | 23 (Rose#30) |
//! | 3, 10 | correction histories for pawns and other men (CPW Static_Evaluation_Correction_History) | 142 +- 80 \* | 17 + 44 (Rose#116, #117) |
//! | 3 | reverse futility before the table is asked | 4 +- 32 and 3.5 % speed | |
//! | 4 | hash cutoffs, hash move (CPW Transposition_Table) | 271 +- 82 \*, quiescence without the table too | 112 + 80 (Rose#18, #6) |
//! | 4, `quiesce` | the table in quiescence | 28 +- 23 | 10 (Rose#40) |
//! | 5 | reverse futility (CPW Reverse_Futility_Pruning) | 75 +- 29 | 73 (Reckless#92), 78 (Simbelmyne#127) |
//! | 5 | razoring (CPW Razoring) | 18 +- 27 | 5 to 9 |
//! | 6 | null move (CPW Null_Move_Pruning) | 34 +- 26 \* | 116 (Blunder), 61 (Reckless#98) |
//! | 6 | a ply more of reduction; only where a cutoff is expected | 33 +- 20; 23 +- 22 | |
//! | 6 | its verification (CPW Null_Move_Pruning#Verification) | -4 +- 15 | about 0; mates are found |
//! | 7 | internal reduction (CPW Internal_Iterative_Reductions) | 24 +- 29 | 5 to 43 |
//! | 8 | captures split by exchange (CPW Move_Ordering) | 131 +- 77 \* | 60 (Rose#23) |
//! | 8, 10 | quiet histories with malus and gravity (CPW History_Heuristic) | with the next, 20 games: 18-2-0 \* | 71 (Rose#7), 104 (Reckless#93) |
//! | 8, 10 | continuation and capture histories (CPW History_Heuristic) |  | 14 + 8 (Clockwork#155, #157), 3 to 13 |
//! | 8a | late move pruning (CPW Futility_Pruning#MoveCountBasedPruning) | 168 +- 32 | 97 (Rose#29) |
//! | 8a | futility pruning (CPW Futility_Pruning) | 17 +- 28 | 13 to 37 |
//! | 8a | exchange pruning (CPW Static_Exchange_Evaluation) | 56 +- 30 | 22 (Rose#48), 36 (akimbo#51) |
//! | 8a | history pruning (CPW History_Leaf_Pruning) | 5 +- 27 | |
//! | 8a | hopeless quiet moves are not even scored | 35 +- 38 by the clock, early on | |
//! | 8a | of those, checks are searched all the same | at every depth 64 +- 29 at fixed nodes, 3 +- 23 by the clock; tactics are found | |
//! | 8a | captures that lose an exchange but give check are searched | 0 +- 28; tactics are found | |
//! | 8b | singular extension, double, negative, multicut (CPW Singular_Extensions, Multi-Cut) | 38 +- 29; at 4+0.04 17 +- 45 | 16 + 6 + 5 + 9 (Rose#31, #33, #73, #35) |
//! | 8c | late move reductions (CPW Late_Move_Reductions) | 137 +- 77 \* | 338 (Rose#19), 128 (Reckless#103) |
//! | 8c | reduced by history | 42 +- 29 | 22 (Rose#65) |
//! | 8c | checks extended in won positions | -2 +- 19; mates are found | |
//! | 8a, 8c | there more is seen near the root, `hunts` | 34 +- 31 | |
//! | 5 | no reverse futility near the root for the side that loses in won positions | -7 +- 26; 200 mates are found in 2.5 s instead of 10 | |
//! | 8c | principal variation search (CPW Principal_Variation_Search) |  | 2 to 50 |
//! | `delayed` | delayed gain (micro-Max) | a penalty of 1 against none -17 +- 43, against 2 -5 +- 39 | |
//! | `deepen` | aspiration windows (CPW Aspiration_Windows) | 42 +- 33 \* | 11 + 10 (Rose#24, #25), 39 (Simbelmyne#126) |

use super::delay::delayed;
use super::entry::{self, Bound, CairnTable, Stored};
use super::exchange::{captured_value, exchange_reaches};
use super::history::{self, Histories, PieceTo};
use super::picker::{Picker, captured_kind, is_noisy, moving};
use super::prune::{self, Facts, Late, Others, Singularity};
use super::structure::Structure;
use super::{Control, POLL_INTERVAL};
use crate::board::{Board, FIFTY_MOVES, Observer};
use crate::eval::{Evaluator, endgame};
use crate::keys::Keys;
use crate::movegen::{self, Masks};
use crate::moves::Move;
use crate::params;
use crate::piece::{Kind, Piece, Side};
use crate::score::{DRAW, INFINITY, MATE, MATE_BAND, Score, Window, clamp_evaluation, is_mate};
use crate::square::Square;
use arrayvec::ArrayVec;

/// The longest line that is searched, in half-moves.
pub(super) const MAX_PLY: usize = 200;
/// The deepest iteration; entries of the table have 7 bits for it.
pub(super) const MAX_DEPTH: i32 = 120;

/// What a node is to the search: a type, so that each kind is compiled on its own.
pub(super) trait NodeKind {
    /// The kind of the first reply.
    type Next: NodeKind;
    /// The node that was asked for.
    const ROOT: bool;
    /// Searched with an open window.
    const PV: bool;
}

/// The root.
pub(super) struct Root;
/// On the principal variation.
pub(super) struct Pv;
/// Anywhere else: only asked whether it beats a bound.
pub(super) struct NonPv;

impl NodeKind for Root {
    type Next = Pv;
    const ROOT: bool = true;
    const PV: bool = true;
}

impl NodeKind for Pv {
    type Next = Pv;
    const ROOT: bool = false;
    const PV: bool = true;
}

impl NodeKind for NonPv {
    type Next = NonPv;
    const ROOT: bool = false;
    const PV: bool = false;
}

/// The moves of a line.
pub(super) type Line = ArrayVec<Move, MAX_PLY>;

/// What a ply remembers while its subtree is searched.
#[derive(Clone, Default)]
struct Frame {
    /// The corrected evaluation; `None` in check.
    eval: Option<Score>,
    /// The man that moved from here, and where to.
    moved: Option<PieceTo>,
    /// The move that a singular search leaves out.
    excluded: Option<Move>,
    /// A null move is being verified here: none is tried again.
    verifying: bool,
    /// Double extensions on the way here.
    double_extensions: i32,
    pv: Line,
}

/// Everything that watches the board during a search.
struct Watchers<E> {
    eval: E,
    structure: Structure,
}

impl<E: Evaluator> Observer for Watchers<E> {
    #[inline]
    fn push(&mut self, board: &Board, mv: Move) {
        self.eval.push(board, mv);
        self.structure.push(board, mv);
    }

    #[inline]
    fn vanish(&mut self, piece: Piece, square: Square) {
        self.eval.vanish(piece, square);
        self.structure.vanish(piece, square);
    }

    #[inline]
    fn appear(&mut self, piece: Piece, square: Square) {
        self.eval.appear(piece, square);
        self.structure.appear(piece, square);
    }

    #[inline]
    fn settle(&mut self, board: &Board) {
        self.eval.settle(board);
    }

    #[inline]
    fn pop(&mut self) {
        self.eval.pop();
        self.structure.pop();
    }
}

/// One thread's search.
pub(super) struct Thread<'a, E: Evaluator> {
    board: Board,
    watchers: Watchers<E>,
    table: &'a CairnTable,
    histories: &'a mut Histories,
    control: &'a Control,
    /// Nodes counted so far.
    pub(super) nodes: u64,
    node_limit: u64,
    /// The search has come to its end; what is returned from now on means nothing.
    pub(super) stopped: bool,
    /// The longest line of this iteration, in half-moves.
    pub(super) seldepth: usize,
    /// The root moves that may be searched now.
    pub(super) root_moves: Vec<Move>,
    /// Whether those are not all legal ones.
    pub(super) leaves_moves_out: bool,
    /// The root move that is searched first if the table has no other that may be searched.
    pub(super) expected: Option<Move>,
    /// What the best root move so far is worth.
    pub(super) root_score: Score,
    /// The nodes that went into each root move since the search began.
    efforts: Vec<(Move, u64)>,
    /// How many of a hundred quiet moves are seen, if not all.
    pub(super) attention: Option<u8>,
    frames: Vec<Frame>,
}

impl<'a, E: Evaluator> Thread<'a, E> {
    pub(super) fn new(
        board: &Board,
        table: &'a CairnTable,
        histories: &'a mut Histories,
        control: &'a Control,
        node_limit: u64,
        weights: &E::Weights,
    ) -> Thread<'a, E> {
        Thread {
            board: board.clone(),
            watchers: Watchers { eval: E::of(board, weights), structure: Structure::of(board) },
            table,
            histories,
            control,
            nodes: 0,
            node_limit,
            stopped: false,
            seldepth: 0,
            root_moves: Vec::new(),
            leaves_moves_out: false,
            expected: None,
            root_score: DRAW,
            efforts: Vec::new(),
            attention: None,
            frames: vec![Frame::default(); MAX_PLY + 2],
        }
    }

    /// The principal variation of the last search of the root.
    pub(super) fn line(&self) -> &[Move] {
        &self.frames[0].pv
    }

    /// How much of the search so far went into a root move, in permill of its nodes.
    pub(super) fn effort(&self, mv: Move) -> u32 {
        let known = self.efforts.iter().find(|(other, _)| *other == mv);
        known.map_or(0, |(_, nodes)| (nodes * 1000 / self.nodes.max(1)) as u32)
    }

    fn add_effort(&mut self, mv: Move, nodes: u64) {
        match self.efforts.iter_mut().find(|(other, _)| *other == mv) {
            Some((_, sum)) => *sum += nodes,
            None => self.efforts.push((mv, nodes)),
        }
    }

    pub(super) fn clear_line(&mut self) {
        self.frames[0].pv.clear();
    }

    /// The one place where nodes are counted and the one where a search stops. Returns whether to
    /// go on.
    #[inline]
    fn count_node(&mut self) -> bool {
        let polls = self.nodes.is_multiple_of(POLL_INTERVAL) && self.nodes > 0;
        if polls {
            self.control.publish(self.nodes);
        }
        if self.stopped || self.nodes >= self.node_limit || (polls && self.control.is_stopped()) {
            self.stopped = true;
            return false;
        }
        self.nodes += 1;
        true
    }

    #[inline]
    fn make(&mut self, mv: Move, ply: usize) {
        self.frames[ply].moved = moving(&self.board, mv);
        self.board.make(mv, &mut self.watchers);
        self.histories.prefetch_correction(self.watchers.structure.parts());
    }

    #[inline]
    fn unmake(&mut self) {
        self.board.unmake(&mut self.watchers);
    }

    /// What the reply to the move just made leaves to the side that made it.
    #[inline]
    fn reply<K: NodeKind>(
        &mut self,
        window: Window,
        standing: Score,
        depth: i32,
        ply: usize,
        cut_node: bool,
    ) -> Score {
        delayed(window, standing, |window| self.visit::<K>(window, depth, ply + 1, cut_node))
    }

    /// The evaluation with what the histories, draw knowledge and the 50-move rule say about it.
    #[inline]
    fn corrected(&self, standing: Score) -> Score {
        let parts = self.watchers.structure.parts();
        let corrected = standing + self.histories.correction(&self.board, parts);
        clamp_evaluation(endgame::scaled(&self.board, corrected))
    }

    #[inline]
    fn is_draw(&self, ply: usize) -> bool {
        self.board.is_repetition(ply)
            || self.board.insufficient_material()
            || (self.board.halfmove_clock() >= FIFTY_MOVES && !self.board.is_checkmate())
    }

    /// The moves one and two half-moves before the one from this ply.
    #[inline]
    fn earlier(&self, ply: usize) -> [Option<PieceTo>; 2] {
        [1, 2].map(|back| ply.checked_sub(back).and_then(|ply| self.frames[ply].moved))
    }

    /// Searches a node: its own score, exact within the window and a bound outside.
    pub(super) fn visit<K: NodeKind>(
        &mut self,
        window: Window,
        mut depth: i32,
        ply: usize,
        cut_node: bool,
    ) -> Score {
        let Window { mut alpha, mut beta } = window;

        // 1. Horizon.
        if depth <= 0 {
            return self.quiesce::<K>(window, ply, true);
        }

        // 2. Stop and draws. Mate distance: being mated here is the worst, mating next the best.
        if !self.count_node() {
            return DRAW;
        }
        self.frames[ply].pv.clear();
        if !K::ROOT {
            if self.is_draw(ply) {
                return DRAW;
            }
            alpha = alpha.max(-MATE);
            beta = beta.min(MATE - 1);
            if alpha >= beta {
                return alpha;
            }
        }
        let standing = self.watchers.eval.evaluate(&self.board);
        if ply >= MAX_PLY - 1 {
            return standing;
        }
        self.seldepth = self.seldepth.max(ply);

        // 3. Facts. Near the horizon they may be enough without the table, which takes its time to answer.
        let facts = self.facts(depth, beta, standing, ply);
        let Facts { eval: static_eval, in_check, improving, .. } = facts;
        let excluded = self.frames[ply].excluded;
        if !K::PV
            && !in_check
            && excluded.is_none()
            && depth <= params::rfp_early_depth()
            && let Some(score) = prune::reverse_futility(&facts)
        {
            return score;
        }

        // 4. Hash. A bound on the right side is a better evaluation than the evaluation.
        let keys = self.board.keys();
        let known = self.known(keys);
        if let Some(known) = known
            && !K::PV
            && excluded.is_none()
            && known.depth >= depth
            && known.cuts(alpha, beta)
        {
            return known.score;
        }
        let facts = match known {
            Some(known)
                if !in_check && known.cuts(static_eval, static_eval) && !is_mate(known.score) =>
            {
                Facts { eval: known.score, ..facts }
            }
            _ => facts,
        };

        // 5. and 6. Whole-node pruning and null move.
        if !K::PV
            && !in_check
            && excluded.is_none()
            && let Some(score) = self.prune_node(&facts, standing, alpha, ply, cut_node)
        {
            return score;
        }
        if self.stopped {
            return DRAW;
        }

        // 7. Internal reduction: without a hash move this is not the place to look closely.
        let hash_move = self.likely_best::<K>(known.as_ref());
        if !K::ROOT && depth >= params::iir_depth() && hash_move.is_none() && (K::PV || cut_node) {
            depth -= 1;
        }

        // 8. Moves.
        let facts = Facts { depth, ..facts };
        let us = self.board.side_to_move();
        let earlier = self.earlier(ply);
        let masks = Masks::given(&self.board, in_check);
        let mut picker = Picker::new(&self.board, masks, hash_move, earlier);
        let hash_is_noisy = picker.hash_move().is_some_and(|mv| is_noisy(&self.board, mv));
        let node_reduction = prune::node_reduction(K::PV, cut_node, improving, hash_is_noisy);
        let mut best = -INFINITY;
        let mut best_move = None;
        let mut number = 0;
        let mut quiets_tried: ArrayVec<Move, 64> = ArrayVec::new();
        let mut captures_tried: ArrayVec<Move, 32> = ArrayVec::new();
        let original_alpha = alpha;
        loop {
            // Before they are even scored: once hopeless, quiet moves stay so, but for checks.
            if !K::ROOT && best > -MATE_BAND && prune::skips_quiets(&facts, alpha, number + 1) {
                picker.limit_quiets(&self.board, prune::quiets_left(depth, alpha));
            }
            let Some(mv) = picker.next(&self.board, self.histories) else { break };
            if Some(mv) == excluded || (K::ROOT && !self.root_moves.contains(&mv)) {
                continue;
            }
            let Some(moving) = moving(&self.board, mv) else { continue };
            // Early, though some moves are skipped: the later, the longer the table is waited for.
            self.table.prefetch(self.board.likely_keys_after(mv));
            number += 1;
            if K::ROOT {
                self.control.begin_root_move(mv, number as u32);
            }
            let quiet = !is_noisy(&self.board, mv);
            let history = match picker.quiet_score() {
                Some(score) => score,
                None if quiet => self.histories.quiets(us, &earlier).of(mv, moving),
                None => self.histories.capture(moving, captured_kind(&self.board, mv)),
            };
            let reduction = prune::late_move_reduction(depth, number, quiet);

            // 8a. Skip what has no chance.
            let bad_noisy = picker.at_bad_noisy();
            let candidate = Candidate { mv, quiet, bad_noisy, number, reduction, history };
            let hunts = prune::hunts(alpha, ply);
            if !K::ROOT && best > -MATE_BAND && !hunts && self.skips(&facts, alpha, &candidate) {
                continue;
            }

            // 8b. Extend the only good move.
            let mut extension = 0;
            if !K::ROOT
                && excluded.is_none()
                && let Some(known) = known
                && entry::is_move(known.mv, mv)
            {
                match self.singularity::<K>(&facts, &known, mv, ply, cut_node) {
                    Singularity::Extend(plies) => extension = plies,
                    Singularity::Cut(score) => return score,
                }
                if self.stopped {
                    return DRAW;
                }
            }
            self.frames[ply + 1].double_extensions =
                self.frames[ply].double_extensions + i32::from(extension >= 2);

            // 8c. Search: late moves less deeply and with a null window first.
            let nodes_before = self.nodes;
            self.make(mv, ply);
            if prune::extends_check(alpha, depth, ply) && self.board.in_check_after_move() {
                extension = extension.max(1);
            }
            let new_depth = depth - 1 + extension;
            let mut score = best;
            let null = Window::null(alpha);
            let late = number > 1 + i32::from(K::ROOT) && depth >= params::lmr_depth();
            let mut full_null_search = !K::PV || number > 1;
            if late && (quiet || bad_noisy || !K::PV) {
                let checks = self.board.in_check_after_move();
                let late = Late { checks, hunts, history };
                let reduction = reduction + node_reduction;
                let reduced = prune::reduced_depth(new_depth, reduction, late);
                score = self.reply::<NonPv>(null, standing, reduced, ply, true);
                full_null_search = score > alpha && reduced < new_depth;
            }
            if full_null_search {
                score = self.reply::<NonPv>(null, standing, new_depth, ply, !cut_node);
            }
            if K::PV && (number == 1 || score > alpha) {
                let window = Window { alpha, beta };
                score = self.reply::<K::Next>(window, standing, new_depth, ply, false);
            }
            self.unmake();
            if self.stopped {
                return DRAW;
            }
            if K::ROOT {
                self.add_effort(mv, self.nodes - nodes_before);
            }

            // 8d. Raise alpha.
            if score > best {
                best = score;
                if score > alpha {
                    best_move = Some(mv);
                    if K::PV {
                        self.extend_line(mv, ply);
                    }
                    if K::ROOT {
                        self.root_score = score;
                    }
                    if score >= beta {
                        break;
                    }
                    alpha = score;
                }
            }
            if Some(mv) != best_move {
                // Beyond what they hold nothing is learnt.
                let _ = if quiet { quiets_tried.try_push(mv) } else { captures_tried.try_push(mv) };
            }
        }

        // 9. Mate or stalemate.
        if number == 0 {
            return match excluded {
                Some(_) => alpha,
                None if in_check => -MATE,
                None => DRAW,
            };
        }

        // 10. Learn.
        if let Some(mv) = best_move
            && best >= beta
        {
            self.learn(mv, depth, &earlier, &quiets_tried, &captures_tried);
        }
        // With a part of the moves left out this is not the node's score.
        if excluded.is_some() || (K::ROOT && self.leaves_moves_out) {
            return best;
        }
        let bound = Bound::of(best, original_alpha, beta);
        let corrects = !in_check && best_move.is_none_or(|mv| !is_noisy(&self.board, mv));
        if corrects {
            self.learn_correction(bound, best, static_eval, depth);
        }

        // 11. Store.
        let mv = best_move.map(Move::raw);
        entry::store(self.table, keys, Stored { mv, score: best, depth, bound });
        best
    }

    /// Step 4: what the table knows of the position. Near the end that the 50-move rule sets, a score from
    /// earlier in the game, or with fewer moves left by another way, may be spoilt: the move is all that holds.
    #[inline]
    fn known(&self, keys: Keys) -> Option<Stored> {
        let known = entry::probe(self.table, keys)?;
        let is_near_the_end = i32::from(self.board.halfmove_clock()) >= params::careful_clock();
        Some(if is_near_the_end { known.without_score() } else { known })
    }

    /// Step 3: what is known of a node before anything is searched; the corrected evaluation is kept for the
    /// plies below.
    #[inline]
    fn facts(&mut self, depth: i32, beta: Score, standing: Score, ply: usize) -> Facts {
        let in_check = self.board.in_check_after_move();
        let eval = self.corrected(standing);
        self.frames[ply].eval = (!in_check).then_some(eval);
        let before = ply.checked_sub(2).and_then(|ply| self.frames[ply].eval);
        let improving = !in_check && before.is_none_or(|before| eval > before);
        Facts { depth, beta, eval, in_check, improving, hunted: prune::is_hunted(beta, ply) }
    }

    /// What is searched first: the hash move. Where the root leaves it out, what was best of the others.
    fn likely_best<K: NodeKind>(&self, known: Option<&Stored>) -> Option<u16> {
        let stored = known.and_then(|known| known.mv);
        if !K::ROOT {
            return stored;
        }
        let may_be_searched = |raw: &u16| self.root_moves.iter().any(|mv| mv.raw() == *raw);
        stored.filter(may_be_searched).or(self.expected.map(Move::raw))
    }

    /// Step 8a: whether a move is not worth searching.
    fn skips(&self, facts: &Facts, alpha: Score, candidate: &Candidate) -> bool {
        let &Candidate { mv, quiet, bad_noisy, number, reduction, history } = candidate;
        let reduced_depth = (facts.depth - reduction / 1024).max(0);
        let hopeless = quiet
            && (prune::skips_quiets(facts, alpha, number)
                || prune::overlooks(self.attention, self.board.keys().lock, mv)
                || prune::has_bad_history(history, reduced_depth));
        if hopeless && !movegen::gives_check(&self.board, mv) {
            return true;
        }
        // A man given up for a check may open the way to the king.
        (quiet || bad_noisy)
            && prune::exchange_margin(facts, quiet, reduced_depth)
                .is_some_and(|margin| !exchange_reaches(&self.board, mv, margin))
            && (quiet || !movegen::gives_check(&self.board, mv))
    }

    /// Step 10: where the evaluation was off, unless the score only bounds it on the wrong side.
    fn learn_correction(&mut self, bound: Bound, score: Score, static_eval: Score, depth: i32) {
        let informative = match bound {
            Bound::Exact => true,
            Bound::Lower => score > static_eval,
            Bound::Upper => score < static_eval,
        };
        if informative && !is_mate(score) {
            let parts = *self.watchers.structure.parts();
            self.histories.update_correction(&self.board, &parts, depth, score - static_eval);
        }
    }

    /// Steps 5 and 6: decisions about the node as a whole.
    fn prune_node(
        &mut self,
        facts: &Facts,
        standing: Score,
        alpha: Score,
        ply: usize,
        cut_node: bool,
    ) -> Option<Score> {
        if let Some(score) = prune::reverse_futility(facts) {
            return Some(score);
        }
        if prune::razors(facts, alpha) {
            let score = self.quiesce::<NonPv>(Window::null(alpha), ply, true);
            if score <= alpha {
                return Some(score);
            }
        }
        // Elsewhere it is not expected to fail high, and would be a waste.
        if cut_node
            && self.has_pieces()
            && !self.frames[ply].verifying
            && !self.board.last_was_null()
            && let Some(reduction) = prune::null_move_reduction(facts)
        {
            self.frames[ply].moved = None;
            self.frames[ply + 1].double_extensions = self.frames[ply].double_extensions;
            self.board.make_null();
            self.table.prefetch(self.board.keys());
            let window = Window::null(facts.beta - 1);
            let score =
                self.reply::<NonPv>(window, standing, facts.depth - reduction, ply, !cut_node);
            self.board.unmake(&mut self.watchers);
            if self.stopped {
                return Some(DRAW);
            }
            if score >= facts.beta && self.null_move_holds(facts, reduction, ply, cut_node) {
                // A mate found by moving twice is none.
                return Some(if is_mate(score) { facts.beta } else { score });
            }
        }
        None
    }

    /// Whether a null move's cutoff stands without it: passing may be the best there is only because
    /// every move spoils something. Looked at where there is depth to spare.
    fn null_move_holds(
        &mut self,
        facts: &Facts,
        reduction: i32,
        ply: usize,
        cut_node: bool,
    ) -> bool {
        if facts.depth < params::nmp_verification_depth() {
            return true;
        }
        self.frames[ply].verifying = true;
        let window = Window::null(facts.beta - 1);
        let score = self.visit::<NonPv>(window, facts.depth - reduction, ply, cut_node);
        self.frames[ply].verifying = false;
        score >= facts.beta
    }

    /// Whether the side to move has more than king and pawns, so that passing the turn is not
    /// suspiciously good.
    fn has_pieces(&self) -> bool {
        let us = self.board.side_to_move();
        [Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen]
            .iter()
            .any(|&kind| self.board.count(us, kind) > 0)
    }

    /// Step 8b: searches the node without its hash move. If everything else fails low, that move is
    /// singular and is searched more deeply. Source:
    /// <https://www.chessprogramming.org/Singular_Extensions>.
    fn singularity<K: NodeKind>(
        &mut self,
        facts: &Facts,
        known: &Stored,
        mv: Move,
        ply: usize,
        cut_node: bool,
    ) -> Singularity {
        let Some(test) = prune::singular_test(facts, known) else {
            return Singularity::Extend(0);
        };
        self.frames[ply].excluded = Some(mv);
        let line = self.frames[ply].pv.clone();
        let window = Window::null(test.beta - 1);
        let score = self.visit::<NonPv>(window, test.depth, ply, cut_node);
        self.frames[ply].excluded = None;
        self.frames[ply].pv = line;
        let doubles = self.frames[ply].double_extensions;
        let may_double = !K::PV && doubles < params::singular_double_limit();
        let others = Others { score, pv: K::PV, cut_node, may_double };
        prune::singularity(facts, known.score, &test, &others)
    }

    /// Step 10: the move that cut is good, those tried before it were not.
    fn learn(
        &mut self,
        mv: Move,
        depth: i32,
        earlier: &[Option<PieceTo>; 2],
        quiets: &[Move],
        captures: &[Move],
    ) {
        let us: Side = self.board.side_to_move();
        let bonus = history::bonus(depth);
        let Some(best_moving) = moving(&self.board, mv) else { return };
        if is_noisy(&self.board, mv) {
            let captured = captured_kind(&self.board, mv);
            self.histories.update_capture(best_moving, captured, bonus);
        } else {
            self.histories.update_quiet(us, mv, best_moving, earlier, bonus);
            for &other in quiets {
                if let Some(moving) = moving(&self.board, other) {
                    self.histories.update_quiet(us, other, moving, earlier, -bonus);
                }
            }
        }
        for &other in captures {
            if let Some(moving) = moving(&self.board, other) {
                let captured = captured_kind(&self.board, other);
                self.histories.update_capture(moving, captured, -bonus);
            }
        }
    }

    fn extend_line(&mut self, mv: Move, ply: usize) {
        let (head, tail) = self.frames.split_at_mut(ply + 1);
        let (line, rest) = (&mut head[ply].pv, &tail[0].pv);
        line.clear();
        line.push(mv);
        line.extend(rest.iter().copied().take(MAX_PLY - 1));
    }

    /// Quiescence: only captures and promotions, until the position is quiet. In check all evasions.
    /// Source: <https://www.chessprogramming.org/Quiescence_Search>.
    ///
    /// Off the principal variation and out of check, the table is asked at the `first` node and the reply
    /// to an evasion only. Asked everywhere, the search is 4 % slower and not measurably better; asked
    /// nowhere, it is worse (see `scripts/results.csv`).
    fn quiesce<K: NodeKind>(&mut self, window: Window, ply: usize, first: bool) -> Score {
        let Window { mut alpha, beta } = window;
        if !self.count_node() {
            return DRAW;
        }
        self.frames[ply].pv.clear();
        self.seldepth = self.seldepth.max(ply);
        if self.is_draw(ply) {
            return DRAW;
        }
        let standing = self.watchers.eval.evaluate(&self.board);
        if ply >= MAX_PLY - 1 {
            return standing;
        }
        let in_check = self.board.in_check_after_move();

        // Standing pat, unless in check. Where that is enough the table need not be waited for.
        let mut best = -MATE;
        if !in_check {
            best = self.corrected(standing);
            if best >= beta {
                return best;
            }
        }
        let masks = Masks::given(&self.board, in_check);
        let keys = self.board.keys();
        let asks_table = K::PV || in_check || first;
        let known = if asks_table { self.known(keys) } else { None };
        if let Some(known) = known {
            if !K::PV && known.cuts(alpha, beta) {
                return known.score;
            }
            if !in_check && known.cuts(best, best) && !is_mate(known.score) {
                best = known.score;
                if best >= beta {
                    return best;
                }
            }
        }
        let futility = best + params::qs_futility_margin();
        let original_alpha = alpha;
        alpha = alpha.max(best);

        let hash_move = known.and_then(|known| known.mv);
        let mut picker = if in_check {
            Picker::new(&self.board, masks, hash_move, self.earlier(ply))
        } else {
            Picker::noisy(&self.board, masks, hash_move)
        };
        let has_pieces = self.has_pieces();
        let mut best_move = None;
        while let Some(mv) = picker.next(&self.board, self.histories) {
            if !in_check {
                let captured = captured_value(&self.board, mv);
                if has_pieces && let Some(most) = prune::falls_short(futility, captured, alpha) {
                    best = best.max(most);
                    continue;
                }
                let least = prune::least_exchange(futility, alpha);
                if !exchange_reaches(&self.board, mv, least) {
                    if least > 0 {
                        best = best.max(futility);
                    }
                    continue;
                }
            }
            // Only where the table is certain to be asked.
            if K::PV || in_check {
                self.table.prefetch(self.board.likely_keys_after(mv));
            }
            self.make(mv, ply);
            let window = Window { alpha, beta };
            let score =
                delayed(window, standing, |window| self.quiesce::<K>(window, ply + 1, in_check));
            self.unmake();
            if self.stopped {
                return DRAW;
            }
            if score > best {
                best = score;
                if score > alpha {
                    alpha = score;
                    best_move = Some(mv);
                    if K::PV {
                        self.extend_line(mv, ply);
                    }
                    if score >= beta {
                        break;
                    }
                }
            }
        }
        let bound = match best_move {
            Some(_) => Bound::of(best, original_alpha, beta),
            None => Bound::Upper,
        };
        let mv = best_move.map(Move::raw);
        if asks_table {
            entry::store(self.table, keys, Stored { mv, score: best, depth: 0, bound });
        }
        best
    }
}

/// A move with what its node knows about it before it is searched.
struct Candidate {
    mv: Move,
    quiet: bool,
    /// It comes from the captures that lose an exchange.
    bad_noisy: bool,
    /// Which move of the node it is, from 1.
    number: i32,
    /// How much less deeply it would be searched, in 1024ths of a ply.
    reduction: i32,
    history: i32,
}
