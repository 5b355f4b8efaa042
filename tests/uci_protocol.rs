//! The parse layer: what it makes of lines, that nothing makes it panic, and that what it writes can
//! be read again.

use std::time::{Duration, Instant};

use cairn::protocol::{
    Clock, Command, Go, Info, MAX_BENCH, MAX_PERFT, OpeningsRequest, OptionDeclaration, OptionType,
    Position, Reply, Start, Status, Wdl, parse,
};
use cairn_engine::search::{Bound, ScoreText};
use proptest::prelude::*;

fn go(line: &str) -> Go {
    match parse(line.as_bytes()) {
        Ok(Some(Command::Go(go))) => *go,
        other => panic!("{line}: {other:?}"),
    }
}

fn clocks(white: i64, black: i64) -> Go {
    let clock = |time| Clock { time: Some(time), increment: None };
    Go { white: clock(white), black: clock(black), ..Go::default() }
}

#[test]
fn arguments_of_go_do_not_hide_each_other() {
    for line in
        ["go ponder wtime 1 btime 2", "go wtime 1 btime 2 ponder", "go btime 2 ponder wtime 1"]
    {
        assert_eq!(go(line), Go { ponder: true, ..clocks(1, 2) }, "{line}");
    }
    assert_eq!(go("go infinite wtime 1 btime 2"), Go { infinite: true, ..clocks(1, 2) });
    assert_eq!(go("go wtime 1 btime 2 movetime 3"), Go { move_time: Some(3), ..clocks(1, 2) });
    assert_eq!(
        go("go ponder movetime 3"),
        Go { ponder: true, move_time: Some(3), ..Go::default() }
    );
    let all =
        go("go depth 5 nodes 6 mate 7 movestogo 8 winc 9 binc 10 searchmoves e2e4 d2d4 infinite");
    let increments = |increment| Clock { time: None, increment: Some(increment) };
    let expected = Go {
        infinite: true,
        white: increments(9),
        black: increments(10),
        moves_to_go: Some(8),
        depth: Some(5),
        nodes: Some(6),
        mate: Some(7),
        search_moves: vec!["e2e4".into(), "d2d4".into()],
        ..Go::default()
    };
    assert_eq!(all, expected);
}

#[test]
fn numbers_beyond_the_range_stay_at_its_end() {
    assert_eq!(go("go depth 1000").depth, Some(255));
    assert_eq!(go("go depth -1").depth, Some(0));
    assert_eq!(
        go("go movestogo 1000 wtime 1 btime 2"),
        Go { moves_to_go: Some(255), ..clocks(1, 2) }
    );
    assert_eq!(go("go movestogo 0 wtime 1 btime 2"), clocks(1, 2));
    assert_eq!(go("go movestogo -3 wtime 1 btime 2"), clocks(1, 2));
    assert_eq!(go("go nodes 18446744073709551616").nodes, Some(999_999_999_999));
    assert_eq!(go("go movetime -99999999999999999999").move_time, Some(-999_999_999_999));
    assert_eq!(go("go wtime -5 btime +7"), clocks(-5, 7));
}

#[test]
fn what_is_not_understood_is_told_and_the_rest_is_read() {
    let odd = go("go btime 2 foo 5 wtime 1");
    assert_eq!(odd, Go { unreadable: vec!["foo".into(), "5".into()], ..clocks(1, 2) });
    let no_number = go("go wtime btime 2 depth five");
    assert_eq!(no_number.black.time, Some(2));
    assert_eq!(no_number.unreadable, ["wtime without a number", "depth five"]);
}

#[test]
fn a_go_without_readable_limits_is_not_endless() {
    let none = Clock::default();
    for line in [
        "go depth5",
        "go nodes 5k",
        "go wtime abc",
        "go searchmoves xyz",
        "go mate 0",
        "go ponder foo",
    ] {
        assert!(go(line).lost_its_limits(&none), "{line}");
    }
    for line in ["go", "go infinite", "go infinite foo", "go ponder", "go searchmoves e2e4"] {
        assert!(!go(line).lost_its_limits(&none), "{line}");
    }
    // Black's clock says nothing about white's move.
    let black_only = go("go btime 1000");
    assert!(black_only.lost_its_limits(&black_only.white));
    assert!(!black_only.lost_its_limits(&black_only.black));
}

