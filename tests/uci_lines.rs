//! Every line of `data/uci/lines.txt` is taken, has the outcome that stands beside it, and leaves
//! the program alive.

mod uci_driver;

use std::fs;

use uci_driver::{Engine, PATIENCE};

/// No message repeats all of a long input, in bytes.
const LONGEST_MESSAGE: usize = 400;

/// The position before each input.
const BEFORE: &str = "position startpos moves g1f3 g8f6";

/// The same as a FEN.
const BEFORE_FEN: &str = "rnbqkb1r/pppppppp/5n2/8/8/5N2/PPPPPPPP/RNBQKB1R w KQkq - 2 2";

/// Something that is answered after all that came before it, and looks like no other answer.
const MARKER: &str = "here-it-ends";

/// Puts back what an input may have set, and before anything is done about it.
const AFTER: [&str; 7] = [
    "debug off",
    "setoption name Hash value 1",
    "setoption name MultiPV value 1",
    "setoption name UCI_Chess960 value false",
    "setoption name UCI_ShowWDL value false",
    "setoption name UCI_LimitStrength value false",
    "setoption name Move Overhead value 10",
];

/// The bytes that an escaped input stands for.
fn unescape(text: &str) -> Vec<u8> {
    if let Some(inner) = text.strip_prefix("{REP:").and_then(|text| text.strip_suffix('}')) {
        let (what, count) = inner.rsplit_once(':').expect("a count");
        return what.repeat(count.parse().expect("a count")).into_bytes();
    }
    if let Some(at) = text.find('{') {
        let (head, tail) = text.split_at(at);
        let mut bytes = unescape(head);
        bytes.extend(match tail.strip_prefix("{MOVES:").and_then(|tail| tail.strip_suffix('}')) {
            Some(count) => moves(count.parse().expect("a count")),
            None => unescape(tail),
        });
        return bytes;
    }
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((plain, escape)) = rest.split_once('\\') {
        bytes.extend_from_slice(plain.as_bytes());
        let letter = escape.chars().next().expect("an escape");
        rest = &escape[letter.len_utf8()..];
        match letter {
            't' => bytes.push(b'\t'),
            'r' => bytes.push(b'\r'),
            'n' => bytes.push(b'\n'),
            '\\' => bytes.push(b'\\'),
            'e' => {}
            'x' => {
                bytes.push(u8::from_str_radix(&rest[..2], 16).expect("two digits"));
                rest = &rest[2..];
            }
            other => panic!("unknown escape {other} in {text}"),
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

/// So many moves from the starting position.
fn moves(count: usize) -> Vec<u8> {
    let there_and_back = ["g1f3", "g8f6", "f3g1", "f6g8"];
    let moves: Vec<&str> = there_and_back.into_iter().cycle().take(count).collect();
    moves.join(" ").into_bytes()
}

/// What came out, sorted.
#[derive(Debug, Default)]
struct Heard {
    best_moves: usize,
    messages: Vec<String>,
    other: Vec<String>,
    fen: String,
    ended: bool,
}

/// Sends an input to an engine in a known state and collects all that comes of it.
fn try_input(engine: &mut Engine, style: &str, input: &[u8], outcome: &str) -> Heard {
    engine.send(BEFORE);
    assert!(engine.settle().is_empty());
    engine.send_bytes(input);
    engine.send_bytes(b"\n");
    let mut heard = Heard::default();
    if outcome.contains("exit") {
        assert!(engine.wait().success());
        heard.ended = true;
        sort(engine.rest(), &mut heard);
        return heard;
    }
    if let Some(text) = outcome.strip_prefix("starts ") {
        read_until_printed(engine, text, &mut heard);
        *engine = start(style);
        return heard;
    }
    match outcome.split(' ').next() {
        Some("moves") => sort(engine.read_until("bestmove"), &mut heard),
        Some("searches") => {
            engine.assert_no_best_move();
            engine.send("stop");
            sort(engine.read_until("bestmove"), &mut heard);
        }
        _ => {}
    }
    for line in AFTER {
        engine.send(line);
    }
    engine.send("isready");
    engine.send(MARKER);
    let mut lines = engine.read_until(&format!("info string unknown command '{MARKER}'"));
    lines.pop();
    let alive = lines.iter().rposition(|line| line == "readyok").expect("an answer to isready");
    lines.remove(alive);
    sort(lines, &mut heard);
    // What the program prints for people comes after all that was asked for in time.
    if let Some(text) = outcome.strip_prefix("prints ") {
        read_until_printed(engine, text, &mut heard);
    }
    heard.fen = engine.fen();
    heard
}

/// Reads on until a line that is not UCI holds `text`.
fn read_until_printed(engine: &Engine, text: &str, heard: &mut Heard) {
    while !heard.other.iter().any(|line| line.contains(text)) {
        let line = engine.line_within(PATIENCE).unwrap_or_else(|| panic!("no '{text}'"));
        sort(vec![line], heard);
    }
}

/// Sorts lines by what they are. Lines of a search are not looked at here.
fn sort(lines: Vec<String>, heard: &mut Heard) {
    for line in lines {
        if let Some(message) = line.strip_prefix("info string ") {
            heard.messages.push(message.to_owned());
        } else if line.starts_with("bestmove ") {
            heard.best_moves += 1;
        } else if !line.starts_with("info ") {
            heard.other.push(line);
        }
    }
}

/// Asserts that an outcome has come about.
fn check(heard: &Heard, outcome: &str) {
    let said = |text: &str| {
        assert_eq!(heard.messages.len(), 1);
        assert!(heard.messages[0].contains(text));
        assert!(heard.messages[0].len() < LONGEST_MESSAGE);
    };
    let count = |line: &str| heard.other.iter().filter(|other| *other == line).count();
    let (kind, rest) = outcome.split_once(' ').unwrap_or((outcome, ""));
    let mut expected_moves = 0;
    let mut expected_fen = BEFORE_FEN;
    match kind {
        "nothing" => {
            assert!(heard.messages.is_empty() && heard.other.is_empty());
        }
        "uciok" | "readyok" => {
            assert!(heard.messages.is_empty(), "{:?}", heard.messages);
            assert_eq!(count("uciok"), usize::from(kind == "uciok"));
            assert_eq!(count("readyok"), usize::from(kind == "readyok"));
        }
        "uciok+readyok" => {
            assert!(heard.messages.is_empty(), "{:?}", heard.messages);
            assert_eq!((count("uciok"), count("readyok")), (1, 1));
        }
        "readyok+exit" => assert!(heard.ended && count("readyok") == 1),
        "exit" => assert!(heard.ended && heard.other.is_empty()),
        "says" => said(rest),
        "complains" => {
            assert!(heard.messages.last().is_some_and(|text| text.contains(rest)));
            assert!(heard.messages.iter().all(|text| text.len() < LONGEST_MESSAGE));
        }
        "keeps" => said(rest),
        "prints" => assert!(heard.messages.is_empty()),
        "starts" => {
            // On a slow machine it tells that it goes on.
            let others = heard.messages.iter().filter(|text| !text.contains(" goes on after "));
            assert_eq!(others.count(), 0, "{:?}", heard.messages);
            expected_fen = "";
        }
        "board" => {
            match rest.split_once(" says ") {
                Some((_, text)) => said(text),
                None => assert!(heard.messages.is_empty()),
            }
            expected_fen = rest.split(" says ").next().unwrap_or_default();
        }
        "moves" | "searches" => {
            expected_moves = 1;
            match rest.strip_prefix("says ") {
                Some(text) => said(text),
                None => assert!(heard.messages.is_empty()),
            }
            expected_fen = "";
        }
        other => panic!("unknown outcome {other}"),
    }
    assert_eq!(heard.best_moves, expected_moves);
    if !heard.ended && !expected_fen.is_empty() {
        assert_eq!(heard.fen, expected_fen);
    }
}

#[test]
fn every_line_has_its_outcome() {
    try_all_lines("Cairn");
}

#[test]
fn every_line_has_its_outcome_in_the_historical_style() {
    try_all_lines("MicroMax");
}

fn start(style: &str) -> Engine {
    let mut engine = Engine::start();
    engine.send(&format!("setoption name Style value {style}"));
    engine
}

fn try_all_lines(style: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/uci/lines.txt");
    let text = fs::read_to_string(path).expect("the list of lines");
    let mut engine = start(style);
    let mut tried = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (input, outcome) = line.rsplit_once(" => ").expect("an outcome");
        // What the original would have answered is told by the historical style only.
        let exact = style == "Cairn" && outcome.contains("says exact:");
        let outcome = if exact { "moves" } else { outcome };
        // A failing assertion names no input, so it is shown before.
        let shown: String = input.chars().take(100).collect();
        println!("{shown:?} => {outcome}");
        let heard = try_input(&mut engine, style, &unescape(input), outcome);
        println!("{heard:?}");
        check(&heard, outcome);
        if heard.ended {
            engine = start(style);
        }
        tried += 1;
    }
    assert!(tried >= 296, "only {tried} lines");
    engine.send("quit");
    assert!(engine.wait().success());
}
