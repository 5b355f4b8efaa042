//! `cairn datagen`: games of the engine against itself, as data to train an evaluation on.

use std::path::PathBuf;
use std::thread;

use anyhow::{Context, Result, anyhow};
use cairn_engine::eval::{Damping, PackedNetwork};
use cairn_engine::selfplay::format2::Header;
use cairn_engine::selfplay::{LEAST_OPENING_BOUND, MOST_RANDOM_PLIES, Settings, Sides};
use clap::{ValueEnum, value_parser};

use super::output::Printer;
use super::{Failure, bad_usage};
use crate::games::file::missing;
use crate::games::make::{Order, make};
use crate::games::merge::merge;
use crate::games::progress::{Indicator, speed};
use crate::games::stats::{LARGEST_SCORE, Statistics};
use crate::session::messages::STACK;
use crate::signature;

/// Play against itself and keep the games; goes on where it was broken off
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The file that is written: further parts are FILE.001, FILE.002 and so on; with --merge and --stats the
    /// files that are read
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Make one set of games out of several parts of it
    #[arg(long, value_name = "OUT")]
    merge: Option<PathBuf>,
    /// Say what games are like, and what is damaged
    #[arg(long, conflicts_with = "merge")]
    stats: bool,
    /// The most MiB of a part of the set
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = value_parser!(u64).range(1..=1 << 40))]
    part_mib: u64,
    #[command(flatten)]
    play: Play,
}

/// What is played.
#[derive(clap::Args)]
#[command(next_help_heading = "What is played")]
struct Play {
    /// How many games the set is to hold in the end
    #[arg(long, value_name = "N", default_value_t = 1000)]
    games: u32,
    /// The number of the first game: several machines make parts of one set, each its own numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    first: u32,
    /// Games that are played at the same time; the games do not depend on it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Nodes a move: no iteration is begun after them
    #[arg(long, value_name = "N", default_value_t = Settings::default().nodes,
        value_parser = value_parser!(u32).range(1..=i64::from(u32::MAX)))]
    nodes: u32,
    /// What the random moves depend on
    #[arg(long, value_name = "N", default_value_t = Settings::default().seed)]
    seed: u64,
    /// Random half-moves at the start, every other game one more
    #[arg(long, value_name = "N", default_value_t = Settings::default().random_plies,
        value_parser = value_parser!(u8).range(..=i64::from(MOST_RANDOM_PLIES)))]
    random_plies: u8,
    /// An opening is thrown away if its score is beyond this, in centipawns
    #[arg(long, value_name = "N", default_value_t = Settings::default().opening_bound,
        value_parser = value_parser!(u16).range(i64::from(LEAST_OPENING_BOUND)..=i64::from(u16::MAX)))]
    opening_bound: u16,
    /// Percentage of games from Chess960 starts
    #[arg(long, value_name = "N", default_value_t = Settings::default().chess960_percent,
        value_parser = value_parser!(u8).range(..=100))]
    chess960: u8,
    /// Whether both sides have the same back rank in Chess960 starts
    #[arg(long, value_enum, default_value_t = SidesArgument::Different)]
    sides: SidesArgument,
    /// One game in so many is played to its end by the rules, 0 for none
    #[arg(long, value_name = "N", default_value_t = Settings::default().played_out)]
    played_out: u8,
    /// A game is won by a lead beyond this that both sides see, in centipawns
    #[arg(long, value_name = "N", default_value_t = Settings::default().decided_score)]
    decided_score: u16,
    /// For how many half-moves in a row
    #[arg(long, value_name = "N", default_value_t = Settings::default().decided_plies,
        value_parser = value_parser!(u8).range(1..=i64::from(u8::MAX)))]
    decided_plies: u8,
    /// A game with so many half-moves is a draw
    #[arg(long, value_name = "N", default_value_t = Settings::default().longest_game,
        value_parser = value_parser!(u16).range(1..=i64::from(u16::MAX)))]
    longest_game: u16,
    /// The hash table of a game in MiB
    #[arg(long, value_name = "N", default_value_t = Settings::default().hash_mib,
        value_parser = value_parser!(u8).range(1..=i64::from(u8::MAX)))]
    hash: u8,
    /// How far beyond its nodes an iteration may go on, as a multiple
    #[arg(long, value_name = "N", default_value_t = Settings::default().hard_factor,
        value_parser = value_parser!(u8).range(1..=i64::from(u8::MAX)))]
    hard_factor: u8,
}

