//! What the strong search has learnt, as bytes: hash table and histories, to go on another day as if nothing had
//! happened.
//!
//! ```text
//! bytes  what (little-endian)
//! 0      magic CAIRNHT1, the last letter being the version of the format
//! 8      u32: length of the header (80), format of the entries, MiB of hash memory, threads, 1 if they are
//!        deterministic and have a table each or else 0, number of the last search (1 to 65535)
//! 32     u64: checksum of the network, 0 if there is none
//! 40     u64: a key of the starting position, which tells other Zobrist numbers
//! 48     u64: length of what follows the header, without its checksum
//! 56     zeros
//! 76     u32: CRC-32 of the header before
//! 80     for each table its slots, 8 bytes each
//!        for each thread u64: 1 and its histories, i16 each, or 0 if it has none
//!        u32: CRC-32 of what follows the header
//! ```
//!
//! All of it is checked before anything is replaced, so it is read twice, in pieces.

use super::cairn::Cairn;
use super::history::Histories;
use super::tt::{self, CairnTable};
use crate::board::Board;
use std::fmt;

/// The most bytes that are read or written at once.
const PIECE: usize = 1 << 20;

const MAGIC: [u8; 8] = *b"CAIRNHT1";
const HEADER: usize = 80;
/// What an entry or a history means; another number whenever that changes.
const ENTRIES: u32 = 1;

/// How every file of saved work begins, of whatever version.
pub const ANY_MAGIC: &[u8] = MAGIC.split_at(MAGIC.len() - 1).0;

/// Why saved work is refused, or nothing can be saved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SavedRefusal {
    /// Other first bytes than saved work has.
    Foreign,
    /// Saved work in another version of the format, or with entries that mean something else.
    Version,
    /// The style keeps nothing from one search for the next.
    Style,
    /// It is of a hash table with so many MiB.
    Hash(u32),
    /// It is of other threads.
    Threads {
        /// How many.
        number: u32,
        /// Whether they have a table each.
        deterministic: bool,
    },
    /// It was found with another network, with this checksum; 0 for none.
    Network(u64),
    /// Bytes follow its end.
    Long,
    /// The bytes are not those that were written, or say what no search says.
    Damaged,
}

impl fmt::Display for SavedRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SavedRefusal::Foreign => f.write_str("no saved work of Cairn"),
            SavedRefusal::Version => f.write_str("saved by another version of Cairn"),
            SavedRefusal::Style => f.write_str("the style keeps nothing for its next search"),
            SavedRefusal::Hash(mebibytes) => write!(f, "of a hash table with {mebibytes} MiB"),
            SavedRefusal::Threads { number: 1, .. } => f.write_str("of 1 thread"),
            SavedRefusal::Threads { number, deterministic: true } => {
                write!(f, "of {number} deterministic threads")
            }
            SavedRefusal::Threads { number, .. } => write!(f, "of {number} free threads"),
            SavedRefusal::Network(0) => f.write_str("found without a network"),
            SavedRefusal::Network(checksum) => {
                write!(f, "found with the network with checksum {checksum:016x}")
            }
            SavedRefusal::Long => f.write_str("longer than it should be"),
            SavedRefusal::Damaged => f.write_str("damaged: its checksum is wrong"),
        }
    }
}

impl std::error::Error for SavedRefusal {}

/// Why saving or loading has failed.
#[derive(Debug)]
pub enum SavedError<E> {
    /// What the caller's reading or writing said.
    Stream(E),
    /// What is wrong with it.
    Refused(SavedRefusal),
    /// It was not the same when it was read again: what was learnt is forgotten.
    Changed,
}

impl<E> From<SavedRefusal> for SavedError<E> {
    fn from(refusal: SavedRefusal) -> SavedError<E> {
        SavedError::Refused(refusal)
    }
}

/// Fills a slice with the bytes that come next.
pub type Get<'a, E> = dyn FnMut(&mut [u8]) -> Result<(), E> + 'a;

/// Takes the bytes that come next.
pub type Put<'a, E> = dyn FnMut(&[u8]) -> Result<(), E> + 'a;

