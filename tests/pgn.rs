//! PGN: every spelling and encoding, broken games between whole ones, and what is written reads back.

use std::io::{self, BufRead, BufReader, Read};

use cairn::report::pgn::{Entry, Game, GameResult, Line, PgnError, Reader, Step, write_game};
use cairn_engine::board::Board;
use proptest::prelude::*;

fn read(text: impl AsRef<[u8]>) -> Vec<Result<Entry, PgnError>> {
    Reader::new(text.as_ref()).collect()
}

/// The games of a text that has no broken ones.
fn games(text: impl AsRef<[u8]>) -> Vec<Game> {
    read(text).into_iter().map(|entry| entry.expect("a whole game").game).collect()
}

fn game(text: impl AsRef<[u8]>) -> Game {
    let mut games = games(text);
    assert_eq!(games.len(), 1, "{games:?}");
    games.remove(0)
}

/// The moves of a line in UCI.
fn uci(start: &Board, line: &Line) -> String {
    let mut board = start.clone();
    let mut words = Vec::new();
    for step in &line.moves {
        words.push(board.uci_text(step.mv, false));
        board.play(step.mv);
    }
    words.join(" ")
}

fn main_line(text: impl AsRef<[u8]>) -> String {
    let game = game(text);
    uci(&game.start, &game.main)
}

fn written(game: &Game) -> String {
    let mut bytes = Vec::new();
    write_game(game, &mut bytes).expect("a text");
    String::from_utf8(bytes).expect("UTF-8")
}

/// What is told of the games of a text: their numbers and lines, with the reasons of broken ones.
fn told(text: impl AsRef<[u8]>) -> Vec<String> {
    read(text)
        .into_iter()
        .map(|entry| match entry {
            Ok(entry) => format!("{} at {}", entry.number, entry.line),
            Err(error) => error.to_string(),
        })
        .collect()
}

const RICH: &str = r#"[Event "A \"quoted\" \\ name"]
[White "One"]
[Black "Two"]
[Result "1-0"]

