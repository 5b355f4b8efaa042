//! Scores and windows.
//!
//! Scores are whole numbers in hundredths of a pawn from the view of the side to move. Mates carry no
//! ply: a mated node is worth -[`MATE`], and the delayed-gain penalty (see `search::delay`) takes a point
//! off for each move of the winner, so that a mate in n moves is worth [`MATE`] - n in every node.
//! All scores fit the 14 bits that a hash entry has for them.

/// A score, from -[`INFINITY`] to [`INFINITY`].
pub type Score = i32;

/// Larger than any score of a position.
pub const INFINITY: Score = 8190;

/// The score of having mated; being mated scores the negative.
pub const MATE: Score = 8000;

/// The longest mate that can be told from an evaluation, in moves.
pub const LONGEST_MATE: Score = 250;

/// The lowest score that means a mate.
pub const MATE_BAND: Score = MATE - LONGEST_MATE;

/// The score of a position that an endgame table says is won; a point less for each move that leads there.
pub const TB_WIN: Score = MATE_BAND - 1;

/// The lowest score that means a win by endgame tables, above which are proved mates; every evaluation is
/// below it.
pub const TB_BAND: Score = MATE_BAND - 250;

/// A draw.
pub const DRAW: Score = 0;

/// Whether a score is a mate score, for either side.
#[must_use]
#[inline]
pub const fn is_mate(score: Score) -> bool {
    score >= MATE_BAND || score <= -MATE_BAND
}

/// Whether a score is that of a win for either side that is proved, by a mate or by endgame tables.
#[must_use]
#[inline]
pub const fn is_proved(score: Score) -> bool {
    score >= TB_BAND || score <= -TB_BAND
}

/// The evaluation clamped to the range of evaluations, between the bands of proved wins.
#[must_use]
#[inline]
pub const fn clamp_evaluation(score: Score) -> Score {
    const LIMIT: Score = TB_BAND - 1;
    if score > LIMIT {
        LIMIT
    } else if score < -LIMIT {
        -LIMIT
    } else {
        score
    }
}

/// An alpha-beta window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// The score that the side to move has already: at or below it a bound is enough.
    pub alpha: Score,
    /// The score that the opponent can hold it to: at or above it a bound is enough.
    pub beta: Score,
}

impl Window {
    /// All scores.
    pub const FULL: Window = Window { alpha: -INFINITY, beta: INFINITY };

    /// The null window, which only tells whether the score is above `alpha`.
    #[must_use]
    #[inline]
    pub const fn null(alpha: Score) -> Window {
        Window { alpha, beta: alpha + 1 }
    }

    /// The same window from the other side.
    #[must_use]
    #[inline]
    pub const fn flipped(self) -> Window {
        Window { alpha: -self.beta, beta: -self.alpha }
    }
}
