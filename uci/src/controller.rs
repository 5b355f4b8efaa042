//! The controller: owns the position, the options and the state, and never blocks.
//!
//! It waits for whichever comes first: a line, an event of the worker, a deadline, or the end of the
//! writer. Commands are carried out strictly in the order in which they came. One that cannot be
//! carried out now waits in a queue, and all that come later wait behind it; one that needs an idle
//! engine also tells the search to stop. So a `stop` cannot overtake the `go` it was meant for, and a
//! `position` that comes while a search is still ending is not lost.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use cairn_engine::board::Board;
use cairn_engine::moves::Move;
use cairn_engine::piece::Side;
use cairn_engine::search::{Bound, CurrentMove, Limits};
use crossbeam_channel::{Receiver, at, never, select};

use crate::clock::{
    Budget, GoControl, PROGRESS_DELAY, PROGRESS_INTERVAL, SHORTEST, UNREADABLE_LIMITS_TIME,
};
use crate::game::Game;
use crate::log::{Log, Mark};
use crate::options::{self, Settings, UciOption, When};
use crate::protocol::{self, Clock, Command, Go, Info, Reply, Status, quote};
use crate::reader::{Arrival, Input, MAX_LINE};
use crate::views;
use crate::worker::{Answer, Cut, Event, Job, SearchJob, Setup, Worker};
use crate::writer::Writer;

/// Who wrote it, for `id author`.
const AUTHOR: &str = "the Cairn authors";

/// How long a search may take to end once the program has to.
const EXIT_PATIENCE: Duration = Duration::from_secs(1);

/// How long the output may take to drain once the program has to end.
const DRAIN_PATIENCE: Duration = Duration::from_millis(200);

/// What a command does that finds a search under way and needs an idle engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// It stops the search: a GUI that goes on has no more use for it.
    Interactive,
    /// It waits for the end of it, as the next line of a script does. Only a search that never ends
    /// by itself is stopped.
    Patient,
}

/// Something to be done, and when it came in.
#[derive(Debug)]
struct Order {
    what: What,
    at: Instant,
}

#[derive(Debug)]
enum What {
    Command(Command),
    /// Something to say about a line that was no command; it waits for its turn like one.
    Remark(String),
    /// The input has ended.
    End,
}

/// What the worker is doing.
enum Task {
    Search(Box<Search>),
    /// Bringing the searcher in line with the options.
    Prepare,
    /// A command that is not UCI, with its stop flag.
    Console(Arc<AtomicBool>),
}

/// A `go` that has not been answered yet.
struct Search {
    control: Arc<GoControl>,
    /// It stays unanswered until `stop`.
    infinite: bool,
    /// It stays unanswered until `ponderhit` or `stop`.
    pondering: bool,
    /// The soft limit, counted from the start of the clock.
    soft: Option<Duration>,
    /// The hard limit, counted from the start of the clock.
    hard: Option<Duration>,
    /// The hard limit as a moment, once the clock runs.
    deadline: Option<Instant>,
    /// The answer, when it is there before it may be given.
    held: Option<Answer>,
    /// When the `go` came in.
    started: Instant,
    /// When the next status line is due; never again once the search is over.
    next_status: Option<Instant>,
    /// The most nodes that a line has said.
    nodes_said: u64,
    /// The last line of rank 1.
    best_line: Option<Info>,
    /// Whether something was said after the last exact line.
    exact_line_is_old: bool,
    /// How full the hash table was when that was last said.
    hash_full: u32,
    /// How castling is written.
    chess960: bool,
    /// The root move that was last said to be under way, with its iteration.
    said_move: Option<CurrentMove>,
}

impl Search {
    /// A search that has all the time in the world, and answers as soon as it is done.
    fn unbounded(at: Instant) -> Search {
        Search {
            control: Arc::default(),
            infinite: false,
            pondering: false,
            soft: None,
            hard: None,
            deadline: None,
            held: None,
            started: at,
            next_status: None,
            nodes_said: 0,
            best_line: None,
            exact_line_is_old: false,
            hash_full: 0,
            chess960: false,
            said_move: None,
        }
    }

    /// A search as `go` asks for it.
    fn planned(go: &Go, budget: &Budget, at: Instant) -> Search {
        Search {
            infinite: go.infinite,
            pondering: go.ponder,
            soft: budget.soft,
            hard: budget.hard,
            next_status: Some(at + PROGRESS_DELAY),
            ..Search::unbounded(at)
        }
    }

    /// Whether the answer, when there is one, has to wait.
    fn must_hold(&self) -> bool {
        self.infinite || self.pondering
    }

