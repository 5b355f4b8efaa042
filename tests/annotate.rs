//! `cairn annotate`: games judged alike by any number of jobs, whole whatever happens, and pages that are safe.

mod subcommand;

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;

use cairn::report::pgn::{Game, Reader};
use subcommand::{Subcommand, errors, file};

const ANNOTATE: Subcommand = Subcommand("annotate");

fn games(text: &str) -> Vec<Game> {
    Reader::new(text.as_bytes()).map(|entry| entry.expect("a game").game).collect()
}

/// The text in one line, so that words can be looked for.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Two and a bit blocks: a queen is lost, and a mate allowed.
const LONG: &str = "[White \"Ann\"]\n[Black \"Bob\"]\n[Result \"0-1\"]\n\n\
    1. e4 {[%eval 5.5] [%clk 0:05:00]} e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 Nf6 5. d3 d6 6. O-O O-O \
    7. Re1 a6 8. Bb3 Ba7 9. Nbd2 (9. h3 h6) Be6 10. Nf1 Bxb3 11. Qxb3 Qd7 12. Bg5 Kh8 13. Bxf6 gxf6 \
    14. Qxb7 $6 Rg8 15. Ng3 Rab8 16. Qxa6 Rxb2 17. Qxa7 Nxa7 18. Rab1 Rxf2 19. Kxf2 Rxg3 20. Kxg3 Qg4+ 0-1\n\n";

const MATE: &str = "[White \"Ann\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n";

/// Black begins, in a position that only Chess960 has; it ends in stalemate.
const SET_UP: &str = "[SetUp \"1\"]\n[FEN \"7k/5Q2/8/6K1/8/8/8/8 b - - 0 1\"]\n\n*\n\n\
    [SetUp \"1\"]\n[FEN \"k7/2Q5/8/8/8/8/1K6/8 w - - 0 1\"]\n\n1. Kc3 1/2-1/2\n\n\
    [Variant \"Chess960\"]\n[FEN \"4k3/8/8/8/8/8/8/1R2KR2 b KQ - 0 1\"]\n\n1... Kd7 2. O-O Kc6 *\n\n";

const LIMIT: [&str; 2] = ["--nodes", "3000"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&LIMIT[..], more].concat()
}

#[test]
fn any_number_of_jobs_finds_the_same() {
    let folder = ANNOTATE.folder("jobs");
    let path = file(&folder, "a.pgn", [LONG, MATE, SET_UP, LONG].concat());
    let run = |jobs: &str| {
        let html = folder.join(format!("{jobs}.html"));
        let html = html.to_str().expect("UTF-8");
        let text = ANNOTATE.told(&with(&["--jobs", jobs, "--html", html, &path]));
        (text, fs::read_to_string(html).expect("a page"))
    };
    let one = run("1");
    assert_eq!(run("3"), one);
    let output = folder.join("out.pgn");
    let output = output.to_str().expect("UTF-8");
    assert_eq!(ANNOTATE.told(&with(&["--output", output, &path])), "");
    assert_eq!(fs::read_to_string(output).expect("the games"), one.0);
    assert_eq!(ANNOTATE.told(&with(&[output])), one.0, "again");
    assert!(!one.1.contains("\u{fffd}"));
    let names: Vec<String> = fs::read_dir(&folder)
        .expect("a folder")
        .map(|entry| entry.expect("a file").file_name().into_string().expect("UTF-8"))
        .collect();
    assert_eq!(names.len(), 4, "nothing else is left: {names:?}");
}

