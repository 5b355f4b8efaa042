//! How good a move was: by the change of the mover's expected result, not by centipawns.
//!
//! The expected result is what a player scores on the average, a win being one point and a draw a half. It
//! follows from the chances that [`crate::session::wdl`] reckons from a score. So a queen that is lost in a
//! position that stays won, or was lost before, costs nothing, and half a pawn where all is in balance does.
//!
//! All numbers that judge stand here. The losses that earn `?!`, `?` and `??` are 10, 20 and 30 % of a point.
//! [Lichess](https://github.com/lichess-org/lila) asks for 5, 10 and 15 %, on a curve that was fitted to games
//! of people and is about half as steep as Cairn's, fitted to games of the engine: from an even middlegame both
//! come to losses of about 0.55, 1.1 and 1.65 pawns as they are shown.

use cairn_engine::board::Board;
use cairn_engine::search::ScoreText;

use crate::analyze::Line;
use crate::protocol::Wdl;
use crate::session::wdl::Scale;

/// An expected result, or a part of one: two for each win and one for each draw in a thousand games, so 0 to
/// 2000.
pub type Expected = u32;

/// A certain win.
pub const CERTAIN: Expected = 2000;

/// The least loss for `?!`.
pub const DUBIOUS: Expected = 200;

/// The least loss for `?`; the only good move, `!`, is one beside which all others lose as much.
pub const MISTAKE: Expected = 400;

/// A move that a search of so many nodes from an empty table finds is obvious: it gets no `!`.
pub const OBVIOUS_NODES: u64 = 2000;

/// The least loss for `??`.
pub const BLUNDER: Expected = 600;

/// The loss with which a move counts half for the accuracy of a player.
pub const HALF: Expected = 600;

/// What is said of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// `!`: the only good move.
    Only,
    /// `?!`: it gives something away.
    Dubious,
    /// `?`: it gives a lot away.
    Mistake,
    /// `??`: it gives the game away, or a half of it.
    Blunder,
}

impl Mark {
    /// All marks, the best first.
    pub const ALL: [Mark; 4] = [Mark::Only, Mark::Dubious, Mark::Mistake, Mark::Blunder];

    /// The mark behind a move.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Mark::Only => "!",
            Mark::Dubious => "?!",
            Mark::Mistake => "?",
            Mark::Blunder => "??",
        }
    }

    /// Its number as an annotation of PGN.
    #[must_use]
    pub const fn nag(self) -> u8 {
        match self {
            Mark::Only => 1,
            Mark::Mistake => 2,
            Mark::Blunder => 4,
            Mark::Dubious => 6,
        }
    }

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Mark::Only => "only move",
            Mark::Dubious => "inaccuracy",
            Mark::Mistake => "mistake",
            Mark::Blunder => "blunder",
        }
    }
}

/// What a position is worth to the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worth {
    /// The score as it is shown.
    pub score: ScoreText,
    /// The chances.
    pub wdl: Wdl,
    /// The score in the engine's own units.
    raw: ScoreText,
}

impl Worth {
    /// What a line of the search says about the position that it begins with.
    #[must_use]
    pub fn of_line(board: &Board, line: &Line) -> Worth {
        let scale = Scale::of(board);
        let raw = match line.score {
            ScoreText::Centipawns(shown) => ScoreText::Centipawns(shown * scale.even() / 100),
            mate @ ScoreText::Mate(_) => mate,
        };
        let wdl = line.wdl.unwrap_or_else(|| scale.chances(raw));
        Worth { score: line.score, wdl, raw }
    }

    /// That of a position without a legal move.
    #[must_use]
    pub fn of_end(board: &Board) -> Worth {
        if board.in_check() {
            let mated = ScoreText::Mate(0);
            Worth { score: mated, wdl: Wdl::LOSS, raw: mated }
        } else {
            let even = ScoreText::Centipawns(0);
            Worth { score: even, wdl: Wdl::DRAW, raw: even }
        }
    }

