//! What is not UCI: the command line, `bench`, `perft`, `d` and `help`.

use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use cairn_engine::bench;
use cairn_engine::board::Board;
use cairn_engine::eval::tapered::{FULL_PHASE, KINDS, Terms, Worth};
use cairn_engine::params;
use cairn_engine::perft;
use cairn_engine::piece::{Kind, Side};
use cairn_engine::search::micromax::root_balance;
use crossbeam_channel::unbounded;

use crate::analysis::Analysis;
use crate::datagen;
use crate::notation::pawns;
use crate::options;
use crate::protocol::{self, speed};
use crate::replay::Session;
use crate::worker::STACK;
use crate::writer::Writer;

/// The exit code for a command line that makes no sense.
const BAD_USAGE: u8 = 2;

/// The exit code for a log that cannot be replayed.
const UNUSABLE_LOG: u8 = 2;

/// What the command line understands.
const USAGE: &str = "\
cairn                       talk UCI on standard input and output
cairn bench [DEPTH]         search the fixed positions; the node count is the build's signature
cairn perft DEPTH [FEN]     count the legal move tree, by first move and in all
cairn perft --suite FILE [--max-depth DEPTH] [--threads N]
                            check all counts of a file with lines like 'FEN ;D1 20 ;D2 400'
cairn datagen FILE [--games N] [--first N] [--nodes N] [--seed N] [--threads N] [...]
                            play against itself and keep the games; goes on where it was broken off
cairn datagen --merge OUT FILE...
                            make one set of games out of several parts of it
cairn datagen --stats FILE...
                            say what games are like, and what is damaged
cairn go LIMITS... [--fen FEN] [--multipv LINES] [--option NAME=VALUE]
                            search one position; limits are written as in UCI: cairn go depth 8
cairn eval [FEN]            say what a position is worth before anything is searched
cairn replay LOG            play a session again that the option 'Debug Log File' has written down, and
                            compare: 0 all the same, 1 a difference, 2 no usable log, 3 the log is
                            incomplete but the same as far as it goes
cairn spsa                  list the parameters of the search as OpenBench tunes them (feature 'tune')
cairn \"genfens N seed S book None\"
                            print N opening positions for testing, always the same for a seed
cairn COMMAND...            carry out UCI commands, one to an argument, and exit:
                            cairn \"position startpos\" \"go depth 5\"
cairn --help | --version
";

/// Runs the program with the given arguments, the program's own name left out.
pub fn run(arguments: impl Iterator<Item = String>) -> ExitCode {
    let arguments: Vec<String> = arguments.collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        [] => crate::uci_loop(io::stdin(), io::stdout()).map_err(Failure::from),
        ["--help" | "-h" | "help"] => print(USAGE),
        ["--version" | "-V"] => print(&format!("Cairn {}\n", env!("CARGO_PKG_VERSION"))),
        ["bench", rest @ ..] => run_bench(rest),
        ["perft", rest @ ..] => run_perft(rest),
        ["datagen", rest @ ..] => run_datagen(rest),
        ["go", rest @ ..] => run_analysis(rest),
        ["eval", fen @ ..] => run_eval(fen),
        ["replay", rest @ ..] => run_replay(rest),
        ["spsa"] => run_spsa(),
        _ => run_commands(arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("cairn: {:#}", failure.error);
            if failure.is_usage {
                eprintln!("'cairn --help' shows how it is used");
            }
            ExitCode::from(failure.code)
        }
    }
}

/// An error and what the program ends with because of it.
struct Failure {
    error: anyhow::Error,
    code: u8,
    /// It is the command line that was wrong.
    is_usage: bool,
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure { error: error.into(), code: 1, is_usage: false }
    }
}

/// A command line that makes no sense.
fn bad_usage(error: anyhow::Error) -> Failure {
    Failure { error, code: BAD_USAGE, is_usage: true }
}

/// A log that cannot be replayed.
fn unusable(error: anyhow::Error) -> Failure {
    Failure { error, code: UNUSABLE_LOG, is_usage: false }
}