{Before.} 1. e4! $10 {First.} {Second.} (1. d4 {queen's pawn} d5 (1... Nf6 2. c4)
2. c4) (1. c4) e5 2.Nf3?! Nc6 3.Bb5 a6
; a whole line
4.O-O $1 $3 1-0
"#;

#[test]
fn comments_annotations_and_variations_are_kept() {
    let game = game(RICH);
    assert_eq!(game.tag("Event"), Some("A \"quoted\" \\ name"));
    assert_eq!(game.result, GameResult::WhiteWins);
    assert_eq!(game.main.comments, ["Before."]);
    assert_eq!(uci(&game.start, &game.main), "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 e1g1");
    let first = &game.main.moves[0];
    assert_eq!(
        (&first.nags[..], &first.comments[..]),
        (&[1, 10][..], &["First.".into(), "Second.".into()][..])
    );
    assert_eq!(first.variations.len(), 2);
    assert_eq!(uci(&game.start, &first.variations[0]), "d2d4 d7d5 c2c4");
    assert_eq!(first.variations[0].moves[1].variations[0].moves.len(), 2);
    assert_eq!(game.main.moves[2].nags, [6]);
    assert_eq!(game.main.moves[5].comments, ["a whole line"]);
    assert_eq!(game.main.moves[6].nags, [1, 3]);
    assert_eq!(games(written(&game)), [game]);
}

#[test]
fn what_is_written_looks_as_the_standard_has_it() {
    let text = written(&game(RICH));
    let expected = r#"[Event "A \"quoted\" \\ name"]
[White "One"]
[Black "Two"]
[Result "1-0"]

{ Before. } 1. e4! $10 { First. } { Second. } (1. d4 { queen's pawn } 1... d5
(1... Nf6 2. c4) 2. c4) (1. c4) 1... e5 2. Nf3?! Nc6 3. Bb5 a6 { a whole line }
4. O-O! $3 1-0

"#;
    assert_eq!(text, expected);
}

#[test]
fn all_programs_are_understood() {
    // cutechess, fastchess: a comment behind each move, checks and mates told.
    assert_eq!(
        main_line(
            "1. f3 {+0.20/5 0.01s} e5 {0.00/4 0.012s}\n2. g4 {-1.10/6} Qh4# {+M1/3, Black mates} 0-1\n"
        ),
        "f2f3 e7e5 g2g4 d8h4"
    );
    // lichess: commands in comments, black's move numbers after them.
    assert_eq!(
        main_line(
            "1. e4 { [%eval 0.36] [%clk 0:03:00] } 1... c5 { [%eval 0.32] } 2. Nf3 $6 { } 1/2-1/2"
        ),
        "e2e4 c7c5 g1f3"
    );
    // ChessBase and older ones.
    assert_eq!(
        main_line("1.e2-e4 e7-e5 2.Ng1-f3! Nb8-c6 3.Bf1-c4 Bf8-c5 4.0-0 +/- N *"),
        "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1"
    );
    assert_eq!(main_line("1 e4 e5 2 Nf3 Nc6"), "e2e4 e7e5 g1f3 b8c6");
    assert_eq!(
        main_line("1. e4 d5 2. e5 f5 3. ef6 e.p. gf6 4. Qh5++ Kd7 5. Qxd5 + !!"),
        "e2e4 d7d5 e4e5 f7f5 e5f6 g7f6 d1h5 e8d7 h5d5"
    );
    assert_eq!(
        main_line("[FEN \"8/P6k/8/8/8/8/7K/8 w - - 0 1\"]\n\n1. a8(Q)(1. a8=N Kg6) Kg6 *"),
        "a7a8q h7g6"
    );
    assert_eq!(main_line("1.\u{2026} e4 1\u{2026}e5 2.Nf3"), "e2e4 e7e5 g1f3");
}

#[test]
fn chess960_is_castled_and_written() {
    let fen = "4k3/8/8/8/8/8/8/1R2KR2 w KQ - 0 1";
    let text = format!("[Variant \"Chess960\"]\n[FEN \"{fen}\"]\n\n1. O-O Kd7 2. Rbd1+ *\n");
    let read = game(text);
    assert_eq!(read.start.uci_text(read.main.moves[0].mv, true), "e1f1");
    assert_eq!(game(written(&read)), read);
    let mut new = Game::new(read.start.clone());
    assert_eq!(new.tag("Variant"), Some("Chess960"));
    new.tags.clear();
    new.main = read.main.clone();
    assert_eq!(game(written(&new)).tag("SetUp"), Some("1"), "a start that no tag tells is written");
}

#[test]
fn bytes_of_all_kinds_are_read() {
    let umlaut = |text: Vec<u8>| game(text).tag("White").map(str::to_owned);
    let with = |name: &[u8]| [b"[White \"", name, b"\"]\n\n1. e4 {", name, b"} *\n"].concat();
    assert_eq!(umlaut(with("M\u{fc}ller".as_bytes())).as_deref(), Some("M\u{fc}ller"));
    assert_eq!(umlaut(with(b"M\xfcller")).as_deref(), Some("M\u{fc}ller"));
    let marked = [b"\xef\xbb\xbf", &with(b"x")[..]].concat();
    assert_eq!(umlaut(marked).as_deref(), Some("x"));
    let text = "% a line for a program\n[White \"a\"]\n%[Black \"b\"]\n\n1. e4 e5 {a\n% b\n[Event }\n2. Nf3 *\n";
    let crlf = game(text.replace('\n', "\r\n"));
    assert_eq!(crlf, game(text));
    assert_eq!(crlf.main.moves[1].comments, ["a % b [Event"]);
    assert_eq!(crlf.tag("Black"), None);
}

#[test]
fn what_programs_write_without_care_is_read() {
    let folder = game("[Event \"x\"]\n[Site \"C:\\x\\\"]\n[Round \"1\"]\n\n1. e4 *\n");
    assert_eq!((folder.tag("Site"), folder.tag("Round")), (Some("C:\\x\\"), Some("1")));
    let latin = game(b"[White \"Andr\xe9\"]\n[Result \"\xbd-\xbd\"]\n\n1. e4 \xb1 e5 \xbd-\xbd\n");
    assert_eq!((latin.result, latin.main.moves.len()), (GameResult::Draw, 2));
    assert_eq!(
        (latin.tag("White"), &latin.main.moves[0].nags[..]),
        (Some("Andr\u{e9}"), &[16][..])
    );
    let told = told(b"1. e4 \xbc *\n\n1. d4 *\n");
    assert!(told[0].contains("'\u{bc}' is no move"), "{told:?}");
    assert_eq!(told.len(), 2);
}

#[test]
fn games_end_where_they_end() {
    assert_eq!(games("").len(), 0);
    assert_eq!(games("\n\n  \n{ nothing }\n").len(), 0);
    assert_eq!(told("1. e4 1-0 1. d4 0-1\n1. c4 *"), ["1 at 1", "2 at 1", "3 at 2"]);
    assert_eq!(told("[Event \"a\"]\n\n1. e4\n\n[Event \"b\"]\n\n1. d4 *"), ["1 at 1", "2 at 5"]);
    assert_eq!(told("[Event \"a\"]\n[Event \"b\"]\n"), ["1 at 1", "2 at 2"]);
    assert_eq!(told("[Event \"a\"] [Site \"b\"] 1. e4 * [Event \"c\"] *").len(), 2);
    let result = |text: &str| game(text).result;
    assert_eq!(result("[Result \"0-1\"]\n\n1. e4\n"), GameResult::BlackWins);
    assert_eq!(result("[Result \"0-1\"]\n\n1. e4 *\n"), GameResult::Unknown);
    assert_eq!(result("1. e4 (1. d4 1-0) 1/2\n"), GameResult::Draw);
}

#[test]
fn a_variation_ends_before_a_null_move() {
    let read = game("1. e4 (1. d4 -- 2. c4 {lost} (2. Nf3) Z0) (1. --) e5 *");
    let variations = &read.main.moves[0].variations;
    assert_eq!(variations.len(), 1);
    assert_eq!(uci(&read.start, &variations[0]), "d2d4");
    assert_eq!(variations[0].moves[0].comments, [""; 0]);
}

#[test]
fn a_broken_game_is_told_and_skipped() {
    let between = |broken: &str| {
        let whole = |name| format!("[Event \"{name}\"]\n\n1. e4 e5 *\n\n");
        let told = told([&*whole("a"), broken, "\n\n", &whole("b")].concat());
        assert_eq!(told[0], "1 at 1", "{told:?}");
        assert_eq!(told.last().map(|last| &last[..4]), Some("3 at"), "{told:?}");
        assert_eq!(told.len(), 3, "{told:?}");
        told[1].clone()
    };
    for (broken, expected) in [
        (
            "[Event \"x\"]\n\n1. e4 e5\n2. Ke3 *",
            "line 8: move Ke3 is not legal here; game 2 is skipped",
        ),
        ("[Event \"x\"]\n\n1. e4 e5 2. Ke3 (2. Nf3 *) 2... Nc6 3. Nf3 *", "move Ke3 is not legal"),
        ("[Event \"x\"]\n\n1. e4 {no end", "a comment has no end"),
        ("[Event \"x\"]\n\n1. e4 (1. d4 *", "a variation has no end"),
        ("[Event \"x\"]\n\n1. e4 ) d4 *", "has not begun"),
        ("[Event \"x\"]\n\n(1. d4) *", "without a move before"),
        ("[Event \"x\"]\n\n1. e4 } *", "has not begun"),
        ("[Event \"x\"]\n\n1. e4 $256 *", "'$256' is no annotation"),
        ("[Event \"x\"]\n\n1. -- *", "no move of a game"),
        (
            "[Event \"x\"]\n[White x]\n[Black \"b\"]\n\n1. e4 e5 1-0",
            "line 6: '[White x]' is no tag",
        ),
        ("[Event \"x\"]\n[FEN \"8/8/8/8/8/8/8/8 w - -\"]\n\n1. e4 e5 1-0", "no king"),
        ("[Event \"x\"]\n[Variant \"Crazyhouse\"]\n\n1. e4 e5 1-0", "Crazyhouse is another game"),
        ("[Event \"x\"]\n\n1. e4 \u{1F600} *", "is no move"),
        ("\u{0}\u{1}\u{2}binary \u{7f}(((}}}\n\u{0}", "is no move"),
    ] {
        let told = between(broken);
        assert!(told.contains(expected), "{told}");
    }
    assert!(told("\u{feff}".as_bytes()).is_empty());
    assert_eq!(
        told(b"\xff\xfe1\0.\0 \0e\x004\0"),
        ["line 1: the file is UTF-16; UTF-8 and Latin-1 can be read; game 1 is skipped"]
    );
}

/// A text of any length that takes no memory.
struct Endless<'a> {
    head: &'a [u8],
    body: &'a [u8],
    repeats: usize,
    place: usize,
}

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let part = if self.head.is_empty() { self.body } else { self.head };
        if self.head.is_empty() && self.repeats == 0 {
            return Ok(0);
        }
        let length = buffer.len().min(part.len() - self.place);
        buffer[..length].copy_from_slice(&part[self.place..self.place + length]);
        self.place += length;
        if self.place == part.len() {
            self.place = 0;
            if self.head.is_empty() { self.repeats -= 1 } else { self.head = &[] }
        }
        Ok(length)
    }
}

