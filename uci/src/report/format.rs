//! Records as text: JSON, EPD, CSV, and words for people.

use std::fmt::Write as _;

use super::input::Position;
use super::record::{Ending, LineRecord, Origin, Record, Score, SideName, TableRecord};
use crate::protocol::notation::pawns;

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// An object of JSON a line; see [`super::record`].
    Jsonl,
    /// For people.
    Text,
    /// EPD, with the operations that were read and `bm`, `ce` or `dm`, `acd`, `acn`, `pv` and `origin` of the search.
    Epd,
    /// Comma-separated values below a line with their names; the best line only.
    Csv,
}

/// The names of the values of CSV.
const COLUMNS: &str = "index,fen,file,line,game,ply,id,to_move,ending,best,best_san,cp,mate,cp_white,mate_white,win,draw,loss,\
                       depth,seldepth,nodes,pv,tablebase,dtz,engine,limits,network,tables\n";

/// The operation of EPD that tells who searched how.
pub(super) const ORIGIN_OPERATION: &str = "origin";

/// The operations that the search writes, so that old ones are left out.
const OWN_OPERATIONS: [&str; 7] = ["bm", "ce", "dm", "acd", "acn", "pv", ORIGIN_OPERATION];

/// What EPD says of a mate instead of centipawns: this less the half-moves to it.
const EPD_MATE: i32 = 32767;

impl Format {
    /// What stands above all records; may be empty.
    #[must_use]
    pub const fn head(self) -> &'static str {
        match self {
            Format::Csv => COLUMNS,
            _ => "",
        }
    }

    /// A record with its line break.
    #[must_use]
    pub fn write(self, record: &Record, position: &Position) -> String {
        match self {
            Format::Jsonl => json(record),
            Format::Text => text(record),
            Format::Epd => epd(record, position),
            Format::Csv => csv(record),
        }
    }
}

fn json(record: &Record) -> String {
    // All keys are strings and all numbers whole, so there is nothing that could fail.
    serde_json::to_string(record).unwrap_or_default() + "\n"
}

fn text(record: &Record) -> String {
    let source = &record.source;
    let mut text = format!("{}:{}", source.file, source.line);
    for (name, value) in [("game", source.game), ("ply", source.ply.map(u64::from))] {
        if let Some(value) = value {
            let _ = write!(text, ", {name} {value}");
        }
    }
    if let Some(id) = &source.id {
        let _ = write!(text, ", {id}");
    }
    let _ = writeln!(text, "\n  {}", record.fen);
    let winner = match record.to_move {
        SideName::White => "black",
        SideName::Black => "white",
    };
    if let Some(TableRecord { wdl, dtz }) = &record.tablebase {
        let distance = dtz.map_or(String::new(), |dtz| format!(", distance to zero {dtz}"));
        let _ = writeln!(text, "  endgame tables: {wdl} for the side to move{distance}");
    }
    match record.ending {
        Some(Ending::Checkmate) => {
            let _ = writeln!(text, "  checkmate, {winner} wins");
        }
        Some(Ending::Stalemate) => text.push_str("  stalemate\n"),
        None => {}
    }
    for line in &record.lines {
        text.push_str(&text_line(line));
    }
    if record.ending.is_none() && record.lines.iter().all(|line| line.pv.is_empty()) {
        let _ = writeln!(text, "  best move {}", record.best_san.as_deref().unwrap_or("none"));
    }
    text.push('\n');
    text
}

/// A score as white sees it.
pub(super) fn score_in_words(score_white: Score) -> String {
    match score_white {
        Score { mate: Some(moves @ 1..), .. } => format!("white mates in {moves}"),
        Score { mate: Some(moves), .. } => format!("black mates in {}", moves.unsigned_abs()),
        Score { cp, .. } => pawns(cp.unwrap_or_default()),
    }
}

fn text_line(line: &LineRecord) -> String {
    let score = score_in_words(line.score_white);
    format!("  {score:>17}  depth {:>2}  {}\n", line.depth, line.pv_san.join(" "))
}