/// Prints to standard output. A reader that has seen enough is no error.
fn print(text: &str) -> Result<(), Failure> {
    match io::Write::write_all(&mut io::stdout(), text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// `cairn COMMAND...`.
fn run_commands(arguments: Vec<String>) -> Result<(), Failure> {
    for argument in &arguments {
        match protocol::parse(argument.as_bytes()) {
            Ok(Some(_)) => {}
            Ok(None) => return Err(bad_usage(anyhow!("'{argument}' is no command"))),
            Err(refusal) => return Err(bad_usage(anyhow!("{refusal}"))),
        }
    }
    Ok(crate::run_lines(arguments, Writer::spawn(io::stdout())?)?)
}

/// `cairn go LIMITS...`.
fn run_analysis(arguments: &[&str]) -> Result<(), Failure> {
    let analysis = Analysis::parse(arguments).map_err(bad_usage)?;
    let mut printer = analysis.printer();
    let writer = Writer::spawn_with(io::stdout(), move |reply, out| printer.print(reply, out))?;
    Ok(crate::run_lines(analysis.lines(), writer)?)
}

/// `cairn eval [FEN]`.
fn run_eval(fen: &[&str]) -> Result<(), Failure> {
    print(&(evaluation(&position(fen)?) + "\n"))
}

/// `cairn replay LOG`.
fn run_replay(arguments: &[&str]) -> Result<(), Failure> {
    let [path] = arguments else { return Err(bad_usage(anyhow!("replay needs one log"))) };
    let text =
        std::fs::read(path).with_context(|| format!("cannot read {path}")).map_err(unusable)?;
    let session = Session::parse(&text).with_context(|| (*path).to_owned()).map_err(unusable)?;
    let verdict = session.replay()?;
    print(&format!("{verdict}\n"))?;
    match verdict.exit_code() {
        0 => Ok(()),
        code => Err(Failure {
            error: anyhow!("{path} was not repeated in full"),
            code,
            is_usage: false,
        }),
    }
}

/// `cairn spsa`: a line `name, int, value, min, max, c_end, r_end` for each parameter. The step at the
/// end is a twentieth of the range, at least a half, and the learning rate is OpenBench's usual one.
fn run_spsa() -> Result<(), Failure> {
    if !cfg!(feature = "tune") {
        return Err(anyhow!(
            "the parameters of this build are fixed; one that can be tuned is made with \
             'cargo build --release -p cairn --features tune'"
        )
        .into());
    }
    let mut text = String::new();
    for param in params::ALL {
        let step = (f64::from(param.max - param.min) / 20.0).max(0.5);
        let (name, value, min, max) = (param.name, param.default, param.min, param.max);
        let _ = writeln!(text, "{name}, int, {value}, {min}, {max}, {step}, 0.002");
    }
    print(&text)
}

/// The position that a command line names: a FEN, in one piece or several, or the first of all.
fn position(fen: &[&str]) -> Result<Board, Failure> {
    match fen {
        [] => Ok(Board::startpos()),
        words => Board::from_fen(&words.join(" ")).map_err(|error| bad_usage(error.into())),
    }
}

/// `cairn bench [DEPTH]`.
fn run_bench(arguments: &[&str]) -> Result<(), Failure> {
    let depth = match arguments {
        [] => None,
        [depth] => Some(number("the depth", depth).map_err(bad_usage)?),
        _ => return Err(bad_usage(anyhow!("bench takes one depth, if any"))),
    };
    with_large_stack(move || {
        bench(depth, &mut |line| {
            // The work goes on without a reader: its exit code still tells something.
            let _ = print(&(line + "\n"));
        })
    })
}

/// `cairn perft ...`.
fn run_perft(arguments: &[&str]) -> Result<(), Failure> {
    if let ["--suite", file, options @ ..] = arguments {
        let options = SuiteOptions::parse(options).map_err(bad_usage)?;
        return run_suite(file, &options);
    }
    let [depth, fen @ ..] = arguments else {
        return Err(bad_usage(anyhow!("perft needs a depth, or --suite and a file")));
    };
    let depth = number("the depth", depth).map_err(bad_usage)?;
    let board = position(fen)?;
    divide(&board, depth, false, &AtomicBool::new(false), &mut |line| {
        let _ = print(&(line + "\n"));
    });
    Ok(())
}

/// `cairn datagen ...`.
fn run_datagen(arguments: &[&str]) -> Result<(), Failure> {
    let task = datagen::Task::parse(arguments).map_err(bad_usage)?;
    Ok(datagen::run(&task, &mut |line| {
        let _ = print(&(line + "\n"));
    })?)
}

/// Reads a whole number that is not negative.
fn number<T: std::str::FromStr>(what: &str, text: &str) -> Result<T> {
    text.parse().map_err(|_| anyhow!("{what} is a whole number from 0 up, not '{text}'"))
}

/// Runs something deeply recursive.
fn with_large_stack<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T, Failure> {
    let thread = thread::Builder::new().stack_size(STACK).spawn(work)?;
    match thread.join() {
        Ok(done) => Ok(done?),
        Err(_) => Err(anyhow!("internal error").into()),
    }
}

/// Searches the fixed positions, to `depth` if given. The last line is `N nodes M nps`; the node count
/// depends on nothing but the build.
///
/// # Errors
/// When there is no memory for the hash table.
pub fn bench(depth: Option<u32>, print: &mut dyn FnMut(String)) -> Result<()> {
    let start = Instant::now();
    let count = bench::POSITIONS.len();
    let nodes = bench::run(depth, &mut |progress| {
        print(format!("{:2}/{count} {} nodes", progress.number, progress.nodes));
    })?;
    print(format!("{nodes} nodes {} nps", speed(nodes, start.elapsed())));
    Ok(())
}

/// Counts the leaves of the legal move tree behind each move, `depth` plies from `board`. The last
/// line is `Nodes searched: N`, unless `stop` breaks it.
pub fn divide(
    board: &Board,
    depth: u32,
    chess960: bool,
    stop: &AtomicBool,
    print: &mut dyn FnMut(String),
) {
    let start = Instant::now();
    let mut total = 1;
    if depth > 0 {
        let Some(counts) = perft::divide(board, depth, 1, stop) else {
            print("perft was stopped".into());
            return;
        };
        for &(mv, nodes) in &counts {
            print(format!("{}: {nodes}", board.uci_text(mv, chess960)));
        }
        total = counts.iter().map(|&(_, nodes)| nodes).sum();
    }
    let elapsed = start.elapsed();
    print(format!("\n{} ms, {} nodes/s", elapsed.as_millis(), speed(total, elapsed)));
    print(format!("Nodes searched: {total}"));
}

/// The position for people: diagram, FEN, keys, checks and legal moves.
#[must_use]
pub fn display(board: &Board, chess960: bool) -> String {
    let mut text = format!("{board}");
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let fen = if chess960 { board.to_shredder_fen() } else { board.to_fen() };
    let keys = board.keys();
    let checkers: Vec<String> = board.checkers().map(|square| square.to_string()).collect();
    let moves: Vec<String> =
        board.legal_moves().iter().map(|&mv| board.uci_text(mv, chess960)).collect();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "Fen: {fen}\nKeys: {:016X} {:016X}\nCheckers: {}\nLegal moves ({}): {}",
        keys.index,
        keys.lock,
        checkers.join(" "),
        moves.len(),
        moves.join(" ")
    );
    if let Some(end) = board.outcome() {
        let _ = write!(text, "\nGame over: {end:?}");
    }
    text
}

/// What a position is worth before anything is searched, term by term, from white's view.
#[must_use]
pub fn evaluation(board: &Board) -> String {
    const NAMES: [&str; KINDS] = ["pawns", "knights", "bishops", "rooks", "queens", "king"];
    let terms = Terms::of(board);
    let mut text = String::from(
        "Style Cairn: men on their squares, middle game and endgame\n           \
         -------- white -------- -------- black -------- -- difference -\n",
    );
    let mut row = |name: &str, [white, black]: [Worth; 2]| {
        let numbers = [
            (white.middlegame, white.endgame),
            (black.middlegame, black.endgame),
            (white.middlegame - black.middlegame, white.endgame - black.endgame),
        ];
        let _ = write!(text, "{name:<10}");
        for (middlegame, endgame) in numbers {
            let _ = write!(text, " {:>11} {:>11}", pawns(middlegame), pawns(endgame));
        }
        text.push('\n');
    };
    let by_side = |kind: usize| Side::ALL.map(|side| terms.men[side.index()][kind]);
    for (kind, name) in NAMES.into_iter().enumerate() {
        row(name, by_side(kind));
    }
    row("together", Side::ALL.map(|side| terms.sum(side)));
    let for_white = |value: i32| match board.side_to_move() {
        Side::White => pawns(value),
        Side::Black => pawns(-value),
    };
    let _ = write!(
        text,
        "middle game: {} of {FULL_PHASE} parts; the move: {}; a driven king: {}\n\
         Evaluation of style Cairn, from white's view: {}\n\n\
         Style MicroMax: {}\n\
         Material, from white's view: {}; before it searches it knows nothing else",
        terms.phase,
        pawns(terms.tempo),
        pawns(terms.driven),
        pawns(terms.total),
        micromax_material(board),
        for_white(root_balance(board)),
    );
    text
}

/// The men of both sides with what they count in the historical style.
fn micromax_material(board: &Board) -> String {
    let parts = [
        ("pawns", [Kind::WhitePawn, Kind::BlackPawn]),
        ("knights", [Kind::Knight; 2]),
        ("bishops", [Kind::Bishop; 2]),
        ("rooks", [Kind::Rook; 2]),
        ("queens", [Kind::Queen; 2]),
    ]
    .map(|(name, [white, black])| {
        let (white, black) = (board.count(Side::White, white), board.count(Side::Black, black));
        format!("{name} {white}-{black}")
    });
    parts.join(", ")
}

/// The commands and options, for people.
#[must_use]
pub fn help() -> String {
    let mut text = String::from(
        "Cairn is a chess engine. It talks UCI, so it is usually run by a graphical interface.\n\
         UCI: uci isready ucinewgame setoption position go stop ponderhit debug quit\n\
         go takes: depth nodes mate movetime wtime btime winc binc movestogo searchmoves infinite ponder\n\
         Beside UCI: d, eval, perft N (or go perft N), bench [DEPTH], genfens N seed S, help\n\
         Options (setoption name <name> value <value>):",
    );
    for option in options::all() {
        let allowed = match option.kind {
            options::Kind::Button { .. } => String::new(),
            _ => format!(" ({})", option.allowed()),
        };
        let _ = write!(text, "\n  {}{allowed}: {}", option.name, option.doc);
    }
    text
}

/// What `perft --suite FILE` is told beside the file.
struct SuiteOptions {
    max_depth: u32,
    threads: usize,
}

impl SuiteOptions {
    fn parse(mut words: &[&str]) -> Result<SuiteOptions> {
        let mut options = SuiteOptions { max_depth: u32::MAX, threads: 1 };
        while let [name, rest @ ..] = words {
            let [value, rest @ ..] = rest else { bail!("{name} needs a number") };
            match *name {
                "--max-depth" => options.max_depth = number(name, value)?,
                "--threads" => options.threads = number::<usize>(name, value)?.max(1),
                _ => bail!("perft --suite knows no '{name}'"),
            }
            words = rest;
        }
        Ok(options)
    }
}

/// A line of a suite: a position and how many leaves its tree has at some depths.
#[derive(Debug)]
struct SuiteEntry {
    line: usize,
    fen: String,
    board: Board,
    counts: Vec<(u32, u64)>,
}

/// `cairn perft --suite FILE`.
fn run_suite(file: &str, options: &SuiteOptions) -> Result<(), Failure> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("cannot read {file}"))
        .map_err(bad_usage)?;
    let entries = parse_suite(&text).with_context(|| file.to_owned()).map_err(bad_usage)?;
    let failed = check_suite(&entries, options, &mut |line| {
        let _ = print(&(line + "\n"));
    });
    print(&format!("{} passed, {failed} failed\n", entries.len() - failed))?;
    if failed > 0 {
        return Err(anyhow!("{failed} of {} positions disagree", entries.len()).into());
    }
    Ok(())
}

