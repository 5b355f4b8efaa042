//! The strong search: what it keeps from one move of a game to the next, its threads, and which of them
//! answers.
//!
//! Every thread searches the same position with histories of its own and deepens on its own. What one finds the
//! others find in the table that they share, which is all that free threads have to do with each other; deterministic
//! ones have a table each (see `exchange`). Source:
//! <https://www.chessprogramming.org/Lazy_SMP>.

use super::deepen::{Deepening, Listener};
use super::exchange::{Exchange, OwnTt};
use super::history::Histories;
use super::root_lines::{Found, RootLine, Standing};
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
use std::sync::{PoisonError, RwLock};
use std::thread;

/// The stack of a helper, in bytes; the unused part costs no memory.
const STACK: usize = 16 << 20;

/// The hash memory, and the histories of each thread.
pub(super) struct Cairn {
    /// One table for all threads, or one for each if they are deterministic.
    pub(super) tables: Vec<CairnTable>,
    hash_mib: usize,
    pub(super) histories: Box<Histories>,
    /// Those of the helpers; none where a helper has not searched yet.
    pub(super) helpers: Vec<Option<Box<Histories>>>,
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

/// The threads that search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Threads {
    /// From 1.
    pub(super) number: usize,
    pub(super) deterministic: bool,
}

impl Threads {
    /// Whether each has a table of its own.
    const fn own_tables(self) -> bool {
        self.deterministic && self.number > 1
    }

    /// Whether other threads can take over what these have learnt.
    pub(super) fn shares_with(self, other: Threads) -> bool {
        self == other || !(self.own_tables() || other.own_tables())
    }
}

impl Cairn {
    pub(super) fn new(hash_mib: usize, threads: Threads) -> Result<Cairn, AllocationError> {
        let count = if threads.own_tables() { threads.number } else { 1 };
        let tables: Result<Vec<CairnTable>, AllocationError> =
            (0..count).map(|_| Table::new(hash_mib / count)).collect();
        Ok(Cairn {
            tables: tables?,
            hash_mib: hash_mib.max(1),
            histories: Histories::new(),
            helpers: (1..threads.number).map(|_| None).collect(),
            has_told_refusal: false,
        })
    }

    pub(super) const fn hash_mib(&self) -> usize {
        self.hash_mib
    }

    /// Sets the number of free threads. Those that stay keep their histories.
    pub(super) fn set_threads(&mut self, threads: usize) {
        self.helpers.resize_with(threads.saturating_sub(1), || None);
        self.has_told_refusal = false;
    }

    pub(super) fn clear_until(&mut self, hurried: &mut dyn FnMut() -> bool) -> Vec<Remains> {
        self.histories = Histories::new();
        self.helpers.iter_mut().for_each(|histories| *histories = None);
        let threads = self.helpers.len() + 1;
        self.tables.iter_mut().filter_map(|table| table.clear_until(threads, hurried)).collect()
    }

    pub(super) fn search<E: Evaluator>(
        &mut self,
        board: &Board,
        weights: &E::Weights,
        limits: &Limits,
        control: &Control,
        sink: &mut dyn FnMut(&Report<'_>) -> Verdict,
        answer: &mut dyn FnMut(&Outcome),
    ) -> Outcome {
        self.tables.iter_mut().for_each(CairnTable::next_generation);
        let mut wanted = wanted_moves(board, limits);
        // A weakened search is always the same, so it has one thread.
        let helpers = if limits.quiet_percent.is_some() { 0 } else { self.helpers.len() };
        if wanted.is_empty() {
            control.begin(0);
            let outcome = ended_game(board, helpers + 1);
            answer(&outcome);
            return outcome;
        }
        let tables = SearchTables::new(board, limits, control);
        if let Some(tables) = &tables {
            tables.sort(&mut wanted);
        }
        let task = Task::<E> { board, weights, limits, wanted: &wanted, tables: tables.as_ref() };
        let mut speaker = Speaker::new(limits, control, sink);
        if self.tables.len() > 1 && helpers > 0 {
            self.search_deterministic(&task, control, &mut speaker, answer)
        } else {
            self.search_free(&task, helpers, control, &mut speaker, answer)
        }
    }

    /// Searches on the table that all threads share.
    fn search_free<E: Evaluator>(
        &mut self,
        task: &Task<'_, E>,
        helpers: usize,
        control: &Control,
        speaker: &mut Speaker<'_, '_>,
        answer: &mut dyn FnMut(&Outcome),
    ) -> Outcome {
        let team = Team::new(control, task.limits.nodes, helpers);
        let tt = SharedTt(&self.tables[0]);
        let histories = &mut *self.histories;
        let helpers_histories = &mut self.helpers[..helpers];
        let (found, refused) = thread::scope(|scope| {
            let _stop_on_panic = team.stop_on_drop();
            let mut running = Vec::new();
            for (number, histories) in (1..).zip(helpers_histories) {
                let member = team.helper(number);
                let work = move || {
                    let histories = histories.get_or_insert_with(Histories::new);
                    task.search(tt, histories, member, &mut Silence).0
                };
                match thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work) {
                    Ok(helper) => running.push(helper),
                    Err(_) => break,
                }
            }
            let refused = helpers - running.len();
            let (leader, _) = task.search(tt, histories, team.leader(), speaker);
            team.end();
            let others = running.into_iter().map(|helper| helper.join());
            let others = others.map(|found| found.unwrap_or_else(|why| panic::resume_unwind(why)));
            let found: Vec<Found> = std::iter::once(leader).chain(others).collect();
            (found, refused)
        });
        let mut outcome = task.outcome(&found, speaker);
        outcome.nodes = control.nodes();
        outcome.threads = helpers + 1;
        outcome.leader_nodes = (helpers == 0).then_some(outcome.nodes);
        if refused > 0 && !self.has_told_refusal {
            self.has_told_refusal = true;
            let (asked, there) = (helpers + 1, helpers + 1 - refused);
            outcome.notes.push(format!("the system gives {there} of {asked} search threads"));
        }
        answer(&outcome);
        outcome
    }

