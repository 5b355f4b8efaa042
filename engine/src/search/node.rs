//! The strong search's node.
//!
//! [`Thread::visit`] reads as a table of contents; each step's decision is a function in `prune`, its
//! numbers are in `params`. A score is the node's own until it is settled by the node above (see
//! `delay`): every search of a reply goes through [`delayed`], and only those.

use super::delay::delayed;
use super::entry::{self, Bound, Stored};
use super::exchange::exchange_reaches;
use super::history::{self, PieceTo};
use super::picker::{Picker, captured_kind, is_noisy, moving};
use super::prune::{self, Facts, Late, Others, Singularity};
use super::thread::{MAX_PLY, Thread};
use crate::eval::Evaluator;
use crate::movegen::{self, Masks};
use crate::moves::Move;
use crate::params;
use crate::piece::Side;
use crate::score::{DRAW, INFINITY, MATE, MATE_BAND, Score, Window, is_mate};
use arrayvec::ArrayVec;

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

impl<E: Evaluator> Thread<'_, E> {
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
        let standing = self.raw_eval();
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
        let earlier = self.earlier(ply);
        let masks = Masks::given(&self.board, in_check);
        let mut picker = Picker::new(&self.board, masks, hash_move, earlier);
        let hash_is_noisy = picker.hash_move().is_some_and(|mv| is_noisy(&self.board, mv));
        let reduction = prune::node_reduction(K::PV, cut_node, improving, hash_is_noisy);
        let node = Node { facts, static_eval, standing, ply, cut_node, reduction, earlier };
        let mut tried = Tried::default();
        let original_alpha = alpha;
        loop {
            // Before they are even scored: once hopeless, quiet moves stay so, but for checks.
            let may_skip = !K::ROOT && tried.best > -MATE_BAND;
            if may_skip && prune::skips_quiets(&facts, alpha, tried.number + 1) {
                picker.limit_quiets(&self.board, prune::quiets_left(depth, alpha));
            }
            let Some(mv) = picker.next(&self.board, self.histories) else { break };
            if Some(mv) == excluded || (K::ROOT && !self.root_moves.contains(&mv)) {
                continue;
            }
            // Early, though some moves are skipped: the later, the longer the table is waited for.
            self.table.prefetch(self.board.likely_keys_after(mv));
            tried.number += 1;
            if K::ROOT {
                self.control.begin_root_move(mv, tried.number as u32);
            }
            let Some(candidate) = self.candidate(&node, &picker, mv, tried.number) else {
                continue;
            };

            // 8a. Skip what has no chance.
            let hunts = prune::hunts(alpha, ply);
            if may_skip && !hunts && self.skips(&facts, alpha, &candidate) {
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

            // 8c. Search.
            let window = Window { alpha, beta };
            let score = self.search_move::<K>(&node, &candidate, window, extension);
            if self.stopped {
                return DRAW;
            }

            // 8d. Raise alpha.
            if score > tried.best {
                tried.best = score;
                if score > alpha {
                    tried.best_move = Some(mv);
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
            tried.note(&candidate);
        }

        // 9. Mate or stalemate.
        if tried.number == 0 {
            return match excluded {
                Some(_) => alpha,
                None if in_check => -MATE,
                None => DRAW,
            };
        }

        // 10. and 11. Learn and store.
        self.learn(&node, &tried, beta);
        // With a part of the moves left out this is not the node's score.
        if excluded.is_none() && !(K::ROOT && self.leaves_moves_out) {
            let bound = Bound::of(tried.best, original_alpha, beta);
            self.learn_correction(&node, &tried, bound);
            let mv = tried.best_move.map(Move::raw);
            entry::store(self.table, keys, Stored { mv, score: tried.best, depth, bound });
        }
        tried.best
    }

    /// Step 8: a move with what is known about it before it is searched.
    #[inline(always)]
    fn candidate(&self, node: &Node, picker: &Picker, mv: Move, number: i32) -> Option<Candidate> {
        let moving = moving(&self.board, mv)?;
        let quiet = !is_noisy(&self.board, mv);
        let history = match picker.quiet_score() {
            Some(score) => score,
            None if quiet => {
                self.histories.quiets(self.board.side_to_move(), &node.earlier).of(mv, moving)
            }
            None => self.histories.capture(moving, captured_kind(&self.board, mv)),
        };
        let reduction = prune::late_move_reduction(node.facts.depth, number, quiet);
        let bad_noisy = picker.at_bad_noisy();
        Some(Candidate { mv, quiet, bad_noisy, number, reduction, history })
    }

    /// Step 8c: makes a move and searches the reply; late moves less deeply and with a null window first.
    #[inline(always)]
    fn search_move<K: NodeKind>(
        &mut self,
        node: &Node,
        candidate: &Candidate,
        window: Window,
        mut extension: i32,
    ) -> Score {
        let &Node { standing, ply, cut_node, .. } = node;
        let &Candidate { mv, number, history, .. } = candidate;
        let (alpha, depth) = (window.alpha, node.facts.depth);
        self.frames[ply + 1].double_extensions =
            self.frames[ply].double_extensions + i32::from(extension >= 2);
        let nodes_before = self.nodes;
        self.make(mv, ply);
        if prune::extends_check(alpha, depth, ply) && self.board.in_check_after_move() {
            extension = extension.max(1);
        }
        let new_depth = depth - 1 + extension;
        let mut score = -INFINITY;
        let null = Window::null(alpha);
        let late = number > 1 + i32::from(K::ROOT) && depth >= params::lmr_depth();
        let mut full_null_search = !K::PV || number > 1;
        if late && (candidate.quiet || candidate.bad_noisy || !K::PV) {
            let checks = self.board.in_check_after_move();
            let late = Late { checks, hunts: prune::hunts(alpha, ply), history };
            let reduction = candidate.reduction + node.reduction;
            let reduced = prune::reduced_depth(new_depth, reduction, late);
            score = self.reply::<NonPv>(null, standing, reduced, ply, true);
            full_null_search = score > alpha && reduced < new_depth;
        }
        if full_null_search {
            score = self.reply::<NonPv>(null, standing, new_depth, ply, !cut_node);
        }
        if K::PV && (number == 1 || score > alpha) {
            score = self.reply::<K::Next>(window, standing, new_depth, ply, false);
        }
        self.unmake();
        if K::ROOT && !self.stopped {
            self.add_effort(mv, self.nodes - nodes_before);
        }
        score
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
    fn learn_correction(&mut self, node: &Node, tried: &Tried, bound: Bound) {
        let (score, static_eval) = (tried.best, node.static_eval);
        let informative = match bound {
            Bound::Exact => true,
            Bound::Lower => score > static_eval,
            Bound::Upper => score < static_eval,
        };
        let quiet = tried.best_move.is_none_or(|mv| !is_noisy(&self.board, mv));
        if !node.facts.in_check && quiet && informative && !is_mate(score) {
            let parts = *self.watchers.structure.parts();
            let error = score - static_eval;
            self.histories.update_correction(&self.board, &parts, node.facts.depth, error);
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
    fn learn(&mut self, node: &Node, tried: &Tried, beta: Score) {
        let Some(mv) = tried.best_move.filter(|_| tried.best >= beta) else { return };
        let us: Side = self.board.side_to_move();
        let bonus = history::bonus(node.facts.depth);
        let Some(best_moving) = moving(&self.board, mv) else { return };
        if is_noisy(&self.board, mv) {
            let captured = captured_kind(&self.board, mv);
            self.histories.update_capture(best_moving, captured, bonus);
        } else {
            self.histories.update_quiet(us, mv, best_moving, &node.earlier, bonus);
            for &other in &tried.quiets {
                if let Some(moving) = moving(&self.board, other) {
                    self.histories.update_quiet(us, other, moving, &node.earlier, -bonus);
                }
            }
        }
        for &other in &tried.captures {
            if let Some(moving) = moving(&self.board, other) {
                let captured = captured_kind(&self.board, other);
                self.histories.update_capture(moving, captured, -bonus);
            }
        }
    }
}

/// What stays the same while a node's moves are searched.
struct Node {
    facts: Facts,
    /// The corrected evaluation, without what the table knows better.
    static_eval: Score,
    standing: Score,
    ply: usize,
    cut_node: bool,
    /// How much less deeply late moves are searched here, in 1024ths of a ply.
    reduction: i32,
    /// The moves one and two half-moves before.
    earlier: [Option<PieceTo>; 2],
}

/// What has come of the moves of a node so far.
struct Tried {
    best: Score,
    best_move: Option<Move>,
    number: i32,
    /// Those that were searched and are not best.
    quiets: ArrayVec<Move, 64>,
    captures: ArrayVec<Move, 32>,
}

impl Default for Tried {
    #[inline(always)]
    fn default() -> Tried {
        Tried {
            best: -INFINITY,
            best_move: None,
            number: 0,
            quiets: ArrayVec::new(),
            captures: ArrayVec::new(),
        }
    }
}

impl Tried {
    /// Remembers a move that was searched, unless it is the best one.
    #[inline(always)]
    fn note(&mut self, candidate: &Candidate) {
        let &Candidate { mv, quiet, .. } = candidate;
        if Some(mv) != self.best_move {
            // Beyond what they hold nothing is learnt.
            let _ = if quiet { self.quiets.try_push(mv) } else { self.captures.try_push(mv) };
        }
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
