//! Games on disk: made by any number of threads, broken off anywhere, damaged, merged and counted.

mod subcommand;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cairn::games::GameFile;
use cairn::games::file::{Present, Writer, missing, part_path};
use cairn::games::make::{Order, make};
use cairn::games::merge::merge;
use cairn::games::stats::Statistics;
use cairn_engine::eval::Damping;
use cairn_engine::selfplay::format2::{HEADER_LENGTH, Header};
use cairn_engine::selfplay::{Game, Ply, Record, Settings};
use subcommand::Subcommand;

const DATAGEN: Subcommand = Subcommand("datagen");

/// Larger than any set here.
const ONE_PART: u64 = 1 << 20;
/// So that a few short games make several parts.
const SMALL_PART: u64 = 300;

fn header(first: u32) -> Header {
    let settings = Settings { seed: 5, nodes: 20, longest_game: 12, ..Settings::default() };
    Header { first, bench: 1, settings, damping: Damping::NONE }
}

/// Makes games `first..first + games` in parts of so many bytes.
fn play(path: &Path, first: u32, games: u32, threads: usize, part_bytes: u64) {
    let order = Order { path: path.into(), header: header(first), games, threads, part_bytes };
    let made = make(&order, &mut |_| ()).expect("games");
    assert_eq!(made.done, games.max(made.present.games));
}

/// The bytes of each part.
fn parts(path: &Path) -> Vec<Vec<u8>> {
    let all = (0..).map(|part| part_path(path, part)).take_while(|path| path.exists());
    all.map(|path| fs::read(path).expect("a part")).collect()
}

fn write_parts(path: &Path, parts: &[Vec<u8>]) {
    for part in (0..).map(|part| part_path(path, part)).take_while(|path| path.exists()) {
        fs::remove_file(part).expect("a part");
    }
    for (part, bytes) in (0..).zip(parts) {
        fs::write(part_path(path, part), bytes).expect("a part");
    }
}

/// The whole games with their numbers, and what is said of the rest.
fn read(path: &Path) -> (Vec<(u32, Game)>, Vec<String>) {
    let (mut games, mut damages) = (Vec::new(), Vec::new());
    for item in GameFile::open(path).expect("games") {
        match item {
            Ok(found) => games.push(found),
            Err(damage) => damages.push(damage.to_string()),
        }
    }
    (games, damages)
}

fn read_all(path: &Path) -> Vec<(u32, Game)> {
    (0..parts(path).len() as u32).flat_map(|part| read(&part_path(path, part)).0).collect()
}

fn error_of<T>(result: anyhow::Result<T>) -> String {
    format!("{:#}", result.err().expect("an error"))
}

fn open(path: &Path, part_bytes: u64) -> anyhow::Result<(Writer, Present)> {
    Writer::open(path, &header(0), part_bytes)
}

/// Goes on with a set by games that are known already.
fn go_on(path: &Path, games: &[(u32, Game)], part_bytes: u64) -> anyhow::Result<Present> {
    let (mut writer, present) = open(path, part_bytes)?;
    for (number, game) in &games[writer.next() as usize..] {
        writer.append(*number, game)?;
    }
    Ok(present)
}

#[test]
fn any_number_of_threads_makes_the_same_bytes() {
    let folder = DATAGEN.folder("threads");
    let [one, three] = ["one", "three"].map(|name| folder.join(name));
    play(&one, 0, 20, 1, SMALL_PART);
    play(&three, 0, 20, 3, SMALL_PART);
    assert!(parts(&one).len() > 2);
    assert!(parts(&one) == parts(&three));
    assert!(parts(&one).iter().all(|part| part.len() as u64 <= SMALL_PART));
    for (number, game) in read_all(&one) {
        assert!(game.replay(|_, _| ()).is_ok(), "{number}");
    }
}

