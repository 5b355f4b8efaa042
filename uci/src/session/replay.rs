//! Repeats a session from its log and compares the output.
//!
//! All that has an effect on searches is repeated in order: options, new games, positions, searches. No
//! clock runs: a search that ended by its own limits gets the same limits, and one that was cut by a
//! clock or a `stop` ends at its node count in the log.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};

use crate::protocol::{self, Command, quote};
use crate::session::controller::{Controller, Manner};
use crate::session::log::{ANY_TITLE, BEGIN, END, IS, Mark, NETWORK, TITLE};
use crate::session::messages::{Cut, STACK};
use crate::session::network;
use crate::session::reader;
use crate::session::writer::Writer;
use crate::signature;

/// The option that is not repeated, as it would overwrite the log.
const LOG_OPTION: &str = "Debug Log File";

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
    /// Why not all of the log is repeated, if so.
    missing: Option<String>,
}

/// Something to repeat.
#[derive(Debug)]
enum Action {
    /// An option, a new game or a position.
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

/// A search that was answered.
#[derive(Clone, Debug, Default)]
struct LoggedSearch {
    position: String,
    go: String,
    /// Where it was cut, unless it ended by itself.
    cut: Option<Cut>,
    /// The nodes at its end.
    nodes: u64,
    /// It ended in an internal error.
    broke: bool,
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
        let LoggedSearch { position, go, cut, nodes, .. } = &self.search;
        let how = if cut.is_some() { "cut" } else { "ended" };
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
    /// Reads a log.
    ///
    /// # Errors
    /// When this is no log, is damaged, or has a session that cannot be repeated.
    pub fn parse(bytes: &[u8]) -> Result<Session> {
        let text = String::from_utf8_lossy(bytes);
        Parser::default().parse(&text)
    }

    /// Makes sure that the network plays that played in the session.
    ///
    /// # Errors
    /// When it is another one.
    pub fn check_network(&self) -> Result<()> {
        let plays = network::identity(None);
        match &self.network {
            Some(played) if *played != plays => {
                bail!(
                    "it was played with another network ({played}) than this program has ({plays})"
                )
            }
            _ => Ok(()),
        }
    }

