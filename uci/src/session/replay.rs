//! Repeats a session from its log and compares the output.
//!
//! All that has an effect on searches is repeated in order: options, `isready` (which applies them), new
//! games, positions, searches. No clock runs: a search that ended by its own limits gets the same limits, and one that was cut by a
//! clock or a `stop` ends at its node count in the log.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};
use cairn_engine::eval::PackedNetwork;
use cairn_engine::search::Style;

use crate::protocol::{self, Command, Reply, quote};
use crate::session::controller::{Controller, Manner};
use crate::session::files::Checksum;
use crate::session::game::Game;
use crate::session::log::{
    self, ANY_TITLE, BEGIN, END, IS, LOADED, Mark, NETWORK, NOTHING, SAVED, TABLES, TITLE,
};

use crate::session::messages::{Cut, Ending, STACK};
use crate::session::network;
use crate::session::options::{
    HASH_FILE, LOAD_HASH, OptionKind, SAVE_HASH, SYZYGY_PATH, Settings, UciOption,
};
use crate::session::reader::{self, MAX_LINE};
use crate::session::saved;
use crate::session::tables;
use crate::session::writer::Writer;
use crate::signature;

/// May stand before the first line.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The longest line of a log that is read, in bytes. Input is logged up to `MAX_LINE`, each byte of which
/// may take three if it is not UTF-8.
const MAX_LOG_LINE: u64 = 4 * MAX_LINE as u64;

/// The longest log that is read, in bytes: months of games.
const MAX_LOG: u64 = 1 << 30;

/// The longest file that is loaded for a replay, in bytes.
const MAX_LOADED: u64 = 1 << 30;

/// Whether a line is the first of a log, of whatever version.
fn has_title(line: &str) -> bool {
    line.trim_start_matches(BYTE_ORDER_MARK).starts_with(ANY_TITLE)
}

/// A session, read from its log.
#[derive(Debug, Default)]
pub struct Session {
    /// The program that wrote the log.
    engine: String,
    /// The node count of its short bench.
    bench: Option<u64>,
    /// What tells the network that played from others.
    network: Option<String>,
    /// The input that has an effect on searches.
    actions: Vec<Action>,
    /// The searches that were answered.
    searches: Vec<LoggedSearch>,
    /// The files that were loaded: the option that named each, and the checksum.
    loaded: Vec<(String, Checksum)>,
    /// The files that take their places: the option, and the path.
    given: Vec<(String, String)>,
    /// Why not all of the log is repeated, if so.
    missing: Option<String>,
}

/// Something to repeat.
#[derive(Debug)]
enum Action {
    /// An option, `isready`, a new game or a position.
    Line(String),
    /// A search.
    Go(String),
}

impl Action {
    fn line(&self) -> &str {
        match self {
            Action::Line(line) | Action::Go(line) => line,
        }
    }
}

impl LoggedSearch {
    /// Whether a clock or a `stop` has ended it.
    fn is_cut(&self) -> bool {
        matches!(self.ending, Some(Ending::Cut(_)))
    }

    /// Whether it ended in an internal error.
    fn is_broken(&self) -> bool {
        self.point().is_none()
    }

    /// Where it ended, unless it broke.
    fn point(&self) -> Option<Cut> {
        self.ending.and_then(Ending::point)
    }
}

/// A search that was answered.
#[derive(Clone, Debug, Default)]
struct LoggedSearch {
    position: String,
    go: String,
    /// It is one of style MicroMax.
    is_micromax: bool,
    /// How it ended; missing until that is read.
    ending: Option<Ending>,
    /// The line that says so, with its number in the log.
    end_line: (usize, String),
    /// Its output without what depends on time, each with its line number in the log.
    said: Vec<(usize, String)>,
}

/// The result of a replay.
#[derive(Debug)]
pub struct ReplayResult {
    searches: usize,
    nodes: u64,
    /// A remark on the build.
    remark: Option<String>,
    missing: Option<String>,
    difference: Option<Difference>,
}

