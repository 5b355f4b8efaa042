//! The controller: owns the position, the options and the state of the session, and never blocks.
//!
//! It waits for whichever comes first: a line, an event of the worker, a deadline, or the end of the
//! writer. Commands are carried out strictly in order. One that cannot be carried out now waits in a
//! queue with all later ones behind it; one that needs an idle engine also stops the search. So a `stop`
//! cannot overtake its `go`, and a `position` sent while a search is still ending is not lost.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use cairn_engine::eval::PackedNetwork;
use cairn_engine::piece::Side;
use cairn_engine::search::{Control, Style};
use cairn_engine::syzygy::Tables;
use crossbeam_channel::{Receiver, at, never, select};

use crate::protocol::{self, Command, Go, Position, Reply, quote};
use crate::session::clock::TimeLimits;
use crate::session::files::{FileAccess, FilePath};
use crate::session::game::Game;
use crate::session::log::{Log, Mark, NETWORK, TABLES};
use crate::session::messages::{Cut, Ending, Event, Job, SearchJob, SearcherSetup};
use crate::session::network;
use crate::session::options::{self, EVAL_FILE, SYZYGY_PATH, Settings, needs_idle_engine};
use crate::session::pending::{PendingCommand, PendingGo};
use crate::session::plan;
use crate::session::reader::{Arrival, Input, MAX_LINE};
use crate::session::tables;
use crate::session::views;
use crate::session::worker::Worker;
use crate::session::writer::Writer;

/// The text of `id author`.
const AUTHOR: &str = "the Cairn authors";

/// The remark on a position that only Chess960 has.
const CHESS960: &str =
    "a position of Chess960: castling is written as the king taking its own rook";

/// How long a search may take to stop at the end of the program.
const EXIT_PATIENCE: Duration = Duration::from_secs(1);

/// How long the output may take to drain at the end of the program.
const DRAIN_PATIENCE: Duration = Duration::from_millis(200);

/// What a command that needs an idle engine does to a running search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Stops it: a GUI that sends the next command has no more use for it.
    Interactive,
    /// Waits for its end, as the next line of a script should. Only a search without an end is stopped.
    Patient,
}

/// Something to do, and when it came in.
#[derive(Debug)]
struct Order {
    what: What,
    at: Instant,
}

#[derive(Debug)]
enum What {
    Command(Command),
    /// A remark on a line that was no command; it waits for its turn like one.
    Remark(String),
    /// The input has ended.
    End,
}

/// What the worker is doing.
enum Activity {
    Search(Box<PendingGo>),
    /// Applying the options to the searcher, with the flag that tells it to hurry.
    Prepare(Arc<AtomicBool>),
    /// Reading a network; with the `EvalFile` before it.
    Load(FilePath),
    /// Reading endgame tables.
    LoadTables,
    /// A command beyond UCI.
    Console(PendingCommand),
}

/// What a replay follows, and whom it tells of it.
struct Script {
    /// How each of the next searches ended the first time.
    endings: VecDeque<Ending>,
    /// Takes how each has ended now, before its answer is given.
    told: Box<dyn FnMut(Ending)>,
}

/// The front-end's main loop with all its state.
pub struct Controller {
    input: Receiver<Input>,
    worker: Worker,
    writer: Writer,
    manner: Manner,
    settings: Settings,
    /// The network that evaluates, if it is not the one that is built in.
    loaded: Option<Arc<PackedNetwork>>,
    /// The endgame tables that are asked, if any.
    tables: Option<Arc<Tables>>,
    /// What the searcher was last set up for.
    prepared: Option<SearcherSetup>,
    game: Game,
    activity: Option<Activity>,
    queue: VecDeque<Order>,
    /// When the program ends even if the search has not.
    exit_by: Option<Instant>,
    debug: bool,
    log: Option<Log>,
    /// What a replay follows.
    script: Option<Script>,
    ended: bool,
    /// Why a command of a script could not do what it was asked for, the first of them.
    failure: Option<String>,
}

