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
use crossbeam_channel::{Receiver, at, never, select};

use crate::protocol::{self, Command, Go, Reply, quote};
use crate::session::clock::TimeLimits;
use crate::session::game::Game;
use crate::session::log::{Log, Mark, NETWORK};
use crate::session::messages::{Cut, Event, Job, SearchJob, SearcherSetup};
use crate::session::network;
use crate::session::options::{self, EVAL_FILE, Settings, UciOption, When};
use crate::session::pending::PendingGo;
use crate::session::plan;
use crate::session::reader::{Arrival, Input, MAX_LINE};
use crate::session::views;
use crate::session::worker::Worker;
use crate::session::writer::Writer;

/// The text of `id author`.
const AUTHOR: &str = "the Cairn authors";

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
    /// Applying the options to the searcher.
    Prepare,
    /// Reading a network; with the `EvalFile` before it.
    Load(String),
    /// A command beyond UCI, with its stop flag.
    Console(Arc<AtomicBool>),
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
    /// What the searcher was last set up for.
    prepared: Option<SearcherSetup>,
    game: Game,
    activity: Option<Activity>,
    queue: VecDeque<Order>,
    /// When the program ends even if the search has not.
    exit_by: Option<Instant>,
    debug: bool,
    log: Option<Log>,
    /// In a replay: where each of the next searches was cut.
    script: Option<VecDeque<Option<Cut>>>,
    ended: bool,
    /// The first command of a script that could not do what it was asked for.
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

    /// Makes all searches run without clocks, each up to its point in the script.
    pub fn follow(&mut self, script: VecDeque<Option<Cut>>) {
        self.script = Some(script);
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
        self.close_log();
        let patience = (self.manner == Manner::Interactive).then_some(DRAIN_PATIENCE);
        self.writer.finish(patience).context("cannot write the output")?;
        self.failure.map_or(Ok(()), |failure| Err(anyhow!(failure)))
    }

    /// The next moment at which something has to happen by itself.
    fn next_deadline(&self) -> Option<Instant> {
        let search = match &self.activity {
            Some(Activity::Search(search)) => search.next_due(),
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
        let quits_search = matches!(what, What::Command(Command::Quit))
            && matches!(self.activity, Some(Activity::Search(_)))
            && self.manner == Manner::Interactive;
        if quits_search {
            // Do not wait for work that nobody will see.
            self.queue.clear();
        }
        self.queue.push_back(Order { what, at: input.at });
        self.serve_queue();
    }

    /// Carries out what is queued, as far as possible now.
    fn serve_queue(&mut self) {
        while !self.ended
            && let Some(order) = self.queue.pop_front()
        {
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
            Command::IsReady if matches!(self.activity, Some(Activity::Prepare)) => {
                return Some(order);
            }
            // Which network plays is not known yet.
            Command::IsReady | Command::Eval
                if matches!(self.activity, Some(Activity::Load(_))) =>
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
        match &self.activity {
            Some(Activity::Search(search)) if impatient || search.must_hold() => self.stop(),
            // Console commands run to their end, whatever follows in the pipe.
            Some(Activity::Console(_)) => return Some(order),
            _ => {}
        }
        let is_last = matches!(order.what, What::End | What::Command(Command::Quit));
        if is_last && impatient {
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
                    let setup = self.take_setup();
                    self.start(Activity::Prepare, Job::Prepare(setup));
                    return Some(Order { what: What::Command(Command::IsReady), at: order.at });
                }
                self.reply(Reply::ReadyOk);
            }
            Command::SetOption { name, value } => self.set_option(&name, value.as_deref()),
            Command::NewGame => self.settings.clear_hash = true,
            Command::Position(position) => {
                if let Err(refusal) = self.game.set(position) {
                    self.tell(refusal);
                }
            }
            Command::Go(go) => self.go(&go, order.at),
            Command::Perft(depth) => self.perft(depth),
            Command::Bench(depth) => {
                #[cfg(feature = "tune")]
                self.settings.apply_params();
                self.start(Activity::Console(Arc::default()), Job::Bench(depth));
            }
            Command::Openings(request) => {
                let stop = Arc::new(AtomicBool::new(false));
                let job = Job::Openings { request, stop: Arc::clone(&stop) };
                self.start(Activity::Console(stop), job);
            }
            Command::Display => {
                let text = views::display(self.game.board(), self.settings.chess960);
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

    /// Sets an option and sends the remark on it, if any.
    fn set_option(&mut self, name: &str, value: Option<&str>) {
        let names_network = name.eq_ignore_ascii_case(EVAL_FILE);
        if names_network && self.script.is_some() {
            // A replay opens no file that its log names.
            return;
        }
        let log_file = self.settings.log_file.clone();
        let eval_file = self.settings.eval_file.clone();
        match self.settings.set(name, value) {
            Ok(None) => {}
            Ok(Some(remark)) => self.tell(remark),
            Err(refusal) => self.tell(refusal),
        }
        if self.settings.log_file != log_file {
            self.close_log();
            self.begin_log();
        }
        if names_network {
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

    /// Gives another network to a searcher that was there already, which empties its table, as long as no clock
    /// runs.
    fn renew_network(&mut self) {
        if self.prepared.as_ref().is_some_and(|prepared| prepared.loaded != self.loaded) {
            let setup = self.take_setup();
            self.start(Activity::Prepare, Job::Prepare(setup));
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
                self.start(Activity::Prepare, Job::Signature);
            }
            Err(error) => {
                self.settings.log_file.clear();
                self.tell(format!("Debug Log File '{}': {error}; no log is kept", quote(&path)));
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
            self.settings.log_file.clear();
            self.tell(format!("the log cannot be written: {error}; it ends here"));
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
        if let Some(remark) = remark {
            self.tell(remark);
        }
        if let Some(remark) = plan::remark_on_limits(go, &clock) {
            self.tell(remark);
        }
        let choices =
            if search_moves.is_empty() { board.legal_moves().len() } else { search_moves.len() };
        let cut = self.script.as_mut().and_then(VecDeque::pop_front);
        let chess960 = self.settings.chess960;
        let mut search = match cut {
            Some(_) => PendingGo::unbounded(at, chess960),
            None => {
                let forced = choices == 1;
                let limits = plan::time_limits(&self.settings, go, &clock, forced);
                PendingGo::planned(go, limits, at, chess960)
            }
        };
        search.start_clock(at);
        let TimeLimits { soft, hard } = search.limits();
        let limits = plan::engine_limits(&self.settings, go, search_moves);
        #[cfg(feature = "tune")]
        self.settings.apply_params();
        let job = SearchJob {
            setup: self.take_setup(),
            board,
            limits,
            soft,
            started: at,
            chess960,
            show_wdl: self.settings.show_wdl,
            cut: cut.flatten(),
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
        let stop = Arc::new(AtomicBool::new(false));
        let job = Job::Perft {
            board: Box::new(self.game.board().clone()),
            depth,
            chess960: self.settings.chess960,
            stop: Arc::clone(&stop),
        };
        self.start(Activity::Console(stop), job);
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
            Some(Activity::Console(stop)) => stop.store(true, Ordering::Relaxed),
            Some(Activity::Prepare | Activity::Load(_)) | None => {}
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
            Event::Loaded(Ok(loaded)) => self.take_network(loaded),
            Event::Loaded(Err(refusal)) => {
                if let Some(Activity::Load(before)) = &mut self.activity {
                    self.settings.eval_file = std::mem::take(before);
                }
                self.tell(format!("{refusal}; the network that plays is kept"));
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
            log.search(answer.ending, self.settings.threads);
        }
        self.reply(Reply::BestMove { best: answer.best, ponder: answer.ponder });
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

/// Whether setting an option has to wait for the end of a search.
fn needs_idle_engine(name: &str) -> bool {
    UciOption::named(name).is_some_and(|option| option.when == When::Idle)
}
