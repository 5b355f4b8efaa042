//! Logs and their replay: what was played can be played again, and what was tampered with is found.

mod uci_driver;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use cairn_engine::board::Board;
use cairn_engine::eval::network::fnv1a;
use uci_driver::Engine;

/// A log of its own for each test.
fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn replay(log: &str, name: &str) -> Output {
    let path = path(&format!("{name}.replayed"));
    fs::write(&path, log).expect("a file");
    Command::new(env!("CARGO_BIN_EXE_cairn"))
        .args(["replay".as_ref(), path.as_os_str()])
        .output()
        .expect("the program starts")
}

/// Asserts how a replay ends, and that it says so.
fn assert_replay(log: &str, name: &str, code: i32, says: &str) {
    let output = replay(log, name);
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{name}: {text}\n{log}");
    assert!(text.contains(says), "{name}: {text}");
}

/// A session with everything that ends a search: its own limits, clocks, `stop`, `ponderhit`, another
/// command, a level. Returns its log.
fn record(name: &str, style: &str) -> String {
    let path = path(name);
    let mut engine = Engine::start();
    engine.send(&format!("setoption name Style value {style}"));
    // What comes before the log must not matter.
    engine.send("go depth 4");
    engine.best_move();
    engine.send("position startpos moves e2e4");
    engine.send(&format!("setoption name Debug Log File value {}", path.display()));
    engine.settle();
    let mut searches = 0;
    let mut finish = |engine: &mut Engine| {
        engine.best_move();
        searches += 1;
    };
    engine.send("go movetime 60");
    finish(&mut engine);
    engine.send("position startpos moves e2e4 e7e5 g1f3");
    engine.send("go ponder wtime 2000 btime 2000");
    thread::sleep(Duration::from_millis(40));
    engine.send("stop");
    finish(&mut engine);
    engine.send("go ponder wtime 500 btime 500 winc 10 binc 10");
    thread::sleep(Duration::from_millis(20));
    engine.send("ponderhit");
    finish(&mut engine);
    engine.send("setoption name UCI_ShowWDL value true");
    engine.send("setoption name MultiPV value 3");
    engine.send("go infinite");
    thread::sleep(Duration::from_millis(60));
    engine.send("setoption name Hash value 2");
    finish(&mut engine);
    engine.send("go nodes 3000 searchmoves b8c6 d7d6 g8f6");
    finish(&mut engine);
    engine.send("ucinewgame");
    // Positions in which the historical search behaves in its own way, and one without a move.
    for fen in ["4k3/8/8/8/8/8/QQQQ4/QQQQK3 w - - 0 1", "7k/8/6QK/8/8/8/8/8 b - - 0 1"] {
        engine.send(&format!("position fen {fen}"));
        engine.send("go infinite");
        thread::sleep(Duration::from_millis(20));
        engine.send("stop");
        finish(&mut engine);
    }
    engine.send("position startpos moves d2d4");
    engine.send("setoption name MultiPV value 1");
    engine.send("go wtime 400 btime 400");
    finish(&mut engine);
    engine.send("setoption name UCI_LimitStrength value true");
    engine.send("setoption name UCI_Elo value 1000");
    engine.send("go wtime 4000 btime 4000");
    finish(&mut engine);
    engine.send("setoption name UCI_LimitStrength value false");
    engine.send("setoption name Clear Hash");
    engine.send("nonsense");
    engine.send("go mate 2 depth 3");
    finish(&mut engine);
    engine.send("quit");
    assert!(engine.wait().success());
    let log = fs::read_to_string(path).expect("a log");
    assert_eq!(log.matches(" == search ").count(), searches, "{log}");
    log
}

/// Replaces the first text that a line with `start` in it has, from the given line on.
fn tamper(log: &str, search: u32, start: &str, old: &str, new: &str) -> String {
    let from = match search {
        0 => 0,
        _ => log.find(&format!("== search {search} ")).expect("a search"),
    };
    let at = from + log[from..].find(start).expect("a line");
    let (head, tail) = log.split_at(at);
    assert!(tail.lines().next().is_some_and(|line| line.contains(old)), "no {old} in {tail}");
    head.to_owned() + &tail.replacen(old, new, 1)
}

