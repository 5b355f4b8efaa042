//! What the threads of one search share beside the table: node counts, the node limit, and when to stop. All of
//! it is relaxed atomics: nobody reads one of them to learn about another.

use super::{Control, POLL_INTERVAL};
use crate::moves::Move;
use crate::params;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The poll interval where there are several threads, in nodes: short, as they may have to wait for each other
/// to get a processor before each has seen that it has to stop.
const TEAM_POLL_INTERVAL: u64 = 128;

/// The node count of one thread. It has its cache lines to itself, also where the processor fetches them in
/// pairs: all threads count at the same time.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct NodeCounter(AtomicU64);

impl NodeCounter {
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self, nodes: u64) {
        self.0.store(nodes, Ordering::Relaxed);
    }
}

/// The threads of one search: a leader, which speaks for all, and its helpers.
pub(super) struct Team<'a> {
    control: &'a Control,
    /// The counts of the helpers; none where the leader counts for all.
    helpers: Arc<[NodeCounter]>,
    /// The helpers stop where the exchange says, and share no limit.
    is_deterministic: bool,
    poll_interval: u64,
    /// Helpers have to stop.
    is_over: AtomicBool,
    has_node_limit: bool,
    /// The nodes of the limit that no thread has taken yet; on cache lines of its own, as it is written often.
    left: NodeCounter,
}

impl<'a> Team<'a> {
    /// A leader with so many helpers, whose node counts begin at 0.
    pub(super) fn new(control: &'a Control, node_limit: Option<u64>, helpers: usize) -> Team<'a> {
        Team {
            control,
            helpers: control.begin(helpers),
            is_deterministic: false,
            poll_interval: if helpers == 0 { POLL_INTERVAL } else { TEAM_POLL_INTERVAL },
            is_over: AtomicBool::new(false),
            has_node_limit: node_limit.is_some(),
            left: NodeCounter(AtomicU64::new(node_limit.unwrap_or(u64::MAX))),
        }
    }

    /// A leader whose helpers are deterministic: it alone has a limit, and counts for all.
    pub(super) fn deterministic(control: &'a Control, node_limit: Option<u64>) -> Team<'a> {
        let team = Team::new(control, node_limit, 0);
        Team { is_deterministic: true, poll_interval: TEAM_POLL_INTERVAL, ..team }
    }

    /// The thread that speaks for all.
    pub(super) const fn leader(&self) -> Member<'_> {
        Member { team: self, number: 0 }
    }

    /// The helper with this number, from 1.
    pub(super) const fn helper(&self, number: usize) -> Member<'_> {
        Member { team: self, number }
    }

    /// The leader has ended. Its helpers stop too, unless it has spent the node limit: then they have next to
    /// nothing left of it, and spend that.
    pub(super) fn end(&self) {
        if !self.has_node_limit || self.left.get() > 0 {
            self.is_over.store(true, Ordering::Relaxed);
        }
    }

    /// Stops the helpers when it is dropped: also if the leader panics, who would wait for them else.
    pub(super) const fn stop_on_drop(&self) -> impl Drop {
        StopOnDrop(&self.is_over)
    }
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A thread's place in its team.
#[derive(Clone, Copy)]
pub(super) struct Member<'a> {
    team: &'a Team<'a>,
    /// The leader has 0.
    number: usize,
}

impl Member<'_> {
    /// Whether the thread speaks for all.
    pub(super) const fn leads(self) -> bool {
        self.number == 0
    }

    /// How often the thread publishes its count and looks whether to stop, in nodes.
    pub(super) const fn poll_interval(self) -> u64 {
        self.team.poll_interval
    }

    /// How much more or less a deterministic helper reduces late moves than the leader: each another way, as
    /// threads that begin alike and do the same would stay alike.
    pub(super) fn variation(self) -> i32 {
        if self.leads() || !self.team.is_deterministic {
            return 0;
        }
        let number = self.number as i32;
        let size = params::helper_variation() * (1 + (number - 1) / 2 % 4) + number / 8;
        if number % 2 == 1 { -size } else { size }
    }

    /// Publishes the thread's node count.
    pub(super) fn publish(self, nodes: u64) {
        match self.number.checked_sub(1) {
            None => self.team.control.publish(nodes),
            Some(_) if self.team.is_deterministic => {}
            Some(helper) => self.team.helpers[helper].set(nodes),
        }
    }

    /// Whether the thread has to stop.
    pub(super) fn is_stopped(self) -> bool {
        let is_free = self.leads() || !self.team.is_deterministic;
        (is_free && self.team.control.is_stopped())
            || (!self.leads() && self.team.is_over.load(Ordering::Relaxed))
    }

    /// Takes nodes of the limit for itself; 0 if there are none left. Several threads take small parts, and
    /// smaller ones towards the end, so that all of them come to it at the same time: no node is counted
    /// beyond the limit, and none is left of it.
    pub(super) fn take_nodes(self) -> u64 {
        if !self.team.has_node_limit || (self.team.is_deterministic && !self.leads()) {
            return u64::MAX;
        }
        let helpers = self.team.helpers.len() as u64;
        let part = |left: u64| match helpers {
            0 => left,
            _ => (left / (2 * (helpers + 1))).clamp(1, POLL_INTERVAL),
        };
        let take = |left: u64| left.checked_sub(part(left)).filter(|_| left > 0);
        let before = self.team.left.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        before.map_or(0, part)
    }

    /// Publishes the iteration that begins, if it is the leader's.
    pub(super) fn begin_iteration(self, depth: i32) {
        if self.leads() {
            self.team.control.begin_iteration(depth as u32);
        }
    }

    /// Publishes the root move that is searched from now on, if it is the leader's.
    pub(super) fn begin_root_move(self, mv: Move, number: i32) {
        if self.leads() {
            self.team.control.begin_root_move(mv, number as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_node_limit_is_given_out_to_the_last_node() {
        for helpers in [0, 1, 3, 100] {
            for limit in [0, 1, 2, 127, 1000, 1_000_000] {
                let control = Control::new();
                let team = Team::new(&control, Some(limit), helpers);
                let mut given = 0;
                for turn in 0.. {
                    let part = team.helper(turn % (helpers + 1)).take_nodes();
                    assert!(part <= POLL_INTERVAL || helpers == 0);
                    given += part;
                    if part == 0 {
                        break;
                    }
                }
                assert_eq!(given, limit, "{helpers} helpers");
            }
            let control = Control::new();
            assert_eq!(Team::new(&control, None, helpers).leader().take_nodes(), u64::MAX);
        }
    }

    #[test]
    fn a_leader_that_panics_leaves_no_helper_behind() {
        let control = Control::new();
        let team = Team::new(&control, None, 2);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _stop = team.stop_on_drop();
            assert!(!team.helper(2).is_stopped());
            panic!("on purpose");
        }));
        assert!(outcome.is_err() && team.helper(2).is_stopped() && !team.leader().is_stopped());
    }

    #[test]
    fn helpers_spend_what_they_have_when_the_limit_is_spent() {
        let control = Control::new();
        let team = Team::new(&control, Some(5), 1);
        while team.leader().take_nodes() > 0 {}
        team.end();
        assert!(!team.helper(1).is_stopped());
        control.stop();
        assert!(team.helper(1).is_stopped());
    }
}
