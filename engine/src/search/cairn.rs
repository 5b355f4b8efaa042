//! The strong search: what it keeps from one move of a game to the next.

use super::deepen::Deepening;
use super::history::Histories;
use super::root_lines::RootLine;
use super::speaker::Speaker;
use super::tables::SearchTables;
use super::team::Team;
use super::thread::Thread;
use super::tt::{CairnTable, SharedTt};
use super::{Control, Limits, Outcome, Report, ScoreText, Verdict};
use crate::board::Board;
use crate::eval::Evaluator;
use crate::hash::Table;
use crate::machine::memory::{AllocationError, Remains};
use crate::moves::Move;
use crate::score::DRAW;

/// The hash table and the histories.
pub(super) struct Cairn {
    tt: CairnTable,
    histories: Box<Histories>,
}

impl Cairn {
    pub(super) fn new(hash_mib: usize) -> Result<Cairn, AllocationError> {
        Ok(Cairn { tt: Table::new(hash_mib)?, histories: Histories::new() })
    }

    pub(super) fn hash_mib(&self) -> usize {
        self.tt.mebibytes()
    }

    pub(super) fn clear_until(&mut self, hurried: &mut dyn FnMut() -> bool) -> Option<Remains> {
        self.histories = Histories::new();
        self.tt.clear_until(hurried)
    }

    pub(super) fn search<E: Evaluator>(
        &mut self,
        board: &Board,
        weights: &E::Weights,
        limits: &Limits,
        control: &Control,
        sink: &mut dyn FnMut(&Report<'_>) -> Verdict,
    ) -> Outcome {
        self.tt.next_generation();
        let mut wanted = wanted_moves(board, limits);
        if wanted.is_empty() {
            return ended_game(board);
        }
        let tables = SearchTables::new(board, limits, control);
        if let Some(tables) = &tables {
            tables.sort(&mut wanted);
        }
        let team = Team::new(control, limits.nodes);
        let tt = SharedTt(&self.tt);
        let mut thread =
            Thread::<E, _>::new(board, tt, &mut self.histories, team.leader(), weights);
        thread.quiet_percent = limits.quiet_percent;
        thread.tables = tables.as_ref();
        let mut deepening = Deepening::new(thread, limits, &wanted);
        deepening.run(&mut Speaker::new(limits, control, sink));
        let mut outcome = outcome(&deepening.best, control.nodes());
        if let Some(using) = &limits.tables {
            outcome.notes = using.tables.complaints();
        }
        outcome
    }
}

/// The root moves to search: those of `searchmoves` that are legal, or else all.
fn wanted_moves(board: &Board, limits: &Limits) -> Vec<Move> {
    let legal = board.legal_moves();
    let mut wanted: Vec<Move> =
        legal.iter().copied().filter(|mv| limits.search_moves.contains(mv)).collect();
    if wanted.is_empty() {
        wanted = legal.to_vec();
    }
    wanted
}

/// The outcome where there is no legal move.
fn ended_game(board: &Board) -> Outcome {
    let score = if board.is_checkmate() { ScoreText::Mate(0) } else { ScoreText::from_score(DRAW) };
    Outcome { best: None, ponder: None, score, depth: 0, nodes: 0, notes: Vec::new() }
}

/// The outcome of a search with this best line.
fn outcome(best: &RootLine, nodes: u64) -> Outcome {
    Outcome {
        best: best.mv,
        ponder: best.pv.get(1).copied(),
        score: ScoreText::from_score(best.score),
        depth: best.depth,
        nodes,
        notes: Vec::new(),
    }
}