/// The first difference between log and replay.
#[derive(Clone, Debug)]
struct Difference {
    number: usize,
    search: LoggedSearch,
    /// The line of the log, with its number.
    logged: Option<(usize, String)>,
    /// The line of the replay.
    replayed: Option<String>,
}

impl ReplayResult {
    /// The exit code: 0 when all was the same, 1 after a difference, 3 when the log is incomplete but the
    /// same as far as it goes.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match (&self.difference, &self.missing) {
            (Some(_), _) => 1,
            (None, Some(_)) => 3,
            (None, None) => 0,
        }
    }
}

impl fmt::Display for ReplayResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(remark) = &self.remark {
            writeln!(f, "{remark}")?;
        }
        if let Some(missing) = &self.missing {
            writeln!(f, "{missing}")?;
        }
        match &self.difference {
            Some(difference) => difference.fmt(f),
            None => write!(f, "{} searches with {} nodes: all the same", self.searches, self.nodes),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LoggedSearch { position, go, .. } = &self.search;
        let how = if self.search.is_cut() { "cut" } else { "ended" };
        let nodes = self.search.point().unwrap_or_default().nodes;
        let logged = match &self.logged {
            Some((number, line)) => format!("line {number}: {line}"),
            None => "nothing more".to_owned(),
        };
        let replayed = self.replayed.as_deref().unwrap_or("nothing more");
        write!(
            f,
            "search {} differs\n  after     {position}\n  asked     {go}\n  {how:<9} at {nodes} nodes\n  \
             log       {logged}\n  replay    {replayed}",
            self.number
        )
    }
}

impl Session {
    /// Reads a log, which may come from a pipe: it ends where no log goes on.
    ///
    /// # Errors
    /// When it cannot be read; as for [`Session::parse`].
    pub fn read(mut input: impl BufRead) -> Result<Session> {
        let mut bytes = Vec::new();
        loop {
            let start = bytes.len();
            let length = input.by_ref().take(MAX_LOG_LINE).read_until(b'\n', &mut bytes)? as u64;
            if length == MAX_LOG_LINE && bytes.last() != Some(&b'\n') {
                bail!("this is no log of Cairn: it has a line of more than {MAX_LOG_LINE} bytes");
            }
            if bytes.len() as u64 > MAX_LOG {
                bail!("it has more than {MAX_LOG} bytes");
            }
            let is_other = start == 0 && !has_title(&String::from_utf8_lossy(&bytes));
            if length == 0 || is_other {
                return Session::parse(&bytes);
            }
        }
    }

    /// Reads a log.
    ///
    /// # Errors
    /// When this is no log, is damaged, or has a session that cannot be repeated.
    pub fn parse(bytes: &[u8]) -> Result<Session> {
        let text = String::from_utf8_lossy(bytes);
        Parser::default().parse(&text)
    }

    /// Takes the files that the session needs: options with their paths.
    ///
    /// # Errors
    /// When one of them is not what was loaded the first time, or is missing.
    pub fn with_files(mut self, given: Vec<(String, String)>) -> Result<Session> {
        let mut settings = Settings::default();
        for (name, path) in &given {
            let Some(UciOption { kind: OptionKind::File { .. }, .. }) = UciOption::named(name)
            else {
                bail!("'{}' is no option that names a file", quote(name));
            };
            settings.set(name, Some(path)).map_err(|refusal| anyhow!(refusal.about))?;
        }
        for (name, logged) in &self.loaded {
            let Some(UciOption { name, kind: OptionKind::File { get, .. }, .. }) =
                UciOption::named(name)
            else {
                bail!("a file was loaded for '{}', which is no option that names one", quote(name));
            };
            let mut path = get(&settings).clone();
            if path.is_empty() {
                let quotes = if name.contains(' ') { "'" } else { "" };
                bail!(
                    "a file was loaded for {name}: give it anew, --option {quotes}{name}=FILE{quotes}"
                );
            }
            if *name == HASH_FILE {
                let found = saved::checksum(&path);
                let told = found.map_err(|reason| anyhow!("'{}': {reason}", quote(path.text())));
                path.note_checksum(Some(told?));
            } else if *name == SYZYGY_PATH {
                // Its remarks say no more than the checksum does.
                let _ = tables::chosen(&mut path);
            } else {
                path.load(MAX_LOADED)
                    .with_context(|| format!("cannot read '{}'", quote(path.text())))?;
            }
            if path.checksum() != Some(*logged) {
                bail!("'{}' is not the file that was loaded for {name}", quote(path.text()));
            }
        }
        let had_tables = self.loaded.iter().any(|(name, _)| name.eq_ignore_ascii_case(SYZYGY_PATH));
        if !settings.syzygy_path.is_empty() && !had_tables {
            bail!("it was played without endgame tables: leave out {SYZYGY_PATH}");
        }
        let given_network = network::chosen(&mut settings.eval_file);
        self.check_network(given_network.map_err(|refusal| anyhow!(refusal))?.as_ref())?;
        self.given = given;
        Ok(self)
    }

