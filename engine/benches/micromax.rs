//! Speed of the exact micro-Max search: `cargo bench -p cairn-engine --bench micromax`.
//!
//! The tree is fixed, so nodes per second compare directly with any other program that walks it.
//! Medians of several runs, in million nodes per second.

use cairn_engine::board::Board;
use cairn_engine::search::Limits;
use cairn_engine::search::micromax::MicroMax;
use std::time::Instant;

const RUNS: usize = 5;

/// 2^24 entries, as the original has.
const HASH_MIB: usize = 256;

const SEARCHES: [(&str, &str, u32, bool); 4] = [
    (
        "Kiwipete, depth 6, no hash",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        6,
        false,
    ),
    (
        "Kiwipete, depth 7, hash",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        7,
        true,
    ),
    (
        "start position, depth 7, no hash",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        7,
        false,
    ),
    (
        "start position, depth 8, hash",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        8,
        true,
    ),
];

fn main() {
    let mut engine = MicroMax::new(HASH_MIB).expect("memory for the table");
    println!("{:<34}{:>12}{:>9}", "micro-Max", "nodes", "Mnps");
    for (name, fen, depth, hash) in SEARCHES {
        let board = Board::from_fen(fen).expect("a valid position");
        let limits = Limits { depth: Some(depth), ..Limits::default() };
        let mut nodes = 0;
        let mut speeds: Vec<f64> = (0..RUNS)
            .map(|_| {
                let start = Instant::now();
                let iterations = engine.iterations(&board, None, &limits, hash);
                nodes = iterations.last().map_or(0, |iteration| iteration.nodes);
                nodes as f64 / start.elapsed().as_secs_f64() / 1e6
            })
            .collect();
        speeds.sort_by(f64::total_cmp);
        println!("{name:<34}{nodes:>12}{:>9.2}", speeds[RUNS / 2]);
    }
}
