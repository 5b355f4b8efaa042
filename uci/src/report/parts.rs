//! Results that are there already: to go on with, and to put together from shards.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

use super::format::{Format, ORIGIN_OPERATION, epd_origin};
use super::input::Position;
use super::lines::{FoundLine, Lines, decode};
use super::record::Origin;
use crate::session::files::open_alone;

/// The longest record, in bytes.
const LONGEST_RECORD: usize = 16 << 20;

/// A part of the positions, for one of several machines: those whose number leaves `index` over when
/// divided by `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 0.
    pub index: u64,
    /// How many parts there are.
    pub of: u64,
}

impl Shard {
    /// All positions.
    pub const WHOLE: Shard = Shard { index: 0, of: 1 };

    /// Reads `0/4` to `3/4`.
    ///
    /// # Errors
    /// If the text is no part of a whole.
    pub fn parse(text: &str) -> Result<Shard> {
        let parts = text.split_once('/').and_then(|(index, of)| {
            Some(Shard { index: index.parse().ok()?, of: of.parse().ok()? })
        });
        parts
            .filter(|shard| shard.index < shard.of)
            .ok_or_else(|| anyhow!("a shard is I/N with I from 0 to N-1, such as 0/4"))
    }

    /// Whether the position with this number belongs to it.
    #[must_use]
    pub const fn has(self, index: u64) -> bool {
        index % self.of == self.index
    }
}

/// The number and position that a record tells, as far as it does.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    index: Option<u64>,
    /// FEN, or for EPD its first four fields.
    position: String,
    /// Who searched how, as the format tells it.
    origin: String,
}

impl Identity {
    fn read(format: Format, line: &str) -> Option<Identity> {
        match format {
            Format::Jsonl => {
                let record: Value = serde_json::from_str(line).ok()?;
                let text = |name| record.get(name)?.as_str().map(str::to_owned);
                let origin = Origin {
                    engine: text("engine")?,
                    limits: text("limits")?,
                    network: text("network"),
                    tables: text("tables"),
                };
                Some(Identity {
                    index: Some(record.get("index")?.as_u64()?),
                    position: text("fen")?,
                    origin: origin.to_string(),
                })
            }
            Format::Csv => {
                let values = csv_values(line);
                let [index, position, .., engine, limits, network, tables] = &values[..] else {
                    return None;
                };
                let some = |text: &String| (!text.is_empty()).then(|| text.clone());
                let origin = Origin {
                    engine: engine.clone(),
                    limits: limits.clone(),
                    network: some(network),
                    tables: some(tables),
                };
                Some(Identity {
                    index: Some(index.parse().ok()?),
                    position: position.clone(),
                    origin: origin.to_string(),
                })
            }
            Format::Epd => {
                let fields: Vec<&str> = line.split(' ').take(5).collect();
                // Each result begins so; a suite of positions does not.
                let is_result = fields.len() == 5 && fields[0].contains('/') && fields[4] == "acd";
                let position = fields[..fields.len().min(4)].join(" ");
                let (_, rest) = line.split_once(&format!("; {ORIGIN_OPERATION} \""))?;
                let origin = rest.split('"').next().unwrap_or_default().to_owned();
                is_result.then_some(Identity { index: None, position, origin })
            }
            Format::Text => None,
        }
    }

    /// Who searched how, as this format tells it.
    fn origin(format: Format, origin: &Origin) -> String {
        if format == Format::Epd { epd_origin(origin) } else { origin.to_string() }
    }
}

/// The values of a line of CSV, without the quotation marks around them.
fn csv_values(line: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut is_quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.next_if_eq(&'"').is_some() => {
                values.last_mut().into_iter().for_each(|value| value.push('"'));
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => values.push(String::new()),
            letter => values.last_mut().into_iter().for_each(|value| value.push(letter)),
        }
    }
    values
}

/// The results that a file has already, when it is gone on with.
#[derive(Debug)]
pub struct Earlier {
    path: PathBuf,
    format: Format,
    lines: Lines<BufReader<File>>,
    /// How the results are to have been made.
    origin: String,
    /// Records are left to be compared.
    is_left: bool,
}

