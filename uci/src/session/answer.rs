//! What a search has found, in the words of UCI: its lines and the answer to its `go`.

use cairn_engine::moves::Move;
use cairn_engine::search::{Bound, Outcome, Report, ScoreText};

use crate::protocol::{Info, Wdl};
use crate::session::messages::{Answer, Ending, SearchJob};
use crate::session::wdl;

impl SearchJob {
    /// A report as a line to the GUI.
    #[must_use]
    pub fn describe(&self, report: &Report<'_>) -> Info {
        Info {
            depth: report.depth,
            seldepth: report.seldepth,
            multi_pv: report.multi_pv,
            score: report.score,
            bound: report.bound,
            wdl: self.wdl(report.score),
            nodes: report.nodes,
            elapsed: self.started.elapsed(),
            hash_full: report.hash_full,
            pv: self.line(report.pv, report.score),
        }
    }

    /// Win, draw and loss chances, if they are asked for.
    fn wdl(&self, score: ScoreText) -> Option<Wdl> {
        self.show_wdl.then(|| wdl::chances(score))
    }

    /// A principal variation as text, up to the first illegal move or the end of the game. A line that
    /// stops short of its mate is left out: it would contradict its own score.
    fn line(&self, pv: &[Move], score: ScoreText) -> Vec<String> {
        let mut board = self.board.clone();
        let mut texts = Vec::with_capacity(pv.len());
        for &mv in pv {
            if !board.legal_moves().contains(&mv)
                || (!texts.is_empty() && board.outcome().is_some())
            {
                break;
            }
            texts.push(board.uci_text(mv, self.chess960));
            board.play(mv);
        }
        if texts.len() < pv.len() && matches!(score, ScoreText::Mate(_)) {
            texts.clear();
        }
        texts
    }

    /// The answer to this `go`. `outcome` is missing if the search broke; `best_line` is the last exact
    /// line of rank 1 that was sent.
    #[must_use]
    pub fn answer(
        &self,
        outcome: Option<&Outcome>,
        best_line: Option<&Info>,
        ending: Ending,
    ) -> Answer {
        let found = outcome.and_then(|outcome| self.found(outcome));
        let best = found.or_else(|| best_line?.pv.first().cloned()).or_else(|| self.first_legal());
        let ponder = outcome.and_then(|outcome| self.expected_reply(outcome));
        let closing = self.closing_line(best.as_deref(), outcome, best_line);
        let threads = outcome.map_or(1, |outcome| outcome.threads);
        Answer { best, ponder, closing, ending, threads }
    }

    /// The best move of a search as text, if it is legal.
    fn found(&self, outcome: &Outcome) -> Option<String> {
        let best = outcome.best.filter(|best| self.board.legal_moves().contains(best))?;
        Some(self.board.uci_text(best, self.chess960))
    }

    /// Any legal move, if there is one.
    fn first_legal(&self) -> Option<String> {
        self.board.legal_moves().first().map(|&mv| self.board.uci_text(mv, self.chess960))
    }

    /// The expected reply as text, if both it and the best move are legal.
    fn expected_reply(&self, outcome: &Outcome) -> Option<String> {
        self.found(outcome)?;
        let mut board = self.board.clone();
        board.play(outcome.best?);
        let reply = outcome.ponder.filter(|reply| board.legal_moves().contains(reply))?;
        Some(board.uci_text(reply, self.chess960))
    }

    /// A last line, if the one sent last does not show the move that is played.
    fn closing_line(
        &self,
        best: Option<&str>,
        outcome: Option<&Outcome>,
        best_line: Option<&Info>,
    ) -> Option<Info> {
        let shown = best_line.is_some_and(|line| match line.pv.first() {
            Some(first) => Some(first.as_str()) == best,
            None => true,
        });
        if shown {
            return None;
        }
        let score = match outcome {
            Some(outcome) if best.is_some() => outcome.score,
            _ if best.is_none() && self.board.in_check() => ScoreText::Mate(0),
            _ => ScoreText::Centipawns(0),
        };
        // A single move does not show a mate.
        let fitting = best.filter(|_| !matches!(score, ScoreText::Mate(_)));
        let depth = outcome.map_or(0, |outcome| outcome.depth);
        Some(Info {
            depth,
            seldepth: None,
            multi_pv: 1,
            score,
            bound: Bound::Exact,
            wdl: self.wdl(score),
            nodes: outcome.map_or(0, |outcome| outcome.nodes),
            elapsed: self.started.elapsed(),
            hash_full: 0,
            pv: fitting.map(str::to_owned).into_iter().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use cairn_engine::board::Board;
    use cairn_engine::search::{Limits, Style};

    use super::*;
    use crate::session::messages::SearcherSetup;

    fn job(fen: &str) -> SearchJob {
        SearchJob {
            setup: SearcherSetup {
                style: Style::MicroMax,
                hash_mib: 1,
                threads: 1,
                deterministic: false,
                clear: false,
                loaded: None,
            },
            board: Board::from_fen(fen).expect("a position"),
            limits: Limits::default(),
            soft: None,
            timed: false,
            started: Instant::now(),
            chess960: false,
            show_wdl: false,
            cut: None,
            control: Arc::default(),
        }
    }

    fn line(moves: &[&str]) -> Info {
        Info {
            depth: 3,
            seldepth: Some(3),
            multi_pv: 1,
            score: ScoreText::Centipawns(5),
            bound: Bound::Exact,
            wdl: None,
            nodes: 100,
            elapsed: Duration::ZERO,
            hash_full: 0,
            pv: moves.iter().map(ToString::to_string).collect(),
        }
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn a_search_that_breaks_still_answers_with_a_legal_move() {
        let start = job(START);
        let shown = line(&["g1f3", "g8f6"]);
        let answer = start.answer(None, Some(&shown), Ending::Broke);
        assert_eq!(answer.best.as_deref(), Some("g1f3"), "the best so far");
        assert_eq!(answer.closing, None);
        let blind = start.answer(None, None, Ending::Broke);
        let best = blind.best.expect("a move");
        assert!(start.board.parse_uci(&best).is_ok());
        assert_eq!(blind.closing.expect("a line").pv, [best]);
    }

    #[test]
    fn where_there_is_no_move_the_answer_says_so() {
        let mated = job("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1").answer(None, None, Ending::Broke);
        assert_eq!(mated.best, None);
        assert_eq!(mated.closing.expect("a line").score, ScoreText::Mate(0));
        let stalemated = job("7k/8/6QK/8/8/8/8/8 b - - 0 1").answer(None, None, Ending::Broke);
        assert_eq!(stalemated.best, None);
        assert_eq!(stalemated.closing.expect("a line").score, ScoreText::Centipawns(0));
    }

    #[test]
    fn a_line_ends_where_it_stops_being_legal() {
        let start = job(START);
        let first = start.board.parse_uci("e2e4").expect("legal");
        // White cannot move the same pawn again before black has answered.
        assert_eq!(start.line(&[first, first], ScoreText::Centipawns(0)), ["e2e4"]);
        assert!(start.line(&[first, first], ScoreText::Mate(2)).is_empty());
    }
}
