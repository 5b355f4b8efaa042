//! Scripted dialogues with the program: each state it can be in and the commands that meet it there.

mod uci_driver;

use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use uci_driver::{Engine, PATIENCE};

/// White mates in one.
const MATE_IN_ONE: &str = "position fen 6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1";
/// White has one move, h1g2.
const ONE_MOVE: &str = "position fen 7k/8/8/8/8/6p1/6r1/7K w - - 0 1";
/// Black is mated.
const MATED: &str = "position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1";
/// Black is stalemated.
const STALEMATED: &str = "position fen 7k/8/6QK/8/8/8/8/8 b - - 0 1";

/// Ways to be busy, with what brings the program there and what lets it answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Searching,
    Infinite,
    Pondering,
    /// Stopped a moment ago.
    Stopping,
    /// Infinite, with nothing left to search.
    HeldInfinite,
    /// Pondering, with nothing left to search.
    HeldPondering,
}

impl State {
    const ALL: [State; 7] = [
        State::Idle,
        State::Searching,
        State::Infinite,
        State::Pondering,
        State::Stopping,
        State::HeldInfinite,
        State::HeldPondering,
    ];

    /// Brings a fresh engine into the state. Answers how many `bestmove` lines are owed.
    fn enter(self, engine: &mut Engine) -> usize {
        let held = matches!(self, State::HeldInfinite | State::HeldPondering);
        engine.send(if held { MATED } else { "position startpos" });
        engine.settle();
        match self {
            State::Idle => return 0,
            State::Searching => engine.send("go wtime 100000000 btime 100000000"),
            State::Infinite | State::HeldInfinite => engine.send("go infinite"),
            State::Pondering | State::HeldPondering => {
                engine.send("go ponder wtime 100000 btime 100000");
            }
            State::Stopping => {
                engine.send("go infinite");
                engine.settle();
                engine.send("stop");
            }
        }
        1
    }
}

fn count_best_moves(lines: &[String]) -> usize {
    lines.iter().filter(|line| line.starts_with("bestmove")).count()
}

#[test]
fn every_command_is_taken_in_every_state() {
    // The command, the answers it leads to by itself, and whether it ends what is searched.
    let commands = [
        ("uci", 0, false),
        ("debug on", 0, false),
        ("isready", 0, false),
        ("setoption name Hash value 2", 0, true),
        ("setoption name MultiPV value 2", 0, false),
        ("setoption name Nonsense value 2", 0, false),
        ("setoption name UCI_ShowWDL value true", 0, false),
        ("setoption name SyzygyPath value /none", 0, true),
        ("setoption name Debug Log File value /no/such/folder/log", 0, true),
        ("ucinewgame", 0, true),
        ("position startpos moves d2d4", 0, true),
        ("position startpos moves d2d5", 0, true),
        ("go depth 2", 1, true),
        ("go infinite", 1, true),
        ("stop", 0, true),
        ("ponderhit", 0, false),
        ("d", 0, false),
        ("eval", 0, false),
        ("genfens 1 seed 1 book None", 0, true),
        ("perft 1", 0, true),
        ("nonsense", 0, false),
        ("", 0, false),
    ];
    for state in State::ALL {
        for (command, answers, ends) in commands {
            let mut engine = Engine::start();
            let owed = state.enter(&mut engine) + answers;
            engine.send(command);
            // Whatever it was, the program answers,
            let mut lines = engine.settle();
            if !ends && matches!(state, State::Infinite | State::HeldInfinite) {
                assert_eq!(count_best_moves(&lines), 0, "{state:?} {command}");
            }
            // ends when it is told to,
            engine.send("stop");
            while count_best_moves(&lines) < owed {
                lines.extend(engine.read_until("bestmove"));
            }
            lines.extend(engine.settle());
            // gives exactly one answer to each go,
            assert_eq!(count_best_moves(&lines), owed, "{state:?} {command}: {lines:#?}");
            // and plays on as if nothing had been.
            engine.send("position startpos moves d2d4");
            engine.send("go depth 2");
            engine.best_move();
            assert!(engine.fen().contains("/3P4/"), "{state:?} {command}");
        }
    }
}