    /// Searches with a table for each thread (see `exchange`). The answer is given before the helpers end.
    fn search_deterministic<E: Evaluator>(
        &mut self,
        task: &Task<'_, E>,
        control: &Control,
        speaker: &mut Speaker<'_, '_>,
        answer: &mut dyn FnMut(&Outcome),
    ) -> Outcome {
        let threads = self.tables.len();
        let team = Team::deterministic(control, task.limits.nodes);
        let exchange = Exchange::new(threads);
        // The hits of helpers in endgame tables are not told: how many there are by now is chance.
        let uncounted = Control::new();
        let endgame_tables = task.tables.map(|tables| tables.counting_for(&uncounted));
        let helpers_task = &Task::<E> { tables: endgame_tables.as_ref(), ..*task };
        let tables = &self.tables;
        let (histories, helpers) = (&mut *self.histories, &mut self.helpers);
        // All helpers are there before any of them begins, or none begins.
        let gate = RwLock::new(false);
        let mut may_begin = gate.write().unwrap_or_else(PoisonError::into_inner);
        thread::scope(|scope| {
            let _stop_on_panic = team.stop_on_drop();
            let mut running = Vec::new();
            for (number, histories) in (1..).zip(helpers.iter_mut()) {
                let (gate, exchange, member) = (&gate, &exchange, team.helper(number));
                let work = move || {
                    if *gate.read().unwrap_or_else(PoisonError::into_inner) {
                        let _leave = exchange.leave_on_drop(number);
                        let histories = histories.get_or_insert_with(Histories::new);
                        let tt = OwnTt::new(&tables[number], exchange, number);
                        helpers_task.search(tt, histories, member, &mut Silence);
                    }
                };
                match thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work) {
                    Ok(helper) => running.push(helper),
                    Err(_) => break,
                }
            }
            let there = running.len() + 1;
            *may_begin = there == threads;
            drop(may_begin);
            let (found, leader_nodes) = if there == threads {
                let _leave = exchange.leave_on_drop(0);
                let tt = OwnTt::new(&tables[0], &exchange, 0);
                let (leader, tt) = task.search(tt, histories, team.leader(), speaker);
                let leader_nodes = control.nodes() - tt.merged_nodes();
                let mut found = tt.into_heard();
                found[0] = leader;
                (found, Some(leader_nodes))
            } else {
                let tt = SharedTt(&tables[0]);
                (vec![task.search(tt, histories, team.leader(), speaker).0], None)
            };
            let mut outcome = task.outcome(&found, speaker);
            outcome.nodes = control.nodes();
            outcome.threads = threads;
            outcome.leader_nodes = leader_nodes;
            if leader_nodes.is_none() {
                outcome.notes.push(format!(
                    "the system gives {there} of {threads} search threads; one searches alone, and its result \
                     cannot be repeated"
                ));
            }
            answer(&outcome);
            for helper in running {
                helper.join().unwrap_or_else(|why| panic::resume_unwind(why));
            }
            outcome
        })
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
    ) -> (Found, T) {
        let mut thread = Thread::<E, T>::new(self.board, tt, histories, member, self.weights);
        thread.quiet_percent = self.limits.quiet_percent;
        thread.variation = member.variation();
        if member.leads() {
            thread.cap = self.limits.leader_nodes.unwrap_or(u64::MAX);
        }
        thread.tables = self.tables;
        Deepening::new(thread, self.limits, self.wanted).run(listener)
    }

    /// The outcome of what the threads have found, the leader first; without the counts.
    fn outcome(&self, found: &[Found], speaker: &mut Speaker<'_, '_>) -> Outcome {
        let lines = found.iter().map(|found| &found.best);
        let elected = if votes(self.limits) { elect(lines) } else { 0 };
        let Found { best, standing } = &found[elected];
        if elected > 0 {
            // The line that was told last has to show the move.
            speaker.hear(1, best, Bound::Exact, standing);
        }
        let using = self.limits.tables.as_ref();
        Outcome {
            best: best.mv,
            ponder: best.pv.get(1).copied(),
            score: ScoreText::from_score(best.score),
            depth: best.depth,
            nodes: 0,
            threads: 1,
            leader_nodes: None,
            notes: using.map_or_else(Vec::new, |using| using.tables.complaints()),
        }
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
    Outcome {
        best: None,
        ponder: None,
        score,
        depth: 0,
        nodes: 0,
        threads,
        leader_nodes: Some(0),
        notes: Vec::new(),
    }
}
