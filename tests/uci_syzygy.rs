//! The options about endgame tables: what is found, what is wrong with it, and what a search says of it.

mod uci_driver;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use uci_driver::Engine;

/// A won ending of three pieces.
const WON: &str = "position fen 8/8/8/3k4/8/8/4K3/R7 w - - 0 1";

/// Where a capture leads to an ending of three pieces.
const BEFORE: &str = "position fen 8/8/8/8/8/6k1/1r6/RK6 w - - 0 1";

/// The tables of three pieces.
fn tables() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/syzygy")
}

/// An empty folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder");
    path
}

fn copy(name: &str, folder: &Path) {
    fs::copy(tables().join(name), folder.join(name)).expect("a copy");
}

/// The option with these folders.
fn option(folders: &[&Path]) -> String {
    let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    format!(
        "setoption name SyzygyPath value {}",
        folders.join(if cfg!(windows) { ";" } else { ":" })
    )
}

/// What the program says once it has read tables.
fn told(engine: &mut Engine, folders: &[&Path]) -> String {
    engine.send(&option(folders));
    engine.settle().join("\n")
}

/// The lines of a search.
fn search(engine: &mut Engine, position: &str) -> String {
    engine.send(position);
    engine.send("go nodes 500");
    engine.read_until("bestmove").join("\n")
}

#[test]
fn tables_are_found_told_and_asked() {
    let mut engine = Engine::start();
    assert!(!search(&mut engine, WON).contains("tbhits"));
    let text = told(&mut engine, &[&tables()]);
    assert!(text.contains("5 of win, draw and loss, up to 3 pieces, and 5 of distances"), "{text}");
    let lines = search(&mut engine, BEFORE);
    assert!(lines.contains(" tbhits ") && lines.contains("bestmove b1b2"), "{lines}");
    assert!(lines.contains("score cp 19999"), "{lines}");
    engine.send("setoption name SyzygyProbeLimit value 0");
    assert!(search(&mut engine, BEFORE).contains(" tbhits 0 "));
    engine.send(WON);
    engine.send("d");
    let text = engine.settle().join("\n");
    assert!(text.contains("\nEndgame tables: win, distance to zero "), "{text}");
    assert!(told(&mut engine, &[]).is_empty());
    assert!(!search(&mut engine, BEFORE).contains("tbhits"));
}

#[test]
fn several_folders_are_one_set_and_what_is_missing_is_told() {
    let (one, two) = (folder("syzygy_one"), folder("syzygy_two"));
    for name in ["KQvK.rtbw", "KQvK.rtbz", "KRvK.rtbw"] {
        copy(name, &one);
    }
    for name in ["KRvK.rtbw", "KRvK.rtbz", "KPvK.rtbw"] {
        copy(name, &two);
    }
    let missing = folder("syzygy_none").join("nothing");
    let mut engine = Engine::start();
    let text = told(&mut engine, &[&one, &missing, &two]);
    assert!(text.contains("3 of win, draw and loss, up to 3 pieces, and 2 of distances"), "{text}");
    // The name itself may be too long to be told whole.
    assert_eq!(text.matches("info string SyzygyPath: ").count(), 1, "{text}");
    let text = told(&mut engine, &[&missing]);
    assert!(text.contains("no endgame tables were found"), "{text}");
    assert!(search(&mut engine, WON).contains("bestmove"));
}

#[test]
fn foreign_truncated_and_damaged_tables_are_told_once() {
    let bad = folder("syzygy_bad");
    let bytes = fs::read(tables().join("KQvK.rtbw")).expect("a table");
    let write = |name: &str, bytes: &[u8]| fs::write(bad.join(name), bytes).expect("a file");
    write("KQvK.rtbw", &bytes[..bytes.len() - 30]);
    write("KBvK.rtbw", b"");
    write("KNvK.rtbw", &[7; 144]);
    write("what.rtbw", &bytes);
    write("KPvK.rtbw", &bytes);
    fs::create_dir(bad.join("KRvK.rtbw")).expect("a folder");
    let mut engine = Engine::start();
    let text = told(&mut engine, &[&bad]);
    for name in ["KQvK.rtbw", "KBvK.rtbw", "KNvK.rtbw", "what.rtbw", "KRvK.rtbw"] {
        assert_eq!(text.matches(name).count(), 1, "{name}: {text}");
    }
    assert!(text.contains("1 of win, draw and loss"), "{text}");
    // That it is another table under a wrong name is seen when it is asked.
    let pawn = "position fen 8/8/4k3/8/4K3/4P3/8/8 w - - 0 1";
    let lines = search(&mut engine, pawn);
    assert_eq!(lines.matches("KPvK.rtbw").count(), 1, "{lines}");
    assert!(!search(&mut engine, pawn).contains("KPvK.rtbw"), "told twice");
}

#[test]
fn a_log_names_its_tables_and_a_replay_is_given_them_anew() {
    let folder = folder("syzygy_log");
    let log = folder.join("session.log");
    let mut engine = Engine::start();
    told(&mut engine, &[&tables()]);
    engine.send(&format!("setoption name Debug Log File value {}", log.display()));
    search(&mut engine, BEFORE);
    search(&mut engine, WON);
    engine.send("quit");
    engine.wait();
    let replay = |log: &Path, given: &[&Path]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        command.arg("replay").arg(log);
        for path in given {
            command.arg(format!("--option=SyzygyPath={}", path.display()));
        }
        let output = command.output().expect("it runs");
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        (output.status.code(), text.into_owned())
    };
    let (code, text) = replay(&log, &[&tables()]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = replay(&log, &[]);
    assert!(code == Some(2) && text.contains("--option SyzygyPath=FILE"), "{text}");
    copy("KQvK.rtbw", &folder);
    let (code, text) = replay(&log, &[&folder]);
    assert!(
        code == Some(2) && text.contains("is not the file that was loaded for SyzygyPath"),
        "{text}"
    );

    let plain = folder.join("plain.log");
    let mut engine = Engine::start();
    engine.send(&format!("setoption name Debug Log File value {}", plain.display()));
    search(&mut engine, BEFORE);
    engine.send("quit");
    engine.wait();
    assert_eq!(replay(&plain, &[]).0, Some(0));
    let (code, text) = replay(&plain, &[&tables()]);
    assert!(code == Some(2) && text.contains("without endgame tables"), "{text}");

    let changed = folder.join("changed.log");
    let mut engine = Engine::start();
    engine.send(&format!("setoption name Debug Log File value {}", changed.display()));
    told(&mut engine, &[&tables()]);
    search(&mut engine, BEFORE);
    engine.send("quit");
    engine.wait();
    let (code, text) = replay(&changed, &[]);
    assert!(code == Some(2) && text.contains("other endgame tables"), "{text}");
}