#[test]
fn the_end_of_the_input_ends_the_program_from_every_state() {
    for state in State::ALL {
        for quits in [false, true] {
            let mut engine = Engine::start();
            let owed = state.enter(&mut engine);
            let start = Instant::now();
            if quits {
                engine.send("quit");
            }
            engine.close_input();
            assert!(engine.wait().success(), "{state:?}");
            assert!(start.elapsed() < Duration::from_secs(5), "{state:?}");
            assert_eq!(count_best_moves(&engine.rest()), owed, "{state:?}");
        }
    }
}

#[test]
fn the_end_of_the_input_waits_for_no_table() {
    const GAMES: u32 = 8;
    let mut engine = Engine::start_raw();
    engine.send("setoption name Hash value 1024");
    engine.settle();
    engine.send("ucinewgame");
    let start = Instant::now();
    engine.settle();
    let one = start.elapsed();
    for _ in 0..GAMES {
        engine.send("ucinewgame");
    }
    let start = Instant::now();
    engine.close_input();
    assert!(engine.wait().success());
    let ended = start.elapsed();
    assert!(ended < (one * GAMES / 2).max(Duration::from_millis(400)), "{one:?}, {ended:?}");
}

#[test]
fn the_input_may_end_inside_of_anything() {
    let session = "uci\nisready\nposition startpos moves e2e4\ngo depth 2\nstop\ngo infinite\nisready\nstop\n";
    for end in 0..session.len() {
        let mut engine = Engine::start_raw();
        engine.send_bytes(&session.as_bytes()[..end]);
        engine.close_input();
        assert!(engine.wait().success(), "{:?}", &session[..end]);
        let asked = session[..end].split('\n').filter(|line| line.starts_with("go")).count();
        assert_eq!(count_best_moves(&engine.rest()), asked, "{:?}", &session[..end]);
    }
}

/// The program with nobody who reads its output, and these lines as its input.
fn unread(lines: &str) -> (Child, ChildStdin) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cairn"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(lines.as_bytes()).expect("it reads");
    (child, input)
}

/// Tries all cases at once: they wait more than they compute.
fn side_by_side<T: Send, const N: usize>(cases: [T; N], attempt: impl Fn(T) + Sync) {
    let attempt = &attempt;
    thread::scope(|scope| {
        for case in cases {
            scope.spawn(move || attempt(case));
        }
    });
}