/// Reads the lines of a suite. Empty lines and those that begin with `#` are passed over.
fn parse_suite(text: &str) -> Result<Vec<SuiteEntry>> {
    let entries: Vec<SuiteEntry> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|(index, line)| {
            parse_suite_line(index + 1, line).with_context(|| format!("line {}", index + 1))
        })
        .collect::<Result<_>>()?;
    if entries.is_empty() {
        bail!("there are no positions in it");
    }
    Ok(entries)
}

/// Reads one line of a suite, as `FEN ;D1 20 ;D2 400`.
fn parse_suite_line(line: usize, text: &str) -> Result<SuiteEntry> {
    let mut parts = text.split(';').map(str::trim);
    let fen = parts.next().unwrap_or_default().to_owned();
    let board = Board::from_fen(&fen)?;
    let counts = parts
        .filter(|part| !part.is_empty())
        .map(|part| {
            let (depth, nodes) = part
                .strip_prefix('D')
                .and_then(|part| part.split_once(char::is_whitespace))
                .with_context(|| format!("'{part}' is not written like 'D3 8902'"))?;
            Ok((number("the depth", depth)?, number("the count", nodes.trim())?))
        })
        .collect::<Result<Vec<_>>>()?;
    if counts.is_empty() {
        bail!("there is no count, as in ';D3 8902'");
    }
    Ok(SuiteEntry { line, fen, board, counts })
}

