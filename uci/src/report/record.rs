//! What is found about a position, as programs read it.
//!
//! A [`Record`] is one line of JSON. `uci/src/report/analysis.schema.json` has the same as JSON Schema;
//! `cairn analyze --schema` prints it. Fields are added without a new version; if one goes or comes to mean
//! something else, [`SCHEMA_VERSION`] grows.
//!
//! | field | meaning |
//! |---|---|
//! | `schema` | the version of all this, 1 |
//! | `index` | the number of the position in the input, from 0; those that cannot be read have none |
//! | `source` | `file`, `line` (of a game that of its beginning), `game` from 1, `ply` from 0, `id` of EPD |
//! | `fen` | the position; all that is found follows from it, the limits and the engine |
//! | `to_move` | `white` or `black` |
//! | `engine`, `limits` | who searched, and how long |
//! | `network`, `tables` | what tells the network that evaluated and the endgame tables from others, if there were any |
//! | `ending` | `checkmate` or `stalemate` if there is no legal move |
//! | `best`, `best_san` | the best move in UCI and in SAN |
//! | `score` | for the side to move: `cp` in centipawns as they are shown (100 are an even chance to win), or `mate` in moves, negative if it is mated |
//! | `score_white` | the same for white |
//! | `wdl` | chances of the side to move to `win`, `draw` and lose (`loss`), in permill |
//! | `depth`, `seldepth`, `nodes` | plies of the last iteration, the longest line, nodes in all |
//! | `pv`, `pv_san` | the best line in UCI and in SAN |
//! | `lines` | the best lines, as many as were asked for, best first, each with `rank`, `best`, `best_san`, `score`, `score_white`, `wdl`, `depth`, `seldepth`, `pv` and `pv_san` |
//! | `tablebase` | what endgame tables say for the side to move, or null: `wdl` is `win`, `cursed win`, `draw`, `blessed loss` or `loss`; `dtz` the half-moves to the next capture or pawn move, below 0 for the side that loses, or null. Both as if the halfmove clock stood at 0 |
//!
//! What is unknown is null. Castling is written in UCI as the king's two steps, or taking its own rook where
//! only Chess960 has the position.

use std::fmt;

use cairn_engine::board::Board;
use cairn_engine::moves::Move;
use cairn_engine::piece::Side;
use cairn_engine::search::ScoreText;
use serde::{Deserialize, Serialize};

use super::input::{Position, Source};
use crate::analyze::Line;
use crate::protocol::Wdl;
use crate::protocol::notation::san;
use crate::session::tables::Verdict;

/// The version of the records.
pub const SCHEMA_VERSION: u32 = 1;

/// The JSON Schema of a [`Record`].
pub const SCHEMA: &str = include_str!("analysis.schema.json");

/// A side by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "they are what they are called")]
pub enum SideName {
    White,
    Black,
}

impl From<Side> for SideName {
    fn from(side: Side) -> SideName {
        match side {
            Side::White => SideName::White,
            Side::Black => SideName::Black,
        }
    }
}

/// Why there is no legal move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "they are what they are called")]
pub enum Ending {
    Checkmate,
    Stalemate,
}

/// A score: one of the two is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// Centipawns.
    pub cp: Option<i32>,
    /// Moves to mate, negative for being mated.
    pub mate: Option<i32>,
}

impl From<ScoreText> for Score {
    fn from(score: ScoreText) -> Score {
        match score {
            ScoreText::Centipawns(cp) => Score { cp: Some(cp), mate: None },
            ScoreText::Mate(moves) => Score { cp: None, mate: Some(moves) },
        }
    }
}

impl Score {
    /// What puts scores in order: a better one is larger.
    #[must_use]
    pub const fn order(self) -> (i32, i32) {
        match self {
            Score { mate: Some(moves @ 1..), .. } => (1, -moves),
            Score { mate: Some(moves), .. } => (-1, -moves),
            Score { cp: Some(cp), .. } => (0, cp),
            Score { cp: None, .. } => (0, 0),
        }
    }

    /// The same as white sees it.
    fn seen_by_white(self, mover: Side) -> Score {
        match mover {
            Side::White => self,
            Side::Black => {
                let turned = |score: Option<i32>| score.map(i32::saturating_neg);
                Score { cp: turned(self.cp), mate: turned(self.mate) }
            }
        }
    }
}

/// Chances in permill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "they are what they are called")]
pub struct Chances {
    pub win: u32,
    pub draw: u32,
    pub loss: u32,
}

/// Who searched how: all that results depend on beside their position.
///
/// What it cannot tell: builds of one commit whose sources were changed, and what a limit in time came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The program and its version.
    pub engine: String,
    /// The limits and options in words.
    pub limits: String,
    /// The network that evaluates.
    pub network: Option<String>,
    /// The checksum of the endgame tables.
    pub tables: Option<String>,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.engine, self.limits)?;
        for (name, value) in [("network", &self.network), ("tables", &self.tables)] {
            if let Some(value) = value {
                write!(f, ", {name} {value}")?;
            }
        }
        Ok(())
    }
}