/// Waits for a program to end by itself.
fn assert_ends(mut child: Child, why: &str) {
    let until = Instant::now() + PATIENCE;
    while child.try_wait().expect("a child").is_none() {
        if Instant::now() > until {
            let _ = child.kill();
            panic!("the program does not end: {why}");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_program() {
    // The input stays open: it must not need its end.
    let (child, _input) = unread("go infinite\n");
    assert_ends(child, "go infinite");
}

#[test]
fn a_reader_that_does_not_read_blocks_nobody_else() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cairn"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    // More than any pipe holds. Were the input not read meanwhile, this would not return.
    let questions = "uci\n".repeat(20_000);
    input.write_all(questions.as_bytes()).expect("it reads");
    input.write_all(b"quit\n").expect("it reads");
    assert_ends(child, "quit");
}

#[test]
fn no_stop_is_lost_and_none_is_stale() {
    let mut engine = Engine::start();
    const ROUNDS: usize = 3000;
    // All at once: each stop has to meet its own go.
    engine.send_bytes("go infinite\nstop\n".repeat(ROUNDS).as_bytes());
    for _ in 0..ROUNDS {
        engine.best_move();
    }
    assert_eq!(count_best_moves(&engine.settle()), 0);
    // A stop for nothing does not end the next search.
    engine.send("stop");
    engine.send("stop");
    engine.send("go infinite");
    engine.assert_no_best_move();
    engine.send("stop");
    engine.send("stop");
    engine.best_move();
    assert_eq!(count_best_moves(&engine.settle()), 0);
}

#[test]
fn what_comes_during_a_search_is_done_after_it_and_in_order() {
    let mut engine = Engine::start();
    engine.send("go infinite");
    engine.send(ONE_MOVE);
    engine.send("go depth 3");
    let first = engine.best_move();
    assert!(!first.starts_with("bestmove h1g2"), "{first} belongs to the position before");
    assert!(engine.best_move().starts_with("bestmove h1g2"));
    assert_eq!(engine.fen(), "7k/8/8/8/8/6p1/6r1/7K w - - 0 1");
}

#[test]
fn ponder_hit_and_ponder_miss() {
    let mut engine = Engine::start();
    // The clock is all but empty, but it is the opponent's that runs.
    engine.send("go ponder wtime 20 btime 20");
    engine.assert_no_best_move();
    engine.send("ponderhit");
    engine.best_move();
    // A hit without a ponder, and a second one, change nothing.
    engine.send("ponderhit");
    engine.send("go infinite");
    engine.send("ponderhit");
    engine.assert_no_best_move();
    engine.send("stop");
    engine.best_move();
    // A miss: stop, then another position.
    engine.send("go ponder wtime 1000 btime 1000");
    engine.send("stop");
    engine.send("position startpos moves e2e4");
    engine.send("go wtime 100 btime 100");
    engine.best_move();
    let second = engine.best_move();
    assert!(second.contains('7') || second.contains('8'), "{second} is no move of black");
    assert_eq!(count_best_moves(&engine.settle()), 0);
}

#[test]
fn a_finished_ponder_search_is_answered_at_the_hit() {
    for position in [MATED, STALEMATED, MATE_IN_ONE, "position startpos"] {
        let mut engine = Engine::start();
        engine.send(position);
        engine.send("go ponder depth 2");
        engine.assert_no_best_move();
        engine.send("ponderhit");
        engine.best_move();
    }
}

#[test]
fn where_there_is_no_move_there_is_an_answer() {
    for (position, score) in [(MATED, "score mate 0"), (STALEMATED, "score cp 0")] {
        // Not `nodes`: under a node limit micro-Max has scores of its own for a stalemate.
        for go in ["go depth 3", "go movetime 20", "go wtime 1000 btime 1000"] {
            let mut engine = Engine::start();
            engine.send(position);
            engine.send(go);
            let lines = engine.read_until("bestmove");
            assert_eq!(
                lines.last().map(String::as_str),
                Some("bestmove (none)"),
                "{position} {go}"
            );
            let last = lines.iter().rfind(|line| line.contains(" score ")).expect("a score");
            assert!(last.contains(score), "{position} {go}: {last}");
        }
    }
}

#[test]
fn an_endless_search_answers_only_when_it_is_told_to() {
    for position in [MATED, STALEMATED, MATE_IN_ONE, "position startpos"] {
        for go in ["go infinite", "go infinite depth 1", "go ponder", "go ponder movetime 1"] {
            let mut engine = Engine::start();
            engine.send(position);
            engine.send(go);
            engine.assert_no_best_move();
            engine.send("stop");
            engine.best_move();
            assert_eq!(count_best_moves(&engine.settle()), 0, "{position} {go}");
        }
    }
}

#[test]
fn no_clock_is_too_short_for_a_legal_move() {
    for go in [
        "go wtime 1 btime 1",
        "go wtime 0 btime 0",
        "go wtime -1000 btime -1000 winc 0 binc 0",
        "go wtime 1 btime 1 movestogo 1",
        "go wtime 100 btime 100 winc -5 binc -5 movestogo -1",
        "go movetime 0",
        "go movetime -5",
        "go depth 0",
        "go nodes 0",
    ] {
        let mut engine = Engine::start();
        engine.settle();
        for game in ["position startpos", "position startpos moves e2e4"] {
            engine.send(game);
            engine.send(go);
            let best = engine.best_move();
            let mv = best.split(' ').nth(1).expect("a move");
            let whole = if game.contains("moves") {
                format!("{game} {mv}")
            } else {
                format!("{game} moves {mv}")
            };
            let before = engine.fen();
            engine.send(&whole);
            assert_ne!(engine.fen(), before, "{go}: {best}");
        }
    }
}

#[test]
fn clocks_are_kept() {
    let mut engine = Engine::start();
    engine.settle();
    for (go, most) in [
        ("go wtime 100 btime 100", 100),
        ("go wtime 100 btime 100 winc 10 binc 10", 100),
        ("go wtime 300 btime 300 movestogo 1", 300),
        ("go movetime 100", 100),
        ("go movetime 100 wtime 100000 btime 100000", 100),
    ] {
        // The best of a few: another process may hold the processor.
        let fastest = (0..5)
            .map(|_| {
                engine.send("position startpos");
                let start = Instant::now();
                engine.send(go);
                engine.best_move();
                start.elapsed()
            })
            .min()
            .expect("five tries");
        assert!(fastest < Duration::from_millis(most), "{go}: {fastest:?}");
    }
}

#[test]
fn a_stop_is_answered_at_once() {
    let mut engine = Engine::start();
    engine.settle();
    let mut times: Vec<Duration> = (0..50)
        .map(|_| {
            engine.send("go infinite");
            engine.settle();
            let start = Instant::now();
            engine.send("stop");
            engine.best_move();
            start.elapsed()
        })
        .collect();
    times.sort();
    assert!(times[25] < Duration::from_millis(10), "{times:?}");
}

#[test]
fn the_best_move_is_the_one_that_was_shown() {
    for lines in [1, 3] {
        let mut engine = Engine::start();
        engine.send(&format!("setoption name MultiPV value {lines}"));
        engine.send("position startpos moves e2e4 e7e5 g1f3");
        engine.send("go depth 4");
        let output = engine.read_until("bestmove");
        let best = output.last().and_then(|line| line.split(' ').nth(1)).expect("a move");
        let shown = output.iter().rfind(|line| line.contains(" multipv 1 ")).expect("a line");
        assert!(shown.contains(&format!(" pv {best}")), "{output:#?}");
        // Whole iterations, in the order of rank.
        let ranks: Vec<usize> = output
            .iter()
            .filter(|line| line.starts_with("info depth 4 "))
            .filter_map(|line| line.split(" multipv ").nth(1)?.split(' ').next()?.parse().ok())
            .collect();
        assert_eq!(ranks, (1..=lines).collect::<Vec<usize>>(), "{output:#?}");
    }
}

#[test]
fn the_clock_ends_whole_iterations() {
    let mut engine = Engine::start();
    engine.send("setoption name MultiPV value 3");
    engine.send("go wtime 10000 btime 10000");
    let output = engine.read_until("bestmove");
    let depth_of =
        |line: &String| line.strip_prefix("info depth ")?.split(' ').next()?.parse::<u32>().ok();
    let depths: Vec<u32> = output.iter().filter_map(depth_of).collect();
    let last = *depths.last().expect("an iteration");
    assert_eq!(depths.iter().filter(|depth| **depth == last).count(), 3, "{output:#?}");
}

#[test]
fn castling_is_written_as_the_gui_wants_it() {
    for (chess960, text) in [("false", "e1g1"), ("true", "e1h1")] {
        let mut engine = Engine::start();
        engine.send(&format!("setoption name UCI_Chess960 value {chess960}"));
        engine.send("position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1");
        // Both notations are read, whatever is set.
        for castling in ["e1g1", "e1h1"] {
            engine.send(&format!("go depth 3 searchmoves {castling}"));
            assert!(engine.best_move().starts_with(&format!("bestmove {text}")));
        }
        engine.send("perft 1");
        let divided = engine.read_until("Nodes searched");
        assert!(divided.contains(&format!("{text}: 1")), "{divided:#?}");
    }
}

#[cfg(unix)]
#[test]
fn a_position_of_chess960_is_told_once_and_has_its_notation() {
    let mut engine = Engine::start();
    let white = "position fen 4k3/8/8/8/8/8/8/R5KR w HA - 0 1";
    engine.send(white);
    let told = engine.settle();
    assert!(told.len() == 1 && told[0].contains("Chess960"), "{told:#?}");
    engine.send("go searchmoves g1h1 depth 2");
    assert!(engine.best_move().starts_with("bestmove g1h1 "));
    // Not again with each move of the same game, but for another one.
    engine.send(&format!("{white} moves g1h1"));
    engine.send(white);
    assert!(engine.settle().is_empty());
    engine.send("position fen 4k3/8/8/8/8/8/8/RK5R w HA - 0 1");
    assert_eq!(engine.settle().len(), 1);
    engine.send("perft 1");
    let divided = engine.read_until("Nodes searched");
    for mv in ["b1c1: 1", "b1a1: 1", "b1h1: 1"] {
        assert_eq!(divided.iter().filter(|line| *line == mv).count(), 1, "{divided:#?}");
    }
    // A GUI that has asked for this notation needs no telling.
    engine.send("setoption name UCI_Chess960 value true");
    engine.send(white);
    engine.send("setoption name UCI_Chess960 value false");
    engine.send("position startpos");
    assert!(engine.settle().is_empty());
    engine.send("position fen 4k3/8/8/8/8/8/8/4K2R w H - 0 1");
    engine.send("go searchmoves e1h1 depth 2");
    assert!(engine.best_move().starts_with("bestmove e1g1"));
}

#[test]
fn a_table_that_is_too_large_leaves_the_old_one() {
    // Whatever the machine has: the process gets no more than 2 GB of addresses.
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -v 2000000; exec \"$0\"", env!("CARGO_BIN_EXE_cairn")]);
    let mut engine = Engine::start_by(&mut limited);
    engine.send("setoption name Hash value 1");
    assert!(engine.settle().is_empty());
    engine.send("setoption name Hash value 4096");
    let lines = engine.settle();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert!(lines[0].contains("4096") && lines[0].contains("keeps its 1 MiB"), "{lines:#?}");
    assert!(engine.settle().is_empty(), "told once");
    engine.send("setoption name Hash value 2");
    assert!(engine.settle().is_empty(), "there is memory for another size");
    engine.send("go depth 2");
    engine.best_move();
}

