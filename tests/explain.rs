//! `cairn explain`: the same words for the same position, and each of them true.

mod schema;
mod subcommand;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use cairn::report::explain::{REFUTED, SCHEMA};
use cairn_engine::board::Board;
use schema::check;
use serde_json::Value;
use subcommand::Subcommand;

const EXPLAIN: Subcommand = Subcommand("explain");

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// White to move; a pawn's step lets black mate.
const FOOL: &str = "rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 0 2";

/// White's queen hangs.
const HANGING: &str = "4k3/pp1p2pp/2p5/3Q4/8/8/PP6/4K3 w - - 0 1";

const IN_CHECK: &str = "4k3/8/8/8/8/8/4r3/4K3 w - - 0 1";

const CHESS960: &str = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9";

fn json(arguments: &[&str]) -> Value {
    let text = EXPLAIN.told(&[&["--format", "json"], arguments].concat());
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let value = serde_json::from_str(&text).expect("JSON");
    check(&value, &schema, &schema, "explanation");
    value
}

fn list<'a>(value: &'a Value, name: &str) -> &'a Vec<Value> {
    value[name].as_array().unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn every_move_has_its_place_and_a_legal_line() {
    assert_eq!(EXPLAIN.told(&["--schema"]), SCHEMA);
    for fen in [START, FOOL, HANGING, IN_CHECK, CHESS960] {
        let told = json(&["--nodes", "3000", fen]);
        let board = Board::from_fen(fen).expect("a position");
        let moves = list(&told, "moves");
        let mut named: Vec<&str> =
            moves.iter().map(|told| told["best"].as_str().expect("a move")).collect();
        named.sort_unstable();
        let mut legal: Vec<String> =
            board.legal_moves().iter().map(|&mv| board.uci_text(mv, false)).collect();
        legal.sort_unstable();
        assert_eq!(named, legal, "{fen}");
        let mut worst = (i64::MAX, i64::MAX);
        for (index, told) in moves.iter().enumerate() {
            assert_eq!(told["rank"], index + 1);
            let order = match told["score"]["mate"].as_i64() {
                Some(moves @ 1..) => (1, -moves),
                Some(moves) => (-1, -moves),
                None => (0, told["score"]["cp"].as_i64().expect("a score")),
            };
            assert!(order <= worst, "{told}");
            worst = order;
            let mut board = board.clone();
            let pv = list(told, "pv");
            assert_eq!(pv[0], told["best"]);
            for mv in pv {
                let mv = board.parse_uci(mv.as_str().expect("a move")).expect("a legal move");
                board.play(mv);
            }
            let is_refuted = told["cost"].as_u64().expect("a cost") >= u64::from(REFUTED);
            assert_eq!(told["refutation"].is_string(), is_refuted && pv.len() > 1, "{told}");
        }
        let pieces = list(&told["evaluation"], "pieces");
        assert_eq!(pieces.len(), board.piece_count() as usize - 2);
        assert_eq!(told["threat"].is_null(), board.in_check());
    }
}

#[test]
fn what_is_threatened_and_lost_is_told() {
    let fool = json(&["--nodes", "2000", "--why-not", "g4,g2g4", "--why-not", "g2g4", FOOL]);
    assert_eq!(fool["threat"]["score"]["mate"], Value::Null);
    assert_eq!(list(&fool, "why_not").len(), 3);
    let told = &fool["why_not"][0];
    assert_eq!(told, &fool["why_not"][1]);
    assert_eq!((&told["move"], &told["move_san"]), (&"g2g4".into(), &"g4".into()));
    assert_eq!(told["parts_at"], 1);
    let reason = told["reason"].as_str().expect("words");
    assert!(
        reason.starts_with("After g4 black mates in 1. The expected result of white"),
        "{reason}"
    );
    let last = fool["moves"].as_array().and_then(|moves| moves.last()).expect("a move");
    assert_eq!((&last["best"], &last["refutation_san"]), (&"g2g4".into(), &"Qh4#".into()));

    let hanging = json(&["--nodes", "5000", "--why-not", "Ke2", HANGING]);
    let threat = &hanging["threat"];
    assert_eq!(threat["best_san"], "cxd5");
    assert!(threat["material"].as_i64().is_some_and(|won| won <= -8), "{threat}");
    assert!(threat["cost"].as_u64().is_some_and(|cost| cost > 300), "{threat}");
    let told = &hanging["why_not"][0];
    assert!(told["material_lost"].as_i64().is_some_and(|lost| lost >= 8), "{told}");
    assert_eq!(told["material_parts_at"], 2, "{told}");
    let reason = told["reason"].as_str().expect("words");
    assert!(reason.contains("1... cxd5 makes the difference"), "{reason}");
    let best = told["best_san"].as_str().expect("a move").to_owned();
    let told = json(&["--nodes", "5000", "--why-not", &best, HANGING]);
    let reason = format!("{best} is the best move itself.");
    assert_eq!(told["why_not"][0]["reason"], reason.as_str());
    assert_eq!(told["why_not"][0]["parts_at"], Value::Null);

    let text = EXPLAIN.told(&["--nodes", "5000", HANGING]);
    assert!(text.contains("If white passed: 1... cxd5"), "{text}");
    assert!(text.contains("refuted by cxd5: 1. Ke2 cxd5"), "{text}");
    let text = EXPLAIN.told(&["--nodes", "5000", "--why-not", "e1e2", HANGING]);
    assert!(text.contains("\nWhy not Ke2?\n") && !text.contains("sees"), "{text}");
    assert!(
        EXPLAIN.told(&["--nodes", "100", IN_CHECK]).contains("white is in check and cannot pass")
    );
}

