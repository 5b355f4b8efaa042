//! What a search has found, in the words of UCI: its lines and the answer to its `go`.

use cairn_engine::board::{Board, GameEnd};
use cairn_engine::moves::Move;
use cairn_engine::score::is_proved;
use cairn_engine::search::{Bound, Outcome, Report, ScoreText, Style};

use crate::protocol::{Info, Wdl};
use crate::session::messages::{Answer, Ending, SearchJob};
use crate::session::wdl::Scale;

impl SearchJob {
    /// A report as a line to the GUI.
    #[must_use]
    pub fn describe(&self, report: &Report<'_>) -> Info {
        let (pv, end) = self.line(report.pv, report.score);
        let is_drawn = report.by_tables && report.score == ScoreText::Centipawns(0)
            || is_drawn(report.score, &end, pv.len());
        let (score, wdl) = self.told(report.score, report.bound, is_drawn);
        Info {
            depth: report.depth,
            seldepth: report.seldepth,
            multi_pv: report.multi_pv,
            score,
            bound: report.bound,
            wdl,
            nodes: report.nodes,
            elapsed: self.started.elapsed(),
            hash_full: report.hash_full,
            table_hits: report.table_hits,
            pv,
        }
    }

    /// A score as it is shown, and its chances if they are asked for.
    fn told(&self, score: ScoreText, bound: Bound, is_drawn: bool) -> (ScoreText, Option<Wdl>) {
        let scale = match self.setup.style {
            Style::Cairn if bound == Bound::Exact && is_drawn => {
                return (ScoreText::Centipawns(0), self.show_wdl.then_some(Wdl::DRAW));
            }
            Style::Cairn => Scale::of(&self.board),
            Style::MicroMax => {
                return (score, self.show_wdl.then(|| Scale::MICROMAX.chances(score)));
            }
        };
        (scale.shown(score), self.show_wdl.then(|| scale.chances(score)))
    }

    /// A principal variation as text, up to the first illegal move or the end of the game, and the position there. A
    /// line that stops short of its mate is left out: it would contradict its own score.
    fn line(&self, pv: &[Move], score: ScoreText) -> (Vec<String>, Board) {
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
        (texts, board)
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
        let shown = best.filter(|_| !matches!(score, ScoreText::Mate(_)));
        let best: Vec<Move> =
            shown.and_then(|best| self.board.parse_uci(best).ok()).into_iter().collect();
        let (pv, end) = self.line(&best, score);
        let (score, wdl) = self.told(score, Bound::Exact, is_drawn(score, &end, pv.len()));
        Some(Info {
            depth: outcome.map_or(0, |outcome| outcome.depth),
            seldepth: None,
            multi_pv: 1,
            score,
            bound: Bound::Exact,
            wdl,
            nodes: outcome.map_or(0, |outcome| outcome.nodes),
            elapsed: self.started.elapsed(),
            hash_full: 0,
            table_hits: self.limits.tables.as_ref().map(|_| self.control.engine.table_hits()),
            pv,
        })
    }
}

