//! Games of the engine against itself, as data to train an evaluation on.
//!
//! A game depends on the settings and its number alone: nothing is carried over from other games, so
//! any number of threads, or of machines, makes the same data.
//!
//! Modules from the ground up: [`Start`], [`Game`], the formats in bytes ([`format1`], [`format2`]),
//! [`Decoder`] and [`games`] that read both. Here the games are played.

mod decode;
pub mod format1;
pub mod format2;
mod game;
mod start;

pub use decode::{Damage, DamageKind, Decoder, LARGEST_STEP, Step, games};
pub use format1::Record;
pub use game::{Ending, Game, GameResult, IllegalMove, Ply, Unfit};
pub use start::{CHESS960_POSITIONS, Start};

use crate::board::{Board, GameEnd};
use crate::moves::Move;
use crate::piece::Side;
use crate::score::Score;
use crate::search::{Control, Limits, Searcher, Verdict};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::fmt;

/// Whether both sides start from the same back rank in Chess960 games.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Sides {
    /// As in Chess960.
    Same = 0,
    /// Each has its own, drawn apart.
    Different = 1,
}

impl Sides {
    /// The one with this number.
    #[must_use]
    pub const fn from_raw(number: u8) -> Option<Sides> {
        match number {
            0 => Some(Sides::Same),
            1 => Some(Sides::Different),
            _ => None,
        }
    }
}

impl fmt::Display for Sides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sides::Same => "same",
            Sides::Different => "different",
        })
    }
}

/// All that games depend on besides their numbers and the program that plays.
///
/// Draws are never adjudicated. A search sees by itself that a position repeats, so that most dead
/// games end soon, and the others are what a network has to learn of fortresses: scored above zero
/// and drawn all the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// What the random moves depend on.
    pub seed: u64,
    /// Nodes a move, from 1: no iteration is begun after them.
    pub nodes: u32,
    /// How far beyond them an iteration may go on, as a multiple, from 1.
    pub hard_factor: u8,
    /// The hash table of a game in MiB, from 1.
    pub hash_mib: u8,
    /// Half-moves that are played at random at the start, up to [`MOST_RANDOM_PLIES`]. Half of the
    /// games have one more, so that both sides get to begin.
    pub random_plies: u8,
    /// The share of games that start from Chess960 positions, 0 to 100.
    pub chess960_percent: u8,
    /// Which these are.
    pub sides: Sides,
    /// One game in so many is played out to its end by the rules instead of adjudicated, so that
    /// games in which what looks won can't be won are drawn; 0 if none is.
    pub played_out: u8,
    /// An opening is thrown away if the side to move stands better or worse than this, in
    /// centipawns, from [`LEAST_OPENING_BOUND`].
    pub opening_bound: u16,
    /// When a game is decided, see [`Adjudication`]: the bound in centipawns.
    pub decided_score: u16,
    /// For how many half-moves in a row, from 1.
    pub decided_plies: u8,
    /// A game with so many searched half-moves is ended as a draw, from 1.
    pub longest_game: u16,
}

/// The most random half-moves. With more, hardly an opening would be fair.
pub const MOST_RANDOM_PLIES: u8 = 40;
/// The smallest bound on openings, in centipawns. With less, the search for a fair one takes long.
pub const LEAST_OPENING_BOUND: u16 = 20;

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            seed: 1,
            nodes: 5000,
            hard_factor: 8,
            hash_mib: 2,
            random_plies: 8,
            chess960_percent: 50,
            sides: Sides::Different,
            played_out: 8,
            opening_bound: 500,
            decided_score: 2000,
            decided_plies: 4,
            longest_game: 400,
        }
    }
}

/// A setting that can't be played with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingError {
    name: &'static str,
    value: u64,
    least: u64,
    most: u64,
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SettingError { name, value, least, most } = self;
        write!(f, "{name} is from {least} to {most}, not {value}")
    }
}

impl std::error::Error for SettingError {}

