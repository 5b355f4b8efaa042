//! `cairn go`: one search, its results as people read them.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use cairn_engine::board::Board;
use cairn_engine::search::Bound;

use crate::protocol::notation::{san_line, score};
use crate::protocol::{self, Clock, Command, Go, Info, Position, Reply, Start};
use crate::session::game::Game;
use crate::session::options::Settings;

/// What is to be searched, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    go: Go,
    position: Position,
    /// Options that are set before, as name and value.
    options: Vec<(String, String)>,
}

impl Analysis {
    /// Reads what stands behind `go` on the command line: limits as UCI has them, and options.
    ///
    /// # Errors
    /// What cannot be read, and a search that would have no end.
    pub fn parse(arguments: &[&str]) -> Result<Analysis> {
        let mut line = String::from("go");
        let mut start = Start::Orthodox;
        let mut options = Vec::new();
        let mut rest = arguments;
        while let [argument, tail @ ..] = rest {
            rest = tail;
            let mut value = || match rest {
                [value, tail @ ..] => {
                    rest = tail;
                    Ok(*value)
                }
                [] => bail!("{argument} needs a value"),
            };
            match *argument {
                "--fen" => start = Start::Fen(value()?.to_owned()),
                "--multipv" => options.push(("MultiPV".to_owned(), value()?.to_owned())),
                "--option" => match value()?.split_once('=') {
                    Some((name, value)) => options.push((name.to_owned(), value.to_owned())),
                    None => bail!("--option is written --option NAME=VALUE"),
                },
                word if word.starts_with("--") => bail!("go knows no '{word}'"),
                word => {
                    let _ = write!(line, " {word}");
                }
            }
        }
        let Ok(Some(Command::Go(go))) = protocol::parse(line.as_bytes()) else {
            bail!("'{line}' is no search");
        };
        let position = Position { start, moves: Vec::new() };
        let analysis = Analysis { go: *go, position, options };
        analysis.check()?;
        Ok(analysis)
    }

    /// Refuses what would not be what was meant.
    fn check(&self) -> Result<()> {
        let go = &self.go;
        if let Some(odd) = go.unreadable.first() {
            bail!("go does not understand '{odd}'");
        }
        let some_clock = Clock { time: go.white.time.or(go.black.time), increment: None };
        let limits = [go.depth.is_some(), go.nodes.is_some(), go.mate.is_some()];
        let timed = go.move_time.is_some() || some_clock.time.is_some();
        if go.infinite || go.ponder || !(timed || limits.contains(&true)) {
            bail!("go needs a limit, such as 'depth 8', 'nodes 100000' or 'movetime 1000'");
        }
        let mut game = Game::default();
        game.set(self.position.clone()).map_err(anyhow::Error::msg)?;
        if let (_, Some(remark)) = game.legal_among(&go.search_moves) {
            bail!("{remark}");
        }
        let mut settings = Settings::default();
        for (name, value) in &self.options {
            if let Err(text) | Ok(Some(text)) = settings.set(name, Some(value)) {
                bail!("{text}");
            }
        }
        Ok(())
    }

    /// The same as UCI commands.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let set = |(name, value): &(String, String)| {
            Command::SetOption { name: name.clone(), value: Some(value.clone()) }.to_string()
        };
        let mut lines: Vec<String> = self.options.iter().map(set).collect();
        lines.push(self.position.to_string());
        lines.push(self.go.to_string());
        lines
    }

    /// What puts the answers into words that people read.
    #[must_use]
    pub fn printer(&self) -> Printer {
        let mut game = Game::default();
        // It has been tried before.
        let _ = game.set(self.position.clone());
        Printer { board: game.board().clone(), began: false }
    }
}

/// Puts the answers of a search into words.
#[derive(Debug)]
pub struct Printer {
    board: Board,
    began: bool,
}

impl Printer {
    /// Appends an answer to `out`; most that is not about the search is left out.
    pub fn print(&mut self, reply: &Reply, out: &mut String) {
        match reply {
            Reply::Info(info) if info.bound == Bound::Exact => self.print_line(info, out),
            Reply::Message(text) => {
                let _ = writeln!(out, "note: {text}");
            }
            Reply::BestMove { best: None, .. } => out.push_str("there is no legal move\n"),
            Reply::BestMove { best: Some(best), ponder } => {
                let moves: Vec<String> =
                    [Some(best), ponder.as_ref()].into_iter().flatten().cloned().collect();
                let line = san_line(&self.board, &moves);
                let _ = writeln!(out, "best move: {best} ({line})");
            }
            _ => {}
        }
    }

    fn print_line(&mut self, info: &Info, out: &mut String) {
        if !self.began {
            self.began = true;
            let side = self.board.side_to_move();
            let _ = writeln!(
                out,
                "depth rank  {:>12}        nodes      time  line",
                format!("for {side}")
            );
        }
        let _ = writeln!(
            out,
            "{:>5} {:>4}  {:>12} {:>12} {:>9.3}  {}",
            info.depth,
            info.multi_pv,
            score(info.score),
            info.nodes,
            info.elapsed.as_secs_f64(),
            san_line(&self.board, &info.pv)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_options_become_commands() {
        let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
        let words = ["depth", "5", "--fen", fen, "--multipv", "2", "nodes", "100"];
        let analysis = Analysis::parse(&words).expect("an analysis");
        assert_eq!(
            analysis.lines(),
            [
                "setoption name MultiPV value 2".to_owned(),
                format!("position fen {fen}"),
                "go depth 5 nodes 100".to_owned()
            ]
        );
    }

    #[test]
    fn what_would_not_be_what_was_meant_is_refused() {
        for (words, reason) in [
            (&[][..], "needs a limit"),
            (&["infinite"], "needs a limit"),
            (&["depth"], "depth without a number"),
            (&["depth", "5", "foo"], "foo"),
            (&["depth", "5", "--fen"], "--fen needs"),
            (&["depth", "5", "--fen", "8/8"], "FEN"),
            (&["depth", "5", "--multipv", "0"], "MultiPV"),
            (&["depth", "5", "--option", "Hash"], "NAME=VALUE"),
            (&["depth", "5", "--option", "Fly=1"], "Fly"),
            (&["depth", "5", "--fly"], "--fly"),
            (&["depth", "5", "searchmoves", "e2e5"], "e2e5"),
        ] {
            let error = Analysis::parse(words).expect_err(reason).to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
