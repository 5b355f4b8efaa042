//! `cairn go`: one search, its results as people read them.

use anyhow::{Result, anyhow, bail};
use cairn_engine::board::Board;
use cairn_engine::moves::Move;
use cairn_engine::search::Bound;

use super::output::print;
use super::{Failure, bad_usage};
use crate::analyze::{End, Finding, Line, analyze};
use crate::protocol::notation::{san_line, score};
use crate::protocol::{self, Command, Go, Wdl};
use crate::session::options::Settings;

/// Search one position; limits are written as in UCI: cairn go depth 8
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// When the search ends, as in UCI: depth, nodes, mate, movetime, wtime, btime, winc, binc,
    /// movestogo, each with its number, and searchmoves
    #[arg(allow_negative_numbers = true)]
    limits: Vec<String>,
    /// The position; without it the starting position
    #[arg(long)]
    fen: Option<String>,
    /// How many of the best lines are shown
    #[arg(long, value_name = "LINES")]
    multipv: Option<String>,
    /// Sets a UCI option, such as Hash=64; may be given several times
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
}

/// Searches and prints.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Request { board, go, settings } = Request::read(arguments).map_err(bad_usage)?;
    let mut table = Table { board: &board, chess960: settings.chess960, began: false };
    for finding in analyze(&board, &go, &settings).map_err(bad_usage)? {
        if let Finding::End(End { nodes: None, .. }) = finding {
            return Err(anyhow!("the search has failed").into());
        }
        print(&table.text(&finding))?;
    }
    Ok(())
}

/// What is to be searched, and how.
#[derive(Debug)]
struct Request {
    board: Board,
    go: Go,
    settings: Settings,
}

impl Request {
    /// Reads the arguments, and refuses what would not be what was meant.
    fn read(arguments: &Arguments) -> Result<Request> {
        let line = format!("go {}", arguments.limits.join(" "));
        check_ranges(&line)?;
        let Ok(Some(Command::Go(go))) = protocol::parse(line.as_bytes()) else {
            bail!("'{line}' is no search");
        };
        if let Some(odd) = go.unreadable.first() {
            bail!("go does not understand '{odd}'");
        }
        let limits = [go.depth.is_some(), go.nodes.is_some(), go.mate.is_some()];
        let clocks = [go.move_time, go.white.time, go.black.time];
        let has_end = limits.contains(&true) || clocks.iter().any(Option::is_some);
        if go.infinite || go.ponder || !has_end {
            bail!("go needs a limit, such as 'depth 8', 'nodes 100000' or 'movetime 1000'");
        }
        let board = match &arguments.fen {
            None => Board::startpos(),
            Some(fen) => match Board::from_fen(fen) {
                Ok(board) => board,
                Err(error) => bail!("FEN '{}': {error}", protocol::quote(fen)),
            },
        };
        let settings = settings(arguments)?;
        Ok(Request { board, go: *go, settings })
    }
}

/// Refuses a limit that would be moved into its range, as a GUI's is.
fn check_ranges(line: &str) -> Result<()> {
    let words: Vec<&str> = protocol::words(line).collect();
    for pair in words.windows(2) {
        let name = pair[0].to_ascii_lowercase();
        let range = protocol::GO_LIMITS.iter().find(|(limit, ..)| *limit == name);
        // What is no number is told later.
        if let (Some((_, least, most)), Some(number)) = (range, protocol::read_integer(pair[1]))
            && !(*least..=*most).contains(&number)
        {
            bail!("{name} is from {least} to {most}, not {}", protocol::quote(pair[1]));
        }
    }
    Ok(())
}

/// The options that the arguments ask for.
fn settings(arguments: &Arguments) -> Result<Settings> {
    let mut settings = Settings::default();
    let lines = arguments.multipv.as_deref().map(|lines| ("MultiPV", lines));
    let pairs = arguments.options.iter().map(|option| option.split_once('='));
    for pair in pairs.chain(lines.map(Some)) {
        let Some((name, value)) = pair else { bail!("--option is written --option NAME=VALUE") };
        if let Err(remark) | Ok(Some(remark)) = settings.set(name.trim(), Some(value.trim())) {
            bail!("{}; nothing was searched", remark.about);
        }
    }
    if !settings.log_file.is_empty() {
        bail!(
            "'cairn go' keeps no log; commands as arguments do: \
             cairn \"setoption name Debug Log File value FILE\" \"go depth 8\""
        );
    }
    Ok(settings)
}

