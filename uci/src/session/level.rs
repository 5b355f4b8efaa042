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

use crate::session::table::{count_rows, look_up, read};

/// The table, which `scripts/levels.py` reads too: in each row a figure, its nodes and the percentage of quiet
/// moves that it sees, from the weakest level to the strongest.
const TABLE: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/levels.csv"));

/// Its rows as numbers.
const LEVELS: [[u64; 3]; count_rows(TABLE)] = read(TABLE);

/// The weakest level.
pub const MIN_ELO: u32 = LEVELS[0][0] as u32;

/// The strongest level.
pub const MAX_ELO: u32 = LEVELS[LEVELS.len() - 1][0] as u32;

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
        let [_, nodes, quiet_percent] = look_up(&LEVELS, elo.into());
        Level { nodes, quiet_percent: quiet_percent.min(100) as u8 }
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
        for (rows, elo) in
            LEVELS.windows(2).zip((MIN_ELO..).step_by((LEVELS[1][0] - LEVELS[0][0]) as usize))
        {
            assert_eq!(rows[0][0], u64::from(elo));
            assert!(rows[0][1] < rows[1][1] && rows[1][2] <= 100, "{elo}");
            assert_eq!(
                Level::of(elo),
                Level { nodes: rows[0][1], quiet_percent: rows[0][2] as u8 }
            );
        }
    }
}