/// Long commands beyond UCI.
const LONG: [&str; 3] = ["perft 12", "bench 60", "genfens 10000000 seed 1 book None"];

#[test]
fn long_commands_obey_stop() {
    for command in LONG {
        let mut engine = Engine::start();
        engine.send(command);
        // What has to wait does not keep the stop from coming through.
        engine.send("position startpos moves e2e4");
        engine.send("stop");
        engine.send("go depth 1");
        let lines = engine.read_until("bestmove");
        assert!(!lines.iter().any(|line| line.ends_with(" nps")), "{lines:#?}");
        let says = lines.iter().filter(|line| line.ends_with("was stopped")).count();
        assert_eq!(says, usize::from(!command.starts_with("genfens")), "{lines:#?}");
    }
}

#[test]
fn long_commands_end_with_the_program() {
    side_by_side(LONG, |command| {
        let mut engine = Engine::start();
        engine.send(command);
        engine.send(command);
        engine.send("quit");
        assert!(engine.wait().success(), "{command}");
        // Neither the input's end nor an answer is needed to find out that nobody reads.
        let (child, _input) = unread(&format!("{command}\n"));
        assert_ends(child, command);
        let (child, input) = unread(&format!("{command}\n"));
        drop(input);
        assert_ends(child, command);
    });
}

