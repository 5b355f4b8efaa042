//! Scores as they are shown, and win, draw and loss chances for `UCI_ShowWDL`: both from one fit.
//!
//! The engine counts in centipawns of its own, whose worth changes with every network. What is shown is normalised:
//! +1.00 is a lead that wins every second game. How many of the engine's centipawns that takes depends on the material
//! on the board, as many a lead cannot be won any more once little is left. The idea, with the chances as two logistic
//! curves in the score whose centre and width depend on the material, is that of Stockfish's
//! [model](https://github.com/official-stockfish/WDL_model).
//!
//! `scripts/wdl.py` fits the table, `scores.csv`, to games that the network has played against itself. All that depends
//! on a network stands in that table. Search, clock and files of games know nothing of it.

use cairn_engine::board::Board;
use cairn_engine::piece::{Kind, Side};
use cairn_engine::score::{TB_WIN, is_proved};
use cairn_engine::search::ScoreText;

use crate::protocol::Wdl;
use crate::session::files::Checksum;
use crate::session::table::{count_rows, look_up, read};

/// The table, which `scripts/wdl.py` writes: in each row the material of both sides together, the score with an even
/// chance to win, and how many points more double the odds, both in the engine's centipawns.
const TABLE: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/scores.csv"));

/// Its rows as numbers.
const SCORES: [[u64; 3]; count_rows(TABLE)] = read(TABLE);

// A chance below a half for either side at a score of 0, so that both add up to less than one; and no division by zero.
const _: () = {
    let mut row = 0;
    while row < SCORES.len() {
        let [_, even, doubling] = SCORES[row];
        assert!(even > 0 && doubling > 0);
        row += 1;
    }
};

/// What counts as material, and how much.
const MATERIAL: [(Kind, u32); 4] =
    [(Kind::Knight, 3), (Kind::Bishop, 3), (Kind::Rook, 5), (Kind::Queen, 9)];

/// What a win by endgame tables is shown as, as other engines do.
const SHOWN_TB_WIN: i32 = 20_000;

/// The unit of the exponent's fixed-point fraction.
const UNIT: u64 = 1 << 10;

/// The largest exponent of the odds: the factor 1000 (10 bits) and the fraction with its unit (11 bits)
/// must fit into 64 bits with it.
const LARGEST_EXPONENT: u64 = 40;

/// What scores mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// The score with an even chance to win, in the engine's centipawns.
    even: i32,
    /// The centipawns over which the odds to win double.
    doubling: i32,
}

impl Scale {
    /// That of style MicroMax, for its chances alone: its scores are shown as they are, and nothing was fitted to them.
    pub const MICROMAX: Scale = Scale { even: 107, doubling: 44 };

    /// That of style Cairn in a position, and in all that is searched from there.
    #[must_use]
    pub fn of(board: &Board) -> Scale {
        Scale::with_material(material(board))
    }

    fn with_material(material: u32) -> Scale {
        // The table holds numbers of three digits.
        let [_, even, doubling] =
            look_up(&SCORES, material.into()).map(|number| i32::try_from(number).unwrap_or(1));
        Scale { even, doubling }
    }

    /// The score with an even chance to win, in the engine's centipawns: what is shown as +1.00.
    #[must_use]
    pub const fn even(self) -> i32 {
        self.even
    }

    /// One of the engine's centipawn figures as it is shown.
    #[must_use]
    pub const fn normalised(self, centipawns: i32) -> i32 {
        let rounding = centipawns.signum() * (self.even / 2);
        (100 * centipawns + rounding) / self.even
    }

    /// A score as it is shown. Mates are what they are.
    #[must_use]
    pub const fn shown(self, score: ScoreText) -> ScoreText {
        match score {
            ScoreText::Centipawns(score) if is_proved(score) => {
                // A win by endgame tables, the same whatever the material: the fewer moves away, the more.
                let nearest = TB_WIN - score.abs();
                ScoreText::Centipawns(score.signum() * (SHOWN_TB_WIN - nearest))
            }
            ScoreText::Centipawns(score) => ScoreText::Centipawns(self.normalised(score)),
            mate @ ScoreText::Mate(_) => mate,
        }
    }

    /// The chances with a score of the engine's, from the same point of view.
    #[must_use]
    pub fn chances(self, score: ScoreText) -> Wdl {
        let (win, loss) = match score {
            ScoreText::Centipawns(score) => (self.chance(score), self.chance(-score)),
            ScoreText::Mate(1..) => (1000, 0),
            ScoreText::Mate(_) => (0, 1000),
        };
        Wdl { win, draw: 1000 - win - loss, loss }
    }

