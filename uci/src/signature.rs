//! A short bench that tells builds apart in milliseconds, for the head of a log.
//!
//! The positions are those of the real bench, whose own number takes seconds. Anything that changes a
//! search shows here with hardly an exception.

use cairn_engine::AllocationError;
use cairn_engine::bench::POSITIONS;
use cairn_engine::board::Board;
use cairn_engine::search::{Control, Limits, Searcher, Style, Verdict};

/// The hash table, in MiB. It is not emptied in between, which would take longer than the searches.
const HASH_MIB: usize = 1;

/// The styles with the depth that each is searched to.
const DEPTHS: [(Style, u32); 2] = [(Style::Cairn, 5), (Style::MicroMax, 3)];

/// The node count of this build.
///
/// # Errors
/// When there is no memory for the hash table.
pub fn nodes() -> Result<u64, AllocationError> {
    let mut total = 0;
    for (style, depth) in DEPTHS {
        let mut searcher = Searcher::new(style, HASH_MIB)?;
        let limits = Limits { depth: Some(depth), ..Limits::default() };
        for board in POSITIONS.iter().filter_map(|fen| Board::from_fen(fen).ok()) {
            let control = Control::new();
            total += searcher.search(&board, &limits, &control, &mut |_| Verdict::Continue).nodes;
        }
    }
    Ok(total)
}
