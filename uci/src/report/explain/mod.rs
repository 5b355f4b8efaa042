//! Why a position is worth what it is: what the evaluation sees, what is threatened, and what each move comes to.
//!
//! Every search begins with an empty table and has the same limits, so an explanation depends on nothing but the
//! position, the limits, the options and the program.
//!
//! An [`Explanation`] is one object of JSON. `uci/src/report/explanation.schema.json` has the same as JSON Schema;
//! `cairn explain --schema` prints it. Fields are added without a new version; if one goes or comes to mean something
//! else, [`SCHEMA_VERSION`] grows.
//!
//! | field | meaning |
//! |---|---|
//! | `schema` | the version of all this, 1 |
//! | `fen`, `to_move`, `in_check` | the position |
//! | `engine`, `limits`, `network`, `tables` | who searched and how, as in [`super::record`] |
//! | `ending` | how the game is over, if it is: `checkmate`, `stalemate`, `fifty moves` or `insufficient material`; nothing is searched then |
//! | `tablebase` | what endgame tables say, as in [`super::record`] |
//! | `evaluation` | before anything is searched, for white: `score_white`, `wdl_white`, and the worth of each piece but the kings as `pieces`: `square`, `piece` as in a FEN, `cp_white`, the evaluation less that without it |
//! | `threat` | the best line if the side to move passed, or null in check; without moves if there were none |
//! | `moves` | every legal move, best first |
//! | `why_not` | the moves that were asked about, each compared with the best one |
//!
//! A threat and each of the moves have the fields of one of the `lines` in [`super::record`], seen by the side that
//! moves first in the line, `nodes`, and
//!
//! | field | meaning |
//! |---|---|
//! | `cost` | how much less of the expected result it brings than the best move, in permill; for the threat what passing would cost |
//! | `material` | what the line wins for the side to move in the position, in pawns: a knight or bishop is 3, a rook 5, a queen 9 |
//! | `refutation`, `refutation_san` | of moves that cost [`REFUTED`] or more: the reply |
//!
//! The expected result is the chance to win and half of that to draw. A comparison has
//!
//! | field | meaning |
//! |---|---|
//! | `move`, `move_san`, `rank` | the move that was asked about and its place among all |
//! | `best`, `best_san` | the best one |
//! | `parts_at` | the first half-move in which the lines differ, from 1; null if the move is the best one |
//! | `material_parts_at` | the first half-move after which the material differs for good; null if it does not |
//! | `cost` | as above |
//! | `material_lost` | how much less the line wins than the best one, in pawns; below 0 if more |
//! | `reason` | in words |
//!
//! Lines end where the search has seen enough, which may be amid an exchange; material is counted there.

mod compare;
mod words;

use anyhow::Result;
use cairn_engine::board::{Board, GameEnd};
use cairn_engine::eval::PackedNetwork;
use cairn_engine::moves::Move;
use cairn_engine::piece::{Kind, Side};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::sync::Arc;

use super::batch::{Order, search_each};
use super::record::{Chances, Found, LineRecord, Origin, Score, SideName, TableRecord};
use crate::protocol::Go;
use crate::session::tables::{self, Chosen};
use crate::session::views;
pub use compare::Comparison;
pub use words::{compared, text};

/// The version of explanations.
pub const SCHEMA_VERSION: u32 = 1;

/// The JSON Schema of an [`Explanation`].
pub const SCHEMA: &str = include_str!("../explanation.schema.json");

/// A move that costs so much of the expected result, in permill, is refuted.
pub const REFUTED: u32 = 100;

/// What pieces are worth where material is counted, in pawns.
const MATERIAL: [(Kind, i32); 4] =
    [(Kind::Knight, 3), (Kind::Bishop, 3), (Kind::Rook, 5), (Kind::Queen, 9)];

/// How a game is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "they are what they are called")]
pub enum Over {
    #[serde(rename = "checkmate")]
    Checkmate,
    #[serde(rename = "stalemate")]
    Stalemate,
    #[serde(rename = "fifty moves")]
    FiftyMoves,
    #[serde(rename = "insufficient material")]
    InsufficientMaterial,
}

/// A piece and what the evaluation finds it worth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the module explains the fields")]
pub struct PieceRecord {
    pub square: String,
    pub piece: char,
    pub cp_white: i32,
}

