//! Whole games: each position searched, each move judged.
//!
//! A game is cut into blocks of [`BLOCK`] moves. The positions of a block, that after its last move included, are
//! searched backwards from an empty hash table, so that what comes to light later in the game is known before it.
//! Blocks share nothing, so they can be searched side by side, and what is found depends on nothing but the game,
//! the limits and the options.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result, anyhow};
use cairn_engine::board::Board;
use cairn_engine::moves::Move;
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use super::batch::{Order, collect};
use super::judge::{CERTAIN, Choice, Judgement, MISTAKE, Mark, OBVIOUS_NODES, Worth, judge};
use super::pgn::Entry;
use crate::analyze::{Analyst, analyze_with};
use crate::protocol::Go;
use crate::session::options::Settings;
use crate::session::tables::{self, Chosen};
use crate::session::wdl::Scale;

/// The moves of a block.
pub const BLOCK: usize = 16;

/// How many blocks for each job may be waiting.
const AHEAD: usize = 4;

/// What is found of a position.
#[derive(Clone, Debug)]
pub struct Look {
    /// What it is worth to the side to move.
    pub worth: Worth,
    /// The best move; none if the game is over.
    pub best: Option<Move>,
    /// The best line, which may be empty.
    pub line: Vec<Move>,
    /// The same without the best move, where that was looked for.
    pub second: Option<Box<Look>>,
}

/// A move that was played, judged.
#[derive(Clone, Debug)]
pub struct Ply {
    /// The position before it, with the game so far.
    pub board: Board,
    /// The move.
    pub mv: Move,
    /// What was found of the position before it.
    pub before: Look,
    /// What was found of the position after it.
    pub after: Look,
    /// What is to be said of it.
    pub judgement: Judgement,
}

/// A game with all its moves judged.
#[derive(Clone, Debug)]
pub struct Annotated {
    /// The game as it was read.
    pub entry: Entry,
    /// The moves of its main line.
    pub plies: Vec<Ply>,
    /// What people should know, such as memory that could not be had.
    pub notes: Vec<String>,
}

/// A block on its way.
struct Task {
    /// The positions before each of its moves and after the last.
    boards: Vec<Board>,
    moves: Vec<Move>,
    /// For each move whether it takes back.
    take_back: Vec<bool>,
    done: Sender<Result<(Vec<Ply>, Vec<String>)>>,
}

/// Annotates all games and hands each to `sink` as soon as it and those before it are done. `progress` is told
/// how many moves more have been searched, by any thread.
///
/// # Errors
/// When threads cannot be started, a search fails, or `sink` does. What is being searched then is left.
pub fn annotate_all<E: From<anyhow::Error>>(
    order: Order,
    games: &mut dyn Iterator<Item = Entry>,
    progress: impl Fn(u64) + Send + Sync + 'static,
    sink: &mut dyn FnMut(Annotated) -> Result<(), E>,
) -> Result<(), E> {
    let jobs = order.jobs.max(1);
    let tables = tables::chosen(&mut order.settings.syzygy_path.clone());
    let shared = Arc::new((order, tables, progress));
    let (tasks, queue) = unbounded::<Task>();
    for _ in 0..jobs {
        let (shared, queue) = (Arc::clone(&shared), queue.clone());
        thread::Builder::new()
            .name("annotation".into())
            .spawn(move || serve(&shared.0, &shared.1, &shared.2, &queue))
            .context("a thread to analyse with")?;
    }
    let mut waiting: VecDeque<(Entry, Vec<Receiver<_>>)> = VecDeque::new();
    let mut blocks = 0;
    loop {
        while blocks < AHEAD * jobs
            && let Some(entry) = games.next()
        {
            let results: Vec<_> = cut(&entry)
                .map(|(boards, moves, take_back)| {
                    let (done, result) = bounded(1);
                    // The threads wait for tasks as long as this can send them.
                    let _ = tasks.send(Task { boards, moves, take_back, done });
                    result
                })
                .collect();
            blocks += results.len();
            waiting.push_back((entry, results));
        }
        let Some((entry, results)) = waiting.pop_front() else { return Ok(()) };
        let mut annotated = Annotated { entry, plies: Vec::new(), notes: Vec::new() };
        for result in results {
            blocks -= 1;
            let found: Result<_> = result.recv().unwrap_or_else(|_| Err(anyhow!("internal error")));
            let (plies, notes) = found?;
            annotated.plies.extend(plies);
            annotated.notes.extend(notes);
        }
        sink(annotated)?;
    }
}