    /// Starts the clock. Some time is left in any case: a `go` may have waited behind another one
    /// until its own time was up.
    fn start_clock(&mut self, at: Instant) {
        self.control.start_clock(at);
        self.deadline = self.hard.map(|hard| (at + hard).max(Instant::now() + SHORTEST));
    }

    /// A line that shows that the search goes on. The count never falls: each line of an iteration has
    /// a count of its own in the engine.
    fn status(&mut self, now: Instant) -> Status {
        self.next_status = Some(now + PROGRESS_INTERVAL);
        self.exact_line_is_old = true;
        self.nodes_said = self.nodes_said.max(self.control.engine.nodes());
        Status {
            depth: self.control.engine.iteration(),
            nodes: self.nodes_said,
            hash_full: self.hash_full,
            elapsed: now - self.started,
        }
    }

    /// The iteration and the root move under way, unless that has been said.
    fn new_move(&mut self, board: &Board) -> Option<Reply> {
        let engine = &self.control.engine;
        let current = engine.current_move();
        let is_new = current != self.said_move;
        self.said_move = current;
        let CurrentMove { iteration: depth, mv, number } = current.filter(|_| is_new)?;
        Some(Reply::CurrentMove { depth, mv: board.uci_text(mv, self.chess960), number })
    }

    /// Takes note of a line of the search.
    fn note(&mut self, info: &Info) {
        self.exact_line_is_old = info.bound != Bound::Exact;
        self.nodes_said = self.nodes_said.max(info.nodes);
        self.hash_full = info.hash_full;
        if info.multi_pv == 1 && info.bound == Bound::Exact {
            self.best_line = Some(info.clone());
        }
    }
}

