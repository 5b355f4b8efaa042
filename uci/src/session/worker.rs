//! The worker thread: jobs in, events out.
//!
//! It owns the searcher with its hash table and does all that takes long (searches, large allocations,
//! perft), so that the controller can always answer.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::io;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::Ordering;
use std::thread;

use cairn_engine::search::{Limits, Outcome, Report, Searcher, Style};
use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::openings;
use crate::session::messages::{Event, Job, STACK, SearchJob, SearcherSetup};
use crate::session::network;
use crate::session::options::DEFAULT_HASH;
use crate::session::tables::{self, Chosen};
use crate::session::views;
use crate::session::watch::Watch;
use crate::signature;

/// The handle of the worker thread.
#[derive(Debug)]
pub struct Worker {
    jobs: Sender<Job>,
    events: Receiver<Event>,
}

impl Worker {
    /// Starts the thread. Nothing is allocated before its first job.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn spawn() -> io::Result<Worker> {
        let (jobs, queue) = unbounded();
        let (sender, events) = unbounded();
        thread::Builder::new().name("search".into()).stack_size(STACK).spawn(move || {
            let mut bench = Workbench { searcher: None, events: sender };
            for job in queue {
                bench.perform(job);
            }
        })?;
        Ok(Worker { jobs, events })
    }

    /// Hands over a job. Each ends with one [`Event::Done`].
    pub fn start(&self, job: Job) {
        // The thread outlives its handle and catches panics, so this cannot fail.
        let _ = self.jobs.send(job);
    }

    /// News from the worker.
    pub fn events(&self) -> &Receiver<Event> {
        &self.events
    }
}

/// The state of the worker thread.
struct Workbench {
    searcher: Option<Searcher>,
    events: Sender<Event>,
}

impl Workbench {
    /// Does one job and reports its end, even after a panic.
    fn perform(&mut self, job: Job) {
        match job {
            Job::Search(job) => self.search(&job),
            other => {
                if let Err(reason) = guarded(|| self.perform_chore(other)) {
                    self.note(format!("internal error: {reason}"));
                    self.searcher = None;
                }
                self.tell(Event::Done(None));
            }
        }
    }

    /// Does a job that has no answer.
    fn perform_chore(&mut self, job: Job) {
        let events = self.events.clone();
        let mut print = |line: String| {
            // Nobody listens only when the program is about to end.
            let _ = events.send(Event::Text(line));
        };
        match job {
            Job::Prepare { setup, hurry } => {
                self.prepare(&setup, &mut || hurry.load(Ordering::Relaxed));
            }
            Job::Load(mut path) => {
                let read = network::chosen(&mut path).map(|network| (network, path));
                self.tell(Event::Loaded(read));
            }
            Job::LoadTables(mut path) => {
                let Chosen { tables, remarks, .. } = tables::chosen(&mut path);
                self.tell(Event::TablesLoaded { tables, path, remarks });
            }
            Job::Perft { board, depth, chess960, control } => {
                views::divide(&board, depth, chess960, control.stop_flag(), &mut print);
            }
            Job::Bench { depth, control } => {
                if let Err(error) = views::bench(depth, &control, &mut print) {
                    self.tell(Event::Failed(format!("bench: {error}")));
                }
            }
            Job::Signature => match signature::nodes() {
                Ok(nodes) => self.tell(Event::Signature(nodes)),
                Err(error) => self.note(format!("bench: {error}")),
            },
            Job::Openings { request, control } => {
                let stop = control.stop_flag();
                if let Err(error) = openings::generate(&request, stop, &mut print) {
                    self.tell(Event::Failed(format!("genfens: {error:#}")));
                }
            }
            Job::Search(_) => {}
        }
    }

    /// Searches. There is always an answer, with a legal move if there is one; it is given before all of the
    /// search has ended.
    fn search(&mut self, job: &SearchJob) {
        let watch = RefCell::new(Watch::new(job, self.events.clone()));
        let is_answered = Cell::new(false);
        let events = self.events.clone();
        let answer = |outcome: Option<&Outcome>| {
            is_answered.set(true);
            let watch = watch.borrow();
            for note in outcome.iter().flat_map(|outcome| &outcome.notes) {
                let _ = events.send(Event::Note(note.clone()));
            }
            let answer = job.answer(outcome, watch.best_line(), watch.ending(outcome));
            // Nobody listens only when the program is about to end.
            let _ = events.send(Event::Done(Some(answer)));
        };
        let searched = guarded(|| {
            let hurried = &mut || {
                let clock_runs = job.control.clock_elapsed().is_some();
                job.control.engine.is_stopped() || (job.timed && clock_runs)
            };
            let Some(searcher) = self.prepare(&job.setup, hurried) else { return };
            let limits = limits_of(job);
            let sink = &mut |report: &Report<'_>| watch.borrow_mut().take(report);
            let control = &job.control.engine;
            searcher.search_and_answer(&job.board, &limits, control, sink, &mut |outcome| {
                answer(Some(outcome));
            });
        });
        if let Err(reason) = searched {
            let played = if is_answered.get() { "" } else { "; the best move so far is played" };
            self.note(format!("internal error: {reason}{played}"));
            // Its tables may be inconsistent.
            self.searcher = None;
        }
        if !is_answered.get() {
            answer(None);
        }
    }

