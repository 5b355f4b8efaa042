//! Damping: great leads count in part.
//!
//! What a network says of won positions is uncertain by whole pieces; in full it would make the search's margins cut
//! off the way to mate. Scores of games show it, so files of games say how it was done, and a trainer undoes it.

use crate::params;
use crate::score::Score;

/// How an evaluation takes great leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Damping {
    /// From where on a lead counts in part, in centipawns.
    pub bound: u16,
    /// What the part beyond the bound is divided by; 0 and 1 leave it as it is.
    pub divisor: u8,
}

impl Damping {
    /// Leads count in full, as with the square tables.
    pub const NONE: Damping = Damping { bound: 0, divisor: 0 };

    /// What networks' evaluations get.
    #[must_use]
    #[inline(always)]
    pub fn of_networks() -> Damping {
        Damping { bound: params::won_eval() as u16, divisor: params::won_eval_divisor() as u8 }
    }

    /// The score damped.
    #[must_use]
    #[inline(always)]
    pub const fn damped(self, score: Score) -> Score {
        let beyond = score.abs() - self.bound as Score;
        if beyond <= 0 || self.divisor < 2 {
            return score;
        }
        score.signum() * (self.bound as Score + beyond / self.divisor as Score)
    }

    /// What a score was before it was damped, up to rounding.
    #[must_use]
    pub const fn undone(self, score: Score) -> Score {
        let beyond = score.abs() - self.bound as Score;
        if beyond <= 0 || self.divisor < 2 {
            return score;
        }
        score.signum() * (self.bound as Score + beyond * self.divisor as Score)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn great_leads_count_in_part_and_are_found_again() {
        let damping = Damping { bound: 600, divisor: 2 };
        for score in [0, 1, 599, 600] {
            assert_eq!((damping.damped(score), damping.damped(-score)), (score, -score));
        }
        assert_eq!((damping.damped(1001), damping.damped(-1001)), (800, -800));
        for score in -3000..3000 {
            let undone = damping.undone(damping.damped(score));
            assert!((undone - score).abs() < 2, "{score}: {undone}");
            assert_eq!(Damping::NONE.damped(score), score);
            assert_eq!(Damping::NONE.undone(score), score);
        }
    }
}
