//! Explanations for people.

use std::fmt::Write as _;

use cairn_engine::board::Board;

use super::super::format::score_in_words;
use super::super::record::SideName;
use super::{Explanation, MoveRecord, Over, expected, passed};
use crate::protocol::notation::san_line;

/// All that an explanation says. `evaluation` is what the evaluation sees, as text.
#[must_use]
pub fn text(explanation: &Explanation, board: &Board, evaluation: &str) -> String {
    let mut text = head(explanation);
    let _ = writeln!(text, "\nWhat the evaluation sees\n\n{evaluation}");
    if explanation.ending.is_some() {
        return text;
    }
    text.push_str(&threat(explanation, board));
    let _ = writeln!(
        text,
        "\nThe moves, best first, each searched with {}\n\
         Score for white, the expected result of {}, and how much of it the move costs\n",
        explanation.origin.limits,
        sides(explanation).0,
    );
    for record in &explanation.moves {
        text.push_str(&row(board, record));
    }
    text
}

/// The comparisons alone.
#[must_use]
pub fn compared(explanation: &Explanation, board: &Board) -> String {
    let mut text = head(explanation);
    let find = |text: &str| {
        explanation.moves.iter().find(|record| record.line.best.as_deref() == Some(text))
    };
    for comparison in &explanation.why_not {
        let _ = writeln!(text, "\nWhy not {}?", comparison.move_san);
        let mut rows = vec![find(&comparison.best)];
        if comparison.rank > 1 {
            rows.push(find(&comparison.mv));
        }
        for record in rows.into_iter().flatten() {
            text.push_str(&row(board, record));
        }
        let _ = writeln!(text, "  {}", comparison.reason);
    }
    text
}

/// The position, and what is certain about it.
fn head(explanation: &Explanation) -> String {
    let mut text = format!("{}\n", explanation.fen);
    let (mover, other) = sides(explanation);
    if let Some(told) = &explanation.tablebase {
        let distance = told.dtz.map_or(String::new(), |dtz| format!(", distance to zero {dtz}"));
        let _ = writeln!(text, "Endgame tables: {} for {mover}{distance}", told.wdl);
    }
    let _ = match explanation.ending {
        None => Ok(()),
        Some(Over::Checkmate) => writeln!(text, "The game is over: checkmate, {other} wins"),
        Some(Over::Stalemate) => writeln!(text, "The game is over: stalemate, {mover} has no move"),
        Some(Over::FiftyMoves) => {
            writeln!(text, "The game is over: drawn by the 50-move rule")
        }
        Some(Over::InsufficientMaterial) => {
            writeln!(text, "The game is over: drawn, neither side can mate")
        }
    };
    text
}

/// The side to move and the other one.
const fn sides(explanation: &Explanation) -> (&'static str, &'static str) {
    match explanation.to_move {
        SideName::White => ("white", "black"),
        SideName::Black => ("black", "white"),
    }
}

fn threat(explanation: &Explanation, board: &Board) -> String {
    let (mover, other) = sides(explanation);
    let mut text = format!("\nWhat {other} threatens\n\n");
    let _ = match (&explanation.threat, passed(board)) {
        (Some(threat), Some(passed)) if !threat.line.pv.is_empty() => {
            let score = score_in_words(threat.line.score_white);
            let line = san_line(&passed, &threat.line.pv);
            let _ = writeln!(text, "  If {mover} passed: {line}");
            let won = match threat.material {
                won @ ..0 if threat.line.score.mate.is_none() => {
                    format!("; the line costs {mover} {}", worth(won.unsigned_abs()))
                }
                _ => String::new(),
            };
            let cost = percent(threat.cost);
            writeln!(text, "  {score}; passing would cost {cost} of the expected result{won}")
        }
        (None, _) => {
            writeln!(text, "  {mover} is in check and cannot pass: the check is the threat")
        }
        _ => writeln!(text, "  Nothing: if {mover} passed, {other} would have no move"),
    };
    text
}

/// A move with its score, the expected result, its cost and its line.
fn row(board: &Board, record: &MoveRecord) -> String {
    let line = san_line(board, &record.line.pv);
    let refuted = record
        .refutation_san
        .as_ref()
        .map_or(String::new(), |reply| format!("refuted by {reply}: "));
    format!(
        "{:>4}  {:<7} {:>17}  {:>7}  costs {:>7}  depth {:>2}  {refuted}{line}\n",
        record.line.rank,
        record.line.best_san.as_deref().unwrap_or_default(),
        score_in_words(record.line.score_white),
        percent(expected(record.line.wdl)),
        percent(record.cost),
        record.line.depth,
    )
}

/// A part in permill.
pub(super) fn percent(permill: u32) -> String {
    format!("{}.{} %", permill / 10, permill % 10)
}

/// Material in words.
pub(super) fn worth(pawns: u32) -> String {
    match pawns {
        1 => "a pawn's worth".to_owned(),
        pawns => format!("{pawns} pawns' worth"),
    }
}
