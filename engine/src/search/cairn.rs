//! The strong search: what it keeps from one move of a game to the next, its threads, and which of them
//! answers.
//!
//! Every thread searches the same position with histories of its own and deepens on its own. What one finds the
//! others find in the table that they share, which is all that they have to do with each other. Source:
//! <https://www.chessprogramming.org/Lazy_SMP>.

use super::deepen::{Deepening, Found, Listener, Standing};
use super::history::Histories;
use super::root_lines::RootLine;
use super::speaker::Speaker;
use super::tables::SearchTables;
use super::team::{Member, Team};
use super::thread::Thread;
use super::tt::{Bound, CairnTable, SharedTt, TtView};
use super::vote::elect;
use super::{Control, Limits, Outcome, Report, ScoreText, Verdict};
use crate::board::Board;
use crate::eval::Evaluator;
use crate::hash::Table;
use crate::machine::memory::{AllocationError, Remains};
use crate::moves::Move;
use crate::score::DRAW;
use std::panic;
use std::thread;

/// The stack of a helper, in bytes; the unused part costs no memory.
const STACK: usize = 16 << 20;

/// The hash table, and the histories of each thread.
pub(super) struct Cairn {
    tt: CairnTable,
    histories: Box<Histories>,
    /// Those of the helpers; none where a helper has not searched yet.
    helpers: Vec<Option<Box<Histories>>>,
    /// The system has refused some of the helpers, which was told.
    has_told_refusal: bool,
}

/// All that the threads of a search have in common to begin with.
struct Task<'a, E: Evaluator> {
    board: &'a Board,
    weights: &'a E::Weights,
    limits: &'a Limits,
    /// The root moves to search.
    wanted: &'a [Move],
    tables: Option<&'a SearchTables<'a>>,
}

impl Cairn {
    pub(super) fn new(hash_mib: usize, threads: usize) -> Result<Cairn, AllocationError> {
        let mut cairn = Cairn {
            tt: Table::new(hash_mib)?,
            histories: Histories::new(),
            helpers: Vec::new(),
            has_told_refusal: false,
        };
        cairn.set_threads(threads);
        Ok(cairn)
    }

    pub(super) fn hash_mib(&self) -> usize {
        self.tt.mebibytes()
    }

    /// Sets the number of threads; 0 counts as 1. Those that stay keep their histories.
    pub(super) fn set_threads(&mut self, threads: usize) {
        let helpers = threads.saturating_sub(1);
        if helpers != self.helpers.len() {
            self.helpers.resize_with(helpers, || None);
            self.has_told_refusal = false;
        }
    }

    pub(super) fn clear_until(&mut self, hurried: &mut dyn FnMut() -> bool) -> Option<Remains> {
        self.histories = Histories::new();
        self.helpers.iter_mut().for_each(|histories| *histories = None);
        self.tt.clear_until(self.helpers.len() + 1, hurried)
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
        // A weakened search is always the same, so it has one thread.
        let helpers = if limits.quiet_percent.is_some() { 0 } else { self.helpers.len() };
        if wanted.is_empty() {
            control.begin(0);
            return ended_game(board, helpers + 1);
        }
        let tables = SearchTables::new(board, limits, control);
        if let Some(tables) = &tables {
            tables.sort(&mut wanted);
        }
        let team = Team::new(control, limits.nodes, helpers);
        let task = Task::<E> { board, weights, limits, wanted: &wanted, tables: tables.as_ref() };
        let mut speaker = Speaker::new(limits, control, sink);
        let leader_histories = &mut *self.histories;
        let helpers_histories = &mut self.helpers[..helpers];
        let tt = SharedTt(&self.tt);
        let (found, refused) = thread::scope(|scope| {
            let _stop_on_panic = team.stop_on_drop();
            let mut running = Vec::new();
            for (number, histories) in (1..).zip(helpers_histories) {
                let (task, member) = (&task, team.helper(number));
                let work = move || {
                    let histories = histories.get_or_insert_with(Histories::new);
                    task.search(tt, histories, member, &mut Silence)
                };
                match thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work) {
                    Ok(helper) => running.push(helper),
                    Err(_) => break,
                }
            }
            let refused = helpers - running.len();
            let leader = task.search(tt, leader_histories, team.leader(), &mut speaker);
            team.end();
            let others = running.into_iter().map(|helper| helper.join());
            let others = others.map(|found| found.unwrap_or_else(|why| panic::resume_unwind(why)));
            let found: Vec<Found> = std::iter::once(leader).chain(others).collect();
            (found, refused)
        });
        let elected = if votes(limits) { elect(found.iter().map(|found| &found.best)) } else { 0 };
        let Found { best, standing } = &found[elected];
        if elected > 0 {
            // The line that was told last has to show the move.
            speaker.hear(1, best, Bound::Exact, standing);
        }
        let mut outcome = outcome(best, control.nodes(), helpers + 1);
        if let Some(using) = &limits.tables {
            outcome.notes = using.tables.complaints();
        }
        if refused > 0 && !self.has_told_refusal {
            self.has_told_refusal = true;
            let (asked, there) = (helpers + 1, helpers + 1 - refused);
            outcome.notes.push(format!("the system gives {there} of {asked} search threads"));
        }
        outcome
    }
}

impl<E: Evaluator> Task<'_, E> {
    /// Searches on this thread until a limit is reached or the team is over.
    fn search<T: TtView>(
        &self,
        tt: T,
        histories: &mut Histories,
        member: Member<'_>,
        listener: &mut dyn Listener,
    ) -> Found {
        let mut thread = Thread::<E, T>::new(self.board, tt, histories, member, self.weights);
        thread.quiet_percent = self.limits.quiet_percent;
        thread.tables = self.tables;
        Deepening::new(thread, self.limits, self.wanted).run(listener)
    }
}

/// Hears a helper, and says nothing.
struct Silence;

impl Listener for Silence {
    fn hear(&mut self, _: usize, _: &RootLine, _: Bound, _: &Standing) -> Verdict {
        Verdict::Continue
    }
}

/// Whether the threads vote: where the leader stops at no depth, searches one line and no mate.
const fn votes(limits: &Limits) -> bool {
    limits.depth.is_none() && limits.mate.is_none() && limits.multi_pv <= 1
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
fn ended_game(board: &Board, threads: usize) -> Outcome {
    let score = if board.is_checkmate() { ScoreText::Mate(0) } else { ScoreText::from_score(DRAW) };
    Outcome { best: None, ponder: None, score, depth: 0, nodes: 0, threads, notes: Vec::new() }
}

/// The outcome of a search with this best line.
fn outcome(best: &RootLine, nodes: u64, threads: usize) -> Outcome {
    Outcome {
        best: best.mv,
        ponder: best.pv.get(1).copied(),
        score: ScoreText::from_score(best.score),
        depth: best.depth,
        nodes,
        threads,
        notes: Vec::new(),
    }
}