#[test]
fn what_ends_by_itself_outlives_the_input() {
    for (command, position, last) in [
        ("go depth 11", "position startpos", "bestmove"),
        ("go nodes 400000", "position startpos", "bestmove"),
        ("go mate 3", "position fen r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", "bestmove"),
        ("perft 5", "position startpos", "Nodes searched: 4865609"),
        ("bench 5", "position startpos", "40/40 "),
    ] {
        // Once with the input open until the end, once not.
        let mut told = [false, true].map(|closes| {
            let mut engine = Engine::start();
            engine.send(position);
            engine.send(command);
            if closes {
                engine.close_input();
                assert!(engine.wait().success(), "{command}");
                return engine.rest();
            }
            engine.read_until(last)
        });
        // Without what depends on time.
        for lines in &mut told {
            lines.retain(|line| !line.contains(" ms, ") && !line.ends_with(" nps"));
            for line in lines {
                line.truncate(line.find(" nps ").unwrap_or(line.len()));
            }
        }
        assert_eq!(told[0], told[1], "{command}");
    }
    let mut engine = Engine::start();
    engine.settle();
    let start = Instant::now();
    engine.send("go movetime 1500");
    engine.close_input();
    assert!(engine.wait().success());
    assert!(start.elapsed() > Duration::from_millis(1400));
    // Not if nobody reads it.
    let (child, input) = unread("go movetime 1000000000\n");
    drop(input);
    assert_ends(child, "go movetime");
}