/// What endgame tables say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the module explains the fields")]
pub struct TableRecord {
    pub wdl: String,
    pub dtz: Option<i32>,
}

impl From<Verdict> for TableRecord {
    fn from(verdict: Verdict) -> TableRecord {
        TableRecord { wdl: verdict.name().to_owned(), dtz: verdict.dtz }
    }
}

impl From<Wdl> for Chances {
    fn from(Wdl { win, draw, loss }: Wdl) -> Chances {
        Chances { win, draw, loss }
    }
}

/// One of the best lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the module explains the fields")]
pub struct LineRecord {
    pub rank: usize,
    pub best: Option<String>,
    pub best_san: Option<String>,
    pub score: Score,
    pub score_white: Score,
    pub wdl: Chances,
    pub depth: u32,
    pub seldepth: Option<u32>,
    pub pv: Vec<String>,
    pub pv_san: Vec<String>,
}

/// What is found about a position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the module explains the fields")]
pub struct Record {
    pub schema: u32,
    pub index: u64,
    pub source: Source,
    pub fen: String,
    pub to_move: SideName,
    #[serde(flatten)]
    pub origin: Origin,
    pub ending: Option<Ending>,
    pub best: Option<String>,
    pub best_san: Option<String>,
    pub score: Score,
    pub score_white: Score,
    pub wdl: Chances,
    pub depth: u32,
    pub seldepth: Option<u32>,
    pub nodes: u64,
    pub pv: Vec<String>,
    pub pv_san: Vec<String>,
    pub lines: Vec<LineRecord>,
    pub tablebase: Option<TableRecord>,
}

/// What the search has found of a position.
#[derive(Clone, Debug)]
pub struct Found {
    /// The last line of each rank, best first.
    pub lines: Vec<Line>,
    /// The move to play.
    pub best: Option<Move>,
    /// All nodes.
    pub nodes: u64,
    /// What endgame tables say of the position.
    pub verdict: Option<Verdict>,
}

impl Record {
    /// The record of a position.
    #[must_use]
    pub fn new(position: &Position, found: &Found, origin: &Origin) -> Record {
        let board = &position.board;
        let mut lines: Vec<LineRecord> =
            found.lines.iter().map(|line| LineRecord::new(board, line)).collect();
        let ending = board
            .legal_moves()
            .is_empty()
            .then(|| if board.in_check() { Ending::Checkmate } else { Ending::Stalemate });
        let first = lines.first().cloned().unwrap_or_else(|| LineRecord::of_nothing(board));
        if ending.is_some() {
            lines.clear();
        }
        Record {
            schema: SCHEMA_VERSION,
            index: position.index,
            source: position.source.clone(),
            fen: board.to_fen(),
            to_move: board.side_to_move().into(),
            origin: origin.clone(),
            ending,
            best: found.best.map(|mv| board.uci_text(mv, false)),
            best_san: found.best.map(|mv| san(board, mv)),
            score: first.score,
            score_white: first.score_white,
            wdl: first.wdl,
            depth: first.depth,
            seldepth: first.seldepth,
            nodes: found.nodes,
            pv: first.pv,
            pv_san: first.pv_san,
            lines,
            tablebase: found.verdict.map(Into::into),
        }
    }
}

impl LineRecord {
    /// What a line of the search tells.
    pub(super) fn new(board: &Board, line: &Line) -> LineRecord {
        let mut after = board.clone();
        let (mut pv, mut pv_san) = (Vec::new(), Vec::new());
        for &mv in &line.pv {
            pv.push(after.uci_text(mv, false));
            pv_san.push(san(&after, mv));
            after.play(mv);
        }
        let score = Score::from(line.score);
        // Told with every line, as the analysis asks for it.
        let chances = line.wdl.unwrap_or(Wdl::DRAW);
        LineRecord {
            rank: line.multi_pv,
            best: pv.first().cloned(),
            best_san: pv_san.first().cloned(),
            score,
            score_white: score.seen_by_white(board.side_to_move()),
            wdl: chances.into(),
            depth: line.depth,
            seldepth: line.seldepth,
            pv,
            pv_san,
        }
    }

    /// Says which move it is about, where it has no moves.
    pub(super) fn name(&mut self, board: &Board, mv: Move) {
        self.best = Some(board.uci_text(mv, false));
        self.best_san = Some(san(board, mv));
    }

    /// What stands where no line was told.
    pub(super) fn of_nothing(board: &Board) -> LineRecord {
        let mated = board.is_checkmate();
        let score = if mated { ScoreText::Mate(0) } else { ScoreText::Centipawns(0) };
        let chances = if mated { Wdl::LOSS } else { Wdl::DRAW };
        LineRecord {
            rank: 1,
            best: None,
            best_san: None,
            score: score.into(),
            score_white: Score::from(score).seen_by_white(board.side_to_move()),
            wdl: chances.into(),
            depth: 0,
            seldepth: None,
            pv: Vec::new(),
            pv_san: Vec::new(),
        }
    }
}
