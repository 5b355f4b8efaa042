//! Many positions searched side by side, each by itself.
//!
//! Every search begins with an empty table and fresh histories and has one thread, so what is found of a
//! position depends on nothing but the position, the limits and the options: not on its neighbours, nor on
//! how many are searched at the same time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result, anyhow};
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
const AHEAD: usize = 64;

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

/// A position on its way, with the place where its result is waited for.
struct Task {
    position: Position,
    done: Sender<Result<(Position, Found, Vec<String>)>>,
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

/// Searches all positions and hands what is found to `sink`, in the order of the positions.
///
/// # Errors
/// When threads cannot be started, a search fails, or `sink` does. What is being searched then is left.
pub fn analyze_all<E: From<anyhow::Error>>(
    order: Order,
    positions: &mut dyn Iterator<Item = Position>,
    sink: &mut dyn FnMut(Analysed) -> Result<(), E>,
) -> Result<(), E> {
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
    let mut waiting = VecDeque::new();
    loop {
        while waiting.len() < AHEAD * jobs
            && let Some(position) = positions.next()
        {
            let (done, result) = bounded(1);
            // The threads wait for tasks as long as this can send them.
            let _ = tasks.send(Task { position, done });
            waiting.push_back(result);
        }
        let Some(result) = waiting.pop_front() else { return Ok(()) };
        let result: Result<_> = result.recv().unwrap_or_else(|_| Err(anyhow!("internal error")));
        let (position, found, notes) = result?;
        sink(Analysed { position, found, notes })?;
    }
}

/// Searches what comes, until nothing more can come.
fn serve(order: &Order, tables: &Chosen, queue: &Receiver<Task>) {
    for Task { position, done } in queue {
        let found = search(order, tables, &position);
        // Nobody waits any more when the program is about to end.
        if done.send(found.map(|(found, notes)| (position, found, notes))).is_err() {
            return;
        }
    }
}

/// Searches one position.
fn search(order: &Order, tables: &Chosen, position: &Position) -> Result<(Found, Vec<String>)> {
    let board = &position.board;
    collect(board, analyze_with(board, &order.limits, &order.settings, tables)?)
}

/// What a search of `board` has found in the end, and what people should know of it.
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
                return Ok((Found { lines, best: end.best, nodes }, notes));
            }
        }
    }
    let fen = board.to_fen();
    Err(anyhow!("the search of {fen} has failed: {}", notes.join("; ")))
}
