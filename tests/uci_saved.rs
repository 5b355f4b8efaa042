//! Saved work: the options `Hash File`, `Save Hash` and `Load Hash`.

mod uci_driver;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use uci_driver::Engine;

const POSITIONS: [&str; 3] = [
    "position startpos moves e2e4 e7e5 g1f3",
    "position startpos moves e2e4 e7e5 g1f3 b8c6 f1b5",
    "position startpos moves e2e4 e7e5 g1f3 b8c6 f1b5 a7a6",
];

/// An empty folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder");
    path
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn set(engine: &mut Engine, option: &str, value: impl std::fmt::Display) {
    engine.send(&format!("setoption name {option} value {value}"));
}

/// Presses a button and returns the one line that it says.
fn press(engine: &mut Engine, button: &str) -> String {
    engine.send(&format!("setoption name {button}"));
    let told = engine.settle();
    assert_eq!(told.len(), 1, "{told:#?}");
    told[0].clone()
}

fn save(engine: &mut Engine, file: &Path) -> String {
    set(engine, "Hash File", file.display());
    press(engine, "Save Hash")
}

fn load(engine: &mut Engine, file: &Path) -> String {
    set(engine, "Hash File", file.display());
    press(engine, "Load Hash")
}

/// The lines of a search without what depends on time.
fn search(engine: &mut Engine, position: &str) -> Vec<String> {
    engine.send(position);
    engine.send("go nodes 20000");
    let lines = engine.read_until("bestmove");
    let timeless = |line: &String| {
        let words: Vec<&str> = line.split(' ').collect();
        let is_time = |at: usize| ["time", "nps"].contains(&words[at]);
        let kept = (0..words.len()).filter(|&at| !is_time(at) && (at == 0 || !is_time(at - 1)));
        kept.map(|at| words[at]).collect::<Vec<_>>().join(" ")
    };
    lines.iter().map(timeless).collect()
}

fn start(threads: usize, hash: usize) -> Engine {
    let mut engine = Engine::start_raw();
    set(&mut engine, "Hash", hash);
    set(&mut engine, "Threads", threads);
    set(&mut engine, "Deterministic", threads > 1);
    engine
}

#[test]
fn another_process_goes_on_where_this_one_has_saved() {
    let folder = folder("saved-goes-on");
    for threads in [1, 2] {
        let file = folder.join(format!("{threads} threads.hash"));
        let mut first = start(threads, 2);
        search(&mut first, POSITIONS[0]);
        search(&mut first, POSITIONS[1]);
        let told = save(&mut first, &file);
        assert!(told.ends_with(": saved"), "{told}");
        let expected = search(&mut first, POSITIONS[2]);
        let mut fresh = start(threads, 2);
        assert_ne!(search(&mut fresh, POSITIONS[2]), expected, "something was learnt");
        let mut second = start(threads, 2);
        let told = load(&mut second, &file);
        assert!(told.ends_with(": loaded"), "{told}");
        assert_eq!(search(&mut second, POSITIONS[2]), expected, "{threads} threads");
        // What was learnt meanwhile is forgotten.
        assert!(load(&mut second, &file).ends_with(": loaded"));
        assert_eq!(search(&mut second, POSITIONS[2]), expected, "{threads} threads");
        second.send("ucinewgame");
        assert_ne!(search(&mut second, POSITIONS[2]), expected, "empty again");
    }
    assert_eq!(names(&folder), ["1 threads.hash", "2 threads.hash"]);
}