#[test]
fn a_session_is_repeated_in_both_styles() {
    for style in ["MicroMax", "Cairn"] {
        let log = record(&format!("{style}.log"), style);
        assert!(log.contains(" cut ") && log.contains(" ended "), "{log}");
        assert!(log.contains("\nposition startpos moves e2e4\nbegin\n"), "{log}");
        assert!(log.contains("\noption Hash = 1\n") && log.contains(" == bench "), "{log}");
        assert!(log.ends_with(" == end\n"), "{log}");
        let says = format!("{} searches", log.matches(" == search ").count());
        assert_replay(&log, style, 0, &says);
    }
}

/// A game between two programs by the clock, from a few moves on; returns how many moves it had.
fn play_by_the_clock(players: &mut [Engine; 2], opening: &[&str]) -> usize {
    const TIME: Duration = Duration::from_millis(300);
    const INCREMENT: Duration = Duration::from_millis(10);
    const LONGEST: usize = 150;
    let mut board = Board::startpos();
    let mut moves: Vec<String> = Vec::new();
    for text in opening {
        board.play(board.parse_uci(text).expect("legal"));
        moves.push((*text).to_owned());
    }
    let mut left = [TIME; 2];
    players.iter_mut().for_each(|player| player.send("ucinewgame"));
    while board.outcome().is_none() && moves.len() < LONGEST {
        let side = moves.len() % 2;
        let [white, black] = left.map(|left| left.as_millis());
        let (player, increment) = (&mut players[side], INCREMENT.as_millis());
        player.send(&format!("position startpos moves {}", moves.join(" ")));
        let start = Instant::now();
        player.send(&format!("go wtime {white} btime {black} winc {increment} binc {increment}"));
        let answer = player.best_move();
        // On a loaded machine it may take longer than it should: that is not the matter here.
        left[side] = (left[side] + INCREMENT).saturating_sub(start.elapsed());
        let text = answer.split(' ').nth(1).expect("a move");
        board.play(board.parse_uci(text).expect("a legal move"));
        moves.push(text.to_owned());
    }
    moves.len() - opening.len()
}

#[test]
fn games_by_the_clock_are_repeated() {
    for (style, opening) in [
        ("Cairn", ["e2e4", "c7c5", "g1f3"].as_slice()),
        ("Cairn", ["d2d4", "g8f6", "c2c4", "e7e6"].as_slice()),
        ("MicroMax", ["e2e4", "e7e5"].as_slice()),
    ] {
        let mut players = [Engine::start(), Engine::start()];
        let names = ["white", "black"].map(|side| format!("game-{style}-{}-{side}", opening.len()));
        for (player, name) in players.iter_mut().zip(&names) {
            player.send(&format!("setoption name Style value {style}"));
            player.send(&format!("setoption name Debug Log File value {}", path(name).display()));
        }
        let moves = play_by_the_clock(&mut players, opening);
        for (mut player, name) in players.into_iter().zip(&names) {
            player.send("quit");
            assert!(player.wait().success());
            let log = fs::read_to_string(path(name)).expect("a log");
            let searches = log.matches(" == search ").count();
            assert!(searches + 1 >= moves / 2 && searches > 10, "{searches} of {moves}");
            assert_replay(&log, name, 0, &format!("{searches} searches"));
        }
    }
}

#[test]
fn options_are_applied_where_the_log_was_asked_to_be_ready() {
    // There and back: without `isready` between, the table with all it knows would be kept.
    for (name, there, back) in [
        ("ready-hash", "Hash value 2", "Hash value 1"),
        ("ready-style", "Style value MicroMax", "Style value Cairn"),
    ] {
        let mut engine = Engine::start();
        engine.send(&format!("setoption name Debug Log File value {}", path(name).display()));
        engine.send("go nodes 20000");
        let first = engine.best_move();
        engine.send(&format!("setoption name {there}"));
        engine.settle();
        engine.send(&format!("setoption name {back}"));
        engine.send("go nodes 20000");
        assert_eq!(engine.best_move(), first, "from an empty table again");
        engine.send("quit");
        assert!(engine.wait().success());
        let log = fs::read_to_string(path(name)).expect("a log");
        assert_replay(&log, name, 0, "2 searches");
        let hasty = log.replacen(">> isready", ">> d", 1);
        assert_replay(&hasty, &format!("{name}-hasty"), 1, "search 2 differs");
    }
}

