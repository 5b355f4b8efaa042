//! The signature of a build: the node count of fixed positions searched to a fixed depth.
//!
//! It depends on search and evaluation alone, not on the machine: builds with equal counts play the same
//! moves.

use crate::board::Board;
use crate::machine::memory::AllocationError;
use crate::search::{Control, Limits, Searcher, Style, Verdict};

/// The depth of the strong search. micro-Max, whose iterations cost more, is searched to half of it.
pub const DEPTH: u32 = 12;

/// The hash table of the signature, in MiB.
pub const HASH_MIB: usize = 64;

/// Positions of all kinds: openings, middle games open and closed, endings, mates, promotions,
/// castling and en passant, and ends of games.
pub const POSITIONS: [&str; 40] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
    "rnbqkb1r/1p2pppp/p2p1n2/8/3NP3/2N5/PPP2PPP/R1BQKB1R w KQkq - 0 6",
    "rnbqk2r/ppp1bppp/4pn2/3p2B1/2PP4/2N5/PP2PPPP/R2QKBNR w KQkq - 4 5",
    "r1bq1rk1/ppp2ppp/2np1n2/2b1p3/2B1P3/2PP1N2/PP3PPP/RNBQ1RK1 w - - 0 7",
    "rnbq1rk1/ppp1ppbp/3p1np1/8/2PPP3/2N2N2/PP3PPP/R1BQKB1R w KQ - 2 6",
    "rnb1kbnr/pp3ppp/4p3/q1ppP3/3P4/2N5/PPP2PPP/R1BQKBNR w KQkq - 2 6",
    "r2q1rk1/1b2bppp/ppnppn2/8/2PNP3/1PN1B3/P3BPPP/R2Q1RK1 w - - 1 12",
    "r1b2rk1/pp1nqppp/2pbpn2/3p4/2PP4/2NBPN2/PPQ2PPP/R1B2RK1 w - - 6 9",
    "r4rk1/pp1b1ppp/2nqpn2/3p4/3P4/2NBBN2/PP2QPPP/R4RK1 b - - 3 13",
    "2rq1rk1/pb1n1ppN/4p3/1pb5/3P1Pn1/P1N5/1PQ1B1PP/R1B2RK1 b - - 0 16",
    "r1bqr1k1/1p3pbp/p1np1np1/2pN4/2P1P3/2NB1P2/PP1Q2PP/R1B2RK1 w - - 0 13",
    "2r2rk1/1bqnbppp/pp1ppn2/8/2PNP3/1PN1BP2/P2QB1PP/2RR2K1 b - - 5 15",
    "3r1rk1/p1q2ppp/1pn1p3/2p5/4P3/P1PPBQ2/5PPP/1R2R1K1 w - - 2 19",
    "r2qr1k1/pp1n1pp1/2p2n1p/3p1b2/3P4/2NBPP2/PP1Q2PP/R4RK1 b - - 0 14",
    "4rrk1/pp1n3p/3q2pQ/2p1pb2/2PP4/2P3N1/P2B2PP/4RRK1 b - - 7 19",
    "r5k1/1p1b1pp1/p2q1n1p/3p4/3N4/2PQP2P/1P3PP1/R5K1 w - - 0 24",
    "2r3k1/pp2rp1p/3p1qp1/3Pn3/4P3/P4P2/1P1QB1PP/2R2RK1 w - - 3 24",
    "3r2k1/5pp1/p1b1p2p/1pq5/4P3/P1N2Q1P/1P3PP1/3R2K1 w - - 0 28",
    "8/5pk1/1p1r2pp/p1p1R3/P1P2P2/1P4P1/6KP/8 w - - 0 35",
    "8/pp3k2/2p2p2/3p1P2/3P2K1/2P5/PP6/8 w - - 0 40",
    "8/8/1p1k4/p1p2p2/P1P2P2/1P1K4/8/8 w - - 0 1",
    "4k3/8/8/2pP4/8/8/8/4K3 w - c6 0 2",
    "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1",
    "8/1p3k2/3b2p1/p2P3p/P3B2P/1P4P1/5K2/8 b - - 0 41",
    "6k1/5p2/4p1p1/1Nb1P2p/5P1P/1P4P1/6K1/8 w - - 0 37",
    "8/8/4kp2/R5p1/4P1P1/3K4/r7/8 b - - 0 46",
    "1r6/5k2/2R2p2/1P1Kp2p/4P2P/5P2/8/8 w - - 1 52",
    "8/6k1/6p1/3Q3p/5P1P/6PK/q7/8 w - - 0 50",
    "8/PPP4k/8/8/8/8/4Kppp/8 w - - 0 1",
    "7k/RR6/8/8/8/8/rr6/7K w - - 0 1",
    "r2q1r1k/pb3p1p/1p2pP1Q/2pn4/3R4/3B4/PPP2PPP/2K4R w - - 0 19",
    "6k1/pp3ppp/8/8/8/8/PP3PPP/3R2K1 w - - 0 1",
    "r1b1k2r/ppppqppp/2n5/8/1PP2B2/3n1N2/1P1NPPPP/R2QKB1R w KQkq - 1 9",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    "R5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1",
];

/// The result of one position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// The number of the position, from 1.
    pub number: usize,
    /// Its nodes.
    pub nodes: u64,
}

/// Searches all positions with both styles to `depth` ([`DEPTH`] if not given) and returns the sum of nodes,
/// or `None` if `control` was stopped before the end. Each search begins with an empty table and empty
/// histories.
///
/// # Errors
/// If the memory for the table can't be had.
pub fn run(
    depth: Option<u32>,
    control: &Control,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Option<u64>, AllocationError> {
    let depth = depth.unwrap_or(DEPTH);
    let mut total = [0; POSITIONS.len()];
    for (style, depth) in [(Style::MicroMax, depth / 2), (Style::Cairn, depth)] {
        let mut searcher = Searcher::new(style, HASH_MIB)?;
        let limits = Limits { depth: Some(depth), ..Limits::default() };
        for (nodes, fen) in total.iter_mut().zip(POSITIONS) {
            let board = Board::from_fen(fen).expect("the positions are valid");
            searcher.clear();
            let outcome = searcher.search(&board, &limits, control, &mut |_| Verdict::Continue);
            *nodes += outcome.nodes;
            if control.is_stopped() {
                return Ok(None);
            }
        }
    }
    for (number, &nodes) in (1..).zip(&total) {
        progress(&Progress { number, nodes });
    }
    Ok(Some(total.iter().sum()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_valid_and_counts_repeat() {
        for fen in POSITIONS {
            assert!(Board::from_fen(fen).is_ok(), "{fen}");
        }
        let mut seen = 0;
        let control = Control::new();
        let first = run(Some(3), &control, &mut |_| seen += 1).unwrap();
        assert_eq!(seen, POSITIONS.len());
        assert!(first.is_some());
        assert_eq!(run(Some(3), &control, &mut |_| {}), Ok(first));
        control.stop();
        assert_eq!(run(Some(3), &control, &mut |_| panic!("a count")), Ok(None));
    }
}