impl Settings {
    /// All settings with their names, as numbers.
    #[must_use]
    pub fn named(&self) -> [(&'static str, u64); 12] {
        [
            ("nodes", self.nodes.into()),
            ("seed", self.seed),
            ("hard factor", self.hard_factor.into()),
            ("hash", self.hash_mib.into()),
            ("random plies", self.random_plies.into()),
            ("chess960", self.chess960_percent.into()),
            ("different sides", self.sides as u64),
            ("played out", self.played_out.into()),
            ("opening bound", self.opening_bound.into()),
            ("decided score", self.decided_score.into()),
            ("decided plies", self.decided_plies.into()),
            ("longest game", self.longest_game.into()),
        ]
    }

    /// Whether games can be played so.
    ///
    /// # Errors
    /// The first setting that is out of its range.
    pub fn check(&self) -> Result<(), SettingError> {
        for (name, value) in self.named() {
            let (least, most) = match name {
                "nodes" | "hard factor" | "hash" | "decided plies" | "longest game" => {
                    (1, u64::MAX)
                }
                "random plies" => (0, MOST_RANDOM_PLIES.into()),
                "chess960" => (0, 100),
                "opening bound" => (LEAST_OPENING_BOUND.into(), u64::MAX),
                _ => (0, u64::MAX),
            };
            if !(least..=most).contains(&value) {
                return Err(SettingError { name, value, least, most });
            }
        }
        Ok(())
    }
}

/// Adjudicates wins: both players have seen the same side ahead by more than a bound for so many plies in a
/// row. If each thinks that it wins they do not agree.
#[derive(Clone, Copy, Debug)]
pub struct Adjudication {
    bound: Score,
    plies: u32,
    /// Who was ahead in the last ply, and for how many plies in a row.
    ahead: Option<(Side, u32)>,
}

impl Adjudication {
    /// A win takes `plies` scores in a row of more than `bound`, in centipawns.
    #[must_use]
    pub const fn new(bound: Score, plies: u32) -> Adjudication {
        Adjudication { bound, plies, ahead: None }
    }

    /// Takes the score of the next ply from its mover's view. Returns the winner once there is one.
    pub fn judge(&mut self, mover: Side, score: Score) -> Option<Side> {
        if score.abs() <= self.bound {
            self.ahead = None;
            return None;
        }
        let side = if score > 0 { mover } else { mover.other() };
        let plies = match self.ahead {
            Some((before, plies)) if before == side => plies + 1,
            _ => 1,
        };
        self.ahead = Some((side, plies));
        (plies >= self.plies).then_some(side)
    }
}

/// When a game is ended before the rules end it.
#[derive(Clone, Copy, Debug)]
pub struct EarlyEnd {
    /// How wins are adjudicated, if at all.
    pub adjudication: Option<Adjudication>,
    /// A game that is longer, in half-moves, is a draw.
    pub longest_game: usize,
}

/// Plays a game from the position on the board. `choose` returns a legal move and its score from the
/// mover's view, or `None` to abort the game, which then has no result.
pub fn play_game(
    board: &mut Board,
    early_end: &EarlyEnd,
    mut choose: impl FnMut(&Board) -> Option<(Move, Score)>,
) -> Option<(GameResult, Ending)> {
    let mut adjudication = early_end.adjudication;
    let mut plies = 0;
    loop {
        if let Some(end) = board.outcome() {
            return Some(by_the_rules(end, board.side_to_move()));
        }
        if plies >= early_end.longest_game {
            return Some((GameResult::Draw, Ending::TooLong));
        }
        let (mv, score) = choose(board)?;
        let mover = board.side_to_move();
        if let Some(winner) = adjudication.as_mut().and_then(|rule| rule.judge(mover, score)) {
            return Some((GameResult::won_by(winner), Ending::Adjudicated));
        }
        board.play(mv);
        plies += 1;
    }
}

/// A game with what it took.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Played {
    /// The game.
    pub game: Game,
    /// The nodes of all its searches, those of openings that were thrown away included.
    pub nodes: u64,
}

/// Plays the game with this number. The searcher, whose table should have the size that the settings
/// say, is cleared first. The settings are such that [`Settings::check`] is content; with others it may
/// not come to an end.
pub fn play(searcher: &mut Searcher, settings: &Settings, number: u32) -> Played {
    let mixed = settings.seed ^ u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(mixed);
    let chess960 = random.next_u64() % 100 < u64::from(settings.chess960_percent);
    let played_out =
        settings.played_out != 0 && number.is_multiple_of(u32::from(settings.played_out));
    let mut nodes = 0;
    loop {
        searcher.clear();
        let start = if chess960 { chess960_start(&mut random, settings) } else { Start::STANDARD };
        let opening = random_opening(&mut random, start, settings);
        let mut player = Player { searcher, settings, nodes: &mut nodes };
        if let Some(game) = player.play_from(start, opening, played_out) {
            return Played { game, nodes };
        }
    }
}

