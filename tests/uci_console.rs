//! The command line: what it prints, and what it exits with.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

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
        (&["bench", "300"], "1..=120"),
        (&["bench", "0"], "1..=120"),
        (&["bench 300"], "from 1 to 120"),
        (&["bench", "1", "2"], "unexpected argument '2'"),
        (&["benhc"], "'bench'"),
        (&["perft", "--siute", bad], "--suite"),
        (&["completions", "bsah"], "bash"),
        (&["man", "fly"], "fly"),
        (&["perft"], "perft needs a depth"),
        (&["perft", "-1"], "-1"),
        (&["perft", "2", "8/8"], "FEN"),
        (&["perft", "--suite"], "--suite <FILE>"),
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
    let name = format!("Cairn {}", env!("CARGO_PKG_VERSION"));
    let (short, long) = (lines(&cairn(&["-V"])), lines(&cairn(&["--version"])));
    assert!(short.len() == 1 && short[0].starts_with(&name), "{short:?}");
    assert_eq!(long[0], short[0]);
    assert!(long[1].starts_with("compiled for ") && long[2].starts_with("searches with "));
    let commit = short[0][name.len()..].trim();
    let known = commit.strip_prefix('(').and_then(|commit| commit.strip_suffix(')'));
    assert!(commit.is_empty() || known.is_some_and(|commit| commit.len() >= 7), "{commit}");
    let help = cairn(&["--help"]);
    assert_eq!(help.status.code(), Some(0));
    assert!(lines(&help).iter().any(|line| line.trim_start().starts_with("perft ")));
    assert!(lines(&cairn(&["help", "perft"])).iter().any(|line| line.contains("--suite <FILE>")));
}

#[test]
fn completions_and_manual_pages_know_all_commands_and_options() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = cairn(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{shell}");
        let text = String::from_utf8_lossy(&output.stdout);
        for word in ["bench", "genfens", "max-depth", "multipv"] {
            assert!(text.contains(word), "{shell}: {word}");
        }
    }
    let page = |arguments: &[&str]| {
        let output = cairn(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let (whole, perft) = (page(&["man"]), page(&["man", "perft"]));
    assert!(whole.contains("datagen") && whole.contains("Exit codes"), "{whole}");
    assert!(perft.contains("max\\-depth"), "{perft}");
    assert!(!whole.contains("(1)") && whole.contains("\ncairn datagen\n"), "{whole}");
}

#[test]
fn openings_can_be_asked_for_in_words() {
    let line = cairn(&["genfens 2 seed 5 book None"]);
    let words = cairn(&["genfens", "2", "seed", "5", "book", "None"]);
    assert_eq!((words.status.code(), lines(&words).len()), (Some(0), 2));
    assert_eq!(lines(&words), lines(&line));
    assert_eq!(cairn(&["genfens", "many"]).status.code(), Some(2));
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
        (&["go", "depth", "3", "--option", "Hash=0"], "65536, not '0'; nothing was searched"),
        (&["go", "depth", "0"], "depth is from 1 to 120"),
        (&["go", "nodes", "0"], "nodes is from 1 to"),
        (&["go", "movetime", "-5"], "movetime is from 1 to"),
        (&["eval", "8/8"], "FEN"),
    ] {
        let output = cairn(arguments);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {complaint}");
        assert!(complaint.contains(reason) && output.stdout.is_empty(), "{complaint}");
    }
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
}