#[test]
fn what_has_no_end_is_refused_and_not_kept() {
    for (head, body, reason) in [
        ("", "x", "a line of more than"),
        ("1. e4 {", "long \n", "a comment is too large"),
        ("", "1. Nf3 Nf6 2. Ng1 Ng8\n", "the game is too large"),
        ("1. e4 ", "(1. d4\n", "too many variations"),
        ("", "{a}\n", "the game is too large"),
    ] {
        let (head, body) = (head.as_bytes(), body.as_bytes());
        let repeats = (40 << 20) / body.len();
        let input: Box<dyn BufRead> =
            Box::new(BufReader::new(Endless { head, body, repeats, place: 0 }));
        let told: Vec<String> =
            Reader::new(input).map(|entry| entry.expect_err("no game").to_string()).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains(reason), "{told:?}");
    }
}

#[test]
fn an_unreadable_file_is_told_once() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("on fire"))
        }
    }
    let told: Vec<String> = Reader::new(BufReader::new(b"1. e4 *\n".chain(Broken)))
        .map(|entry| entry.map_or_else(|error| error.to_string(), |_| "game".into()))
        .collect();
    assert_eq!(told, ["game", "after line 1: on fire"]);
}

const STARTS: [&str; 4] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 3 27",
];

/// What is said in a comment: whatever is kept as it is.
fn comment_text() -> impl Strategy<Value = String> {
    let words = prop_oneof![
        Just("[%eval 0.3]".to_owned()),
        Just("[Event".to_owned()),
        Just("% {(;$)\"\\".to_owned()),
        Just("1-0".to_owned()),
        "[a-zA-Z0-9.;{(\\[%\u{e9}\u{4e2d}]{1,30}",
    ];
    prop::collection::vec(words, 1..20).prop_map(|words| words.join(" "))
}

