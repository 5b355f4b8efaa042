//! One thread's state: the board with those who follow it, the search stack, and its place among the threads.

use super::history::{CONTINUATION_PLIES, Continuations, Histories, PieceTo};
use super::partial_keys::PartialKeysObserver;
use super::picker::moving;
use super::root_lines::Found;
use super::tables::SearchTables;
use super::team::Member;
use super::tt::{TtEntry, TtView};
use crate::board::{Board, FIFTY_MOVES, Observer};
use crate::eval::{self, Evaluator, endgame};
use crate::keys::Keys;
use crate::moves::Move;
use crate::params;
use crate::piece::{Kind, Piece};
use crate::score::{DRAW, Score, clamp_evaluation};
use crate::square::Square;
use arrayvec::ArrayVec;

/// The longest line that is searched, in half-moves.
pub(super) const MAX_PLY: usize = 200;
/// The deepest iteration; a table entry has 7 bits for it.
pub(super) const MAX_DEPTH: i32 = 120;

/// A principal variation.
pub(super) type PvLine = ArrayVec<Move, MAX_PLY>;

/// What a ply remembers while its subtree is searched.
#[derive(Clone, Default)]
pub(super) struct Frame {
    /// The corrected evaluation; `None` in check.
    pub(super) eval: Option<Score>,
    /// The piece that moved from here, and where to.
    pub(super) moved: Option<PieceTo>,
    /// That move, if it is quiet.
    pub(super) quiet: Option<Move>,
    /// The beta cutoffs at this ply since the node two plies up was begun.
    pub(super) cutoffs: i32,
    /// The move that a singular search leaves out.
    pub(super) excluded: Option<Move>,
    /// A null move is being verified here: none is tried again.
    pub(super) verifying: bool,
    /// Double extensions on the way here.
    pub(super) double_extensions: i32,
    pub(super) pv: PvLine,
}

/// All that follow the board during a search.
pub(super) struct Observers<E> {
    pub(super) eval: E,
    pub(super) keys: PartialKeysObserver,
}

impl<E: Evaluator> Observer for Observers<E> {
    #[inline]
    fn push(&mut self, board: &Board, mv: Move) {
        self.eval.push(board, mv);
        self.keys.push(board, mv);
    }

    #[inline]
    fn vanish(&mut self, piece: Piece, square: Square) {
        self.eval.vanish(piece, square);
        self.keys.vanish(piece, square);
    }

    #[inline]
    fn appear(&mut self, piece: Piece, square: Square) {
        self.eval.appear(piece, square);
        self.keys.appear(piece, square);
    }

    #[inline]
    fn finish_move(&mut self, board: &Board) {
        self.eval.finish_move(board);
    }

    #[inline]
    fn pop(&mut self) {
        self.eval.pop();
        self.keys.pop();
    }
}

/// One thread's search.
pub(super) struct Thread<'a, E: Evaluator, T: TtView> {
    pub(super) board: Board,
    pub(super) observers: Observers<E>,
    pub(super) tt: T,
    pub(super) histories: &'a mut Histories,
    pub(super) member: Member<'a>,
    /// Nodes counted so far.
    pub(super) nodes: u64,
    /// How many it may count before it has to ask for more.
    allowance: u64,
    /// How many it may count at all.
    pub(super) cap: u64,
    /// The end of the period under way, where there are periods.
    period_end: u64,
    /// At this count it looks whether to go on.
    next_check: u64,
    /// The search has ended: scores returned from now on mean nothing.
    pub(super) stopped: bool,
    /// The depth of this iteration.
    pub(super) root_depth: i32,
    /// The longest line of this iteration, in half-moves.
    pub(super) seldepth: usize,
    /// The root moves that may be searched now.
    pub(super) root_moves: Vec<Move>,
    /// Whether those are not all legal ones.
    pub(super) leaves_moves_out: bool,
    /// The root move to search first if the table's may not be searched.
    pub(super) expected: Option<Move>,
    /// The score of the best root move so far.
    pub(super) root_score: Score,
    /// Nodes spent on each root move since the search began.
    efforts: Vec<(Move, u64)>,
    /// The best line so far.
    pub(super) found: Found,
    /// Added to the reduction of late moves, in 1024ths of a ply.
    pub(super) variation: i32,
    /// How many of a hundred quiet moves are searched, if not all.
    pub(super) quiet_percent: Option<u8>,
    /// The endgame tables, if any.
    pub(super) tables: Option<&'a SearchTables<'a>>,
    /// By ply.
    pub(super) stack: Vec<Frame>,
}

