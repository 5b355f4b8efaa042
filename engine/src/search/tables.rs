//! Endgame tables in the search: wins and draws within the tree, and the root moves that keep them.
//!
//! Within the tree they are asked right after a capture or pawn move, when the 50-move rule counts from
//! zero. Where the root itself is in the tables, its moves are ranked by their distances; then the tree
//! asks nothing, as all that is left to find is the mate.

use super::tt::Bound;
use super::{Control, Limits, TableUse};
use crate::board::Board;
use crate::moves::Move;
use crate::score::{DRAW, Score, TB_WIN, is_mate};
use crate::syzygy::{RankedMove, Wdl};

/// The tables as one search uses them.
pub(super) struct SearchTables<'a> {
    using: &'a TableUse,
    control: &'a Control,
    /// The root's moves, the best first; none if the root is not in the tables.
    ranked: Vec<RankedMove>,
    /// Whether the tree asks the tables.
    in_tree: bool,
}

impl<'a> SearchTables<'a> {
    /// The tables of the limits, if there are any, with what they say of the root.
    pub(super) fn new(
        board: &Board,
        limits: &'a Limits,
        control: &'a Control,
    ) -> Option<SearchTables<'a>> {
        let using = limits.tables.as_ref()?;
        let covers = board.piece_count() <= using.most_pieces();
        let verdict = covers
            .then(|| using.tables.rank_root(&mut board.clone(), using.fifty_move_rule).ok())
            .flatten();
        let Some(verdict) = verdict else {
            return Some(SearchTables { using, control, ranked: Vec::new(), in_tree: true });
        };
        control.add_table_hits(verdict.moves.len() as u64);
        // Without distances only the tree finds the captures and pawn moves that make progress.
        let is_won = verdict.moves.first().is_some_and(|best| best.wdl > Wdl::Draw);
        let in_tree = is_won && !verdict.by_distance;
        Some(SearchTables { using, control, ranked: verdict.moves, in_tree })
    }

    /// The same tables, counting their hits elsewhere.
    pub(super) fn counting_for(&self, control: &'a Control) -> SearchTables<'a> {
        SearchTables { control, ranked: self.ranked.clone(), ..*self }
    }

    /// What the tables say of a node: a draw exactly; of a win or loss only that, as there may be a mate.
    #[inline(always)]
    pub(super) fn ask(&self, board: &mut Board, depth: i32) -> Option<(Score, Bound)> {
        let asks = self.in_tree && board.halfmove_clock() == 0;
        if asks { self.probe(board, depth) } else { None }
    }

    #[cold]
    fn probe(&self, board: &mut Board, depth: i32) -> Option<(Score, Bound)> {
        // A node of fewer pieces than the tables have is worth asking at any depth.
        let (pieces, most) = (board.piece_count(), self.using.most_pieces());
        let is_asked = pieces < most || (pieces == most && depth >= self.using.depth as i32);
        if !is_asked || board.castling_rights() != 0 {
            return None;
        }
        let wdl = self.using.tables.probe_wdl(board).ok()?;
        self.control.add_table_hits(1);
        let score = self.score(wdl);
        let bound = match score.signum() {
            0 => Bound::Exact,
            1 => Bound::Lower,
            _ => Bound::Upper,
        };
        Some((score, bound))
    }

    /// Puts root moves of a higher rank first.
    pub(super) fn sort(&self, moves: &mut [Move]) {
        moves.sort_by_key(|mv| self.ranked.iter().position(|ranked| ranked.mv == *mv));
    }

    /// Leaves only those of the root moves that have the highest rank.
    pub(super) fn keep_best(&self, moves: &mut Vec<Move>) {
        let rank = |mv: &Move| self.ranked.iter().find(|r| r.mv == *mv).map(|r| r.rank);
        let best = moves.iter().filter_map(rank).max();
        moves.retain(|mv| rank(mv) == best);
    }

    /// The score that the tables say a root move has, if they know it and the search has found no mate.
    pub(super) fn told(&self, mv: Option<Move>, score: Score) -> Option<Score> {
        let ranked = self.ranked.iter().find(|ranked| Some(ranked.mv) == mv)?;
        let told = self.score(ranked.wdl);
        let is_mate_found = is_mate(score) && score.signum() == told.signum();
        (!is_mate_found).then_some(told)
    }

    /// A result as a score.
    fn score(&self, wdl: Wdl) -> Score {
        match wdl {
            Wdl::Win => TB_WIN,
            Wdl::Loss => -TB_WIN,
            Wdl::CursedWin if !self.using.fifty_move_rule => TB_WIN,
            Wdl::BlessedLoss if !self.using.fifty_move_rule => -TB_WIN,
            Wdl::CursedWin | Wdl::BlessedLoss | Wdl::Draw => DRAW,
        }
    }
}