#[test]
fn what_does_not_fit_is_refused_with_what_would_and_nothing_is_lost() {
    let folder = folder("saved-refused");
    let file = folder.join("two.hash");
    let mut engine = start(1, 2);
    search(&mut engine, POSITIONS[0]);
    save(&mut engine, &file);
    let bytes = fs::read(&file).expect("the file");
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).expect("a file");
        path
    };
    let flipped = |at: usize| {
        let mut wrong = bytes.clone();
        wrong[at] ^= 4;
        wrong
    };
    let wrong = [
        (write("empty", b""), "cut off"),
        (write("short", &bytes[..40]), "cut off"),
        (write("cut", &bytes[..bytes.len() - 1]), "cut off"),
        (write("long", &[&bytes[..], b"x"].concat()), "longer than it should be"),
        (write("foreign", &[7; 500]), "no saved work of Cairn"),
        (write("version", &flipped(7)), "another version"),
        (write("header", &flipped(16)), "damaged"),
        (write("slots", &flipped(70_000)), "damaged"),
        (write("histories", &flipped(bytes.len() - 999)), "damaged"),
        (folder.join("none"), "there is no such file"),
        (folder.clone(), "it is a folder"),
    ];
    let expected = search(&mut engine, POSITIONS[1]);
    let mut engine = start(1, 2);
    load(&mut engine, &file);
    for (path, reason) in &wrong {
        let told = load(&mut engine, path);
        assert!(told.contains(reason), "{path:?}: {told}");
        assert!(told.contains(path.to_str().unwrap()), "{told}");
        assert!(told.ends_with("; nothing is loaded"), "{told}");
    }
    set(&mut engine, "Hash File", "<empty>");
    assert!(press(&mut engine, "Load Hash").contains("no file is named"));
    assert!(press(&mut engine, "Save Hash").contains("no file is named"));
    assert_eq!(search(&mut engine, POSITIONS[1]), expected, "nothing is lost");

    for (option, value, other, hint) in [
        ("Hash", "3", "2", "the file has 2 MiB, set Hash to 2"),
        ("Threads", "2", "1", "of 1 thread, set Threads to 1"),
        ("Style", "MicroMax", "Cairn", "MicroMax keeps nothing"),
    ] {
        set(&mut engine, option, value);
        engine.settle();
        let told = load(&mut engine, &file);
        assert!(told.contains(hint), "{told}");
        set(&mut engine, option, other);
    }
    assert!(load(&mut engine, &file).ends_with(": loaded"));
    assert_eq!(search(&mut engine, POSITIONS[1]), expected);

    let of_two = folder.join("threads");
    save(&mut start(2, 2), &of_two);
    let told = load(&mut engine, &of_two);
    assert!(told.contains("set Threads to 2 and Deterministic to true"), "{told}");
}

#[test]
fn nothing_else_is_ever_overwritten() {
    let folder = folder("saved-over");
    let game = folder.join("game.pgn");
    fs::write(&game, "1. e4 e5 *\n").expect("a file");
    let mut engine = start(1, 1);
    let told = save(&mut engine, &game);
    assert!(
        told.contains("it holds something else") && told.ends_with("nothing is saved"),
        "{told}"
    );
    assert_eq!(fs::read_to_string(&game).unwrap(), "1. e4 e5 *\n");
    let told = save(&mut engine, &folder);
    assert!(told.contains("it is a folder"), "{told}");
    let told = save(&mut engine, &folder.join("no such folder/file"));
    assert!(told.contains("there is no such file"), "{told}");
    // The name under which it is written may be taken, too.
    let file = folder.join("a b.hash");
    fs::write(folder.join("a b.hash.part"), "precious").expect("a file");
    assert!(save(&mut engine, &file).contains("it holds something else"));
    assert_eq!(names(&folder), ["a b.hash.part", "game.pgn"]);
    fs::remove_file(folder.join("a b.hash.part")).expect("a file");
    // Quotes are taken off; what is empty or saved work is replaced.
    fs::write(&file, "").expect("a file");
    set(&mut engine, "Hash File", format!("\"{}\"", file.display()));
    for _ in 0..2 {
        assert!(press(&mut engine, "Save Hash").ends_with(": saved"));
    }
    assert_eq!(names(&folder), ["a b.hash", "game.pgn"]);
    engine.send_bytes(b"setoption name Hash File value /tmp/M\xfcller\n");
    let told = engine.settle();
    assert!(told.len() == 1 && told[0].contains("takes a path in UTF-8"), "{told:?}");
    assert!(press(&mut engine, "Load Hash").ends_with(": loaded"), "the path is kept");
}

