//! `cairn analyze`: records that depend on nothing but their position, whatever breaks them off.

mod schema;
mod subcommand;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use cairn::report::record::SCHEMA;
use schema::check;
use serde_json::Value;
use subcommand::{Subcommand, errors, file};

const ANALYZE: Subcommand = Subcommand("analyze");

fn records(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

const POSITIONS: &str = "\
rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1
r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - bm Nxg6; id \"middle, game\";
6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1
7k/8/8/8/8/8/r7/1r5K w - - 5 60
k3r3/8/8/8/8/8/5PPP/6K1 b - - 0 1
8/8/8/8/8/5k2/4p3/4K3 b - - 0 1
R5k1/5ppp/8/8/8/8/8/K7 b - - 0 1
7k/8/6QK/8/8/8/8/8 b - - 0 1
4k3/8/8/8/8/8/8/1R2KR2 w KQ - 0 1
";

const GAMES: &str = "[White \"Ann, A\"]\n[Black \"Bob\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0\n\n\
                     [White \"Bob\"]\n[Black \"Cid\"]\n\n1. d4 d5 {q} 2. Ke3 *\n\n\
                     [White \"Cid\"]\n[Black \"Ann, A\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n";

#[test]
fn records_keep_to_the_schema() {
    let folder = ANALYZE.folder("schema");
    let positions = file(&folder, "a.epd", POSITIONS);
    let games = file(&folder, "b.pgn", GAMES);
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    assert_eq!(ANALYZE.told(&["--schema"]), SCHEMA);
    let limits = ["--nodes", "2000", "--multipv", "3", &positions];
    let mut text = ANALYZE.told(&limits);
    let output = ANALYZE.run(&["--depth", "2", "--format", "jsonl", &games]);
    assert_eq!(output.status.code(), Some(1));
    text.push_str(&String::from_utf8_lossy(&output.stdout));
    // It has remarks on positions without moves.
    let output = ANALYZE.run(&["--nodes", "500", "--option", "Style=MicroMax", &positions]);
    assert_eq!(output.status.code(), Some(0));
    text.push_str(&String::from_utf8_lossy(&output.stdout));
    let records = records(&text);
    assert_eq!(records.len(), 9 + 7 + 5 + 9);
    for record in &records {
        check(record, &schema, &schema, "record");
    }
    let field = |index: usize, path: &str| {
        records[index].pointer(path).unwrap_or_else(|| panic!("{path}")).clone()
    };
    assert_eq!(field(1, "/source/id"), "middle, game");
    assert_eq!(field(1, "/lines").as_array().map(Vec::len), Some(3));
    assert_eq!(field(0, "/nodes"), 2000);
    assert_eq!(field(0, "/limits"), "nodes 2000 multipv 3 hash 1");
    assert_eq!(field(2, "/best_san"), "Re8#");
    assert_eq!((field(2, "/score/mate"), field(2, "/score/cp")), (1.into(), Value::Null));
    assert_eq!(field(6, "/ending"), "checkmate");
    assert_eq!((field(6, "/best"), field(6, "/score/mate")), (Value::Null, 0.into()));
    assert_eq!((field(7, "/ending"), field(7, "/score/cp")), ("stalemate".into(), 0.into()));
    assert_eq!((field(4, "/score/mate"), field(4, "/score_white/mate")), (1.into(), (-1).into()));
    assert_eq!(field(4, "/to_move"), "black");
    assert_eq!(field(4, "/wdl/win"), 1000);
    assert_eq!((field(10, "/source/game"), field(10, "/source/ply")), (1.into(), 1.into()));
    assert_eq!((field(20, "/source/line"), field(20, "/ending")), (11.into(), "checkmate".into()));
}

#[test]
fn records_depend_on_their_positions_alone() {
    let folder = ANALYZE.folder("alone");
    let path = file(&folder, "a.epd", POSITIONS);
    for format in ["jsonl", "csv", "epd", "text"] {
        let run = |more: &[&str]| {
            ANALYZE.told(
                &[&["--nodes", "3000", "--multipv", "2", "--format", format, &path], more].concat(),
            )
        };
        let whole = run(&[]);
        assert_eq!(run(&["--jobs", "4"]), whole);
        if format == "text" {
            continue;
        }
        let parts: Vec<String> = ["0/4", "1/4", "2/4", "3/4"]
            .iter()
            .map(|shard| {
                let name = format!("{}.{format}", &shard[..1]);
                file(&folder, &name, run(&["--shard", shard, "--jobs", "2"]))
            })
            .collect();
        let mut merging = vec!["--merge"];
        merging.extend(parts.iter().map(String::as_str));
        assert_eq!(ANALYZE.told(&merging), whole);
        if format != "epd" {
            merging[1..].reverse();
            assert_eq!(ANALYZE.told(&merging), whole, "in any order");
            let output = ANALYZE.run(&["--merge", &parts[0], &parts[2]]);
            assert_eq!(output.status.code(), Some(1));
            assert!(errors(&output).contains("position 1 is missing"), "{}", errors(&output));
            let output = ANALYZE.run(&["--merge", &parts[0], &parts[0]]);
            assert!(errors(&output).contains("position 0 is there twice"), "{}", errors(&output));
        }
    }
    let lines: Vec<&str> = POSITIONS.lines().collect();
    let alone = file(&folder, "alone.epd", lines[1]);
    let mut expected = records(&ANALYZE.told(&["--nodes", "3000", &path]))[1].clone();
    let mut found = records(&ANALYZE.told(&["--nodes", "3000", &alone]))[0].clone();
    for record in [&mut expected, &mut found] {
        record["index"] = 0.into();
        record["source"] = Value::Null;
    }
    assert_eq!(found, expected);
}

#[test]
fn other_limits_do_not_go_together() {
    let folder = ANALYZE.folder("limits");
    let path = file(&folder, "a.epd", POSITIONS);
    let part = |shard, nodes, name| {
        file(&folder, name, ANALYZE.told(&["--shard", shard, "--nodes", nodes, &path]))
    };
    let parts = [part("0/2", "300", "0"), part("1/2", "400", "1")];
    let output = ANALYZE.run(&["--merge", &parts[0], &parts[1]]);
    assert_eq!(output.status.code(), Some(1));
    assert!(errors(&output).contains("nodes 400"), "{}", errors(&output));
    let before = fs::read(&parts[0]).expect("a file");
    for arguments in [
        &["--nodes", "300"][..],
        &["--nodes", "301", "--shard", "0/2"],
        &["--nodes", "300", "--shard", "0/2", "--format", "csv"],
    ] {
        let output = ANALYZE.run(&[arguments, &["--resume", &parts[0], &path]].concat());
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert_eq!(fs::read(&parts[0]).expect("a file"), before, "{arguments:?}");
    }
}

/// The endgame tables of three pieces.
fn tables() -> String {
    format!("{}/../tests/data/syzygy", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn results_of_other_settings_are_not_gone_on_with() {
    let folder = ANALYZE.folder("settings");
    let path = file(&folder, "a.epd", POSITIONS);
    let with_tables = format!("SyzygyPath={}", tables());
    for format in ["jsonl", "csv", "epd"] {
        let form = ["--format", format, &path];
        let whole = ANALYZE.told(&[&form[..], &["--nodes", "300"]].concat());
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        let half = lines[..lines.len() / 2].concat();
        for (arguments, reason) in [
            (&["--nodes", "400"][..], "but this is Cairn"),
            (&["--nodes", "300", "--multipv", "2"], "multipv 1"),
            (&["--nodes", "300", "--option", &with_tables], ", tables "),
        ] {
            let out = file(&folder, "out", &half);
            let output = ANALYZE.run(&[&form[..], arguments, &["--resume", &out]].concat());
            assert_eq!(output.status.code(), Some(1), "{format} {arguments:?}");
            assert!(errors(&output).contains(reason), "{}", errors(&output));
            assert_eq!(fs::read_to_string(&out).expect("a file"), half, "{format} {arguments:?}");
        }
        let other =
            ANALYZE.run(&[&form[..], &["--nodes", "301", "--shard", "1/2"]].concat()).stdout;
        let first =
            ANALYZE.run(&[&form[..], &["--nodes", "300", "--shard", "0/2"]].concat()).stdout;
        let parts = [file(&folder, "0", first), file(&folder, "1", other)];
        let output = ANALYZE.run(&["--merge", &parts[0], &parts[1]]);
        assert_eq!(output.status.code(), Some(1), "{format}");
        assert!(errors(&output).contains("nodes 301"), "{}", errors(&output));
    }
}

#[test]
fn endgame_tables_are_in_the_records() {
    let folder = ANALYZE.folder("tables");
    let ending = "8/8/8/3k4/8/8/8/R3K3 w - - 0 1\n8/8/8/3k4/8/8/8/R3K3 b - - 7 9\n\
                  8/8/8/3k4/8/8/4P3/R3K3 w - - 0 1\n8/8/8/8/8/8/8/R3K2k w Q - 0 1\n\
                  8/8/8/3k4/8/8/8/3BK3 w - - 0 1\n";
    let path = file(&folder, "a.epd", ending);
    let option = format!("SyzygyPath={}", tables());
    let limits = ["--nodes", "500", "--option", &option, &path];
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let output = ANALYZE.run(&limits);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let told = records(&String::from_utf8_lossy(&output.stdout));
    for record in &told {
        check(record, &schema, &schema, "record");
        assert!(record["tables"].is_string() && record["network"].is_string(), "{record}");
    }
    let field = |index: usize, path: &str| told[index].pointer(path).cloned().unwrap_or_default();
    assert_eq!(field(0, "/tablebase/wdl"), "win");
    assert!(field(0, "/tablebase/dtz").as_i64().is_some_and(|distance| distance > 10));
    assert_eq!(field(1, "/tablebase/wdl"), "loss");
    assert!(field(1, "/tablebase/dtz").as_i64().is_some_and(|distance| distance < -10));
    assert_eq!((field(2, "/tablebase"), field(3, "/tablebase")), (Value::Null, Value::Null));
    assert_eq!((field(4, "/tablebase/wdl"), field(4, "/tablebase/dtz")), ("draw".into(), 0.into()));
    let text = ANALYZE.run(&[&limits[..], &["--format", "text"]].concat()).stdout;
    let text = String::from_utf8_lossy(&text);
    assert!(text.contains("  endgame tables: win for the side to move, distance to"), "{text}");
    let csv = ANALYZE.run(&[&limits[..], &["--format", "csv"]].concat()).stdout;
    assert!(String::from_utf8_lossy(&csv).contains(",win,"));
    let without = records(&ANALYZE.told(&["--nodes", "500", &path]));
    assert!(without.iter().all(|record| record["tablebase"].is_null()));
    assert!(without.iter().all(|record| record["tables"].is_null()));
}

#[test]
fn results_come_as_they_are_ready() {
    let mut child = ANALYZE
        .command(&["--nodes", "100", "--jobs", "3", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("an input");
    let mut output = BufReader::new(child.stdout.take().expect("an output"));
    for (index, position) in POSITIONS.lines().enumerate() {
        // The next position is written once the result of this one is there.
        writeln!(input, "{position}").expect("it is read");
        let mut line = String::new();
        output.read_line(&mut line).expect("a line");
        assert!(line.starts_with(&format!("{{\"schema\":1,\"index\":{index},")), "{line}");
    }
    drop(input);
    assert_eq!(child.wait().expect("an end").code(), Some(0));
}

#[test]
fn what_was_broken_off_goes_on() {
    let folder = ANALYZE.folder("resume");
    let path = file(&folder, "a.epd", POSITIONS);
    for format in ["jsonl", "csv", "epd"] {
        let limits = ["--nodes", "1000", "--format", format, &path];
        let whole = ANALYZE.told(&limits);
        for cut in [0, 1, 17, whole.len() / 3, whole.len() / 2, whole.len() - 1, whole.len()] {
            let out = file(&folder, "out", &whole[..cut]);
            let output = ANALYZE.run(&[&limits[..], &["--resume", &out]].concat());
            // The beginning of a line of EPD could be of a suite.
            if format == "epd" && (1..20).contains(&cut) {
                assert_eq!(output.status.code(), Some(1), "{cut}");
                assert_eq!(fs::read_to_string(&out).expect("a file"), whole[..cut], "{cut}");
                continue;
            }
            assert_eq!((output.status.code(), &*errors(&output)), (Some(0), ""), "{format} {cut}");
            assert!(output.stdout.is_empty());
            assert_eq!(fs::read_to_string(&out).expect("a file"), whole, "{format} {cut}");
        }
        let more = file(&folder, "more", whole.clone() + whole.lines().last().unwrap_or("") + "\n");
        let output = ANALYZE.run(&[&limits[..], &["--resume", &more]].concat());
        assert_eq!(output.status.code(), Some(1));
        assert!(errors(&output).contains("more positions"), "{}", errors(&output));
    }
    // A suite is no result, with and without an end of its last line.
    for suite in [POSITIONS, POSITIONS.trim_end()] {
        let suite = file(&folder, "suite.epd", suite);
        let before = fs::read(&suite).expect("a file");
        for input in [&path, &suite] {
            let output =
                ANALYZE.run(&["--nodes", "100", "--format", "epd", "--resume", &suite, input]);
            assert_ne!(output.status.code(), Some(0), "{input}");
            assert_eq!(fs::read(&suite).expect("a file"), before, "{input}");
        }
    }
    let new = folder.join("new");
    ANALYZE.told(&["--nodes", "100", &path, "--resume", new.to_str().expect("UTF-8")]);
    assert_eq!(fs::read_to_string(new).expect("a file").lines().count(), 9);
}

#[test]
fn other_files_are_never_overwritten() {
    let folder = ANALYZE.folder("others");
    let path = file(&folder, "a.epd", POSITIONS);
    for (text, format) in [
        ("my diary", "jsonl"),
        ("my diary\nsecond day\n", "jsonl"),
        ("my diary\nsecond day", "csv"),
        ("my diary\nsecond day\n", "epd"),
        (GAMES, "epd"),
        ("{\"key\": \"of something else\"}\n", "jsonl"),
    ] {
        let diary = file(&folder, "diary", text);
        let output = ANALYZE.run(&["--resume", &diary, "--format", format, &path, "--nodes", "10"]);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert_eq!(fs::read_to_string(&diary).expect("a file"), text);
    }
}

#[test]
fn forms_for_people_and_tables() {
    let folder = ANALYZE.folder("forms");
    let path = file(&folder, "a.epd", POSITIONS);
    let text = ANALYZE.told(&["--nodes", "1000", "--format", "text", &path]);
    assert!(text.contains("  k3r3/8/8/8/8/8/5PPP/6K1 b - - 0 1\n"), "{text}");
    assert!(text.contains("  white mates in 1  depth 58  Re8#\n"), "{text}");
    assert!(text.contains("  black mates in 1  depth 58  Re1#\n"), "{text}");
    assert!(text.contains("checkmate, white wins"), "{text}");
    let epd = ANALYZE.told(&["--nodes", "1000", "--format", "epd", &path]);
    let lines: Vec<&str> = epd.lines().collect();
    assert!(lines[1].contains("; id \"middle, game\";") && !lines[1].contains("bm Nxg6; id"));
    let found = " bm Re8#; ce 32766; dm 1; pv Re8#; origin \"Cairn ";
    assert!(lines[2].contains(found), "{}", lines[2]);
    assert!(lines[3].ends_with("hmvc 5; fmvn 60;"), "{}", lines[3]);
    let again = file(&folder, "again.epd", &epd);
    assert_eq!(ANALYZE.told(&["--nodes", "1000", "--format", "epd", &again]), epd);
    let csv = ANALYZE.told(&["--nodes", "1000", "--format", "csv", &path]);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 10);
    assert!(lines[2].contains("\"middle, game\""), "{}", lines[2]);
    assert!(lines[0].starts_with("index,fen,file,line,"));
}

#[test]
fn positions_of_games_are_chosen() {
    let folder = ANALYZE.folder("chosen");
    let games = file(&folder, "games.txt", GAMES);
    let plies = |arguments: &[&str]| -> Vec<(u64, u64)> {
        let output = ANALYZE.run(&[arguments, &["--nodes", "10", &games]].concat());
        let number = |value: &Value, name: &str| value["source"][name].as_u64().unwrap_or(u64::MAX);
        records(&String::from_utf8_lossy(&output.stdout))
            .iter()
            .map(|record| (number(record, "game"), number(record, "ply")))
            .collect()
    };
    assert_eq!(plies(&[]).len(), 7 + 5);
    assert_eq!(plies(&["--moves", "2-2"]), [(1, 2), (1, 3), (3, 2), (3, 3)]);
    assert_eq!(plies(&["--moves", "-1"]), [(1, 0), (1, 1), (3, 0), (3, 1)]);
    assert_eq!(plies(&["--player", "ann", "--moves", "2-"]), [(1, 2), (1, 4), (1, 6), (3, 3)]);
}

#[test]
fn bad_input_is_told_and_the_rest_analysed() {
    let folder = ANALYZE.folder("bad");
    let nowhere = folder.join("nowhere").to_str().expect("UTF-8").to_owned();
    let told = |name: &str, text: &[u8]| {
        let path = file(&folder, name, text);
        let output = ANALYZE.run(&["--nodes", "10", &path]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        let records = String::from_utf8_lossy(&output.stdout).lines().count();
        (records, errors(&output).replace(&path, "FILE"))
    };
    let (records, text) = told("a.pgn", GAMES.as_bytes());
    assert_eq!(records, 12);
    assert!(text.contains("FILE: line 9: move Ke3 is not legal here; game 2 is skipped"), "{text}");
    let impossible =
        format!("{POSITIONS}8/8/8/8/8/8/8/8 w - - 0 1\n\n4k3/8/8/8/8/8/8/4K3 w - - 0 1\n");
    let (records, text) = told("b.epd", impossible.as_bytes());
    assert_eq!(records, 10);
    assert!(text.contains("FILE: line 10: white has no king"), "{text}");
    assert_eq!(told("c", b"").0, 0);
    assert!(told("c", b"").1.contains("no positions"));
    assert!(told("c.pgn", b"\n \n").1.contains("no positions"));
    let binary: Vec<u8> = (0..5000_u32).map(|i| ((i * 7919) >> 3) as u8).collect();
    assert!(told("d", &binary).1.contains("binary"));
    let noise: Vec<u8> = binary.iter().map(|byte| byte | 1).collect();
    assert_eq!(told("d", &noise).0, 0);
    assert_eq!(told("d.pgn", &noise).0, 0);
    let output = ANALYZE.run(&["--nodes", "10", &nowhere]);
    assert_eq!(output.status.code(), Some(1));
    assert!(errors(&output).contains("cannot open"), "{}", errors(&output));
    let output = ANALYZE.run(&["--nodes", "10", folder.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(1));
    for arguments in [
        &["--shard", "4/4"][..],
        &["--shard", "x"],
        &["--moves", "9-3"],
        &["--nodes", "0"],
        &["--multipv", "0"],
        &["--option", "Fly=1"],
        &["--option", "Hash"],
        &["--option", "Debug Log File=x"],
        &["--resume", "x", "--format", "text"],
        &["--merge", "--shard", "0/2"],
        &["--jobs", "0"],
    ] {
        assert_eq!(ANALYZE.run(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let folder = ANALYZE.folder("unwritable");
    let path = file(&folder, "a.epd", POSITIONS);
    let nowhere = folder.join("no/such/out").to_str().expect("UTF-8").to_owned();
    let output = ANALYZE.run(&["--nodes", "10", &path, "--resume", &nowhere]);
    assert_eq!(output.status.code(), Some(1));
    assert!(errors(&output).contains("cannot open"), "{}", errors(&output));
    if let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") {
        let output = ANALYZE
            .command(&["--nodes", "10", &path])
            .stdout(full)
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(1));
        let output = ANALYZE.run(&["--nodes", "10", &path, "--resume", "/dev/full"]);
        assert_eq!(output.status.code(), Some(1));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_that_cannot_be_had_is_told_once() {
    let folder = ANALYZE.folder("memory");
    let path = file(&folder, "a.epd", POSITIONS);
    let script = format!(
        "ulimit -v 1500000; exec '{}' analyze --nodes 10 --hash 4000 --jobs 2 '{path}'",
        env!("CARGO_BIN_EXE_cairn")
    );
    let output = Command::new("sh").args(["-c", &script]).output().expect("a shell");
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 9);
    let told = "4000 MiB of memory can't be allocated; the hash table has 16 MiB";
    assert_eq!(errors(&output).matches(told).count(), 1, "{}", errors(&output));
}

/// Starts an analysis of many positions and waits for its first line.
fn under_way(arguments: &[&str], stdout: Stdio, input: &str) -> Child {
    let mut child = ANALYZE
        .command(arguments)
        .stdin(Stdio::piped())
        .stdout(stdout)
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("an input");
    stdin.write_all(input.as_bytes()).expect("it is read");
    child
}

#[test]
fn a_reader_that_has_seen_enough_ends_it_without_an_error() {
    let input = POSITIONS.repeat(2000);
    let mut child =
        under_way(&["--nodes", "50000", "--jobs", "2", "-"], Stdio::piped(), &input[..60_000]);
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("an output")).read_line(&mut line).expect("a line");
    assert!(line.starts_with("{\"schema\":1,\"index\":0,"), "{line}");
    assert_eq!(child.wait().expect("an end").code(), Some(0));
}

#[cfg(unix)]
#[test]
fn whatever_kills_it_leaves_whole_lines_to_go_on_with() {
    let folder = ANALYZE.folder("killed");
    let path = file(&folder, "a.epd", POSITIONS);
    let limits = ["--nodes", "40000", &path];
    let whole = ANALYZE.told(&limits);
    let out = folder.join("out");
    let mut child = ANALYZE
        .command(&limits)
        .stdout(fs::File::create(&out).expect("a file"))
        .spawn()
        .expect("the program starts");
    while fs::read_to_string(&out).expect("a file").lines().count() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let id = child.id().to_string();
    // What Ctrl-C sends.
    let killed = Command::new("kill").args(["-INT", &id]).status().expect("kill");
    assert!(killed.success());
    child.wait().expect("an end");
    let text = fs::read_to_string(&out).expect("a file");
    assert!(text.ends_with('\n') && whole.starts_with(&text), "{text}");
    let out = out.to_str().expect("UTF-8");
    ANALYZE.told(&[&limits[..], &["--resume", out]].concat());
    assert_eq!(fs::read_to_string(out).expect("a file"), whole);
}
