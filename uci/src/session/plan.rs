//! What a `go` means with the options of the session: its limits, and the remark on what is wrong with it.

use std::sync::Arc;
use std::time::Duration;

use cairn_engine::moves::Move;
use cairn_engine::search::{Limits, TableUse};
use cairn_engine::syzygy::Tables;

use crate::protocol::{Clock, Go, quote};
use crate::session::clock::{TimeLimits, UNREADABLE_LIMITS_TIME};
use crate::session::options::Settings;

/// How long a search may take. `clock` is that of the side to move; `forced` says that there is only one
/// move.
#[must_use]
pub fn time_limits(settings: &Settings, go: &Go, clock: &Clock, forced: bool) -> TimeLimits {
    let overhead = Duration::from_millis(settings.move_overhead);
    TimeLimits::plan(go, clock, overhead, forced)
}

/// Whether a search ends by itself, and not by a clock that runs for somebody: then it is finished even when
/// the input has ended. `ponder` and `infinite` aside.
#[must_use]
pub fn ends_by_itself(settings: &Settings, go: &Go) -> bool {
    let has_end = go.depth.is_some()
        || go.nodes.is_some()
        || go.mate.is_some()
        || go.move_time.is_some()
        || settings.level().is_some();
    has_end && go.white.time.is_none() && go.black.time.is_none()
}

/// Whether the clock of a `go` runs from its arrival.
#[must_use]
pub fn starts_clock(go: &Go) -> bool {
    let clocks = [go.white, go.black];
    let is_timed = go.move_time.is_some()
        || clocks.iter().any(|clock| clock.time.is_some() || go.lost_its_limits(clock));
    is_timed && !go.ponder && !go.infinite
}

/// The limits that the engine itself keeps, and the tables that it asks.
#[must_use]
pub fn engine_limits(
    settings: &Settings,
    go: &Go,
    search_moves: Vec<Move>,
    tables: Option<&Arc<Tables>>,
) -> Limits {
    // A search has at least one node.
    let nodes = go.nodes.map(|nodes| nodes.max(1));
    let level = settings.level();
    Limits {
        depth: go.depth.map(|depth| u32::from(depth.max(1))),
        nodes: [nodes, level.map(|level| level.nodes)].into_iter().flatten().min(),
        leader_nodes: None,
        node_cap: level.map(|level| level.nodes),
        mate: go.mate.map(u32::from),
        search_moves,
        multi_pv: settings.multi_pv,
        tables: tables.map(|tables| TableUse {
            tables: Arc::clone(tables),
            depth: settings.syzygy_probe_depth,
            pieces: settings.syzygy_probe_limit,
            fifty_move_rule: settings.syzygy_50_move_rule,
        }),
        quiet_percent: level.map(|level| level.quiet_percent),
    }
}

/// The remark on arguments that were not understood, or that leave the side with `clock` without a limit.
#[must_use]
pub fn remark_on_limits(go: &Go, clock: &Clock) -> Option<String> {
    let ignored = (!go.unreadable.is_empty())
        .then(|| format!("ignored in go: {}", quote(&go.unreadable.join(", "))));
    let limited = go.lost_its_limits(clock).then(|| {
        let time = UNREADABLE_LIMITS_TIME.as_millis();
        format!("go has no limit for the side to move, so it gets {time} ms")
    });
    let remarks: Vec<String> = [ignored, limited].into_iter().flatten().collect();
    (!remarks.is_empty()).then(|| remarks.join("; "))
}