impl Earlier {
    /// Opens a file with results, or makes it. A line that is not whole is cut off: whatever broke the
    /// writing off may have left one. Nobody else can go on with it meanwhile.
    ///
    /// # Errors
    /// When it cannot be read and written, or holds something else; it is left as it is then.
    pub fn open(path: &Path, format: Format, origin: &Origin) -> Result<(Earlier, Output)> {
        let name = path.display();
        let mut file = open_alone(path).with_context(|| format!("cannot open {name}"))?;
        let metadata = file.metadata().with_context(|| format!("cannot read {name}"))?;
        if !metadata.is_file() {
            bail!("{name} is no regular file, so there is nothing to go on with");
        }
        let whole = whole_lines(&mut file).with_context(|| format!("cannot read {name}"))?;
        let head = format.head();
        let mut lines = read_lines(path)?;
        let is_ours = match lines.advance().with_context(|| format!("cannot read {name}"))? {
            None => true,
            Some(FoundLine::Text(line)) => {
                let line = decode(line);
                if whole == 0 {
                    could_become_record(format, &line)
                } else if head.is_empty() {
                    Identity::read(format, line.trim_end()).is_some()
                } else {
                    line == head
                }
            }
            Some(FoundLine::TooLong) => false,
        };
        if !is_ours {
            bail!("{name} holds something else than these results, and is left as it is");
        }
        if head.is_empty() || whole == 0 {
            lines = read_lines(path)?;
        }
        let mut begin = || {
            file.set_len(whole)?;
            file.seek(SeekFrom::End(0))?;
            if whole == 0 { file.write_all(head.as_bytes()) } else { Ok(()) }
        };
        begin().with_context(|| format!("cannot write {name}"))?;
        let origin = Identity::origin(format, origin);
        let is_left = whole > head.len() as u64;
        let output = Output { path: path.to_owned(), file };
        Ok((Earlier { path: path.to_owned(), format, lines, origin, is_left }, output))
    }

    /// Whether the result of this position, the next one, is there. Once one is not, none is.
    ///
    /// # Errors
    /// When the file has a result there that is of another position, or was found otherwise.
    pub fn has(&mut self, position: &Position) -> Result<bool> {
        if !self.is_left {
            return Ok(false);
        }
        let name = self.path.display();
        let line = match self.lines.advance().with_context(|| format!("cannot read {name}"))? {
            Some(FoundLine::Text(line)) if line.ends_with(b"\n") => {
                decode(line).trim_end().to_owned()
            }
            Some(FoundLine::TooLong) => String::new(),
            _ => {
                self.is_left = false;
                return Ok(false);
            }
        };
        let number = self.lines.number();
        let found = Identity::read(self.format, &line)
            .ok_or_else(|| anyhow!("{name}, line {number}: is no result"))?;
        let mut fen = position.board.to_fen();
        if self.format == Format::Epd {
            fen = fen.split(' ').take(4).collect::<Vec<_>>().join(" ");
        }
        if found.index.is_some_and(|found| found != position.index) || found.position != fen {
            bail!(
                "{name}, line {number}: is the result of another position; the input, --shard, --moves and \
                 --player must be the same to go on"
            );
        }
        if found.origin != self.origin {
            bail!(
                "{name}, line {number}: was found by {}, but this is {}",
                found.origin,
                self.origin
            );
        }
        Ok(true)
    }

    /// Whether the file has results of positions that are not in the input.
    ///
    /// # Errors
    /// When it has.
    pub fn finish(&mut self) -> Result<()> {
        let more = self.is_left
            && matches!(self.lines.advance()?, Some(FoundLine::Text(line)) if line.ends_with(b"\n"));
        if more {
            bail!("{} has results of more positions than the input", self.path.display());
        }
        Ok(())
    }
}

/// The same file, to add results to.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    /// It carries the lock.
    file: File,
}

impl Output {
    /// Adds results, whole lines, by one write.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn append(&mut self, text: &str) -> Result<()> {
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.flush());
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// How many bytes of a file are whole lines.
fn whole_lines(file: &mut File) -> std::io::Result<u64> {
    let (mut whole, mut place) = (0, 0);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = file.read(&mut buffer)?;
        if length == 0 {
            return Ok(whole);
        }
        if let Some(last) = buffer[..length].iter().rposition(|&byte| byte == b'\n') {
            whole = place + last as u64 + 1;
        }
        place += length as u64;
    }
}

