//! One set of games out of several.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cairn_engine::selfplay::Game;
use cairn_engine::selfplay::format2::Header;

use super::file::{Writer, exists, part_path};
use super::read::GameFile;

/// What a merge has come to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Merged {
    /// How many games the set holds.
    pub games: u32,
    /// How many parts it is written in.
    pub parts: u32,
    /// What is damaged in the files that it was made of; their whole games are in it.
    pub damages: Vec<String>,
    /// First and last number of the games that are missing in between.
    pub missing: Vec<(u32, u32)>,
}

/// Makes the set `out`, which must not exist, of the games of these files in the order of their
/// numbers. The same files make the same bytes in whatever order they are given, and the parts of a
/// range make what playing the whole range makes.
///
/// # Errors
/// When a file can't be read, is of format 1, has a damaged header or other settings than the first
/// one, when two have the same game or all have none; when `out` exists or can't be written. It does
/// not exist then.
pub fn merge(out: &Path, files: &[PathBuf], part_bytes: u64) -> Result<Merged> {
    if exists(out)? {
        bail!("{} exists already", out.display());
    }
    let mut sources = Sources::new(files)?;
    // Under another name until it is whole: a part of it would look like a smaller set.
    let mut unfinished = OsString::from(out);
    unfinished.push(".merging");
    let unfinished = PathBuf::from(unfinished);
    remove_set(&unfinished)?;
    let written = write_all(&mut sources, &unfinished, part_bytes);
    let merged = written.inspect_err(|_| {
        // The first error is the one to tell.
        let _ = remove_set(&unfinished);
    })?;
    for part in 0..=merged.parts {
        let path = part_path(out, part);
        if exists(&path)? {
            remove_set(&unfinished)?;
            bail!("{} exists already", path.display());
        }
    }
    // The first part, which the set is known by, comes last.
    for part in (0..merged.parts).rev() {
        let path = part_path(out, part);
        fs::rename(part_path(&unfinished, part), &path)
            .with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(merged)
}

fn write_all(sources: &mut Sources, path: &Path, part_bytes: u64) -> Result<Merged> {
    let mut merged = Merged::default();
    let Some((mut number, mut game)) = sources.next_game()? else {
        bail!("there are no games to merge");
    };
    let header = Header { first: number, ..sources.header.clone() };
    let (mut writer, _) = Writer::open(path, &header, part_bytes)?;
    loop {
        if number > writer.next() {
            merged.missing.push((writer.next(), number - 1));
        }
        writer.append(number, &game)?;
        merged.games += 1;
        match sources.next_game()? {
            Some(next) => (number, game) = next,
            None => break,
        }
    }
    writer.sync()?;
    merged.parts = writer.parts();
    merged.damages = std::mem::take(&mut sources.damages);
    Ok(merged)
}

fn remove_set(path: &Path) -> Result<()> {
    let mut parts = Vec::new();
    for part in 0.. {
        let path = part_path(path, part);
        if !exists(&path)? {
            break;
        }
        parts.push(path);
    }
    // The last one first: whatever ends the process leaves no part without those before it.
    for path in parts.iter().rev() {
        fs::remove_file(path).with_context(|| format!("removing {}", path.display()))?;
    }
    Ok(())
}

/// Files that are read side by side.
struct Sources {
    /// The settings of all of them.
    header: Header,
    /// Those that are not open yet, by the lowest number that they can have.
    waiting: VecDeque<(u32, PathBuf)>,
    /// Those that are, each with its next game.
    open: Vec<(GameFile, (u32, Game))>,
    damages: Vec<String>,
}

impl Sources {
    fn new(files: &[PathBuf]) -> Result<Sources> {
        let mut common: Option<(Header, &Path)> = None;
        let mut waiting = Vec::new();
        for path in files {
            let games = GameFile::open(path)?;
            let Some(header) = games.header() else {
                let old = games.format() == 1;
                let why = if old { "it is of format 1" } else { "its header is damaged" };
                bail!("{} can't be merged: {why}", path.display());
            };
            waiting.push((header.first, path.clone()));
            let (first, name) = common.get_or_insert_with(|| (header.clone(), path));
            let differences = header.differences(first);
            if !differences.is_empty() {
                bail!(
                    "{} and {} are of different settings: {}",
                    path.display(),
                    name.display(),
                    differences.join("; ")
                );
            }
        }
        let Some((header, _)) = common else { bail!("there are no files to merge") };
        waiting.sort();
        Ok(Sources { header, waiting: waiting.into(), open: Vec::new(), damages: Vec::new() })
    }

    /// The game with the lowest number of those that are left.
    fn next_game(&mut self) -> Result<Option<(u32, Game)>> {
        loop {
            let lowest = self.open.iter().map(|(_, (number, _))| *number).min();
            let turn = |&(first, _): &(u32, PathBuf)| lowest.is_none_or(|lowest| first <= lowest);
            if self.waiting.front().is_some_and(turn)
                && let Some((_, path)) = self.waiting.pop_front()
            {
                self.advance(GameFile::open(&path)?);
                continue;
            }
            let Some(lowest) = lowest else { return Ok(None) };
            let mut holders = (0..self.open.len()).filter(|&i| self.open[i].1.0 == lowest);
            let Some(holder) = holders.next() else { return Ok(None) };
            if let Some(other) = holders.next() {
                let [one, two] = [holder, other].map(|i| self.open[i].0.path().display());
                bail!("{one} and {two} both hold game {lowest}");
            }
            let (games, found) = self.open.swap_remove(holder);
            self.advance(games);
            return Ok(Some(found));
        }
    }

    /// Reads on to the next whole game; a file without one is done with.
    fn advance(&mut self, mut games: GameFile) {
        for item in games.by_ref() {
            match item {
                Ok(found) => return self.open.push((games, found)),
                Err(damage) => self.damages.push(damage.to_string()),
            }
        }
    }
}