/// Whether a line is drawn that ends in this position, so many half-moves from the root: by the rules, or as a position
/// has come back once, which the search takes for a draw already. That counts only if the score agrees, of which the
/// delayed gain takes at most a point for each half-move.
fn is_drawn(score: ScoreText, end: &Board, plies: usize) -> bool {
    let ScoreText::Centipawns(score) = score else { return false };
    match end.outcome() {
        Some(end) => end != GameEnd::Checkmate && !is_proved(score),
        None => score.unsigned_abs() as usize <= plies && end.is_repetition(plies),
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
        job_of(Style::MicroMax, fen)
    }

    fn job_of(style: Style, fen: &str) -> SearchJob {
        SearchJob {
            setup: SearcherSetup {
                style,
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
            show_wdl: true,
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
            table_hits: None,
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
        assert_eq!(start.line(&[first, first], ScoreText::Centipawns(0)).0, ["e2e4"]);
        assert!(start.line(&[first, first], ScoreText::Mate(2)).0.is_empty());
    }
    /// What is shown of a line with this score of the search.
    fn shown(job: &SearchJob, moves: &[&str], score: i32, bound: Bound) -> (i32, Wdl) {
        shown_of(job, moves, score, bound, false)
    }

    /// What is shown of a line with this score, of the search or by tables.
    fn shown_of(
        job: &SearchJob,
        moves: &[&str],
        score: i32,
        bound: Bound,
        by_tables: bool,
    ) -> (i32, Wdl) {
        let mut board = job.board.clone();
        let play = |text: &&str| {
            let mv = board.parse_uci(text).expect("legal");
            board.play(mv);
            mv
        };
        let pv: Vec<Move> = moves.iter().map(play).collect();
        let info = job.describe(&Report {
            depth: 9,
            seldepth: None,
            multi_pv: 1,
            score: ScoreText::Centipawns(score),
            by_tables,
            bound,
            nodes: 1000,
            hash_full: 0,
            table_hits: None,
            effort: None,
            pv: &pv,
            silent: false,
        });
        let ScoreText::Centipawns(score) = info.score else { panic!("{info:?}") };
        (score, info.wdl.expect("asked for"))
    }

    #[test]
    fn scores_are_normalised_but_for_micro_max() {
        let cairn = job_of(Style::Cairn, START);
        let scale = Scale::of(&cairn.board);
        for score in [-300, -7, 0, 55, 700] {
            let text = ScoreText::Centipawns(score);
            let expected = (scale.normalised(score), scale.chances(text));
            assert_eq!(shown(&cairn, &["e2e4"], score, Bound::Exact), expected);
            assert_eq!(shown(&cairn, &["e2e4"], score, Bound::Lower), expected);
            let as_it_is = (score, Scale::MICROMAX.chances(text));
            assert_eq!(shown(&job(START), &["e2e4"], score, Bound::Exact), as_it_is);
        }
        let closing = cairn.answer(None, None, Ending::Broke).closing.expect("a line");
        assert_eq!(closing.score, ScoreText::Centipawns(0));
    }

    #[test]
    fn a_draw_by_endgame_tables_is_shown_as_one() {
        let drawn = (0, Wdl { win: 0, draw: 1000, loss: 0 });
        let job = job_of(Style::Cairn, START);
        assert_eq!(shown_of(&job, &["e2e4"], 0, Bound::Exact, true), drawn);
        assert_ne!(shown_of(&job, &["e2e4"], 0, Bound::Exact, false), drawn);
        assert_ne!(shown_of(&job, &["e2e4"], 0, Bound::Lower, true), drawn, "only a bound");
        assert_ne!(shown_of(&job, &["e2e4"], 7749, Bound::Exact, true), drawn);
    }

    #[test]
    fn a_line_that_ends_drawn_is_shown_as_a_draw() {
        let drawn = (0, Wdl { win: 0, draw: 1000, loss: 0 });
        let taken = job_of(Style::Cairn, "7k/8/8/8/8/3p4/3K4/7N w - - 0 1");
        assert_eq!(shown(&taken, &["d2d3"], -2, Bound::Exact), drawn, "insufficient material");
        assert_ne!(shown(&taken, &["d2d3"], -200, Bound::Lower), drawn, "only a bound");
        assert_ne!(shown(&taken, &["d2e3"], -2, Bound::Exact), drawn);
        let stalemate = job_of(Style::Cairn, "7k/8/6K1/8/8/8/8/5Q2 w - - 0 1");
        assert_eq!(shown(&stalemate, &["f1f7"], 600, Bound::Exact), drawn);
        let clock = job_of(Style::Cairn, "7k/8/6K1/8/8/8/8/R7 w - - 98 120");
        assert_eq!(shown(&clock, &["a1a2", "h8g8"], 3, Bound::Exact), drawn);
        assert_ne!(shown(&clock, &["a1a2"], 3, Bound::Exact), drawn);
        // A position of the line that comes back is a draw for the search, which the score has to say.
        let start = job_of(Style::Cairn, START);
        let around = ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3"];
        assert_eq!(shown(&start, &around, -2, Bound::Exact), drawn);
        assert_ne!(shown(&start, &around, 40, Bound::Exact), drawn);
        assert_ne!(shown(&start, &around[..4], -2, Bound::Exact), drawn, "the root came back");
        // The third time it is one by the rules, with the moves that were played before.
        let mut third = job_of(Style::Cairn, START);
        for text in &around[..4] {
            third.board.play(third.board.parse_uci(text).expect("legal"));
        }
        assert_eq!(shown(&third, &around[..4], 40, Bound::Exact), drawn);
        let micromax = shown(&job(START), &around, -2, Bound::Exact);
        assert_eq!(micromax.0, -2, "shown as it is");
    }
}