#[test]
fn an_explanation_depends_on_nothing_but_its_position() {
    for format in ["text", "json"] {
        let explain = |jobs: &str| {
            let limits = ["--format", format, "--nodes", "1000", "--why-not", "a4"];
            EXPLAIN.told(&[&limits[..], &["--jobs", jobs, CHESS960]].concat())
        };
        let alone = explain("1");
        assert_eq!(explain("3"), alone);
        assert_eq!(explain("64"), alone);
    }
    // One node is enough for an answer.
    assert_eq!(list(&json(&["--nodes", "1"]), "moves").len(), 20);
}

#[test]
fn a_game_that_is_over_is_told_to_be() {
    for (fen, ending, words) in [
        ("R5k1/5ppp/8/8/8/8/8/K7 b - - 0 1", "checkmate", "checkmate, white wins"),
        ("7k/8/6QK/8/8/8/8/8 b - - 0 1", "stalemate", "stalemate, black has no move"),
        ("7k/8/8/8/8/8/r7/6K1 w - - 100 90", "fifty moves", "50-move rule"),
        ("7k/8/8/8/8/8/8/7K w - - 0 1", "insufficient material", "neither side can mate"),
    ] {
        let told = json(&[fen]);
        assert_eq!(told["ending"], ending);
        assert!(list(&told, "moves").is_empty() && told["threat"].is_null());
        assert!(EXPLAIN.told(&[fen]).contains(words), "{}", EXPLAIN.told(&[fen]));
    }
    // The side to move passes, and the other one has no move.
    let told = json(&["--nodes", "100", "7k/8/6Q1/8/8/8/8/K7 w - - 0 1"]);
    assert_eq!(told["threat"]["best"], Value::Null);
}

#[test]
fn endgame_tables_are_asked() {
    let option = format!("SyzygyPath={}/../tests/data/syzygy", env!("CARGO_MANIFEST_DIR"));
    let fen = "8/8/8/8/8/1k6/8/R3K3 w - - 0 1";
    let output = EXPLAIN.run(&["--nodes", "500", "--option", &option, "--format", "json", fen]);
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    check(&told, &schema, &schema, "explanation");
    assert_eq!(told["tablebase"]["wdl"], "win");
    assert!(told["tables"].is_string());
    let moves = list(&told, "moves");
    assert_eq!(moves[0]["wdl"]["win"], 1000);
    let drawn = |told: &&Value| told["wdl"]["draw"] == 1000;
    let mut drawn: Vec<&str> =
        moves.iter().filter(drawn).filter_map(|told| told["best"].as_str()).collect();
    drawn.sort_unstable();
    assert_eq!(drawn, ["a1a2", "a1a3", "a1a4"], "the moves that lose the rook");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors.matches("endgame tables: ").count(), 1, "{errors}");
}

#[test]
fn bad_arguments_are_refused_with_the_reason() {
    for (arguments, reason) in [
        (&["8/8/8/8/8/8/8/8 w - - 0 1"][..], "white has no king"),
        (&["nonsense"], "FEN"),
        (&["--why-not", "e2e5"], "--why-not: move e2e5 is not legal here"),
        (&["--why-not", "castle"], "'castle' is no move"),
        (&["--nodes", "0"], "--nodes"),
        (&["--jobs", "0"], "--jobs"),
        (&["--option", "Style=MicroMax"], "style Cairn"),
        (&["--option", "Hash"], "NAME=VALUE"),
        (&["--format", "csv"], "--format"),
    ] {
        let output = EXPLAIN.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(reason), "{errors}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn output_that_nobody_takes_ends_it() {
    if let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") {
        let output =
            EXPLAIN.command(&["--nodes", "10"]).stdout(full).output().expect("the program starts");
        assert_eq!(output.status.code(), Some(1));
    }
    let mut child = EXPLAIN
        .command(&["--nodes", "100000000", "--jobs", "2"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    if cfg!(not(unix)) {
        child.kill().expect("it runs");
    }
    let ended = child.wait().expect("an end");
    assert!(cfg!(not(unix)) || ended.code() == Some(0), "{ended}");
    let mut child =
        EXPLAIN.command(&["--nodes", "10"]).stdout(Stdio::piped()).spawn().expect("a start");
    let mut line = String::new();
    let output = child.stdout.take().expect("an output");
    BufReader::new(output).read_line(&mut line).expect("a line");
    assert_eq!(line.trim_end(), START);
    assert_eq!(child.wait().expect("an end").code(), Some(0));
}
