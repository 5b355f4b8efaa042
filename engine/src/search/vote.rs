//! Which thread's line is played: all of them vote. Source: <https://www.chessprogramming.org/Lazy_SMP>.

use super::root_lines::RootLine;
use crate::params;
use crate::score::{MATE, TB_BAND};

/// The place of the line to play, of those that the threads have found. A proved win wins, mates before those by
/// endgame tables, the shortest first. A proved loss wins over lines that are no deeper and have not seen it, the
/// longest first.
/// Else each line votes for its move, the more the deeper it is and the better its score is beside the worst one;
/// of the lines with the chosen move the one with most votes is played. Where all is equal, the first one.
pub(super) fn elect<'a>(lines: impl IntoIterator<Item = &'a RootLine>) -> usize {
    let lines: Vec<&RootLine> = lines.into_iter().collect();
    let searched = lines.iter().filter(|line| line.depth > 0);
    let worst = searched.map(|line| line.score).min().unwrap_or_default();
    let votes = |line: &RootLine| (line.score - worst + params::vote_offset()) * line.depth as i32;
    let support = |line: &RootLine| -> i32 {
        let others = lines.iter().filter(|other| other.mv == line.mv);
        others.map(|other| votes(other)).fold(0, i32::saturating_add)
    };
    let is_lost = |line: &RootLine| line.depth > 0 && line.score <= -TB_BAND;
    let deepest = |lost| {
        let lines = lines.iter().filter(|line| is_lost(line) == lost);
        lines.map(|line| line.depth).max().unwrap_or_default()
    };
    let losing = deepest(true) > 0 && deepest(true) >= deepest(false);
    let worth = |line: &RootLine| {
        let proved = match line.score {
            win if win >= TB_BAND => win,
            loss if losing && is_lost(line) => MATE + 1 + loss,
            _ => 0,
        };
        (proved, support(line), votes(line))
    };
    // `max_by_key` takes the last of equals.
    let ranked = lines.iter().enumerate().rev();
    ranked.max_by_key(|(_, line)| worth(line)).map_or(0, |(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::score::{MATE, Score};

    fn elected(lines: &[(Score, u32, &str)]) -> usize {
        let board = Board::startpos();
        let line =
            |&(score, depth, mv)| RootLine::new(score, depth, &[board.parse_uci(mv).unwrap()]);
        elect(&lines.iter().map(line).collect::<Vec<_>>())
    }

    #[test]
    fn depth_score_and_support_decide() {
        assert_eq!(elected(&[(20, 10, "e2e4")]), 0);
        assert_eq!(elected(&[(20, 10, "e2e4"), (20, 10, "d2d4")]), 0, "equals: the leader");
        assert_eq!(elected(&[(20, 10, "e2e4"), (20, 11, "d2d4")]), 1, "deeper");
        assert_eq!(elected(&[(20, 10, "e2e4"), (24, 10, "d2d4")]), 1, "better");
        let lines = [(20, 11, "e2e4"), (20, 10, "d2d4"), (20, 10, "d2d4")];
        assert_eq!(elected(&lines), 1, "more of them");
        let lines = [(20, 11, "e2e4"), (20, 9, "d2d4"), (20, 10, "d2d4")];
        assert_eq!(elected(&lines), 2, "the deepest line of the chosen move");
        assert_eq!(elected(&[(0, 0, "e2e4"), (0, 0, "d2d4")]), 0, "nothing was searched");
        let lines = [(50, 10, "e2e4"), (0, 0, "d2d4"), (54, 10, "c2c4"), (50, 9, "e2e4")];
        assert_eq!(elected(&lines), 0, "what was not searched has no say");
    }

    #[test]
    fn a_proved_mate_wins() {
        let lines =
            [(500, 30, "e2e4"), (MATE - 9, 9, "d2d4"), (MATE - 5, 7, "c2c4"), (500, 30, "e2e4")];
        assert_eq!(elected(&lines), 2);
        // Who has seen more knows that it loses.
        assert_eq!(elected(&[(-MATE + 3, 9, "e2e4"), (-MATE + 6, 9, "d2d4")]), 1);
        assert_eq!(elected(&[(-350, 21, "d2d4"), (-MATE + 6, 22, "e2e4")]), 1);
        assert_eq!(elected(&[(-350, 23, "d2d4"), (-MATE + 6, 22, "e2e4")]), 0);
        assert_eq!(elected(&[(-MATE + 6, 22, "e2e4"), (MATE - 5, 7, "c2c4")]), 1);
    }
}