    /// The searcher with the options applied, as far as there is memory. `hurried` says whether somebody
    /// waits: then a table that has to be allocated or cleared gets its memory later, in the search.
    fn prepare(
        &mut self,
        setup: &SearcherSetup,
        hurried: &mut dyn FnMut() -> bool,
    ) -> Option<&mut Searcher> {
        let (mut searcher, is_new) = match self.searcher.take() {
            None => (self.first_searcher(setup)?, true),
            Some(mut searcher) => {
                let is_new = self.adjust(&mut searcher, setup);
                (searcher, is_new)
            }
        };
        let is_new = match searcher.set_threads(setup.threads, setup.deterministic) {
            Ok(is_other) => is_new || is_other,
            Err(error) => {
                self.note(format!("{error}; there are still {} threads", searcher.threads()));
                is_new
            }
        };
        let network = network::playing(setup.loaded.as_ref());
        let old = if searcher.network() != network.as_ref() {
            searcher.set_network_until(network, hurried)
        } else if is_new || setup.clear {
            searcher.clear_until(hurried)
        } else {
            Vec::new()
        };
        if !old.is_empty() {
            discard(old);
        }
        Some(self.searcher.insert(searcher))
    }

    /// A new searcher with the hash size asked for, else the default size, else the smallest.
    fn first_searcher(&self, setup: &SearcherSetup) -> Option<Searcher> {
        let network = network::playing(setup.loaded.as_ref());
        let with = |mib| Searcher::with_network(setup.style, mib, network.clone());
        let error = match with(setup.hash_mib) {
            Ok(searcher) => return Some(searcher),
            Err(error) => error,
        };
        for mib in [DEFAULT_HASH.min(setup.hash_mib), 1] {
            if let Ok(searcher) = with(mib) {
                self.note(format!("{error}; the hash table has {mib} MiB"));
                self.tell(Event::HashKept(mib));
                return Some(searcher);
            }
        }
        self.note(format!("{error}; nothing can be searched"));
        None
    }

    /// Applies the options to an existing searcher. Whether its table is a new one.
    fn adjust(&self, searcher: &mut Searcher, setup: &SearcherSetup) -> bool {
        if (searcher.style(), searcher.hash_mib()) == (setup.style, setup.hash_mib) {
            return false;
        }
        let network = searcher.network().cloned();
        if let Ok(new) = Searcher::with_network(setup.style, setup.hash_mib, network) {
            discard(mem::replace(searcher, new));
            return true;
        }
        // As much of it as there is memory for.
        let mut is_new = false;
        if searcher.style() != setup.style {
            match searcher.set_style(setup.style) {
                Ok(()) => is_new = true,
                Err(error) => self.note(format!("the style is unchanged: {error}")),
            }
        }
        if searcher.hash_mib() != setup.hash_mib {
            match searcher.resize(setup.hash_mib) {
                Ok(()) => is_new = true,
                Err(error) => {
                    let kept = searcher.hash_mib();
                    self.note(format!("{error}; the hash table keeps its {kept} MiB"));
                    self.tell(Event::HashKept(kept));
                }
            }
        }
        is_new
    }

    fn note(&self, text: String) {
        self.tell(Event::Note(text));
    }

    fn tell(&self, event: Event) {
        // Nobody listens only when the program is about to end.
        let _ = self.events.send(event);
    }
}

/// Drops what has a lot of memory, which takes long, where nobody waits.
fn discard<T: Send + 'static>(old: T) {
    // Without the thread it is dropped here.
    let _ = thread::Builder::new().name("release".into()).spawn(move || drop(old));
}

/// The limits for the engine. In a replay, a cut becomes a node limit, as the search stops at any node.
/// micro-Max completes the iteration in which a limit is reached, and its probe of a stalemated root
/// depends on the limit, so its cuts are made between iterations instead.
fn limits_of(job: &SearchJob) -> Limits {
    let mut limits = job.limits.clone();
    if let Some(cut) = job.cut
        && (job.setup.style != Style::MicroMax || cut.nodes == 0)
    {
        let (limit, point) = match cut.main {
            Some(main) => (&mut limits.leader_nodes, main),
            None => (&mut limits.nodes, cut.nodes),
        };
        *limit = Some(limit.map_or(point, |limit| limit.min(point)));
    }
    limits
}

/// Calls `work` and turns a panic into an error with its text.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|payload| reason_of(payload.as_ref()))
}

/// The text of a panic.
fn reason_of(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string))
        .unwrap_or_else(|| "panic".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_with_its_text() {
        let reason = guarded(|| -> u32 { panic!("slot {}", 7) }).expect_err("a panic");
        assert_eq!(reason, "slot 7");
    }
}
