//! Deterministic threads: with the same number of them the same position, options, history of the session and
//! limit give the same nodes, scores, lines and move, on every machine and whatever its scheduler does.
//!
//! Each thread owns a part of the hash memory and its histories, and plays alone. Every [`PERIOD`] of its own nodes
//! it closes a period and publishes a log of what it has stored that is worth sharing. A thread that has closed
//! period k takes over the logs of period k - 1 of all others, in the order of the threads, before it begins period
//! k + 1. The logs are a period old by then, so that threads of about the same speed hardly wait for each other.
//! Source: Nabeshima and Inoue, "Reproducible Efficient Parallel SAT Solving", SAT 2020.
//!
//! # Why this is exact
//!
//! Let the state of a thread be all that it reads while it searches: its board, stack, histories and part of the
//! memory. Nothing of that is written by another thread.
//!
//! 1. *A thread's state at each of its nodes depends on its state at the beginning of the search and on the logs
//!    that it has taken over.* Its course between two boundaries is that of one thread alone. At the boundary behind
//!    period k it takes over the logs of period k - 1 of all others, all of them and no other, in a fixed order,
//!    however long it has to wait. By induction over k all logs are therefore the same in every run, and so
//!    is every state.
//! 2. *Nobody waits for ever.* A thread waits at the end of period k for logs of period k - 1. Of all threads that
//!    have not ended, one that has published least waits for nobody, as the others have published as
//!    much.
//! 3. *The leader's end is one number.* It stops before it counts a node: because of the limit, the
//!    stop flag or the caller's verdict. It looks at flag and limit first at a boundary, then waits (where the
//!    stop flag wakes it), and only then publishes its log and takes over the others'. So a leader that has stopped
//!    at N of its own nodes has published the periods that end below N, whatever it was that
//!    stopped it, and the same search with its own count limited to N ends in the same state.
//! 4. *So do the helpers.* The leader ends in some period K, whose log it never publishes. A helper needs that log
//!    at the end of period K + 1, and stops there and nowhere else. This it does after the answer was given.
//! 5. *What is told depends on logs alone.* The node count is the leader's own and a period for each log that it has
//!    taken over; the node limit is for that sum. The threads vote with the lines that these logs tell.
//!
//! A helper that ends by itself, at the greatest depth, has published its last log; the others go on without.

use super::POLL_INTERVAL;
use super::root_lines::Found;
use super::team::Member;
use super::tt::{self, CairnTable, TtEntry, TtView};
use crate::keys::Keys;
use crate::params;
use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

/// The length of a period, in nodes.
pub(super) const PERIOD: u64 = 4 * POLL_INTERVAL;

/// The most entries of all logs of a period together.
const ALL_ENTRIES_MAX: usize = 1 << 16;

/// How many logs of a thread are kept. A thread that publishes period k has seen all others publish k - 1, which
/// they do after they have taken over k - 3: so that log may be overwritten.
const KEPT: usize = 3;

/// How often a thread that waits looks whether it has to stop.
const PATIENCE: Duration = Duration::from_millis(1);

/// What a thread publishes at the end of a period.
#[derive(Default)]
struct Log {
    entries: Vec<(Keys, TtEntry)>,
    /// Its best line by then.
    found: Found,
}

/// How far a thread is.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// The periods that it has published.
    published: u64,
    /// It publishes no more.
    has_left: bool,
}

/// Where the threads of a search publish their logs.
pub(super) struct Exchange {
    logs: Vec<[RwLock<Log>; KEPT]>,
    progress: Mutex<Vec<Progress>>,
    news: Condvar,
    /// The most entries of a log.
    entries_max: usize,
}

impl Exchange {
    /// An exchange for so many threads; the first one leads.
    pub(super) fn new(threads: usize) -> Exchange {
        Exchange {
            logs: (0..threads).map(|_| Default::default()).collect(),
            progress: Mutex::new(vec![Progress::default(); threads]),
            news: Condvar::new(),
            entries_max: (ALL_ENTRIES_MAX / threads).max(1),
        }
    }

    fn progress(&self) -> MutexGuard<'_, Vec<Progress>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread publishes no more.
    pub(super) fn leave(&self, number: usize) {
        self.progress()[number].has_left = true;
        self.news.notify_all();
    }