#[test]
fn a_search_after_an_illegal_move_answers_the_position_before_it() {
    let path = path("illegal");
    let mut engine = Engine::start();
    engine.send("position startpos moves e2e4 e7e5 f1c4 b8c6 d1f3 a7a6");
    engine.send(&format!("setoption name Debug Log File value {}", path.display()));
    engine.settle();
    // The same mate for each; in the position before there is another.
    for refused in ["e1e3 d7d6", "nonsense d7d6"] {
        engine.send(&format!("position startpos moves f2f3 e7e5 g2g4 {refused}"));
        let told = engine.settle();
        let names_it = |line: &String| line.contains("move 4 ") && line.contains(&refused[..4]);
        assert!(told.len() == 1 && names_it(&told[0]), "{told:#?}");
        engine.send("go depth 4");
        assert_eq!(engine.best_move(), "bestmove d8h4");
    }
    engine.send("setoption name Debug Log File value <empty>");
    engine.settle();
    let log = fs::read_to_string(&path).expect("a log");
    assert_replay(&log, "illegal", 0, "2 searches");
    // The header of a log has what was played and nothing more.
    engine.send(&format!("setoption name Debug Log File value {}", path.display()));
    engine.send("go depth 4");
    engine.best_move();
    engine.send("quit");
    assert!(engine.wait().success());
    let log = fs::read_to_string(&path).expect("a log");
    assert!(log.contains("\nposition startpos moves f2f3 e7e5 g2g4\nbegin\n"), "{log}");
    assert_replay(&log, "illegal-header", 0, "1 searches");
}

#[test]
fn a_log_that_was_tampered_with_differs() {
    let log = record("tampered.log", "MicroMax");
    // Another move, score, count, variation, line, command, option, position.
    let node_count = {
        let line = log.lines().find(|line| line.contains("== search 1 ")).expect("a search");
        line.split(" nodes ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a count")
    };
    let cut_earlier = log.replacen(&format!("cut nodes {node_count}"), "cut nodes 20", 1);
    for (name, tampered, search) in [
        ("move", tamper(&log, 2, "<< bestmove", "bestmove ", "bestmove a1a1 "), "search 2 differs"),
        (
            "score",
            tamper(&log, 1, "<< info depth 2", "score cp ", "score cp 9"),
            "search 2 differs",
        ),
        ("count", tamper(&log, 0, "<< info depth 3", "nodes ", "nodes 1"), "search 1 differs"),
        ("line", tamper(&log, 0, "<< info depth 2", " pv ", " pv a2a3 "), "search 1 differs"),
        ("stop", cut_earlier, "search 1 differs"),
        ("depth", tamper(&log, 8, ">> go mate", "depth 3", "depth 2"), "differs"),
        ("option", tamper(&log, 2, ">> setoption name MultiPV", "3", "2"), "search 4 differs"),
        ("position", tamper(&log, 1, ">> position", "g1f3", "f1c4"), "search 2 differs"),
    ] {
        assert_ne!(log, tampered, "{name}");
        assert_replay(&tampered, &format!("tampered-{name}"), 1, search);
    }
}

#[test]
fn a_replay_ends_where_a_search_goes_on_for_longer_than_the_log_says() {
    for style in ["MicroMax", "Cairn"] {
        let log = record(&format!("endless-{style}.log"), style);
        let end_of = |search: usize| {
            let start = format!("== search {search} ");
            log.lines().find_map(|line| Some(line.split_once(&start)?.1)).expect("a search")
        };
        let replaced = |search: usize, new: &str| {
            let (old, start) = (end_of(search), format!("== search {search} "));
            log.replacen(&format!("{start}{old}"), &format!("{start}{new}"), 1)
        };
        let last = log.matches("== search ").count();
        let never = "cut nodes 999999999999 threads 1";
        assert!(end_of(1).starts_with("cut ") && end_of(last).starts_with("ended "), "{log}");
        for (name, search, tampered) in [
            ("later", 1, replaced(1, never)),
            ("itself", 1, replaced(1, &end_of(1).replace("cut ", "ended "))),
            ("sooner", last, replaced(last, never)),
        ] {
            assert_ne!(log, tampered, "{name}");
            let says = format!("search {search} differs");
            assert_replay(&tampered, &format!("endless-{style}-{name}"), 1, &says);
        }
    }
}

