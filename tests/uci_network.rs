//! The network that plays: loading another one, what is shown of it, and the instructions it is computed with.

mod uci_driver;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use cairn::session::wdl::Scale;
use cairn_engine::InstructionSet;
use cairn_engine::board::Board;
use cairn_engine::eval::PackedNetwork;
use cairn_engine::eval::network::{INPUTS, Network, evaluate_reference};
use uci_driver::Engine;

/// A network of 8 neurons that looks random.
fn network(seed: u32) -> Network {
    let mut state = seed;
    let mut words = |count: usize, most: i32| -> Vec<i16> {
        let next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 8) as i32 % (2 * most + 1) - most) as i16
        };
        std::iter::repeat_with(next).take(count).collect()
    };
    let (columns, bias, weights) = (words(INPUTS * 8, 60), words(8, 300), words(4 * 16, 60));
    Network::new(seed, columns, bias, weights, vec![0, 500, -500, 9]).expect("a network")
}

/// A folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&path).expect("a folder");
    path
}

/// A file with these bytes.
fn file(path: PathBuf, bytes: &[u8]) -> PathBuf {
    fs::write(&path, bytes).expect("a file");
    path
}

fn load(path: &Path) -> String {
    format!("setoption name EvalFile value {}", path.display())
}

/// What tells a network from others, as the program writes it.
fn identity(network: &Network) -> String {
    PackedNetwork::new(network.clone()).identity().to_string()
}

fn built_in() -> String {
    PackedNetwork::built_in().expect("sound").expect("there is one").identity().to_string()
}

/// The lines of a search without what depends on time.
fn search(engine: &mut Engine) -> Vec<String> {
    engine.send("go nodes 3000");
    let lines = engine.read_until("bestmove");
    let timeless = |line: &String| {
        let words: Vec<&str> = line.split(' ').collect();
        let is_time = |at: usize| ["time", "nps"].contains(&words[at]);
        let kept = (0..words.len()).filter(|&at| !is_time(at) && (at == 0 || !is_time(at - 1)));
        kept.map(|at| words[at]).collect::<Vec<_>>().join(" ")
    };
    lines.iter().filter(|line| !line.starts_with("info string")).map(timeless).collect()
}

/// The network that plays, as `eval` shows it.
fn plays(engine: &mut Engine) -> String {
    engine.send("eval");
    let head = "Style Cairn: a network of ";
    let line = engine.read_until(head).pop().expect("a line");
    engine.read_until("Material, ");
    line[head.len()..].to_owned()
}

