//! Chances to win, draw and lose for a score, for `UCI_ShowWDL`.
//!
//! A logistic curve in base 2, in integers, so that all machines say the same: the chance to win is
//! `1000 / (1 + 2^((CENTRE - score) / SLOPE))` permill, the chance to lose the same for the negative
//! score, and the rest is a draw. The two constants were fitted by `scripts/wdl.py` to 2,000 games of the
//! strong search against itself at 1+0.01; what is told is within 2 % of how those games ended, but that at
//! a score of 0 they were drawn in 75 %, not 69 %.

use cairn_engine::search::ScoreText;

/// The score with an even chance to win, in centipawns.
const CENTRE: i32 = 107;

/// Over how many centipawns the odds to win double.
const SLOPE: i32 = 44;

/// Fractions of the exponent.
const UNIT: u64 = 1 << 10;

/// Scores from here on are as good as won. It keeps the exponent small.
const DECIDED: i32 = 1500;

/// The largest exponent of the odds: a factor of 1000 (10 bits) and the fractions with what they are
/// added to (11 bits) have to fit into 64 bits beside it. `scripts/wdl.py` knows it too.
const LARGEST_EXPONENT: i32 = 43;

// Beyond that the chances would overflow; without a positive centre they might add up to more than
// 1000.
const _: () = assert!(CENTRE > 0 && SLOPE > 0 && (DECIDED + CENTRE) / SLOPE <= LARGEST_EXPONENT);

/// Chances in permill; they add up to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wdl {
    /// To win.
    pub win: u32,
    /// To draw.
    pub draw: u32,
    /// To lose.
    pub loss: u32,
}

impl Wdl {
    /// The chances with a score, from the same point of view.
    #[must_use]
    pub fn of(score: ScoreText) -> Wdl {
        let (win, loss) = match score {
            ScoreText::Centipawns(score) => (chance(score), chance(score.saturating_neg())),
            ScoreText::Mate(1..) => (1000, 0),
            ScoreText::Mate(_) => (0, 1000),
        };
        Wdl { win, draw: 1000 - win - loss, loss }
    }
}

/// The chance to win, in permill.
fn chance(score: i32) -> u32 {
    let distance = CENTRE - score.clamp(-DECIDED, DECIDED);
    // Odds of 1 to 2^x with x = |distance| / SLOPE; between two powers a straight line will do.
    let exponent = u64::from(distance.unsigned_abs()) * UNIT / SLOPE.unsigned_abs() as u64;
    let power = (UNIT + exponent % UNIT) << (exponent / UNIT);
    let (likely, unlikely) = (power, UNIT);
    let favourable = if distance > 0 { unlikely } else { likely };
    let chance = (1000 * favourable + (likely + unlikely) / 2) / (likely + unlikely);
    u32::try_from(chance).unwrap_or(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_add_up_and_grow_with_the_score() {
        let mut before = Wdl::of(ScoreText::Centipawns(i32::MIN));
        assert_eq!(before, Wdl { win: 0, draw: 0, loss: 1000 });
        for score in -2000..=2000 {
            let wdl = Wdl::of(ScoreText::Centipawns(score));
            assert_eq!(wdl.win + wdl.draw + wdl.loss, 1000, "{score}");
            assert!(wdl.win >= before.win && wdl.loss <= before.loss, "{score}");
            let mirrored = Wdl::of(ScoreText::Centipawns(-score));
            assert_eq!((wdl.win, wdl.loss), (mirrored.loss, mirrored.win), "{score}");
            before = wdl;
        }
        assert_eq!(before.win, 1000);
    }

    #[test]
    fn the_curve_goes_where_its_constants_say() {
        assert_eq!(Wdl::of(ScoreText::Centipawns(CENTRE)).win, 500);
        // Twice and four times the odds.
        assert_eq!(Wdl::of(ScoreText::Centipawns(CENTRE + SLOPE)).win, 667);
        assert_eq!(Wdl::of(ScoreText::Centipawns(CENTRE - 2 * SLOPE)).win, 200);
    }

    #[test]
    fn mates_are_certain() {
        assert_eq!(Wdl::of(ScoreText::Mate(3)), Wdl { win: 1000, draw: 0, loss: 0 });
        assert_eq!(Wdl::of(ScoreText::Mate(-3)), Wdl { win: 0, draw: 0, loss: 1000 });
        assert_eq!(Wdl::of(ScoreText::Mate(0)), Wdl { win: 0, draw: 0, loss: 1000 });
    }
}
