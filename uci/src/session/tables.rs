//! The endgame tables of the option `SyzygyPath`, read from its folders.

use std::fmt;
use std::sync::Arc;

use cairn_engine::board::Board;
use cairn_engine::syzygy::{Tables, Wdl};

use crate::protocol::quote;
use crate::session::files::{Checksum, FilePath};

/// What the names of tables end with.
const SUFFIXES: [&str; 2] = [".rtbw", ".rtbz"];

/// Their last bytes tell tables apart: a checksum of the rest, made with the table. All bytes would take
/// minutes to read.
const TOLD_BY: usize = 16;

/// How many faults are told; the others are counted.
const FAULTS_TOLD: usize = 5;

/// What was found.
#[derive(Debug)]
pub struct Chosen {
    /// The tables; none if there is not one of them.
    pub tables: Option<Arc<Tables>>,
    /// What people should know: what was found, and what is wrong with the rest.
    pub remarks: Vec<String>,
    /// What tells these tables from others, if there are any.
    pub checksum: Option<Checksum>,
}

/// The tables in the folders of a path, whose checksum is noted in it. None for the empty path.
#[must_use]
pub fn chosen(path: &mut FilePath) -> Chosen {
    path.note_checksum(None);
    if path.is_empty() {
        return Chosen { tables: None, remarks: Vec::new(), checksum: None };
    }
    let mut tables = Tables::new();
    let mut faults = Vec::new();
    let mut told_by = Vec::new();
    for found in path.map_files(&SUFFIXES) {
        let added = found.and_then(|(name, bytes)| {
            let whole: &[u8] = bytes.as_ref();
            let last = whole[whole.len().saturating_sub(TOLD_BY)..].to_vec();
            let length = whole.len();
            match tables.add(&name, Box::new(bytes)) {
                Ok(true) => Ok(Some((name, length, last))),
                Ok(false) => Ok(None),
                Err(error) => Err(format!("{name}: {error}")),
            }
        });
        match added {
            Ok(added) => told_by.extend(added),
            Err(fault) => faults.push(fault),
        }
    }
    let mut remarks = Vec::new();
    let more = faults.len().saturating_sub(FAULTS_TOLD);
    for fault in faults.into_iter().take(FAULTS_TOLD) {
        remarks.push(format!("SyzygyPath: {}", quote(&fault)));
    }
    if more > 0 {
        remarks.push(format!("SyzygyPath: {more} more like that"));
    }
    if told_by.is_empty() {
        remarks.push("SyzygyPath: no endgame tables were found".into());
        return Chosen { tables: None, remarks, checksum: None };
    }
    told_by.sort();
    let mut all = Vec::new();
    for (name, length, last) in told_by {
        all.extend(name.bytes().chain(length.to_le_bytes()).chain(last));
    }
    let checksum = Some(Checksum::of(&all));
    path.note_checksum(checksum);
    let [wdl, dtz] = tables.counts();
    let most = tables.most_pieces();
    remarks.push(format!(
        "endgame tables: {wdl} of win, draw and loss, up to {most} pieces, and {dtz} of distances"
    ));
    Chosen { tables: Some(Arc::new(tables)), remarks, checksum }
}

/// What the tables say of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What perfect play comes to for the side to move.
    pub wdl: Wdl,
    /// The distance to zero in half-moves, below 0 for the side that loses, where a table of distances tells it.
    pub dtz: Option<i32>,
}

impl Verdict {
    /// The result in a word or two.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.wdl {
            Wdl::Loss => "loss",
            Wdl::BlessedLoss => "blessed loss",
            Wdl::Draw => "draw",
            Wdl::CursedWin => "cursed win",
            Wdl::Win => "win",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        self.dtz.map_or(Ok(()), |distance| write!(f, ", distance to zero {distance}"))
    }
}

/// What the tables say of a position; nothing if they do not know it.
#[must_use]
pub fn verdict(tables: &Tables, board: &Board) -> Option<Verdict> {
    if board.piece_count() as usize > tables.most_pieces() {
        return None;
    }
    let mut board = board.clone();
    let wdl = tables.probe_wdl(&mut board).ok()?;
    Some(Verdict { wdl, dtz: tables.probe_dtz(&mut board).ok() })
}