/// What tells one piece of saved work from another: both of its checksums.
const fn identity(header: u32, body: u32) -> u64 {
    (header as u64) << 32 | body as u64
}

/// Reads saved work to its end, whatever it fits. Returns what tells it from other work.
///
/// # Errors
/// If it is none or damaged, or it cannot be read.
pub fn identity_of<E>(get: &mut Get<'_, E>) -> Result<u64, SavedError<E>> {
    let (header, checksum) = Header::read(get)?;
    let mut input = Input::new(get, header.length);
    while input.left > 0 {
        input.next(input.left.min(PIECE as u64) as usize)?;
    }
    input.finish().map(|body| identity(checksum, body))
}

/// What saved work is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Header {
    mebibytes: u32,
    threads: u32,
    own_tables: bool,
    generation: u16,
    network: u64,
    /// The bytes between header and last checksum.
    length: u64,
}

impl Header {
    /// What is to be saved.
    fn of(cairn: &Cairn, network: u64) -> Header {
        let slots: u64 = cairn.tables.iter().map(|table| table.len_bytes() as u64).sum();
        let histories = |histories: &Histories| {
            2 * histories.parts().map(|part| part.len()).iter().sum::<usize>()
        };
        let of_threads: u64 =
            cairn.all_histories().map(|known| 8 + known.map_or(0, histories) as u64).sum();
        Header {
            mebibytes: cairn.hash_mib() as u32,
            threads: cairn.helpers.len() as u32 + 1,
            own_tables: cairn.tables.len() > 1,
            generation: cairn.tables[0].generation(),
            network,
            length: slots + of_threads,
        }
    }

    fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(&MAGIC);
        let numbers = [
            HEADER as u32,
            ENTRIES,
            self.mebibytes,
            self.threads,
            u32::from(self.own_tables),
            u32::from(self.generation),
        ];
        for (place, number) in bytes[8..32].chunks_exact_mut(4).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        for (place, number) in
            bytes[32..56].chunks_exact_mut(8).zip([self.network, keys(), self.length])
        {
            place.copy_from_slice(&number.to_le_bytes());
        }
        let checksum = crc32fast::hash(&bytes[..HEADER - 4]);
        bytes[HEADER - 4..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads a header. Returns its checksum, too.
    fn read<E>(get: &mut Get<'_, E>) -> Result<(Header, u32), SavedError<E>> {
        let mut bytes = [0; HEADER];
        get(&mut bytes[..MAGIC.len()]).map_err(SavedError::Stream)?;
        if !bytes.starts_with(ANY_MAGIC) {
            return Err(SavedRefusal::Foreign.into());
        }
        if !bytes.starts_with(&MAGIC) {
            return Err(SavedRefusal::Version.into());
        }
        get(&mut bytes[MAGIC.len()..]).map_err(SavedError::Stream)?;
        let small = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let large = |at: usize| u64::from(small(at)) | u64::from(small(at + 4)) << 32;
        let checksum = crc32fast::hash(&bytes[..HEADER - 4]);
        if small(HEADER - 4) != checksum {
            return Err(SavedRefusal::Damaged.into());
        }
        if (small(8), small(12), large(40)) != (HEADER as u32, ENTRIES, keys()) {
            return Err(SavedRefusal::Version.into());
        }
        let generation = u16::try_from(small(28)).ok().filter(|&number| number > 0);
        let header = Header {
            mebibytes: small(16),
            threads: small(20),
            own_tables: small(24) != 0,
            generation: generation.ok_or(SavedRefusal::Damaged)?,
            network: large(32),
            length: large(48),
        };
        Ok((header, checksum))
    }

    /// Whether it can be gone on with as things are.
    fn check(&self, now: &Header) -> Result<(), SavedRefusal> {
        if self.mebibytes != now.mebibytes {
            return Err(SavedRefusal::Hash(self.mebibytes));
        }
        if (self.threads, self.own_tables) != (now.threads, now.own_tables) {
            let deterministic = self.own_tables;
            return Err(SavedRefusal::Threads { number: self.threads, deterministic });
        }
        if self.network != now.network {
            return Err(SavedRefusal::Network(self.network));
        }
        Ok(())
    }
}

/// A key of the starting position.
fn keys() -> u64 {
    let keys = Board::startpos().keys();
    keys.index ^ keys.lock.rotate_left(32)
}

/// What follows the header, as it is read.
struct Input<'a, 'b, E> {
    get: &'a mut Get<'b, E>,
    left: u64,
    checksum: crc32fast::Hasher,
    piece: Vec<u8>,
}

impl<'a, 'b, E> Input<'a, 'b, E> {
    fn new(get: &'a mut Get<'b, E>, length: u64) -> Input<'a, 'b, E> {
        Input { get, left: length, checksum: crc32fast::Hasher::new(), piece: vec![0; PIECE] }
    }