#[cfg(unix)]
#[test]
fn pipes_devices_and_links_are_told_from_files() {
    let folder = folder("saved-odd");
    let pipe = folder.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let mut engine = start(1, 1);
    for odd in [&pipe, Path::new("/dev/full"), Path::new("/dev/zero")] {
        assert!(save(&mut engine, odd).contains("no regular file"), "{odd:?}");
        assert!(load(&mut engine, odd).contains("no regular file"), "{odd:?}");
    }
    // A link stays one, and what it leads to is replaced.
    let (file, link) = (folder.join("file"), folder.join("link"));
    save(&mut engine, &file);
    let before = fs::read(&file).unwrap();
    std::os::unix::fs::symlink(&file, &link).expect("a link");
    search(&mut engine, POSITIONS[0]);
    assert!(save(&mut engine, &link).ends_with(": saved"));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_ne!(fs::read(&file).unwrap(), before);
    // Nobody writes through a link in the place of the new version.
    std::os::unix::fs::symlink(folder.join("elsewhere"), folder.join("file.part")).expect("a link");
    assert!(save(&mut engine, &file).contains("no regular file"));
    assert!(!folder.join("elsewhere").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_file() {
    let folder = folder("saved-full");
    let file = folder.join("a.hash");
    let mut engine = start(1, 1);
    save(&mut engine, &file);
    let before = fs::read(&file).unwrap();
    // As on a full disk: no file may grow beyond 2 MiB, while this one needs 5. Its signal is ignored.
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 4096; exec \"$0\"", env!("CARGO_BIN_EXE_cairn")]);
    let mut limited = Engine::start_by(&mut limited);
    set(&mut limited, "Hash", 4);
    search(&mut limited, POSITIONS[0]);
    let told = save(&mut limited, &file);
    assert!(told.ends_with("; nothing is saved"), "{told}");
    assert_eq!(names(&folder), ["a.hash"]);
    assert!(fs::read(&file).unwrap() == before);
    assert!(load(&mut engine, &file).ends_with(": loaded"));
}

#[test]
fn two_processes_do_not_write_the_same_file_at_once() {
    let folder = folder("saved-shared");
    let file = folder.join("a.hash");
    // As the other one while it writes.
    let other = File::create(folder.join("a.hash.part")).expect("a file");
    other.lock().expect("a lock");
    let mut engine = start(1, 1);
    let told = save(&mut engine, &file);
    assert!(told.contains("another process writes it"), "{told}");
    assert_eq!(names(&folder), ["a.hash.part"]);
    drop(other);
    assert!(save(&mut engine, &file).ends_with(": saved"), "what was left is written over");
    assert_eq!(names(&folder), ["a.hash"]);
}

