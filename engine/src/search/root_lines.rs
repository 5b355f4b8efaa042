//! The lines from the root: what a thread has found, and those of MultiPV: one for each rank, best first, no root
//! move twice.

use crate::moves::Move;
use crate::score::Score;
use std::cmp::Reverse;

/// A line from the root.
#[derive(Clone, Debug, Default)]
pub(super) struct RootLine {
    pub(super) score: Score,
    /// The score that the search found, which endgame tables may know better.
    pub(super) searched: Score,
    /// The score is theirs.
    pub(super) by_tables: bool,
    /// The iteration that it is from.
    pub(super) depth: u32,
    /// The root move.
    pub(super) mv: Option<Move>,
    /// The principal variation, which begins with that move; may be empty.
    pub(super) pv: Vec<Move>,
}

impl RootLine {
    pub(super) fn new(score: Score, depth: u32, pv: &[Move]) -> RootLine {
        let (mv, pv) = (pv.first().copied(), pv.to_vec());
        RootLine { score, searched: score, by_tables: false, depth, mv, pv }
    }
}

/// Where a thread stands when it tells of a line.
#[derive(Clone, Default)]
pub(super) struct Standing {
    /// The longest line searched in this iteration, in half-moves.
    pub(super) seldepth: u32,
    /// How full the hash table is, in permill.
    pub(super) hash_full: u32,
    /// The share of the thread's nodes that the first move of the line took, in permill.
    pub(super) effort: Option<u32>,
}

/// What a thread has found.
#[derive(Clone, Default)]
pub(super) struct Found {
    /// The best line so far; at first one of a single move.
    pub(super) best: RootLine,
    /// Where the thread stood then.
    pub(super) standing: Standing,
}

/// Best first; of equal ones the first stays first.
pub(super) fn sort(lines: &mut [RootLine]) {
    lines.sort_by_key(|line| Reverse(line.score));
}

/// Completes the sorted lines of an iteration that was stopped, to `count` lines: with those that the last
/// iteration found for other moves, and if there are too few with `moves` alone. None of these moves scores
/// higher than the last of the finished lines, whose search looked at them all; so that score is the cap of
/// theirs, and a line above it is wrong and ends after its first move. Does nothing without a finished line.
pub(super) fn complete(lines: &mut Vec<RootLine>, last: &[RootLine], moves: &[Move], count: usize) {
    let Some(cap) = lines.last().map(|line| (line.score, line.depth)) else { return };
    let is_new = |lines: &[RootLine], mv| lines.iter().all(|line| line.mv != Some(mv));
    let mut rest: Vec<RootLine> = last.to_vec();
    rest.retain(|line| line.mv.is_some_and(|mv| is_new(lines, mv)));
    for line in rest.iter_mut().filter(|line| line.score > cap.0) {
        line.score = cap.0;
        line.by_tables = false;
        line.pv.truncate(1);
    }
    sort(&mut rest);
    lines.append(&mut rest);
    for &mv in moves {
        let least = lines.last().map_or(cap.0, |line| line.score);
        if lines.len() < count && is_new(lines, mv) {
            lines.push(RootLine::new(least, cap.1, &[mv]));
        }
    }
    lines.truncate(count);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;

    #[test]
    fn stopped_iterations_are_completed() {
        let board = Board::startpos();
        let mv = |text: &str| board.parse_uci(text).unwrap();
        let line = |score, depth, text: &str| RootLine::new(score, depth, &[mv(text), mv("a2a3")]);
        let moves = ["e2e4", "d2d4", "c2c4", "g1f3", "b1c3"].map(mv);
        let last = [line(30, 6, "d2d4"), line(9, 6, "e2e4"), line(5, 6, "c2c4")];
        let shown = |lines: &[RootLine]| -> Vec<(Score, u32, u16, usize)> {
            let first = |line: &RootLine| line.mv.unwrap().raw();
            lines.iter().map(|line| (line.score, line.depth, first(line), line.pv.len())).collect()
        };
        let mut lines = vec![line(10, 7, "e2e4")];
        complete(&mut lines, &last, &moves, 4);
        let expected = [
            (10, 7, moves[0].raw(), 2),
            (10, 6, moves[1].raw(), 1),
            (5, 6, moves[2].raw(), 2),
            (5, 7, moves[3].raw(), 1),
        ];
        assert_eq!(shown(&lines), expected);
        complete(&mut lines, &last, &moves, 4);
        assert_eq!(shown(&lines), expected);
        let mut none = Vec::new();
        complete(&mut none, &last, &moves, 4);
        assert!(none.is_empty());
    }
}