    /// The next bytes, so many; at most a piece.
    fn next(&mut self, length: usize) -> Result<&[u8], SavedError<E>> {
        self.left = self.left.checked_sub(length as u64).ok_or(SavedRefusal::Damaged)?;
        let piece = &mut self.piece[..length];
        (self.get)(piece).map_err(SavedError::Stream)?;
        self.checksum.update(piece);
        Ok(piece)
    }

    /// Reads the last checksum and compares it.
    fn finish(self) -> Result<u32, SavedError<E>> {
        let mut last = [0; 4];
        (self.get)(&mut last).map_err(SavedError::Stream)?;
        let checksum = self.checksum.finalize();
        if self.left > 0 || u32::from_le_bytes(last) != checksum {
            return Err(SavedRefusal::Damaged.into());
        }
        Ok(checksum)
    }
}

/// Where a piece belongs.
#[derive(Clone, Copy)]
enum Place {
    /// Slots of a table, from this byte on.
    Slots { table: usize, from: usize },
    /// A thread has histories, or none.
    Thread { number: usize, learnt: bool },
    /// Numbers of a part of a thread's histories, from this one on.
    Numbers { thread: usize, part: usize, from: usize },
}

/// Takes a piece.
type Take<'a> = dyn FnMut(Place, &[u8]) -> Result<(), SavedRefusal> + 'a;

/// How much of everything there is.
struct Shape {
    /// The bytes of each table.
    tables: Vec<usize>,
    threads: usize,
    /// The numbers of each part of the histories of a thread.
    parts: [usize; 6],
}

impl Shape {
    fn of(cairn: &Cairn) -> Shape {
        Shape {
            tables: cairn.tables.iter().map(CairnTable::len_bytes).collect(),
            threads: cairn.helpers.len() + 1,
            parts: cairn.histories.parts().map(<[i16]>::len),
        }
    }

    /// Reads what follows the header piece by piece to its end.
    fn read<E>(
        &self,
        length: u64,
        get: &mut Get<'_, E>,
        take: &mut Take<'_>,
    ) -> Result<u32, SavedError<E>> {
        let mut input = Input::new(get, length);
        for (table, &bytes) in self.tables.iter().enumerate() {
            for from in (0..bytes).step_by(PIECE) {
                take(Place::Slots { table, from }, input.next(PIECE.min(bytes - from))?)?;
            }
        }
        for thread in 0..self.threads {
            let learnt = match input.next(8)? {
                [0, 0, 0, 0, 0, 0, 0, 0] => false,
                [1, 0, 0, 0, 0, 0, 0, 0] => true,
                _ => return Err(SavedRefusal::Damaged.into()),
            };
            take(Place::Thread { number: thread, learnt }, &[])?;
            for (part, count) in self.parts.into_iter().enumerate().filter(|_| learnt) {
                for from in (0..count).step_by(PIECE / 2) {
                    let piece = input.next(2 * (PIECE / 2).min(count - from))?;
                    take(Place::Numbers { thread, part, from }, piece)?;
                }
            }
        }
        input.finish()
    }
}

/// Whether a piece says what a search could say.
fn check(place: Place, piece: &[u8]) -> Result<(), SavedRefusal> {
    let is_sound = match place {
        Place::Slots { .. } => words(piece).all(tt::is_sound),
        // The leader always has histories.
        Place::Thread { number, learnt } => learnt || number > 0,
        Place::Numbers { part, .. } => {
            let most = Histories::LIMITS[part];
            numbers(piece).all(|number| i32::from(number).abs() <= most)
        }
    };
    if is_sound { Ok(()) } else { Err(SavedRefusal::Damaged) }
}

/// Puts a piece in its place.
fn replace(cairn: &mut Cairn, place: Place, piece: &[u8]) {
    match place {
        Place::Slots { table, from } => cairn.tables[table].write_bytes(from, piece),
        Place::Thread { number: 0, .. } => {}
        Place::Thread { number, learnt } => {
            cairn.helpers[number - 1] = learnt.then(Histories::new);
        }
        Place::Numbers { thread, part, from } => {
            let histories = match thread.checked_sub(1) {
                None => Some(&mut cairn.histories),
                Some(helper) => cairn.helpers[helper].as_mut(),
            };
            if let Some(histories) = histories {
                let part = &mut histories.parts_mut()[part][from..];
                for (place, number) in part.iter_mut().zip(numbers(piece)) {
                    *place = number;
                }
            }
        }
    }
}

/// A piece as words of tables.
fn words(piece: &[u8]) -> impl Iterator<Item = u64> {
    piece.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes))
}

