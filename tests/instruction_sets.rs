//! Search and move generation are the same with every set of vector instructions. One process uses one set,
//! so these tests start themselves again with each set that the processor has.

mod perft_file;

use cairn_engine::InstructionSet;
use cairn_engine::bench::POSITIONS;
use cairn_engine::board::Board;
use cairn_engine::eval::PackedNetwork;
use cairn_engine::eval::network::{INPUTS, Network};
use cairn_engine::perft::perft;
use cairn_engine::search::{Control, Limits, Searcher, Style, Verdict};
use perft_file::perft_counts;
use std::fmt::Debug;
use std::process::Command;

/// Names the set to be used by the process that is started.
const VARIABLE: &str = "CAIRN_TEST_INSTRUCTIONS";

/// A network of 40 neurons, a whole block and a part of one, that looks random.
fn network() -> Network {
    let mut state = 1u32;
    let mut words = |count: usize, most: i32| -> Vec<i16> {
        let next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 8) as i32 % (2 * most + 1) - most) as i16
        };
        std::iter::repeat_with(next).take(count).collect()
    };
    let (columns, bias, weights) = (words(INPUTS * 40, 60), words(40, 300), words(2 * 80, 60));
    Network::new(1, columns, bias, weights, vec![0, 500]).unwrap()
}

/// The nodes of the signature's positions, with what is built in and with that network.
fn nodes() -> [u64; 2] {
    let mut searcher = Searcher::new(Style::Cairn, 1).unwrap();
    let built_in = searcher.network().cloned();
    [built_in, Some(PackedNetwork::new(network()))].map(|network| {
        searcher.set_network(network);
        let count = |fen: &&str| {
            let limits = Limits { depth: Some(6), ..Limits::default() };
            let (board, control) = (Board::from_fen(fen).unwrap(), Control::new());
            searcher.search(&board, &limits, &control, &mut |_| Verdict::Continue).nodes
        };
        POSITIONS.iter().map(count).sum()
    })
}

/// Runs the test of this name once more for each set: `result` is to be `expected` with all of them.
fn with_every_set<T: Debug>(test: &str, result: impl Fn() -> T, expected: impl Fn() -> T) {
    if let Ok(name) = std::env::var(VARIABLE) {
        let set: InstructionSet = name.parse().unwrap();
        set.force().unwrap();
        println!("{set} {:?}", result());
        return;
    }
    let expected = expected();
    for set in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
        let program = std::env::current_exe().unwrap();
        let name = set.to_string();
        let mut command = Command::new(program);
        command.args(["--exact", test, "--nocapture"]).env(VARIABLE, &name);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(&format!("{name} {expected:?}")), "{name}: {expected:?}\n{text}");
    }
}

#[test]
fn all_sets_count_the_same_nodes() {
    with_every_set("all_sets_count_the_same_nodes", nodes, || {
        let expected = nodes();
        assert!(expected.iter().all(|&nodes| nodes > 5_000), "{expected:?}");
        expected
    });
}

#[test]
fn all_sets_find_the_same_moves() {
    let counted = || -> u64 {
        let count = |position: perft_file::PerftCounts| {
            let mut board = Board::from_fen(position.fen).unwrap();
            let depth = position.counts.len() as u32;
            let found = perft(&mut board, depth);
            assert_eq!(Some(&found), position.counts.last(), "{}", position.fen);
            found
        };
        perft_counts().into_iter().map(count).sum()
    };
    with_every_set("all_sets_find_the_same_moves", counted, || {
        perft_counts().iter().filter_map(|position| position.counts.last()).sum()
    });
}
