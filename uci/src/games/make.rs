//! Playing games with several threads.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use cairn_engine::search::{Searcher, Style};
use cairn_engine::selfplay::format2::Header;
use cairn_engine::selfplay::{Played, play};
use crossbeam_channel::bounded;

use super::file::{Present, Writer};
use crate::session::messages::STACK;

/// How many finished games may wait to be written.
const WAITING_GAMES: usize = 64;

/// What to play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The set that is written, see [`super::file`](mod@super::file).
    pub path: PathBuf,
    /// The number of the first game, what the games depend on, and who plays.
    pub header: Header,
    /// How many games the set is to hold in the end.
    pub games: u32,
    /// Threads that play, from 1.
    pub threads: usize,
    /// The most bytes of a part.
    pub part_bytes: u64,
}

/// How far it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Games that the set holds.
    pub done: u32,
    /// Games that it is to hold.
    pub wanted: u32,
    /// Games that have been played now.
    pub games: u32,
    /// Searched positions of these.
    pub positions: u64,
    /// Nodes that were searched for them.
    pub nodes: u64,
    /// What was there before.
    pub present: Present,
    /// How long it has taken.
    pub elapsed: Duration,
}

/// Plays until the set holds all games, and tells of it at the beginning and after each game. Returns
/// how it stands at the end.
///
/// # Errors
/// When the settings can't be played with, the set can't be gone on with or written, or there is no
/// memory. What is whole stays.
pub fn make(order: &Order, tell: &mut dyn FnMut(&Progress)) -> Result<Progress> {
    let header = &order.header;
    let settings = &header.settings;
    settings.check()?;
    let end =
        header.first.checked_add(order.games).context("game numbers go up to 4294967295 only")?;
    let (mut writer, present) = Writer::open(&order.path, header, order.part_bytes)?;
    let start = Instant::now();
    let mut progress =
        Progress { done: present.games, wanted: order.games, present, ..Progress::default() };
    tell(&progress);
    let next = AtomicU64::new(writer.next().into());
    let (sender, finished) = bounded::<(u32, Played)>(WAITING_GAMES);
    thread::scope(|scope| -> Result<()> {
        for _ in 0..order.threads.max(1) {
            let mut searcher = Searcher::new(Style::Cairn, settings.hash_mib.into())?;
            let (sender, next) = (sender.clone(), &next);
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || {
                let number = || u32::try_from(next.fetch_add(1, Ordering::Relaxed)).ok();
                while let Some(number) = number().filter(|&number| number < end) {
                    let played = play(&mut searcher, settings, number);
                    // Fails when writing has failed: then there is no use in playing on.
                    if sender.send((number, played)).is_err() {
                        break;
                    }
                }
            })?;
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        for (number, played) in finished {
            waiting.insert(number, played);
            while let Some(played) = waiting.remove(&writer.next()) {
                writer.append(writer.next(), &played.game)?;
                progress.done += 1;
                progress.games += 1;
                progress.positions += played.game.plies.len() as u64;
                progress.nodes += played.nodes;
                progress.elapsed = start.elapsed();
                tell(&progress);
            }
        }
        writer.sync()
    })?;
    Ok(progress)
}
