//! What games are like, in numbers.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;

use anyhow::Result;
use cairn_engine::piece::{Kind, Side};
use cairn_engine::score::is_mate;
use cairn_engine::selfplay::{Ending, Game, GameResult, Start, Unfit};

use super::read::GameFile;

/// Positions with larger scores are not trained on, in centipawns, unless something else is asked for.
pub const LARGEST_SCORE: u16 = 1200;

/// Upper bounds of what scores are counted by, in centipawns for either side.
const SCORES: [u16; 9] = [25, 50, 100, 200, 400, 800, 1200, 2000, u16::MAX];
/// Upper bounds of what lengths are counted by, in searched half-moves.
const LENGTHS: [usize; 8] = [25, 50, 100, 150, 200, 300, 399, usize::MAX];
/// Pieces on the board are counted in steps of so many.
const PIECE_STEP: u32 = 4;

/// The sums over all games that were added.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    largest_score: u16,
    games: u64,
    chess960: u64,
    different_sides: u64,
    /// Black won, drawn, white won.
    results: [u64; 3],
    /// By [`Ending`], then those that are not told.
    endings: [u64; Ending::ALL.len() + 1],
    lengths: [u64; LENGTHS.len()],
    random_moves: u64,
    positions: u64,
    unfit: [u64; Unfit::ALL.len()],
    scores: [u64; SCORES.len()],
    mates: u64,
    /// Kept positions by pieces on the board: 1 to 4, 5 to 8 and so on.
    pieces: [u64; 8],
    /// The first searched positions.
    openings: HashSet<u64>,
    /// What could not be used, with its place.
    damages: Vec<String>,
}

impl Statistics {
    /// Nothing yet; positions with scores of more than this many centipawns count as not kept.
    #[must_use]
    pub fn new(largest_score: u16) -> Statistics {
        Statistics { largest_score, ..Statistics::default() }
    }

    /// Adds the games of a file, of either format, and what is damaged in it.
    ///
    /// # Errors
    /// When it can't be read, or holds something else than games.
    pub fn add_file(&mut self, path: &Path) -> Result<()> {
        for item in GameFile::open(path)? {
            match item {
                Ok((number, game)) => self.add_game(path, number, &game),
                Err(damage) => self.damages.push(damage.to_string()),
            }
        }
        Ok(())
    }

    /// What could not be used, with its place.
    #[must_use]
    pub fn damages(&self) -> &[String] {
        &self.damages
    }

    /// How many games were added.
    #[must_use]
    pub const fn games(&self) -> u64 {
        self.games
    }

    /// How many of their positions are kept.
    #[must_use]
    pub fn kept(&self) -> u64 {
        self.pieces.iter().sum()
    }

    fn add_game(&mut self, path: &Path, number: u32, game: &Game) {
        self.games += 1;
        self.chess960 += u64::from(game.start != Start::STANDARD);
        self.different_sides += u64::from(game.start.white() != game.start.black());
        self.results[game.result as usize] += 1;
        self.endings[game.ending.map_or(Ending::ALL.len(), |ending| ending as usize)] += 1;
        self.lengths[place(&LENGTHS, game.plies.len())] += 1;
        self.random_moves += game.opening.len() as u64;
        let mut first = true;
        let replayed = game.replay(|board, ply| {
            if std::mem::take(&mut first) {
                self.openings.insert(board.keys().index);
            }
            self.positions += 1;
            if is_mate(ply.score.into()) {
                self.mates += 1;
            } else {
                self.scores[place(&SCORES, ply.score.unsigned_abs())] += 1;
            }
            match Unfit::of(board, ply, self.largest_score) {
                Some(unfit) => self.unfit[unfit as usize] += 1,
                None => {
                    let pieces: u32 = Side::ALL
                        .iter()
                        .flat_map(|&side| {
                            let kinds = [Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen];
                            kinds
                                .into_iter()
                                .chain([Kind::King, side.pawn()])
                                .map(move |kind| (side, kind))
                        })
                        .map(|(side, kind)| board.count(side, kind))
                        .sum();
                    let step = pieces.saturating_sub(1) / PIECE_STEP;
                    self.pieces[(step as usize).min(self.pieces.len() - 1)] += 1;
                }
            }
        });
        if let Err(illegal) = replayed {
            self.damages.push(format!("{}, game {number}: {illegal}", path.display()));
        }
    }
}

/// The first bound that is not below the value.
fn place<T: PartialOrd>(bounds: &[T], value: T) -> usize {
    bounds.iter().position(|bound| value <= *bound).unwrap_or(bounds.len() - 1)
}

/// `12 (3.4 %)`.
fn share(part: u64, whole: u64) -> String {
    format!("{part} ({:.1} %)", 100.0 * part as f64 / whole.max(1) as f64)
}

/// `up to 25: 12 (3.4 %)` for each bound, the last one as `more`.
fn histogram<T: fmt::Display>(bounds: &[T], counts: &[u64]) -> String {
    let whole = counts.iter().sum();
    let last = bounds.len() - 1;
    let named = bounds.iter().zip(counts).enumerate().map(|(index, (bound, &count))| {
        let name = if index == last { "more".to_owned() } else { format!("to {bound}") };
        format!("{name}: {}", share(count, whole))
    });
    named.collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let games = self.games;
        let per_game = |count: u64| count as f64 / games.max(1) as f64;
        writeln!(f, "games       {games}")?;
        writeln!(
            f,
            "starts      Chess960 {}, with different sides {}",
            share(self.chess960, games),
            share(self.different_sides, games)
        )?;
        writeln!(
            f,
            "openings    {} unique, {:.1} random half-moves a game",
            share(self.openings.len() as u64, games),
            per_game(self.random_moves)
        )?;
        let [black, draws, white] = self.results.map(|count| share(count, games));
        debug_assert_eq!(GameResult::WhiteWins as usize, 2);
        writeln!(f, "results     white won {white}, drawn {draws}, black won {black}")?;
        let names = Ending::ALL.iter().map(Ending::to_string).chain(["not told".to_owned()]);
        let endings = names.zip(self.endings).filter(|&(_, count)| count > 0);
        let endings: Vec<_> =
            endings.map(|(name, count)| format!("{name} {}", share(count, games))).collect();
        writeln!(f, "endings     {}", endings.join(", "))?;
        writeln!(f, "half-moves  {}", histogram(&LENGTHS, &self.lengths))?;
        writeln!(
            f,
            "positions   {}, {:.1} a game; kept {}",
            self.positions,
            per_game(self.positions),
            share(self.kept(), self.positions)
        )?;
        let unfit: Vec<_> = Unfit::ALL
            .iter()
            .zip(self.unfit)
            .map(|(unfit, count)| format!("{unfit} {}", share(count, self.positions)))
            .collect();
        writeln!(f, "not kept    {}", unfit.join(", "))?;
        writeln!(f, "scores      {}, mates: {}", histogram(&SCORES, &self.scores), self.mates)?;
        let pieces: Vec<_> = (1..=self.pieces.len() as u32)
            .map(|step| step * PIECE_STEP)
            .zip(self.pieces)
            .map(|(most, count)| {
                format!("{} to {most}: {}", most - PIECE_STEP + 1, share(count, self.kept()))
            })
            .collect();
        write!(f, "pieces      {}", pieces.join(", "))
    }
}
