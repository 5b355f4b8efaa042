//! Endgame tables: what perfect play comes to in positions of few pieces, read from Syzygy tables.
//!
//! For each ending there are two files, named after its pieces. That of win, draw and loss (`KQvK.rtbw`)
//! says how the game ends, that of distances (`KQvK.rtbz`) in how many half-moves the side that wins gets
//! to the next capture or pawn move. The tables know the 50-move rule: a win that comes too late
//! is a [`Wdl::CursedWin`], a draw unless that rule is off.
//!
//! A table holds no castling rights and no en passant, and where a capture is best it may hold anything that
//! compresses well. So a probe searches captures, too, and a probe of a distance all moves where the table has
//! the other side to move.
//!
//! What is here works on bytes and opens no file. It does not trust them: each index is checked, and what
//! is damaged is an error, told once by [`Tables::complaints`].
//!
//! The tables and their format are by Ronald de Man, <https://github.com/syzygy1/tb>; described at
//! <https://www.chessprogramming.org/Syzygy_Bases>. How root moves are ranked follows Stockfish.
//!
//! | file | holds |
//! |---|---|
//! | `material` | which pieces an ending has, and its name |
//! | `read` | numbers out of bytes |
//! | `pairs` | the compression |
//! | `index` | the number of a placement of pieces |
//! | `table` | the layout of a file, and the value of a position |
//! | `probe` | what captures and single moves add to it |
//! | `root` | which moves of a root keep what it is worth |

mod index;
mod material;
mod pairs;
mod probe;
mod read;
mod root;
mod table;

use crate::board::Board;
pub use material::MOST_PIECES;
use material::Material;
use read::Damaged;
pub use root::{RankedMove, RootVerdict};
use std::collections::HashMap;
use std::fmt;
use std::ops::Neg;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use table::{Distance, Metric, Table};

/// What perfect play comes to for the side to move.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(i8)]
pub enum Wdl {
    /// It loses.
    Loss = -2,
    /// It loses, but the 50-move rule saves it.
    BlessedLoss = -1,
    /// A draw.
    Draw = 0,
    /// It wins, but for the 50-move rule.
    CursedWin = 1,
    /// It wins.
    Win = 2,
}

impl Neg for Wdl {
    type Output = Wdl;

    fn neg(self) -> Wdl {
        match self {
            Wdl::Loss => Wdl::Win,
            Wdl::BlessedLoss => Wdl::CursedWin,
            Wdl::Draw => Wdl::Draw,
            Wdl::CursedWin => Wdl::BlessedLoss,
            Wdl::Win => Wdl::Loss,
        }
    }
}

/// Why a file is refused as a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableError {
    /// Its name is not that of a table, such as `KQvKR.rtbw`.
    Name,
    /// It does not begin as a table of this kind does.
    Foreign,
    /// Its length is not that of a table.
    Length,
    /// It is of other pieces than its name says.
    Pieces,
    /// What it holds makes no sense.
    Damaged,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TableError::Name => "its name is not that of an endgame table",
            TableError::Foreign => "it is no endgame table",
            TableError::Length => "it is truncated or damaged: no table has its length",
            TableError::Pieces => "it is of other pieces than its name says, or damaged",
            TableError::Damaged => "it is truncated or damaged",
        })
    }
}

impl std::error::Error for TableError {}

impl From<Damaged> for TableError {
    fn from(Damaged: Damaged) -> TableError {
        TableError::Damaged
    }
}

/// Why tables have no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProbeError {
    /// Someone can castle.
    Castling,
    /// There is no table for the position, or for one after a capture that has to be looked at.
    Missing,
    /// A table that it takes is damaged.
    Damaged,
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ProbeError::Castling => "tables know no castling",
            ProbeError::Missing => "a table is missing",
            ProbeError::Damaged => "a table is damaged",
        })
    }
}

impl std::error::Error for ProbeError {}

impl From<Damaged> for ProbeError {
    fn from(Damaged: Damaged) -> ProbeError {
        ProbeError::Damaged
    }
}

/// The bytes of a file, in memory or mapped into it.
pub type Bytes = Box<dyn AsRef<[u8]> + Send + Sync>;

/// A set of tables. Threads may probe it at the same time.
#[derive(Default)]
pub struct Tables {
    files: Vec<File>,
    /// The file of each ending, with either side as white.
    wdl: HashMap<Material, usize>,
    dtz: HashMap<Material, usize>,
    most_pieces: usize,
}

