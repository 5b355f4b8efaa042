//! A move compared with the best one.

use cairn_engine::board::Board;
use cairn_engine::moves::Move;
use cairn_engine::piece::Side;
use serde::{Deserialize, Serialize};

use super::super::record::Score;
use super::words::{percent, worth};
use super::{MoveRecord, expected, material_along};

/// What a move lacks that the best one has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the module above explains the fields")]
pub struct Comparison {
    #[serde(rename = "move")]
    pub mv: String,
    pub move_san: String,
    pub rank: usize,
    pub best: String,
    pub best_san: String,
    pub parts_at: Option<usize>,
    pub material_parts_at: Option<usize>,
    pub cost: u32,
    pub material_lost: i32,
    pub reason: String,
}

impl Comparison {
    /// Compares a move with the first of all, the best one. None if it is not among them.
    pub(super) fn new(board: &Board, mv: Move, moves: &[MoveRecord]) -> Option<Comparison> {
        let text = board.uci_text(mv, false);
        let best = moves.first()?;
        let this = moves.iter().find(|record| record.line.best.as_ref() == Some(&text))?;
        let parting = Parting::new(board, best, this);
        Some(Comparison {
            mv: text,
            move_san: this.line.best_san.clone()?,
            rank: this.line.rank,
            best: best.line.best.clone()?,
            best_san: best.line.best_san.clone()?,
            parts_at: parting.at,
            material_parts_at: parting.material_at,
            cost: this.cost,
            material_lost: best.material - this.material,
            reason: reason(board.side_to_move(), best, this, &parting),
        })
    }
}

/// Where two lines part.
struct Parting {
    /// The first half-move in which they differ, from 1.
    at: Option<usize>,
    /// The first half-move after which the material differs for good, from 1.
    material_at: Option<usize>,
    /// The move that makes the material differ.
    culprit: Option<String>,
}

impl Parting {
    fn new(board: &Board, best: &MoveRecord, this: &MoveRecord) -> Parting {
        let length = best.line.pv.len().max(this.line.pv.len());
        let at = (0..length).find(|&i| best.line.pv.get(i) != this.line.pv.get(i)).map(|i| i + 1);
        let along = |record: &MoveRecord| material_along(board, &record.line.pv);
        let (of_best, of_this) = (along(best), along(this));
        // What was won stays won behind the end of a line.
        let after = |won: &[i32], i: usize| won.get(i).or(won.last()).copied().unwrap_or(0);
        let is_equal = |i: usize| after(&of_best, i) == after(&of_this, i);
        let last_equal = (0..=length).rev().find(|&i| is_equal(i)).unwrap_or(0);
        let material_at = (last_equal < length).then_some(last_equal + 1);
        let culprit = material_at.and_then(|at| {
            let changes = |won: &[i32]| after(won, at) != after(won, at - 1);
            let record = if changes(&of_this) { this } else { best };
            let mover =
                if at % 2 == 1 { board.side_to_move() } else { board.side_to_move().other() };
            let number = board.fullmove_number() as usize
                + (at - 1 + usize::from(board.side_to_move() == Side::Black)) / 2;
            let dots = if mover == Side::White { "." } else { "..." };
            record.line.pv_san.get(at - 1).map(|san| format!("{number}{dots} {san}"))
        });
        Parting { at, material_at, culprit }
    }
}

/// What is lost, in words.
fn reason(us: Side, best: &MoveRecord, this: &MoveRecord, parting: &Parting) -> String {
    let (san, best_san) = (name(this), name(best));
    if this.line.rank == best.line.rank {
        return format!("{san} is the best move itself.");
    }
    let mut sentences = Vec::new();
    match (this.line.score, best.line.score) {
        (Score { mate: Some(moves @ ..=0), .. }, Score { mate: Some(later @ ..=0), .. }) => {
            sentences.push(if moves == later {
                format!("Both moves are mated in {}.", -moves)
            } else {
                format!("{san} is mated in {}, {best_san} not before {}.", -moves, -later)
            });
        }
        (Score { mate: Some(moves @ ..=0), .. }, _) => {
            sentences.push(format!("After {san} {} mates in {}.", us.other(), -moves));
        }
        (Score { mate: Some(moves), .. }, Score { mate: Some(sooner), .. }) => {
            sentences.push(if moves == sooner {
                format!("Both moves mate in {moves}.")
            } else {
                format!("{san} mates in {moves}, {best_san} in {sooner}.")
            });
        }
        (_, Score { mate: Some(moves @ 1..), .. }) => {
            sentences.push(format!("{best_san} mates in {moves}, which {san} lets go."));
        }
        _ => {}
    }
    let [from, to] = [best, this].map(|record| expected(record.line.wdl));
    sentences.push(if from == to {
        format!("The expected result of {us} is the same, {}.", percent(from))
    } else {
        let [from, to] = [from, to].map(percent);
        format!("The expected result of {us} goes from {from} with {best_san} to {to} with {san}.")
    });
    if this.line.score.mate.is_some() || best.line.score.mate.is_some() {
        // Material does not count then.
        return sentences.join(" ");
    }
    let lost = best.material - this.material;
    sentences.push(match (lost, &parting.culprit) {
        (0, _) => "Material is the same at the ends of both lines.".to_owned(),
        (lost, culprit) => {
            let sign = if lost > 0 { "less" } else { "more" };
            let since =
                culprit.as_ref().map_or(String::new(), |mv| format!("; {mv} makes the difference"));
            let worth = worth(lost.unsigned_abs());
            format!("At the end of its line {us} has {worth} {sign} than after {best_san}{since}.")
        }
    });
    sentences.join(" ")
}

fn name(record: &MoveRecord) -> &str {
    record.line.best_san.as_deref().unwrap_or_default()
}
