//! Judged games as PGN: scores, chances, marks, and what could have been played.
//!
//! Behind each move of the main line stands `[%eval 0.35]` or `[%eval #-3]`, as Lichess writes scores, and
//! `[%wdl 180 650 170]`, the chances in permill, all from white. A move with a mark gets its annotation (NAG), a
//! comment and one variation. The comments begin with `SIGNATURE`, so that annotating again replaces what was
//! found before. Everything else that stood there is kept, but for scores, chances and the annotations 1 to 6.

use std::mem;

use cairn_engine::board::Board;
use cairn_engine::moves::Move;
use cairn_engine::piece::Side;
use cairn_engine::search::ScoreText;

use super::annotate::{Annotated, Ply};
use super::judge::{CERTAIN, Expected, Mark, Worth};
use super::pgn::{Game, Line, Step};
use crate::protocol::Wdl;
use crate::protocol::notation::san_moves;

/// What the texts of this program begin with.
const SIGNATURE: &str = "Cairn:";

/// What the annotator is called, before the version.
const ANNOTATOR: &str = "Cairn ";

/// The half-moves of a line that are told, if it does not end in mate.
const LINE_LENGTH: usize = 8;

/// The commands in comments that are written anew.
const OWN_COMMANDS: [&str; 2] = ["[%eval ", "[%wdl "];

/// The annotations that judge a move.
const JUDGING: std::ops::RangeInclusive<u8> = 1..=6;

/// The game with what was found. `annotator` is who has found it, beginning with the name of the program.
#[must_use]
pub fn marked_up(annotated: &Annotated, annotator: &str) -> Game {
    let mut game = annotated.entry.game.clone();
    if game.tag("Annotator").is_none_or(|old| old.starts_with(ANNOTATOR) || old == "?") {
        game.set_tag("Annotator", annotator);
    }
    for (step, ply) in game.main.moves.iter_mut().zip(&annotated.plies) {
        clean(step);
        mark_up(step, ply);
    }
    game
}

/// Takes out what is written anew.
fn clean(step: &mut Step) {
    step.nags.retain(|nag| !JUDGING.contains(nag));
    step.variations.retain(|line| !line.moves.first().is_some_and(|first| is_own(&first.comments)));
    for comment in &mut step.comments {
        *comment = without_commands(comment);
    }
    step.comments.retain(|comment| !comment.is_empty() && !comment.starts_with(SIGNATURE));
}

fn is_own(comments: &[String]) -> bool {
    comments.iter().any(|comment| comment.starts_with(SIGNATURE))
}

/// A comment without the commands that are written anew.
fn without_commands(comment: &str) -> String {
    let (mut kept, mut rest) = (String::new(), comment);
    while let Some(start) = OWN_COMMANDS.iter().filter_map(|command| rest.find(command)).min() {
        let Some(length) = rest[start..].find(']') else { break };
        kept.push_str(&rest[..start]);
        rest = rest[start + length + 1..].trim_start();
    }
    kept.push_str(rest);
    kept.trim().to_owned()
}

/// Adds what was found of a move.
fn mark_up(step: &mut Step, ply: &Ply) {
    let mover = ply.board.side_to_move();
    let worth = &ply.after.worth;
    // A mate on the board has no score that is read everywhere.
    let mut comment = match eval(worth.score, mover.other()) {
        Some(eval) => format!("[%eval {eval}] "),
        None => String::new(),
    };
    let Wdl { win, draw, loss } = seen_by_white(worth.wdl, mover.other());
    comment.push_str(&format!("[%wdl {win} {draw} {loss}]"));
    let mut comments = vec![comment];
    if let Some(mark) = ply.judgement.mark {
        step.nags.insert(0, mark.nag());
        comments.push(format!("{SIGNATURE} {}", explanation(ply, mark)));
        if let Some((name, worth, moves)) = alternative(ply, mark) {
            let mut line = Line::default();
            line.moves.extend(moves.iter().copied().map(Step::new));
            if let Some(first) = line.moves.first_mut() {
                let expected = percent(worth.expected());
                first.comments.push(format!("{SIGNATURE} {name}, {expected}"));
                step.variations.insert(0, line);
            }
        }
    }
    comments.append(&mut mem::take(&mut step.comments));
    step.comments = comments;
}

