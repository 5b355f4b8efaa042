//! The search is the same with every set of vector instructions. One process uses one set, so this test
//! starts itself again with each set that the processor has.

use cairn_engine::InstructionSet;
use cairn_engine::bench::POSITIONS;
use cairn_engine::board::Board;
use cairn_engine::eval::PackedNetwork;
use cairn_engine::eval::network::{INPUTS, Network};
use cairn_engine::search::{Control, Limits, Searcher, Style, Verdict};
use std::process::Command;

/// Names the set to be used by the process that is started.
const VARIABLE: &str = "CAIRN_TEST_INSTRUCTIONS";
const TEST: &str = "all_sets_count_the_same_nodes";

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

#[test]
fn all_sets_count_the_same_nodes() {
    if let Ok(name) = std::env::var(VARIABLE) {
        let set: InstructionSet = name.parse().unwrap();
        set.force().unwrap();
        println!("{set} {:?}", nodes());
        return;
    }
    let expected = nodes();
    assert!(expected.iter().all(|&nodes| nodes > 5_000), "{expected:?}");
    for set in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
        let program = std::env::current_exe().unwrap();
        let name = set.to_string();
        let mut command = Command::new(program);
        command.args(["--exact", TEST, "--nocapture"]).env(VARIABLE, &name);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(&format!("{name} {expected:?}")), "{name}: {expected:?}\n{text}");
    }
}
