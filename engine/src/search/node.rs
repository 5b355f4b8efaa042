#![doc = include_str!("TECHNIQUES.md")]

use super::delay::delayed;
use super::history::{self, Continuations};
use super::picker::{Picker, captured_kind, is_noisy, moving};
use super::prune::{self, Facts, HashMove, Late, Others, Singularity};
use super::see::see_ge;
use super::thread::{Frame, MAX_PLY, Thread};
use super::tt::{self, Bound, TtEntry, TtView};
use crate::eval::Evaluator;
use crate::keys::Keys;
use crate::movegen::{self, ChecksAndPins};
use crate::moves::Move;
use crate::params;
use crate::score::{DRAW, INFINITY, MATE, Score, TB_BAND, Window, is_proved};
use arrayvec::ArrayVec;

/// The kind of a node, as a type: each kind is compiled on its own.
pub(super) trait NodeKind {
    /// The kind of the first reply.
    type Next: NodeKind;
    /// The root of the search.
    const ROOT: bool;
    /// Searched with an open window.
    const PV: bool;
}

/// The root.
pub(super) struct Root;
/// On the principal variation.
pub(super) struct Pv;
/// Searched with a null window: cut and all nodes.
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

/// What stays the same while a node's moves are searched.
struct NodeContext {
    facts: Facts,
    /// The corrected evaluation, before a table entry refines it.
    static_eval: Score,
    /// The evaluation without corrections and scaling.
    raw_eval: Score,
    keys: Keys,
    tt_entry: Option<TtEntry>,
    /// The move that a singular search leaves out.
    excluded: Option<Move>,
    ply: usize,
    /// Expected to fail high.
    cut_node: bool,
    /// What the node adds to the reduction of late moves, in 1024ths of a ply.
    reduction: i32,
    /// The earlier moves that the continuation histories depend on.
    continuations: Continuations,
}

/// A move, and what is known of it before it is searched.
struct Candidate {
    mv: Move,
    quiet: bool,
    /// A capture or promotion that fails SEE.
    bad_noisy: bool,
    /// Its place in the order of moves, from 1.
    number: i32,
    /// Late move reduction, in 1024ths of a ply.
    reduction: i32,
    history: i32,
}

/// The result of the moves searched so far.
struct Tried {
    best: Score,
    /// The best move that raised alpha.
    best_move: Option<Move>,
    /// How many moves were looked at, skipped ones included.
    number: i32,
    /// Searched quiet moves other than the best.
    quiets: ArrayVec<Move, 64>,
    /// Searched captures and promotions other than the best.
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
    /// Remembers a searched move for the history malus, unless it is the best one.
    #[inline(always)]
    fn add(&mut self, candidate: &Candidate) {
        let &Candidate { mv, quiet, .. } = candidate;
        if Some(mv) != self.best_move {
            // When full, later moves get no malus.
            let _ = if quiet { self.quiets.try_push(mv) } else { self.captures.try_push(mv) };
        }
    }
}

