//! Strength levels: how many nodes an Elo figure stands for.
//!
//! A weaker level searches less; it does not throw in random blunders. So a level plays the same move
//! on every machine, and a search that is limited in this way can be played again like any other.
//! The table says which budget stands for which figure. Until the strong search is there to be
//! measured it is an estimate: 100 points for each doubling from a budget that sees one move ahead.

/// The weakest level.
pub const MIN_ELO: u32 = 800;

/// The strongest level.
pub const MAX_ELO: u32 = 2400;

/// How many points of Elo lie between two budgets of the table.
const STEP: u32 = 100;

/// The node budgets from [`MIN_ELO`] to [`MAX_ELO`], [`STEP`] points apart.
const BUDGETS: [u64; 17] = [
    64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072, 262_144, 524_288,
    1_048_576, 2_097_152, 4_194_304,
];

const _: () = assert!(BUDGETS.len() == ((MAX_ELO - MIN_ELO) / STEP + 1) as usize);

/// The node budget of a level. Figures beyond the range stand for its ends.
#[must_use]
pub fn nodes_for(elo: u32) -> u64 {
    let above = elo.clamp(MIN_ELO, MAX_ELO) - MIN_ELO;
    let (step, part) = ((above / STEP) as usize, u64::from(above % STEP));
    let lower = BUDGETS[step];
    let upper = BUDGETS.get(step + 1).copied().unwrap_or(lower);
    lower + (upper - lower) * part / u64::from(STEP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_points_mean_more_nodes() {
        assert_eq!(nodes_for(0), BUDGETS[0]);
        assert_eq!(nodes_for(MIN_ELO + 150), 192);
        assert_eq!(nodes_for(u32::MAX), BUDGETS[16]);
        for elo in MIN_ELO..MAX_ELO {
            assert!(nodes_for(elo) <= nodes_for(elo + 1), "{elo}");
            assert!(nodes_for(elo) < nodes_for(elo + 2), "{elo}");
        }
    }
}
