//! `cairn datagen`: games of the engine against itself, as data to train an evaluation on.
//!
//! ```text
//! cairn datagen FILE [OPTION N]...              plays games, or goes on where it was broken off
//! cairn datagen --merge OUT [--part-mib N] FILE...   makes one set out of several
//! cairn datagen --stats FILE...                 tells what games are like
//! ```
//!
//! The games themselves are the business of [`crate::games`].

use std::path::PathBuf;
use std::thread;

use anyhow::{Context, Result, anyhow, bail};
use cairn_engine::selfplay::format2::Header;
use cairn_engine::selfplay::{Settings, Sides};

use crate::games::make::{Order, make};
use crate::games::merge::merge;
use crate::games::progress::{Indicator, speed};
use crate::games::stats::{LARGEST_SCORE, Statistics};
use crate::signature;
use crate::worker::STACK;

/// The most MiB of a part of a set.
const PART_MIB: u64 = 16;
/// The most threads that play.
const MOST_THREADS: u64 = 1024;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Plays games.
    Make(Make),
    /// Makes one set out of several.
    Merge {
        /// The set that is made.
        out: PathBuf,
        /// What it is made of.
        files: Vec<PathBuf>,
        /// The most MiB of a part of it.
        part_mib: u64,
    },
    /// Tells what the games of all these files are like.
    Stats {
        /// The files, of either format.
        files: Vec<PathBuf>,
    },
}

/// What to play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Make {
    /// The set that is written.
    pub file: PathBuf,
    /// The number of its first game.
    pub first: u32,
    /// How many games it is to hold in the end.
    pub games: u32,
    /// Threads that play.
    pub threads: usize,
    /// The most MiB of a part.
    pub part_mib: u64,
    /// What the games depend on besides.
    pub settings: Settings,
}

impl Task {
    /// Reads the arguments.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn parse(words: &[&str]) -> Result<Task> {
        let files = |words: &[&str]| words.iter().map(PathBuf::from).collect::<Vec<_>>();
        match words {
            ["--merge", out, "--part-mib", mib, rest @ ..] if !rest.is_empty() => {
                let part_mib = number("--part-mib", mib, 1, u64::MAX >> 20)?;
                Ok(Task::Merge { out: out.into(), files: files(rest), part_mib })
            }
            ["--merge", out, rest @ ..] if !rest.is_empty() && rest[0] != "--part-mib" => {
                Ok(Task::Merge { out: out.into(), files: files(rest), part_mib: PART_MIB })
            }
            ["--merge", ..] => bail!("--merge needs a file to make and files to make it of"),
            ["--stats"] => bail!("--stats needs files"),
            ["--stats", rest @ ..] => Ok(Task::Stats { files: files(rest) }),
            [file, rest @ ..] if !file.starts_with("--") => {
                Ok(Task::Make(Make::parse(file, rest)?))
            }
            _ => bail!("datagen needs a file to write, --merge or --stats"),
        }
    }
}

impl Make {
    fn parse(file: &str, words: &[&str]) -> Result<Make> {
        let mut make = Make {
            file: file.into(),
            first: 0,
            games: 1000,
            threads: 1,
            part_mib: PART_MIB,
            settings: Settings::default(),
        };
        let settings = &mut make.settings;
        for pair in words.chunks(2) {
            let [name, value] = pair else { bail!("{} needs a value", pair[0]) };
            let number = |least, most| number(name, value, least, most);
            let byte = |least| number(least, u8::MAX.into()).map(|number| number as u8);
            let two_bytes = |least| number(least, u16::MAX.into()).map(|number| number as u16);
            match *name {
                "--games" => make.games = number(0, u32::MAX.into())? as u32,
                "--first" => make.first = number(0, u32::MAX.into())? as u32,
                "--threads" => make.threads = number(1, MOST_THREADS)? as usize,
                "--part-mib" => make.part_mib = number(1, u64::MAX >> 20)?,
                "--nodes" => settings.nodes = number(1, u32::MAX.into())? as u32,
                "--seed" => settings.seed = number(0, u64::MAX)?,
                "--hash" => settings.hash_mib = byte(1)?,
                "--hard-factor" => settings.hard_factor = byte(1)?,
                "--random-plies" => settings.random_plies = byte(0)?,
                "--opening-bound" => settings.opening_bound = two_bytes(0)?,
                "--chess960" => settings.chess960_percent = byte(0)?,
                "--sides" => settings.sides = sides(value)?,
                "--decided-score" => settings.decided_score = two_bytes(0)?,
                "--decided-plies" => settings.decided_plies = byte(1)?,
                "--played-out" => settings.played_out = byte(0)?,
                "--longest-game" => settings.longest_game = two_bytes(1)?,
                other => bail!("datagen does not know {other}"),
            }
        }
        settings.check()?;
        Ok(make)
    }
}

fn number(name: &str, text: &str, least: u64, most: u64) -> Result<u64> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| anyhow!("{name} is a whole number from {least} to {most}, not '{text}'"))
}

fn sides(text: &str) -> Result<Sides> {
    let all = [Sides::Same, Sides::Different];
    let found = all.into_iter().find(|sides| sides.to_string() == text);
    found.ok_or_else(|| anyhow!("--sides is same or different, not '{text}'"))
}

/// Does it, and prints what there is to tell.
///
/// # Errors
/// When files can't be read or written or hold something else, or there is no memory. Also when files
/// that were read are damaged; what is whole has been used then.
pub fn run(task: &Task, print: &mut dyn FnMut(String)) -> Result<()> {
    match task {
        Task::Make(make) => run_make(make, print),
        Task::Merge { out, files, part_mib } => {
            let merged = merge(out, files, part_mib << 20)?;
            print(format!("{} games in {} part(s)", merged.games, merged.parts));
            for (from, to) in merged.missing {
                print(format!("games {from} to {to} are missing"));
            }
            tell_damages(&merged.damages)
        }
        Task::Stats { files } => {
            let mut statistics = Statistics::new(LARGEST_SCORE);
            for file in files {
                statistics.add_file(file)?;
            }
            print(statistics.to_string());
            tell_damages(statistics.damages())
        }
    }
}

fn tell_damages(damages: &[String]) -> Result<()> {
    if damages.is_empty() {
        return Ok(());
    }
    Err(anyhow!("what is whole was used, but not all is:\n{}", damages.join("\n")))
}

fn run_make(options: &Make, print: &mut dyn FnMut(String)) -> Result<()> {
    let bench = thread::Builder::new()
        .stack_size(STACK)
        .spawn(signature::nodes)?
        .join()
        .map_err(|_| anyhow!("internal error"))??;
    let order = Order {
        path: options.file.clone(),
        header: Header { first: options.first, bench, settings: options.settings.clone() },
        games: options.games,
        threads: options.threads,
        part_bytes: options.part_mib.checked_mul(1 << 20).context("a part is too large")?,
    };
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
            made.nodes as f64 / seconds / options.threads as f64
        ));
    }
    Ok(())
}