/// Checks all entries and returns how many disagree.
fn check_suite(
    entries: &[SuiteEntry],
    options: &SuiteOptions,
    print: &mut dyn FnMut(String),
) -> usize {
    let next = AtomicUsize::new(0);
    let (results, lines) = unbounded();
    thread::scope(|scope| {
        for _ in 0..options.threads.min(entries.len()) {
            let results = results.clone();
            let next = &next;
            scope.spawn(move || {
                while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // The receiver lives as long as this scope.
                    let _ = results.send(check_entry(entry, options.max_depth));
                }
            });
        }
        drop(results);
        let mut failed = 0;
        for (passed, line) in lines {
            failed += usize::from(!passed);
            print(line);
        }
        failed
    })
}

/// Checks one entry up to a depth: whether all its counts agree, and a line that says so.
fn check_entry(entry: &SuiteEntry, max_depth: u32) -> (bool, String) {
    let SuiteEntry { line, fen, board, counts } = entry;
    let mut deepest = 0;
    for &(depth, expected) in counts.iter().filter(|(depth, _)| *depth <= max_depth) {
        let nodes = perft::perft(&mut board.clone(), depth);
        if nodes != expected {
            return (false, format!("{line}: FAILED {fen} ;D{depth} {expected}, counted {nodes}"));
        }
        deepest = deepest.max(depth);
    }
    (true, format!("{line}: ok to depth {deepest} {fen}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    fn check(text: &str, threads: usize) -> (usize, Vec<String>) {
        let entries = parse_suite(text).expect("a suite");
        let mut lines = Vec::new();
        let options = SuiteOptions { max_depth: 3, threads };
        let failed = check_suite(&entries, &options, &mut |line| lines.push(line));
        (failed, lines)
    }

    #[test]
    fn a_suite_is_checked_to_the_depth_that_is_asked_for() {
        let text = format!("# start\n\n{START} ;D1 20 ;D2 400 ;D3 8902 ;D4 1\n{START} ;D2 401\n");
        for threads in [1, 3] {
            let (failed, mut lines) = check(&text, threads);
            lines.sort();
            assert_eq!(failed, 1);
            assert_eq!(lines[0], format!("3: ok to depth 3 {START}"));
            assert!(lines[1].starts_with("4: FAILED"), "{}", lines[1]);
            assert!(lines[1].ends_with(";D2 401, counted 400"), "{}", lines[1]);
        }
    }

    #[test]
    fn a_bad_suite_is_refused_with_its_line() {
        for (text, complaint) in [
            (format!("{START} ;D1 20\n{START} ;E2 400\n"), "line 2: 'E2 400' is not written"),
            (format!("{START} ;D1 many\n"), "line 1: the count is a whole number"),
            (format!("{START}\n"), "line 1: there is no count"),
            ("8/8 ;D1 20\n".to_owned(), "line 1: "),
            ("\n".to_owned(), "there are no positions"),
        ] {
            let error = format!("{:#}", parse_suite(&text).expect_err(complaint));
            assert!(error.contains(complaint), "{error}");
        }
    }

    #[test]
    fn divide_ends_with_the_total() {
        for (depth, total) in [(0, 1), (1, 20), (3, 8902)] {
            let mut lines = Vec::new();
            let stop = AtomicBool::new(false);
            divide(&Board::startpos(), depth, false, &stop, &mut |line| lines.push(line));
            assert_eq!(lines.last(), Some(&format!("Nodes searched: {total}")));
            assert_eq!(lines.contains(&"g1f3: 440".to_owned()), depth == 3);
        }
    }
}