impl<E: Evaluator, T: TtView> Thread<'_, E, T> {
    /// Searches the reply to the move just made. Returns the score for the side that made it.
    #[inline]
    fn search_reply<K: NodeKind>(
        &mut self,
        window: Window,
        raw_eval: Score,
        depth: i32,
        ply: usize,
        cut_node: bool,
    ) -> Score {
        delayed(window, raw_eval, |window| self.search_node::<K>(window, depth, ply + 1, cut_node))
    }

    /// Searches a node. Returns the score for the side to move: exact within the window, a bound outside.
    /// Means nothing once `stopped` is set.
    pub(super) fn search_node<K: NodeKind>(
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

        // 2. Stop, draws, and mate distance pruning: mated here is the worst, mating next the best.
        if !self.count_node() {
            return DRAW;
        }
        self.stack[ply].pv.clear();
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
        let raw_eval = self.raw_eval();
        if ply >= MAX_PLY - 1 {
            return raw_eval;
        }
        self.seldepth = self.seldepth.max(ply);
        self.stack[ply + 2].cutoffs = 0;

        // 3. Facts. Near the horizon prune before probing: saves a cache miss.
        let facts = self.facts(depth, beta, raw_eval, ply);
        let Facts { eval: static_eval, in_check, improving, .. } = facts;
        let excluded = self.stack[ply].excluded;
        let may_prune = !K::PV && !in_check && excluded.is_none();
        if may_prune && let Some(score) = prune::early_reverse_futility(&facts) {
            return score;
        }

        // 4. Transposition table: cutoff, or a better evaluation.
        let keys = self.board.keys();
        let tt_entry = self.probe_tt(keys);
        if let Some(entry) = tt_entry
            && !K::PV
            && excluded.is_none()
            && entry.depth >= depth
            && entry.is_cutoff(alpha, beta)
        {
            return entry.score;
        }

        // 4b. Endgame tables: cutoff, or in a principal variation a bound.
        let mut tried = Tried::default();
        let original_alpha = alpha;
        let mut most = INFINITY;
        if !K::ROOT
            && excluded.is_none()
            && let Some(tables) = self.tables
            && let Some((score, bound)) = tables.ask(&mut self.board, depth)
        {
            let known = TtEntry { mv: None, score, depth, bound };
            if known.is_cutoff(alpha, beta) {
                self.tt.store(keys, known);
                return score;
            }
            match bound {
                Bound::Lower if K::PV => {
                    tried.best = score;
                    alpha = alpha.max(score);
                }
                Bound::Upper if K::PV => most = score,
                _ => {}
            }
        }
        let facts = facts.refined_by(tt_entry.as_ref());

        // 5. and 6. Whole-node pruning and null move.
        if may_prune && let Some(score) = self.prune_node(&facts, raw_eval, alpha, ply, cut_node) {
            return score;
        }

        // 7. Internal iterative reduction: no hash move.
        let hash_move = self.hash_move::<K>(tt_entry.as_ref());
        if !K::ROOT && depth >= params::iir_depth() && hash_move.is_none() && (K::PV || cut_node) {
            depth -= 1;
        }

        // 8. Moves.
        let facts = Facts { depth, ..facts };
        let continuations = self.continuation_plies(ply);
        let checks_and_pins = ChecksAndPins::given(&self.board, in_check);
        let mut picker = Picker::new(&self.board, checks_and_pins, hash_move, continuations);
        let hash = match picker.hash_move() {
            None => HashMove::None,
            Some(mv) if is_noisy(&self.board, mv) => HashMove::Noisy,
            Some(_) => HashMove::Quiet,
        };
        let node = NodeContext {
            facts,
            static_eval,
            raw_eval,
            keys,
            tt_entry,
            excluded,
            ply,
            cut_node,
            reduction: self.variation + prune::node_reduction(K::PV, cut_node, improving, hash),
            continuations,
        };
        loop {
            // Once quiet moves are hopeless they stay so, but for checks: generate and score none.
            let may_skip = !K::ROOT && tried.best > -TB_BAND;
            if may_skip && prune::skips_quiets(&facts, alpha, tried.number + 1) {
                picker.limit_quiets(&self.board, prune::quiets_left(depth, alpha));
            }
            let Some(mv) = picker.next(&self.board, self.histories) else { break };
            if Some(mv) == excluded || (K::ROOT && !self.root_moves.contains(&mv)) {
                continue;
            }
            // Prefetch before pruning, though some moves are skipped: hides more of the cache miss.
            self.tt.prefetch(self.board.likely_keys_after(mv));
            tried.number += 1;
            if K::ROOT {
                self.member.begin_root_move(mv, tried.number);
            }
            let Some(candidate) = self.candidate(&node, &picker, mv, tried.number) else {
                continue;
            };

            // 8a. Move pruning.
            if may_skip
                && !prune::seeks_faster_win(alpha, ply)
                && self.skips(&facts, alpha, &candidate)
            {
                continue;
            }

            // 8b. Singular extension.
            let extension = match self.singularity::<K>(&node, mv) {
                Singularity::Extend(plies) => plies,
                Singularity::Cut(score) => return score,
            };
            if self.stopped {
                return DRAW;
            }

            // 8c. Search.
            let score = self.search_move::<K>(&node, &candidate, Window { alpha, beta }, extension);
            if self.stopped {
                return DRAW;
            }

            // 8d. Raise alpha.
            if score > tried.best {
                tried.best = score;
                if score > alpha {
                    tried.best_move = Some(mv);
                    self.update_best::<K>(mv, score, ply);
                    if score >= beta {
                        self.stack[ply].cutoffs += 1;
                        break;
                    }
                    alpha = score;
                }
            }
            tried.add(&candidate);
        }
        tried.best = tried.best.min(most);
        self.finish::<K>(&node, &tried, Window { alpha: original_alpha, beta })
    }

    /// Step 3: what is known of a node before anything is searched. Keeps the evaluation on the stack, for
    /// `improving` two plies on.
    #[inline]
    fn facts(&mut self, depth: i32, beta: Score, raw_eval: Score, ply: usize) -> Facts {
        let in_check = self.board.in_check_after_move();
        let eval = self.corrected(raw_eval);
        self.stack[ply].eval = (!in_check).then_some(eval);
        let before = ply.checked_sub(2).and_then(|ply| self.stack[ply].eval);
        let improving = !in_check && before.is_none_or(|before| eval > before);
        let opponent_seeks_faster_win = prune::opponent_seeks_faster_win(beta, ply);
        Facts { depth, beta, eval, in_check, improving, opponent_seeks_faster_win }
    }

    /// The move to search first: the entry's. At the root, if that may not be searched, the best one of the
    /// last iteration for this line.
    fn hash_move<K: NodeKind>(&self, tt_entry: Option<&TtEntry>) -> Option<u16> {
        let stored = tt_entry.and_then(|entry| entry.mv);
        if !K::ROOT {
            return stored;
        }
        let may_be_searched = |raw: &u16| self.root_moves.iter().any(|mv| mv.raw() == *raw);
        stored.filter(may_be_searched).or(self.expected.map(Move::raw))
    }

    /// Steps 5 and 6: whole-node pruning. Returns a score if the moves need not be searched.
    fn prune_node(
        &mut self,
        facts: &Facts,
        raw_eval: Score,
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
        // Null move, in cut nodes only: others are not expected to fail high.
        if cut_node
            && self.has_pieces()
            && !self.stack[ply].verifying
            && !self.board.last_was_null()
            && let Some(reduction) = prune::null_move_reduction(facts)
        {
            self.stack[ply].moved = None;
            self.stack[ply].quiet = None;
            self.stack[ply + 1].double_extensions = self.stack[ply].double_extensions;
            self.board.make_null();
            self.tt.prefetch(self.board.keys());
            let window = Window::null(facts.beta - 1);
            let depth = facts.depth - reduction;
            let score = self.search_reply::<NonPv>(window, raw_eval, depth, ply, !cut_node);
            self.board.unmake(&mut self.observers);
            if self.stopped {
                return Some(DRAW);
            }
            if score >= facts.beta && self.verify_null_move(facts, reduction, ply, cut_node) {
                // A win after two moves in a row is not proved.
                return Some(if is_proved(score) { facts.beta } else { score });
            }
        }
        self.stopped.then_some(DRAW)
    }

    /// Null move verification: at high depth a reduced search without null moves has to fail high too, as
    /// in zugzwang passing would be best. Source:
    /// <https://www.chessprogramming.org/Null_Move_Pruning#Verification>.
    fn verify_null_move(
        &mut self,
        facts: &Facts,
        reduction: i32,
        ply: usize,
        cut_node: bool,
    ) -> bool {
        if facts.depth < params::nmp_verification_depth() {
            return true;
        }
        self.stack[ply].verifying = true;
        let window = Window::null(facts.beta - 1);
        let score = self.search_node::<NonPv>(window, facts.depth - reduction, ply, cut_node);
        self.stack[ply].verifying = false;
        score >= facts.beta
    }

    /// Step 8: what is known of a move before it is searched.
    #[inline(always)]
    fn candidate(
        &self,
        node: &NodeContext,
        picker: &Picker,
        mv: Move,
        number: i32,
    ) -> Option<Candidate> {
        let moving = moving(&self.board, mv)?;
        let quiet = !is_noisy(&self.board, mv);
        let history = match picker.quiet_score() {
            Some(score) => score,
            None if quiet => {
                let us = self.board.side_to_move();
                self.histories.quiet_scores(us, &node.continuations).of(mv, moving)
            }
            None => self.histories.capture(moving, captured_kind(&self.board, mv)),
        };
        let reduction = prune::late_move_reduction(node.facts.depth, number, quiet);
        let bad_noisy = picker.at_bad_noisy();
        Some(Candidate { mv, quiet, bad_noisy, number, reduction, history })
    }

    /// Step 8a: whether to skip a move: late move, futility, history and SEE pruning.
    fn skips(&self, facts: &Facts, alpha: Score, candidate: &Candidate) -> bool {
        let &Candidate { mv, quiet, bad_noisy, number, reduction, history } = candidate;
        let reduced_depth = (facts.depth - reduction / 1024).max(0);
        let hopeless = quiet
            && (prune::skips_quiets(facts, alpha, number)
                || prune::overlooks(self.quiet_percent, self.board.keys().lock, mv)
                || prune::has_bad_history(history, reduced_depth));
        if hopeless && !movegen::gives_check(&self.board, mv) {
            return true;
        }
        // Captures that fail SEE but give check are searched: sacrifices that open the king.
        (quiet || bad_noisy)
            && prune::see_margin(facts, quiet, reduced_depth)
                .is_some_and(|margin| !see_ge(&self.board, mv, margin))
            && (quiet || !movegen::gives_check(&self.board, mv))
    }

    /// Step 8b: singular extension. Searches the node without its hash move; if all other moves fail low,
    /// that move is singular and is extended. Source:
    /// <https://www.chessprogramming.org/Singular_Extensions>.
    #[inline(always)]
    fn singularity<K: NodeKind>(&mut self, node: &NodeContext, mv: Move) -> Singularity {
        match node.tt_entry {
            Some(entry)
                if !K::ROOT
                    && node.excluded.is_none()
                    && tt::is_move(entry.mv, mv)
                    && prune::may_be_singular(node.ply, self.root_depth) =>
            {
                self.singular_search::<K>(node, &entry, mv)
            }
            _ => Singularity::Extend(0),
        }
    }

    fn singular_search<K: NodeKind>(
        &mut self,
        node: &NodeContext,
        entry: &TtEntry,
        mv: Move,
    ) -> Singularity {
        let &NodeContext { facts, ply, cut_node, .. } = node;
        let Some(test) = prune::singular_test(&facts, entry) else {
            return Singularity::Extend(0);
        };
        self.stack[ply].excluded = Some(mv);
        let pv = self.stack[ply].pv.clone();
        let window = Window::null(test.beta - 1);
        let score = self.search_node::<NonPv>(window, test.depth, ply, cut_node);
        self.stack[ply].excluded = None;
        self.stack[ply].pv = pv;
        let doubles = self.stack[ply].double_extensions;
        let may_double = !K::PV && doubles < params::singular_double_limit();
        let others = Others { score, pv: K::PV, cut_node, may_double };
        prune::singularity(&facts, entry.score, &test, &others)
    }

    /// Step 8c: makes a move and searches the reply. Principal variation search: all moves but the first
    /// with a null window, late ones at reduced depth; whatever beats alpha is searched again. Source:
    /// <https://www.chessprogramming.org/Principal_Variation_Search>.
    #[inline(always)]
    fn search_move<K: NodeKind>(
        &mut self,
        node: &NodeContext,
        candidate: &Candidate,
        window: Window,
        mut extension: i32,
    ) -> Score {
        let &NodeContext { raw_eval, ply, cut_node, .. } = node;
        let &Candidate { mv, number, history, .. } = candidate;
        let (alpha, depth) = (window.alpha, node.facts.depth);
        self.stack[ply + 1].double_extensions =
            self.stack[ply].double_extensions + i32::from(extension >= 2);
        let nodes_before = self.nodes;
        self.stack[ply].quiet = candidate.quiet.then_some(mv);
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
            let gives_check = self.board.in_check_after_move();
            let seeks_faster_win = prune::seeks_faster_win(alpha, ply);
            let cutoffs = self.stack[ply + 1].cutoffs;
            let late = Late { gives_check, seeks_faster_win, history, cutoffs };
            let reduction = candidate.reduction + node.reduction;
            let reduced = prune::reduced_depth(new_depth, reduction, late);
            score = self.search_reply::<NonPv>(null, raw_eval, reduced, ply, true);
            full_null_search = score > alpha && reduced < new_depth;
        }
        if full_null_search {
            score = self.search_reply::<NonPv>(null, raw_eval, new_depth, ply, !cut_node);
        }
        if K::PV && (number == 1 || score > alpha) {
            score = self.search_reply::<K::Next>(window, raw_eval, new_depth, ply, false);
        }
        self.unmake();
        if K::ROOT && !self.stopped {
            self.add_effort(mv, self.nodes - nodes_before);
        }
        score
    }

    /// Step 8d: a move that raised alpha becomes the first of the principal variation.
    #[inline(always)]
    fn update_best<K: NodeKind>(&mut self, mv: Move, score: Score, ply: usize) {
        if K::PV {
            self.update_pv(mv, ply);
        }
        if K::ROOT {
            self.root_score = score;
        }
    }

    /// Steps 9 to 11: what the moves have come to, within the node's first window.
    #[inline(always)]
    fn finish<K: NodeKind>(&mut self, node: &NodeContext, tried: &Tried, window: Window) -> Score {
        let Window { alpha, beta } = window;

        // 9. Mate or stalemate.
        if tried.number == 0 {
            return match node.excluded {
                Some(_) => alpha,
                None if node.facts.in_check => -MATE,
                None => DRAW,
            };
        }

        // 10. Learn.
        if tried.best >= beta {
            self.update_histories(node, tried);
        } else if tried.best <= alpha {
            self.credit_last_move(node);
        }
        // With moves left out this is not the node's score.
        if node.excluded.is_some() || (K::ROOT && self.leaves_moves_out) {
            return tried.best;
        }
        let bound = Bound::of(tried.best, alpha, beta);
        self.update_corrections(node, tried, bound);

        // 11. Store.
        let mv = tried.best_move.map(Move::raw);
        let depth = node.facts.depth;
        self.tt.store(node.keys, TtEntry { mv, score: tried.best, depth, bound });
        tried.best
    }

    /// Step 10, after a beta cutoff: bonus for the best move, malus for those tried before it.
    fn update_histories(&mut self, node: &NodeContext, tried: &Tried) {
        let Some(mv) = tried.best_move else { return };
        let us = self.board.side_to_move();
        let bonus = history::bonus(node.facts.depth);
        let Some(best_moving) = moving(&self.board, mv) else { return };
        if is_noisy(&self.board, mv) {
            let captured = captured_kind(&self.board, mv);
            self.histories.update_capture(best_moving, captured, bonus);
        } else {
            self.histories.update_quiet(us, mv, best_moving, &node.continuations, bonus);
            let malus = bonus * params::history_malus() / 128;
            for &other in &tried.quiets {
                if let Some(moving) = moving(&self.board, other) {
                    self.histories.update_quiet(us, other, moving, &node.continuations, -malus);
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

    /// Step 10, after a fail low: bonus for the quiet move that led here, as no reply refutes it.
    fn credit_last_move(&mut self, node: &NodeContext) {
        let Some(before) = node.ply.checked_sub(1).filter(|_| node.excluded.is_none()) else {
            return;
        };
        let Frame { quiet: Some(mv), moved: Some(moved), .. } = self.stack[before] else { return };
        let bonus = history::bonus(node.facts.depth) * params::history_unrefuted_share() / 128;
        let them = self.board.side_to_move().other();
        let continuations = self.continuation_plies(before);
        self.histories.update_quiet(them, mv, moved, &continuations, bonus);
    }

    /// Step 10: correction histories learn the error of the static evaluation, if the bound proves one and
    /// no capture explains it.
    fn update_corrections(&mut self, node: &NodeContext, tried: &Tried, bound: Bound) {
        let (score, static_eval) = (tried.best, node.static_eval);
        let proves_error = match bound {
            Bound::Exact => true,
            Bound::Lower => score > static_eval,
            Bound::Upper => score < static_eval,
        };
        let quiet = tried.best_move.is_none_or(|mv| !is_noisy(&self.board, mv));
        if !node.facts.in_check && quiet && proves_error && !is_proved(score) {
            let keys = *self.observers.keys.current();
            let error = score - static_eval;
            self.histories.update_correction(&self.board, &keys, node.facts.depth, error);
        }
    }
}