#[test]
fn a_large_table_is_cleared_on_nobodys_clock() {
    let mut engine = Engine::start();
    engine.send("setoption name Hash value 1024");
    // What comes before, what is timed up to its answer, and the most milliseconds for that.
    for (before, timed, most) in [
        ("", &["ucinewgame", "go movetime 50"][..], 100),
        ("", &["ucinewgame", "isready", "go movetime 50"], 100),
        ("", &["ucinewgame", "go wtime 100 btime 100"], 90),
        ("", &["ucinewgame", "go infinite", "stop"], 60),
        ("", &["setoption name Clear Hash", "go infinite", "stop"], 60),
        ("Style value MicroMax", &["setoption name Style value Cairn", "go movetime 50"], 100),
        ("Style value Cairn", &["setoption name Style value MicroMax", "go movetime 50"], 100),
        ("Hash value 9", &["setoption name Hash value 1024", "ucinewgame", "go movetime 50"], 100),
    ] {
        let round = |_| {
            // Something to clear.
            engine.send(&format!("setoption name {before}"));
            engine.settle();
            engine.send("go nodes 2000");
            engine.best_move();
            let start = Instant::now();
            for line in timed {
                engine.send(line);
            }
            engine.best_move();
            start.elapsed()
        };
        // The best of a few: another process may hold the processor.
        let time = (0..5).map(round).min().expect("five rounds");
        assert!(time < Duration::from_millis(most), "{before} {timed:?}: {time:?}");
    }
}

#[test]
fn a_table_is_as_empty_after_a_hurry_as_after_a_rest() {
    // All that is told of a search but its time and speed.
    let search = |engine: &mut Engine, before: &[&str]| -> Vec<String> {
        for command in before {
            engine.send(command);
        }
        engine.send("go nodes 60000");
        let lines = engine.read_until("bestmove");
        // Bounds are told only once a search takes long, which depends on the machine.
        let exact = |line: &&String| line.contains(" score ") && !line.contains("bound ");
        let told = lines.iter().filter(exact).map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let timed = |at: usize| at > 0 && matches!(words[at - 1], "time" | "nps");
            let kept = (0..words.len()).filter(|&at| !timed(at)).map(|at| words[at]);
            kept.collect::<Vec<&str>>().join(" ")
        });
        told.collect()
    };
    for style in ["Cairn", "MicroMax"] {
        let mut engine = Engine::start_raw();
        engine.send(&format!("setoption name Style value {style}"));
        engine.send("setoption name Hash value 256");
        engine.send("position startpos moves e2e4 c7c5");
        let fresh = search(&mut engine, &["isready"]);
        assert!(!fresh.is_empty());
        let is_kept = search(&mut engine, &[]) != fresh;
        assert_eq!(
            is_kept,
            style == "Cairn",
            "what micro-Max knows is of no use to its next search"
        );
        for before in [
            &["ucinewgame"][..],
            &["ucinewgame", "stop"],
            &["ucinewgame", "stop", "ucinewgame", "isready"],
            &["ucinewgame", "isready", "stop", "ucinewgame", "stop"],
            &["setoption name Clear Hash"],
            &["setoption name Hash value 255", "setoption name Hash value 256", "ucinewgame"],
        ] {
            assert_eq!(search(&mut engine, before), fresh, "{style} {before:?}");
        }
    }
}

#[test]
fn perft_is_divided_and_can_be_stopped() {
    let mut engine = Engine::start();
    engine.send("go perft 2");
    let lines = engine.read_until("Nodes searched");
    assert_eq!(lines.last().map(String::as_str), Some("Nodes searched: 400"));
    assert!(lines.contains(&"g1f3: 20".to_owned()));
    engine.send("perft 20");
    assert!(engine.settle().is_empty(), "isready is answered meanwhile");
    engine.send("stop");
    engine.read_until("perft was stopped");
}

#[test]
fn lines_that_no_memory_could_hold_are_skipped() {
    let mut engine = Engine::start();
    engine.settle();
    let mut line = vec![b'x'; 3 << 20];
    line.push(b'\n');
    engine.send_bytes(&line);
    let lines = engine.settle();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert!(lines[0].contains("ignored"), "{lines:#?}");
}

#[test]
fn chances_stand_behind_the_score_when_they_are_asked_for() {
    let mut engine = Engine::start();
    for (value, shown) in [("true", true), ("false", false)] {
        engine.send(&format!("setoption name UCI_ShowWDL value {value}"));
        for position in ["position startpos", MATE_IN_ONE, MATED] {
            engine.send(position);
            engine.send("go depth 4");
            let lines = engine.read_until("bestmove");
            for line in lines.iter().filter(|line| line.contains(" score ")) {
                let words: Vec<&str> = line.split(' ').collect();
                let at = words.iter().position(|word| *word == "score").expect("a score") + 3;
                assert_eq!(words[at] == "wdl", shown, "{line}");
                if shown {
                    let chances = words[at + 1..at + 4].iter().map(|word| word.parse::<u32>());
                    assert_eq!(chances.sum::<Result<u32, _>>(), Ok(1000), "{line}");
                }
            }
        }
    }
}

