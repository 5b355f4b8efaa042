//! What one thread of the strong search has: the board with those that follow it, the search stack, and
//! what it shares with others.

use super::entry::{self, CairnTable, Stored};
use super::history::{Histories, PieceTo};
use super::picker::moving;
use super::structure::Structure;
use super::{Control, POLL_INTERVAL};
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
/// The deepest iteration; entries of the table have 7 bits for it.
pub(super) const MAX_DEPTH: i32 = 120;

/// The moves of a line.
pub(super) type Line = ArrayVec<Move, MAX_PLY>;

/// What a ply remembers while its subtree is searched.
#[derive(Clone, Default)]
pub(super) struct Frame {
    /// The corrected evaluation; `None` in check.
    pub(super) eval: Option<Score>,
    /// The man that moved from here, and where to.
    pub(super) moved: Option<PieceTo>,
    /// The move that a singular search leaves out.
    pub(super) excluded: Option<Move>,
    /// A null move is being verified here: none is tried again.
    pub(super) verifying: bool,
    /// Double extensions on the way here.
    pub(super) double_extensions: i32,
    pub(super) pv: Line,
}

/// Everything that watches the board during a search.
pub(super) struct Watchers<E> {
    pub(super) eval: E,
    pub(super) structure: Structure,
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
    pub(super) board: Board,
    pub(super) watchers: Watchers<E>,
    pub(super) table: &'a CairnTable,
    pub(super) histories: &'a mut Histories,
    pub(super) control: &'a Control,
    /// Nodes counted so far.
    pub(super) nodes: u64,
    pub(super) node_limit: u64,
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
    pub(super) efforts: Vec<(Move, u64)>,
    /// How many of a hundred quiet moves are seen, if not all.
    pub(super) attention: Option<u8>,
    pub(super) frames: Vec<Frame>,
}

impl<'a, E: Evaluator> Thread<'a, E> {
    pub(super) fn new(
        board: &Board,
        table: &'a CairnTable,
        histories: &'a mut Histories,
        control: &'a Control,
        node_limit: u64,
    ) -> Thread<'a, E> {
        Thread {
            board: board.clone(),
            watchers: Watchers { eval: E::of(board), structure: Structure::of(board) },
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

    pub(super) fn add_effort(&mut self, mv: Move, nodes: u64) {
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
    pub(super) fn count_node(&mut self) -> bool {
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
    pub(super) fn make(&mut self, mv: Move, ply: usize) {
        self.frames[ply].moved = moving(&self.board, mv);
        self.board.make(mv, &mut self.watchers);
        self.histories.prefetch_correction(self.watchers.structure.parts());
    }

    #[inline]
    pub(super) fn unmake(&mut self) {
        self.board.unmake(&mut self.watchers);
    }

    /// The raw evaluation: a function of the position alone, which the delayed gain is measured by.
    #[inline]
    pub(super) fn raw_eval(&self) -> Score {
        eval::raw_eval(&self.watchers.eval, &self.board)
    }

    /// The evaluation with what the histories, draw knowledge and the 50-move rule say about it.
    #[inline]
    pub(super) fn corrected(&self, standing: Score) -> Score {
        let parts = self.watchers.structure.parts();
        let corrected = standing + self.histories.correction(&self.board, parts);
        clamp_evaluation(endgame::scaled(&self.board, corrected))
    }

    #[inline]
    pub(super) fn is_draw(&self, ply: usize) -> bool {
        self.board.is_repetition(ply)
            || self.board.insufficient_material()
            || (self.board.halfmove_clock() >= FIFTY_MOVES && !self.board.is_checkmate())
    }

    /// The moves one and two half-moves before the one from this ply.
    #[inline]
    pub(super) fn earlier(&self, ply: usize) -> [Option<PieceTo>; 2] {
        [1, 2].map(|back| ply.checked_sub(back).and_then(|ply| self.frames[ply].moved))
    }

    /// Step 4: what the table knows of the position. Near the end that the 50-move rule sets, a score from
    /// earlier in the game, or with fewer moves left by another way, may be spoilt: the move is all that holds.
    #[inline]
    pub(super) fn known(&self, keys: Keys) -> Option<Stored> {
        let known = entry::probe(self.table, keys)?;
        let is_near_the_end = i32::from(self.board.halfmove_clock()) >= params::careful_clock();
        Some(if is_near_the_end { known.without_score() } else { known })
    }

    /// Whether the side to move has more than king and pawns, so that passing the turn is not
    /// suspiciously good.
    pub(super) fn has_pieces(&self) -> bool {
        let us = self.board.side_to_move();
        [Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen]
            .iter()
            .any(|&kind| self.board.count(us, kind) > 0)
    }

    pub(super) fn extend_line(&mut self, mv: Move, ply: usize) {
        let (head, tail) = self.frames.split_at_mut(ply + 1);
        let (line, rest) = (&mut head[ply].pv, &tail[0].pv);
        line.clear();
        line.push(mv);
        line.extend(rest.iter().copied().take(MAX_PLY - 1));
    }
}
