//! `cairn replay`: plays a session again from its log and compares what comes out.
//!
//! Everything that has an effect on searches is done again in the same order: options, new games,
//! positions, searches. No clock runs: a search that ended through its own limits gets the same limits,
//! and one that was cut by a clock or a `stop` ends at the node count that the log has for it.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};

use crate::controller::{Controller, Manner};
use crate::log::{ANY_TITLE, BEGIN, END, IS, Mark, TITLE};
use crate::protocol::{self, Command, quote};
use crate::signature;
use crate::worker::{Cut, STACK};
use crate::writer::Writer;

/// The option that must not be set again: it would overwrite the log.
const LOG_OPTION: &str = "Debug Log File";

/// A session as its log tells it.
#[derive(Debug, Default)]
pub struct Session {
    /// Which program it was.
    engine: String,
    /// The nodes of its short bench.
    bench: Option<u64>,
    /// What came in, as far as it matters.
    steps: Vec<Step>,
    /// The searches that were answered.
    searches: Vec<Search>,
    /// What is missing, if anything is.
    missing: Option<String>,
}

/// Something to be done again.
#[derive(Debug)]
enum Step {
    /// An option, a new game or a position.
    Line(String),
    /// A search.
    Go(String),
}

impl Step {
    fn line(&self) -> &str {
        match self {
            Step::Line(line) | Step::Go(line) => line,
        }
    }
}

/// A search that was answered.
#[derive(Clone, Debug, Default)]
struct Search {
    position: String,
    go: String,
    /// Where it was cut, if it did not end by itself.
    cut: Option<Cut>,
    /// The nodes at its end.
    nodes: u64,
    /// It ended in an internal error.
    broke: bool,
    /// What it said, without what depends on time, each with its line in the log.
    said: Vec<(usize, String)>,
}

/// How a replay has gone.
#[derive(Debug)]
pub struct Verdict {
    searches: usize,
    nodes: u64,
    /// What is worth knowing about the build.
    remark: Option<String>,
    missing: Option<String>,
    difference: Option<Difference>,
}

/// The first thing that was not the same.
#[derive(Clone, Debug)]
struct Difference {
    number: usize,
    search: Search,
    /// The line of the log, with its number.
    logged: Option<(usize, String)>,
    /// What came now.
    replayed: Option<String>,
}

impl Verdict {
    /// What the program ends with: 0 when all was the same, 1 after a difference, 3 when the log is
    /// incomplete but the same as far as it goes.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match (&self.difference, &self.missing) {
            (Some(_), _) => 1,
            (None, Some(_)) => 3,
            (None, None) => 0,
        }
    }
}

impl fmt::Display for Verdict {
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
        let Search { position, go, cut, nodes, .. } = &self.search;
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
    /// When this is no log, is damaged, or tells of a session that cannot be repeated.
    pub fn parse(bytes: &[u8]) -> Result<Session> {
        let text = String::from_utf8_lossy(bytes);
        Parser::default().parse(&text)
    }