impl<'a, E: Evaluator, T: TtView> Thread<'a, E, T> {
    pub(super) fn new(
        board: &Board,
        tt: T,
        histories: &'a mut Histories,
        member: Member<'a>,
        weights: &E::Weights,
    ) -> Thread<'a, E, T> {
        Thread {
            board: board.clone(),
            observers: Observers {
                eval: E::of(board, weights),
                keys: PartialKeysObserver::of(board),
            },
            tt,
            histories,
            member,
            nodes: 0,
            allowance: 0,
            cap: u64::MAX,
            period_end: T::PERIOD,
            found: Found::default(),
            next_check: 0,
            stopped: false,
            root_depth: 0,
            seldepth: 0,
            root_moves: Vec::new(),
            leaves_moves_out: false,
            expected: None,
            root_score: DRAW,
            efforts: Vec::new(),
            variation: 0,
            quiet_percent: None,
            tables: None,
            stack: vec![Frame::default(); MAX_PLY + 2],
        }
    }

    /// The principal variation of the last search of the root.
    pub(super) fn pv(&self) -> &[Move] {
        &self.stack[0].pv
    }

    pub(super) fn clear_pv(&mut self) {
        self.stack[0].pv.clear();
    }

    /// Makes a move, followed by the variation one ply on, the principal variation of this ply.
    pub(super) fn update_pv(&mut self, mv: Move, ply: usize) {
        let (head, tail) = self.stack.split_at_mut(ply + 1);
        let (pv, rest) = (&mut head[ply].pv, &tail[0].pv);
        pv.clear();
        pv.push(mv);
        pv.extend(rest.iter().copied().take(MAX_PLY - 1));
    }

    /// The share of all nodes so far that a root move took, in permill.
    pub(super) fn effort(&self, mv: Move) -> u32 {
        let found = self.efforts.iter().find(|(other, _)| *other == mv);
        found.map_or(0, |(_, nodes)| (nodes * 1000 / self.nodes.max(1)) as u32)
    }

    pub(super) fn add_effort(&mut self, mv: Move, nodes: u64) {
        match self.efforts.iter_mut().find(|(other, _)| *other == mv) {
            Some((_, sum)) => *sum += nodes,
            None => self.efforts.push((mv, nodes)),
        }
    }

    /// Counts a node, unless the search stops before it: the one place for both. Returns whether to go on.
    #[inline(always)]
    pub(super) fn count_node(&mut self) -> bool {
        if self.nodes >= self.next_check && !self.may_go_on() {
            return false;
        }
        self.nodes += 1;
        true
    }

    /// Looks at the node limit and, every now and then, at the stop flag.
    #[cold]
    fn may_go_on(&mut self) -> bool {
        let interval = self.member.poll_interval();
        if self.nodes.is_multiple_of(interval) && self.nodes > 0 {
            self.publish_nodes();
            self.stopped |= self.member.is_stopped();
        }
        if self.nodes >= self.allowance && !self.stopped {
            self.allowance = self.allowance.saturating_add(self.member.take_nodes());
            self.stopped = self.nodes >= self.allowance;
        }
        self.stopped |= self.nodes >= self.cap;
        if self.nodes >= self.period_end && !self.stopped {
            self.end_period();
        }
        let next_poll = (self.nodes / interval + 1) * interval;
        let next = next_poll.min(self.allowance).min(self.cap).min(self.period_end);
        self.next_check = if self.stopped { 0 } else { next.max(self.nodes + 1) };
        !self.stopped
    }

    /// Ends a period. The nodes that others have spent for what is taken over from them count against the
    /// limit, from the next node on: a thread that has taken something over goes on.
    fn end_period(&mut self) {
        let before = self.tt.merged_nodes();
        self.stopped = !self.tt.end_period(self.member, &self.found);
        self.period_end += T::PERIOD;
        if self.allowance < u64::MAX {
            self.allowance = self.allowance.saturating_sub(self.tt.merged_nodes() - before);
        }
    }

    /// Publishes the node count.
    pub(super) fn publish_nodes(&self) {
        self.member.publish(self.nodes + self.tt.merged_nodes());
    }

    pub(super) fn begin_iteration(&mut self, depth: i32) {
        self.root_depth = depth;
        self.seldepth = 0;
        self.member.begin_iteration(depth);
    }

    #[inline]
    pub(super) fn make(&mut self, mv: Move, ply: usize) {
        self.stack[ply].moved = moving(&self.board, mv);
        self.board.make(mv, &mut self.observers);
        self.histories.prefetch_correction(self.observers.keys.current());
    }

    #[inline]
    pub(super) fn unmake(&mut self) {
        self.board.unmake(&mut self.observers);
    }

    /// The evaluation without corrections and scaling: a function of the position alone, as the delayed gain
    /// needs it.
    #[inline]
    pub(super) fn raw_eval(&mut self) -> Score {
        eval::raw_eval(&mut self.observers.eval, &self.board)
    }

    /// The static evaluation: the raw one corrected by the histories, scaled by draw knowledge and the
    /// 50-move rule.
    #[inline]
    pub(super) fn corrected(&self, raw_eval: Score) -> Score {
        let keys = self.observers.keys.current();
        let corrected = raw_eval + self.histories.correction(&self.board, keys);
        clamp_evaluation(endgame::scaled(&self.board, corrected))
    }

    /// Whether the node is a draw by repetition, material or the 50-move rule.
    #[inline]
    pub(super) fn is_draw(&self, ply: usize) -> bool {
        self.board.is_repetition(ply)
            || self.board.insufficient_material()
            || (self.board.halfmove_clock() >= FIFTY_MOVES && !self.board.is_checkmate())
    }

    /// Whether the side to move has more than king and pawns: without pieces zugzwang is likely.
    pub(super) fn has_pieces(&self) -> bool {
        let us = self.board.side_to_move();
        [Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen]
            .iter()
            .any(|&kind| self.board.count(us, kind) > 0)
    }

    /// The earlier moves that the continuation histories depend on.
    #[inline]
    pub(super) fn continuation_plies(&self, ply: usize) -> Continuations {
        CONTINUATION_PLIES.map(|back| ply.checked_sub(back).and_then(|ply| self.stack[ply].moved))
    }

    /// The table's entry of a position. Near the end that the 50-move rule sets only its move: a score from
    /// earlier in the game may be wrong by now.
    #[inline]
    pub(super) fn probe_tt(&self, keys: Keys) -> Option<TtEntry> {
        let entry = self.tt.probe(keys)?;
        let is_near_the_end = i32::from(self.board.halfmove_clock()) >= params::careful_clock();
        Some(if is_near_the_end { entry.without_score() } else { entry })
    }
}
