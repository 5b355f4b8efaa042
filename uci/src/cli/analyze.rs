//! `cairn analyze`: many positions, what is found of each in a form for programs or people.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::path::{Path, PathBuf};
use std::vec;

use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};

use super::output::{exit_when_unread, is_same_file, print, tell};
use super::progress::{bar, spinner};
use super::{Failure, bad_usage, version};
use crate::protocol::Go;
use crate::report::batch::{Analysed, Order, analyze_all, hash_mib};
use crate::report::format::Format;
use crate::report::input::{Position, Positions, Selection};
use crate::report::parts::{Earlier, Shard, merge};
use crate::report::record::{Origin, Record, SCHEMA};
use crate::session::options::{DEFAULT_HASH, Settings};
use crate::session::{network, tables};

/// The limit where none is given, in nodes: the same results on every machine.
const DEFAULT_NODES: u64 = 100_000;

/// How much of a file is read at a time, in bytes.
const BUFFER: usize = 1 << 16;

/// How many faults of the input are told one by one.
const FAULTS_TOLD: u64 = 1000;

/// How the progress is shown where the end is not known.
const WITHOUT_END: &str = "{elapsed_precise} {spinner} {pos} positions, {per_sec}";

/// How the progress is shown where the end is known.
const WITH_END: &str = "{elapsed_precise} {wide_bar} {pos}/{len} positions, {per_sec}, {eta} left";

/// Analyse many positions, each by itself: FEN, EPD, or every position of games in PGN
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// What is analysed; - is standard input
    #[arg(default_value = "-")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    search: Search,
    #[command(flatten)]
    selection: SelectionArguments,
    /// How results are written: jsonl, but text to a terminal
    #[arg(long, value_enum)]
    format: Option<FormatArgument>,
    /// How many positions are searched at the same time; the results do not depend on it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,
    /// Go on with results that were broken off, in this file, and add the rest to it
    #[arg(long, value_name = "OUT")]
    resume: Option<PathBuf>,
    /// Only the positions whose number modulo N is I: each of N machines does its part
    #[arg(long, value_name = "I/N")]
    shard: Option<String>,
    /// Put the results of all shards together; the files are theirs, EPD in the order of the shards
    #[arg(long, conflicts_with_all = ["resume", "shard", "moves", "player", "format"])]
    merge: bool,
    /// Print the JSON Schema of the results
    #[arg(long)]
    schema: bool,
}

/// How long and how each position is searched.
#[derive(clap::Args)]
#[command(next_help_heading = "How it is searched")]
struct Search {
    /// Nodes for each position; 100000 without any other limit
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// The last iteration, in plies
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u8).range(1..))]
    depth: Option<u8>,
    /// Stop at a mate in so many moves
    #[arg(long, value_name = "MOVES", value_parser = clap::value_parser!(u8).range(1..))]
    mate: Option<u8>,
    /// Milliseconds for each position; the results then depend on the machine
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(i64).range(1..))]
    movetime: Option<i64>,
    /// How many of the best lines are told
    #[arg(long, value_name = "LINES", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    multipv: u16,
    /// The hash table of each search in MiB; without it one for 100000 nodes
    #[arg(long, value_name = "MIB")]
    hash: Option<u64>,
    /// Sets a UCI option, such as Style=MicroMax; may be given several times
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
}

/// Which positions of games.
#[derive(clap::Args)]
#[command(next_help_heading = "What is taken from games")]
struct SelectionArguments {
    /// Only the positions of these moves, such as 10-30
    #[arg(long, value_name = "FROM-TO", allow_hyphen_values = true)]
    moves: Option<String>,
    /// Only the positions in which this player is to move; a part of the name will do
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
}

/// [`Format`] as an argument.
#[derive(Clone, Copy, ValueEnum)]
enum FormatArgument {
    /// A JSON object a line
    Jsonl,
    /// For people
    Text,
    /// EPD with bm, ce, acd and pv
    Epd,
    /// Comma-separated values, the best line only
    Csv,
}

