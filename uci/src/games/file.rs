//! A set of games on disk that grows game by game.
//!
//! The set `FILE` begins in the file of that name; what would make it larger than a part may be goes
//! to `FILE.001`, `FILE.002` and so on, each a whole file with a header of its own. Games are appended
//! in the order of their numbers, each by one write, so that whatever ends the process leaves whole
//! games and at most the beginning of one behind. As what comes next follows from what is there, the
//! bytes are the same in the end, however often the making was broken off.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use cairn_engine::selfplay::Game;
use cairn_engine::selfplay::format2::{HEADER_LENGTH, Header, write_block};

use super::read::{GameFile, refuse_irregular};

/// The path of a part of the set, from 0.
#[must_use]
pub fn part_path(first: &Path, part: u32) -> PathBuf {
    if part == 0 {
        return first.to_owned();
    }
    let mut name = OsString::from(first);
    name.push(format!(".{part:03}"));
    name.into()
}

/// Says that the games with these numbers, the first and the last, are missing.
#[must_use]
pub fn missing(first: u32, last: u32) -> String {
    if first == last {
        return format!("game {first} is missing");
    }
    format!("games {first} to {last} are missing")
}

/// Whether a file is there.
pub(super) fn exists(path: &Path) -> Result<bool> {
    path.try_exists().with_context(|| format!("reading {}", path.display()))
}

/// What was there when a set was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Present {
    /// How many games.
    pub games: u32,
    /// How many bytes of a game that was not written to its end were cut off.
    pub cut_off: u64,
}

/// A set of games that is being written. No other process can write it meanwhile.
#[derive(Debug)]
pub struct Writer {
    /// The first part, which carries the lock.
    first: File,
    path: PathBuf,
    header: Header,
    part_bytes: u64,
    /// The part that is written and its number, the first one if there is no other.
    part: u32,
    later: Option<File>,
    /// The whole bytes of the part.
    length: u64,
    /// The number of the next game, if none is left out.
    next: u32,
}