    /// Makes sure that the network plays that played in the session.
    fn check_network(&self, given: Option<&Arc<PackedNetwork>>) -> Result<()> {
        let plays = network::identity(given);
        match &self.network {
            Some(played) if *played != plays => bail!(
                "it was played with another network ({}) than this one ({plays}): give it, \
                 --option EvalFile=FILE",
                quote(played)
            ),
            _ => Ok(()),
        }
    }

    /// Repeats the session up to the first difference.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn replay(self) -> Result<ReplayResult> {
        let remark = self.remark()?;
        let endings: VecDeque<Ending> =
            self.searches.iter().filter_map(|search| search.ending).collect();
        let lines: Vec<String> =
            self.actions.iter().map(|action| action.line().to_owned()).collect();
        let points = self.searches.iter().filter_map(LoggedSearch::point);
        let nodes = points.fold(0u64, |sum, point| sum.saturating_add(point.nodes));
        let searches = self.searches.len();
        let comparison = Arc::new(Mutex::new(Comparison::new(self.searches)));
        let (judge, gate) = (Arc::clone(&comparison), Gate(Arc::clone(&comparison)));
        let writer =
            Writer::spawn_with(gate, move |reply, _| lock(&judge).take(&reply.to_string()))?;
        let mut controller = Controller::new(reader::script(lines), writer, Manner::Patient)?;
        let judge = Arc::clone(&comparison);
        controller.follow(endings, &self.given, move |ending| {
            lock(&judge).endings.push_back(ending);
        })?;
        // The gate breaks the output at the first difference.
        let _ = controller.run();
        let difference = lock(&comparison).result();
        Ok(ReplayResult { searches, nodes, remark, missing: self.missing, difference })
    }

    /// The remark on a log of another build. It is replayed all the same, as the searches may be equal.
    fn remark(&self) -> Result<Option<String>> {
        let nodes = thread::Builder::new()
            .stack_size(STACK)
            .spawn(signature::nodes)?
            .join()
            .map_err(|_| anyhow!("internal error"))??;
        let program = log::engine();
        let is_ours = self.engine == program && self.bench.is_none_or(|logged| logged == nodes);
        Ok((!is_ours).then(|| {
            let bench = self.bench.map_or("unknown".to_owned(), |logged| logged.to_string());
            format!(
                "{} with bench {bench} has written this log; this program has bench {nodes} and is {program}, \
                 so differences are no surprise",
                quote(&self.engine)
            )
        }))
    }
}

/// Reads a log line by line.
#[derive(Default)]
struct Parser {
    session: Session,
    /// The last position that came in.
    position: String,
    /// Style MicroMax is chosen.
    is_micromax: bool,
    /// The searches not answered yet, with their index in the actions.
    asked: VecDeque<(usize, LoggedSearch)>,
    /// The same index of each `isready` that is not answered yet.
    unready: VecDeque<usize>,
    /// The same of each `Save Hash` and `Load Hash` whose end is not told yet.
    hash_files: VecDeque<usize>,
    /// How many searches have ended.
    ended: usize,
    /// The last line has been read.
    is_whole: bool,
}