/// A line of moves that `script` chooses, with what is said of them.
fn make_line(
    board: &mut Board,
    script: &mut std::slice::Iter<'_, u8>,
    comments: &[String],
    depth: usize,
) -> Line {
    let mut line = Line::default();
    while let Some(&choice) = script.next() {
        match (choice % 16, line.moves.last_mut()) {
            (0, Some(_)) if depth > 0 => break,
            (1, step) => {
                let comment = comments[usize::from(choice) % comments.len()].clone();
                step.map_or(&mut line.comments, |step| &mut step.comments).push(comment);
            }
            (2, Some(step)) => step.nags.push(choice),
            (3, Some(step)) if depth < 5 => {
                let mut before = board.clone();
                before.unmake(&mut ());
                let variation = make_line(&mut before, script, comments, depth + 1);
                if variation != Line::default() {
                    step.variations.push(variation);
                }
            }
            _ => {
                let moves = board.legal_moves();
                if moves.is_empty() {
                    break;
                }
                let mv = moves[usize::from(choice) * 7 % moves.len()];
                line.moves.push(Step::new(mv));
                board.play(mv);
            }
        }
    }
    line
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_game_that_is_written_reads_back_the_same(
        scripts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..4),
        start in 0..STARTS.len(),
        comments in prop::collection::vec(comment_text(), 1..4),
        tags in prop::collection::vec(("[A-Z][a-z]{3,9}", "[^\\x00-\\x1f\\x7f-\\x9f]{0,40}"), 0..4),
    ) {
        let mut expected = Vec::new();
        let mut text = String::new();
        for (script, result) in scripts.iter().zip(["1-0", "1/2-1/2", "*"]) {
            let mut game = Game::new(Board::from_fen(STARTS[start]).expect("a position"));
            for (name, value) in &tags {
                // These mean something.
                if !["Event", "Variant", "Result"].contains(&&**name) {
                    game.tags.push((name.clone(), value.clone()));
                }
            }
            let mut board = game.start.clone();
            game.main = make_line(&mut board, &mut script.iter(), &comments, 0);
            game.result = result.parse().expect("a result");
            text.push_str(&written(&game));
            expected.push(game);
        }
        prop_assert_eq!(games(&text), expected, "{}", text);
    }

    #[test]
    fn no_bytes_at_all_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read(&bytes);
    }

    #[test]
    fn no_text_that_looks_like_a_game_does_harm(
        words in prop::collection::vec(prop::sample::select(vec![
            "1.", "e4", "e5", "Nf3", "(", ")", "{", "}", ";", "$1", "$", "*", "1-0", "--", "\n", "\n\n",
            "[Event \"x\"]", "[", "%", "!", "e8=Q", "O-O", "\u{e9}", "\\", "\"", "..",
        ]), 0..60),
    ) {
        for (number, entry) in (1..).zip(read(words.join(" "))) {
            match entry {
                Ok(Entry { number: told, .. }) | Err(PgnError::Broken { game: told, .. }) => {
                    prop_assert_eq!(told, number);
                }
                Err(error) => prop_assert!(false, "{error}"),
            }
        }
    }
}