/// Analyses, or puts together what was analysed.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.schema {
        return print(SCHEMA);
    }
    if arguments.merge {
        exit_when_unread(0);
        return merge(&arguments.files, &mut print);
    }
    let order = arguments.order().map_err(bad_usage)?;
    let format = arguments.format().map_err(bad_usage)?;
    let shard = match &arguments.shard {
        Some(text) => Shard::parse(text).map_err(bad_usage)?,
        None => Shard::WHOLE,
    };
    let selection = arguments.selection().map_err(bad_usage)?;
    let origin =
        origin(&order.settings, describe(&order, &arguments.search.options)).map_err(bad_usage)?;
    let (earlier, mut output) = match &arguments.resume {
        None => {
            exit_when_unread(0);
            print(format.head())?;
            (None, None)
        }
        Some(path) => {
            let is_output = |file: &PathBuf| is_same_file(file, path);
            if let Some(file) = arguments.files.iter().find(|file| is_output(file)) {
                return Err(bad_usage(anyhow!("{} would be read and written", file.display())));
            }
            let (earlier, output) = Earlier::open(path, format, &origin)?;
            (Some(earlier), Some(output))
        }
    };
    let progress = progress(&arguments.files, &selection, shard);
    let input = Input {
        files: arguments.files.clone().into_iter(),
        current: None,
        selection,
        shard,
        earlier,
        next: 0,
        faults: 0,
        failed: None,
        progress: progress.clone(),
    };
    let mut told = Vec::new();
    let done = analyze_all(order, input, &mut |Analysed { position, found, notes }| {
        for note in notes {
            if !told.contains(&note) {
                let source = &position.source;
                tell(&progress, &format!("{}, line {}: {note}", source.file, source.line));
                told.push(note);
            }
        }
        let record = Record::new(&position, &found, &origin);
        let text = format.write(&record, &position);
        progress.inc(1);
        match &mut output {
            None => progress.suspend(|| print(&text)),
            Some(file) => Ok(file.append(&text)?),
        }
    });
    progress.finish_and_clear();
    done?.end()
}

impl Arguments {
    fn order(&self) -> Result<Order> {
        let search = &self.search;
        let has_limit =
            search.depth.is_some() || search.mate.is_some() || search.movetime.is_some();
        let nodes = search.nodes.or((!has_limit).then_some(DEFAULT_NODES));
        let limits = Go {
            nodes,
            depth: search.depth,
            mate: search.mate,
            move_time: search.movetime,
            ..Go::default()
        };
        let hash = search.hash.unwrap_or(nodes.map_or(DEFAULT_HASH as u64, hash_mib));
        let own = [("MultiPV", search.multipv.to_string()), ("Hash", hash.to_string())];
        let settings = settings(&own, &search.options)?;
        Ok(Order { limits, settings, jobs: self.jobs.into() })
    }

    fn format(&self) -> Result<Format> {
        let format = match self.format {
            Some(FormatArgument::Jsonl) => Format::Jsonl,
            Some(FormatArgument::Text) => Format::Text,
            Some(FormatArgument::Epd) => Format::Epd,
            Some(FormatArgument::Csv) => Format::Csv,
            None if self.resume.is_none() && io::stdout().is_terminal() => Format::Text,
            None => Format::Jsonl,
        };
        if self.resume.is_some() && format == Format::Text {
            bail!("--resume needs a format for programs: jsonl, epd or csv");
        }
        Ok(format)
    }

    fn selection(&self) -> Result<Selection> {
        let moves = self.selection.moves.as_deref().map(Selection::parse_moves).transpose()?;
        Ok(Selection { moves, player: self.selection.player.clone() })
    }
}

/// The options of an analysis: its own, those that were given, and scores with their chances.
///
/// # Errors
/// When an option cannot be had, or makes no sense in an analysis.
pub(super) fn settings(own: &[(&str, String)], given: &[String]) -> Result<Settings> {
    // Last, as results always hold the chances.
    let chances = ("UCI_ShowWDL", "true");
    let own = own.iter().map(|(name, value)| Some((*name, &**value)));
    let given = given.iter().map(|option| option.split_once('='));
    let mut settings = Settings::default();
    for pair in own.chain(given).chain([Some(chances)]) {
        let Some((name, value)) = pair else { bail!("--option is written --option NAME=VALUE") };
        if let Err(text) | Ok(Some(text)) = settings.set(name.trim(), Some(value.trim())) {
            bail!("{text}");
        }
    }
    if !settings.log_file.is_empty() {
        bail!("an analysis keeps no log");
    }
    if settings.threads > 1 && !settings.deterministic {
        bail!("each position is searched on one thread: --jobs searches several at a time");
    }
    Ok(settings)
}

/// The limits and options in words, by which results can be made again.
fn describe(order: &Order, options: &[String]) -> String {
    let (limits, settings) = (&order.limits, &order.settings);
    let mut words = Vec::new();
    let mut add = |name: &str, value: Option<u64>| {
        words.extend(value.map(|value| format!("{name} {value}")));
    };
    add("nodes", limits.nodes);
    add("depth", limits.depth.map(Into::into));
    add("mate", limits.mate.map(Into::into));
    add("movetime", limits.move_time.map(|time| time.unsigned_abs()));
    add("multipv", Some(settings.multi_pv as u64));
    add("hash", Some(settings.hash_mib as u64));
    words.extend(options.iter().map(|option| format!("option {option}")));
    words.join(" ")
}