#[test]
fn a_replay_opens_no_file_that_the_log_names() {
    let log = record("files.log", "Cairn");
    let victim = path("victim");
    let path = victim.display();
    let begin = log.find("\nposition ").expect("a header");
    let header = |line: &str| format!("{}\n{line}{}", &log[..begin], &log[begin..]);
    let input = |line: &str| log.replacen("nonsense", line, 1);
    for (name, log) in [
        ("name", header(&format!("option Debug Log File = {path}"))),
        ("case", header(&format!("option debug Log File = {path}"))),
        ("blanks", header(&format!("option Debug  Log  File = \"{path}\""))),
        ("form", header(&format!("option Debug Log File value {path} = 3"))),
        ("input", input(&format!("x setoption name DEBUG LOG FILE value {path}"))),
    ] {
        fs::write(&victim, "precious").expect("a file");
        // The form gives another path than that of the victim.
        let other = victim.with_file_name("victim value 3");
        let odd = victim.with_file_name("victim = 3");
        assert_replay(&log, &format!("files-{name}"), 0, "all the same");
        assert_eq!(fs::read_to_string(&victim).expect("a file"), "precious", "{name}");
        assert!(!other.exists() && !odd.exists(), "{name}");
    }
}

#[test]
fn a_file_that_was_loaded_is_given_anew_and_known_by_its_checksum() {
    let log = record("loaded.log", "Cairn");
    let (right, wrong) = (path("right.net"), path("wrong.net"));
    // The network that is built in, so that the searches are the same.
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../engine/src/eval/cairn.net");
    let bytes = fs::read(source).expect("a network");
    fs::write(&right, &bytes).expect("a file");
    fs::write(&wrong, "b").expect("a file");
    let option = |path: &PathBuf| format!("--option=EvalFile={}", path.display());
    let sum = format!("loaded EvalFile = {:016x}", fnv1a(&bytes));
    let begin = log.find("\nposition ").expect("a header");
    let in_header = format!("{}\n{sum}{}", &log[..begin], &log[begin..]);
    let later = log.replacen(">> nonsense", &format!("== {sum}"), 1);
    for (name, log) in [("header", in_header), ("later", later)] {
        let file = path(&format!("loaded-{name}"));
        fs::write(&file, log).expect("a file");
        for (options, code, says) in [
            (vec![], 2, "--option EvalFile=FILE"),
            (vec![option(&wrong)], 2, "is not the file that was loaded for EvalFile"),
            (vec![option(&path("none.net"))], 2, "cannot read"),
            (vec!["--option=Hash=1".into(), option(&right)], 2, "no option that names a file"),
            (vec!["--option=EvalFile".into()], 2, "NAME=VALUE"),
            (vec![option(&right)], 0, "all the same"),
        ] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
            let output = command.arg("replay").arg(&file).args(&options).output().expect("cairn");
            let text = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&text);
            assert_eq!(output.status.code(), Some(code), "{name} {options:?}: {text}");
            assert!(text.contains(says), "{name} {options:?}: {text}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_replay_reads_no_endless_file() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
    let output = command.args(["replay", "/dev/zero"]).output().expect("the program starts");
    let is_refused = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && text.contains("no log of Cairn"), "{text}");
    };
    is_refused(&output);
    let mut endless =
        Command::new("yes").stdout(std::process::Stdio::piped()).spawn().expect("yes");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
    command.args(["replay", "/dev/stdin"]).stdin(endless.stdout.take().expect("a pipe"));
    is_refused(&command.output().expect("the program starts"));
    // It was ended by its broken pipe.
    drop(command);
    assert!(!endless.wait().expect("yes").success());
    // A log itself may come from there.
    let log = record("piped.log", "Cairn");
    let file = path("piped");
    fs::write(&file, log).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
    command.args(["replay", "/dev/stdin"]).stdin(fs::File::open(file).expect("a file"));
    assert_eq!(command.output().expect("the program starts").status.code(), Some(0));
}