    /// The chance to win, in permill: `1000 / (1 + 2^((even - score) / doubling))`, in integers, so that all machines
    /// agree. `scripts/wdl.py` reckons in the same way.
    fn chance(self, score: i32) -> u32 {
        let distance = self.even - score;
        // Odds of 1 to 2^x with x = |distance| / doubling, linear between two powers.
        let exponent =
            u64::from(distance.unsigned_abs()) * UNIT / u64::from(self.doubling.unsigned_abs());
        let exponent = exponent.min(LARGEST_EXPONENT * UNIT);
        let power = (UNIT + exponent % UNIT) << (exponent / UNIT);
        let (likely, unlikely) = (power, UNIT);
        let favourable = if distance > 0 { unlikely } else { likely };
        let chance = (1000 * favourable + (likely + unlikely) / 2) / (likely + unlikely);
        u32::try_from(chance).unwrap_or(1000)
    }
}

/// The material of both sides together: 78 at the start of a game.
fn material(board: &Board) -> u32 {
    let of_side = |side: Side| -> u32 {
        let pieces = MATERIAL.iter().map(|&(kind, worth)| worth * board.count(side, kind));
        pieces.sum::<u32>() + board.count(side, side.pawn())
    };
    Side::ALL.map(of_side).iter().sum()
}

/// What tells the table from others: logs hold it, as scores on another scale are other lines.
#[must_use]
pub fn identity() -> String {
    Checksum::of(TABLE).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scales of all amounts of material, and that of micro-Max.
    fn scales() -> impl Iterator<Item = Scale> {
        (0..=78).map(Scale::with_material).chain([Scale::MICROMAX])
    }

    #[test]
    fn chances_add_up_and_grow_with_the_score() {
        for scale in scales() {
            let mut before = scale.chances(ScoreText::Centipawns(-8000));
            assert_eq!(before, Wdl { win: 0, draw: 0, loss: 1000 });
            for score in -2000..=2000 {
                let wdl = scale.chances(ScoreText::Centipawns(score));
                assert_eq!(wdl.win + wdl.draw + wdl.loss, 1000, "{scale:?} {score}");
                assert!(wdl.win >= before.win && wdl.loss <= before.loss, "{scale:?} {score}");
                let mirrored = scale.chances(ScoreText::Centipawns(-score));
                assert_eq!((wdl.win, wdl.loss), (mirrored.loss, mirrored.win), "{scale:?} {score}");
                before = wdl;
            }
        }
    }

    #[test]
    fn the_curve_goes_where_its_constants_say() {
        for scale in scales() {
            let Scale { even, doubling } = scale;
            let win = |score| scale.chances(ScoreText::Centipawns(score)).win;
            assert_eq!(win(even), 500);
            // Twice the odds, and a quarter of them.
            assert_eq!((win(even + doubling), win(even - 2 * doubling)), (667, 200));
        }
    }

    #[test]
    fn one_pawn_is_an_even_chance_and_signs_are_kept() {
        for scale in scales() {
            let even = scale.even;
            for (score, shown) in [(even, 100), (-even, -100), (0, 0), (5 * even, 500)] {
                let score = ScoreText::Centipawns(score);
                assert_eq!(scale.shown(score), ScoreText::Centipawns(shown), "{scale:?}");
            }
            for score in 1..8000 {
                let shown = scale.normalised(score);
                assert_eq!(scale.normalised(-score), -shown);
                assert!((100 * score - shown * even).abs() <= even / 2, "{scale:?} {score}");
            }
            assert_eq!(scale.shown(ScoreText::Mate(-3)), ScoreText::Mate(-3));
            let loss = ScoreText::Centipawns(9 - TB_WIN);
            assert_eq!(scale.shown(loss), ScoreText::Centipawns(-19_991));
        }
    }

    #[test]
    fn material_is_that_of_both_sides() {
        assert_eq!(material(&Board::startpos()), 78);
        for (fen, expected) in
            [("4k3/8/8/8/8/8/8/4K3 w - - 0 1", 0), ("q3k3/7p/8/8/8/8/P7/RNB1K3 w - - 0 1", 22)]
        {
            assert_eq!(material(&Board::from_fen(fen).expect("a position")), expected, "{fen}");
        }
    }

    #[test]
    fn mates_are_certain() {
        let scale = Scale::of(&Board::startpos());
        assert_eq!(scale.chances(ScoreText::Mate(3)), Wdl { win: 1000, draw: 0, loss: 0 });
        assert_eq!(scale.chances(ScoreText::Mate(-3)), Wdl { win: 0, draw: 0, loss: 1000 });
        assert_eq!(scale.chances(ScoreText::Mate(0)), Wdl { win: 0, draw: 0, loss: 1000 });
    }
}
