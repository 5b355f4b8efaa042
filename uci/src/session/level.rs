//! Strength levels: what a value of `UCI_Elo` stands for.
//!
//! A weaker level searches fewer nodes and overlooks some quiet moves; it makes no random blunders.
//! Which moves it overlooks depends on the position alone, so a level plays the same move on every
//! machine and can be replayed like any other search.
//!
//! `scripts/levels.py` measured the table: games of nine levels with each other, with micro-Max at 1500
//! and with engines of 1740 to 2700 points, at 4+0.04, on a scale close to CCRL Blitz. Errors (95 %) are
//! 70 points from 1300 up, 110 at 1150 and 200 below, and the ratings of those engines are good to about
//! 100. The values are for the strong style; the historical one gets the same nodes, at which it stops
//! within an iteration, as it never does for `go nodes`.

/// The weakest level.
pub const MIN_ELO: u32 = 800;

/// The strongest level.
pub const MAX_ELO: u32 = 2800;

/// The points of Elo between two levels of the table.
const STEP: u32 = 100;

/// The levels from [`MIN_ELO`] to [`MAX_ELO`], [`STEP`] points apart: nodes, and percent of quiet moves.
const LEVELS: [(u64, u8); 21] = [
    (102, 35),
    (154, 39),
    (222, 42),
    (354, 47),
    (562, 52),
    (890, 56),
    (1395, 61),
    (2144, 66),
    (3307, 70),
    (4995, 74),
    (7391, 78),
    (10_930, 82),
    (14_246, 85),
    (18_174, 87),
    (23_036, 90),
    (28_497, 92),
    (34_429, 94),
    (41_791, 97),
    (53_201, 99),
    (76_606, 100),
    (123_600, 100),
];

const _: () = assert!(LEVELS.len() == ((MAX_ELO - MIN_ELO) / STEP + 1) as usize);

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
        let (nodes, quiet_percent) = LEVELS[step];
        let (more_nodes, more_percent) = LEVELS.get(step + 1).copied().unwrap_or(LEVELS[step]);
        let between = |low: u64, high: u64| low + (high - low) * part / u64::from(STEP);
        let quiet_percent = between(quiet_percent.into(), more_percent.into());
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
            assert!(rows[0].0 < rows[1].0, "{elo}");
            assert_eq!(Level::of(elo), Level { nodes: rows[0].0, quiet_percent: rows[0].1 });
        }
    }
}