/// Whether a save of a large table has begun: its new version is there.
fn wait_for_part(folder: &Path) {
    let until = Instant::now() + uci_driver::PATIENCE;
    while !names(folder).iter().any(|name| name.ends_with(".part")) {
        assert!(Instant::now() < until, "nothing is written");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn stop_and_quit_end_a_save_and_leave_the_old_file() {
    let folder = folder("saved-stopped");
    let file = folder.join("a.hash");
    let mut engine = start(1, 1024);
    fs::write(&file, "").expect("a file");
    set(&mut engine, "Hash File", file.display());
    engine.settle();
    engine.send("setoption name Save Hash");
    wait_for_part(&folder);
    let asked = Instant::now();
    engine.send("stop");
    let told = engine.settle().join("\n");
    assert!(told.contains("stopped; nothing is saved"), "{told}");
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    assert_eq!(names(&folder), ["a.hash"]);
    assert_eq!(fs::metadata(&file).unwrap().len(), 0);
    engine.send("go depth 3");
    engine.best_move();

    engine.send("setoption name Save Hash");
    wait_for_part(&folder);
    let asked = Instant::now();
    engine.send("quit");
    assert!(engine.wait().success());
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    // It was whole in time, or is not there.
    let length = fs::metadata(&file).unwrap().len();
    assert!(length == 0 || length > 1 << 30, "{length}");
}

#[test]
fn a_program_that_is_killed_while_it_saves_leaves_the_old_file() {
    let folder = folder("saved-killed");
    let file = folder.join("a.hash");
    let mut engine = start(1, 256);
    search(&mut engine, POSITIONS[0]);
    save(&mut engine, &file);
    let before = fs::read(&file).unwrap();
    search(&mut engine, POSITIONS[1]);
    engine.send("setoption name Save Hash");
    wait_for_part(&folder);
    // Ends it the hard way.
    drop(engine);
    let mut next = start(1, 256);
    let is_old = fs::read(&file).unwrap() == before;
    assert!(is_old || load(&mut next, &file).ends_with(": loaded"), "neither old nor new");
    assert!(save(&mut next, &file).ends_with(": saved"), "what was left does not matter");
    assert_eq!(names(&folder), ["a.hash"]);
}

#[test]
fn a_search_is_stopped_first_as_by_other_options() {
    let folder = folder("saved-search");
    let file = folder.join("a.hash");
    let mut engine = start(1, 1);
    set(&mut engine, "Hash File", file.display());
    for button in ["Save Hash", "Load Hash"] {
        engine.send("go infinite");
        engine.send(&format!("setoption name {button}"));
        engine.best_move();
        let told = engine.settle();
        assert!(told.len() == 1 && told[0].ends_with("ed"), "{told:?}");
    }
    // Where the input ends, the save does not.
    search(&mut engine, POSITIONS[0]);
    let before = fs::read(&file).unwrap();
    engine.send("setoption name Save Hash");
    engine.close_input();
    assert!(engine.wait().success());
    assert_ne!(fs::read(&file).unwrap(), before);
}

fn replay(log: &Path, given: &[&Path]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
    command.arg("replay").arg(log);
    for path in given {
        command.arg(format!("--option=Hash File={}", path.display()));
    }
    let output = command.output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text.into_owned())
}

#[test]
fn a_log_keeps_the_checksum_and_a_replay_is_given_the_file_anew() {
    let folder = folder("saved-log");
    let (file, other, log) =
        (folder.join("a.hash"), folder.join("b.hash"), folder.join("session.log"));
    for threads in [1, 2] {
        let mut engine = start(threads, 2);
        search(&mut engine, POSITIONS[0]);
        save(&mut engine, &file);
        set(&mut engine, "Debug Log File", log.display());
        search(&mut engine, POSITIONS[1]);
        // Nothing comes of these, but that the options are applied.
        load(&mut engine, &folder.join("none"));
        set(&mut engine, "Hash", 4);
        load(&mut engine, &file);
        set(&mut engine, "Hash", 2);
        save(&mut engine, &other);
        search(&mut engine, POSITIONS[1]);
        load(&mut engine, &file);
        search(&mut engine, POSITIONS[2]);
        save(&mut engine, &other);
        search(&mut engine, POSITIONS[2]);
        engine.send("quit");
        engine.wait();
        let text = fs::read_to_string(&log).unwrap();
        assert_eq!(text.matches(" == loaded Hash File = nothing\n").count(), 2, "{text}");
        assert_eq!(text.matches(" == loaded Hash File = ").count(), 3, "{text}");
        assert_eq!(text.matches(" == saved Hash File = ").count(), 2, "{text}");
        let saved = fs::read(&other).unwrap();
        let (code, told) = replay(&log, &[&file]);
        assert!(code == Some(0) && told.contains("4 searches"), "{told}");
        assert!(fs::read(&other).unwrap() == saved, "a replay saves nothing");
        let (code, told) = replay(&log, &[]);
        assert!(code == Some(2) && told.contains("--option 'Hash File=FILE'"), "{told}");
        let (code, told) = replay(&log, &[&other]);
        assert!(code == Some(2) && told.contains("is not the file that was loaded"), "{told}");
        let (code, told) = replay(&log, &[&log]);
        assert!(code == Some(2) && told.contains("no saved work"), "{told}");
        // Without the file's work it is another session.
        let lines = text.lines().filter(|line| !line.contains("Load Hash"));
        let without = lines.filter(|line| !line.contains(" == loaded ")).collect::<Vec<_>>();
        let tampered = folder.join("tampered.log");
        fs::write(&tampered, without.join("\n") + "\n").expect("a log");
        let (code, told) = replay(&tampered, &[]);
        assert!(code == Some(1) && told.contains("search 3 differs"), "{told}");
    }
}

#[test]
fn a_replay_writes_and_reads_no_file_that_the_log_names() {
    let folder = folder("saved-safe");
    let (victim, log) = (folder.join("victim.hash"), folder.join("session.log"));
    let mut engine = start(1, 1);
    save(&mut engine, &victim);
    let before = fs::read(&victim).unwrap();
    set(&mut engine, "Debug Log File", log.display());
    search(&mut engine, POSITIONS[0]);
    for (button, fact) in [("Save Hash", "saved"), ("SAVE  hash", "saved"), ("load hash", "loaded")]
    {
        engine.send(&format!("setoption name {button}"));
        let told = engine.settle().join("\n");
        assert!(told.contains(fact) || told.contains("no option"), "{told}");
    }
    search(&mut engine, POSITIONS[0]);
    engine.send("quit");
    engine.wait();
    let saved = fs::read(&victim).unwrap();
    assert_ne!(saved, before);
    fs::write(&victim, &before).expect("a file");
    // Even the file that it is given is not written over.
    let copy = folder.join("copy.hash");
    fs::write(&copy, &saved).expect("a file");
    let (code, told) = replay(&log, &[&copy]);
    assert_eq!(code, Some(0), "{told}");
    assert!(fs::read(&copy).unwrap() == saved && fs::read(&victim).unwrap() == before);
    assert_eq!(names(&folder), ["copy.hash", "session.log", "victim.hash"]);
}