/// The score of a position in which `mover` is to move, as commands in comments have it: in pawns, or `#` and the moves
/// to mate, from white. None for a mate on the board.
#[must_use]
pub fn eval(score: ScoreText, mover: Side) -> Option<String> {
    let turned = |value: i32| if mover == Side::White { value } else { -value };
    match score {
        ScoreText::Centipawns(score) => {
            let score = turned(score);
            let sign = if score < 0 { "-" } else { "" };
            let size = score.unsigned_abs();
            Some(format!("{sign}{}.{:02}", size / 100, size % 100))
        }
        ScoreText::Mate(0) => None,
        ScoreText::Mate(moves) => Some(format!("#{}", turned(moves))),
    }
}

/// The chances of white where those of the side to move are known.
#[must_use]
pub const fn seen_by_white(chances: Wdl, mover: Side) -> Wdl {
    match mover {
        Side::White => chances,
        Side::Black => Wdl { win: chances.loss, draw: chances.draw, loss: chances.win },
    }
}

/// An expected result in percent of a point.
#[must_use]
pub fn percent(expected: Expected) -> String {
    format!("{} %", whole_percent(expected))
}

/// An expected result in whole percent of a point.
#[must_use]
pub const fn whole_percent(expected: Expected) -> u32 {
    (100 * expected + CERTAIN / 2) / CERTAIN
}

/// What a mark means, in a sentence or two: `blunder, the expected result falls from 62 % to 18 %; 12... Rb8`.
#[must_use]
pub fn explanation(ply: &Ply, mark: Mark) -> String {
    let before = percent(ply.before.worth.expected());
    if mark == Mark::Only {
        return match &ply.before.second {
            Some(second) => {
                let others = percent(second.worth.expected());
                format!("{}, {before}; any other leaves {others} at most", mark.name())
            }
            None => mark.name().to_owned(),
        };
    }
    let after = percent(left(ply));
    let mut text = format!("{}, the expected result falls from {before} to {after}", mark.name());
    let refutation = refutation(ply);
    if !refutation.is_empty() {
        text.push_str("; ");
        text.push_str(&refutation);
    }
    text
}

/// What the mover can expect after the move, on the scale of the position before it, on which it was judged.
#[must_use]
pub const fn left(ply: &Ply) -> Expected {
    ply.before.worth.expected().saturating_sub(ply.judgement.loss)
}

/// What follows after the move, in SAN; empty if nothing can.
#[must_use]
pub fn refutation(ply: &Ply) -> String {
    let mut board = ply.board.clone();
    board.play(ply.mv);
    let moves = shortened(ply.after.best, &ply.after.line, &ply.after.worth);
    san_moves(&board, &moves)
}

/// What could have been played instead of a marked move: what it is called, what it is worth to the mover, and its
/// moves, of which there is at least one.
#[must_use]
pub fn alternative(ply: &Ply, mark: Mark) -> Option<(&'static str, &Worth, Vec<Move>)> {
    let (name, look) = match mark {
        Mark::Only => ("next best", ply.before.second.as_deref()?),
        _ => ("better", &ply.before),
    };
    let moves = shortened(look.best, &look.line, &look.worth);
    (!moves.is_empty()).then_some((name, &look.worth, moves))
}

/// The alternative of a marked move in SAN; empty if there is none.
#[must_use]
pub fn alternative_text(ply: &Ply, mark: Mark) -> String {
    let moves = alternative(ply, mark).map(|(.., moves)| moves).unwrap_or_default();
    san_moves(&ply.board, &moves)
}

/// As much of a line as is told: a mate whole, all else up to [`LINE_LENGTH`]. Of a line that is missing the first
/// move.
fn shortened(best: Option<Move>, line: &[Move], worth: &Worth) -> Vec<Move> {
    if line.is_empty() {
        return best.into_iter().collect();
    }
    let is_mate = matches!(worth.score, ScoreText::Mate(_));
    let length = if is_mate { line.len() } else { LINE_LENGTH.min(line.len()) };
    line[..length].to_vec()
}

/// A position with the number of its next move: `12.`, or `12...` for black.
#[must_use]
pub fn numbered(board: &Board) -> String {
    let dots = if board.side_to_move() == Side::White { "." } else { "..." };
    format!("{}{dots}", board.fullmove_number())
}

#[cfg(test)]
mod tests {
    use super::super::annotate::Look;
    use super::super::judge::{Choice, judge};
    use super::super::pgn::{Entry, Reader, write_game};
    use super::*;

