//! The log of a session: all that is needed to replay it, readable by people.
//!
//! ```text
//! Cairn log 1
//! # >> came in, << went out, == was found out; with the seconds since the log began
//! engine Cairn 0.1.0, scores 0123456789abcdef
//! option Hash = 16
//! network generation 1, 64 neurons, 1 bucket, checksum 0123456789abcdef
//! position startpos moves e2e4
//! begin
//! 0.004217 == bench 19526
//! 0.010034 >> go movetime 100
//! 0.010391 << info depth 1 multipv 1 score cp 0 nodes 1 nps 5000 hashfull 0 time 0 pv e7e5
//! 0.103522 == search 1 cut nodes 32021 threads 1
//! 0.103524 << bestmove e7e5
//! 0.204533 == end
//! ```
//!
//! The header has the program's name with what tells its scale of scores from others, all options, the network that plays, and the position at the beginning
//! of the log, when the hash table is empty. Another network later on is a line `== network`. Each search
//! has a line `== search` just before its `bestmove`: `ended` by its own limits or `cut` by a clock or a
//! `stop`, and at how many nodes; of deterministic threads also at how many of the main thread's own, `main`. A file that an option names and that was loaded has a line
//! `loaded <option> = <checksum>` behind the option in the header, or `== loaded` later on: a replay is
//! given the file anew and knows it by its checksum. So do endgame tables, with one checksum for all of them;
//! others later on are a line `== tables`. `Save Hash` and `Load Hash` end with a line `== saved` or `== loaded`, with the
//! file's checksum or `nothing` if nothing came of it. A log without `== end` was
//! broken off. The bench is the short one of [`crate::signature`]. Lines stand in the order in which
//! they took effect.
//!
//! The file is written by a thread of its own, so that a slow disk delays nothing.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use crate::protocol::Position;
use crate::session::files::{Checksum, FilePath};
use crate::session::messages::{Cut, Ending, HashAction};
use crate::session::options::{self, HASH_FILE, OptionKind, Settings};
use crate::session::wdl;

/// The first line of every log, with the version of the format.
pub const TITLE: &str = "Cairn log 1";

/// How the first line of a log of any version begins.
pub const ANY_TITLE: &str = "Cairn log ";

/// Stands between an option and its value.
pub const IS: &str = " = ";

/// Stands before what tells the network that plays from others: in the header, and where it changes.
pub const NETWORK: &str = "network";

/// Stands where other endgame tables are read.
pub const TABLES: &str = "tables";

/// Begins what tells of a file that was loaded: an option, and the checksum of the file.
pub const LOADED: &str = "loaded";

/// Begins what tells that what was learnt was saved.
pub const SAVED: &str = "saved";

/// Stands for a checksum where a file was of no use.
pub const NOTHING: &str = "nothing";

/// The last line of the header.
pub const BEGIN: &str = "begin";

/// The text of the last line of a complete log.
pub const END: &str = "end";

/// How long closing a log may take.
const PATIENCE: Duration = Duration::from_millis(500);

/// What a line of the log is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It came in.
    In,
    /// It went out.
    Out,
    /// It was found out, such as the end of a search.
    Fact,
}

impl Mark {
    /// All marks.
    pub const ALL: [Mark; 3] = [Mark::In, Mark::Out, Mark::Fact];

    /// The mark as it is written.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Mark::In => ">>",
            Mark::Out => "<<",
            Mark::Fact => "==",
        }
    }
}

/// A log that is being written.
#[derive(Debug)]
pub struct Log {
    began: Instant,
    lines: Sender<String>,
    failures: Receiver<io::Error>,
    searches: u64,
}

impl Log {
    /// Begins a log and writes its header.
    ///
    /// # Errors
    /// When the file cannot be created or the thread cannot be started.
    pub fn begin(
        path: &FilePath,
        settings: &Settings,
        network: &str,
        position: &Position,
    ) -> io::Result<Log> {
        let file = path.create(ANY_TITLE)?;
        let (lines, queue) = unbounded();
        // Carries a failure and nothing else; closed at the end of the thread.
        let (failed, failures) = bounded(1);
        thread::Builder::new().name("log".into()).spawn(move || {
            if let Err(error) = write_all(BufWriter::new(file), &queue) {
                let _ = failed.send(error);
            }
        })?;
        let log = Log { began: Instant::now(), lines, failures, searches: 0 };
        log.send(header(settings, network, position));
        Ok(log)
    }

