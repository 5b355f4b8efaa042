//! The speed of the search with networks beside that with the tables, in turns on the same positions, in
//! thousand nodes a second of processor time: `cargo bench -p cairn-engine --bench network -- [FILE..]`.
//! Without files the networks are made up: they know material and little more.
//!
//! `CAIRN_SIMD` (`scalar`, `neon`, `avx2`, `avx512`) forces a set of instructions.

use cairn_engine::InstructionSet;
use cairn_engine::bench::POSITIONS;
use cairn_engine::board::Board;
use cairn_engine::eval::PackedNetwork;
use cairn_engine::eval::network::{INPUTS, Network};
use cairn_engine::search::{Control, Limits, Searcher, Style, Verdict};
use std::sync::Arc;
use std::time::Instant;

const ROUNDS: usize = 15;
const NODES: u64 = 15_000;

/// A network whose neurons all count a side's pieces, each a little differently.
fn made_up(hidden: usize) -> Network {
    const PIECES: [i16; 6] = [6, 18, 19, 30, 55, 0];
    let mut state = 1u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as i16 % 3 - 1
    };
    let columns = (0..INPUTS * hidden).map(|i| {
        let piece = i / hidden / 64;
        if piece < PIECES.len() { PIECES[piece] + noise() } else { noise() }
    });
    let weight = (384 / hidden) as i16;
    let weights = [vec![weight; hidden], vec![-weight; hidden]].concat();
    Network::new(0, columns.collect(), vec![0; hidden], weights, vec![0]).expect("in range")
}

/// The seconds that this thread has run, where the system tells; else those gone by.
fn seconds(begin: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| begin.elapsed().as_secs_f64(), |ns| ns / 1e9)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    if let Ok(name) = std::env::var("CAIRN_SIMD") {
        name.parse().and_then(InstructionSet::force).expect("a set that this processor has");
    }
    let begin = Instant::now();
    let files: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let mut all: Vec<(String, Option<Arc<PackedNetwork>>)> = vec![("tables".to_owned(), None)];
    for file in &files {
        let bytes = std::fs::read(file).expect("a file");
        all.push((file.clone(), Some(PackedNetwork::from_bytes(&bytes).expect("a network"))));
    }
    for hidden in [32, 64, 128, 256].into_iter().filter(|_| files.is_empty()) {
        all.push((format!("{hidden} neurons"), Some(PackedNetwork::new(made_up(hidden)))));
    }
    let boards: Vec<Board> = POSITIONS.iter().filter_map(|fen| Board::from_fen(fen).ok()).collect();
    let limits = Limits { nodes: Some(NODES), ..Limits::default() };
    let mut speeds = vec![Vec::new(); all.len()];
    for _ in 0..ROUNDS {
        for ((_, network), speeds) in all.iter().zip(&mut speeds) {
            let mut searcher = Searcher::new(Style::Cairn, 16).expect("16 MiB");
            searcher.set_network(network.clone());
            let (mut nodes, started) = (0, seconds(begin));
            for board in &boards {
                let control = Control::new();
                let outcome = searcher.search(board, &limits, &control, &mut |_| Verdict::Continue);
                nodes += outcome.nodes;
            }
            speeds.push(nodes as f64 / (seconds(begin) - started) / 1000.0);
        }
    }
    println!("instructions: {}", InstructionSet::chosen());
    for ((name, _), own) in all.iter().zip(&speeds) {
        let ratios = own.iter().zip(&speeds[0]).map(|(own, tables)| own / tables).collect();
        println!("{name:24} {:7.0} knps, {:.3} of the tables", median(own.clone()), median(ratios));
    }
}