impl Parser {
    fn parse(mut self, text: &str) -> Result<Session> {
        // Some editors put a byte-order mark before the first line.
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let (whole_lines, rest) = match text.rfind('\n') {
            Some(end) => text.split_at(end + 1),
            None => ("", text),
        };
        let mut lines = whole_lines.lines().enumerate().map(|(index, line)| (index + 1, line));
        match lines.next() {
            Some((_, TITLE)) => {}
            Some((_, other)) if has_title(other) => {
                bail!("'{}' is another format than '{TITLE}'", quote(other))
            }
            _ => bail!("this is no log of Cairn: it does not begin with '{TITLE}'"),
        }
        self.read_header(&mut lines)?;
        for (number, line) in lines {
            self.read_line(number, line).with_context(|| place(number, line))?;
        }
        if !self.is_whole || !rest.is_empty() {
            self.session.missing.get_or_insert_with(|| {
                format!(
                    "the log was broken off after {} whole searches: it has no last line '{END}'",
                    self.session.searches.len()
                )
            });
        }
        self.forget_the_unanswered();
        Ok(self.session)
    }

    fn read_header<'a>(
        &mut self,
        lines: &mut impl Iterator<Item = (usize, &'a str)>,
    ) -> Result<()> {
        for (number, line) in lines {
            let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
            match kind {
                "#" => {}
                "engine" => self.session.engine = rest.to_owned(),
                "option" => self.take_first_value(rest).with_context(|| place(number, line))?,
                LOADED => self.take_loaded(rest).with_context(|| place(number, line))?,
                NETWORK => self.session.network = Some(rest.to_owned()),
                "position" => {
                    self.take_first_position(line).with_context(|| place(number, line))?
                }
                _ if line == BEGIN => return Ok(()),
                _ => bail!("{}: damaged: nobody knows what this means", place(number, line)),
            }
        }
        bail!("the log ends inside its header")
    }

    /// Takes the value that an option had at the beginning. As the option itself has told it, it is one
    /// that the option takes.
    fn take_first_value(&mut self, text: &str) -> Result<()> {
        let (name, value) =
            text.split_once(IS.trim_end()).context("damaged: it has no value of an option")?;
        let line = format!("setoption name {name} value {value}");
        if let Ok(Some(Command::SetOption { name, value })) = protocol::parse(line.as_bytes()) {
            let names_file = UciOption::named(&name)
                .is_some_and(|option| matches!(option.kind, OptionKind::File { .. }));
            let set = Settings::default().set(&name, value.as_deref());
            // What files there were is not looked at: a replay opens none of them.
            if !names_file && let Err(remark) | Ok(Some(remark)) = set {
                bail!("damaged: {}", remark.about);
            }
        }
        self.take_input(&line);
        Ok(())
    }

    /// Takes the position at the beginning.
    fn take_first_position(&mut self, line: &str) -> Result<()> {
        let position = match protocol::parse(line.as_bytes()) {
            Ok(Some(Command::Position(position))) => position,
            Ok(_) => bail!("damaged: this is no position"),
            Err(refusal) => bail!("damaged: {refusal}"),
        };
        if let Err(remark) | Ok(Some(remark)) = Game::default().set(position) {
            bail!("damaged: {remark}");
        }
        self.take_position(line);
        Ok(())
    }

    /// Takes what tells of a file that was loaded.
    fn take_loaded(&mut self, text: &str) -> Result<()> {
        let (name, checksum) = text.split_once(IS).context("damaged: it has no checksum")?;
        let checksum = checksum.parse().context("damaged: this is no checksum")?;
        self.session.loaded.push((name.to_owned(), checksum));
        Ok(())
    }

    /// Reads a line behind the header.
    fn read_line(&mut self, number: usize, line: &str) -> Result<()> {
        let mut parts = line.splitn(3, ' ');
        let (time, mark) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let text = parts.next().unwrap_or_default();
        time.parse::<f64>().context("damaged: it has no time")?;
        let mark = Mark::ALL.into_iter().find(|known| known.text() == mark);
        if self.is_whole {
            bail!("damaged: it stands behind the end");
        }
        match mark.context("damaged: it has no mark")? {
            Mark::In => self.take_input(text),
            Mark::Out => return self.take_output(number, text),
            Mark::Fact => return self.take_fact(number, text),
        }
        Ok(())
    }

