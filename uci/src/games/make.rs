//! Playing games with several threads.

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, anyhow};
use cairn_engine::search::{Searcher, Style};
use cairn_engine::selfplay::format2::Header;
use cairn_engine::selfplay::{Played, Settings, play};
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
/// When the settings can't be played with, the set can't be gone on with or written, there is no memory, or
/// a game breaks off by an internal error. What is whole stays: all games before that one.
pub fn make(order: &Order, tell: &mut dyn FnMut(&Progress)) -> Result<Progress> {
    make_by(order, &play, tell)
}

/// How a game is played.
type Play = dyn Fn(&mut Searcher, &Settings, u32) -> Played + Sync;

/// The same with games that are played by `play`.
fn make_by(order: &Order, play: &Play, tell: &mut dyn FnMut(&Progress)) -> Result<Progress> {
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
    let (sender, finished) = bounded::<(u32, Result<Played>)>(WAITING_GAMES);
    thread::scope(|scope| -> Result<()> {
        for _ in 0..order.threads.max(1) {
            let mut searcher = Searcher::new(Style::Cairn, settings.hash_mib.into())?;
            let (sender, next) = (sender.clone(), &next);
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || {
                let number = || u32::try_from(next.fetch_add(1, Ordering::Relaxed)).ok();
                while let Some(number) = number().filter(|&number| number < end) {
                    let played = panic::catch_unwind(AssertUnwindSafe(|| {
                        play(&mut searcher, settings, number)
                    }));
                    let played = played.map_err(|_| anyhow!("game {number}: internal error"));
                    let is_broken = played.is_err();
                    // Fails when writing has failed: then there is no use in playing on. Nor is there with a
                    // searcher that has panicked.
                    if sender.send((number, played)).is_err() || is_broken {
                        break;
                    }
                }
            })?;
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut broken: Option<(u32, Error)> = None;
        for (number, played) in finished {
            match played {
                Ok(played) => {
                    waiting.insert(number, played);
                }
                Err(error) => {
                    // Those that are being played are finished, as some belong before this one.
                    next.store(end.into(), Ordering::Relaxed);
                    if broken.as_ref().is_none_or(|(first, _)| number < *first) {
                        broken = Some((number, error));
                    }
                }
            }
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
        writer.sync()?;
        match broken {
            Some((_, error)) => Err(error.context("the games before it are written")),
            None => Ok(()),
        }
    })?;
    Ok(progress)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use cairn_engine::eval::Damping;

    use super::super::read::GameFile;
    use super::*;

    #[test]
    fn a_game_that_breaks_off_ends_the_run_and_those_before_it_are_kept() {
        let path = std::env::temp_dir().join(format!("cairn-broken-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        let settings = Settings { nodes: 20, hash_mib: 1, longest_game: 10, ..Settings::default() };
        let header = Header { first: 0, bench: 1, settings, damping: Damping::NONE };
        let order =
            Order { path: path.clone(), header, games: 1000, threads: 3, part_bytes: 1 << 20 };
        let breaking = |searcher: &mut Searcher, settings: &Settings, number| {
            assert!(number != 7, "what breaks");
            play(searcher, settings, number)
        };
        let error = make_by(&order, &breaking, &mut |_| {}).expect_err("a broken game");
        let text = format!("{error:#}");
        assert!(text.contains("game 7: internal error") && text.contains("written"), "{text}");
        assert!(GameFile::open(&path).is_ok());
        // It goes on behind them once nothing breaks any more.
        let rest = Order { games: 10, ..order };
        let made = make(&rest, &mut |_| {}).expect("games");
        assert_eq!((made.present.games, made.games, made.done), (7, 3, 10));
        fs::remove_file(&path).expect("it is there");
    }
}
