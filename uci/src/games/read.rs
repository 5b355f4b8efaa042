//! Reading a file of games.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use cairn_engine::selfplay::format2::{HEADER_LENGTH, Header};
use cairn_engine::selfplay::{Damage, DamageKind, Decoder, Game, LARGEST_STEP, Step};

/// How much is read at once, in bytes.
const CHUNK: usize = 1 << 16;

/// Something in a file that can't be used.
#[derive(Debug)]
pub struct FileDamage {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What keeps games from being used.
#[derive(Debug)]
pub enum Fault {
    /// The bytes are wrong.
    Damage(Damage),
    /// They can't be read. Nothing follows.
    Unreadable(io::Error),
}

impl FileDamage {
    /// Whether it is only that the end is missing: of a game that was being written, or lost in a crash
    /// of the machine, which leaves zeros. Nothing that was whole is damaged then.
    #[must_use]
    pub const fn is_unfinished_end(&self) -> bool {
        match &self.fault {
            Fault::Damage(damage) => {
                matches!(damage.kind, DamageKind::CutOff | DamageKind::Zeros)
            }
            Fault::Unreadable(_) => false,
        }
    }
}

impl fmt::Display for FileDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fault {
            Fault::Damage(damage) => write!(f, "{}, {damage}", self.path.display()),
            Fault::Unreadable(error) => write!(f, "reading {}: {error}", self.path.display()),
        }
    }
}

impl std::error::Error for FileDamage {}

/// Refuses what is no regular file, before it is opened: opening a FIFO would wait for another
/// program. A path where nothing is yet is fine.
///
/// # Errors
/// When there is something else, or one may not look.
pub fn refuse_irregular(path: &Path) -> Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(()),
        Ok(_) => bail!("{} is no regular file", path.display()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
    }
}

/// The games of a file in its order, with what is damaged in between. It takes a few hundred KiB,
/// however large the file is.
#[derive(Debug)]
pub struct GameFile {
    path: PathBuf,
    file: File,
    /// What has been read; the decoder has used up the first `used` bytes.
    buffer: Vec<u8>,
    used: usize,
    at_end: bool,
    decoder: Decoder,
}

impl GameFile {
    /// Opens a file of either format.
    ///
    /// # Errors
    /// When it can't be read, is no regular file, or holds something else than games.
    pub fn open(path: &Path) -> Result<GameFile> {
        refuse_irregular(path)?;
        let file = File::open(path).with_context(|| format!("opening {}", path.display()))?;
        GameFile::from_open(path, file)
    }

    /// Reads a file that has been opened, from where it stands.
    pub(super) fn from_open(path: &Path, mut file: File) -> Result<GameFile> {
        let (mut buffer, mut at_end) = (Vec::new(), false);
        while buffer.len() < HEADER_LENGTH && !at_end {
            at_end = read_more(&mut file, &mut buffer)
                .with_context(|| format!("reading {}", path.display()))?;
        }
        let (decoder, used) =
            Decoder::new(&buffer).map_err(|error| anyhow!("{}: {error}", path.display()))?;
        Ok(GameFile { path: path.to_owned(), file, buffer, used, at_end, decoder })
    }

    /// The header, if the file has one that is whole: format 1 has none.
    #[must_use]
    pub const fn header(&self) -> Option<&Header> {
        self.decoder.header()
    }

    /// The number of the format, 1 or 2.
    #[must_use]
    pub const fn format(&self) -> u8 {
        self.decoder.format()
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many of its bytes have been used up.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.decoder.position()
    }

    fn damage(&self, fault: Fault) -> FileDamage {
        FileDamage { path: self.path.clone(), fault }
    }
}

/// Reads a little more and tells whether that was the end.
fn read_more(file: &mut File, buffer: &mut Vec<u8>) -> io::Result<bool> {
    let before = buffer.len();
    file.take(CHUNK as u64).read_to_end(buffer)?;
    Ok(buffer.len() == before)
}

impl Iterator for GameFile {
    type Item = Result<(u32, Game), FileDamage>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (used, step) = self.decoder.step(&self.buffer[self.used..], self.at_end);
            self.used += used;
            match step {
                Step::Game(number, game) => return Some(Ok((number, game))),
                Step::Damage(damage) => return Some(Err(self.damage(Fault::Damage(damage)))),
                Step::End => return None,
                Step::More => {}
            }
            debug_assert!(self.buffer.len() - self.used < LARGEST_STEP);
            self.buffer.drain(..self.used);
            self.used = 0;
            match read_more(&mut self.file, &mut self.buffer) {
                Ok(at_end) => self.at_end = at_end,
                Err(error) => {
                    self.at_end = true;
                    self.buffer.clear();
                    return Some(Err(self.damage(Fault::Unreadable(error))));
                }
            }
        }
    }
}