#[test]
fn a_line_that_ends_in_a_draw_is_shown_as_one() {
    let mut engine = Engine::start();
    engine.send("setoption name UCI_ShowWDL value true");
    // A perpetual check that has gone on for a while, and what nobody can win.
    let perpetual = "position fen q4kb1/3Q2nq/8/r3PpK1/2n5/7q/8/q7 w - f6 0 1 \
                     moves d7c8 f8f7 c8d7 f7f8 d7d8 f8f7";
    for position in [perpetual, "position fen 8/8/4k3/8/8/3NK3/8/8 w - - 0 1"] {
        engine.send(position);
        engine.send("go depth 12");
        let lines = engine.read_until("bestmove");
        let last = lines.iter().rfind(|line| line.contains(" score ")).expect("a score");
        assert!(last.contains(" score cp 0 wdl 0 1000 0 "), "{lines:#?}");
    }
}

#[test]
fn a_limited_strength_is_a_limited_number_of_nodes_and_repeats() {
    let mut engine = Engine::start();
    let mut play_level = |style: &str, elo: &str, analysis: bool| {
        engine.send(&format!("setoption name Style value {style}"));
        engine.send("setoption name UCI_LimitStrength value true");
        engine.send(&format!("setoption name UCI_Elo value {elo}"));
        engine.send(&format!("setoption name UCI_AnalyseMode value {analysis}"));
        engine.send("ucinewgame");
        engine.send("position startpos moves e2e4");
        engine.send("go nodes 5000");
        let lines = engine.read_until("bestmove");
        let last = lines.iter().rfind(|line| line.contains(" nodes ")).expect("a line");
        let nodes: u64 = word_behind(last, "nodes").and_then(|it| it.parse().ok()).expect("nodes");
        let pv = last.split(" pv ").nth(1).expect("moves").to_owned();
        (nodes, pv, lines.last().cloned())
    };
    let (weak, strong) = (play_level("Cairn", "800", false), play_level("Cairn", "1200", false));
    assert!(weak.0 < strong.0 && strong.0 < 1500, "{weak:?} {strong:?}");
    assert!(play_level("Cairn", "800", true).0 > 1500, "nobody is spared in analysis");
    for style in ["Cairn", "MicroMax"] {
        assert_eq!(play_level(style, "1000", false), play_level(style, "1000", false));
    }
}

#[test]
fn the_historical_style_keeps_to_the_nodes_of_its_level() {
    let mut engine = Engine::start_raw();
    engine.send("setoption name Style value MicroMax");
    let mut nodes = |commands: &[&str]| {
        for command in commands {
            engine.send(command);
        }
        let lines = engine.read_until("bestmove");
        let told = lines.iter().filter_map(|line| word_behind(line, "nodes")?.parse::<u64>().ok());
        (told.max().expect("nodes"), lines)
    };
    // Whole iterations, as the original has them.
    assert_eq!(nodes(&[BUSY, "go nodes 1000"]).0, 46_797);
    for (elo, most) in [(800, 102), (1400, 1395), (2000, 14_246), (2800, 123_600)] {
        let elo = format!("setoption name UCI_Elo value {elo}");
        let limited = "setoption name UCI_LimitStrength value true";
        for position in ["position startpos", BUSY, MATE_IN_ONE] {
            let (level, lines) = nodes(&[limited, &elo, position, "go"]);
            assert!(level <= most, "{level} of {most}: {lines:#?}");
            // The move is one that was searched.
            let best = lines.last().and_then(|line| word_behind(line, "bestmove"));
            let shown = lines.iter().rfind(|line| line.contains(" score ")).expect("a line");
            assert_eq!(word_behind(shown, "pv"), best, "{lines:#?}");
        }
    }
}

/// Some nothing new is found in for long: the next iteration takes the time.
const BUSY: &str =
    "position fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

/// The word behind `name` in a line.
fn word_behind<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.split(' ').skip_while(|word| *word != name).nth(1)
}