    /// The result that the side to move can expect.
    #[must_use]
    pub const fn expected(&self) -> Expected {
        expected(self.wdl)
    }

    /// The same on the scale of another position. What a score is worth depends on the material, so that a mere
    /// exchange changes the chances: to compare a position with those that follow, all are seen from it.
    #[must_use]
    pub fn expected_on(&self, scale: Scale) -> Expected {
        expected(scale.chances(self.raw))
    }
}

/// The expected result with these chances.
#[must_use]
pub const fn expected(chances: Wdl) -> Expected {
    2 * chances.win + chances.draw
}

/// A move beside those that could have been played, all as the player who has made it sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// How many moves were legal, from 1.
    pub legal: usize,
    /// The played move is the one that the search takes for the best.
    pub is_best: bool,
    /// The played move takes back on the square on which something was taken.
    pub takes_back: bool,
    /// Anybody would have played it: a short search finds it too.
    pub is_obvious: bool,
    /// The expected result before the move.
    pub before: Expected,
    /// The expected result after the move.
    pub after: Expected,
    /// The expected result without the best move, if that was looked for.
    pub without_best: Option<Expected>,
}

/// What is to be said of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What the move lost of the expected result.
    pub loss: Expected,
    /// The mark, if it earns one.
    pub mark: Option<Mark>,
    /// There was no other move.
    pub is_forced: bool,
}

/// Judges a move. The best move loses nothing, whatever comes to light after it; a forced one gets no mark.
#[must_use]
pub fn judge(choice: &Choice) -> Judgement {
    let is_forced = choice.legal <= 1;
    let loss =
        if choice.is_best || is_forced { 0 } else { choice.before.saturating_sub(choice.after) };
    let is_only = choice.is_best
        && !is_forced
        && !choice.takes_back
        && !choice.is_obvious
        && choice.without_best.is_some_and(|other| other + MISTAKE <= choice.before);
    let mark = match loss {
        BLUNDER.. => Some(Mark::Blunder),
        MISTAKE.. => Some(Mark::Mistake),
        DUBIOUS.. => Some(Mark::Dubious),
        _ => is_only.then_some(Mark::Only),
    };
    Judgement { loss, mark, is_forced }
}