    /// Repeats the session up to the first difference.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn replay(self) -> Result<ReplayResult> {
        let remark = self.remark()?;
        let script: VecDeque<Option<Cut>> = self.searches.iter().map(|search| search.cut).collect();
        let lines: Vec<String> =
            self.actions.iter().map(|action| action.line().to_owned()).collect();
        let nodes = self.searches.iter().map(|search| search.nodes).sum();
        let searches = self.searches.len();
        let comparison = Arc::new(Mutex::new(Comparison::new(self.searches)));
        let (judge, gate) = (Arc::clone(&comparison), Gate(Arc::clone(&comparison)));
        let writer =
            Writer::spawn_with(gate, move |reply, _| lock(&judge).take(&reply.to_string()))?;
        let mut controller = Controller::new(reader::script(lines), writer, Manner::Patient)?;
        controller.follow(script);
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
        let logged = self.bench.filter(|&logged| logged != nodes);
        Ok(logged.map(|logged| {
            format!(
                "{} with bench {logged} has written this log; this program has bench {nodes}, so \
                 differences are no surprise",
                self.engine
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
    /// The searches not answered yet, with their index in the actions.
    asked: VecDeque<(usize, LoggedSearch)>,
    /// How many searches have ended.
    ended: usize,
    /// The last line has been read.
    is_whole: bool,
}

impl Parser {
    fn parse(mut self, text: &str) -> Result<Session> {
        let (whole_lines, rest) = match text.rfind('\n') {
            Some(end) => text.split_at(end + 1),
            None => ("", text),
        };
        let mut lines = whole_lines.lines().enumerate().map(|(index, line)| (index + 1, line));
        match lines.next() {
            Some((_, TITLE)) => {}
            Some((_, other)) if other.starts_with(ANY_TITLE) => {
                bail!("'{}' is another format than '{TITLE}'", quote(other))
            }
            _ => bail!("this is no log of Cairn: it does not begin with '{TITLE}'"),
        }
        self.read_header(&mut lines)?;
        for (number, line) in lines {
            self.read_line(number, line)
                .with_context(|| format!("line {number} of the log, '{}'", quote(line)))?;
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
                "option" => {
                    let Some((name, value)) = rest.split_once(IS.trim_end()) else {
                        bail!("line {number} is damaged: '{}'", quote(line));
                    };
                    let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
                    if name == LOG_OPTION {
                        continue;
                    }
                    let set = Command::SetOption { name, value: Some(value) };
                    self.session.actions.push(Action::Line(set.to_string()));
                }
                NETWORK => self.session.network = Some(rest.to_owned()),
                "position" => self.take_position(line),
                _ if line == BEGIN => return Ok(()),
                _ => bail!("line {number} is damaged: '{}'", quote(line)),
            }
        }
        bail!("the log ends inside its header")
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
            Mark::Fact => return self.take_fact(text),
        }
        Ok(())
    }

    /// Keeps input that has an effect on searches.
    fn take_input(&mut self, text: &str) {
        match protocol::parse(text.as_bytes()) {
            Ok(Some(Command::SetOption { name, .. })) if name.eq_ignore_ascii_case(LOG_OPTION) => {}
            Ok(Some(Command::Position(_))) => self.take_position(text),
            Ok(Some(Command::Go(_))) => {
                let search = LoggedSearch {
                    position: self.position.clone(),
                    go: text.to_owned(),
                    ..LoggedSearch::default()
                };
                self.asked.push_back((self.session.actions.len(), search));
                self.session.actions.push(Action::Go(text.to_owned()));
            }
            Ok(Some(Command::SetOption { .. } | Command::NewGame)) => {
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
        let Some(line) = comparable(text) else { return Ok(()) };
        let Some((_, search)) = self.asked.front_mut() else {
            bail!("damaged: nothing was asked that this could answer");
        };
        let is_answer = line.starts_with("bestmove");
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
    fn take_fact(&mut self, text: &str) -> Result<()> {
        let words: Vec<&str> = text.split(' ').collect();
        match words.as_slice() {
            ["bench", nodes] => self.session.bench = Some(parse_number(nodes)?),
            ["hash", mib] => {
                let mib = parse_number(mib)?;
                // The size was found out at the beginning of the search that needed the table.
                let actions = &mut self.session.actions;
                let place = self.asked.front().map_or(actions.len(), |(place, _)| *place);
                actions.insert(place, Action::Line(format!("setoption name Hash value {mib}")));
                for (place, _) in &mut self.asked {
                    *place += 1;
                }
            }
            ["search", number, how, rest @ ..] => {
                self.ended += 1;
                if number.parse() != Ok(self.ended) {
                    bail!("damaged: this should be search {}", self.ended);
                }
                return self.take_ending(how, rest);
            }
            [NETWORK, ..] => bail!("another network plays from here on, but a replay has one"),
            [END] => self.is_whole = true,
            _ => bail!("damaged: nobody knows what this means"),
        }
        Ok(())
    }

    /// Takes the end of a search.
    fn take_ending(&mut self, how: &str, rest: &[&str]) -> Result<()> {
        let mut point = Cut { nodes: 0, retry: None };
        for pair in rest.chunks(2) {
            let [name, value] = pair else { bail!("damaged: a number is missing") };
            let value = parse_number(value)?;
            match *name {
                "nodes" => point.nodes = value,
                "retry" => point.retry = Some(value),
                "threads" if value > 1 => bail!(
                    "this search ran on {value} threads at once; which of them learns what first is \
                     chance, so it cannot be repeated"
                ),
                "threads" => {}
                _ => bail!("damaged: there is no '{name}'"),
            }
        }
        let Some((_, search)) = self.asked.front_mut() else {
            bail!("damaged: nobody asked for a search")
        };
        search.nodes = point.nodes;
        match how {
            "ended" => search.cut = None,
            "cut" => search.cut = Some(point),
            "broke" => {
                search.broke = true;
                self.session.missing.get_or_insert(format!(
                    "search {} ended in an internal error; only what came before it is repeated",
                    self.ended
                ));
            }
            _ => bail!("damaged: a search has either ended or was cut"),
        }
        Ok(())
    }

    /// Drops what comes behind the last search that can be repeated.
    fn forget_the_unanswered(&mut self) {
        let sound = self.session.searches.iter().take_while(|search| !search.broke).count();
        self.session.searches.truncate(sound);
        let mut left = self.session.searches.len();
        self.session.actions.retain(|action| {
            let keep = left > 0;
            left -= usize::from(keep && matches!(action, Action::Go(_)));
            keep
        });
    }
}

fn parse_number(text: &str) -> Result<u64> {
    text.parse().with_context(|| format!("damaged: '{text}' is no number"))
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

/// Compares the output with the log.
struct Comparison {
    searches: VecDeque<LoggedSearch>,
    number: usize,
    said: Vec<String>,
    difference: Option<Difference>,
}

impl Comparison {
    fn new(searches: Vec<LoggedSearch>) -> Comparison {
        Comparison { searches: searches.into(), number: 1, said: Vec::new(), difference: None }
    }

    /// Takes a line of output.
    fn take(&mut self, line: &str) {
        let Some(line) = comparable(line).filter(|_| self.difference.is_none()) else { return };
        let is_answer = line.starts_with("bestmove");
        if !self.said.contains(&line) {
            self.said.push(line);
        }
        if is_answer {
            self.finish_search();
        }
    }

    /// Compares one search at its end.
    fn finish_search(&mut self) {
        let said = std::mem::take(&mut self.said);
        let Some(search) = self.searches.pop_front() else { return };
        if let Some((logged, replayed)) = first_difference(&search, &said) {
            let number = self.number;
            self.difference = Some(Difference { number, search, logged, replayed });
        }
        self.number += 1;
    }

    /// The first difference, or the first search that is missing.
    fn result(&mut self) -> Option<Difference> {
        let missing = self.searches.pop_front().map(|search| {
            let logged = search.said.first().cloned();
            Difference { number: self.number, search, logged, replayed: None }
        });
        self.difference.take().or(missing)
    }
}

/// A line of the log with its number, and the line of the replay.
type LinePair = (Option<(usize, String)>, Option<String>);

/// The first pair of lines that differ. If a search was cut between the lines of an iteration with
/// MultiPV, its replay may finish the iteration.
fn first_difference(search: &LoggedSearch, replayed: &[String]) -> Option<LinePair> {
    let is_further =
        |line: &str| line.split_once(" multipv ").is_some_and(|(_, rest)| !rest.starts_with("1 "));
    let mut logged = search.said.iter().peekable();
    for line in replayed {
        match logged.peek() {
            Some((_, expected)) if expected == line => {
                logged.next();
            }
            Some((_, expected))
                if search.cut.is_some() && is_further(line) && expected.starts_with("bestmove") => {
            }
            other => return Some((other.map(|expected| (*expected).clone()), Some(line.clone()))),
        }
    }
    logged.next().map(|expected| (Some(expected.clone()), None))
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