fn epd(record: &Record, position: &Position) -> String {
    let fields: Vec<&str> = record.fen.split(' ').collect();
    let mut text = fields[..4.min(fields.len())].join(" ");
    let mut add = |opcode: &str, operand: &str| {
        let space = if operand.is_empty() { "" } else { " " };
        let _ = write!(text, " {opcode}{space}{operand};");
    };
    add("acd", &record.depth.to_string());
    add("acn", &record.nodes.to_string());
    if let Some(best) = &record.best_san {
        add("bm", best);
    }
    match record.score {
        Score { mate: Some(moves), .. } => {
            // Mate in n is the winner's n moves and one less of the other side.
            let plies = if moves > 0 { 2 * moves - 1 } else { -2 * moves };
            let size = EPD_MATE - plies;
            add("ce", &(if moves > 0 { size } else { -size }).to_string());
            if moves > 0 {
                add("dm", &moves.to_string());
            }
        }
        Score { cp, .. } => add("ce", &cp.unwrap_or_default().to_string()),
    }
    if !record.pv_san.is_empty() {
        add("pv", &record.pv_san.join(" "));
    }
    add(ORIGIN_OPERATION, &format!("\"{}\"", epd_origin(&record.origin)));
    let has = |name: &str| position.operations.iter().any(|(opcode, _)| opcode == name);
    if let [.., clock, number] = fields[..]
        && fields.len() == 6
        && !(has("hmvc") || has("fmvn") || (clock, number) == ("0", "1"))
    {
        add("hmvc", clock);
        add("fmvn", number);
    }
    for (opcode, operand) in &position.operations {
        if !OWN_OPERATIONS.contains(&opcode.as_str()) {
            add(opcode, operand);
        }
    }
    text + "\n"
}

/// Who searched how, as EPD tells it: within quotation marks, so without any.
pub(super) fn epd_origin(origin: &Origin) -> String {
    origin.to_string().replace('"', "'").replace(['\n', '\r'], " ")
}

fn csv(record: &Record) -> String {
    fn shown<T: ToString>(value: Option<T>) -> String {
        value.map_or_else(String::new, |value| value.to_string())
    }
    let source = &record.source;
    let ending = record.ending.map(|ending| match ending {
        Ending::Checkmate => "checkmate",
        Ending::Stalemate => "stalemate",
    });
    let to_move = match record.to_move {
        SideName::White => "white",
        SideName::Black => "black",
    };
    let values = [
        record.index.to_string(),
        record.fen.clone(),
        source.file.clone(),
        source.line.to_string(),
        shown(source.game),
        shown(source.ply),
        shown(source.id.as_ref()),
        to_move.to_owned(),
        shown(ending),
        shown(record.best.as_ref()),
        shown(record.best_san.as_ref()),
        shown(record.score.cp),
        shown(record.score.mate),
        shown(record.score_white.cp),
        shown(record.score_white.mate),
        record.wdl.win.to_string(),
        record.wdl.draw.to_string(),
        record.wdl.loss.to_string(),
        record.depth.to_string(),
        shown(record.seldepth),
        record.nodes.to_string(),
        record.pv.join(" "),
        shown(record.tablebase.as_ref().map(|told| &told.wdl)),
        shown(record.tablebase.as_ref().and_then(|told| told.dtz)),
        record.origin.engine.clone(),
        record.origin.limits.clone(),
        shown(record.origin.network.as_ref()),
        shown(record.origin.tables.as_ref()),
    ];
    values.map(|value| quoted(&value)).join(",") + "\n"
}

/// A value of CSV, in quotation marks if it needs them. It stays in one line.
fn quoted(value: &str) -> String {
    if !value.contains([',', '"', '\n', '\r']) {
        return value.to_owned();
    }
    format!("\"{}\"", value.replace('"', "\"\"").replace(['\n', '\r'], " "))
}