/// A file that was added. It is read when it is first asked.
struct File {
    material: Material,
    metric: Metric,
    bytes: Bytes,
    table: OnceLock<Result<Table, TableError>>,
    /// A value in it made no sense. Others are asked for all the same: which of them have an answer must not depend on
    /// what was asked for before.
    is_damaged: AtomicBool,
    /// [`Tables::complaints`] has told what is wrong with it.
    is_told: AtomicBool,
}

impl Tables {
    /// No tables.
    #[must_use]
    pub fn new() -> Tables {
        Tables::default()
    }

    /// Adds a file, named as it was made: the pieces of both sides, and what it knows. Returns false if there
    /// was one for this ending already, which is kept.
    ///
    /// # Errors
    /// If its name, beginning or length is not that of a table; what lies deeper is seen when it is used.
    pub fn add(&mut self, name: &str, bytes: Bytes) -> Result<bool, TableError> {
        let named = |metric: Metric| Some((metric, name.strip_suffix(metric.suffix())?));
        let (metric, stem) = Metric::ALL.into_iter().find_map(named).ok_or(TableError::Name)?;
        let material = Material::from_name(stem).ok_or(TableError::Name)?;
        table::check(metric, (*bytes).as_ref())?;
        let by_material = self.by_material(metric);
        if by_material.contains_key(&material) {
            return Ok(false);
        }
        let number = self.files.len();
        let by_material = self.by_material_mut(metric);
        by_material.insert(material, number);
        by_material.insert(material.flipped(), number);
        if metric == Metric::Wdl {
            self.most_pieces = self.most_pieces.max(material.pieces());
        }
        self.files.push(File {
            material,
            metric,
            bytes,
            table: OnceLock::new(),
            is_damaged: AtomicBool::new(false),
            is_told: AtomicBool::new(false),
        });
        Ok(true)
    }

    /// The number of files that say win, draw or loss, and of those with distances.
    #[must_use]
    pub fn counts(&self) -> [usize; 2] {
        Metric::ALL.map(|metric| self.files.iter().filter(|file| file.metric == metric).count())
    }

    /// The pieces of the largest ending that there is a table of win, draw or loss for, kings included; 0
    /// without any.
    #[must_use]
    pub const fn most_pieces(&self) -> usize {
        self.most_pieces
    }

    /// What was found wrong with files since this was last asked, each file once.
    #[must_use]
    pub fn complaints(&self) -> Vec<String> {
        let complain = |file: &File| {
            let error = match file.table.get()? {
                Err(error) => *error,
                Ok(_) if file.is_damaged.load(Ordering::Relaxed) => TableError::Damaged,
                Ok(_) => return None,
            };
            let is_new = !file.is_told.swap(true, Ordering::Relaxed);
            is_new.then(|| format!("{}{}: {error}", file.material, file.metric.suffix()))
        };
        self.files.iter().filter_map(complain).collect()
    }

    fn by_material(&self, metric: Metric) -> &HashMap<Material, usize> {
        match metric {
            Metric::Wdl => &self.wdl,
            Metric::Dtz => &self.dtz,
        }
    }

    fn by_material_mut(&mut self, metric: Metric) -> &mut HashMap<Material, usize> {
        match metric {
            Metric::Wdl => &mut self.wdl,
            Metric::Dtz => &mut self.dtz,
        }
    }

    /// What a table says, if `look` finds it there.
    fn ask<T>(
        &self,
        metric: Metric,
        board: &Board,
        look: impl FnOnce(&Table, &[u8]) -> Result<T, Damaged>,
    ) -> Result<T, ProbeError> {
        let number = self.by_material(metric).get(&Material::of(board));
        let file = number.and_then(|&number| self.files.get(number)).ok_or(ProbeError::Missing)?;
        let bytes = (*file.bytes).as_ref();
        let table = file.table.get_or_init(|| Table::read(file.material, metric, bytes));
        let Ok(table) = table else { return Err(ProbeError::Damaged) };
        look(table, bytes).map_err(|damaged| {
            file.is_damaged.store(true, Ordering::Relaxed);
            damaged.into()
        })
    }

    /// Win, draw or loss as the table has it, which may be wrong where captures count.
    fn stored_wdl(&self, board: &Board) -> Result<Wdl, ProbeError> {
        self.ask(Metric::Wdl, board, |table, bytes| table.wdl(bytes, board))
    }

    /// The distance as the table has it.
    fn stored_distance(&self, board: &Board, wdl: Wdl) -> Result<Distance, ProbeError> {
        self.ask(Metric::Dtz, board, |table, bytes| table.distance(bytes, board, wdl))
    }
}

impl fmt::Debug for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [wdl, dtz] = self.counts();
        write!(f, "Tables({wdl} + {dtz})")
    }
}