#[test]
fn a_set_broken_off_at_any_byte_comes_out_the_same() {
    let path = DATAGEN.folder("broken off").join("set");
    play(&path, 0, 8, 1, SMALL_PART);
    let whole = parts(&path);
    let games = read_all(&path);
    assert_eq!(games.len(), 8);
    for part in 0..whole.len() {
        for length in 0..=whole[part].len() {
            let mut begun = whole[..=part].to_vec();
            begun[part].truncate(length);
            write_parts(&path, &begun);
            let present = go_on(&path, &games, SMALL_PART).expect("it goes on");
            assert!(parts(&path) == whole, "part {part} cut at {length}");
            let kept: usize = begun.iter().map(Vec::len).sum::<usize>() - present.cut_off as usize;
            assert!(present.games > 0 || kept <= HEADER_LENGTH, "part {part} cut at {length}");
            if length % 97 == 0 {
                write_parts(&path, &begun);
                play(&path, 0, 8, 2, SMALL_PART);
                assert!(parts(&path) == whole, "part {part} cut at {length}, played on");
            }
        }
    }
    assert_eq!(go_on(&path, &games, SMALL_PART).expect("whole"), Present { games: 8, cut_off: 0 });
    play(&path, 0, 5, 1, SMALL_PART);
    assert!(parts(&path) == whole, "no game is taken away");
}

#[test]
fn a_tail_of_zeros_is_no_game() {
    let path = DATAGEN.folder("zeros").join("set");
    play(&path, 0, 3, 1, ONE_PART);
    let whole = fs::read(&path).expect("games");
    fs::write(&path, [&whole, &[0; 400][..]].concat()).expect("a file");
    let (games, damages) = read(&path);
    assert_eq!((games.len(), damages.len()), (3, 1), "{damages:?}");
    assert!(damages[0].contains(&format!("byte {}, game 3: nothing but zeros", whole.len())));
    let present = go_on(&path, &games, ONE_PART).expect("it goes on");
    assert_eq!(present, Present { games: 3, cut_off: 400 });
    assert!(fs::read(&path).expect("games") == whole);
    fs::write(&path, [0; 400]).expect("a file");
    assert!(error_of(open(&path, ONE_PART)).contains("no file of games"));
    assert!(fs::read(&path).expect("zeros") == [0; 400], "nothing was changed");
}

#[test]
fn a_flipped_byte_is_told_with_its_place_or_does_no_harm() {
    let path = DATAGEN.folder("flipped").join("set");
    let name = path.display().to_string();
    play(&path, 0, 4, 1, ONE_PART);
    let whole = fs::read(&path).expect("games");
    let games = read_all(&path);
    for at in 0..whole.len() {
        for flip in [0xff, 0x01, 0x80] {
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            fs::write(&path, &bytes).expect("a file");
            match GameFile::open(&path) {
                Err(error) => {
                    assert!(at < 10, "byte {at}: {error}");
                    assert!(error.to_string().contains(&name), "{error}");
                }
                Ok(_) => {
                    let (found, damages) = read(&path);
                    assert!(found.iter().all(|game| games.contains(game)), "byte {at}");
                    assert_eq!(found.len(), if at < HEADER_LENGTH { 4 } else { 3 }, "byte {at}");
                    let [damage] = &damages[..] else { panic!("byte {at}: {damages:?}") };
                    let place = damage.split(&format!("{name}, byte ")).nth(1).expect("the file");
                    let from: usize = place.split(',').next().unwrap().parse().expect("a byte");
                    assert!(from <= at, "byte {at}: {damage}");
                }
            }
            // It is refused and left as it is, or a last game that seems cut off is played again.
            match go_on(&path, &games, ONE_PART) {
                Err(_) => assert!(fs::read(&path).expect("games") == bytes, "byte {at}"),
                Ok(_) => assert!(fs::read(&path).expect("games") == whole, "byte {at}"),
            }
        }
    }
}