/// The blocks of a game: positions, moves, and for each move whether it takes back.
fn cut(entry: &Entry) -> impl Iterator<Item = (Vec<Board>, Vec<Move>, Vec<bool>)> + use<> {
    let game = &entry.game;
    let mut board = game.start.clone();
    let (mut boards, mut moves, mut take_back) = (vec![board.clone()], Vec::new(), Vec::new());
    let mut taken_on = None;
    for step in &game.main.moves {
        let takes = board.piece_on(step.mv.to()).is_some() && !board.is_castling(step.mv);
        take_back.push(takes && taken_on == Some(step.mv.to()));
        taken_on = takes.then(|| step.mv.to());
        board.play(step.mv);
        boards.push(board.clone());
        moves.push(step.mv);
    }
    (0..moves.len()).step_by(BLOCK).map(move |first| {
        let last = moves.len().min(first + BLOCK);
        let own = first..last;
        (boards[first..=last].to_vec(), moves[own.clone()].to_vec(), take_back[own].to_vec())
    })
}

/// Searches what comes, until nothing more can come.
fn serve(order: &Order, tables: &Chosen, progress: &dyn Fn(u64), queue: &Receiver<Task>) {
    for task in queue {
        let found = search(order, tables, progress, &task);
        // Nobody waits any more when the program is about to end.
        if task.done.send(found).is_err() {
            return;
        }
    }
}

/// Searches the positions of a block, the last first, and judges its moves.
fn search(
    order: &Order,
    tables: &Chosen,
    progress: &dyn Fn(u64),
    task: &Task,
) -> Result<(Vec<Ply>, Vec<String>)> {
    let mut eyes = Eyes { analyst: Analyst::new()?, order, tables, notes: Vec::new() };
    let mut plies = Vec::new();
    let [.., last] = &task.boards[..] else { return Ok((plies, eyes.notes)) };
    let mut after = eyes.look(last, &order.limits)?;
    for i in (0..task.moves.len()).rev() {
        let (board, mv, takes_back) = (&task.boards[i], task.moves[i], task.take_back[i]);
        let mut before = eyes.look(board, &order.limits)?;
        let legal = board.legal_moves();
        let is_best = before.best == Some(mv);
        let scale = Scale::of(board);
        let expected = before.worth.expected_on(scale);
        // Where less than a mistake can be lost, no move is the only good one.
        if is_best && legal.len() > 1 && !takes_back && expected >= MISTAKE {
            let others = legal.iter().filter(|&&other| other != mv);
            let limits = Go {
                nodes: order.limits.nodes.map(|nodes| nodes.div_ceil(2)),
                search_moves: others.map(|&other| board.uci_text(other, true)).collect(),
                ..order.limits.clone()
            };
            before.second = Some(Box::new(eyes.look(board, &limits)?));
        }
        let mut choice = Choice {
            legal: legal.len(),
            is_best,
            takes_back,
            is_obvious: false,
            before: expected,
            after: CERTAIN - after.worth.expected_on(scale),
            without_best: before.second.as_ref().map(|second| second.worth.expected_on(scale)),
        };
        if judge(&choice).mark == Some(Mark::Only) {
            choice.is_obvious = eyes.glance(board)? == Some(mv);
        }
        let judgement = judge(&choice);
        plies.push(Ply { board: board.clone(), mv, before: before.clone(), after, judgement });
        after = before;
        progress(1);
    }
    plies.reverse();
    Ok((plies, eyes.notes))
}

/// Who looks at the positions of one block.
struct Eyes<'a> {
    analyst: Analyst,
    order: &'a Order,
    tables: &'a Chosen,
    notes: Vec<String>,
}

impl Eyes<'_> {
    /// The best move at first sight, without what is known of the rest of the game.
    fn glance(&self, board: &Board) -> Result<Option<Move>> {
        let limits = Go { nodes: Some(OBVIOUS_NODES), ..Go::default() };
        let settings = Settings { hash_mib: 1, ..self.order.settings.clone() };
        let findings = analyze_with(board, &limits, &settings, self.tables)?;
        Ok(collect(board, findings)?.0.best)
    }

    fn look(&mut self, board: &Board, limits: &Go) -> Result<Look> {
        if board.legal_moves().is_empty() {
            let worth = Worth::of_end(board);
            return Ok(Look { worth, best: None, line: Vec::new(), second: None });
        }
        let found = self.analyst.analyze(board, limits, &self.order.settings, self.tables)?;
        let (found, notes) = collect(board, found)?;
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        let line = found.lines.into_iter().next().context("a search without a line")?;
        let worth = Worth::of_line(board, &line);
        // A mate's line may be missing, its first move is not.
        Ok(Look { worth, best: found.best, line: line.pv, second: None })
    }
}