#[test]
fn a_long_search_shows_that_it_goes_on_and_ends_with_an_exact_line() {
    side_by_side([("MicroMax", 8), ("Cairn", 1), ("Cairn", 8)], |(style, lines)| {
        let mut engine = Engine::start();
        engine.send(&format!("setoption name Style value {style}"));
        engine.send(&format!("setoption name MultiPV value {lines}"));
        engine.send(BUSY);
        engine.send("go infinite");
        thread::sleep(Duration::from_millis(4300));
        engine.send("stop");
        let output = engine.read_until("bestmove");
        let is_status = |line: &&String| line.contains(" nodes ") && !line.contains(" score ");
        let status: Vec<&String> = output.iter().filter(is_status).collect();
        let times: Vec<u64> =
            status.iter().filter_map(|line| word_behind(line, "time")?.parse().ok()).collect();
        assert!((1..=3).contains(&times.len()), "{style}: {output:#?}");
        assert!(times[0] >= 3000, "{times:?}");
        assert!(times.windows(2).all(|pair| pair[1] >= pair[0] + 900), "{times:?}");
        for line in status {
            for name in ["depth", "nodes", "nps", "hashfull"] {
                assert!(word_behind(line, name).is_some(), "{line}");
            }
        }
        let best = output.last().and_then(|line| line.split(' ').nth(1)).expect("a move");
        let last = &output[output.len() - 2];
        assert!(last.contains(" score ") && last.contains(" nodes "), "{last}");
        assert!(!last.contains("bound"), "{last}");
        let shown = output.iter().rfind(|line| line.contains(" multipv 1 ")).expect("a line");
        assert_eq!(word_behind(shown, "pv"), Some(best), "{output:#?}");
    });
}

#[test]
fn the_move_under_way_is_told_late_and_seldom() {
    side_by_side([("false", "e1g1"), ("true", "e1h1")], |(chess960, castling)| {
        let mut engine = Engine::start();
        engine.send("setoption name Style value Cairn");
        engine.send(&format!("setoption name UCI_Chess960 value {chess960}"));
        engine.send(BUSY);
        engine.send(&format!("go movetime 4200 searchmoves {castling}"));
        let output = engine.read_until("bestmove");
        let told: Vec<usize> =
            (0..output.len()).filter(|&at| output[at].contains(" currmove ")).collect();
        assert!((1..=2).contains(&told.len()), "{output:#?}");
        for at in told {
            let line = &output[at];
            assert_eq!(word_behind(line, "currmove"), Some(castling), "{line}");
            assert_eq!(word_behind(line, "currmovenumber"), Some("1"), "{line}");
            assert!(line.starts_with("info depth ") && !line.contains(" score "), "{line}");
            let time = word_behind(&output[at + 1], "time").and_then(|time| time.parse().ok());
            assert!(time.is_some_and(|time: u64| time >= 3000), "{output:#?}");
        }
        // A quick search says nothing of the kind.
        engine.send("go movetime 300");
        let output = engine.read_until("bestmove");
        assert!(!output.iter().any(|line| line.contains("currmove") || line.contains("bound")));
    });
}

#[test]
fn a_mate_that_is_settled_ends_the_search() {
    let mut engine = Engine::start();
    engine.send("setoption name Style value Cairn");
    engine.send(MATE_IN_ONE);
    for (go, most) in [("go movetime 60000", 20), ("go wtime 60000 btime 60000", 20)] {
        engine.send(go);
        let lines = engine.read_until("bestmove");
        assert!(lines.len() <= most, "{lines:#?}");
        assert_eq!(lines.last().map(String::as_str), Some("bestmove e1e8"));
    }
    engine.send("go infinite");
    engine.assert_no_best_move();
    engine.send("stop");
    assert_eq!(engine.best_move(), "bestmove e1e8");
    // What is asked for is searched.
    engine.send("go depth 40");
    assert!(engine.read_until("bestmove").iter().any(|line| line.starts_with("info depth 40 ")));
}

#[test]
fn debug_tells_more_about_a_search() {
    let mut engine = Engine::start();
    let mut remarks = |switch: &str| {
        engine.send(switch);
        engine.send("go depth 2");
        let lines = engine.read_until("bestmove");
        lines.iter().filter(|line| line.starts_with("info string")).count()
    };
    assert!(remarks("debug on") >= 2);
    assert_eq!(remarks("debug off"), 0);
}