/// What the evaluation sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the module explains the fields")]
pub struct EvaluationRecord {
    pub score_white: Score,
    pub wdl_white: Chances,
    pub pieces: Vec<PieceRecord>,
}

/// What a move comes to, or a threat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the module explains the fields")]
pub struct MoveRecord {
    #[serde(flatten)]
    pub line: LineRecord,
    pub nodes: u64,
    pub cost: u32,
    pub material: i32,
    pub refutation: Option<String>,
    pub refutation_san: Option<String>,
}

/// Why a position is worth what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the module explains the fields")]
pub struct Explanation {
    pub schema: u32,
    pub fen: String,
    pub to_move: SideName,
    pub in_check: bool,
    #[serde(flatten)]
    pub origin: Origin,
    pub ending: Option<Over>,
    pub tablebase: Option<TableRecord>,
    pub evaluation: EvaluationRecord,
    pub threat: Option<MoveRecord>,
    pub moves: Vec<MoveRecord>,
    pub why_not: Vec<Comparison>,
}

/// What there is to explain.
#[derive(Debug)]
pub struct Question<'a> {
    /// The position; the moves before it do not count.
    pub board: &'a Board,
    /// Legal moves to compare with the best one.
    pub why_not: &'a [Move],
    /// The network that evaluates, if there is one.
    pub network: Option<&'a Arc<PackedNetwork>>,
    /// How each move is searched.
    pub order: &'a Order,
    /// Who does.
    pub origin: &'a Origin,
}

impl Question<'_> {
    /// How many searches the answer takes.
    #[must_use]
    pub fn searches(&self) -> usize {
        if over(self.board).is_some() {
            return 0;
        }
        self.board.legal_moves().len() + usize::from(!self.board.in_check())
    }

    /// Explains, and tells of each search that is done. Also what people should know, such as memory that could not
    /// be had.
    ///
    /// # Errors
    /// When threads cannot be started, or a search fails.
    pub fn answer(&self, tell: &(dyn Fn() + Sync)) -> Result<(Explanation, Vec<String>)> {
        let Question { board, order, .. } = *self;
        let tables = tables::chosen(&mut order.settings.syzygy_path.clone());
        let mut explanation = self.without_searches(&tables);
        if explanation.ending.is_some() {
            return Ok((explanation, tables.remarks));
        }
        let passed = passed(board);
        let moves = board.legal_moves();
        let question = |mv: &Move| {
            let search_moves = vec![board.uci_text(*mv, true)];
            (board.clone(), Go { search_moves, ..order.limits.clone() })
        };
        let mut questions: Vec<(Board, Go)> = moves.iter().map(question).collect();
        questions.extend(passed.iter().map(|board| (board.clone(), order.limits.clone())));
        let mut found = search_each(&questions, order.jobs, &order.settings, &tables, tell)?;
        let mut notes: Vec<String> = Vec::new();
        for note in found.iter().flat_map(|(_, notes)| notes) {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        let threat = if passed.is_some() { found.pop() } else { None };
        let mut ranked: Vec<MoveRecord> = moves
            .iter()
            .zip(&found)
            .map(|(&mv, (found, _))| MoveRecord::of_move(board, mv, found))
            .collect();
        // The order of equal moves is that of the generator, which the position alone decides.
        ranked.sort_by_key(|record| Reverse(record.line.score.order()));
        let best = ranked.first().map_or(0, |best| expected(best.line.wdl));
        for (rank, record) in (1..).zip(&mut ranked) {
            record.line.rank = rank;
            record.set_cost(best.saturating_sub(expected(record.line.wdl)));
        }
        explanation.threat = passed.zip(threat).map(|(board, (found, _))| {
            let mut record = MoveRecord::of_line(&board, &found);
            record.material = -record.material;
            // What the opponent expects is what the side to move does not.
            let Chances { win, draw, loss } = record.line.wdl;
            let kept = expected(Chances { win: loss, draw, loss: win });
            record.cost = best.saturating_sub(kept);
            record
        });
        explanation.moves = ranked;
        explanation.why_not = self
            .why_not
            .iter()
            .filter_map(|&mv| Comparison::new(board, mv, &explanation.moves))
            .collect();
        Ok((explanation, notes))
    }

    /// All that needs no search.
    fn without_searches(&self, tables: &Chosen) -> Explanation {
        let Question { board, network, origin, .. } = *self;
        let seen = views::seen(board, network);
        let pieces = seen
            .pieces
            .iter()
            .filter_map(|&(square, cp_white)| {
                let piece = board.piece_on(square)?.letter();
                Some(PieceRecord { square: square.to_string(), piece, cp_white })
            })
            .collect();
        let verdict = tables.tables.as_deref().and_then(|tables| tables::verdict(tables, board));
        Explanation {
            schema: SCHEMA_VERSION,
            fen: board.to_fen(),
            to_move: board.side_to_move().into(),
            in_check: board.in_check(),
            origin: origin.clone(),
            ending: over(board),
            tablebase: verdict.map(Into::into),
            evaluation: EvaluationRecord {
                score_white: Score { cp: Some(seen.shown), mate: None },
                wdl_white: seen.chances.into(),
                pieces,
            },
            threat: None,
            moves: Vec::new(),
            why_not: Vec::new(),
        }
    }
}