/// Puts what is found into words.
struct Table<'a> {
    board: &'a Board,
    /// How castling is written.
    chess960: bool,
    /// The head of the table is printed.
    began: bool,
}

impl Table<'_> {
    /// The text that stands for a finding; may be empty.
    fn text(&mut self, finding: &Finding) -> String {
        match finding {
            Finding::Line(line) if line.bound == Bound::Exact => self.row(line),
            Finding::Line(_) => String::new(),
            Finding::Note(text) => format!("note: {text}\n"),
            Finding::End(End { best: None, .. }) => "there is no legal move\n".to_owned(),
            Finding::End(End { best: Some(best), ponder, .. }) => {
                let moves: Vec<Move> = [Some(*best), *ponder].into_iter().flatten().collect();
                let best = self.board.uci_text(*best, self.chess960);
                format!("best move: {best} ({})\n", self.san(&moves))
            }
        }
    }

    fn row(&mut self, line: &Line) -> String {
        let mut text = String::new();
        if !self.began {
            self.began = true;
            let side = format!("for {}", self.board.side_to_move());
            let chances = line.wdl.map_or("", |_| "  won/drawn/lost");
            text = format!("depth rank  {side:>12}{chances}        nodes      time  line\n");
        }
        let chances = line.wdl.map_or(String::new(), |Wdl { win, draw, loss }| {
            format!("{:>16}", format!("{win}/{draw}/{loss}"))
        });
        text + &format!(
            "{:>5} {:>4}  {:>12}{chances} {:>12} {:>9.3}  {}\n",
            line.depth,
            line.multi_pv,
            score(line.score),
            line.nodes,
            line.elapsed.as_secs_f64(),
            self.san(&line.pv)
        )
    }

    /// A line of moves as people write it.
    fn san(&self, moves: &[Move]) -> String {
        let mut board = self.board.clone();
        let texts: Vec<String> = moves
            .iter()
            .map(|&mv| {
                let text = board.uci_text(mv, true);
                board.play(mv);
                text
            })
            .collect();
        san_line(self.board, &texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn read(words: &[&str]) -> Result<Request> {
        let line = Line::try_parse_from([&["go"], words].concat())?;
        Request::read(&line.arguments)
    }

    #[test]
    fn limits_and_options_are_taken_in_any_order() {
        let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
        let words =
            ["depth", "5", "--fen", fen, "--multipv", "2", "nodes", "100", "--option", "Hash=3"];
        let request = read(&words).expect("a request");
        assert_eq!(request.board.to_fen(), fen);
        let expected = Go { depth: Some(5), nodes: Some(100), ..Go::default() };
        assert_eq!(request.go, expected);
        assert_eq!((request.settings.multi_pv, request.settings.hash_mib), (2, 3));
        assert_eq!(read(&["wtime", "-5"]).expect("a request").go.white.time, Some(-5));
    }

    #[test]
    fn what_would_not_be_what_was_meant_is_refused() {
        for (words, reason) in [
            (&[][..], "needs a limit"),
            (&["infinite"], "needs a limit"),
            (&["depth"], "depth without a number"),
            (&["depth", "5", "foo"], "foo"),
            (&["depth", "5", "--fen"], "--fen"),
            (&["depth", "5", "--fen", "8/8"], "FEN"),
            (&["depth", "5", "--multipv", "0"], "MultiPV"),
            (&["depth", "5", "--option", "Hash"], "NAME=VALUE"),
            (&["depth", "5", "--option", "Fly=1"], "Fly"),
            (&["depth", "5", "--option", "Hash=0"], "65536, not '0'; nothing was searched"),
            (&["depth", "5", "--option", "Style=Tal"], "not 'Tal'; nothing was searched"),
            (&["depth", "0"], "depth is from 1 to 120, not 0"),
            (&["depth", "-1"], "depth is from 1 to 120, not -1"),
            (&["DEPTH", "121"], "depth is from 1 to 120, not 121"),
            (&["nodes", "0"], "nodes is from 1 to 999999999999, not 0"),
            (&["nodes", "99999999999999999999999"], "nodes is from 1 to 999999999999"),
            (&["movetime", "-5"], "movetime is from 1 to 999999999999, not -5"),
            (&["depth", "5", "movetime", "0"], "movetime is from 1 to"),
            (&["mate", "0"], "mate is from 1 to 255"),
            (&["depth", "5", "--option", "Debug Log File=x"], "keeps no log"),
            (&["depth", "5", "--fly"], "--fly"),
        ] {
            let error = read(words).expect_err(reason).to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