fn chess960_start(random: &mut Xoshiro256PlusPlus, settings: &Settings) -> Start {
    let mut rank = || (random.next_u64() % u64::from(CHESS960_POSITIONS)) as u16;
    let white = rank();
    let black = if settings.sides == Sides::Same { white } else { rank() };
    Start::new(white, black).unwrap_or(Start::STANDARD)
}

fn random_opening(random: &mut Xoshiro256PlusPlus, start: Start, settings: &Settings) -> Board {
    'attempt: loop {
        let mut board = start.board();
        for _ in 0..u64::from(settings.random_plies) + random.next_u64() % 2 {
            let moves = board.legal_moves();
            if moves.is_empty() {
                continue 'attempt;
            }
            board.play(moves[(random.next_u64() % moves.len() as u64) as usize]);
        }
        if board.outcome().is_none() {
            return board;
        }
    }
}

/// Plays both sides.
struct Player<'a> {
    searcher: &'a mut Searcher,
    settings: &'a Settings,
    nodes: &'a mut u64,
}

impl Player<'_> {
    /// Plays a game from an opening; `None` if that is not balanced.
    fn play_from(&mut self, start: Start, mut board: Board, played_out: bool) -> Option<Game> {
        let settings = self.settings;
        let opening: Vec<Move> = board.history().iter().filter_map(|undo| undo.mv()).collect();
        let mut plies: Vec<Ply> = Vec::new();
        let adjudication =
            Adjudication::new(settings.decided_score.into(), settings.decided_plies.into());
        let early_end = EarlyEnd {
            adjudication: (!played_out).then_some(adjudication),
            longest_game: settings.longest_game.into(),
        };
        let (result, ending) = play_game(&mut board, &early_end, |board| {
            let (mv, score) = self.search(board)?;
            if plies.is_empty() && score.abs() > i32::from(settings.opening_bound) {
                return None;
            }
            let white = if board.side_to_move() == Side::White { score } else { -score };
            plies.push(Ply { mv, score: white as i16 });
            Some((mv, score))
        })?;
        Some(Game { start, opening, plies, result, ending: Some(ending) })
    }

    /// A search that begins no iteration beyond the budget, and its score from the mover's view.
    fn search(&mut self, board: &Board) -> Option<(Move, Score)> {
        let soft = u64::from(self.settings.nodes);
        let hard = soft * u64::from(self.settings.hard_factor);
        let limits = Limits { nodes: Some(hard), ..Limits::default() };
        let outcome = self.searcher.search(board, &limits, &Control::new(), &mut |report| {
            if report.nodes >= soft { Verdict::Stop } else { Verdict::Continue }
        });
        *self.nodes += outcome.nodes;
        Some((outcome.best?, outcome.score.to_score()))
    }
}