#[test]
fn a_log_that_is_cut_off_is_repeated_as_far_as_it_goes() {
    let log = record("cut-off.log", "MicroMax");
    let whole = log.find("== search 3").expect("a third search");
    assert_replay(&log[..whole], "cut-off-middle", 3, "broken off after 2 whole searches");
    let no_end = log.rfind("== end").expect("an end");
    assert_replay(&log[..no_end], "cut-off-end", 3, "all the same");
    // Even without its end a difference is a difference.
    let tampered = tamper(&log[..whole], 0, "<< bestmove", "bestmove ", "bestmove a1a1 ");
    assert_replay(&tampered, "cut-off-tampered", 1, "search 1 differs");
    let header = log.find("\nbegin").expect("a header");
    assert_replay(&log[..header], "cut-off-header", 2, "inside its header");
}

#[test]
fn what_is_no_usable_log_is_refused_with_a_reason() {
    let log = record("refused.log", "MicroMax");
    let unasked =
        log.lines().filter(|line| !line.contains(">> go ")).collect::<Vec<_>>().join("\n") + "\n";
    for (name, log, says) in [
        ("empty", String::new(), "no log of Cairn"),
        ("other", "1. e4 e5\n".to_owned(), "no log of Cairn"),
        ("version", log.replacen("Cairn log 1", "Cairn log 2", 1), "another format"),
        ("garbage", log.replacen(" == search 2 ", " search 2 ", 1), "damaged: it has no mark"),
        ("number", log.replacen(" == search 2 ", " == search 4 ", 1), "this should be search 2"),
        (
            "nodes",
            log.replacen(" nodes ", " nodes x", 1).replacen(
                "== search 1 cut nodes ",
                "== search 1 cut nodes x",
                1,
            ),
            "is no number",
        ),
        ("unasked", unasked, "nothing was asked"),
        ("behind", log.clone() + "9.0 >> go depth 1\n", "behind the end"),
        ("threads", log.replacen("threads 1", "threads 4", 1), "on 4 threads at once"),
    ] {
        assert_replay(&log, &format!("refused-{name}"), 2, says);
    }
    for (name, from, to, says) in [
        ("fen", "position startpos moves e2e4\n", "position fen foo\n", "FEN 'foo'"),
        ("move", "position startpos moves e2e4\n", "position startpos moves e2e5\n", "e2e5"),
        ("place", "position startpos moves e2e4\n", "position e2e4\n", "position startpos"),
        ("style", "option Style = MicroMax\n", "option Style = Foo\n", "Cairn, MicroMax"),
        ("hash", "option Hash = 1\n", "option Hash = abc\n", "from 1 to 65536"),
        ("range", "option Hash = 1\n", "option Hash = 0\n", "from 1 to 65536"),
        ("option", "option Hash = 1\n", "option Hsh = 1\n", "no option 'Hsh'"),
        ("value", "option Hash = 1\n", "option Hash 1\n", "no value"),
        ("sum", "option Hash = 1\n", "loaded EvalFile = x\n", "no checksum"),
        ("word", "option Hash = 1\n", "opt Hash = 1\n", "damaged"),
    ] {
        let number = 1 + log[..log.find(from).expect(from)].lines().count();
        let damaged = log.replacen(from, to, 1);
        assert_replay(&damaged, &format!("refused-{name}"), 2, says);
        assert_replay(&damaged, &format!("refused-{name}"), 2, &format!("line {number} of"));
    }
    let missing =
        Command::new(env!("CARGO_BIN_EXE_cairn")).args(["replay", "/no/such/log"]).output();
    assert_eq!(missing.expect("the program starts").status.code(), Some(2));
}

#[test]
fn a_log_of_another_build_says_so() {
    let log = record("build.log", "MicroMax");
    let at = log.find("== bench ").expect("a bench");
    let other = log[..at].to_owned() + &log[at..].replacen("bench ", "bench 1", 1);
    assert_replay(&other, "build", 0, "this program has bench");
    // Scores on another scale are other lines.
    let other = log.replacen(", scores ", ", scores 1", 1);
    assert_ne!(log, other);
    assert_replay(&other, "scale", 0, "this program has bench");
}