#[test]
fn option_values_are_kept_as_they_are() {
    for (line, name, value) in [
        ("setoption name Hash value 64 \r\n", "Hash", Some("64")),
        ("setoption name Clear  Hash", "Clear Hash", None),
        ("setoption name A Path value  /a  b/value name ", "A Path", Some("/a  b/value name")),
        ("SETOPTION NAME x VALUE <empty>", "x", Some("")),
        ("setoption name x value", "x", Some("")),
        ("setoption name ValueScale value 5", "ValueScale", Some("5")),
        ("setoption name name value value", "name", Some("value")),
    ] {
        let expected = Command::SetOption { name: name.into(), value: value.map(Into::into) };
        assert_eq!(parse(line.as_bytes()), Ok(Some(expected)), "{line}");
    }
}

#[test]
fn positions_lose_no_move() {
    let expected = Position { start: Start::Orthodox, moves: vec!["e2e4".into(), "a7a8q".into()] };
    for line in [
        "position startpos moves e2e4 a7a8q",
        "position startpos moves  e2e4   a7a8q ",
        "\tPosition\tSTARTPOS\tMOVES\tE2E4\tA7A8Q\r\n",
    ] {
        assert_eq!(parse(line.as_bytes()), Ok(Some(Command::Position(expected.clone()))), "{line}");
    }
    // What is no move ends the moves, and is told of by whoever plays them.
    for (line, moves) in [
        ("position startpos moves e2e4 xyz e7e5", &["e2e4", "xyz"][..]),
        ("position startpos moves e2e4 e7e5k", &["e2e4", "e7e5k"]),
        ("position startpos moves e2e4moves e7e5", &["e2e4moves"]),
        ("position startpos moves e2e4 moves e7e5", &["e2e4", "moves"]),
    ] {
        let moves = moves.iter().map(ToString::to_string).collect();
        let expected = Position { start: Start::Orthodox, moves };
        assert_eq!(parse(line.as_bytes()), Ok(Some(Command::Position(expected))), "{line}");
    }
    let fen = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 12345";
    let line = format!("position  fen {fen}  moves e2e3");
    let expected = Position { start: Start::Fen(fen.into()), moves: vec!["e2e3".into()] };
    assert_eq!(parse(line.as_bytes()), Ok(Some(Command::Position(expected))));
}

#[test]
fn refusals_are_one_short_line() {
    let long = "x".repeat(100_000);
    for line in [long.clone(), format!("setoption {long}"), format!("position startpos {long}")] {
        let refusal = parse(line.as_bytes()).expect_err("refused").0;
        assert!(refusal.len() < 300 && !refusal.contains('\n'), "{refusal}");
    }
}