#[test]
fn games_keep_what_they_had_and_get_what_was_found() {
    let folder = ANNOTATE.folder("found");
    let path = file(&folder, "a.pgn", [LONG, MATE, SET_UP].concat());
    let text = ANNOTATE.told(&with(&[&path]));
    let words = flat(&text);
    let games = games(&text);
    assert_eq!(games.len(), 5);
    let long = &games[0];
    assert_eq!(long.tag("Annotator").map(|name| name.starts_with("Cairn ")), Some(true));
    assert_eq!(long.main.moves.len(), 40);
    for (i, step) in long.main.moves.iter().enumerate() {
        assert!(step.comments[0].starts_with("[%eval "), "{i}: {step:?}");
        assert!(step.comments[0].contains("] [%wdl "), "{i}: {step:?}");
    }
    assert_eq!(words.matches("[%clk 0:05:00]").count(), 1);
    assert!(!words.contains("5.5"), "an old score");
    assert_eq!(long.main.moves[16].variations.len(), 1, "9. h3 is kept");
    let queen = &long.main.moves[32];
    assert_eq!(queen.nags, [4], "{queen:?}");
    assert!(queen.comments[1].starts_with("Cairn: blunder, the expected result falls from "));
    assert!(queen.comments[1].contains("; 17... Nxa7"), "{queen:?}");
    assert_eq!(queen.variations.len(), 1);
    let grob = &games[1].main.moves;
    assert_eq!(grob[2].nags, [4], "2. g4");
    assert!(grob[2].comments[0].starts_with("[%eval #-1]"), "{grob:?}");
    assert_eq!(grob[3].comments, ["[%wdl 0 0 1000]"], "the mate");
    assert_eq!(games[2].main.moves.len(), 0);
    assert_eq!(games[3].main.moves[0].comments[0], "[%eval 0.00] [%wdl 0 1000 0]", "stalemate");
    assert_eq!(games[3].main.moves[0].nags, [4]);
    assert!(words.contains("1... Kd7 { [%eval ") && words.contains("2. O-O"), "{words}");
}

#[test]
fn other_peoples_text_stays_text() {
    let folder = ANNOTATE.folder("evil");
    let evil = "</script><script>alert(1)</script>";
    let game = format!(
        "[White \"{evil}\"]\n[Black \"<b>&\\\"'\"]\n[Event \"{evil}\"]\n[WhiteElo \"<i>\"]\n\n1. e4 {{{evil}}} e5 *\n\n"
    );
    let path = file(&folder, "a.pgn", format!("{game}{game}"));
    let html = folder.join("a.html");
    ANNOTATE.told(&with(&["--html", html.to_str().expect("UTF-8"), &path]));
    let page = fs::read_to_string(html).expect("a page");
    assert!(!page.contains("<script>alert") && !page.contains("<i>)") && !page.contains("<b>&"));
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;"));
    // One of the page and one with the data of each game.
    assert_eq!((page.matches("<script").count(), page.matches("</script>").count()), (3, 3));
    assert!(!page.contains("http:") && !page.contains("https:"), "nothing is asked for");
}

#[test]
fn a_page_is_small() {
    let folder = ANNOTATE.folder("small");
    let path = file(&folder, "a.pgn", LONG);
    let html = folder.join("a.html");
    ANNOTATE.told(&with(&["--html", html.to_str().expect("UTF-8"), &path]));
    let page = fs::read_to_string(html).expect("a page");
    assert!(page.len() < 150_000, "{}", page.len());
    assert!(page.contains("<title>Ann – Bob</title>") && !page.contains("class=\"index\""));
    assert!(page.contains("Key moments") && page.contains("aria-label=\"White: Kg1"));
    assert!(page.contains("data-ply=\"40\""));
}

#[test]
fn what_is_broken_is_told_and_the_rest_annotated() {
    let folder = ANNOTATE.folder("broken");
    let broken = "[White \"X\"]\n\n1. e4 e5 2. Ke3 *\n\n";
    let path = file(&folder, "a.pgn", [MATE, broken, MATE].concat());
    let output = ANNOTATE.run(&with(&[&path]));
    assert_eq!(output.status.code(), Some(1));
    let told = errors(&output);
    assert!(told.contains("Ke3") && told.contains("game 2 is skipped"), "{told}");
    assert_eq!(games(&String::from_utf8_lossy(&output.stdout)).len(), 2);
    for (name, text, expected) in [
        ("empty.pgn", &b""[..], "there are no games"),
        ("binary.pgn", b"\x7fELF\0\0\x01", "is no text"),
        ("none.pgn", b"\n\n", "there are no games"),
    ] {
        let path = file(&folder, name, text);
        let html = folder.join("none.html");
        let output = ANNOTATE.run(&with(&[&path, "--html", html.to_str().expect("UTF-8")]));
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{name}");
        assert!(errors(&output).contains(expected), "{name}: {}", errors(&output));
        assert!(!html.exists());
    }
    let output = ANNOTATE.run(&with(&["/nowhere/a.pgn"]));
    assert_eq!(output.status.code(), Some(1));
    assert!(errors(&output).contains("cannot open /nowhere/a.pgn"));
}