impl Controller {
    /// A controller with its worker.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn new(input: Receiver<Input>, writer: Writer, manner: Manner) -> io::Result<Controller> {
        Ok(Controller {
            input,
            worker: Worker::spawn()?,
            writer,
            manner,
            settings: Settings::default(),
            loaded: None,
            tables: None,
            prepared: None,
            game: Game::default(),
            activity: None,
            queue: VecDeque::new(),
            exit_by: None,
            debug: false,
            log: None,
            script: None,
            ended: false,
            failure: None,
        })
    }

    /// Makes all searches run without clocks, each to where it ended the first time, and tells how it has
    /// ended now, just before its answer. From now on no option names a file; those in `files`, with their
    /// paths, are set before.
    ///
    /// # Errors
    /// Why an option is refused.
    pub fn follow(
        &mut self,
        endings: VecDeque<Ending>,
        files: &[(String, String)],
        told: impl FnMut(Ending) + 'static,
    ) -> Result<()> {
        for (name, path) in files {
            self.settings.set(name, Some(path)).map_err(|refusal| anyhow!(refusal.to_string()))?;
        }
        let network = network::chosen(&mut self.settings.eval_file);
        self.loaded = network.map_err(|refusal| anyhow!(refusal))?;
        self.tables = tables::chosen(&mut self.settings.syzygy_path).tables;
        self.settings.files = FileAccess::Closed;
        self.script = Some(Script { endings, told: Box::new(told) });
        self.begin_log();
        Ok(())
    }

    /// Runs until the end of the session.
    ///
    /// # Errors
    /// When the output cannot be written (a broken pipe is a peer that has gone), or a command of a
    /// script has failed.
    pub fn run(mut self) -> Result<()> {
        let silence = never();
        let mut listening = true;
        while !self.ended {
            let timer = self.next_deadline().map_or_else(never, at);
            let input = if listening { &self.input } else { &silence };
            select! {
                recv(input) -> line => {
                    let line = line.unwrap_or_else(|_| Input::end());
                    listening = line.what != Arrival::End;
                    self.receive(line);
                }
                recv(self.worker.events()) -> event => match event {
                    Ok(event) => self.handle(event),
                    // Without the worker nothing can be done.
                    Err(_) => self.ended = true,
                },
                recv(self.writer.ended()) -> _ => self.ended = true,
                recv(timer) -> _ => self.strike(),
            }
        }
        if let Some(Activity::Search(search)) = &self.activity {
            // Nobody waits for it any more.
            search.control().engine.stop();
        }
        self.close_log();
        let patience = (self.manner == Manner::Interactive).then_some(DRAIN_PATIENCE);
        self.writer.finish(patience).context("cannot write the output")?;
        self.failure.map_or(Ok(()), |failure| Err(anyhow!(failure)))
    }

    /// The next moment at which something has to happen by itself.
    fn next_deadline(&self) -> Option<Instant> {
        let search = match &self.activity {
            Some(Activity::Search(search)) => search.next_due(),
            Some(Activity::Console(command)) => Some(command.next_due()),
            _ => None,
        };
        [search, self.exit_by].into_iter().flatten().min()
    }

    /// A deadline has been reached.
    fn strike(&mut self) {
        let now = Instant::now();
        if let Some(Activity::Search(search)) = &mut self.activity {
            // The game does not change during a search, so its board is the root.
            for reply in search.strike(now, self.game.board()) {
                self.reply(reply);
            }
        }
        if let Some(Activity::Console(command)) = &mut self.activity
            && let Some(reply) = command.strike(now)
        {
            self.reply(reply);
        }
        if self.exit_by.is_some_and(|exit_by| exit_by <= now) {
            self.ended = true;
        }
    }

    /// Takes what the reader has read.
    fn receive(&mut self, input: Input) {
        self.log_input(&input);
        let what = match input.what {
            Arrival::End => What::End,
            Arrival::TooLong => {
                What::Remark(format!("a line of more than {MAX_LINE} bytes was ignored"))
            }
            Arrival::Line(bytes) => match protocol::parse(&bytes) {
                Ok(Some(command)) => What::Command(command),
                Ok(None) => return,
                Err(refusal) => What::Remark(refusal.to_string()),
            },
        };
        if self.manner == Manner::Interactive {
            self.anticipate(&what);
        }
        self.queue.push_back(Order { what, at: input.at });
        self.serve_queue();
    }

    /// What something does at once to what is under way, whatever waits before it.
    fn anticipate(&mut self, what: &What) {
        match (&self.activity, what) {
            // Do not wait for work that nobody will see.
            (Some(Activity::Search(_)), What::Command(Command::Quit)) => self.queue.clear(),
            (Some(Activity::Console(_)), What::Command(Command::Stop | Command::Quit)) => {
                self.stop();
            }
            (Some(Activity::Prepare(hurry)), what) if is_urgent(what) => {
                hurry.store(true, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    /// Carries out what is queued, as far as possible now.
    fn serve_queue(&mut self) {
        while !self.ended
            && let Some(mut order) = self.queue.pop_front()
        {
            if self.manner == Manner::Patient {
                // The lines of a script are all there at the start, but each comes when it is its turn.
                order.at = Instant::now();
            }
            let waiting = if self.activity.is_some() {
                self.carry_out_busy(order)
            } else {
                self.carry_out_idle(order)
            };
            if let Some(order) = waiting {
                self.queue.push_front(order);
                if self.activity.is_some() {
                    return;
                }
            }
        }
    }

    /// Carries out an order while the worker works; gives it back if it has to wait.
    fn carry_out_busy(&mut self, order: Order) -> Option<Order> {
        let command = match &order.what {
            What::Command(command) => command,
            What::Remark(_) => return self.carry_out_idle(order),
            What::End => return self.wait(order),
        };
        match command {
            Command::Stop => self.stop(),
            Command::PonderHit => self.ponder_hit(order.at),
            Command::IsReady if matches!(self.activity, Some(Activity::Prepare(_))) => {
                return Some(order);
            }
            // Which network plays is not known yet.
            Command::IsReady | Command::Eval
                if matches!(self.activity, Some(Activity::Load(_))) =>
            {
                return Some(order);
            }
            // Nor which tables there are.
            Command::IsReady | Command::Display
                if matches!(self.activity, Some(Activity::LoadTables)) =>
            {
                return Some(order);
            }
            Command::IsReady => self.reply(Reply::ReadyOk),
            Command::Uci | Command::Debug(_) | Command::Display | Command::Eval | Command::Help => {
                return self.carry_out_idle(order);
            }
            Command::SetOption { name, .. } if !needs_idle_engine(name) => {
                return self.carry_out_idle(order);
            }
            Command::SetOption { .. }
            | Command::NewGame
            | Command::Position(_)
            | Command::Go(_)
            | Command::Perft(_)
            | Command::Bench(_)
            | Command::Openings(_)
            | Command::Quit => return self.wait(order),
        }
        None
    }

    /// Makes the engine idle for an order that needs it, and gives the order back.
    fn wait(&mut self, order: Order) -> Option<Order> {
        let impatient = self.manner == Manner::Interactive;
        let is_end = matches!(order.what, What::End);
        let quits = matches!(order.what, What::Command(Command::Quit));
        match &self.activity {
            // As long as somebody reads the output, which is found out by writing.
            Some(Activity::Search(search)) if is_end && search.ends_by_itself() => {
                return Some(order);
            }
            Some(Activity::Search(search)) if impatient || search.must_hold() => self.stop(),
            // Console commands run to their end, whatever else follows in the pipe.
            Some(Activity::Console(_)) if impatient && quits => self.stop(),
            Some(Activity::Console(_)) => return Some(order),
            _ => {}
        }
        if (is_end || quits) && impatient {
            self.exit_by.get_or_insert(Instant::now() + EXIT_PATIENCE);
        }
        Some(order)
    }

    /// Carries out an order on an idle engine; gives it back if something must be prepared first.
    fn carry_out_idle(&mut self, order: Order) -> Option<Order> {
        let command = match order.what {
            What::Command(command) => command,
            What::Remark(text) => {
                self.tell(text);
                return None;
            }
            What::End => Command::Quit,
        };
        match command {
            Command::Uci => self.introduce(),
            Command::Debug(on) => self.debug = on,
            Command::IsReady => {
                if self.prepared != Some(self.setup()) {
                    self.prepare();
                    return Some(Order { what: What::Command(Command::IsReady), at: order.at });
                }
                self.reply(Reply::ReadyOk);
            }
            Command::SetOption { name, value } => self.set_option(&name, value.as_deref()),
            Command::NewGame => {
                self.settings.clear_hash = true;
                self.prepare();
            }
            Command::Position(position) => self.set_position(position),
            Command::Go(go) => self.go(&go, order.at),
            Command::Perft(depth) => self.perft(depth),
            Command::Bench(depth) => {
                #[cfg(feature = "tune")]
                self.settings.apply_params();
                self.console("bench", |control| Job::Bench { depth, control });
            }
            Command::Openings(request) => {
                self.console("genfens", |control| Job::Openings { request, control });
            }
            Command::Display => {
                // Answered at once also while the worker searches, so tables are read here: a handful of blocks of
                // mapped files, milliseconds on a slow disk, for which a `stop` behind it waits.
                let text = views::display(
                    self.game.board(),
                    self.settings.chess960,
                    self.tables.as_deref(),
                );
                self.reply(Reply::Text(text));
            }
            Command::Eval => {
                let network = network::playing(self.loaded.as_ref());
                let text = views::evaluation(self.game.board(), network.as_ref());
                self.reply(Reply::Text(text));
            }
            Command::Help => self.reply(Reply::Text(views::help())),
            Command::Quit => self.ended = true,
            // No search runs.
            Command::Stop | Command::PonderHit => {}
        }
        None
    }

    /// Answers `uci`.
    fn introduce(&self) {
        self.reply(Reply::Name(format!("Cairn {}", env!("CARGO_PKG_VERSION"))));
        self.reply(Reply::Author(AUTHOR));
        for option in options::all() {
            self.reply(Reply::Option(option.declaration()));
        }
        self.reply(Reply::UciOk);
    }

    /// Sets up a position and sends the remarks on it, if any. That castling is written otherwise than the
    /// options say is told once, not with each move of the same game.
    fn set_position(&mut self, position: Position) {
        let is_other_game = position.start != self.game.described().start;
        match self.game.set(position) {
            Ok(remark) => {
                if is_other_game && self.game.is_chess960() && !self.settings.chess960 {
                    self.tell(CHESS960.into());
                }
                if let Some(remark) = remark {
                    self.complain(remark);
                }
            }
            Err(refusal) => self.complain(refusal),
        }
    }

    /// Whether castling is written as the king taking its own rook.
    fn writes_chess960(&self) -> bool {
        self.settings.chess960 || self.game.is_chess960()
    }

    /// Sets an option and sends the remark on it, if any.
    fn set_option(&mut self, name: &str, value: Option<&str>) {
        let log_file = self.settings.log_file.clone();
        let eval_file = self.settings.eval_file.clone();
        let asked = self.settings.syzygy_path.checksum();
        let was_single = self.is_single_against_wish();
        let set = self.settings.set(name, value);
        let is_set = set.is_ok();
        if let Err(remark) | Ok(Some(remark)) = set {
            self.complain(remark.to_string());
        }
        if self.is_single_against_wish() && !was_single {
            self.tell("style MicroMax searches on one thread".into());
        }
        if self.settings.log_file != log_file {
            self.close_log();
            self.begin_log();
        }
        if is_set && name.eq_ignore_ascii_case(SYZYGY_PATH) {
            match self.settings.syzygy_path.clone() {
                // Nothing to read.
                path if path.is_empty() => {
                    self.settings.syzygy_path.note_checksum(asked);
                    self.take_tables(None, path);
                }
                path => {
                    // Until the new ones are there the old ones are asked.
                    self.settings.syzygy_path.note_checksum(asked);
                    self.start(Activity::LoadTables, Job::LoadTables(path));
                }
            }
        }
        if is_set && name.eq_ignore_ascii_case(EVAL_FILE) {
            match self.settings.eval_file.clone() {
                // Nothing to read.
                path if path.is_empty() => {
                    self.take_network(None);
                    self.renew_network();
                }
                path => self.start(Activity::Load(eval_file), Job::Load(path)),
            }
        }
    }

    /// Whether several threads are asked for, but the style has one.
    fn is_single_against_wish(&self) -> bool {
        self.settings.style == Style::MicroMax && self.settings.threads > 1
    }

    /// Takes a network for the searches to come, or the one that is built in, and says which one plays.
    fn take_network(&mut self, loaded: Option<Arc<PackedNetwork>>) {
        let origin = if loaded.is_some() { "read from the file" } else { "built in" };
        let identity = network::identity(loaded.as_ref());
        if identity != network::identity(self.loaded.as_ref()) {
            self.loaded = loaded;
            if let Some(log) = &self.log {
                log.fact(&format!("{NETWORK} {identity}"));
            }
        } else if loaded.is_none() {
            // A GUI that sets all options to their defaults changes nothing.
            return;
        }
        self.tell(format!("the network that plays: {identity}, {origin}"));
    }

    /// Takes endgame tables for the searches to come.
    fn take_tables(&mut self, tables: Option<Arc<Tables>>, path: FilePath) {
        let checksum = path.checksum();
        if checksum != self.settings.syzygy_path.checksum()
            && let Some(log) = &self.log
        {
            let told = checksum.map_or_else(|| "none".into(), |checksum| checksum.to_string());
            log.fact(&format!("{TABLES} {told}"));
        }
        self.settings.syzygy_path = path;
        self.tables = tables;
    }

    /// Gives another network to a searcher that was there already, which empties its table, as long as no clock
    /// runs.
    fn renew_network(&mut self) {
        if self.prepared.as_ref().is_some_and(|prepared| prepared.loaded != self.loaded) {
            self.prepare();
        }
    }

    /// Begins the log that the options ask for. The hash table is cleared, as a replay begins with an
    /// empty one.
    fn begin_log(&mut self) {
        let path = self.settings.log_file.clone();
        if path.is_empty() {
            return;
        }
        let network = network::identity(self.loaded.as_ref());
        match Log::begin(&path, &self.settings, &network, self.game.described()) {
            Ok(log) => {
                let waiting = self.queue.iter().filter_map(|order| match &order.what {
                    What::Command(command) => Some((order.at, command.to_string())),
                    What::Remark(_) | What::End => None,
                });
                for (at, line) in waiting {
                    log.write(at, Mark::In, &line);
                }
                self.log = Some(log);
                self.settings.clear_hash = true;
                self.start(Activity::Prepare(Arc::default()), Job::Signature);
            }
            Err(error) => {
                self.settings.log_file = FilePath::default();
                self.complain(format!(
                    "Debug Log File '{}': {error}; no log is kept",
                    quote(path.text())
                ));
            }
        }
    }

    /// Ends the log, if there is one.
    fn close_log(&mut self) {
        if let Some(log) = self.log.take() {
            log.close();
        }
    }

    /// Logs what came in, and gives the log up if its file cannot be written.
    fn log_input(&mut self, input: &Input) {
        let Some(log) = &self.log else { return };
        if let Some(error) = log.failure() {
            self.log = None;
            self.settings.log_file = FilePath::default();
            self.complain(format!("the log cannot be written: {error}; it ends here"));
            return;
        }
        if let Arrival::Line(bytes) = &input.what {
            // An argument of the command line may hold line breaks, which are blanks like any other.
            let text = String::from_utf8_lossy(bytes).replace('\n', " ");
            log.write(input.at, Mark::In, &text);
        }
    }

    /// Starts a search.
    fn go(&mut self, go: &Go, at: Instant) {
        let board = self.game.board().clone();
        let clock = match board.side_to_move() {
            Side::White => go.white,
            Side::Black => go.black,
        };
        let (search_moves, remark) = self.game.legal_among(&go.search_moves);
        for remark in remark.into_iter().chain(plan::remark_on_limits(go, &clock)) {
            self.complain(remark);
        }
        let choices =
            if search_moves.is_empty() { board.legal_moves().len() } else { search_moves.len() };
        let ending = self.script.as_mut().and_then(|script| script.endings.pop_front());
        let chess960 = self.writes_chess960();
        let mut search = match ending {
            Some(_) => PendingGo::unbounded(at, chess960),
            None => {
                let forced = choices == 1;
                let limits = plan::time_limits(&self.settings, go, &clock, forced);
                let ends_by_itself = plan::ends_by_itself(&self.settings, go);
                PendingGo::planned(go, limits, ends_by_itself, at, chess960)
            }
        };
        search.start_clock(at);
        let TimeLimits { soft, hard } = search.limits();
        let mut limits =
            plan::engine_limits(&self.settings, go, search_moves, self.tables.as_ref());
        let cut = match ending {
            Some(Ending::Cut(point)) => Some(point),
            Some(Ending::Itself(Cut { nodes, .. })) if self.settings.style == Style::Cairn => {
                // If it goes on further than the first time, that is difference enough. (What micro-Max
                // does near its end depends on its limit; it is found out by its next line.)
                let most = nodes.saturating_add(1);
                limits.nodes = Some(limits.nodes.map_or(most, |limit| limit.min(most)));
                None
            }
            _ => None,
        };
        #[cfg(feature = "tune")]
        self.settings.apply_params();
        let job = SearchJob {
            setup: self.take_setup(),
            board,
            limits,
            soft,
            timed: hard.is_some(),
            started: at,
            chess960,
            show_wdl: self.settings.show_wdl,
            cut,
            control: Arc::clone(search.control()),
        };
        if self.debug {
            self.tell(format!(
                "searching: {:?}, hash {} MiB, soft {soft:?}, hard {hard:?}",
                job.limits, job.setup.hash_mib
            ));
        }
        self.start(Activity::Search(Box::new(search)), Job::Search(Box::new(job)));
    }

    /// Starts `perft`.
    fn perft(&mut self, depth: u32) {
        let board = Box::new(self.game.board().clone());
        let chess960 = self.writes_chess960();
        self.console("perft", |control| Job::Perft { board, depth, chess960, control });
    }

    /// Starts a command beyond UCI.
    fn console(&mut self, name: &'static str, job: impl FnOnce(Arc<Control>) -> Job) {
        let command = PendingCommand::new(name);
        let job = job(Arc::clone(command.control()));
        self.start(Activity::Console(command), job);
    }

    /// Applies the options to the searcher. The table is not given its memory now if somebody waits.
    fn prepare(&mut self) {
        let setup = self.take_setup();
        let is_urgent = self.manner == Manner::Interactive
            && self.queue.iter().any(|order| is_urgent(&order.what));
        let hurry = Arc::new(AtomicBool::new(is_urgent));
        self.start(Activity::Prepare(Arc::clone(&hurry)), Job::Prepare { setup, hurry });
    }

    /// Hands a job to the idle worker.
    fn start(&mut self, activity: Activity, job: Job) {
        self.activity = Some(activity);
        self.worker.start(job);
    }

    /// What the options ask of the searcher.
    fn setup(&self) -> SearcherSetup {
        SearcherSetup {
            style: self.settings.style,
            hash_mib: self.settings.hash_mib,
            threads: self.settings.threads,
            deterministic: self.settings.deterministic,
            clear: self.settings.clear_hash,
            loaded: self.loaded.clone(),
        }
    }

    /// The same for a job that applies it.
    fn take_setup(&mut self) -> SearcherSetup {
        let setup = self.setup();
        self.settings.clear_hash = false;
        self.prepared = Some(self.setup());
        setup
    }

    /// Stops what is running. A held answer is given.
    fn stop(&mut self) {
        match &mut self.activity {
            Some(Activity::Search(search)) => {
                search.stop();
                self.release();
            }
            Some(Activity::Console(command)) => command.control().stop(),
            Some(Activity::Prepare(_) | Activity::Load(_) | Activity::LoadTables) | None => {}
        }
    }

    /// The opponent has played the expected move: from now on this is a normal search.
    fn ponder_hit(&mut self, at: Instant) {
        if let Some(Activity::Search(search)) = &mut self.activity {
            search.ponder_hit(at);
            self.release();
        }
    }

    /// Takes an event of the worker.
    fn handle(&mut self, event: Event) {
        match event {
            Event::Line(info) => {
                if let Some(Activity::Search(search)) = &mut self.activity {
                    search.note_line(&info);
                }
                self.reply(Reply::Info(info));
            }
            Event::Note(text) => {
                if let Some(Activity::Search(search)) = &mut self.activity {
                    search.note_remark();
                }
                self.tell(text);
            }
            Event::Failed(text) if self.manner == Manner::Patient => {
                self.failure.get_or_insert(text);
            }
            Event::Failed(text) => self.tell(text),
            Event::Text(text) => self.reply(Reply::Text(text)),
            Event::HashKept(mib) => {
                self.settings.hash_mib = mib;
                self.prepared = Some(self.setup());
                if let Some(log) = &self.log {
                    log.fact(&format!("hash {mib}"));
                }
            }
            Event::Signature(nodes) => {
                if let Some(log) = &self.log {
                    log.fact(&format!("bench {nodes}"));
                }
            }
            Event::Loaded(Ok((loaded, path))) => {
                self.settings.eval_file = path;
                self.take_network(loaded);
            }
            Event::Loaded(Err(refusal)) => {
                if let Some(Activity::Load(before)) = &mut self.activity {
                    self.settings.eval_file = std::mem::take(before);
                }
                self.complain(format!("{refusal}; the network that plays is kept"));
            }
            Event::TablesLoaded { tables, path, remarks } => {
                let failed = tables.is_none() && !path.is_empty();
                self.take_tables(tables, path);
                for remark in remarks {
                    if failed { self.complain(remark) } else { self.tell(remark) }
                }
            }
            Event::Done(answer) => {
                match (&mut self.activity, answer) {
                    (Some(Activity::Search(search)), Some(answer)) => {
                        search.finish(answer);
                        self.release();
                    }
                    (Some(Activity::Load(_)), _) => {
                        self.activity = None;
                        self.renew_network();
                    }
                    _ => self.activity = None,
                }
                self.serve_queue();
            }
        }
    }

    /// Gives the answer, if it is there and may be given.
    fn release(&mut self) {
        let Some(Activity::Search(search)) = &mut self.activity else { return };
        let Some((answer, last_line)) = search.take_answer() else { return };
        self.activity = None;
        if self.debug {
            self.tell(format!("search: {:?}", answer.ending));
        }
        if let Some(info) = last_line {
            self.reply(Reply::Info(info));
        }
        if let Some(log) = &mut self.log {
            log.search(answer.ending, answer.threads);
        }
        if let Some(script) = &mut self.script {
            (script.told)(answer.ending);
        }
        self.reply(Reply::BestMove { best: answer.best, ponder: answer.ponder });
    }

    /// Says why something is not done as it was asked for. A script has failed then, but goes on.
    fn complain(&mut self, text: String) {
        if self.manner == Manner::Patient {
            self.failure.get_or_insert_with(|| text.clone());
        }
        self.tell(text);
    }

    /// Sends a remark for people.
    fn tell(&self, text: String) {
        self.reply(Reply::Message(text));
    }

    /// Sends a reply and logs it.
    fn reply(&self, reply: Reply) {
        if let Some(log) = &self.log {
            log.write(Instant::now(), Mark::Out, &reply.to_string());
        }
        self.writer.send(reply);
    }
}

/// Whether somebody waits for what is to be done, or a clock runs for it.
fn is_urgent(what: &What) -> bool {
    match what {
        What::Command(Command::Stop | Command::PonderHit | Command::Quit) | What::End => true,
        What::Command(Command::Go(go)) => plan::starts_clock(go),
        _ => false,
    }
}