#[test]
fn lines_of_the_search_are_written_as_guis_expect_them() {
    let info = |score, bound| {
        Reply::Info(Info {
            depth: 12,
            seldepth: Some(20),
            multi_pv: 1,
            score,
            bound,
            wdl: Some(Wdl { win: 300, draw: 600, loss: 100 }),
            nodes: 2000,
            elapsed: Duration::from_secs(2),
            hash_full: 7,
            table_hits: None,
            pv: vec!["e2e4".into(), "e7e5".into()],
        })
        .to_string()
    };
    let (start, rest) = (
        "info depth 12 seldepth 20 multipv 1 score",
        "wdl 300 600 100 nodes 2000 nps 1000 hashfull 7 time 2000 pv e2e4 e7e5",
    );
    for (score, bound, text) in [
        (ScoreText::Centipawns(-5), Bound::Exact, "cp -5"),
        (ScoreText::Centipawns(31), Bound::Lower, "cp 31 lowerbound"),
        (ScoreText::Centipawns(-31), Bound::Upper, "cp -31 upperbound"),
        (ScoreText::Mate(-3), Bound::Exact, "mate -3"),
        (ScoreText::Mate(200), Bound::Exact, "mate 200"),
    ] {
        assert_eq!(info(score, bound), format!("{start} {text} {rest}"));
    }
    let current = Reply::CurrentMove { depth: 300, mv: "e7e8q".into(), number: 12 };
    assert_eq!(current.to_string(), "info depth 300 currmove e7e8q currmovenumber 12");
    let status = Status {
        depth: 9,
        nodes: 5000,
        hash_full: 3,
        table_hits: None,
        elapsed: Duration::from_secs(5),
    };
    let text = "nodes 5000 nps 1000 hashfull 3 time 5000";
    assert_eq!(Reply::Status(status).to_string(), format!("info depth 9 {text}"));
    assert_eq!(Reply::Status(Status { depth: 0, ..status }).to_string(), format!("info {text}"));
    let with_tables = Reply::Status(Status { depth: 0, table_hits: Some(4), ..status });
    let text = "info nodes 5000 nps 1000 hashfull 3 tbhits 4 time 5000";
    assert_eq!(with_tables.to_string(), text);
}

#[test]
fn options_are_declared_as_uci_demands() {
    for (kind, text) in [
        (OptionType::Spin { default: 16, min: -1, max: 99 }, "spin default 16 min -1 max 99"),
        (OptionType::Check { default: true }, "check default true"),
        (OptionType::Combo { default: "b", choices: &["a", "b"] }, "combo default b var a var b"),
        (OptionType::Text { default: "" }, "string default <empty>"),
        (OptionType::Text { default: "a b" }, "string default a b"),
        (OptionType::Button, "button"),
    ] {
        let reply = Reply::Option(OptionDeclaration { name: "An Option", kind });
        assert_eq!(reply.to_string(), format!("option name An Option type {text}"));
    }
}

/// Words that lines are made of, the harmful ones among them.
fn word() -> impl Strategy<Value = String> {
    let words = "uci debug isready setoption register ucinewgame position go stop ponderhit quit on \
        off name value startpos fen moves e2e4 e7e8q E2E4 0000 e9e5 a7a8=q wtime btime winc binc \
        movestogo movetime depth nodes mate perft searchmoves ponder infinite bench d help info \
        bestmove score cp 0 1 -1 +5 255 256 99999999999999999999 1e3 1.5 <empty> Hash Clear \
        rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - HAha \u{feff} \u{a0} é";
    let words: Vec<String> = words.split(' ').map(Into::into).collect();
    prop_oneof![8 => prop::sample::select(words), 1 => "[ -~]{0,8}", 1 => any::<i64>().prop_map(|n| n.to_string())]
}

/// Lines of such words with all kinds of blanks, and sometimes none, between them.
fn line() -> impl Strategy<Value = String> {
    let blank = prop::sample::select(vec![" ", " ", " ", "  ", "\t", "\r", "\n", "", " \0"]);
    prop::collection::vec((word(), blank), 0..12)
        .prop_map(|parts| parts.into_iter().map(|(word, blank)| word + blank).collect())
}

fn move_text() -> impl Strategy<Value = String> {
    "[a-h][1-8][a-h][1-8][qrbn]?"
}

fn any_go() -> impl Strategy<Value = Go> {
    let time = || prop::option::of(-999_999_999_999..=999_999_999_999_i64);
    let clock = || (time(), time()).prop_map(|(time, increment)| Clock { time, increment });
    let flags = (any::<bool>(), any::<bool>());
    let counts = (
        prop::option::of(1..=255_u8),
        prop::option::of(any::<u8>()),
        prop::option::of(0..=999_999_999_999_u64),
        prop::option::of(1..=255_u8),
    );
    let moves = prop::collection::vec(move_text(), 0..4);
    (flags, clock(), clock(), time(), counts, moves).prop_map(
        |((ponder, infinite), white, black, move_time, counts, search_moves)| {
            let (moves_to_go, depth, nodes, mate) = counts;
            let unreadable = Vec::new();
            Go {
                ponder,
                infinite,
                white,
                black,
                moves_to_go,
                move_time,
                depth,
                nodes,
                mate,
                search_moves,
                unreadable,
            }
        },
    )
}