/// Who searches how, as the results tell it.
///
/// # Errors
/// When the network of the options cannot be read.
pub(super) fn origin(settings: &Settings, limits: String) -> Result<Origin> {
    let loaded =
        network::chosen(&mut settings.eval_file.clone()).map_err(|refusal| anyhow!(refusal))?;
    let tables = tables::chosen(&mut settings.syzygy_path.clone());
    Ok(Origin {
        engine: format!("Cairn {}", version::short()),
        limits,
        network: network::playing(loaded.as_ref()).map(|network| network.identity().to_string()),
        tables: tables.checksum.map(|checksum| checksum.to_string()),
    })
}

/// Opens an input.
fn open(path: &Path, selection: &Selection) -> Result<Positions<Box<dyn BufRead + Send>>> {
    let name = path.display().to_string();
    let input: Box<dyn BufRead + Send> = if name == "-" {
        Box::new(BufReader::new(io::stdin()))
    } else {
        let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
        Box::new(BufReader::with_capacity(BUFFER, file))
    };
    Positions::new(&name, input, selection.clone())
}

/// What shows the progress. Where somebody sees it, the positions are counted first, if they can be read
/// twice.
fn progress(files: &[PathBuf], selection: &Selection, shard: Shard) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    if !files.iter().all(|path| path.is_file()) {
        return styled(spinner(""), WITHOUT_END);
    }
    let positions = files
        .iter()
        .filter_map(|path| open(path, selection).ok())
        .flat_map(|positions| positions.filter_map(Result::ok));
    let count = (0..).zip(positions).filter(|&(index, _)| shard.has(index)).count();
    styled(bar(count as u64), WITH_END)
}

fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    // The templates are well-formed; another style would be no reason to stop.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

/// The positions of all files that are to be searched. What cannot be read is told and passed over.
struct Input {
    files: vec::IntoIter<PathBuf>,
    current: Option<Positions<Box<dyn BufRead + Send>>>,
    selection: Selection,
    shard: Shard,
    /// The results that are there already.
    earlier: Option<Earlier>,
    /// The number of the next position.
    next: u64,
    /// How often something could not be read.
    faults: u64,
    /// Why nothing more is searched.
    failed: Option<anyhow::Error>,
    progress: ProgressBar,
}

impl Input {
    fn fault(&mut self, text: &str) {
        self.faults += 1;
        if self.faults <= FAULTS_TOLD {
            tell(&self.progress, text);
        } else if self.faults == FAULTS_TOLD + 1 {
            tell(&self.progress, "there is more that cannot be read, which is only counted");
        }
    }

    /// The next position of any file.
    fn read(&mut self) -> Option<Position> {
        loop {
            if let Some(current) = &mut self.current {
                match current.next() {
                    Some(Ok(position)) => return Some(position),
                    Some(Err(error)) => self.fault(&error.to_string()),
                    None => self.current = None,
                }
                continue;
            }
            match open(&self.files.next()?, &self.selection) {
                Ok(positions) => self.current = Some(positions),
                Err(error) => self.fault(&format!("{error:#}")),
            }
        }
    }

    /// Whether a position is to be searched. It is not if its result is there or another one is.
    fn is_open(&mut self, position: &Position) -> bool {
        if !self.shard.has(position.index) {
            return false;
        }
        match self.earlier.as_mut().map_or(Ok(false), |earlier| earlier.has(position)) {
            Ok(true) => {
                self.progress.inc(1);
                false
            }
            Ok(false) => true,
            Err(error) => {
                self.failed = Some(error);
                false
            }
        }
    }

    /// What there is to complain of after all.
    fn end(self) -> Result<(), Failure> {
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        if let Some(mut earlier) = self.earlier {
            earlier.finish()?;
        }
        match (self.faults, self.next) {
            (0, 0) => Err(anyhow!("there are no positions to analyse").into()),
            (0, _) => Ok(()),
            (1, _) => Err(anyhow!("1 part of the input could not be read").into()),
            (faults, _) => Err(anyhow!("{faults} parts of the input could not be read").into()),
        }
    }
}

impl Iterator for Input {
    type Item = Position;

    fn next(&mut self) -> Option<Position> {
        while self.failed.is_none() {
            let mut position = self.read()?;
            position.index = self.next;
            self.next += 1;
            if self.is_open(&position) {
                return Some(position);
            }
        }
        None
    }
}