    /// Keeps input that has an effect on searches.
    fn take_input(&mut self, text: &str) {
        match protocol::parse(text.as_bytes()) {
            Ok(Some(Command::SetOption { name, .. }))
                if name.eq_ignore_ascii_case("Debug Log File") => {}
            Ok(Some(Command::Position(_))) => self.take_position(text),
            Ok(Some(Command::Go(_))) => {
                let search = LoggedSearch {
                    position: self.position.clone(),
                    go: text.to_owned(),
                    is_micromax: self.is_micromax,
                    ..LoggedSearch::default()
                };
                self.asked.push_back((self.session.actions.len(), search));
                self.session.actions.push(Action::Go(text.to_owned()));
            }
            Ok(Some(Command::IsReady)) => {
                self.unready.push_back(self.session.actions.len());
                self.session.actions.push(Action::Line(text.to_owned()));
            }
            Ok(Some(Command::SetOption { name, value })) => {
                let has_end = [SAVE_HASH, LOAD_HASH];
                if has_end.iter().any(|button| name.eq_ignore_ascii_case(button)) {
                    self.hash_files.push_back(self.session.actions.len());
                }
                if name.eq_ignore_ascii_case("Style") {
                    self.is_micromax =
                        value.and_then(|value| value.parse().ok()) == Some(Style::MicroMax);
                }
                self.session.actions.push(Action::Line(text.to_owned()));
            }
            Ok(Some(Command::NewGame)) => {
                self.session.actions.push(Action::Line(text.to_owned()));
            }
            // Nothing else has an effect on searches.
            _ => {}
        }
    }

    fn take_position(&mut self, line: &str) {
        line.clone_into(&mut self.position);
        self.session.actions.push(Action::Line(line.to_owned()));
    }

    /// Keeps the output of a search.
    fn take_output(&mut self, number: usize, text: &str) -> Result<()> {
        if text == Reply::ReadyOk.to_string() {
            self.unready.pop_front();
        }
        let Some(line) = comparable(text) else { return Ok(()) };
        let Some((_, search)) = self.asked.front_mut() else {
            bail!("damaged: nothing was asked that this could answer");
        };
        let is_answer = line.starts_with("bestmove");
        if is_answer && search.is_micromax && search.is_cut() {
            // The nodes of MicroMax's further lines do not count, so that nobody knows where in them it was cut.
            while search.said.last().is_some_and(|(_, said)| is_further_line(said)) {
                search.said.pop();
            }
        }
        if !search.said.iter().any(|(_, said)| *said == line) {
            search.said.push((number, line));
        }
        if !is_answer {
            return Ok(());
        }
        if self.ended != self.session.searches.len() + 1 {
            bail!("damaged: the line '== search' before it is missing");
        }
        self.session.searches.extend(self.asked.pop_front().map(|(_, search)| search));
        Ok(())
    }

