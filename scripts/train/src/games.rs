//! Positions out of files of games, of either format.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use cairn_engine::eval::Damping;
use cairn_engine::selfplay::format2::Header;
use cairn_engine::selfplay::{self, Game};
use clap::Args;

use crate::bar;
use crate::positions::{Counts, PACKED, Position, lesson, scrambled};
use crate::shuffle::{Collector, Positions};
use crate::workers::side_by_side;

/// Games that are looked at side by side.
const AT_ONCE: usize = 2048;
/// About how many bytes a game takes, for the progress bar.
const GAME_BYTES: u64 = 500;

/// Where positions come from.
#[derive(Args)]
pub(crate) struct Source {
    /// Files of games; further parts of a set, FILE.001 and so on, are files of their own
    #[arg(long, required = true, num_args = 1..)]
    games: Vec<PathBuf>,
    /// The largest score of a position that is used, in centipawns either way
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(i16).range(1..))]
    pub(crate) largest_score: i16,
    /// The share of the games that is held back
    #[arg(long, default_value_t = 0.02)]
    validation_share: f64,
    /// Threads; the result does not depend on them
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: u16,
}

/// What becomes of the games of a file.
struct Taking<'keep> {
    source: &'keep Source,
    keep: &'keep mut dyn FnMut(Position, bool) -> Result<()>,
    damping: Damping,
    counts: Counts,
    held_back: usize,
}

impl Taking<'_> {
    /// Takes some games with their numbers, in order.
    fn learn(&mut self, file: &Path, games: &mut Vec<(u32, Game)>) -> Result<()> {
        let (bound, damping) = (self.source.largest_score, self.damping);
        let limit = (self.source.validation_share.clamp(0.0, 1.0) * u64::MAX as f64) as u64;
        let threads = usize::from(self.source.threads);
        let lessons = side_by_side(threads, games.drain(..), |(number, game)| {
            (number, lesson(&game, bound, damping))
        });
        for (number, lesson) in lessons {
            let lesson = match lesson {
                Ok(lesson) => lesson,
                Err(error) => {
                    self.counts.damaged += 1;
                    eprintln!("{}, game {number}: {error}", file.display());
                    continue;
                }
            };
            self.counts += lesson.counts;
            let is_held_back = scrambled(lesson.hash) < limit;
            self.held_back += if is_held_back { lesson.positions.len() } else { 0 };
            for position in lesson.positions {
                (self.keep)(position, is_held_back)?;
            }
        }
        Ok(())
    }
}

/// Gives `keep` the positions of all games in order and whether they are held back; returns what was
/// counted and how many are held back. What is damaged is told with its place, and the rest is used.
///
/// # Errors
/// If a file cannot be read or is none of games, or `keep` fails.
pub(crate) fn take(
    source: &Source,
    keep: &mut dyn FnMut(Position, bool) -> Result<()>,
) -> Result<(Counts, usize)> {
    let (mut all, mut held_back) = (Counts::default(), 0);
    for file in &source.games {
        let bytes = fs::read(file).with_context(|| format!("reading {}", file.display()))?;
        let damping = Header::read(&bytes).map_or(Damping::NONE, |header| header.damping);
        let games =
            selfplay::games(&bytes).map_err(|error| anyhow!("{}: {error}", file.display()))?;
        let progress = bar(bytes.len() as u64 / GAME_BYTES, "games");
        let mut taking = Taking { source, keep, damping, counts: Counts::default(), held_back: 0 };
        let mut waiting = Vec::with_capacity(AT_ONCE);
        for game in games {
            match game {
                Ok(game) => waiting.push(game),
                Err(damage) => {
                    taking.counts.damaged += 1;
                    eprintln!("{}, {damage}", file.display());
                }
            }
            if waiting.len() == AT_ONCE {
                progress.inc(AT_ONCE as u64);
                taking.learn(file, &mut waiting)?;
            }
        }
        taking.learn(file, &mut waiting)?;
        progress.finish_and_clear();
        let counts = taking.counts;
        held_back += taking.held_back;
        if source.games.len() > 1 {
            eprintln!("{}: {counts}", file.display());
        }
        all += counts;
    }
    Ok((all, held_back))
}