impl Writer {
    /// Opens a set to go on with it, or begins it. Its parts get no larger than `part_bytes`, but for a
    /// part with a single game.
    ///
    /// # Errors
    /// When it can't be read or written, is written by another process, is damaged, or holds games of
    /// other settings or something else. It is left as it is then.
    pub fn open(path: &Path, header: &Header, part_bytes: u64) -> Result<(Writer, Present)> {
        let following = part_path(path, 1);
        if !exists(path)? && exists(&following)? {
            bail!(
                "{} is missing, but {} follows; nothing was changed",
                path.display(),
                following.display()
            );
        }
        let first = open_part(path, true)?;
        match first.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("{} is being written by another process", path.display())
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("locking {}", path.display()));
            }
        }
        let mut writer = Writer {
            first,
            path: path.to_owned(),
            header: header.clone(),
            part_bytes,
            part: 0,
            later: None,
            length: 0,
            next: header.first,
        };
        let present = writer.go_on()?;
        Ok((writer, present))
    }

    /// The number of the next game, if none is left out.
    #[must_use]
    pub const fn next(&self) -> u32 {
        self.next
    }

    /// The part that is written.
    fn file(&mut self) -> &mut File {
        self.later.as_mut().unwrap_or(&mut self.first)
    }

    fn part_path(&self) -> PathBuf {
        part_path(&self.path, self.part)
    }

    /// Finds out what is there, and changes it only once all of it has been found right.
    fn go_on(&mut self) -> Result<Present> {
        let mut present = Present::default();
        let torn = loop {
            let torn = self.check_part(&mut present)?;
            let following = part_path(&self.path, self.part + 1);
            if !exists(&following)? {
                break torn;
            }
            if torn > 0 {
                bail!(
                    "{} is cut off at byte {}, but {} follows; nothing was changed",
                    self.part_path().display(),
                    self.length,
                    following.display()
                );
            }
            self.part += 1;
            self.later = Some(open_part(&following, false)?);
        };
        let path = self.part_path();
        let begun = self.length >= HEADER_LENGTH as u64;
        if !begun {
            self.length = 0;
        }
        let length = self.length;
        let cut = self.file().set_len(length);
        // Reading has moved to the end of what was there.
        let changed = cut
            .and_then(|()| self.file().seek(SeekFrom::Start(length)))
            .and_then(|_| if begun { Ok(()) } else { self.begin_part() });
        changed.with_context(|| format!("writing {}", path.display()))?;
        present.cut_off = torn;
        Ok(present)
    }

    /// Reads the part that is open now, and tells how many bytes behind its whole games are to be cut
    /// off.
    fn check_part(&mut self, present: &mut Present) -> Result<u64> {
        let path = self.part_path();
        let mut file =
            self.file().try_clone().with_context(|| format!("reading {}", path.display()))?;
        let size = file.metadata().with_context(|| format!("reading {}", path.display()))?.len();
        let header = Header { first: self.next, ..self.header.clone() };
        self.length = 0;
        if size < HEADER_LENGTH as u64 {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).with_context(|| format!("reading {}", path.display()))?;
            if !header.to_bytes().starts_with(&bytes) {
                bail!(
                    "{}: the header is cut off or of other games; nothing was changed",
                    path.display()
                );
            }
            return Ok(size);
        }
        let games = GameFile::from_open(&path, file)?;
        let Some(theirs) = games.header() else {
            let old = games.format() == 1;
            let why = if old { "format 1 is only read" } else { "its header is damaged" };
            bail!("{} can't be gone on with: {why}; nothing was changed", path.display());
        };
        refuse_others(&path, theirs, &header)?;
        self.read_part(games, present, size)
    }

    fn read_part(&mut self, mut games: GameFile, present: &mut Present, size: u64) -> Result<u64> {
        self.length = games.position();
        while let Some(item) = games.next() {
            match item {
                Ok((number, _)) if number == self.next => {
                    self.next += 1;
                    present.games += 1;
                    self.length = games.position();
                }
                Ok((number, _)) => {
                    let (path, next) = (games.path().display(), self.next);
                    bail!(
                        "{path} can't be gone on with: {}; nothing was changed. Make what is missing in \
                         another file (--first {next} --games {}) and merge both",
                        missing(next, number - 1),
                        number - next
                    );
                }
                Err(damage) if damage.is_unfinished_end() => {}
                Err(damage) => {
                    bail!("{damage}; nothing was changed. --merge makes a file of what is whole")
                }
            }
        }
        Ok(size - self.length)
    }

    /// Begins the part that is open and empty.
    fn begin_part(&mut self) -> std::io::Result<()> {
        let header = Header { first: self.next, ..self.header.clone() };
        self.file().write_all(&header.to_bytes())?;
        self.length = HEADER_LENGTH as u64;
        Ok(())
    }

    /// Appends a game. Its number is at least [`Writer::next`].
    ///
    /// # Errors
    /// When it can't be written. What is whole stays, and the set can be gone on with later.
    pub fn append(&mut self, number: u32, game: &Game) -> Result<()> {
        let mut block = Vec::new();
        write_block(number, game, &mut block);
        let full = self.length + block.len() as u64 > self.part_bytes;
        // The header of a part names the first game in it, so that parts depend on nothing else.
        if full && self.length > HEADER_LENGTH as u64 {
            self.next = number;
            self.next_part()?;
        }
        let written = self.file().write_all(&block);
        if let Err(error) = written {
            let length = self.length;
            // The disk is full or broken: what is left of the block will be cut off next time too.
            let _ = self.file().set_len(length);
            return Err(error).with_context(|| {
                format!("writing {}; whole up to game {number}", self.part_path().display())
            });
        }
        self.length += block.len() as u64;
        self.next = number.saturating_add(1);
        Ok(())
    }

    fn next_part(&mut self) -> Result<()> {
        self.sync()?;
        self.part += 1;
        let path = self.part_path();
        let begun =
            OpenOptions::new().read(true).write(true).create_new(true).open(&path).and_then(
                |file| {
                    self.later = Some(file);
                    self.begin_part()
                },
            );
        begun.with_context(|| format!("writing {}", path.display()))
    }

    /// Waits until everything is on the disk.
    ///
    /// # Errors
    /// When that fails.
    pub fn sync(&mut self) -> Result<()> {
        let path = self.part_path();
        self.file().sync_data().with_context(|| format!("writing {}", path.display()))
    }

    /// How many parts there are.
    #[must_use]
    pub const fn parts(&self) -> u32 {
        self.part + 1
    }
}

fn open_part(path: &Path, create: bool) -> Result<File> {
    refuse_irregular(path)?;
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(create)
        .truncate(false)
        .open(path)
        .with_context(|| format!("opening {}", path.display()))
}

/// Refuses games of other settings.
fn refuse_others(path: &Path, theirs: &Header, ours: &Header) -> Result<()> {
    let mut differences = theirs.differences(ours);
    if theirs.first != ours.first {
        differences.push(format!("first game {}, not {}", theirs.first, ours.first));
    }
    if differences.is_empty() {
        return Ok(());
    }
    Err(anyhow!(
        "{} holds games of other settings: {}; nothing was changed. Other games belong in another file \
         (bench tells one search from another)",
        path.display(),
        differences.join("; ")
    ))
}