/// How well somebody has played, in percent: the mean over all moves that were not forced, of which each counts
/// `2^(-loss / HALF)`. None without such a move. The idea that each loss takes a share is that of
/// [Lichess](https://lichess.org/page/accuracy), whose moves also count about half when they are just a blunder.
#[must_use]
pub fn accuracy<'a>(judgements: impl Iterator<Item = &'a Judgement>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for judgement in judgements.filter(|judgement| !judgement.is_forced) {
        sum += (-f64::from(judgement.loss) / f64::from(HALF)).exp2();
        count += 1.0;
    }
    (count > 0.0).then(|| 100.0 * sum / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: Choice = Choice {
        legal: 30,
        is_best: false,
        takes_back: false,
        is_obvious: false,
        before: 1000,
        after: 1000,
        without_best: None,
    };

    fn mark(choice: Choice) -> Option<Mark> {
        judge(&choice).mark
    }

    #[test]
    fn marks_begin_where_their_constants_say() {
        for (after, expected) in [
            (1100, None),
            (1000 - DUBIOUS + 1, None),
            (1000 - DUBIOUS, Some(Mark::Dubious)),
            (1000 - MISTAKE + 1, Some(Mark::Dubious)),
            (1000 - MISTAKE, Some(Mark::Mistake)),
            (1000 - BLUNDER + 1, Some(Mark::Mistake)),
            (1000 - BLUNDER, Some(Mark::Blunder)),
            (0, Some(Mark::Blunder)),
        ] {
            assert_eq!(mark(Choice { after, ..FREE }), expected, "{after}");
        }
    }

    #[test]
    fn neither_the_best_move_nor_a_forced_one_is_bad() {
        assert_eq!(mark(Choice { after: 0, is_best: true, ..FREE }), None);
        let forced = judge(&Choice { after: 0, legal: 1, ..FREE });
        assert_eq!(forced, Judgement { loss: 0, mark: None, is_forced: true });
    }

    #[test]
    fn only_the_only_good_move_is_good() {
        let only = Choice { is_best: true, without_best: Some(1000 - MISTAKE), ..FREE };
        assert_eq!(mark(only), Some(Mark::Only));
        assert_eq!(mark(Choice { is_best: false, ..only }), None);
        assert_eq!(mark(Choice { takes_back: true, ..only }), None);
        assert_eq!(mark(Choice { is_obvious: true, ..only }), None);
        assert_eq!(mark(Choice { legal: 1, ..only }), None);
        assert_eq!(mark(Choice { without_best: Some(1001 - MISTAKE), ..only }), None);
        assert_eq!(mark(Choice { without_best: None, ..only }), None);
    }

    fn worth(fen: &str, score: ScoreText) -> Worth {
        let board = Board::from_fen(fen).expect("a position");
        let scale = Scale::of(&board);
        Worth { score: scale.shown(score), wdl: scale.chances(score), raw: score }
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn a_lost_queen_in_a_won_position_costs_nothing() {
        let scale = Scale::of(&Board::startpos());
        let seen = |score| worth(START, ScoreText::Centipawns(score)).expected_on(scale);
        let choice = Choice { before: seen(2500), after: seen(1400), ..FREE };
        assert_eq!(judge(&choice).mark, None);
        let mate = worth(START, ScoreText::Mate(2)).expected_on(scale);
        assert_eq!(mate, CERTAIN);
        assert_eq!(mark(Choice { before: mate, after: seen(1400), ..FREE }), None);
        let choice = Choice { before: seen(-1400), after: seen(-2500), ..FREE };
        assert_eq!(judge(&choice).mark, None);
        // The same centipawns where all is in balance.
        assert_eq!(
            mark(Choice { before: seen(0), after: seen(-1100), ..FREE }),
            Some(Mark::Blunder)
        );
    }

    #[test]
    fn half_a_pawn_in_balance_is_an_inaccuracy() {
        let fen = "r1b1kb1r/ppp2ppp/2n2n2/8/8/2N2N2/PPP2PPP/R1B1KB1R w KQkq - 0 1";
        let scale = Scale::of(&Board::from_fen(fen).expect("a position"));
        let seen = |shown: i32| {
            worth(fen, ScoreText::Centipawns(shown * scale.even() / 100)).expected_on(scale)
        };
        for (lost, expected) in [
            (45, None),
            (65, Some(Mark::Dubious)),
            (125, Some(Mark::Mistake)),
            (185, Some(Mark::Blunder)),
        ] {
            let choice = Choice { before: seen(0), after: seen(-lost), ..FREE };
            assert_eq!(mark(choice), expected, "{lost}");
        }
    }

    #[test]
    fn the_end_of_a_game_is_worth_what_it_is() {
        let mated = Board::from_fen("R5k1/5ppp/8/8/8/8/8/K7 b - - 0 1").expect("a position");
        assert_eq!(Worth::of_end(&mated).expected(), 0);
        let stalemated = Board::from_fen("7k/8/6QK/8/8/8/8/8 b - - 0 1").expect("a position");
        assert_eq!(Worth::of_end(&stalemated).expected(), CERTAIN / 2);
    }

    #[test]
    fn accuracy_counts_what_was_lost() {
        let judged = |loss, is_forced| Judgement { loss, mark: None, is_forced };
        let of = |judgements: &[Judgement]| accuracy(judgements.iter());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[judged(0, true)]), None);
        assert_eq!(of(&[judged(0, false)]), Some(100.0));
        assert_eq!(of(&[judged(HALF, false), judged(0, true)]), Some(50.0));
        assert_eq!(of(&[judged(HALF, false), judged(0, false)]), Some(75.0));
    }
}