    /// Logs one line, or several if the text has line breaks.
    pub fn write(&self, at: Instant, mark: Mark, text: &str) {
        let seconds = at.saturating_duration_since(self.began).as_secs_f64();
        let mut entry = String::new();
        for line in text.split('\n') {
            // Writing to a string cannot fail.
            let _ = writeln!(entry, "{seconds:.6} {} {}", mark.text(), line.trim_end());
        }
        self.send(entry);
    }

    /// Logs a fact, now.
    pub fn fact(&self, text: &str) {
        self.write(Instant::now(), Mark::Fact, text);
    }

    /// Logs what the file of the option `Hash File` was used for, or that it was of no use.
    pub fn hash_file(&self, action: HashAction, checksum: Option<Checksum>) {
        let verb = match action {
            HashAction::Save => SAVED,
            HashAction::Load => LOADED,
        };
        let told = checksum.map_or_else(|| NOTHING.into(), |checksum| checksum.to_string());
        self.fact(&format!("{verb} {HASH_FILE}{IS}{told}"));
    }

    /// Logs how a search ended.
    pub fn search(&mut self, ending: Ending, threads: usize) {
        self.searches += 1;
        let number = self.searches;
        let (how, point) = match ending {
            Ending::Itself(point) => ("ended", Some(point)),
            Ending::Cut(point) => ("cut", Some(point)),
            Ending::Broke => ("broke", None),
        };
        let mut text = format!("search {number} {how}");
        if let Some(Cut { nodes, retry, main }) = point {
            let _ = write!(text, " nodes {nodes}");
            if let Some(retry) = retry {
                let _ = write!(text, " retry {retry}");
            }
            if let Some(main) = main {
                let _ = write!(text, " main {main}");
            }
        }
        let _ = write!(text, " threads {threads}");
        self.fact(&text);
    }

    /// The error that ended the writing, if any; given once.
    pub fn failure(&self) -> Option<io::Error> {
        self.failures.try_recv().ok()
    }

    /// Logs the last line and waits a moment until all is in the file.
    pub fn close(self) {
        self.fact(END);
        drop(self.lines);
        // Returns at the end of the thread.
        let _ = self.failures.recv_timeout(PATIENCE);
    }

    fn send(&self, text: String) {
        // Fails once the file cannot be written, which `failure` tells.
        let _ = self.lines.send(text);
    }
}

/// The program as logs name it: with its scale, as the scores in a log are those that were shown.
#[must_use]
pub fn engine() -> String {
    format!("Cairn {}, scores {}", env!("CARGO_PKG_VERSION"), wdl::identity())
}

/// The header of a log.
fn header(settings: &Settings, network: &str, position: &Position) -> String {
    let mut text = format!(
        "{TITLE}\n\
         # >> came in, << went out, == was found out; with the seconds since the log began\n\
         engine {}\n",
        engine()
    );
    for option in options::all() {
        if let Some(value) = option.value(settings) {
            let _ = writeln!(text, "option {}{IS}{value}", option.name);
        }
        if let OptionKind::File { get, .. } = option.kind
            && let Some(checksum) = get(settings).checksum()
        {
            let _ = writeln!(text, "{LOADED} {}{IS}{checksum}", option.name);
        }
    }
    let _ = writeln!(text, "{NETWORK} {network}\n{position}\n{BEGIN}");
    text
}

/// Writes until the queue is closed. Flushes whenever the queue is empty, as the process may be killed
/// at any time.
fn write_all(mut file: impl Write, queue: &Receiver<String>) -> io::Result<()> {
    while let Ok(text) = queue.recv() {
        file.write_all(text.as_bytes())?;
        if queue.is_empty() {
            file.flush()?;
        }
    }
    file.flush()
}
