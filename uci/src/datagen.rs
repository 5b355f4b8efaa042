//! Games of the engine against itself, written to a file.
//!
//! The file holds one record after the other (see `cairn_engine::selfplay`) in the order of the
//! games, whatever the number of threads. A run that was interrupted goes on after the last whole
//! record, and one that is to hold more games after its last one. What the games depend on besides stands
//! in a text file beside it, `FILE.settings`, as games of other settings would mix unnoticed:
//!
//! ```text
//! nodes 5000
//! seed 1
//! bench 19526
//! ```
//!
//! The bench is the short one of [`crate::signature`], which tells one search from another.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use cairn_engine::search::{Searcher, Style};
use cairn_engine::selfplay::{Record, play};
use crossbeam_channel::bounded;

use crate::session::messages::STACK;
use crate::signature;

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

/// Plays until the file holds all games.
///
/// # Errors
/// When the file can't be read or written, holds anything else or games of other settings, or there is
/// no memory. A file that is refused is left as it is.
pub fn run(options: &Options, print: &mut dyn FnMut(String)) -> Result<()> {
    let path = Path::new(&options.file);
    let (done, length) =
        whole_records(path).with_context(|| format!("reading {}", options.file))?;
    settle(options, done)?;
    // What was begun of another record is cut off.
    let cut = OpenOptions::new().write(true).create(true).truncate(false).open(path);
    cut.and_then(|file| file.set_len(length))
        .with_context(|| format!("writing {}", options.file))?;
    let mut file = OpenOptions::new()
        .append(true)
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
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || {
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
            })?;
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

/// Counts the records of the file, and the bytes that they take; the beginning of another one may be
/// behind them, but nothing else.
fn whole_records(path: &Path) -> Result<(u64, u64)> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((0, 0)),
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
    Ok((count, at as u64))
}

/// Writes down what the games of a new file depend on, and compares it for a file that holds games.
fn settle(options: &Options, done: u64) -> Result<()> {
    let bench = thread::Builder::new()
        .stack_size(STACK)
        .spawn(signature::nodes)?
        .join()
        .map_err(|_| anyhow!("internal error"))??;
    let settings = [("nodes", options.nodes), ("seed", options.seed), ("bench", bench)];
    let file = &options.file;
    let beside = format!("{file}.settings");
    if done == 0 {
        let text: String =
            settings.iter().map(|(name, value)| format!("{name} {value}\n")).collect();
        return fs::write(&beside, text).with_context(|| format!("writing {beside}"));
    }
    let kept = match fs::read_to_string(&beside) {
        Ok(kept) => kept,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let [nodes, seed, bench] = settings.map(|(name, value)| format!("'{name} {value}'"));
            bail!(
                "{file} holds {done} games, but {beside}, which says how they were played, is \
                 missing; nothing was changed. If all of this is so, write it with the lines {nodes}, \
                 {seed} and {bench}"
            );
        }
        Err(error) => return Err(error).with_context(|| format!("reading {beside}")),
    };
    let differences: Vec<String> = settings
        .iter()
        .filter_map(|(name, value)| {
            let line = kept.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            let known = line.and_then(|number| number.trim().parse().ok());
            (known != Some(*value)).then(|| match known {
                Some(known) => format!("{name} {known}, not {name} {value}"),
                None => format!("no {name}, not {name} {value}"),
            })
        })
        .collect();
    if !differences.is_empty() {
        bail!(
            "{file} holds {done} games of other settings: {}, as {beside} says; nothing was changed. \
             Other games belong in another file (bench tells one search from another)",
            differences.join("; ")
        );
    }
    Ok(())
}
