//! Perft speed beside cozy-chess's in the same run: `cargo bench -p cairn-engine --bench perft`.
//!
//! Both count in bulk at the last ply on one thread. Runs alternate, so that a machine whose speed
//! drifts treats both alike; medians are printed, in million nodes per second, and their ratio.

use cairn_engine::board::Board;
use cairn_engine::perft::perft;
use std::time::Instant;

const RUNS: usize = 5;

const POSITIONS: [(&str, &str, u32, u64); 3] = [
    ("start position", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 6, 119_060_324),
    (
        "Kiwipete",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        5,
        193_690_690,
    ),
    ("rook ending", "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 7, 178_633_661),
];

fn main() {
    println!("{:<16}{:>12}{:>12}{:>9}", "perft, Mnps", "Cairn", "cozy-chess", "ratio");
    for (name, fen, depth, expected) in POSITIONS {
        let mut ours = Board::from_fen(fen).expect("a valid position");
        let theirs: cozy_chess::Board = fen.parse().expect("a valid position");
        let mut speeds = [Vec::new(), Vec::new()];
        for _ in 0..RUNS {
            speeds[0].push(speed(expected, || perft(&mut ours, depth)));
            speeds[1].push(speed(expected, || cozy_perft(&theirs, depth)));
        }
        let [ours, theirs] = speeds.map(median);
        println!("{name:<16}{ours:>12.1}{theirs:>12.1}{:>9.2}", ours / theirs);
    }
}

fn speed(expected: u64, count: impl FnOnce() -> u64) -> f64 {
    let start = Instant::now();
    assert_eq!(count(), expected);
    expected as f64 / start.elapsed().as_secs_f64() / 1e6
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn cozy_perft(board: &cozy_chess::Board, depth: u32) -> u64 {
    let mut nodes = 0;
    board.generate_moves(|moves| {
        if depth == 1 {
            nodes += moves.len() as u64;
        } else {
            for mv in moves {
                let mut child = board.clone();
                child.play_unchecked(mv);
                nodes += cozy_perft(&child, depth - 1);
            }
        }
        false
    });
    nodes
}