fn read_lines(path: &Path) -> Result<Lines<BufReader<File>>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Lines::new(BufReader::new(file), LONGEST_RECORD))
}

/// Whether a line that was broken off may be the beginning of the results.
fn could_become_record(format: Format, line: &str) -> bool {
    let begins = |whole: &str| whole.starts_with(line) || line.starts_with(whole);
    match format {
        Format::Jsonl => begins("{\"schema\":"),
        Format::Csv => format.head().starts_with(line),
        // Less of a line could be of a suite.
        Format::Epd => line.split(' ').nth(4) == Some("acd"),
        Format::Text => false,
    }
}

/// One of the files that are put together.
struct Part {
    name: String,
    lines: Lines<BufReader<File>>,
    /// The next record and its number.
    next: Option<(u64, String)>,
    /// The number of the next record where none is told.
    expected: u64,
}

/// Puts the results of all shards together, in the order of the positions. They are those of `--shard 0/N` to
/// `N-1/N` in any order; in EPD, which has no numbers, in this one. `sink` takes whole lines.
///
/// # Errors
/// When a file cannot be read or holds no results, a result is missing, is there twice or was found otherwise
/// than the others, or when `sink` fails.
pub fn merge<E: From<anyhow::Error>>(
    files: &[PathBuf],
    sink: &mut dyn FnMut(&str) -> Result<(), E>,
) -> Result<(), E> {
    let mut format = None;
    let mut shared = None;
    let mut parts = Vec::new();
    for (index, path) in (0..).zip(files) {
        let name = path.display().to_string();
        parts.push(Part { name, lines: read_lines(path)?, next: None, expected: index });
    }
    let count = parts.len() as u64;
    for part in &mut parts {
        part.advance(&mut format, &mut shared, count)?;
    }
    let Some(format) = format else { return Ok(()) };
    if !format.head().is_empty() {
        sink(format.head())?;
    }
    for index in 0.. {
        let Some(first) = parts
            .iter_mut()
            .filter(|part| part.next.is_some())
            .min_by_key(|part| part.next.as_ref().map(|(index, _)| *index))
        else {
            break;
        };
        let Some((found, line)) = first.next.take() else { break };
        if found < index {
            return Err(anyhow!("position {found} is there twice, again in {}", first.name).into());
        }
        if found > index {
            let (name, from) = (&first.name, index);
            return Err(anyhow!("position {from} is missing; {name} goes on with {found}").into());
        }
        sink(&line)?;
        first.advance(&mut Some(format), &mut shared, count)?;
    }
    Ok(())
}

impl Part {
    /// Reads the next record. `format` and `origin` are those of all parts, as soon as they are known; `step` is
    /// from one number to the next.
    fn advance(
        &mut self,
        format: &mut Option<Format>,
        origin: &mut Option<String>,
        step: u64,
    ) -> Result<()> {
        let name = &self.name;
        loop {
            let line = match self.lines.advance().with_context(|| format!("cannot read {name}"))? {
                None => return Ok(()),
                Some(FoundLine::Text(line)) => decode(line),
                Some(FoundLine::TooLong) => String::new(),
            };
            let place = format!("{name}, line {}", self.lines.number());
            if !line.ends_with('\n') {
                bail!("{place}: is broken off; go on with --resume first");
            }
            if *format.get_or_insert_with(|| format_of(&line)) == Format::Csv
                && self.lines.number() == 1
            {
                if line != Format::Csv.head() {
                    bail!("{place}: is no head of results in CSV");
                }
                continue;
            }
            let record = format.and_then(|format| Identity::read(format, line.trim_end()));
            let Some(identity) = record else { bail!("{place}: is no result of an analysis") };
            let found = identity.origin;
            let first = origin.get_or_insert_with(|| found.clone());
            if *first != found {
                bail!("{place}: was found by {found}, but others by {first}");
            }
            self.next = Some((identity.index.unwrap_or(self.expected), line));
            self.expected += step;
            return Ok(());
        }
    }
}

/// The format of results whose first line this is.
fn format_of(line: &str) -> Format {
    if line.starts_with('{') {
        Format::Jsonl
    } else if line == Format::Csv.head() {
        Format::Csv
    } else {
        Format::Epd
    }
}
