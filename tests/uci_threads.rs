//! The option Threads: its values, every kind of search with several threads, and what a log of them is good for.

mod uci_driver;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use cairn_engine::board::Board;
use uci_driver::Engine;

/// A log of its own for each test.
fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Asserts that `bestmove` is legal from the starting position.
fn assert_legal(bestmove: &str) {
    let mv = bestmove.split(' ').nth(1).expect("a move");
    assert!(Board::startpos().parse_uci(mv).is_ok(), "{bestmove}");
}

/// The last number behind `word` in lines of output.
fn last_number(lines: &[String], word: &str) -> Option<u64> {
    let number =
        |line: &String| line.split_once(&format!(" {word} "))?.1.split(' ').next()?.parse().ok();
    lines.iter().rev().find_map(number)
}

#[test]
fn bad_values_say_what_is_allowed_and_keep_what_was() {
    let log = path("threads-values.log");
    let mut engine = Engine::start();
    engine.send("uci");
    let declared = engine.read_until("uciok");
    let declaration = "option name Threads type spin default 1 min 1 max 1024";
    assert!(declared.iter().any(|line| line == declaration), "{declared:#?}");
    engine.send("setoption name Threads value 3");
    assert!(engine.settle().is_empty());
    for value in ["0", "-1", "1025", "99999999999999999999", "two", "", "2.5"] {
        engine.send(&format!("setoption name Threads value {value}"));
        let said = engine.settle().join("\n");
        assert!(said.contains("Threads takes a whole number from 1 to 1024"), "{value}: {said}");
        assert!(said.contains("the old value is kept"), "{value}: {said}");
    }
    engine.send(&format!("setoption name Debug Log File value {}", log.display()));
    engine.settle();
    engine.send("quit");
    assert!(engine.wait().success());
    let log = fs::read_to_string(log).expect("a log");
    assert!(log.contains("option Threads = 3\n"), "{log}");
}

#[test]
fn every_kind_of_search_works_with_several_threads() {
    let mut engine = Engine::start();
    // As lichess-bot sets them, but for the size of the table.
    for option in ["Hash value 8", "SyzygyPath value ./engines/syzygy/", "UCI_ShowWDL value true"] {
        engine.send(&format!("setoption name {option}"));
    }
    for threads in [4, 2, 1, 9, 3] {
        engine.send(&format!("setoption name Threads value {threads}"));
        engine.send("ucinewgame");
        engine.send("position startpos");
        engine.settle();
        engine.send("go infinite");
        thread::sleep(Duration::from_millis(30));
        engine.assert_no_best_move();
        engine.send("stop");
        assert_legal(&engine.best_move());
        engine.send("go ponder wtime 1000 btime 1000");
        engine.assert_no_best_move();
        engine.send("ponderhit");
        assert_legal(&engine.best_move());
        engine.send("go movetime 30");
        assert_legal(&engine.best_move());
        engine.send("go wtime 300 btime 300");
        assert_legal(&engine.best_move());
        engine.send("go depth 6 searchmoves a2a3 h2h3");
        let best = engine.best_move();
        assert!(best.contains("a2a3") || best.contains("h2h3"), "{best}");
        engine.send("setoption name MultiPV value 3");
        engine.send("go nodes 20000");
        let lines = engine.read_until("bestmove");
        assert!(last_number(&lines, "nodes").is_some_and(|nodes| nodes <= 20_000), "{lines:#?}");
        assert_eq!(last_number(&lines, "multipv"), Some(3), "{lines:#?}");
        engine.send("setoption name MultiPV value 1");
        engine.send("position fen r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1");
        engine.send("go mate 3");
        let lines = engine.read_until("bestmove");
        assert!(lines.iter().any(|line| line.contains("score mate 3")), "{lines:#?}");
    }
    // In the middle of a search it is stopped first, as for any option that needs an idle engine.
    engine.send("position startpos");
    engine.send("go infinite");
    engine.send("setoption name Threads value 2");
    assert_legal(&engine.best_move());
    engine.send("quit");
    assert!(engine.wait().success());
}

#[test]
fn the_historical_style_says_that_it_has_one_thread() {
    let says = "style MicroMax searches on one thread";
    let mut engine = Engine::start();
    engine.send("setoption name Threads value 4");
    assert!(engine.settle().is_empty());
    engine.send("setoption name Style value MicroMax");
    assert!(engine.settle().join("\n").contains(says));
    engine.send("setoption name Threads value 5");
    engine.send("setoption name Style value MicroMax");
    assert!(engine.settle().is_empty(), "it was said");
    engine.send("setoption name Threads value 1");
    assert!(engine.settle().is_empty());
    engine.send("setoption name Threads value 2");
    assert!(engine.settle().join("\n").contains(says));
}

#[test]
fn a_log_of_free_threads_is_refused_and_other_logs_are_not() {
    for (name, level, deterministic, code, says) in [
        ("free", false, false, 2, "ran on 4 threads at once"),
        // Limited strength has one thread.
        ("level", true, false, 0, "4 searches"),
        ("deterministic", false, true, 0, "4 searches"),
    ] {
        let log = path(&format!("threads-{name}.log"));
        let mut engine = Engine::start();
        engine.send("setoption name Threads value 4");
        engine.send(&format!("setoption name UCI_LimitStrength value {level}"));
        engine.send(&format!("setoption name Deterministic value {deterministic}"));
        engine.send("setoption name UCI_Elo value 1500");
        engine.send(&format!("setoption name Debug Log File value {}", log.display()));
        engine.settle();
        for go in ["go nodes 30000", "go movetime 90", "go infinite", "go wtime 900 btime 900"] {
            engine.send(go);
            thread::sleep(Duration::from_millis(40));
            engine.send(if go == "go infinite" { "stop" } else { "isready" });
            assert_legal(&engine.best_move());
        }
        engine.send("quit");
        assert!(engine.wait().success());
        let output = Command::new(env!("CARGO_BIN_EXE_cairn"))
            .args(["replay".as_ref(), log.as_os_str()])
            .output()
            .expect("the program starts");
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{name}: {text}");
        assert!(text.contains(says), "{name}: {text}");
    }
}
