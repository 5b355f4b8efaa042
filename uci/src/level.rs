//! Strength levels: what an Elo figure stands for.
//!
//! A weaker level searches less and does not see all quiet moves; it does not throw in random
//! blunders. Which moves it overlooks depends on the position alone. So a level plays the same move
//! on every machine, and a search that is limited in this way can be played again like any other.
//! The table says what stands for which figure. Until it is measured it is an estimate: 200 points for
//! each doubling of the nodes together with the attention that grows alongside, from a budget that sees
//! one move ahead to one that a blitz clock has time for.

/// The weakest level.
pub const MIN_ELO: u32 = 400;

/// The strongest level.
pub const MAX_ELO: u32 = 2700;

/// How many points of Elo lie between two levels of the table.
const STEP: u32 = 100;

/// The levels from [`MIN_ELO`] to [`MAX_ELO`], [`STEP`] points apart: nodes and attention.
const LEVELS: [(u64, u8); 24] = [
    (71, 31),
    (91, 34),
    (118, 36),
    (154, 39),
    (209, 42),
    (315, 46),
    (473, 50),
    (678, 54),
    (960, 57),
    (1359, 61),
    (1971, 65),
    (2872, 69),
    (4203, 72),
    (5837, 76),
    (8129, 79),
    (11_344, 83),
    (14_995, 85),
    (19_630, 88),
    (25_532, 91),
    (33_200, 94),
    (43_200, 97),
    (60_000, 100),
    (100_000, 100),
    (170_000, 100),
];

const _: () = assert!(LEVELS.len() == ((MAX_ELO - MIN_ELO) / STEP + 1) as usize);

/// What a search of a level may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The nodes it may search.
    pub nodes: u64,
    /// How many of a hundred quiet moves it sees; the historical style sees all.
    pub attention: u8,
}

impl Level {
    /// The level of a figure, between those of the table by proportion. Figures beyond the range stand
    /// for its ends.
    #[must_use]
    pub fn of(elo: u32) -> Level {
        let above = elo.clamp(MIN_ELO, MAX_ELO) - MIN_ELO;
        let (step, part) = ((above / STEP) as usize, u64::from(above % STEP));
        let (nodes, attention) = LEVELS[step];
        let (more_nodes, more_attention) = LEVELS.get(step + 1).copied().unwrap_or(LEVELS[step]);
        let between = |low: u64, high: u64| low + (high - low) * part / u64::from(STEP);
        let attention = between(attention.into(), more_attention.into());
        Level { nodes: between(nodes, more_nodes), attention: attention.min(100) as u8 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_points_mean_more_nodes_and_more_attention() {
        assert_eq!(Level::of(0), Level { nodes: 71, attention: 31 });
        assert_eq!(Level::of(MIN_ELO + 150), Level { nodes: 104, attention: 35 });
        assert_eq!(Level::of(u32::MAX), Level { nodes: 170_000, attention: 100 });
        for elo in MIN_ELO..MAX_ELO {
            let (lower, upper) = (Level::of(elo), Level::of(elo + 1));
            assert!(lower.nodes <= upper.nodes && lower.attention <= upper.attention, "{elo}");
        }
        for (rows, elo) in LEVELS.windows(2).zip((MIN_ELO..).step_by(STEP as usize)) {
            assert!(rows[0].0 < rows[1].0, "{elo}");
            assert_eq!(Level::of(elo), Level { nodes: rows[0].0, attention: rows[0].1 });
        }
    }
}