/// How the game is over, if it is.
fn over(board: &Board) -> Option<Over> {
    match board.outcome()? {
        GameEnd::Checkmate => Some(Over::Checkmate),
        GameEnd::Stalemate => Some(Over::Stalemate),
        GameEnd::FiftyMoves => Some(Over::FiftyMoves),
        GameEnd::InsufficientMaterial => Some(Over::InsufficientMaterial),
        // The moves before the position do not count.
        GameEnd::Repetition => None,
    }
}

/// The position after a null move, with the clocks as they are; none in check.
fn passed(board: &Board) -> Option<Board> {
    if board.in_check() {
        return None;
    }
    let fen = board.to_shredder_fen();
    let mut fields: Vec<&str> = fen.split(' ').collect();
    let number = board.fullmove_number().saturating_add(1).to_string();
    let is_white = board.side_to_move() == Side::White;
    let [_, side, _, en_passant, _, fullmoves] = &mut fields[..] else { return None };
    *side = if is_white { "b" } else { "w" };
    *en_passant = "-";
    if !is_white {
        *fullmoves = &number;
    }
    Board::from_fen(&fields.join(" ")).ok()
}

/// The expected result, in permill.
const fn expected(chances: Chances) -> u32 {
    chances.win + chances.draw / 2
}

/// The material of a side less that of the other, in pawns.
fn material(board: &Board, side: Side) -> i32 {
    let of = |side: Side| -> i32 {
        let count = |kind| i32::try_from(board.count(side, kind)).unwrap_or(0);
        let pieces: i32 = MATERIAL.iter().map(|&(kind, worth)| worth * count(kind)).sum();
        pieces + count(side.pawn())
    };
    of(side) - of(side.other())
}

/// What material a line has won for the side to move before it and after each of its half-moves, in pawns.
fn material_along(board: &Board, pv: &[String]) -> Vec<i32> {
    let side = board.side_to_move();
    let mut board = board.clone();
    let before = material(&board, side);
    let mut won = vec![0];
    for text in pv {
        let Ok(mv) = board.parse_uci(text) else { break };
        board.play(mv);
        won.push(material(&board, side) - before);
    }
    won
}

impl MoveRecord {
    /// What the search of a position has found.
    fn of_line(board: &Board, found: &Found) -> MoveRecord {
        let line = found
            .lines
            .first()
            .map_or_else(|| LineRecord::of_nothing(board), |line| LineRecord::new(board, line));
        let material = material_along(board, &line.pv).last().copied().unwrap_or(0);
        MoveRecord {
            line,
            nodes: found.nodes,
            cost: 0,
            material,
            refutation: None,
            refutation_san: None,
        }
    }

    /// What the search of one move has found.
    fn of_move(board: &Board, mv: Move, found: &Found) -> MoveRecord {
        let mut record = MoveRecord::of_line(board, found);
        if record.line.pv.is_empty() {
            // A search of very few nodes may tell a score alone.
            record.line.name(board, mv);
        }
        record
    }

    fn set_cost(&mut self, cost: u32) {
        self.cost = cost;
        if cost >= REFUTED {
            self.refutation = self.line.pv.get(1).cloned();
            self.refutation_san = self.line.pv_san.get(1).cloned();
        }
    }
}