    /// A guard that makes a thread leave, also if it panics.
    pub(super) const fn leave_on_drop(&self, number: usize) -> impl Drop {
        LeaveOnDrop { exchange: self, number }
    }

    /// Waits for all logs of a period. Returns whether to go on: not if the leader has ended without one, or a
    /// thread that waits has to stop.
    fn wait(&self, period: u64, member: Member<'_>) -> bool {
        let mut progress = self.progress();
        loop {
            let leader = progress[0];
            if member.is_stopped() || (leader.has_left && leader.published <= period) {
                return false;
            }
            if progress.iter().all(|thread| thread.published > period || thread.has_left) {
                return true;
            }
            let waited = self.news.wait_timeout(progress, PATIENCE);
            progress = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Publishes a log and empties it.
    fn publish(&self, number: usize, entries: &mut Vec<(Keys, TtEntry)>, found: &Found) {
        let period = self.progress()[number].published;
        {
            let slot = &self.logs[number][period as usize % KEPT];
            let mut log = slot.write().unwrap_or_else(PoisonError::into_inner);
            mem::swap(&mut log.entries, entries);
            log.found = found.clone();
        }
        entries.clear();
        self.progress()[number].published = period + 1;
        self.news.notify_all();
    }
}

struct LeaveOnDrop<'a> {
    exchange: &'a Exchange,
    number: usize,
}

impl Drop for LeaveOnDrop<'_> {
    fn drop(&mut self) {
        self.exchange.leave(self.number);
    }
}

/// A thread's own part of the memory.
pub(super) struct OwnTt<'a> {
    table: &'a CairnTable,
    exchange: &'a Exchange,
    number: usize,
    /// What it has stored in this period.
    log: Vec<(Keys, TtEntry)>,
    /// The period under way.
    period: u64,
    /// The nodes of the logs that it has taken over.
    merged_nodes: u64,
    /// What these logs tell of the other threads, by number.
    heard: Vec<Found>,
}

impl<'a> OwnTt<'a> {
    pub(super) fn new(table: &'a CairnTable, exchange: &'a Exchange, number: usize) -> OwnTt<'a> {
        OwnTt {
            table,
            exchange,
            number,
            log: Vec::new(),
            period: 0,
            merged_nodes: 0,
            // Only the leader asks for it.
            heard: if number == 0 {
                vec![Found::default(); exchange.logs.len()]
            } else {
                Vec::new()
            },
        }
    }

    /// What the logs that were taken over tell of the other threads.
    pub(super) fn into_heard(self) -> Vec<Found> {
        self.heard
    }

    /// Takes over the logs of a period, which are all there.
    fn merge(&mut self, period: u64) {
        let progress = self.exchange.progress().clone();
        for (other, logs) in self.exchange.logs.iter().enumerate() {
            if other == self.number || progress[other].published <= period {
                continue;
            }
            let log = logs[period as usize % KEPT].read().unwrap_or_else(PoisonError::into_inner);
            for &(keys, entry) in &log.entries {
                tt::store(self.table, keys, entry);
            }
            if let Some(heard) = self.heard.get_mut(other) {
                heard.clone_from(&log.found);
            }
            self.merged_nodes += PERIOD;
        }
    }
}

impl TtView for OwnTt<'_> {
    const PERIOD: u64 = PERIOD;

    #[inline(always)]
    fn probe(&self, keys: Keys) -> Option<TtEntry> {
        tt::probe(self.table, keys)
    }

    #[inline(always)]
    fn store(&mut self, keys: Keys, new: TtEntry) {
        if new.depth >= params::shared_depth() && self.log.len() < self.exchange.entries_max {
            self.log.push((keys, new));
        }
        tt::store(self.table, keys, new);
    }

    #[inline(always)]
    fn prefetch(&self, keys: Keys) {
        self.table.prefetch(keys);
    }

    fn fill(&self) -> u32 {
        tt::fill(self.table)
    }

    fn end_period(&mut self, member: Member<'_>, found: &Found) -> bool {
        let before = self.period.checked_sub(1);
        if before.is_some_and(|before| !self.exchange.wait(before, member)) {
            return false;
        }
        self.exchange.publish(self.number, &mut self.log, found);
        if let Some(before) = before {
            self.merge(before);
        }
        self.period += 1;
        true
    }

    fn merged_nodes(&self) -> u64 {
        self.merged_nodes
    }
}
