//! Strength levels: what a value of `UCI_Elo` stands for.
//!
//! A weaker level searches fewer nodes and overlooks some quiet moves; it makes no random blunders.
//! Which moves it overlooks depends on the position alone, so a level plays the same move on every
//! machine and can be replayed like any other search.
//!
//! `scripts/levels.py` measured the table, `levels.csv`: games of nine levels with each other, with micro-Max at 1500
//! and with engines of 1740 to 2700 points, at 4+0.04, on a scale close to CCRL Blitz. Errors (95 %) are
//! 70 points from 1300 up, 110 at 1150 and 200 below, and the ratings of those engines are good to about
//! 100. The values are for the strong style; the historical one gets the same nodes, at which it stops
//! within an iteration, as it never does for `go nodes`.

/// The table, which `scripts/levels.py` reads too: a heading, then in each line a figure, its nodes and
/// the percentage of quiet moves that it sees, from the weakest level to the strongest.
const TABLE: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/levels.csv"));

/// Its rows as numbers, read at compile time.
const LEVELS: [[u64; 3]; count_lines(TABLE) - 1] = read_levels();

/// The weakest level.
pub const MIN_ELO: u32 = LEVELS[0][0] as u32;

/// The strongest level.
pub const MAX_ELO: u32 = LEVELS[LEVELS.len() - 1][0] as u32;

/// How many points of Elo lie between two levels of the table.
const STEP: u32 = LEVELS[1][0] as u32 - MIN_ELO;

const fn count_lines(text: &[u8]) -> usize {
    let (mut lines, mut at) = (0, 0);
    while at < text.len() {
        lines += (text[at] == b'\n') as usize;
        at += 1;
    }
    lines
}

/// Reads the table. One that is not what it should be does not compile.
const fn read_levels() -> [[u64; 3]; count_lines(TABLE) - 1] {
    let mut levels = [[0; 3]; count_lines(TABLE) - 1];
    let (mut row, mut column, mut at) = (0, 0, 0);
    while TABLE[at] != b'\n' {
        at += 1;
    }
    at += 1;
    while at < TABLE.len() {
        match TABLE[at] {
            digit @ b'0'..=b'9' => {
                levels[row][column] = 10 * levels[row][column] + (digit - b'0') as u64
            }
            b',' => column += 1,
            b'\r' => {}
            b'\n' => {
                let [elo, _, quiet_percent] = levels[row];
                assert!(column == 2 && quiet_percent <= 100, "three columns, the last in percent");
                assert!(
                    row < 2 || elo + levels[0][0] == levels[row - 1][0] + levels[1][0],
                    "equal steps"
                );
                (row, column) = (row + 1, 0);
            }
            _ => panic!("the table of levels holds whole numbers"),
        }
        at += 1;
    }
    assert!(column == 0, "the last line has an end");
    levels
}

/// The limits of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Its node limit.
    pub nodes: u64,
    /// How many of a hundred quiet moves it sees; the historical style sees all.
    pub quiet_percent: u8,
}

impl Level {
    /// The level for `elo` points, interpolated from the table; values out of range are clamped.
    #[must_use]
    pub fn of(elo: u32) -> Level {
        let above = elo.clamp(MIN_ELO, MAX_ELO) - MIN_ELO;
        let (step, part) = ((above / STEP) as usize, u64::from(above % STEP));
        let [_, nodes, quiet_percent] = LEVELS[step];
        let [_, more_nodes, more_percent] = LEVELS.get(step + 1).copied().unwrap_or(LEVELS[step]);
        let between = |low: u64, high: u64| low + (high - low) * part / u64::from(STEP);
        let quiet_percent = between(quiet_percent, more_percent);
        Level { nodes: between(nodes, more_nodes), quiet_percent: quiet_percent.min(100) as u8 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_points_mean_more_nodes_and_more_quiet_moves() {
        assert_eq!(Level::of(0), Level { nodes: 102, quiet_percent: 35 });
        assert_eq!(Level::of(MIN_ELO + 150), Level { nodes: 188, quiet_percent: 40 });
        assert_eq!(Level::of(u32::MAX), Level { nodes: 123_600, quiet_percent: 100 });
        for elo in MIN_ELO..MAX_ELO {
            let (lower, upper) = (Level::of(elo), Level::of(elo + 1));
            assert!(
                lower.nodes <= upper.nodes && lower.quiet_percent <= upper.quiet_percent,
                "{elo}"
            );
        }
        for (rows, elo) in LEVELS.windows(2).zip((MIN_ELO..).step_by(STEP as usize)) {
            assert_eq!(rows[0][0], u64::from(elo));
            assert!(rows[0][1] < rows[1][1], "{elo}");
            assert_eq!(
                Level::of(elo),
                Level { nodes: rows[0][1], quiet_percent: rows[0][2] as u8 }
            );
        }
    }
}
