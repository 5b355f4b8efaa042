//! What the threads of one search share beside the table: node counts, the node limit, and when to stop.

use super::{Control, POLL_INTERVAL};
use crate::moves::Move;
use std::sync::atomic::{AtomicU64, Ordering};

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

/// The threads of one search.
pub(super) struct Team<'a> {
    control: &'a Control,
    /// The nodes of the limit that no thread has taken yet; all ones without a limit.
    left: AtomicU64,
}

impl<'a> Team<'a> {
    pub(super) fn new(control: &'a Control, node_limit: Option<u64>) -> Team<'a> {
        Team { control, left: AtomicU64::new(node_limit.unwrap_or(u64::MAX)) }
    }

    /// The thread that speaks for all.
    pub(super) const fn leader(&self) -> Member<'_> {
        Member { team: self }
    }
}

/// A thread's place in its team.
#[derive(Clone, Copy)]
pub(super) struct Member<'a> {
    team: &'a Team<'a>,
}

impl Member<'_> {
    /// How often the thread publishes its count and looks whether to stop, in nodes.
    #[inline(always)]
    pub(super) const fn poll_interval(self) -> u64 {
        POLL_INTERVAL
    }

    /// Publishes the thread's node count.
    pub(super) fn publish(self, nodes: u64) {
        self.team.control.publish(nodes);
    }

    /// Whether the thread has to stop.
    pub(super) fn is_stopped(self) -> bool {
        self.team.control.is_stopped()
    }

    /// Takes nodes of the limit for itself; 0 if there are none left.
    pub(super) fn take_nodes(self) -> u64 {
        self.team.left.swap(0, Ordering::Relaxed)
    }

    /// Publishes the iteration that begins.
    pub(super) fn begin_iteration(self, depth: i32) {
        self.team.control.begin_iteration(depth as u32);
    }

    /// Publishes the root move that is searched from now on.
    pub(super) fn begin_root_move(self, mv: Move, number: i32) {
        self.team.control.begin_root_move(mv, number as u32);
    }
}
