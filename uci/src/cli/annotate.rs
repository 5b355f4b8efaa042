//! `cairn annotate`: whole games with every move judged, as PGN and as a page to look at.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, IsTerminal, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::{process, slice, thread};

use anyhow::{Context, Result, anyhow, bail};
use indicatif::ProgressBar;

use super::analyze::settings;
use super::output::{ReaderGone, exit_when_unread, is_same_file, print, tell};
use super::progress::{bar, spinner};
use super::{Failure, bad_usage, version};
use crate::protocol::Go;
use crate::report::annotate::{Annotated, annotate_all};
use crate::report::batch::{Order, hash_mib};
use crate::report::html::Page;
use crate::report::markup::marked_up;
use crate::report::pgn::{Entry, PgnError, Reader, write_game};
use crate::session::options::{DEFAULT_HASH, Settings};

/// The nodes for each position where no limit is given: the same result on every machine, and a game of 40 moves takes
/// about 60 million.
const DEFAULT_NODES: u64 = 500_000;

/// The hash table is made for so many searches: those of a block share it.
const SEARCHES: u64 = 8;

/// How much of a file is read at a time, in bytes.
const BUFFER: usize = 1 << 16;

/// Annotate games: every move judged by what it changes of the expected result
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Games in PGN; - is standard input
    #[arg(default_value = "-")]
    files: Vec<PathBuf>,
    /// Where the annotated games go, instead of standard output: each as soon as it is whole
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Make a page to look at, too: boards, a graph, all in one file
    #[arg(long, value_name = "REPORT.html")]
    html: Option<PathBuf>,
    /// Nodes for each position; 500000 without any other limit
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// The last iteration for each position, in plies
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u8).range(1..))]
    depth: Option<u8>,
    /// How many blocks of 16 moves are searched at the same time, as many as there are processors if it is not given;
    /// the result does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// The hash table of each job in MiB; without it one for 8 positions
    #[arg(long, value_name = "MIB")]
    hash: Option<u64>,
    /// Sets a UCI option, such as SyzygyPath=FOLDERS; may be given several times
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
}

/// Annotates all games of all files.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let order = arguments.order().map_err(bad_usage)?;
    arguments.check_paths().map_err(bad_usage)?;
    let annotator = arguments.annotator(&order);
    let progress = progress(&arguments.files);
    let mut input = Input::new(&arguments.files, &progress);
    let mut games = Games::open(arguments.output.as_deref())?;
    let mut page = match &arguments.html {
        Some(path) => Some((PageFile::new(path)?, Page::new(&annotator))),
        None => None,
    };
    if arguments.output.is_none() && page.is_none() {
        exit_when_unread(0);
    }
    let bar = progress.clone();
    let mut told = Vec::new();
    annotate_all(
        order,
        &mut input,
        move |moves| bar.inc(moves),
        &mut |annotated: Annotated| -> Result<(), Failure> {
            for note in &annotated.notes {
                if !told.contains(note) {
                    tell(&progress, note);
                    told.push(note.clone());
                }
            }
            let mut text = Vec::new();
            write_game(&marked_up(&annotated, &annotator), &mut text)?;
            if let Some((_, page)) = &mut page {
                page.add(&annotated);
            }
            let written = progress.suspend(|| games.write(&text));
            match written {
                // The page is for somebody else.
                Err(failure) if page.is_some() && failure.error.is::<ReaderGone>() => {
                    games = Games::Unread;
                    Ok(())
                }
                written => written,
            }
        },
    )?;
    progress.finish_and_clear();
    if let Some((file, page)) = page
        && input.games > 0
    {
        file.write(&page.finish())?;
    }
    input.end()
}

impl Arguments {
    fn order(&self) -> Result<Order> {
        let nodes = self.nodes.or(self.depth.is_none().then_some(DEFAULT_NODES));
        let limits = Go { nodes, depth: self.depth, ..Go::default() };
        let enough = |nodes: u64| hash_mib(nodes.saturating_mul(SEARCHES));
        let hash = self.hash.unwrap_or(nodes.map_or(DEFAULT_HASH as u64, enough));
        let settings = settings(&[("Hash", hash.to_string())], &self.options)?;
        let plain = Settings::default();
        if settings.style != plain.style {
            bail!(
                "games are annotated by style Cairn: the chances of the other are fitted to nothing"
            );
        }
        if settings.threads > 1 || settings.multi_pv > 1 {
            bail!(
                "each position is searched on one thread for one line: --jobs searches several at a time"
            );
        }
        let processors = || thread::available_parallelism().map_or(1, usize::from);
        let jobs = self.jobs.map_or_else(processors, usize::from);
        Ok(Order { limits, settings, jobs })
    }

    /// Whether what is written is none of what is read, nor written twice.
    fn check_paths(&self) -> Result<()> {
        for path in self.output.iter().chain(&self.html) {
            if let Some(file) = self.files.iter().find(|file| is_same_file(file, path)) {
                bail!("{} would be read and written", file.display());
            }
        }
        if let (Some(output), Some(html)) = (&self.output, &self.html)
            && (output == html || (is_same_file(output, html) && output.is_file()))
        {
            bail!("{} would be written twice", html.display());
        }
        Ok(())
    }

    /// Who annotates, and how.
    fn annotator(&self, order: &Order) -> String {
        let mut text = format!("Cairn {}", version::short());
        let limits = &order.limits;
        for (name, value) in [("nodes", limits.nodes), ("depth", limits.depth.map(Into::into))] {
            if let Some(value) = value {
                text.push_str(&format!(", {name} {value}"));
            }
        }
        text
    }
}