/// The front-end's main loop with all its state.
pub struct Controller {
    input: Receiver<Input>,
    worker: Worker,
    writer: Writer,
    manner: Manner,
    settings: Settings,
    /// What the searcher was last told about the options.
    prepared: Option<Setup>,
    game: Game,
    task: Option<Task>,
    queue: VecDeque<Order>,
    /// When the program ends even though the search has not.
    exit_by: Option<Instant>,
    debug: bool,
    log: Option<Log>,
    /// For a session that is played again: where each of the searches to come was cut.
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
            prepared: None,
            game: Game::default(),
            task: None,
            queue: VecDeque::new(),
            exit_by: None,
            debug: false,
            log: None,
            script: None,
            ended: false,
            failure: None,
        })
    }

    /// Lets all searches run without clocks, each to the point that stands in the script.
    pub fn follow(&mut self, script: VecDeque<Option<Cut>>) {
        self.script = Some(script);
    }

    /// Serves until the end.
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
                    // The worker is gone, and with it all that could be done.
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
        let (deadline, status) = match &self.task {
            Some(Task::Search(search)) => (search.deadline, search.next_status),
            _ => (None, None),
        };
        [deadline, status, self.exit_by].into_iter().flatten().min()
    }

    /// A deadline has been reached.
    fn strike(&mut self) {
        let now = Instant::now();
        let mut progress = [None, None];
        if let Some(Task::Search(search)) = &mut self.task {
            if search.deadline.is_some_and(|deadline| deadline <= now) {
                search.deadline = None;
                search.control.engine.stop();
            }
            if search.next_status.is_some_and(|due| due <= now) {
                // The position stays as it is for as long as the search takes.
                let current = search.new_move(self.game.board());
                progress = [current, Some(Reply::Status(search.status(now)))];
            }
        }
        for reply in progress.into_iter().flatten() {
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
        let quits_search = matches!(what, What::Command(Command::Quit))
            && matches!(self.task, Some(Task::Search(_)))
            && self.manner == Manner::Interactive;
        if quits_search {
            // Quitting is not made to wait for what nobody will look at.
            self.queue.clear();
        }
        self.queue.push_back(Order { what, at: input.at });
        self.serve_queue();
    }

    /// Carries out what is queued, as far as that is possible now.
    fn serve_queue(&mut self) {
        while !self.ended
            && let Some(order) = self.queue.pop_front()
        {
            let waiting = if self.task.is_some() {
                self.carry_out_busy(order)
            } else {
                self.carry_out_idle(order)
            };
            if let Some(order) = waiting {
                self.queue.push_front(order);
                if self.task.is_some() {
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
            Command::IsReady if matches!(self.task, Some(Task::Prepare)) => return Some(order),
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

    /// Sees to it that an order that needs an idle engine gets one, and gives it back until then.
    fn wait(&mut self, order: Order) -> Option<Order> {
        let impatient = self.manner == Manner::Interactive;
        match &self.task {
            Some(Task::Search(search)) if impatient || search.must_hold() => self.stop(),
            // What a person typed into a pipe is finished, whatever comes behind it.
            Some(Task::Console(_)) => return Some(order),
            _ => {}
        }
        let is_last = matches!(order.what, What::End | What::Command(Command::Quit));
        if is_last && impatient {
            self.exit_by.get_or_insert(Instant::now() + EXIT_PATIENCE);
        }
        Some(order)
    }

    /// Carries out an order that has all it needs; gives it back if something must be prepared first.
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
                    self.start(Task::Prepare, Job::Prepare(setup));
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
                self.start(Task::Console(Arc::default()), Job::Bench(depth));
            }
            Command::Openings(request) => {
                let stop = Arc::new(AtomicBool::new(false));
                let job = Job::Openings { request, stop: Arc::clone(&stop) };
                self.start(Task::Console(stop), job);
            }
            Command::Display => {
                let text = views::display(self.game.board(), self.settings.chess960);
                self.reply(Reply::Text(text));
            }
            Command::Eval => self.reply(Reply::Text(views::evaluation(self.game.board()))),
            Command::Help => self.reply(Reply::Text(views::help())),
            Command::Quit => self.ended = true,
            // Nothing is searched, so there is nothing to stop.
            Command::Stop | Command::PonderHit => {}
        }
        None
    }

    /// Answers `uci`.
    fn introduce(&self) {
        self.reply(Reply::Name(format!("Cairn {}", env!("CARGO_PKG_VERSION"))));
        self.reply(Reply::Author(AUTHOR));
        for option in options::all() {
            self.reply(Reply::Option(option));
        }
        self.reply(Reply::UciOk);
    }

    /// Sets an option, and says what there is to say about it.
    fn set_option(&mut self, name: &str, value: Option<&str>) {
        let log_file = self.settings.log_file.clone();
        match self.settings.set(name, value) {
            Ok(None) => {}
            Ok(Some(remark)) => self.tell(remark),
            Err(refusal) => self.tell(refusal),
        }
        if self.settings.log_file != log_file {
            self.close_log();
            self.begin_log();
        }
    }

    /// Begins the log that the options ask for. The hash table is emptied: what it has learnt before
    /// would not be there when the session is played again.
    fn begin_log(&mut self) {
        let path = self.settings.log_file.clone();
        if path.is_empty() {
            return;
        }
        match Log::begin(&path, &self.settings, self.game.described()) {
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
                self.start(Task::Prepare, Job::Signature);
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

    /// Writes down what came in, and gives the log up if its file cannot be written.
    fn log_input(&mut self, input: &Input) {
        let Some(log) = &self.log else { return };
        if let Some(error) = log.failure() {
            self.log = None;
            self.settings.log_file.clear();
            self.tell(format!("the log cannot be written: {error}; it ends here"));
            return;
        }
        if let Arrival::Line(bytes) = &input.what {
            // An argument of the command line may have line breaks, which are blanks like any other.
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
        if let Some(remark) = remark_on_limits(go, &clock) {
            self.tell(remark);
        }
        let choices =
            if search_moves.is_empty() { board.legal_moves().len() } else { search_moves.len() };
        let cut = self.script.as_mut().and_then(VecDeque::pop_front);
        let mut search = match cut {
            Some(_) => Search::unbounded(at),
            None => Search::planned(go, &self.budget(go, &clock, choices == 1), at),
        };
        search.chess960 = self.settings.chess960;
        if !search.pondering {
            search.start_clock(at);
        }
        let limits = Controller::limits(&self.settings, go, search_moves);
        #[cfg(feature = "tune")]
        self.settings.apply_params();
        let job = SearchJob {
            setup: self.take_setup(),
            board,
            limits,
            soft: search.soft,
            started: at,
            chess960: self.settings.chess960,
            show_wdl: self.settings.show_wdl,
            cut: cut.flatten(),
            control: Arc::clone(&search.control),
        };
        if self.debug {
            self.tell(format!(
                "searching: {:?}, hash {} MiB, soft {:?}, hard {:?}",
                job.limits, job.setup.hash_mib, search.soft, search.hard
            ));
        }
        self.start(Task::Search(Box::new(search)), Job::Search(Box::new(job)));
    }

    /// How long a search may take.
    fn budget(&self, go: &Go, clock: &Clock, forced: bool) -> Budget {
        let overhead = Duration::from_millis(self.settings.move_overhead);
        Budget::plan(go, clock, overhead, forced)
    }

    /// What a search that `go` asks for counts itself.
    #[must_use]
    pub fn limits(settings: &Settings, go: &Go, search_moves: Vec<Move>) -> Limits {
        // Nothing at all cannot be searched; one is the least there is.
        let nodes = go.nodes.map(|nodes| nodes.max(1));
        let level = settings.level();
        Limits {
            depth: go.depth.map(|depth| u32::from(depth.max(1))),
            nodes: [nodes, level.map(|level| level.nodes)].into_iter().flatten().min(),
            mate: go.mate.map(u32::from),
            search_moves,
            multi_pv: settings.multi_pv,
            attention: level.map(|level| level.attention),
        }
    }

    /// Starts counting the move tree.
    fn perft(&mut self, depth: u32) {
        let stop = Arc::new(AtomicBool::new(false));
        let job = Job::Perft {
            board: Box::new(self.game.board().clone()),
            depth,
            chess960: self.settings.chess960,
            stop: Arc::clone(&stop),
        };
        self.start(Task::Console(stop), job);
    }

    /// Hands a job to the idle worker.
    fn start(&mut self, task: Task, job: Job) {
        self.task = Some(task);
        self.worker.start(job);
    }

    /// What the options say about the searcher.
    fn setup(&self) -> Setup {
        Setup {
            style: self.settings.style,
            hash_mib: self.settings.hash_mib,
            clear: self.settings.clear_hash,
        }
    }

    /// The same for a job that is going to see to it.
    fn take_setup(&mut self) -> Setup {
        let setup = self.setup();
        self.settings.clear_hash = false;
        self.prepared = Some(self.setup());
        setup
    }

    /// Ends what is under way. A held answer goes out.
    fn stop(&mut self) {
        match &mut self.task {
            Some(Task::Search(search)) => {
                search.control.engine.stop();
                search.infinite = false;
                search.pondering = false;
                self.release();
            }
            Some(Task::Console(stop)) => stop.store(true, Ordering::Relaxed),
            Some(Task::Prepare) | None => {}
        }
    }

    /// The opponent has played the expected move: from now on this is a normal search.
    fn ponder_hit(&mut self, at: Instant) {
        if let Some(Task::Search(search)) = &mut self.task
            && search.pondering
        {
            search.pondering = false;
            search.start_clock(at);
            if search.control.is_ripe(at.saturating_duration_since(search.started)) {
                search.control.engine.stop();
            }
            self.release();
        }
    }

    /// Takes an event of the worker.
    fn handle(&mut self, event: Event) {
        match event {
            Event::Line(info) => {
                if let Some(Task::Search(search)) = &mut self.task {
                    search.note(&info);
                }
                self.reply(Reply::Info(info));
            }
            Event::Note(text) => {
                if let Some(Task::Search(search)) = &mut self.task {
                    search.exact_line_is_old = true;
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
            Event::Done(answer) => {
                match (&mut self.task, answer) {
                    (Some(Task::Search(search)), Some(answer)) => {
                        search.held = Some(answer);
                        search.next_status = None;
                        self.release();
                    }
                    _ => self.task = None,
                }
                self.serve_queue();
            }
        }
    }

    /// Gives the answer, if it is there and need not be held any longer.
    fn release(&mut self) {
        let Some(Task::Search(search)) = &mut self.task else { return };
        if search.must_hold() {
            return;
        }
        let Some(answer) = search.held.take() else { return };
        // The last line before the answer is exact and shows the move that is played.
        let again = search.best_line.take().filter(|_| search.exact_line_is_old);
        self.task = None;
        if self.debug {
            self.tell(format!("search: {:?}", answer.ending));
        }
        if let Some(info) = answer.closing.or(again) {
            self.reply(Reply::Info(info));
        }
        if let Some(log) = &mut self.log {
            log.search(answer.ending, self.settings.threads);
        }
        self.reply(Reply::BestMove { best: answer.best, ponder: answer.ponder });
    }

    fn tell(&self, text: String) {
        self.reply(Reply::Message(text));
    }

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

/// What there is to say about arguments of `go` that were not understood, or say nothing about `clock`,
/// that of the side to move.
pub(crate) fn remark_on_limits(go: &Go, clock: &Clock) -> Option<String> {
    let ignored = (!go.unreadable.is_empty())
        .then(|| format!("ignored in go: {}", protocol::quote(&go.unreadable.join(", "))));
    let limited = go.lost_its_limits(clock).then(|| {
        let time = UNREADABLE_LIMITS_TIME.as_millis();
        format!("go has no limit for the side to move, so it gets {time} ms")
    });
    let remarks: Vec<String> = [ignored, limited].into_iter().flatten().collect();
    (!remarks.is_empty()).then(|| remarks.join("; "))
}