    #[test]
    fn scores_are_those_of_white() {
        for (score, mover, expected) in [
            (ScoreText::Centipawns(35), Side::White, Some("0.35")),
            (ScoreText::Centipawns(5), Side::Black, Some("-0.05")),
            (ScoreText::Centipawns(-1234), Side::Black, Some("12.34")),
            (ScoreText::Centipawns(0), Side::Black, Some("0.00")),
            (ScoreText::Mate(3), Side::White, Some("#3")),
            (ScoreText::Mate(3), Side::Black, Some("#-3")),
            (ScoreText::Mate(-2), Side::Black, Some("#2")),
            (ScoreText::Mate(0), Side::Black, None),
        ] {
            assert_eq!(eval(score, mover).as_deref(), expected, "{score} {mover:?}");
        }
        let chances = Wdl { win: 1, draw: 2, loss: 997 };
        assert_eq!(seen_by_white(chances, Side::Black), Wdl { win: 997, draw: 2, loss: 1 });
        assert_eq!(
            (percent(0), percent(CERTAIN), percent(1009)),
            ("0 %".into(), "100 %".into(), "50 %".into())
        );
    }

    #[test]
    fn own_commands_are_taken_out_and_others_kept() {
        for (comment, kept) in [
            ("[%eval 0.2]", ""),
            ("[%eval #-3] [%clk 0:01:00] good", "[%clk 0:01:00] good"),
            ("a [%wdl 1 2 3] b [%eval 1.0,20] c", "a b c"),
            ("[%eval open", "[%eval open"),
            ("[%emt 5] x", "[%emt 5] x"),
        ] {
            assert_eq!(without_commands(comment), kept);
        }
    }

    fn look(board: &Board, shown: i32, line: &[&str]) -> Look {
        let mut after = board.clone();
        let mut moves = Vec::new();
        for text in line {
            let mv = after.parse_uci(text).expect("legal");
            after.play(mv);
            moves.push(mv);
        }
        let scale = crate::session::wdl::Scale::of(board);
        let score = ScoreText::Centipawns(shown);
        let info = crate::protocol::Info {
            depth: 1,
            seldepth: None,
            multi_pv: 1,
            score,
            bound: cairn_engine::search::Bound::Exact,
            wdl: Some(scale.chances(ScoreText::Centipawns(shown * scale.even() / 100))),
            nodes: 1,
            elapsed: std::time::Duration::ZERO,
            hash_full: 0,
            table_hits: None,
            pv: moves.clone(),
        };
        Look {
            worth: Worth::of_line(board, &info),
            best: moves.first().copied(),
            line: moves,
            second: None,
        }
    }

    /// The game 1. f3 e5, of which the first move is judged.
    fn annotated(text: &str) -> Annotated {
        let entry: Entry =
            Reader::new(text.as_bytes()).next().expect("a game").expect("a whole one");
        let board = entry.game.start.clone();
        let mv = entry.game.main.moves[0].mv;
        let mut second = board.clone();
        second.play(mv);
        let before = look(&board, 20, &["e2e4", "e7e5"]);
        let after = look(&second, 250, &["e7e5", "g1h3"]);
        let judgement = judge(&Choice {
            legal: 20,
            is_best: false,
            takes_back: false,
            is_obvious: false,
            before: before.worth.expected(),
            after: CERTAIN - after.worth.expected(),
            without_best: None,
        });
        let ply = Ply { board, mv, before, after, judgement };
        Annotated { entry, plies: vec![ply], notes: Vec::new() }
    }

    fn written(annotated: &Annotated) -> String {
        let mut text = Vec::new();
        write_game(&marked_up(annotated, "Cairn 1"), &mut text).expect("a text");
        String::from_utf8(text).expect("UTF-8")
    }

    #[test]
    fn a_mark_has_its_reasons_and_the_rest_is_kept() {
        let text =
            written(&annotated("1. f3! {[%eval 9.00] [%clk 0:01:00] bad} $16 (1. d4 {old}) e5 *"));
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        for expected in [
            "[Annotator \"Cairn 1\"] 1. f3?? $16 { [%eval -2.50] [%wdl ",
            "} { Cairn: blunder, the expected result falls from ",
            " %; 1... e5 2. Nh3 } { [%clk 0:01:00] bad } (1. e4 { Cairn: better, ",
            "% } 1... e5) (1. d4 { old }) 1... e5 *",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }

    #[test]
    fn annotating_again_changes_nothing() {
        let first = written(&annotated("[White \"A\"]\n\n1. f3 {why} e5 *"));
        assert!(first.contains("Cairn: better"), "{first}");
        assert_eq!(written(&annotated(&first)), first);
    }
}