/// Result and ending of a game that is over, with this side to move.
fn by_the_rules(end: GameEnd, to_move: Side) -> (GameResult, Ending) {
    let draw = |ending| (GameResult::Draw, ending);
    match end {
        GameEnd::Checkmate => (GameResult::won_by(to_move.other()), Ending::Checkmate),
        GameEnd::Stalemate => draw(Ending::Stalemate),
        GameEnd::InsufficientMaterial => draw(Ending::InsufficientMaterial),
        GameEnd::FiftyMoves => draw(Ending::FiftyMoves),
        GameEnd::Repetition => draw(Ending::Repetition),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Style;

    #[test]
    fn a_game_is_decided_when_both_sides_agree_on_the_winner() {
        use Side::{Black, White};
        // The scores from the mover's view, white's first, and what is said to the last of them.
        let judged = |scores: &[Score]| {
            let mut adjudication = Adjudication::new(1000, 4);
            let sides = [White, Black].into_iter().cycle();
            let said: Vec<_> =
                sides.zip(scores).map(|(side, &score)| adjudication.judge(side, score)).collect();
            let (last, before) = said.split_last().unwrap();
            assert!(before.iter().all(Option::is_none), "{scores:?}: {said:?}");
            *last
        };
        assert_eq!(judged(&[1001, -1001, 1001, -1001]), Some(White));
        assert_eq!(judged(&[-3000, 2000, -3000, 2000]), Some(Black));
        assert_eq!(judged(&[0, 2000, -3000, 2000, -3000]), Some(Black));
        assert_eq!(judged(&[2000, -2000, 2000]), None, "too few");
        assert_eq!(judged(&[2000, -2000, 1000, -2000, 2000, -2000]), None, "not in a row");
        assert_eq!(judged(&[2000; 8]), None, "each thinks it wins");
        assert_eq!(judged(&[2000, 2000, -2000, 2000, -2000]), Some(Black), "a change starts again");
    }

    /// Settings for games that take milliseconds.
    fn quick() -> Settings {
        Settings { seed: 7, nodes: 100, ..Settings::default() }
    }

    fn play_all(settings: &Settings, numbers: std::ops::Range<u32>) -> Vec<Game> {
        let mut searcher = Searcher::new(Style::Cairn, settings.hash_mib.into()).unwrap();
        numbers.map(|number| play(&mut searcher, settings, number).game).collect()
    }

    #[test]
    fn a_game_depends_on_settings_and_number_alone() {
        let games = play_all(&quick(), 0..4);
        assert_eq!(play_all(&quick(), 2..3)[0], games[2], "whatever was played before");
        for (index, game) in games.iter().enumerate() {
            assert!(games[..index].iter().all(|other| other.opening != game.opening));
        }
        assert_ne!(play_all(&Settings { seed: 8, ..quick() }, 0..1)[0], games[0]);
    }

    #[test]
    fn games_follow_the_rules_and_their_settings() {
        for game in play_all(&quick(), 0..24) {
            let mut seen = 0;
            let last = game.replay(|_, _| seen += 1).unwrap();
            assert_eq!(seen, game.plies.len());
            assert!(matches!(game.opening.len(), 8 | 9));
            assert!(game.plies[0].score.abs() <= 500);
            let told = match game.ending.unwrap() {
                Ending::Adjudicated => {
                    let scores = &game.plies[game.plies.len() - 4..];
                    let won = |sign: i16| scores.iter().all(|ply| sign * ply.score > 2000);
                    assert!(won(if game.result == GameResult::WhiteWins { 1 } else { -1 }));
                    continue;
                }
                Ending::TooLong => (GameResult::Draw, Ending::TooLong),
                _ => by_the_rules(last.outcome().unwrap(), last.side_to_move()),
            };
            assert_eq!((game.result, game.ending.unwrap()), told);
        }
    }

    #[test]
    fn the_settings_say_how_games_start_and_end() {
        let starts = |settings: &Settings| -> Vec<Start> {
            let short = Settings { longest_game: 1, nodes: 1, ..settings.clone() };
            play_all(&short, 0..40).into_iter().map(|game| game.start).collect()
        };
        let count = |settings: Settings, wanted: &dyn Fn(&Start) -> bool| {
            starts(&settings).iter().filter(|start| wanted(start)).count()
        };
        let standard = |start: &Start| *start == Start::STANDARD;
        let same = |start: &Start| start.white() == start.black();
        let percent = |chess960_percent, sides| Settings { chess960_percent, sides, ..quick() };
        assert_eq!(count(percent(0, Sides::Different), &standard), 40);
        assert_eq!(count(percent(100, Sides::Same), &same), 40);
        assert!(count(percent(100, Sides::Same), &standard) < 3);
        assert!(count(percent(100, Sides::Different), &same) < 3);
        assert!((10..=30).contains(&count(percent(50, Sides::Different), &standard)));

        let endings = |played_out| -> Vec<Option<Ending>> {
            let settings = Settings { played_out, ..quick() };
            play_all(&settings, 0..12).iter().map(|game| game.ending).collect()
        };
        let adjudicated = Some(Ending::Adjudicated);
        let (never, always, third) = (endings(0), endings(1), endings(3));
        assert!(never.contains(&adjudicated) && !always.contains(&adjudicated));
        for number in 0..12 {
            let like = if number % 3 == 0 { &always } else { &never };
            assert_eq!(third[number], like[number], "{number}");
        }
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        assert_eq!(Settings::default().check(), Ok(()));
        let said = |settings: Settings| settings.check().unwrap_err().to_string();
        let text = "random plies is from 0 to 40, not 41";
        assert_eq!(said(Settings { random_plies: 41, ..quick() }), text);
        assert!(said(Settings { nodes: 0, ..quick() }).starts_with("nodes is from 1 "));
        assert!(said(Settings { chess960_percent: 101, ..quick() }).contains("chess960"));
        assert!(said(Settings { opening_bound: 19, ..quick() }).contains("opening bound"));
    }
}