/// [`Sides`] as an argument.
#[derive(Clone, Copy, ValueEnum)]
enum SidesArgument {
    /// As in Chess960
    Same,
    /// Each side has its own
    Different,
}

impl Play {
    /// What the games depend on beside their numbers and the program.
    fn settings(&self) -> Settings {
        Settings {
            seed: self.seed,
            nodes: self.nodes,
            hard_factor: self.hard_factor,
            hash_mib: self.hash,
            random_plies: self.random_plies,
            chess960_percent: self.chess960,
            sides: match self.sides {
                SidesArgument::Same => Sides::Same,
                SidesArgument::Different => Sides::Different,
            },
            played_out: self.played_out,
            opening_bound: self.opening_bound,
            decided_score: self.decided_score,
            decided_plies: self.decided_plies,
            longest_game: self.longest_game,
        }
    }
}

/// Plays, merges or counts. Without a reader of its lines it goes on: the files are what counts.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut printer = Printer::default();
    let mut print = |line: String| {
        printer.line(line);
    };
    let part_bytes = arguments.part_mib << 20;
    if let Some(out) = &arguments.merge {
        let merged = merge(out, &arguments.files, part_bytes)?;
        print(format!("{} games in {} part(s)", merged.games, merged.parts));
        for &(from, to) in &merged.missing {
            print(missing(from, to));
        }
        tell_damages(&merged.damages)?;
        if !merged.missing.is_empty() {
            return Err(anyhow!("{} was written, but games are missing", out.display()).into());
        }
    } else if arguments.stats {
        let mut statistics = Statistics::new(LARGEST_SCORE);
        for file in &arguments.files {
            statistics.add_file(file)?;
        }
        print(statistics.to_string());
        tell_damages(statistics.damages())?;
    } else {
        let [file] = arguments.files.as_slice() else {
            return Err(bad_usage(anyhow!("games are written to one file")));
        };
        let settings = arguments.play.settings();
        settings.check().map_err(|error| bad_usage(error.into()))?;
        play(file.clone(), settings, &arguments.play, part_bytes, &mut print)?;
    }
    printer.finish()
}

fn tell_damages(damages: &[String]) -> Result<()> {
    if damages.is_empty() {
        return Ok(());
    }
    Err(anyhow!("what is whole was used, but not all is:\n{}", damages.join("\n")))
}

fn play(
    path: PathBuf,
    settings: Settings,
    play: &Play,
    part_bytes: u64,
    print: &mut dyn FnMut(String),
) -> Result<()> {
    let bench = thread::Builder::new()
        .stack_size(STACK)
        .spawn(signature::nodes)
        .context("a thread to search with")?
        .join()
        .map_err(|_| anyhow!("internal error"))??;
    let network =
        PackedNetwork::built_in().map_err(|error| anyhow!("the built-in network: {error}"))?;
    let damping = network.map_or(Damping::NONE, |_| Damping::of_networks());
    let header = Header { first: play.first, bench, settings, damping };
    let threads = usize::from(play.threads);
    let order = Order { path, header, games: play.games, threads, part_bytes };
    let mut indicator = Indicator::new();
    let mut begun = false;
    let made = make(&order, &mut |progress| {
        if !std::mem::replace(&mut begun, true) {
            let present = progress.present;
            if present.cut_off > 0 {
                print(format!("{} bytes of an unfinished game were cut off", present.cut_off));
            }
            if present.games > 0 {
                print(format!("{} games are there already", present.games));
            }
        }
        indicator.show(progress);
    });
    indicator.finish();
    let made = made?;
    let seconds = made.elapsed.as_secs_f64();
    if made.games > 0 {
        print(format!(
            "{} games, {} positions, {} nodes in {seconds:.1} s: {}, {:.0} nodes/s and thread",
            made.games,
            made.positions,
            made.nodes,
            speed(&made),
            made.nodes as f64 / seconds / threads as f64
        ));
    }
    Ok(())
}