/// A piece as numbers of histories.
fn numbers(piece: &[u8]) -> impl Iterator<Item = i16> {
    piece.as_chunks().0.iter().map(|&bytes| i16::from_le_bytes(bytes))
}

impl Cairn {
    /// The histories of all threads, the leader's first; none where a helper has not searched yet.
    fn all_histories(&self) -> impl Iterator<Item = Option<&Histories>> {
        let helpers = self.helpers.iter().map(Option::as_deref);
        std::iter::once(Some(&*self.histories)).chain(helpers)
    }

    /// Saves all that was learnt. Returns what tells it from other work.
    pub(super) fn save<E>(&self, network: u64, put: &mut Put<'_, E>) -> Result<u64, E> {
        let header = Header::of(self, network).to_bytes();
        put(&header)?;
        let mut checksum = crc32fast::Hasher::new();
        let mut put_checked = |piece: &[u8]| {
            checksum.update(piece);
            put(piece)
        };
        let mut piece = vec![0; PIECE];
        for table in &self.tables {
            let bytes = table.len_bytes();
            for from in (0..bytes).step_by(PIECE) {
                let piece = &mut piece[..PIECE.min(bytes - from)];
                table.read_bytes(from, piece);
                put_checked(piece)?;
            }
        }
        for histories in self.all_histories() {
            put_checked(&u64::from(histories.is_some()).to_le_bytes())?;
            for part in histories.iter().flat_map(|histories| histories.parts()) {
                for numbers in part.chunks(PIECE / 2) {
                    piece.clear();
                    piece.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
                    put_checked(&piece)?;
                }
            }
        }
        let body = checksum.finalize();
        put(&body.to_le_bytes())?;
        Ok(identity(crc32fast::hash(&header[..HEADER - 4]), body))
    }

    /// Whether [`Self::load`] would take this work. Changes nothing.
    pub(super) fn check_saved<E>(
        &self,
        network: u64,
        get: &mut Get<'_, E>,
    ) -> Result<u64, SavedError<E>> {
        let (header, checksum) = Header::read(get)?;
        header.check(&Header::of(self, network))?;
        let body = Shape::of(self).read(header.length, get, &mut check)?;
        Ok(identity(checksum, body))
    }

    /// Replaces all that was learnt by work that was checked before and has this identity. If it has changed since
    /// then, everything is forgotten.
    pub(super) fn load<E>(
        &mut self,
        checked: u64,
        get: &mut Get<'_, E>,
    ) -> Result<(), SavedError<E>> {
        let loaded = Header::read(get).and_then(|(header, checksum)| {
            let body = Shape::of(self).read(header.length, get, &mut |place, piece| {
                replace(self, place, piece);
                Ok(())
            })?;
            self.tables.iter_mut().for_each(|table| table.set_generation(header.generation));
            Ok(identity(checksum, body))
        });
        if loaded.is_ok_and(|loaded| loaded == checked) {
            return Ok(());
        }
        self.clear_until(&mut || false);
        Err(SavedError::Changed)
    }
}