#[test]
fn only_one_process_writes_a_set() {
    let path = DATAGEN.folder("locked").join("set");
    let (first, _) = open(&path, ONE_PART).expect("it is free");
    assert!(error_of(open(&path, ONE_PART)).contains("is being written by another process"));
    let output = cairn(&["datagen", path.to_str().unwrap(), "--games", "1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("another process"));
    drop(first);
    open(&path, ONE_PART).expect("it is free again");
}

#[test]
fn what_is_no_regular_file_is_refused() {
    let folder = DATAGEN.folder("irregular");
    let mut paths = vec![folder.clone()];
    if cfg!(unix) {
        let fifo = folder.join("fifo");
        let made = Command::new("mkfifo").arg(&fifo).status().expect("mkfifo");
        assert!(made.success());
        paths.extend([fifo, "/dev/null".into(), "/dev/zero".into()]);
    }
    for path in paths {
        for error in [error_of(open(&path, ONE_PART)), error_of(GameFile::open(&path))] {
            assert!(error.contains("is no regular file"), "{error}");
        }
    }
    assert!(error_of(GameFile::open(&folder.join("nothing"))).contains("nothing"));
}

#[test]
fn other_settings_other_ranges_and_other_files_are_refused() {
    let folder = DATAGEN.folder("others");
    let path = folder.join("set");
    play(&path, 0, 2, 1, ONE_PART);
    let before = fs::read(&path).expect("games");
    let refused = |change: &dyn Fn(&mut Header)| {
        let mut header = header(0);
        change(&mut header);
        let error = error_of(Writer::open(&path, &header, ONE_PART));
        assert!(fs::read(&path).expect("games") == before, "nothing was changed");
        error
    };
    assert!(refused(&|header| header.settings.nodes = 21).contains("nodes 20, not 21"));
    assert!(refused(&|header| header.bench = 9).contains("bench 1, not 9"));
    assert!(refused(&|header| header.first = 1).contains("first game 0, not 1"));

    let old = folder.join("old");
    let mut bytes = Vec::new();
    for (_, Game { opening, plies, result, .. }) in read_all(&path) {
        Record { opening, plies, result }.write(&mut bytes);
    }
    fs::write(&old, &bytes).expect("a file");
    assert!(error_of(open(&old, ONE_PART)).contains("format 1 is only read"));
    assert!(error_of(merge(&folder.join("new"), &[old], ONE_PART)).contains("format 1"));
    let text = folder.join("text");
    fs::write(&text, "# Not games, but a text that is longer than the header would be.\n").unwrap();
    assert!(error_of(open(&text, ONE_PART)).contains("no file of games"));
    fs::write(&text, "short").expect("a file");
    assert!(error_of(open(&text, ONE_PART)).contains("header"));
}

#[test]
fn parts_of_a_range_merge_into_what_one_run_makes() {
    let folder = DATAGEN.folder("merge");
    let [one, low, middle, high] = ["one", "low", "middle", "high"].map(|name| folder.join(name));
    play(&one, 10, 12, 1, SMALL_PART);
    play(&low, 10, 5, 2, ONE_PART);
    play(&middle, 15, 1, 1, ONE_PART);
    play(&high, 16, 6, 1, 500);
    let high: Vec<_> = (0..parts(&high).len()).map(|part| part_path(&high, part as u32)).collect();
    assert!(high.len() > 1);
    let out = |name: &str| folder.join(name);

    let all = [&high[..], &[low.clone(), middle.clone()]].concat();
    for (name, files) in [("out", all.clone()), ("out2", all.iter().rev().cloned().collect())] {
        let merged = merge(&out(name), &files, SMALL_PART).expect("a set");
        assert_eq!((merged.games, merged.damages.len(), merged.missing.len()), (12, 0, 0));
        assert_eq!(merged.parts as usize, parts(&one).len());
        assert!(parts(&out(name)) == parts(&one));
    }
    play(&out("out"), 10, 13, 1, SMALL_PART);
    assert_eq!(read_all(&out("out")).len(), 13, "a merged set can be gone on with");
    assert!(error_of(merge(&out("out2"), &all, SMALL_PART)).contains("exists already"));

    let merged = merge(&out("gap"), &[low.clone(), high[0].clone()], ONE_PART).expect("a set");
    assert_eq!(merged.missing, [(15, 15)]);
    let order =
        Order { path: out("gap"), header: header(10), games: 12, threads: 1, part_bytes: ONE_PART };
    assert!(error_of(make(&order, &mut |_| ())).contains("--first 15 --games 1)"));
    merge(&out("filled"), &[out("gap"), middle], ONE_PART).expect("a set");

    let twice = error_of(merge(&out("twice"), &[low.clone(), one], ONE_PART));
    assert!(twice.contains("low") && twice.contains("one") && twice.contains("game 10"));
    let mut bytes = fs::read(&low).expect("games");
    bytes[32] ^= 1;
    fs::write(out("broken"), &bytes).expect("a file");
    let files = [low.clone(), out("broken")];
    assert!(error_of(merge(&out("none"), &files, ONE_PART)).contains("header is damaged"));
    bytes[32] ^= 1;
    bytes[HEADER_LENGTH + 20] ^= 1;
    fs::write(out("broken"), &bytes).expect("a file");
    let merged = merge(&out("saved"), &[out("broken")], ONE_PART).expect("what is whole");
    assert_eq!((merged.games, merged.damages.len()), (4, 1));
    assert!(!out("none").exists() && !out("twice").exists());
    let left = fs::read_dir(&folder).expect("a folder").filter_map(Result::ok);
    assert!(
        left.map(|entry| entry.file_name()).all(|name| !name.to_string_lossy().contains("merging"))
    );
}

#[test]
fn statistics_count_every_position_once() {
    let path = DATAGEN.folder("stats").join("set");
    play(&path, 0, 10, 1, ONE_PART);
    let mut statistics = Statistics::new(1200);
    statistics.add_file(&path).expect("games");
    let positions: usize = read_all(&path).iter().map(|(_, game)| game.plies.len()).sum();
    let text = statistics.to_string();
    assert!(text.contains("games       10\n"), "{text}");
    assert!(text.contains(&format!("positions   {positions}, ")), "{text}");
    let not_kept = text.lines().find(|line| line.starts_with("not kept")).expect("a line");
    let counts = not_kept.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
    assert_eq!(statistics.kept() + counts.sum::<u64>(), positions as u64, "{text}");
    assert!(statistics.kept() > 0 && statistics.damages().is_empty());
    let mut strict = Statistics::new(0);
    strict.add_file(&path).expect("games");
    assert!(strict.kept() < statistics.kept());
}

#[test]
fn an_illegal_move_is_told_and_the_moves_before_it_count() {
    let path = DATAGEN.folder("illegal").join("set");
    play(&path, 0, 1, 1, ONE_PART);
    let (_, mut game) = read_all(&path).remove(0);
    let positions = game.plies.len() as u64;
    // The same move twice in a row: its piece is gone by then.
    game.plies.extend([0; 2].map(|score| Ply { mv: game.plies[0].mv, score }));
    let (mut writer, _) = open(&path, ONE_PART).expect("a set");
    writer.append(1, &game).expect("room");
    drop(writer);
    let mut statistics = Statistics::new(1200);
    statistics.add_file(&path).expect("games");
    let [damage] = statistics.damages() else { panic!("{:?}", statistics.damages()) };
    let expected = format!("{}, game 1: half-move", path.display());
    assert!(damage.contains(&expected), "{damage}");
    assert!(statistics.to_string().contains(&format!("positions   {}", 2 * positions)));
}

fn cairn(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cairn"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}

const QUICK: [&str; 6] = ["--nodes", "50", "--longest-game", "20", "--seed", "3"];

#[test]
fn the_command_makes_merges_and_counts() {
    let folder = DATAGEN.folder("command");
    let path = |name: &str| folder.join(name).to_str().expect("plain").to_owned();
    let datagen = |arguments: &[&str]| {
        let output = cairn(&[&["datagen"], arguments].concat());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let make = |name: &str, more: &[&str]| {
        let (code, said, error) = datagen(&[&[&*path(name)], &QUICK[..], more].concat());
        assert_eq!(code, Some(0), "{error}");
        said
    };
    make("all", &["--games", "6"]);
    make("low", &["--games", "4", "--threads", "2"]);
    make("high", &["--first", "4", "--games", "2"]);
    assert_eq!(datagen(&["--merge", &path("out"), &path("high"), &path("low")]).0, Some(0));
    assert!(fs::read(path("out")).unwrap() == fs::read(path("all")).unwrap());
    make("far", &["--first", "5", "--games", "1"]);
    let (code, said, error) = datagen(&["--merge", &path("gap"), &path("low"), &path("far")]);
    assert!(code == Some(1) && error.contains("gap was written, but games are missing"), "{error}");
    assert!(said.contains("game 4 is missing") && fs::exists(path("gap")).unwrap(), "{said}");
    let (code, said, _) = datagen(&["--stats", &path("low"), &path("high")]);
    assert!(code == Some(0) && said.starts_with("games       6\n"), "{said}");
    assert!(make("all", &["--games", "5"]).contains("6 games are there already"));

    let (code, _, error) = datagen(&[&*path("all"), "--nodes", "51"]);
    assert_eq!(code, Some(1));
    assert!(error.contains("nodes 50, not 51") && error.contains("seed 3, not 1"), "{error}");
    let mut bytes = fs::read(path("all")).expect("games");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(path("all"), bytes).expect("a file");
    let (code, said, error) = datagen(&["--stats", &path("all")]);
    assert!(code == Some(1) && said.starts_with("games       5\n"), "{said}");
    assert!(error.contains("checksum") && error.contains("game 5"), "{error}");
    for wrong in [
        &["--games", "x"][..],
        &["--chess960", "101"],
        &["--sides", "both"],
        &["--nodes", "0"],
        &["--games"],
        &["--what", "1"],
    ] {
        assert_eq!(datagen(&[&[&*path("new")], wrong].concat()).0, Some(2), "{wrong:?}");
    }
    for (option, value, range) in [
        ("--nodes", "0", "1..=4294967295"),
        ("--hard-factor", "0", "1..=255"),
        ("--hash", "300", "1..=255"),
        ("--random-plies", "41", "0..=40"),
        ("--opening-bound", "19", "20..=65535"),
        ("--chess960", "101", "0..=100"),
        ("--decided-plies", "0", "1..=255"),
        ("--longest-game", "0", "1..=65535"),
        ("--threads", "0", "1..=1024"),
        ("--part-mib", "0", "1..="),
    ] {
        let error = datagen(&[&path("new"), option, value]).2;
        assert!(error.contains(option) && error.contains(range), "{error}");
    }
    for wrong in [&[][..], &["--merge", "a"], &["--stats"]] {
        assert_eq!(datagen(wrong).0, Some(2), "{wrong:?}");
    }
    assert!(!Path::new(&path("new")).exists());
}

#[test]
fn a_set_without_its_first_part_is_left_as_it_is() {
    let path = DATAGEN.folder("headless").join("set");
    play(&path, 0, 8, 1, SMALL_PART);
    let whole = parts(&path);
    fs::remove_file(&path).expect("the first part");
    let error = error_of(open(&path, SMALL_PART));
    assert!(error.contains("set is missing") && error.contains("set.001 follows"), "{error}");
    assert!(!path.exists(), "nothing was changed");
    fs::write(&path, &whole[0]).expect("a file");
    assert!(parts(&path) == whole);
}

#[test]
fn games_that_are_missing_are_counted_in_words() {
    assert_eq!(missing(3, 3), "game 3 is missing");
    assert_eq!(missing(3, 4), "games 3 to 4 are missing");
}

#[test]
fn a_process_that_is_killed_loses_no_game_that_it_has_written() {
    let folder = DATAGEN.folder("killed");
    let [killed, whole] = ["killed", "whole"].map(|name| folder.join(name));
    let command = |path: &Path, games: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        command.args(["datagen", path.to_str().unwrap(), "--threads", "2", "--games", games]);
        command.args(QUICK).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let size = || fs::metadata(&killed).map_or(0, |metadata| metadata.len());
    let mut wanted = 500;
    for _ in 0..3 {
        let mut child = command(&killed, "4000000").spawn().expect("the program starts");
        let start = Instant::now();
        while size() < wanted && start.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(1));
        }
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        assert!(size() >= wanted);
        wanted = size() + 1000;
    }
    let games = (read(&killed).0.len() + 2).to_string();
    for path in [&killed, &whole] {
        assert!(command(path, &games).status().expect("it runs").success());
    }
    assert!(fs::read(&killed).unwrap() == fs::read(&whole).unwrap());
}

#[cfg(unix)]
#[test]
fn a_set_that_does_not_fit_on_the_disk_is_gone_on_with_later() {
    let folder = DATAGEN.folder("full");
    let [full, whole] = ["full", "whole"].map(|name| folder.join(name));
    let arguments = |path: &Path| -> Vec<String> {
        let path = path.to_str().expect("plain");
        let all = [&["datagen", path, "--games", "30"], &QUICK[..]].concat();
        all.into_iter().map(str::to_owned).collect()
    };
    // A limit on the size of files, as if the disk were full there.
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_cairn")])
        .args(arguments(&full))
        .output()
        .expect("a shell");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("full/full"), "{error}");
    let (games, damages) = read(&full);
    assert!(!games.is_empty() && damages.is_empty(), "{damages:?}");
    for path in [&full, &whole] {
        let arguments = arguments(path);
        assert!(cairn(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).status.success());
    }
    assert!(fs::read(&full).unwrap() == fs::read(&whole).unwrap());
}