#[test]
fn a_book_that_is_missing_is_an_error_and_no_opening() {
    let request = "genfens 1 seed 1 book /no/such/book";
    let words: Vec<&str> = request.split(' ').collect();
    for arguments in [&[request, "quit"][..], &["isready", request, "isready"], &words] {
        let output = cairn(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(complaint.contains("/no/such/book"), "{complaint}");
        assert!(lines(&output).iter().all(|line| line == "readyok"), "{arguments:?}");
    }
}

/// The exit code of a program that has to end within seconds though nobody reads what it prints.
fn ends(mut command: Command) -> Option<i32> {
    let mut child = command.stdin(Stdio::null()).spawn().expect("the program starts");
    drop(child.stdout.take());
    let started = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if started.elapsed() > Duration::from_secs(20) {
            child.kill().expect("a child");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait().expect("a child").code()
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let good = suite("written.epd", &format!("{START} ;D1 20\n"));
    let games = suite("written.bin", "");
    let (good, games) = (good.to_str().expect("plain"), games.to_str().expect("plain"));
    for arguments in [
        &["go", "depth", "2"][..],
        &["bench", "1"],
        &["perft", "2"],
        &["perft", "--suite", good],
        &["datagen", games, "--games", "200", "--nodes", "1"],
        &["genfens", "1", "seed", "1"],
        &["eval"],
        &["uci"],
        &["go depth 2"],
        &["--help"],
        &["--version"],
        &["completions", "bash"],
        &["man"],
    ] {
        let full = fs::File::options().write(true).open("/dev/full").expect("/dev/full");
        let output = Command::new(env!("CARGO_BIN_EXE_cairn"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(full)
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(complaint.contains("output"), "{arguments:?}: {complaint}");
    }
}

/// Standard error that cannot be written to changes no exit code.
#[cfg(target_os = "linux")]
#[test]
fn a_complaint_that_nobody_hears_is_no_crash() {
    for arguments in [&["go", "foo"][..], &["--foo"], &["replay", "/nonexistent"]] {
        let full = fs::File::options().write(true).open("/dev/full").expect("/dev/full");
        let status = Command::new(env!("CARGO_BIN_EXE_cairn"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(full)
            .status()
            .expect("the program starts");
        assert_eq!(status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn a_script_is_refused_if_one_of_its_searches_would_have_no_end() {
    for arguments in [
        &["position startpos", "go"][..],
        &["go searchmoves e2e4"],
        &["go ponder", "ponderhit"],
        &["go infinite"],
        &["go infinite", "isready"],
        &["go ponder"],
        &["go ponder movetime 10"],
        &["go ponder infinite"],
        &["go depth 3 infinite"],
        &["go ponder infinite depth 3", "ponderhit"],
        &[
            "setoption name UCI_LimitStrength value true",
            "ucinewgame",
            "go depth 1",
            "setoption name UCI_AnalyseMode value true",
            "go",
        ],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
        assert_eq!(ends(command), Some(2), "{arguments:?}");
    }
    for arguments in [
        &["setoption name UCI_LimitStrength value true", "go"][..],
        &["go ponder", "quit"],
        &["go infinite", "quit"],
        &["go infinite", "isready", "stop"],
        &["go infinite", "setoption name Hash value 2"],
        &["go ponder movetime 10", "ponderhit"],
    ] {
        let output = cairn(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(lines(&output).iter().any(|line| line.starts_with("bestmove")), "{arguments:?}");
    }
}

#[test]
fn a_script_fails_if_it_asks_for_what_is_not_done() {
    for (arguments, reason) in [
        (&["setoption name Hash value abc", "isready"][..], "Hash takes"),
        (&["setoption name Hash value 0", "isready"], "it is now 1"),
        (&["setoption name Hahs value 1", "isready"], "no option 'Hahs'"),
        (&["setoption name EvalFile value /no/such/net", "isready"], "/no/such/net"),
        (&["setoption name Debug Log File value /no/such/dir/log", "isready"], "no log is kept"),
        (&["position startpos moves e2e4 e2e4", "isready"], "move 2"),
        (&["position fen 8/8", "isready"], "8/8"),
        (&["go depth 1 searchmoves e2e5 e2e4", "isready"], "e2e5"),
        (&["go depth 1 mate x", "isready"], "mate x"),
    ] {
        let output = cairn(arguments);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {complaint}");
        assert!(complaint.contains(reason), "{arguments:?}: {complaint}");
        let lines = lines(&output);
        assert!(lines.iter().any(|line| line.contains(reason)), "{arguments:?}: {lines:?}");
        assert!(lines.iter().any(|line| line == "readyok"), "the script goes on: {lines:?}");
    }
    let chess960 = "position fen 4k3/8/8/8/8/8/8/R5KR w HA - 0 1";
    let output = cairn(&[chess960, "setoption name UCI_Opponent value none", "go depth 1"]);
    assert_eq!(output.status.code(), Some(0), "a remark is no complaint");
}

#[test]
fn each_search_of_a_script_has_its_time() {
    // Without its own time, the second one would have one millisecond.
    let output = cairn(&[
        "setoption name Move Overhead value 0",
        "go movetime 300",
        "ucinewgame",
        "go movetime 300",
    ]);
    let lines = lines(&output);
    let mut searches = lines.split(|line| line.starts_with("bestmove"));
    let depths = searches.by_ref().take(2).map(|lines| {
        let depth = lines.last()?.strip_prefix("info depth ")?.split(' ').next()?;
        depth.parse::<u32>().ok()
    });
    let depths: Vec<u32> = depths.map(|depth| depth.expect("a line")).collect();
    assert!(depths[1] + 2 >= depths[0], "{depths:?}: {lines:#?}");
}

#[test]
fn line_breaks_inside_an_argument_do_not_spoil_a_log() {
    let log = suite("broken.log", "");
    let log = log.to_str().expect("plain");
    let output = cairn(&[
        "setoption name UCI_Opponent value none\nbegin\r\nnobody",
        &format!("setoption name Debug Log File value {log}"),
        "go depth 2",
    ]);
    assert_eq!(output.status.code(), Some(0));
    let text = fs::read_to_string(log).expect("a log");
    assert!(text.contains("\noption UCI_Opponent = none begin  nobody\n"), "{text}");
    assert_eq!(cairn(&["replay", log]).status.code(), Some(0), "{text}");
}

#[test]
fn perft_is_refused_where_it_is_deeper_than_the_stack() {
    let deep =
        suite("deep.epd", &format!("{START} ;D1 20\n4k3/8/8/8/8/8/8/4K3 w - - 0 1 ;D4000 1\n"));
    let deep = deep.to_str().expect("plain");
    for (arguments, reason) in [
        (&["perft", "1000000"][..], "255"),
        (&["perft", "256", START], "255"),
        (&["perft 1000000"], "255"),
        (&["position startpos", "go perft 1000000"], "255"),
        (&["perft", "--suite", deep, "--max-depth", "1"], "line 2"),
    ] {
        let output = cairn(arguments);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {complaint}");
        assert!(complaint.contains(reason), "{arguments:?}: {complaint}");
    }
    // As deep as is allowed: two kings and nothing to move but one of them, for one ply.
    let over = "R5k1/5ppp/8/8/8/8/8/K7 b - - 0 1";
    assert_eq!(
        lines(&cairn(&["perft", "255", over])).last().map(String::as_str),
        Some("Nodes searched: 0")
    );
}

#[test]
fn a_suite_may_begin_with_a_byte_order_mark() {
    let marked = suite("marked.epd", &format!("\u{feff}# start\r\n{START} ;D1 20\r\n"));
    let output = cairn(&["perft", "--suite", marked.to_str().expect("plain")]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let plain = suite("marked-plain.epd", &format!("\u{feff}{START} ;D1 20\n"));
    let output = cairn(&["perft", "--suite", plain.to_str().expect("plain")]);
    assert_eq!(lines(&output)[0], format!("1: ok to depth 1 {START}"));
}

/// A device would fill the memory, and a FIFO would block for good.
#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_not_read() {
    let fifo = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("no-book");
    // Left over from another run.
    let _ = fs::remove_file(&fifo);
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
    for path in ["/dev/zero", fifo.to_str().expect("plain")] {
        let openings = format!("genfens 1 seed 1 book {path}");
        let words: Vec<&str> = openings.split(' ').collect();
        for (arguments, code) in
            [(&["perft", "--suite", path][..], 2), (&[&openings], 1), (&words, 1)]
        {
            let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
            command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
            assert_eq!(ends(command), Some(code), "{arguments:?}");
            let complaint = cairn(arguments).stderr;
            let complaint = String::from_utf8_lossy(&complaint);
            assert!(complaint.contains("no regular file"), "{arguments:?}: {complaint}");
        }
    }
}

#[cfg(unix)]
#[test]
fn long_commands_end_when_nobody_reads_them_any_more() {
    let endless = suite("endless.epd", &format!("{START} ;D14 1\n"));
    let endless = endless.to_str().expect("plain");
    for (arguments, code) in
        [(&["perft", "14"][..], 0), (&["bench", "60"], 0), (&["perft", "--suite", endless], 1)]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
        assert_eq!(ends(command), Some(code), "{arguments:?}");
    }
}

#[cfg(unix)]
#[test]
fn an_input_that_does_not_block_is_waited_for() {
    use std::io::{Read, Write};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    let (mut ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    theirs.set_nonblocking(true).expect("it has both modes");
    let mut child = Command::new(env!("CARGO_BIN_EXE_cairn"))
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // In pieces, each after a time in which nothing comes.
    for piece in ["isre", "ady\ngo depth 2\nis", "ready"] {
        std::thread::sleep(Duration::from_millis(150));
        ours.write_all(piece.as_bytes()).expect("it reads");
    }
    drop(ours);
    let mut said = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut said).expect("text");
    assert_eq!(said.matches("readyok\n").count(), 2, "{said}");
    assert!(said.contains("bestmove"), "{said}");
    assert_eq!(child.wait().expect("a child").code(), Some(0));
}

/// Starts the program with an output that does not block, and returns its other end.
#[cfg(unix)]
fn with_output_that_does_not_block(
    command: &mut Command,
) -> (std::process::Child, std::os::unix::net::UnixStream) {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    theirs.set_nonblocking(true).expect("it has both modes");
    command.stdout(Stdio::from(OwnedFd::from(theirs)));
    let child = command.spawn().expect("the program starts");
    // What was handed over is closed here, so that the end is seen.
    command.stdout(Stdio::null());
    (child, ours)
}

#[cfg(unix)]
#[test]
fn an_output_that_does_not_block_is_waited_for() {
    use std::io::{Read, Write};
    let many = suite("many.epd", &format!("{START} ;D1 20\n").repeat(20_000));
    let from_suite = ["perft", "--suite", many.to_str().expect("plain")];
    let script = [&["uci"][..], &["help"; 300]].concat();
    for (arguments, last) in [(&from_suite[..], "20000 passed, 0 failed\n"), (&script, "\n")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        command.args(arguments).stdin(Stdio::null());
        let (mut child, mut output) = with_output_that_does_not_block(&mut command);
        // Time enough to fill what lies in between.
        std::thread::sleep(Duration::from_millis(500));
        let mut said = String::new();
        output.read_to_string(&mut said).expect("text");
        assert!(said.len() > 400_000 && said.ends_with(last), "{} bytes", said.len());
        assert_eq!(child.wait().expect("a child").code(), Some(0));
    }

    let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
    let (mut child, mut output) = with_output_that_does_not_block(command.stdin(Stdio::piped()));
    let mut input = child.stdin.take().expect("a pipe");
    let asked = "help\n".repeat(300) + "isready\n";
    input.write_all(asked.as_bytes()).expect("it reads");
    std::thread::sleep(Duration::from_millis(500));
    let (mut said, mut piece) = (Vec::new(), [0; 4096]);
    while !said.ends_with(b"readyok\n") {
        let length = output.read(&mut piece).expect("it can be read");
        assert!(length > 0, "it has ended after {} bytes", said.len());
        said.extend_from_slice(&piece[..length]);
    }
    assert!(said.len() > 400_000, "{} bytes", said.len());
    drop(input);
    assert_eq!(child.wait().expect("a child").code(), Some(0));
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