fn any_command() -> impl Strategy<Value = Command> {
    let fen = "[rnbqkp1-8/]{8,40} [wb] (KQkq|HAha|-) (-|e3) [0-9]{1,3} [0-9]{1,5}";
    let start = prop_oneof![Just(Start::Orthodox), fen.prop_map(Start::Fen)];
    let moves = prop::collection::vec(move_text(), 0..60);
    let value = prop::option::of("([a-zA-Z/:;][ -~]{0,20}[a-z/])?");
    let name = "[A-Z][a-zA-Z_]{0,8}( [A-Z][a-z]{1,8})?"
        .prop_filter("the word that ends a name", |name| !name.to_lowercase().contains("value"));
    prop_oneof![
        prop::sample::select(vec![
            Command::Uci,
            Command::Debug(true),
            Command::Debug(false),
            Command::IsReady,
            Command::NewGame,
            Command::Stop,
            Command::PonderHit,
            Command::Quit,
            Command::Display,
            Command::Eval,
            Command::Help,
            Command::Bench(None),
        ]),
        (0..=MAX_PERFT).prop_map(Command::Perft),
        (1..=MAX_BENCH).prop_map(|depth| Command::Bench(Some(depth))),
        (any::<u32>(), any::<u64>(), prop::option::of("[a-z/.]{1,12}")).prop_map(
            |(count, seed, book)| Command::Openings(OpeningsRequest {
                count,
                seed,
                book: book.filter(|book| book != "none")
            })
        ),
        (name, value).prop_map(|(name, value)| Command::SetOption { name, value }),
        (start, moves).prop_map(|(start, moves)| Command::Position(Position { start, moves })),
        any_go().prop_map(|go| Command::Go(Box::new(go))),
    ]
}

/// A million lines of random words in a release build, fewer where every step is checked.
#[test]
fn random_lines_are_read_quickly_and_without_a_panic() {
    const LINES: usize = if cfg!(debug_assertions) { 30_000 } else { 1_000_000 };
    let words: Vec<&str> = "uci debug isready setoption ucinewgame position go stop quit on off name value \
        startpos fen moves e2e4 e7e8q E2E4 0000 e9e5 wtime btime winc movestogo movetime depth nodes \
        mate perft searchmoves ponder infinite bench d eval genfens seed book info 0 -1 +5 256 \
        99999999999999999999 1.5 <empty> Hash 8/8/8/8/8/8/8/8 w KQkq - \u{feff} \u{a0} é \0 \t"
        .split(' ')
        .collect();
    let mut state = 1_u64;
    let mut random = |end: usize| {
        // Knuth's linear congruential generator is random enough for this.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % end
    };
    let start = Instant::now();
    let mut line = String::new();
    let mut understood = 0_usize;
    for _ in 0..LINES {
        line.clear();
        for _ in 0..random(14) {
            line.push_str(words[random(words.len())]);
            line.push_str([" ", " ", " ", "  ", "", "\r"][random(6)]);
        }
        understood += usize::from(matches!(parse(line.as_bytes()), Ok(Some(_))));
    }
    assert!(understood > LINES / 20, "{understood}");
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_line_of_words_panics(line in line()) {
        // A refusal must fit into a line of its own.
        if let Err(refusal) = parse(line.as_bytes()) {
            prop_assert!(!refusal.0.contains(['\n', '\r']));
        }
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn what_is_written_can_be_read(command in any_command()) {
        let line = command.to_string();
        prop_assert_eq!(parse(line.as_bytes()), Ok(Some(command)), "{}", line);
    }
}