fn cairn(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_network_plays_from_an_empty_table_until_it_is_taken_back() {
    let folder = folder("network_plays");
    let (one, two) = (network(1), network(2));
    let one_file = file(folder.join("one.net"), &one.to_bytes());
    let two_file = file(folder.join("two.net"), &two.to_bytes());
    let mut fresh = Engine::start();
    let by_built_in = search(&mut fresh);
    assert_eq!(plays(&mut fresh), built_in());
    // Nothing changes, so nothing is said.
    fresh.send("setoption name EvalFile value <empty>");
    assert!(fresh.settle().is_empty());

    let mut engine = Engine::start();
    engine.send(&load(&one_file));
    let told = engine.settle();
    assert!(told.len() == 1 && told[0].contains(&identity(&one)), "{told:#?}");
    let by_one = search(&mut engine);
    assert_ne!(by_one, by_built_in);

    // After other searches each plays as if it were the first one. `eval` waits for the file, too.
    for line in [load(&two_file), "setoption name EvalFile value".into(), load(&one_file)] {
        engine.send(&line);
        search(&mut engine);
    }
    assert_eq!(plays(&mut engine), identity(&one));
    for (line, name, expected) in [
        ("setoption name EvalFile value <empty>".into(), built_in(), &by_built_in),
        (load(&one_file), identity(&one), &by_one),
        ("setoption name EvalFile value".into(), built_in(), &by_built_in),
    ] {
        engine.send(&line);
        assert_eq!(plays(&mut engine), name);
        assert!(engine.settle().is_empty(), "told before");
        assert_eq!(search(&mut engine), *expected, "{line}");
    }
}

#[test]
fn a_wrong_file_is_refused_by_its_name_and_the_old_network_plays_on() {
    let folder = folder("network_wrong");
    let good = network(3);
    let bytes = good.to_bytes();
    let flipped = |byte: usize| {
        let mut wrong = bytes.clone();
        wrong[byte] ^= 16;
        wrong
    };
    let files = [
        ("cut.net", bytes[..bytes.len() - 1].to_vec(), "bytes long instead of"),
        ("head.net", bytes[..20].to_vec(), "20 bytes long instead of 64"),
        ("empty.net", Vec::new(), "not a network of Cairn"),
        ("foreign.net", b"NNUE, but another one".to_vec(), "not a network of Cairn"),
        ("flipped.net", flipped(5000), "checksum"),
        ("generation.net", flipped(36), "checksum"),
        ("older.net", [b"CAIRNNN1", &bytes[8..]].concat(), "format 1, while this program reads"),
        ("shape.net", flipped(12), "number of inputs is 784, must be 768"),
        ("wide.net", flipped(16), "bytes long instead of"),
        ("odd.net", [&bytes[..16], &[9, 0, 0, 0], &bytes[20..]].concat(), "hidden neurons is 9"),
        ("long.net", vec![0; 3 << 20], "more than"),
    ];
    let mut cases: Vec<(PathBuf, &str)> = files
        .map(|(name, bytes, reason)| (file(folder.join(name), &bytes), reason))
        .into_iter()
        .collect();
    cases.push((folder.clone(), "folder"));
    cases.push((folder.join("none.net"), "no such file"));
    if cfg!(unix) {
        let fifo = folder.join("fifo.net");
        let made = fifo.exists()
            || Command::new("mkfifo").arg(&fifo).status().is_ok_and(|status| status.success());
        assert!(made, "mkfifo");
        cases.push((fifo, "no regular file"));
        cases.push(("/dev/zero".into(), "no regular file"));
    }
    let mut engine = Engine::start();
    engine.send(&load(&file(folder.join("good.net"), &bytes)));
    engine.settle();
    let searched = search(&mut engine);
    for (path, reason) in &cases {
        engine.send(&load(path));
        let told = engine.settle();
        assert_eq!(told.len(), 1, "{told:#?}");
        let name = path.file_name().expect("a name").to_string_lossy();
        // Long paths are shortened.
        let is_named = told[0].contains(&*name) || told[0].contains("...");
        assert!(is_named && told[0].contains(reason), "{reason}: {}", told[0]);
        assert_eq!(plays(&mut engine), identity(&good), "{}", told[0]);
    }
    engine.send("ucinewgame");
    assert_eq!(search(&mut engine), searched);

    for (path, reason) in &cases {
        let option = format!("EvalFile={}", path.display());
        let output = cairn(&["go", "depth", "1", "--option", &option]).output().expect("it runs");
        let (_, complaint) = texts(&output);
        assert_eq!(output.status.code(), Some(2), "{complaint}");
        assert!(complaint.contains(reason), "{reason}: {complaint}");
    }
}

#[test]
fn paths_may_be_relative_and_quoted() {
    let folder = folder("network paths");
    let one = network(4);
    let path = file(folder.join("a small.net"), &one.to_bytes());
    for value in
        ["a small.net", "\"a small.net\"", "'a small.net'", &format!("\"{}\"", path.display())]
    {
        let line = format!("setoption name EvalFile value {value}");
        let output = cairn(&[&line, "eval"]).current_dir(&folder).output().expect("it runs");
        let (text, _) = texts(&output);
        assert!(text.contains(&format!("a network of {}", identity(&one))), "{value}: {text}");
    }
    // What is not here may lie beside the program.
    let program = Path::new(env!("CARGO_BIN_EXE_cairn"));
    let beside = file(program.with_file_name("beside-the-program.net"), &one.to_bytes());
    let line = "setoption name EvalFile value beside-the-program.net";
    let output = cairn(&[line, "eval"]).current_dir(&folder).output().expect("it runs");
    fs::remove_file(beside).expect("a file");
    assert!(texts(&output).0.contains(&identity(&one)));

    let options = ["go", "nodes", "500", "--option", "EvalFile=a small.net"];
    let by_one = cairn(&options).current_dir(&folder).output().expect("it runs");
    let by_built_in = cairn(&options[..3]).output().expect("it runs");
    assert!(by_one.status.success() && by_built_in.status.success());
    assert_ne!(texts(&by_one).0, texts(&by_built_in).0);
}

#[test]
fn a_network_that_comes_during_a_search_ends_it() {
    let one = network(5);
    let path = file(folder("network_busy").join("one.net"), &one.to_bytes());
    let mut engine = Engine::start();
    engine.send("go infinite");
    engine.settle();
    engine.send(&load(&path));
    // Sent right behind, it waits for the file.
    engine.send("go depth 2");
    engine.best_move();
    let lines = engine.read_until("bestmove");
    assert!(
        lines[0].starts_with("info string") && lines[0].contains(&identity(&one)),
        "{lines:#?}"
    );
    engine.send(&load(&path));
    engine.send("quit");
    assert!(engine.wait().success());
}

#[test]
fn the_evaluation_is_shown_piece_by_piece_from_whites_view() {
    let one = network(6);
    let path = file(folder("network_eval").join("one.net"), &one.to_bytes());
    let shown = |fen: &str| {
        let position = format!("position fen {fen}");
        let output = cairn(&[&load(&path), &position, "eval"]).output().expect("it runs");
        texts(&output).0
    };
    let pawns = |value: i32| {
        let sign = if value < 0 { '-' } else { '+' };
        format!("{sign}{}.{:02}", value.abs() / 100, value.abs() % 100)
    };
    let said = |fen: &str| evaluate_reference(&one, &Board::from_fen(fen).expect("a position"));
    for (side, view) in [("w", 1), ("b", -1)] {
        let with = |rank: &str| format!("r3k3/8/8/8/8/8/PPPPP3/{rank} {side} - - 0 1");
        let (whole, without) = (with("1N2K3"), with("4K3"));
        let text = shown(&whole);
        assert!(text.contains(&format!("a network of {}", identity(&one))), "{text}");
        let lines: Vec<&str> = text.lines().collect();
        let row = |rank: &str| {
            let at = lines.iter().position(|line| line.starts_with(rank)).expect("a row");
            [lines[at], lines[at + 1]].map(|line| {
                line.split('|').skip(1).map(str::trim).collect::<Vec<_>>()[..8].join("|")
            })
        };
        let scale = Scale::of(&Board::from_fen(&whole).expect("a position"));
        let value = pawns(scale.normalised(view * (said(&whole) - said(&without))));
        assert_eq!(row("  1"), ["|N|||K|||".into(), format!("|{value}||||||")], "{text}");
        assert_eq!(row("  2")[0], "P|P|P|P|P|||");
        assert_eq!(row("  2")[1].split('|').filter(|value| !value.is_empty()).count(), 5);
        let told = |what: &str| -> Vec<&str> {
            let line = lines.iter().find(|line| line.starts_with(what)).expect("a line");
            line[what.len()..].split_whitespace().collect()
        };
        assert_eq!(told("Pieces"), ["9", "bucket", "1", "of", "4"]);
        let network = pawns(scale.normalised(view * said(&whole)));
        assert_eq!(told("The network")[0], network, "{text}");
        assert!(told("Evaluation")[0].parse::<f64>().is_ok(), "{text}");
        assert_eq!(told("Chances")[0], "white", "{text}");
        let even = scale.even().to_string();
        assert!(told("Own units").contains(&even.as_str()), "{text}");
        assert!(text.contains("Material, from white's view: "), "{text}");
    }
    // Without an option it is the one that is built in.
    let (text, _) = texts(&cairn(&["eval"]).output().expect("it runs"));
    assert!(text.contains(&built_in()) && text.contains("32   bucket"), "{text}");
    // What nobody can win is a draw whatever the network says.
    let dead = shown("8/8/4k3/8/8/3NK3/8/8 w - - 0 1");
    assert!(dead.contains("drawn: neither side can mate"), "{dead}");
    assert!(dead.contains("white wins 0.0 %, drawn 100.0 %, black wins 0.0 %"), "{dead}");
}

#[test]
fn the_instruction_set_is_what_the_environment_says() {
    let with = |set: &str, arguments: &[&str]| {
        cairn(arguments).env("CAIRN_SIMD", set).output().expect("it runs")
    };
    let (expected, _) = texts(&with("", &["bench", "3"]));
    // Without the speed, which stands in the last line.
    let nodes = |text: &str| -> Vec<String> {
        let before = |line: &str| line.split(" nodes").next().unwrap_or_default().to_owned();
        text.lines().map(before).collect()
    };
    let best = InstructionSet::ALL.into_iter().filter(|set| set.is_available()).max();
    for set in InstructionSet::ALL {
        let name = set.to_string();
        let output = with(&name, &["--version"]);
        let (text, complaint) = texts(&output);
        if set.is_available() {
            assert!(text.contains(&format!("searches with {name}")), "{text}");
            assert_eq!(nodes(&texts(&with(&name, &["bench", "3"])).0), nodes(&expected), "{name}");
        } else {
            assert_eq!(output.status.code(), Some(2));
            assert!(complaint.contains(&format!("does not have {name}")), "{complaint}");
        }
    }
    let best = best.expect("scalar code").to_string();
    assert!(texts(&with("", &["--version"])).0.contains(&format!("searches with {best}")));
    for arguments in [&[][..], &["bench", "1"], &["--version"], &["go depth 1"]] {
        let output = with("sse9", arguments);
        let (text, complaint) = texts(&output);
        assert_eq!((output.status.code(), text.as_str()), (Some(2), ""), "{arguments:?}");
        for word in ["CAIRN_SIMD", "sse9", "scalar", "avx512"] {
            assert!(complaint.contains(word), "{complaint}");
        }
    }
}

#[test]
fn a_log_names_its_network_and_a_replay_reads_no_file_that_it_names() {
    let folder = folder("network_log");
    let one = network(7);
    let path = file(folder.join("one.net"), &one.to_bytes());
    let record = |name: &str, before: &str, between: &str| {
        let log = folder.join(name);
        let mut engine = Engine::start();
        engine.send(before);
        engine.send(&format!("setoption name Debug Log File value {}", log.display()));
        search(&mut engine);
        engine.send(between);
        search(&mut engine);
        engine.send("quit");
        engine.wait();
        fs::read_to_string(log).expect("a log")
    };
    let given = format!("--option=EvalFile={}", path.display());
    let replay = |name: &str, log: &str, given: &[&str]| {
        let log = file(folder.join(name), log.as_bytes());
        let log = log.display().to_string();
        let output = cairn(&["replay", &log]).args(given).output().expect("it runs");
        let (text, complaint) = texts(&output);
        (output.status.code(), text + &complaint)
    };
    let log = record("built_in.log", "isready", "isready");
    assert!(log.contains(&format!("\nnetwork {}\n", built_in())), "{log}");
    // The option in the head and the command among the lines are not followed.
    let named = log.replace("option EvalFile = ", &format!("option EvalFile = {}", path.display()));
    let named = named.replacen(">> go", &format!(">> {}\n0.1 >> go", load(&path)), 1);
    assert_eq!(named.matches("one.net").count(), 2, "{named}");
    let (code, text) = replay("named.log", &named, &[]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = replay("named.log", &named, &[&given]);
    assert!(code == Some(2) && text.contains("another network"), "{text}");

    let loaded = record("loaded.log", &load(&path), "isready");
    assert!(loaded.contains(&format!("\nnetwork {}\n", identity(&one))), "{loaded}");
    for missing in ["loaded ", "network "] {
        // Each of the two lines is enough.
        let lines = loaded.lines().filter(|line| !line.starts_with(missing));
        let log: String = lines.map(|line| format!("{line}\n")).collect();
        let (code, text) = replay("loaded_again.log", &log, &[]);
        assert!(code == Some(2) && text.contains("--option EvalFile=FILE"), "{text}");
        let (code, text) = replay("loaded_again.log", &log, &[&given]);
        assert_eq!(code, Some(0), "{text}");
    }

    let changed = record("changed.log", "isready", &load(&path));
    assert!(changed.contains(&format!("== network {}\n", identity(&one))), "{changed}");
    let (code, text) = replay("changed_again.log", &changed, &[]);
    assert!(code == Some(2) && text.contains("another network"), "{text}");
}