/// What shows the progress, in moves. Where somebody sees it they are counted first, if the files can be read twice.
fn progress(files: &[PathBuf]) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    if !files.iter().all(|path| path.is_file()) {
        return spinner("annotating");
    }
    let games = files.iter().filter_map(|path| open(path).ok()).flatten().filter_map(Result::ok);
    bar(games.map(|entry| entry.game.main.moves.len() as u64).sum())
}

type Source = Reader<Box<dyn BufRead>>;

/// Opens an input.
fn open(path: &Path) -> Result<Source> {
    let name = path.display();
    let mut input: Box<dyn BufRead> = if path == Path::new("-") {
        Box::new(BufReader::new(io::stdin()))
    } else {
        let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
        Box::new(BufReader::with_capacity(BUFFER, file))
    };
    let beginning = input.fill_buf().with_context(|| format!("cannot read {name}"))?;
    if beginning.contains(&0) {
        bail!("{name}: is no text, but a binary file or UTF-16");
    }
    Ok(Reader::new(input))
}

/// The games of all files. What cannot be read is told and passed over.
struct Input<'a> {
    files: slice::Iter<'a, PathBuf>,
    current: Option<(String, Source)>,
    /// How many games were found.
    games: u64,
    /// How often something could not be read.
    faults: u64,
    progress: &'a ProgressBar,
}

impl<'a> Input<'a> {
    fn new(files: &'a [PathBuf], progress: &'a ProgressBar) -> Input<'a> {
        Input { files: files.iter(), current: None, games: 0, faults: 0, progress }
    }

    fn fault(&mut self, text: &str) {
        self.faults += 1;
        tell(self.progress, text);
    }

    /// What there is to complain of after all.
    fn end(self) -> Result<(), Failure> {
        match (self.faults, self.games) {
            (0, 0) => Err(anyhow!("there are no games to annotate").into()),
            (0, _) => Ok(()),
            (1, _) => Err(anyhow!("1 part of the input could not be read").into()),
            (faults, _) => Err(anyhow!("{faults} parts of the input could not be read").into()),
        }
    }
}

impl Iterator for Input<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        loop {
            if let Some((name, reader)) = &mut self.current {
                match reader.next() {
                    Some(Ok(entry)) => {
                        self.games += 1;
                        return Some(entry);
                    }
                    Some(Err(error)) => {
                        let text = format!("{name}: {error}");
                        if matches!(error, PgnError::Input { .. }) {
                            self.current = None;
                        }
                        self.fault(&text);
                    }
                    None => self.current = None,
                }
                continue;
            }
            let path = self.files.next()?;
            match open(path) {
                Ok(reader) => self.current = Some((path.display().to_string(), reader)),
                Err(error) => self.fault(&format!("{error:#}")),
            }
        }
    }
}

/// Where the games go. Each is written at once, so that whatever ends the program leaves whole games.
enum Games {
    Printed,
    /// A file, and where its whole games end if it can be cut there.
    Written(File, PathBuf, Option<u64>),
    /// Nobody reads them any more.
    Unread,
}

impl Games {
    fn open(path: Option<&Path>) -> Result<Games> {
        let Some(path) = path else { return Ok(Games::Printed) };
        let context = || format!("cannot write {}", path.display());
        let file = File::create(path).with_context(context)?;
        let is_regular = file.metadata().with_context(context)?.is_file();
        Ok(Games::Written(file, path.to_owned(), is_regular.then_some(0)))
    }

    fn write(&mut self, text: &[u8]) -> Result<(), Failure> {
        match self {
            Games::Printed => print(&String::from_utf8_lossy(text)),
            Games::Unread => Ok(()),
            Games::Written(file, path, whole) => {
                let written = file.write_all(text).and_then(|()| file.flush());
                if let (Err(_), Some(whole)) = (&written, &*whole) {
                    // What was written of the game is taken back; if that fails too, there is nothing more to try.
                    let _ = file.set_len(*whole).and_then(|()| file.seek(SeekFrom::End(0)));
                }
                written.with_context(|| format!("cannot write {}", path.display()))?;
                *whole = whole.map(|whole| whole + text.len() as u64);
                Ok(())
            }
        }
    }
}

/// Where the page goes: a file that is whole or as it was.
struct PageFile {
    path: PathBuf,
    /// The new file beside it, which takes its place in the end; none for what is no file, such as a device.
    beside: Option<PathBuf>,
}

impl PageFile {
    /// Finds out whether it can be written, before the long work.
    fn new(path: &Path) -> Result<PageFile> {
        let context = || format!("cannot write {}", path.display());
        // Behind a link its target is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if path.exists() && !path.is_file() {
            OpenOptions::new().write(true).open(&path).with_context(context)?;
            return Ok(PageFile { path, beside: None });
        }
        if path.exists() {
            OpenOptions::new().write(true).open(&path).with_context(context)?;
        }
        let name = path.file_name().with_context(context)?.to_string_lossy();
        let beside = path.with_file_name(format!(".{name}.{}.part", process::id()));
        File::create(&beside).and_then(|_| fs::remove_file(&beside)).with_context(context)?;
        Ok(PageFile { path, beside: Some(beside) })
    }

    fn write(self, text: &str) -> Result<()> {
        let context = || format!("cannot write {}", self.path.display());
        let Some(beside) = &self.beside else {
            let mut device =
                OpenOptions::new().write(true).open(&self.path).with_context(context)?;
            return device.write_all(text.as_bytes()).with_context(context);
        };
        let written = File::create(beside).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(beside, &self.path)
        });
        if written.is_err() {
            // It is of no use to anybody.
            let _ = fs::remove_file(beside);
        }
        written.with_context(context)
    }
}