#[test]
fn what_is_read_is_never_overwritten() {
    let folder = ANNOTATE.folder("same");
    let path = file(&folder, "a.pgn", MATE);
    let other = folder.join("b.pgn");
    let other = other.to_str().expect("UTF-8");
    for wrong in [
        vec![&*path, "--output", &*path],
        vec![&*path, "--html", &*path],
        vec![&*path, "--output", other, "--html", other],
        vec![&*path, "--option", "Style=MicroMax"],
        vec![&*path, "--option", "Threads=2"],
        vec![&*path, "--option", "nothing"],
        vec![&*path, "--nodes", "0"],
    ] {
        let output = ANNOTATE.run(&wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
    assert_eq!(fs::read_to_string(&path).expect("the game"), MATE);
    assert!(!Path::new(other).exists());
    for wrong in [["--output", "/nowhere/a"], ["--html", "/nowhere/a"]] {
        let output = ANNOTATE.run(&with(&[&[&*path][..], &wrong].concat()));
        assert_eq!(output.status.code(), Some(1), "{wrong:?}");
        assert!(errors(&output).contains("cannot write /nowhere/a"), "{}", errors(&output));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told() {
    let folder = ANNOTATE.folder("full");
    let path = file(&folder, "a.pgn", MATE);
    for option in ["--output", "--html"] {
        let output = ANNOTATE.run(&with(&[&path, option, "/dev/full"]));
        assert_eq!(output.status.code(), Some(1), "{option}");
        assert!(errors(&output).contains("cannot write /dev/full"), "{}", errors(&output));
    }
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("it is there");
    let output =
        ANNOTATE.command(&with(&[&path])).stdout(full).output().expect("the program starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(Path::new("/dev/full").exists());
}

#[test]
fn a_reader_that_leaves_is_no_error_and_the_page_is_made() {
    let folder = ANNOTATE.folder("closed");
    let path = file(&folder, "a.pgn", MATE.repeat(3));
    let html = folder.join("a.html");
    for more in [vec![], vec!["--html", html.to_str().expect("UTF-8")]] {
        let mut child = ANNOTATE
            .command(&with(&[&[&*path][..], &more].concat()))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let mut told = String::new();
        child.stderr.take().expect("errors").read_to_string(&mut told).expect("UTF-8");
        assert_eq!((child.wait().expect("an end").code(), &*told), (Some(0), ""), "{more:?}");
    }
    assert!(fs::read_to_string(html).expect("a page").contains("3 games"));
}

#[test]
fn a_kill_leaves_whole_games() {
    let folder = ANNOTATE.folder("killed");
    let path = file(&folder, "a.pgn", [MATE, LONG, LONG, LONG].concat());
    let output = folder.join("out.pgn");
    let html = folder.join("a.html");
    let mut child = ANNOTATE
        .command(&[
            "--nodes",
            "20000",
            "--jobs",
            "1",
            "--output",
            output.to_str().expect("UTF-8"),
            "--html",
            html.to_str().expect("UTF-8"),
            &path,
        ])
        .spawn()
        .expect("the program starts");
    while fs::read(&output).map_or(true, |text| text.is_empty()) {
        assert!(child.try_wait().expect("a process").is_none(), "it ended too early");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().expect("a process");
    child.wait().expect("an end");
    let text = fs::read_to_string(&output).expect("games");
    assert!(text.ends_with("0-1\n\n"), "{text}");
    assert!(!games(&text).is_empty());
    assert!(!html.exists());
}

#[test]
fn standard_input_is_read() {
    let mut child = ANNOTATE
        .command(&with(&[]))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("its input");
    input.write_all(MATE.as_bytes()).expect("a game");
    drop(input);
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(games(&String::from_utf8_lossy(&output.stdout)).len(), 1);
}
