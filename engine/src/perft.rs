//! Perft: counts move paths of a given length, to test move generation.
//!
//! Counts in bulk: at the last ply the legal moves are counted, not made. Source:
//! <https://www.chessprogramming.org/Perft>.

use crate::board::Board;
use crate::movegen;
use crate::moves::Move;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The number of legal move paths of `depth` half-moves; 1 at depth 0.
pub fn perft(board: &mut Board, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => movegen::count_legal(board),
        _ => {
            let mut nodes = 0;
            for mv in &movegen::legal_moves(board) {
                board.make(*mv, &mut ());
                nodes += perft(board, depth - 1);
                board.unmake(&mut ());
            }
            nodes
        }
    }
}

/// The perft of each legal move, in generator order, computed by up to `threads` threads (0 counts as 1).
/// `None` if `stop` was set before all was counted. Depth 0 counts as 1.
pub fn divide(
    board: &Board,
    depth: u32,
    threads: usize,
    stop: &AtomicBool,
) -> Option<Vec<(Move, u64)>> {
    let moves = board.legal_moves();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut board = board.clone();
        let mut counted = Vec::new();
        while let Some(&mv) = moves.get(next.fetch_add(1, Ordering::Relaxed)) {
            board.play(mv);
            let nodes = perft_until(&mut board, depth.max(1) - 1, stop);
            board.unmake(&mut ());
            counted.push((mv, nodes?));
        }
        Some(counted)
    };
    let mut counted = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for worker in workers {
            let part = worker.join().expect("perft does not panic");
            all = all.zip(part).map(|(mut all, part)| {
                all.extend(part);
                all
            });
        }
        all
    })?;
    let order = |mv: Move| moves.iter().position(|&other| other == mv);
    counted.sort_by_key(|&(mv, _)| order(mv));
    Some(counted)
}

/// As [`perft`], but returns `None` once `stop` is set. Tests it before each count of depth 4 or less, which
/// takes milliseconds.
fn perft_until(board: &mut Board, depth: u32, stop: &AtomicBool) -> Option<u64> {
    if depth <= 4 {
        return if stop.load(Ordering::Relaxed) { None } else { Some(perft(board, depth)) };
    }
    let mut nodes = 0;
    for mv in &movegen::legal_moves(board) {
        board.play(*mv);
        let below = perft_until(board, depth - 1, stop);
        board.unmake(&mut ());
        nodes += below?;
    }
    Some(nodes)
}
