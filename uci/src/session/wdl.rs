//! Win, draw and loss chances of a score, for `UCI_ShowWDL`.
//!
//! A logistic curve in base 2, in integers, so that all machines agree: the chance to win is
//! `1000 / (1 + 2^((CENTRE - score) / SLOPE))` permill, the chance to lose the same for the negative
//! score, and the rest is a draw. `scripts/wdl.py` fitted the two constants to 2,000 games of the strong
//! search against itself at 1+0.01. The curve is within 2 % of how those games ended, except that at a
//! score of 0 75 % of them were drawn, not 69 %. The search evaluated by its square tables then; the scores
//! of the network that plays now have another scale, to which the constants are not fitted yet.

use cairn_engine::search::ScoreText;

use crate::protocol::Wdl;

/// The score with an even chance to win, in centipawns.
const CENTRE: i32 = 107;

/// The centipawns over which the odds to win double.
const SLOPE: i32 = 44;

/// The unit of the exponent's fixed-point fraction.
const UNIT: u64 = 1 << 10;

/// Scores are clamped to this, which keeps the exponent small; in centipawns.
const DECIDED: i32 = 1500;

/// The largest exponent of the odds: the factor 1000 (10 bits) and the fraction with its unit (11 bits)
/// must fit into 64 bits with it. `scripts/wdl.py` has the same constant.
const LARGEST_EXPONENT: i32 = 43;

// Otherwise the chances would overflow or, without a positive centre, could add up to more than 1000.
const _: () = assert!(CENTRE > 0 && SLOPE > 0 && (DECIDED + CENTRE) / SLOPE <= LARGEST_EXPONENT);

/// The chances with a score, from the same point of view.
#[must_use]
pub fn chances(score: ScoreText) -> Wdl {
    let (win, loss) = match score {
        ScoreText::Centipawns(score) => (chance(score), chance(score.saturating_neg())),
        ScoreText::Mate(1..) => (1000, 0),
        ScoreText::Mate(_) => (0, 1000),
    };
    Wdl { win, draw: 1000 - win - loss, loss }
}

/// The chance to win, in permill.
fn chance(score: i32) -> u32 {
    let distance = CENTRE - score.clamp(-DECIDED, DECIDED);
    // Odds of 1 to 2^x with x = |distance| / SLOPE, linear between two powers.
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
        let mut before = chances(ScoreText::Centipawns(i32::MIN));
        assert_eq!(before, Wdl { win: 0, draw: 0, loss: 1000 });
        for score in -2000..=2000 {
            let wdl = chances(ScoreText::Centipawns(score));
            assert_eq!(wdl.win + wdl.draw + wdl.loss, 1000, "{score}");
            assert!(wdl.win >= before.win && wdl.loss <= before.loss, "{score}");
            let mirrored = chances(ScoreText::Centipawns(-score));
            assert_eq!((wdl.win, wdl.loss), (mirrored.loss, mirrored.win), "{score}");
            before = wdl;
        }
        assert_eq!(before.win, 1000);
    }

    #[test]
    fn the_curve_goes_where_its_constants_say() {
        assert_eq!(chances(ScoreText::Centipawns(CENTRE)).win, 500);
        // Twice and four times the odds.
        assert_eq!(chances(ScoreText::Centipawns(CENTRE + SLOPE)).win, 667);
        assert_eq!(chances(ScoreText::Centipawns(CENTRE - 2 * SLOPE)).win, 200);
    }

    #[test]
    fn mates_are_certain() {
        assert_eq!(chances(ScoreText::Mate(3)), Wdl { win: 1000, draw: 0, loss: 0 });
        assert_eq!(chances(ScoreText::Mate(-3)), Wdl { win: 0, draw: 0, loss: 1000 });
        assert_eq!(chances(ScoreText::Mate(0)), Wdl { win: 0, draw: 0, loss: 1000 });
    }
}