/// All positions: those to learn from and those held back.
///
/// # Errors
/// As [`take`]; if a temporary file cannot be written.
pub(crate) fn collect(
    source: &Source,
    memory: usize,
    stem: &Path,
    seed: u64,
) -> Result<(Counts, Positions, Vec<Position>)> {
    let mut collector = Collector::new((memory << 20) / PACKED, stem.to_path_buf(), seed);
    let mut held_back = Vec::new();
    let (counts, _) = take(source, &mut |position, is_held_back| {
        if is_held_back {
            held_back.push(position);
            Ok(())
        } else {
            collector.push(position)
        }
    })?;
    Ok((counts, collector.finish()?, held_back))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use cairn_engine::selfplay::Settings;
    use cairn_engine::selfplay::format2::write_block;

    /// What is counted in a file with these bytes.
    fn counted(name: &str, bytes: &[u8]) -> Result<(Counts, usize)> {
        let file = std::env::temp_dir().join(format!("train-games-{}-{name}", std::process::id()));
        fs::write(&file, bytes).unwrap();
        let source = Source {
            games: vec![file.clone(), file.clone()],
            largest_score: 2000,
            validation_share: 0.5,
            threads: 2,
        };
        let mut taken = 0;
        let counts = take(&source, &mut |_, _| {
            taken += 1;
            Ok(())
        });
        fs::remove_file(&file).unwrap();
        let (counts, held_back) = counts?;
        assert_eq!(counts.kept, taken);
        Ok((counts, held_back))
    }

    /// What is counted of some games, all of them twice.
    fn expected(numbers: &[u64], damaged: u64) -> Counts {
        let mut counts = Counts { damaged: 2 * damaged, ..Counts::default() };
        for &number in numbers {
            let once = lesson(&samples::game(number), 2000, Damping::NONE).unwrap().counts;
            counts += once;
            counts += once;
        }
        counts
    }

    /// The games 0 to 2 in the formats 1 and 2, and where the second and third begin.
    fn files() -> [(Vec<u8>, [usize; 2]); 2] {
        let settings = Settings::default();
        let header = Header { first: 0, bench: 1, settings, damping: Damping::NONE };
        let mut files = [(Vec::new(), [0; 2]), (header.to_bytes().to_vec(), [0; 2])];
        for number in 0..3 {
            for (bytes, starts) in &mut files {
                if number > 0 {
                    starts[number - 1] = bytes.len();
                }
            }
            samples::record(number as u64).write(&mut files[0].0);
            write_block(number as u32, &samples::game(number as u64), &mut files[1].0);
        }
        files
    }

    #[test]
    fn both_formats_hold_the_same_positions() {
        let [one, two] = files().map(|(bytes, _)| counted("whole", &bytes).unwrap());
        assert_eq!(one.0, expected(&[0, 1, 2], 0));
        assert_eq!(one, two);
        assert!((1..one.0.kept as usize).contains(&one.1), "{} held back", one.1);
    }

    #[test]
    fn of_a_damaged_file_is_used_what_is_whole() {
        for (number, (bytes, [second, _])) in files().into_iter().enumerate() {
            let name = format!("damaged{number}");
            let cut = counted(&name, &bytes[..bytes.len() - 1]).unwrap();
            assert_eq!(cut.0, expected(&[0, 1], 1));
            let mut foreign = bytes.clone();
            foreign[second..second + 4].copy_from_slice(&[9; 4]);
            let left = if number == 0 { &[0][..] } else { &[0, 2] };
            assert_eq!(counted(&name, &foreign).unwrap().0, expected(left, 1));
        }
        let [(mut illegal, [second, _]), _] = files();
        illegal.copy_within(second + 6..second + 8, second + 4);
        assert_eq!(counted("illegal", &illegal).unwrap().0, expected(&[0, 2], 1));
    }

    #[test]
    fn what_is_no_file_of_games_is_named() {
        for bytes in [&[][..], b"PNG or whatever it may be"] {
            let error = counted("foreign", bytes).unwrap_err().to_string();
            assert!(error.contains("-foreign: "), "{error}");
        }
        let games = vec![PathBuf::from("no such file")];
        let source = Source { games, largest_score: 1, validation_share: 0.0, threads: 1 };
        let error = take(&source, &mut |_, _| Ok(())).unwrap_err();
        assert!(error.to_string().contains("no such file"));
    }
}
