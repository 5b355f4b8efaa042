//! Many positions searched side by side, each by itself.
//!
//! Every search begins with an empty table and fresh histories and has one thread, so what is found of a
//! position depends on nothing but the position, the limits and the options: not on its neighbours, nor on
//! how many are searched at the same time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};
use cairn_engine::board::Board;
use cairn_engine::search::Bound;
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use super::input::Position;
use super::record::Found;
use crate::analyze::{Finding, Line, analyze_with};
use crate::protocol::Go;
use crate::session::options::Settings;
use crate::session::tables::{self, Chosen};

/// How many positions for each job may be taken from the input before the first of them is done.
const AHEAD: usize = 16;

/// Nodes for which the hash table gets a MiB: a larger one takes longer to clear than it saves.
const NODES_PER_MIB: u64 = 100_000;

/// The largest table that nobody asked for, in MiB.
const LARGEST_MIB: u64 = 1024;

/// How every position is searched.
#[derive(Clone, Debug)]
pub struct Order {
    /// The limits of each search.
    pub limits: Go,
    /// The options of each search.
    pub settings: Settings,
    /// How many searches run at the same time, from 1.
    pub jobs: usize,
}

/// The hash table for a search of so many nodes, in MiB.
#[must_use]
pub fn hash_mib(nodes: u64) -> u64 {
    nodes.div_ceil(NODES_PER_MIB).clamp(1, LARGEST_MIB)
}

/// What comes of a position: itself, what was found, and what people should know.
type Searched = Result<(Position, Found, Vec<String>)>;

/// A position on its way, with the place where its result is waited for.
struct Task {
    position: Position,
    done: Sender<Searched>,
}

/// What a search has found, in the order of the positions.
#[derive(Debug)]
pub struct Analysed {
    /// The position.
    pub position: Position,
    /// What was found.
    pub found: Found,
    /// What people should know, such as memory that could not be had.
    pub notes: Vec<String>,
}

/// Searches all positions and hands what is found to `sink`, in the order of the positions and as soon as it is
/// there. Positions are read on a thread of their own, not many more than are being searched, so an input that keeps
/// others waiting keeps no result back. Returns the input at its end.
///
/// # Errors
/// When threads cannot be started, a search fails, or `sink` does. What is being read and searched then is left.
pub fn analyze_all<I, E>(
    order: Order,
    positions: I,
    sink: &mut dyn FnMut(Analysed) -> Result<(), E>,
) -> Result<I, E>
where
    I: Iterator<Item = Position> + Send + 'static,
    E: From<anyhow::Error>,
{
    let jobs = order.jobs.max(1);
    let tables = tables::chosen(&mut order.settings.syzygy_path.clone());
    let order = Arc::new((order, tables));
    let (tasks, queue) = unbounded::<Task>();
    for _ in 0..jobs {
        let (order, queue) = (Arc::clone(&order), queue.clone());
        thread::Builder::new()
            .name("analysis".into())
            .spawn(move || serve(&order.0, &order.1, &queue))
            .context("a thread to analyse with")?;
    }
    // Its bound is what keeps the reader from running away.
    let (waiting, results) = bounded(AHEAD * jobs);
    let reader = thread::Builder::new()
        .name("input".into())
        .spawn(move || read(positions, &tasks, &waiting))
        .context("a thread to read with")?;
    for result in results {
        let result: Searched = result.recv().unwrap_or_else(|_| Err(anyhow!("internal error")));
        let (position, found, notes) = result?;
        sink(Analysed { position, found, notes })?;
    }
    reader.join().map_err(|_| anyhow!("internal error").into())
}

/// Makes tasks of positions, until there are no more or nobody waits for what is found.
fn read<I: Iterator<Item = Position>>(
    mut positions: I,
    tasks: &Sender<Task>,
    waiting: &Sender<Receiver<Searched>>,
) -> I {
    for position in &mut positions {
        let (done, result) = bounded(1);
        if waiting.send(result).is_err() || tasks.send(Task { position, done }).is_err() {
            break;
        }
    }
    positions
}

/// Searches what comes, until nothing more can come.
fn serve(order: &Order, tables: &Chosen, queue: &Receiver<Task>) {
    for Task { position, done } in queue {
        let found = search(&position.board, &order.limits, &order.settings, tables);
        // Nobody waits any more when the program is about to end.
        if done.send(found.map(|(found, notes)| (position, found, notes))).is_err() {
            return;
        }
    }
}

/// Searches each of the positions within its limits, `jobs` of them at the same time, and tells of each that is done.
/// What is found of one, with what people should know, stands in its place.
///
/// # Errors
/// When threads cannot be started or a search fails.
pub fn search_each(
    questions: &[(Board, Go)],
    jobs: usize,
    settings: &Settings,
    tables: &Chosen,
    tell: &(dyn Fn() + Sync),
) -> Result<Vec<(Found, Vec<String>)>> {
    let next = AtomicUsize::new(0);
    let places: Vec<OnceLock<_>> = questions.iter().map(|_| OnceLock::new()).collect();
    thread::scope(|scope| -> Result<()> {
        for _ in 0..jobs.clamp(1, questions.len().max(1)) {
            let serve = || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let (Some((board, limits)), Some(place)) =
                        (questions.get(index), places.get(index))
                    else {
                        break;
                    };
                    // Each place is filled once.
                    let _ = place.set(search(board, limits, settings, tables));
                    tell();
                }
            };
            thread::Builder::new()
                .name("analysis".into())
                .spawn_scoped(scope, serve)
                .context("a thread to analyse with")?;
        }
        Ok(())
    })?;
    let found = |place: OnceLock<_>| place.into_inner().unwrap_or_else(|| bail!("internal error"));
    places.into_iter().map(found).collect()
}

/// Searches one position.
fn search(
    board: &Board,
    limits: &Go,
    settings: &Settings,
    tables: &Chosen,
) -> Result<(Found, Vec<String>)> {
    let (mut found, notes) = collect(board, analyze_with(board, limits, settings, tables)?)?;
    let tables = tables.tables.as_deref();
    found.verdict = tables.and_then(|tables| tables::verdict(tables, board));
    Ok((found, notes))
}

/// What a search of `board` has found in the end, and what people should know of it. Of endgame tables it tells
/// nothing.
pub(super) fn collect(
    board: &Board,
    findings: impl IntoIterator<Item = Finding>,
) -> Result<(Found, Vec<String>)> {
    let (mut lines, mut notes): (Vec<Line>, _) = (Vec::new(), Vec::new());
    for finding in findings {
        match finding {
            Finding::Line(line) if line.bound == Bound::Exact => {
                match lines.iter_mut().find(|old| old.multi_pv == line.multi_pv) {
                    Some(old) => *old = line,
                    None => lines.push(line),
                }
            }
            Finding::Line(_) => {}
            Finding::Note(note) => notes.push(note),
            Finding::End(end) => {
                let Some(nodes) = end.nodes else { break };
                lines.sort_by_key(|line| line.multi_pv);
                return Ok((Found { lines, best: end.best, nodes, verdict: None }, notes));
            }
        }
    }
    Err(anyhow!("the search of {} has failed: {}", board.to_fen(), notes.join("; ")))
}