    /// Takes a fact.
    fn take_fact(&mut self, number: usize, text: &str) -> Result<()> {
        let words: Vec<&str> = text.split(' ').collect();
        match words.as_slice() {
            ["bench", nodes] => self.session.bench = Some(parse_number(nodes)?),
            ["hash", mib] => {
                let mib = parse_number(mib)?;
                // The size was found out by the search or `isready` that was to apply it.
                let actions = &mut self.session.actions;
                let searches = self.asked.iter_mut().map(|(place, _)| place);
                let files = &mut self.hash_files;
                let mut waiting: Vec<&mut usize> =
                    searches.chain(&mut self.unready).chain(files).collect();
                let place = waiting.iter().map(|place| **place).min().unwrap_or(actions.len());
                actions.insert(place, Action::Line(format!("setoption name Hash value {mib}")));
                waiting.iter_mut().for_each(|place| **place += 1);
            }
            ["search", count, how, rest @ ..] => {
                self.ended += 1;
                if count.parse() != Ok(self.ended) {
                    bail!("damaged: this should be search {}", self.ended);
                }
                self.take_ending(how, rest)?;
                if let Some((_, search)) = self.asked.front_mut() {
                    search.end_line = (number, text.to_owned());
                }
            }
            [NETWORK, ..] => bail!("another network plays from here on, but a replay has one"),
            [TABLES, ..] => {
                bail!("other endgame tables are asked from here on, but a replay has one set")
            }
            [SAVED, ..] => {
                self.hash_files.pop_front();
            }
            [LOADED, rest @ ..] => {
                let told = text[LOADED.len()..].trim_start();
                let is_hash_file = told.starts_with(HASH_FILE);
                let place = self.hash_files.pop_front_if(|_| is_hash_file);
                if rest.last() != Some(&NOTHING) {
                    return self.take_loaded(told);
                }
                // All that came of it is that the options were applied.
                if let Some(place) = place {
                    self.session.actions[place] = Action::Line(Command::IsReady.to_string());
                }
            }
            [END] => self.is_whole = true,
            _ => bail!("damaged: nobody knows what this means"),
        }
        Ok(())
    }

    /// Takes the end of a search.
    fn take_ending(&mut self, how: &str, rest: &[&str]) -> Result<()> {
        let mut point = Cut::default();
        let mut threads = 1;
        for pair in rest.chunks(2) {
            let [name, value] = pair else { bail!("damaged: a number is missing") };
            let value = parse_number(value)?;
            match *name {
                "nodes" => point.nodes = value,
                "retry" => point.retry = Some(value),
                "main" => point.main = Some(value),
                "threads" => threads = value,
                _ => bail!("damaged: there is no '{}'", quote(name)),
            }
        }
        if threads > 1 && point.main.is_none() {
            bail!(
                "this search ran on {threads} threads at once; which of them learns what first is chance, \
                 so it cannot be repeated: with the option Deterministic it could"
            );
        }
        let Some((_, search)) = self.asked.front_mut() else {
            bail!("damaged: nobody asked for a search")
        };
        search.ending = Some(match how {
            "ended" => Ending::Itself(point),
            "cut" => Ending::Cut(point),
            "broke" => {
                self.session.missing.get_or_insert(format!(
                    "search {} ended in an internal error; only what came before it is repeated",
                    self.ended
                ));
                Ending::Broke
            }
            _ => bail!("damaged: a search has either ended or was cut"),
        });
        Ok(())
    }

    /// Drops what comes behind the last search that can be repeated.
    fn forget_the_unanswered(&mut self) {
        let sound = self.session.searches.iter().take_while(|search| !search.is_broken()).count();
        self.session.searches.truncate(sound);
        let mut left = self.session.searches.len();
        self.session.actions.retain(|action| {
            let keep = left > 0;
            left -= usize::from(keep && matches!(action, Action::Go(_)));
            keep
        });
    }
}

/// Where a line stands, and what it says.
fn place(number: usize, line: &str) -> String {
    format!("line {number} of the log, '{}'", quote(line))
}

fn parse_number(text: &str) -> Result<u64> {
    text.parse().with_context(|| format!("damaged: '{}' is no number", quote(text)))
}

/// A line of a search without what depends on time; none for other lines. Bounds are left out, as
/// whether they are sent depends on time.
fn comparable(line: &str) -> Option<String> {
    let is_bound = [" lowerbound ", " upperbound "].iter().any(|word| line.contains(word));
    let is_line = line.starts_with("info ")
        && !line.starts_with("info string")
        && line.contains(" score ")
        && !is_bound;
    if line.starts_with("bestmove") {
        return Some(line.to_owned());
    }
    let mut words = line.split(' ');
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "time" | "nps" => {
                words.next();
            }
            _ => kept.push(word),
        }
    }
    is_line.then(|| kept.join(" "))
}

/// Whether this is a line of MultiPV behind the first.
fn is_further_line(line: &str) -> bool {
    line.split_once(" multipv ").is_some_and(|(_, rest)| !rest.starts_with("1 "))
}

