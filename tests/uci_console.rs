//! The command line: what it prints, and what it exits with.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn cairn(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cairn"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}

fn lines(output: &Output) -> Vec<String> {
    String::from_utf8_lossy(&output.stdout).lines().map(Into::into).collect()
}

/// A file of its own for each test.
fn suite(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).expect("a file");
    path
}

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

#[test]
fn commands_run_in_order_and_each_to_its_end() {
    let output = cairn(&[
        "position startpos moves e2e4",
        "go depth 3",
        "position startpos",
        "go depth 2",
        "quit",
    ]);
    assert_eq!(output.status.code(), Some(0));
    let lines = lines(&output);
    let best: Vec<&String> = lines.iter().filter(|line| line.starts_with("bestmove")).collect();
    assert_eq!(best.len(), 2, "{lines:#?}");
    let depths = |depth: &str| lines.iter().filter(|line| line.starts_with(depth)).count();
    assert_eq!((depths("info depth 2 "), depths("info depth 3 ")), (2, 1), "{lines:#?}");
}

#[test]
fn a_search_without_end_does_not_keep_a_script_from_its_end() {
    let output = cairn(&["go infinite", "isready", "quit"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(lines(&output).iter().filter(|line| line.starts_with("bestmove")).count(), 1);
}

#[test]
fn bench_ends_with_nodes_and_speed_and_repeats_its_nodes() {
    let signature = || {
        let output = cairn(&["bench", "2"]);
        assert_eq!(output.status.code(), Some(0));
        let lines = lines(&output);
        let last = lines.last().expect("a line").clone();
        let words: Vec<&str> = last.split(' ').collect();
        assert!(matches!(words.as_slice(), [_, "nodes", _, "nps"]), "{last}");
        assert!(words[2].parse::<u64>().is_ok(), "{last}");
        words[0].parse::<u64>().expect("a count")
    };
    let nodes = signature();
    assert!(nodes > 0);
    assert_eq!(nodes, signature());
}

#[test]
fn perft_ends_with_its_total() {
    for (arguments, total) in [
        (["perft", "3", START], "Nodes searched: 8902"),
        (
            ["perft", "2", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"],
            "Nodes searched: 2039",
        ),
    ] {
        let output = cairn(&arguments);
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(lines(&output).last().map(String::as_str), Some(total));
    }
    assert_eq!(
        lines(&cairn(&["perft", "2"])).last().map(String::as_str),
        Some("Nodes searched: 400")
    );
}

#[test]
fn a_suite_passes_or_fails_with_its_exit_code() {
    let good = suite("good.epd", &format!("{START} ;D1 20 ;D2 400 ;D3 8902 ;D4 1\n"));
    let good = good.to_str().expect("a path");
    let passed = cairn(&["perft", "--suite", good, "--max-depth", "3", "--threads", "2"]);
    assert_eq!(passed.status.code(), Some(0));
    assert_eq!(lines(&passed).last().map(String::as_str), Some("1 passed, 0 failed"));
    let failed = cairn(&["perft", "--suite", good]);
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(lines(&failed).last().map(String::as_str), Some("0 passed, 1 failed"));
}

#[test]
fn what_makes_no_sense_is_refused_with_a_reason() {
    let bad = suite("bad.epd", &format!("{START} ;D1 20\n{START} ;D1 x\n"));
    let bad = bad.to_str().expect("a path");
    for (arguments, reason) in [
        (&["fly"][..], "fly"),
        (&["bench", "deep"], "deep"),
        (&["bench", "1", "2"], "one depth"),
        (&["perft"], "perft needs a depth"),
        (&["perft", "-1"], "-1"),
        (&["perft", "2", "8/8"], "FEN"),
        (&["perft", "--suite", "/no/such/file"], "/no/such/file"),
        (&["perft", "--suite", bad], "line 2"),
        (&["perft", "--suite", bad, "--threads"], "--threads"),
        (&["perft", "--suite", bad, "--speed", "1"], "--speed"),
        (&["go depth 1", "fly"], "fly"),
    ] {
        let output = cairn(arguments);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {complaint}");
        assert!(complaint.contains(reason), "{arguments:?}: {complaint}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn it_tells_its_name_and_how_to_use_it() {
    let version = cairn(&["--version"]);
    assert_eq!(lines(&version), [format!("Cairn {}", env!("CARGO_PKG_VERSION"))]);
    let help = cairn(&["--help"]);
    assert_eq!(help.status.code(), Some(0));
    assert!(lines(&help).iter().any(|line| line.contains("perft --suite")));
}

#[test]
fn a_position_is_analysed_for_people() {
    let mate = "6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1";
    let output = cairn(&["go", "depth", "4", "--fen", mate, "--multipv", "2"]);
    assert_eq!(output.status.code(), Some(0));
    let lines = lines(&output);
    assert_eq!(lines.last().map(String::as_str), Some("best move: e1e8 (1. Re8#)"), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("mate in 1")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.split_whitespace().nth(1) == Some("2")), "{lines:#?}");
    for (arguments, reason) in [
        (&["go"][..], "needs a limit"),
        (&["go", "depth", "3", "--fen", "8/8"], "FEN"),
        (&["go", "depth", "3", "--option", "Hash=none"], "Hash takes"),
        (&["eval", "8/8"], "FEN"),
    ] {
        let output = cairn(arguments);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {complaint}");
        assert!(complaint.contains(reason) && output.stdout.is_empty(), "{complaint}");
    }
}

#[test]
fn the_evaluation_is_shown_in_its_terms_from_whites_view() {
    let shown = |side: &str| {
        let fen = format!("4k3/p7/8/8/8/8/8/Q3K3 {side} - - 0 1");
        lines(&cairn(&["eval", &fen]))
    };
    let (white, black) = (shown("w"), shown("b"));
    for lines in [&white, &black] {
        let totals: Vec<&String> = lines.iter().filter(|line| line.contains("view: ")).collect();
        assert_eq!(totals.len(), 2, "{lines:#?}");
        assert!(totals.iter().all(|line| line.contains("view: +")), "{lines:#?}");
        let queens = lines.iter().find(|line| line.starts_with("queens")).expect("a term");
        assert_eq!(queens.split_whitespace().count(), 7, "{queens}");
        assert!(lines.iter().any(|line| line.contains("4 of 24 parts")), "{lines:#?}");
    }
    // Only the move is another's.
    let differing = white.iter().zip(&black).filter(|(white, black)| white != black).count();
    assert_eq!((white.len(), differing), (black.len(), 2), "{white:#?} {black:#?}");
}

#[test]
fn openings_for_testing_come_as_openbench_wants_them() {
    let book = suite("book.epd", "4k3/8/8/8/8/8/4P3/4K3 w - - bm e4;\n");
    let from_book = format!("genfens 1 seed 3 book {}", book.display());
    for (command, count) in [("genfens 4 seed 42 book None", 4), (&from_book, 1)] {
        let output = cairn(&[command, "quit"]);
        assert_eq!(output.status.code(), Some(0), "{command}");
        let fens = lines(&output);
        assert_eq!(fens.len(), count, "{fens:#?}");
        assert!(fens.iter().all(|fen| fen.starts_with("info string genfens ")), "{fens:#?}");
        assert_eq!(lines(&cairn(&[command, "quit"])), fens, "the same for the same seed");
    }
    let missing = cairn(&["genfens 1 seed 1 book /no/such/book", "quit"]);
    assert!(lines(&missing).iter().any(|line| line.contains("/no/such/book")));
}

#[cfg(not(feature = "tune"))]
#[test]
fn a_build_with_fixed_parameters_says_how_to_make_another() {
    let output = cairn(&["spsa"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--features tune"));
    assert!(!lines(&cairn(&["uci"])).iter().any(|line| line.contains("lmr_base")));
}

#[cfg(feature = "tune")]
#[test]
fn parameters_are_listed_and_set_for_the_next_search() {
    let output = cairn(&["spsa"]);
    assert_eq!(output.status.code(), Some(0));
    let spsa = lines(&output);
    let declared: Vec<String> = lines(&cairn(&["uci"]))
        .into_iter()
        .filter(|line| line.starts_with("option name "))
        .collect();
    assert!(spsa.len() > 20, "{spsa:#?}");
    for line in &spsa {
        let fields: Vec<&str> = line.split(", ").collect();
        let [name, "int", value, min, max, _, "0.002"] = fields.as_slice() else {
            panic!("not as OpenBench reads it: {line}");
        };
        let option = format!("option name {name} type spin default {value} min {min} max {max}");
        assert!(declared.contains(&option), "{option}");
    }

    // The number before each answer, of a depth that is searched with one setting after the other.
    let nodes = |settings: &[&str]| -> Vec<String> {
        let mut commands = vec!["setoption name Style value Cairn"];
        for setting in settings {
            commands.extend(["ucinewgame", setting, "go depth 8"]);
        }
        let lines = lines(&cairn(&commands));
        let last = lines.windows(2).filter(|pair| pair[1].starts_with("bestmove"));
        last.map(|pair| {
            let (_, rest) = pair[0].split_once(" nodes ").expect("nodes");
            rest.split(' ').next().expect("a number").to_owned()
        })
        .collect()
    };
    // Late move reductions are computed from the parameters, not from a table made at the start.
    for name in ["lmr_base", "lmr_divisor", "rfp_margin", "see_pawn"] {
        let param = spsa.iter().find(|line| line.starts_with(name)).expect(name);
        let fields: Vec<&str> = param.split(", ").collect();
        let [least, usual] =
            [fields[3], fields[2]].map(|value| format!("setoption name {name} value {value}"));
        let counts = nodes(&[&usual, &least, &usual]);
        assert_ne!(counts[0], counts[1], "{name}");
        assert_eq!(counts[0], counts[2], "{name}");
    }
}

#[cfg(feature = "tune")]
#[test]
fn bench_searches_with_the_parameters_that_are_set() {
    let signature = |commands: &[&str]| -> String {
        let last = lines(&cairn(commands)).pop().expect("a line");
        last.split(' ').next().expect("a number").to_owned()
    };
    let param = cairn_engine::params::ALL.iter().find(|param| param.name == "rfp_margin");
    let default = param.expect("rfp_margin").default;
    let usual = signature(&["bench", "6"]);
    let set = signature(&["setoption name rfp_margin value 30", "bench 6"]);
    let set_back = signature(&[
        "setoption name rfp_margin value 30",
        "go depth 1",
        &format!("setoption name rfp_margin value {default}"),
        "bench 6",
    ]);
    assert_ne!(usual, set);
    assert_eq!(usual, set_back);
}
