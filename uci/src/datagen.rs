//! `cairn datagen`: games of the engine against itself, written to a file.
//!
//! The file holds one record after the other (see `cairn_engine::selfplay`) in the order of the
//! games, whatever the number of threads. A run that was interrupted goes on after the last whole
//! record.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use cairn_engine::search::{Searcher, Style};
use cairn_engine::selfplay::{Record, play};
use crossbeam_channel::bounded;

/// The hash table of each thread, in MiB: enough for some thousand nodes.
const HASH_MIB: usize = 2;
/// How many games a progress line stands for.
const PROGRESS_GAMES: u64 = 200;
/// How many finished games may wait to be written.
const WAITING_GAMES: usize = 64;

/// What to play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The file that is written.
    pub file: String,
    /// How many games it is to hold in the end.
    pub games: u64,
    /// Nodes a move.
    pub nodes: u64,
    /// What the random openings depend on.
    pub seed: u64,
    /// Threads that play.
    pub threads: usize,
}

impl Options {
    /// Reads `FILE [--games N] [--nodes N] [--seed N] [--threads N]`.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn parse(words: &[&str]) -> Result<Options> {
        let [file, rest @ ..] = words else { bail!("datagen needs a file to write") };
        let mut options =
            Options { file: (*file).into(), games: 1000, nodes: 5000, seed: 1, threads: 1 };
        for pair in rest.chunks(2) {
            let [name, value] = pair else { bail!("{} needs a number", pair[0]) };
            let number: u64 =
                value.parse().map_err(|_| anyhow!("{name} needs a whole number, not '{value}'"))?;
            match *name {
                "--games" => options.games = number,
                "--nodes" => options.nodes = number.max(1),
                "--seed" => options.seed = number,
                "--threads" => options.threads = (number as usize).clamp(1, 1024),
                other => bail!("datagen does not know {other}"),
            }
        }
        Ok(options)
    }
}

/// Plays until the file holds all games.
///
/// # Errors
/// When the file can't be read or written, or there is no memory.
pub fn run(options: &Options, print: &mut dyn FnMut(String)) -> Result<()> {
    let path = Path::new(&options.file);
    let done = whole_records(path).with_context(|| format!("reading {}", options.file))?;
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .with_context(|| format!("opening {}", options.file))?;
    if done > 0 {
        print(format!("{done} games are there already"));
    }
    let next = AtomicU64::new(done);
    let start = Instant::now();
    let (sender, finished) = bounded::<(u64, Record)>(WAITING_GAMES);
    thread::scope(|scope| -> Result<()> {
        for _ in 0..options.threads {
            let mut searcher = Searcher::new(Style::Cairn, HASH_MIB)?;
            let (sender, next) = (sender.clone(), &next);
            thread::Builder::new().stack_size(crate::worker::STACK).spawn_scoped(
                scope,
                move || {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= options.games {
                            break;
                        }
                        let record = play(&mut searcher, options.seed, number, options.nodes);
                        // Fails when writing has failed: then there is no use in playing on.
                        if sender.send((number, record)).is_err() {
                            break;
                        }
                    }
                },
            )?;
        }
        drop(sender);
        let mut waiting = std::collections::BTreeMap::new();
        let (mut written, mut positions) = (done, 0);
        for (number, record) in finished {
            waiting.insert(number, record);
            while let Some(record) = waiting.remove(&written) {
                let mut bytes = Vec::new();
                record.write(&mut bytes);
                file.write_all(&bytes).with_context(|| format!("writing {}", options.file))?;
                positions += record.plies.len();
                written += 1;
                if written % PROGRESS_GAMES == 0 {
                    let speed = positions as f64 / start.elapsed().as_secs_f64();
                    print(format!("{written}/{} games, {speed:.0} positions/s", options.games));
                }
            }
        }
        Ok(())
    })
}

/// Counts the records of the file and cuts off what was begun of another one. A file with anything else
/// in it is left as it is.
fn whole_records(path: &Path) -> Result<u64> {
    let mut bytes = Vec::new();
    match File::open(path) {
        Ok(mut file) => file.read_to_end(&mut bytes)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error.into()),
    };
    let (mut at, mut count) = (0, 0);
    while let Some((_, length)) = Record::read(&bytes[at..]) {
        at += length;
        count += 1;
    }
    if !Record::is_begun(&bytes[at..]) {
        bail!("after {count} games there is something else, at byte {at}; nothing was changed");
    }
    OpenOptions::new().write(true).open(path)?.set_len(at as u64)?;
    Ok(count)
}