/// Compares the output with the log, line by line.
struct Comparison {
    searches: VecDeque<LoggedSearch>,
    number: usize,
    /// What the search has said in the replay.
    said: Vec<String>,
    /// How many lines of the log that was.
    matched: usize,
    /// How the searches have ended in the replay whose answers are not compared yet.
    endings: VecDeque<Ending>,
    difference: Option<Difference>,
}

impl Comparison {
    fn new(searches: Vec<LoggedSearch>) -> Comparison {
        Comparison {
            searches: searches.into(),
            number: 1,
            said: Vec::new(),
            matched: 0,
            endings: VecDeque::new(),
            difference: None,
        }
    }

    /// Takes a line of output. If a search was cut between the lines of an iteration with MultiPV, its
    /// replay may finish the iteration.
    fn take(&mut self, line: &str) {
        let Some(line) = comparable(line).filter(|_| self.difference.is_none()) else { return };
        let Some(search) = self.searches.front() else { return };
        if self.said.contains(&line) {
            return;
        }
        let is_answer = line.starts_with("bestmove");
        let is_further = is_further_line(&line);
        match search.said.get(self.matched) {
            Some((_, expected)) if *expected == line => self.matched += 1,
            Some((_, expected))
                if search.is_cut() && is_further && expected.starts_with("bestmove") => {}
            other => {
                let logged = other.cloned();
                return self.differ(logged, Some(line));
            }
        }
        self.said.push(line);
        if is_answer {
            self.finish_search();
        }
    }

    /// Compares where a search has ended, and goes on to the next.
    fn finish_search(&mut self) {
        let Some(search) = self.searches.front() else { return };
        let point = self.endings.pop_front().and_then(Ending::point);
        if point != search.point() {
            let replayed = point.map(|Cut { nodes, .. }| format!("ended at {nodes} nodes"));
            let logged = search.end_line.clone();
            return self.differ(Some(logged), replayed);
        }
        self.searches.pop_front();
        self.said.clear();
        self.matched = 0;
        self.number += 1;
    }

    /// Keeps the first difference: a line of the log with its number, and the line of the replay.
    fn differ(&mut self, logged: Option<(usize, String)>, replayed: Option<String>) {
        let Some(search) = self.searches.pop_front() else { return };
        self.difference = Some(Difference { number: self.number, search, logged, replayed });
    }

    /// The first difference, or the first search that is missing.
    fn result(&mut self) -> Option<Difference> {
        if self.difference.is_none() {
            let next = self.searches.front().and_then(|search| search.said.get(self.matched));
            let logged = next.cloned();
            self.differ(logged, None);
        }
        self.difference.take()
    }
}

/// The output of a replay: discards everything, and breaks at the first difference, which ends it.
struct Gate(Arc<Mutex<Comparison>>);

impl Write for Gate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.flush().map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        match lock(&self.0).difference {
            Some(_) => Err(io::ErrorKind::BrokenPipe.into()),
            None => Ok(()),
        }
    }
}

/// Locks the comparison, also after a panic: it is still valid.
fn lock(comparison: &Mutex<Comparison>) -> MutexGuard<'_, Comparison> {
    comparison.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_was_refused_is_not_asked_for_again() {
        let log = "Cairn log 1\nbegin\n\
                   0.1 >> setoption name Hash value 60000\n\
                   0.1 >> isready\n\
                   0.1 >> go depth 1\n\
                   0.2 == hash 16\n\
                   0.2 << readyok\n\
                   0.3 == search 1 ended nodes 1 threads 1\n\
                   0.3 << bestmove e2e4\n\
                   0.4 == end\n";
        let session = Session::parse(log.as_bytes()).expect("a log");
        let lines: Vec<&str> = session.actions.iter().map(Action::line).collect();
        let [asked, kept] = [60_000, 16].map(|mib| format!("setoption name Hash value {mib}"));
        assert_eq!(lines, [&asked, &kept, "isready", "go depth 1"]);
    }
}