    /// Plays the session again, up to the first difference.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn replay(self) -> Result<Verdict> {
        let remark = self.remark()?;
        let script: VecDeque<Option<Cut>> = self.searches.iter().map(|search| search.cut).collect();
        let lines: Vec<String> = self.steps.iter().map(|step| step.line().to_owned()).collect();
        let nodes = self.searches.iter().map(|search| search.nodes).sum();
        let searches = self.searches.len();
        let comparison = Arc::new(Mutex::new(Comparison::new(self.searches)));
        let (judge, gate) = (Arc::clone(&comparison), Gate(Arc::clone(&comparison)));
        let writer =
            Writer::spawn_with(gate, move |reply, _| lock(&judge).take(&reply.to_string()))?;
        let mut controller = Controller::new(crate::script(lines), writer, Manner::Patient)?;
        controller.follow(script);
        // The gate breaks the output at the first difference.
        let _ = controller.run();
        let difference = lock(&comparison).verdict();
        Ok(Verdict { searches, nodes, remark, missing: self.missing, difference })
    }

    /// What there is to say about a log of another build. It is replayed all the same: the searches may
    /// not have changed.
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
    /// The searches that were asked for and are not answered, with their place among the steps.
    asked: VecDeque<(usize, Search)>,
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
                    self.session.steps.push(Step::Line(set.to_string()));
                }
                "position" => self.take_position(line),
                _ if line == BEGIN => return Ok(()),
                _ => bail!("line {number} is damaged: '{}'", quote(line)),
            }
        }
        bail!("the log ends inside its header")
    }

    /// Reads a line of the session.
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

    /// Keeps what has an effect on searches.
    fn take_input(&mut self, text: &str) {
        match protocol::parse(text.as_bytes()) {
            Ok(Some(Command::SetOption { name, .. })) if name.eq_ignore_ascii_case(LOG_OPTION) => {}
            Ok(Some(Command::Position(_))) => self.take_position(text),
            Ok(Some(Command::Go(_))) => {
                let search = Search {
                    position: self.position.clone(),
                    go: text.to_owned(),
                    ..Search::default()
                };
                self.asked.push_back((self.session.steps.len(), search));
                self.session.steps.push(Step::Go(text.to_owned()));
            }
            Ok(Some(Command::SetOption { .. } | Command::NewGame)) => {
                self.session.steps.push(Step::Line(text.to_owned()));
            }
            // Anything else changes nothing that a search could see.
            _ => {}
        }
    }

    fn take_position(&mut self, line: &str) {
        line.clone_into(&mut self.position);
        self.session.steps.push(Step::Line(line.to_owned()));
    }

    /// Keeps what a search has said.
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

    /// Takes over something that was found out.
    fn take_fact(&mut self, text: &str) -> Result<()> {
        let words: Vec<&str> = text.split(' ').collect();
        match words.as_slice() {
            ["bench", nodes] => self.session.bench = Some(parse_number(nodes)?),
            ["hash", mib] => {
                let mib = parse_number(mib)?;
                // It was found out when the search began that had to do with it.
                let steps = &mut self.session.steps;
                let place = self.asked.front().map_or(steps.len(), |(place, _)| *place);
                steps.insert(place, Step::Line(format!("setoption name Hash value {mib}")));
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
            [END] => self.is_whole = true,
            _ => bail!("damaged: nobody knows what this means"),
        }
        Ok(())
    }

    /// Takes over how a search has ended.
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

    /// Cuts off what comes behind the last search that can be repeated.
    fn forget_the_unanswered(&mut self) {
        let sound = self.session.searches.iter().take_while(|search| !search.broke).count();
        self.session.searches.truncate(sound);
        let mut left = self.session.searches.len();
        self.session.steps.retain(|step| {
            let keep = left > 0;
            left -= usize::from(keep && matches!(step, Step::Go(_)));
            keep
        });
    }
}

fn parse_number(text: &str) -> Result<u64> {
    text.parse().with_context(|| format!("damaged: '{text}' is no number"))
}

/// What a line says about a search, without what depends on time; nothing if it says nothing. Bounds
/// are told of or not as time goes by.
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

/// Compares what comes out with what the log has.
struct Comparison {
    searches: VecDeque<Search>,
    number: usize,
    said: Vec<String>,
    difference: Option<Difference>,
}

impl Comparison {
    fn new(searches: Vec<Search>) -> Comparison {
        Comparison { searches: searches.into(), number: 1, said: Vec::new(), difference: None }
    }

    /// Takes a line that comes out.
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

    /// Compares a whole search.
    fn finish_search(&mut self) {
        let said = std::mem::take(&mut self.said);
        let Some(search) = self.searches.pop_front() else { return };
        if let Some((logged, replayed)) = first_difference(&search, &said) {
            let number = self.number;
            self.difference = Some(Difference { number, search, logged, replayed });
        }
        self.number += 1;
    }

    /// The first difference, or the first search that did not come.
    fn verdict(&mut self) -> Option<Difference> {
        let missing = self.searches.pop_front().map(|search| {
            let logged = search.said.first().cloned();
            Difference { number: self.number, search, logged, replayed: None }
        });
        self.difference.take().or(missing)
    }
}

/// What the log has, with its line, and what came now.
type Lines = (Option<(usize, String)>, Option<String>);

/// The first pair of lines that are not the same. Where a search was cut between the lines of an
/// iteration with MultiPV, its replay may finish the iteration.
fn first_difference(search: &Search, replayed: &[String]) -> Option<Lines> {
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

/// Lets everything through until there is a difference; then there is no more to be written.
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

/// What a panic elsewhere has left behind is still a comparison.
fn lock(comparison: &Mutex<Comparison>) -> MutexGuard<'_, Comparison> {
    comparison.lock().unwrap_or_else(PoisonError::into_inner)
}