#[test]
fn the_log_can_be_turned_off_and_its_file_may_be_impossible() {
    let path = path("turned-off.log");
    let mut engine = Engine::start();
    engine.send(&format!("setoption name Debug Log File value {}", path.display()));
    engine.send("go depth 2");
    engine.best_move();
    engine.send("setoption name Debug Log File value <empty>");
    engine.send("go depth 3");
    engine.best_move();
    engine.settle();
    let log = fs::read_to_string(&path).expect("a log");
    assert!(log.ends_with(" == end\n") && !log.contains("go depth 3"), "{log}");
    assert_replay(&log, "turned-off", 0, "1 searches");
    engine.send("setoption name Debug Log File value /no/such/folder/log");
    let lines = engine.settle();
    assert!(lines.len() == 1 && lines[0].contains("no log is kept"), "{lines:?}");
}

#[test]
fn a_log_may_begin_with_a_byte_order_mark() {
    let log = record("mark.log", "Cairn");
    assert_replay(&format!("\u{feff}{log}"), "mark", 0, "all the same");
}

#[test]
fn the_path_of_a_log_may_be_quoted_but_not_be_unreadable() {
    let path = path("quoted log");
    let mut engine = Engine::start();
    engine.send(&format!("setoption name Debug Log File value \"{}\"", path.display()));
    assert!(engine.settle().is_empty());
    let log = fs::read_to_string(&path).expect("a log");
    assert!(log.contains(&format!("\noption Debug Log File = {}\n", path.display())), "{log}");
    let folder = path.with_file_name("latin");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).expect("a folder");
    let mut line =
        format!("setoption name Debug Log File value {}/M", folder.display()).into_bytes();
    line.extend_from_slice(b"\xfcller.log\n");
    engine.send_bytes(&line);
    let told = engine.settle();
    assert!(told.len() == 1 && told[0].contains("UTF-8"), "{told:?}");
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 0);
    // The log goes on.
    engine.send("quit");
    assert!(engine.wait().success());
    let log = fs::read_to_string(&path).expect("a log");
    assert!(log.ends_with(" == end\n"), "{log}");
}

#[cfg(unix)]
#[test]
fn a_log_that_is_no_regular_file_is_refused() {
    let pipe = path("log.pipe");
    let _ = fs::remove_file(&pipe);
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let mut engine = Engine::start();
    for file in [pipe.display().to_string(), "/dev/full".into(), env!("CARGO_TARGET_TMPDIR").into()]
    {
        engine.send(&format!("setoption name Debug Log File value {file}"));
        let told = engine.settle();
        assert!(told.len() == 1 && told[0].contains("no regular file"), "{file}: {told:?}");
    }
    engine.send("go depth 2");
    engine.best_move();
}

#[test]
fn a_log_that_another_process_writes_is_left_to_it() {
    let path = path("shared.log");
    let mut players = [Engine::start(), Engine::start()];
    let told = players.each_mut().map(|player| {
        player.send(&format!("setoption name Debug Log File value {}", path.display()));
        player.settle()
    });
    assert_eq!(told[0], Vec::<String>::new());
    assert!(told[1].len() == 1 && told[1][0].contains("another process"), "{told:?}");
    assert!(told[1][0].contains("no log is kept"), "{told:?}");
    for player in &mut players {
        player.send("go depth 2");
        player.best_move();
        player.send("quit");
        assert!(player.wait().success());
    }
    let log = fs::read_to_string(&path).expect("a log");
    assert_replay(&log, "shared", 0, "1 searches");
    // Once it is closed another one may have it.
    let mut next = Engine::start();
    next.send(&format!("setoption name Debug Log File value {}", path.display()));
    assert!(next.settle().is_empty());
}

#[test]
fn nothing_in_quotes_is_no_file() {
    let mut engine = Engine::start_by(
        Command::new(env!("CARGO_BIN_EXE_cairn")).current_dir(env!("CARGO_TARGET_TMPDIR")),
    );
    engine.send("setoption name Debug Log File value \"\"");
    engine.settle();
    assert!(!path("\"\"").exists());
}

#[test]
fn a_program_that_is_killed_leaves_a_log_that_can_be_repeated() {
    let path = path("killed.log");
    let mut engine = Engine::start();
    engine.send(&format!("setoption name Debug Log File value {}", path.display()));
    engine.send("go movetime 30");
    engine.best_move();
    engine.send("go infinite");
    engine.settle();
    thread::sleep(Duration::from_millis(100));
    // Ends it the hard way.
    drop(engine);
    let log = fs::read_to_string(&path).expect("a log");
    assert_replay(&log, "killed", 3, "broken off after 1 whole searches");
}
