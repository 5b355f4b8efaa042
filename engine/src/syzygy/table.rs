//! One table: the layout of its file, and the value that it has for a position.
//!
//! A file begins with four bytes that tell its kind and a byte with its layout. Then come, for each file
//! of the leading pawn and each side to move that it holds, the order of the pieces; how the values are
//! coded; for distances lists that the values are numbers of entries in; and the coded values.
//! It ends with a checksum of 16 bytes, which is not looked at.

use super::index::{self, FILES, Squares};
use super::material::{MOST_PIECES, Material};
use super::pairs::Pairs;
use super::read::{Damaged, Reader, u8_at, u16_at};
use super::{TableError, Wdl};
use crate::attack::at;
use crate::board::Board;
use crate::piece::{Kind, Piece, Side};
use crate::square::Square;
use arrayvec::ArrayVec;

/// What a table knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Metric {
    /// Win, draw or loss.
    Wdl,
    /// The distance to the next capture or pawn move.
    Dtz,
}

impl Metric {
    pub(super) const ALL: [Metric; 2] = [Metric::Wdl, Metric::Dtz];

    /// What the name of a file ends with.
    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Metric::Wdl => ".rtbw",
            Metric::Dtz => ".rtbz",
        }
    }

    const fn magic(self) -> [u8; 4] {
        match self {
            Metric::Wdl => [0x71, 0xe8, 0x23, 0x5d],
            Metric::Dtz => [0xd7, 0x66, 0x0c, 0xa5],
        }
    }
}

/// Files are this many bytes longer than a multiple of [`LENGTH_UNIT`]: the checksum.
const CHECKSUM_BYTES: usize = 16;
const LENGTH_UNIT: usize = 64;

/// The layout: a table has both sides to move, or distances of one.
const SPLIT: u8 = 1;
/// The layout: there are pawns.
const HAS_PAWNS: u8 = 2;

/// Flags of distances: black is to move.
const BLACK_TO_MOVE: u8 = 1;
/// Values are numbers of entries in lists.
const MAPPED: u8 = 2;
/// Distances of wins are in half-moves, not moves.
const WIN_PLIES: u8 = 4;
/// Distances of losses are in half-moves, not moves.
const LOSS_PLIES: u8 = 8;
/// The lists have two bytes an entry.
const WIDE: u8 = 16;

/// The colour of a piece in a file; below it is its kind, pawns 1 to kings 6.
const BLACK: u8 = 8;

/// What turns a square to where the other side sees it.
const FLIP_ROWS: u8 = 0o70;

/// An answer of a table of distances.
pub(super) enum Distance {
    /// So many half-moves, from 1.
    Plies(u16),
    /// The table holds the other side to move only.
    OtherSide,
}

/// Whether these bytes begin and end like a file of this kind.
///
/// # Errors
/// What is wrong with them.
pub(super) fn check(metric: Metric, bytes: &[u8]) -> Result<(), TableError> {
    if !bytes.starts_with(&metric.magic()) {
        return Err(TableError::Foreign);
    }
    if bytes.len() % LENGTH_UNIT != CHECKSUM_BYTES {
        return Err(TableError::Length);
    }
    Ok(())
}

/// A table, read but for its values.
pub(super) struct Table {
    material: Material,
    is_symmetric: bool,
    /// The values by file of the leading pawn, and by side to move.
    parts: Vec<ArrayVec<Part, 2>>,
}

/// The values of one side to move, with the leading pawn on one file.
struct Part {
    /// The pieces in the order in which their squares are counted.
    pieces: ArrayVec<u8, MOST_PIECES>,
    groups: Groups,
    pairs: Pairs,
    /// Where the lists of distances begin: wins, losses, cursed wins, blessed losses.
    maps: [usize; 4],
}

/// How pieces are grouped.
struct Groups {
    /// The number of pieces of each.
    lengths: ArrayVec<usize, MOST_PIECES>,
    /// What the number of each is multiplied with.
    factors: ArrayVec<u64, MOST_PIECES>,
    /// The number of all placements.
    size: u64,
}

impl Table {
    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(
        material: Material,
        metric: Metric,
        bytes: &[u8],
    ) -> Result<Table, TableError> {
        check(metric, bytes)?;
        let end = bytes.len() - CHECKSUM_BYTES;
        let mut reader = Reader { bytes: &bytes[..end], at: metric.magic().len() };
        let layout = reader.u8()?;
        let is_symmetric = material.is_symmetric();
        if (layout & HAS_PAWNS != 0, layout & SPLIT == 0) != (material.has_pawns(), is_symmetric) {
            return Err(TableError::Pieces);
        }
        let sides = if metric == Metric::Wdl && !is_symmetric { 2 } else { 1 };
        let files = if material.has_pawns() { FILES } else { 1 };
        let mut orders = Vec::new();
        for file in 0..files {
            orders.push(read_orders(&mut reader, material, sides, file as u8)?);
        }
        reader.align(2);
        let mut parts = Vec::new();
        for orders in orders {
            let mut by_side = ArrayVec::new();
            for (pieces, groups) in orders {
                let pairs = Pairs::read(&mut reader, groups.size)?;
                by_side.push(Part { pieces, groups, pairs, maps: [0; 4] });
            }
            parts.push(by_side);
        }
        if metric == Metric::Dtz {
            parts.iter_mut().flatten().try_for_each(|part| part.read_maps(&mut reader))?;
            reader.align(2);
        }
        // One kind of data after the other, each for all parts.
        for read in [Pairs::read_sparse_index, Pairs::read_block_lengths, Pairs::read_blocks] {
            parts.iter_mut().flatten().try_for_each(|part| read(&mut part.pairs, &mut reader))?;
        }
        Ok(Table { material, is_symmetric, parts })
    }

    /// Win, draw or loss for the side to move, if nothing is captured now.
    pub(super) fn wdl(&self, bytes: &[u8], board: &Board) -> Result<Wdl, Damaged> {
        let seen = self.see(board)?;
        let part = self.part(&seen)?;
        match part.value(bytes, seen, self.material)? {
            0 => Ok(Wdl::Loss),
            1 => Ok(Wdl::BlessedLoss),
            2 => Ok(Wdl::Draw),
            3 => Ok(Wdl::CursedWin),
            4 => Ok(Wdl::Win),
            _ => Err(Damaged),
        }
    }

    /// The distance to the next capture or pawn move in a position with this value, which is no draw and
    /// not decided by a capture or pawn move now.
    pub(super) fn distance(
        &self,
        bytes: &[u8],
        board: &Board,
        wdl: Wdl,
    ) -> Result<Distance, Damaged> {
        let seen = self.see(board)?;
        let part = self.part(&seen)?;
        let flags = part.pairs.flags;
        let holds_both = self.is_symmetric && !self.material.has_pawns();
        if !holds_both && (flags & BLACK_TO_MOVE != 0) != (seen.to_move == Side::Black) {
            return Ok(Distance::OtherSide);
        }
        let (map, in_plies) = match wdl {
            Wdl::Win => (0, flags & WIN_PLIES != 0),
            Wdl::Loss => (1, flags & LOSS_PLIES != 0),
            Wdl::CursedWin => (2, false),
            Wdl::BlessedLoss => (3, false),
            Wdl::Draw => return Err(Damaged),
        };
        let start = part.maps[map];
        let mut value = part.value(bytes, seen, self.material)?;
        if flags & MAPPED != 0 {
            value = if flags & WIDE != 0 {
                u16_at(bytes, start + 2 * usize::from(value))?
            } else {
                u8_at(bytes, start + usize::from(value))?.into()
            };
        }
        let plies = if in_plies { value } else { value.checked_mul(2).ok_or(Damaged)? };
        Ok(Distance::Plies(plies.checked_add(1).ok_or(Damaged)?))
    }

    /// The pieces of a board as the table's: white has those before the `v` of its name.
    fn see(&self, board: &Board) -> Result<Seen, Damaged> {
        let flipped = Material::of(board) != self.material
            || (self.is_symmetric && board.side_to_move() == Side::Black);
        let mut seen = Seen {
            pieces: ArrayVec::new(),
            squares: Squares::new(),
            to_move: if flipped { board.side_to_move().other() } else { board.side_to_move() },
        };
        for side in Side::ALL {
            let list = board.list(side);
            for square in list.squares_of(list.all()) {
                let piece = Piece::from_raw_occupied(at(board.squares(), square));
                let square = Square::from_index_masked(square).compact() ^ FLIP_ROWS;
                let turn = if flipped { (BLACK, FLIP_ROWS) } else { (0, 0) };
                seen.pieces.try_push(code(piece) ^ turn.0).map_err(|_| Damaged)?;
                seen.squares.try_push(square ^ turn.1).map_err(|_| Damaged)?;
            }
        }
        Ok(seen)
    }

    /// The part that holds a position.
    fn part(&self, seen: &Seen) -> Result<&Part, Damaged> {
        let first = self.parts.first().and_then(|sides| sides.first()).ok_or(Damaged)?;
        let file = if self.material.has_pawns() {
            let square = first.leading_pawn(seen).ok_or(Damaged)?;
            let file = square & 7;
            file.min(7 - file)
        } else {
            0
        };
        let sides = self.parts.get(usize::from(file)).ok_or(Damaged)?;
        let side = if sides.len() > 1 { seen.to_move.index() } else { 0 };
        sides.get(side).ok_or(Damaged)
    }
}

/// A position as a table sees it.
struct Seen {
    pieces: ArrayVec<u8, MOST_PIECES>,
    /// Their squares.
    squares: Squares,
    to_move: Side,
}

/// A piece as files have it.
fn code(piece: Piece) -> u8 {
    let colour = if piece.side() == Side::Black { BLACK } else { 0 };
    piece.kind().compact() as u8 + 1 + colour
}

/// The pieces in their order, with their groups, for each side to move.
type Orders = ArrayVec<(ArrayVec<u8, MOST_PIECES>, Groups), 2>;

/// Reads the order of the pieces with the leading pawn on this file.
fn read_orders(
    reader: &mut Reader<'_>,
    material: Material,
    sides: u32,
    file: u8,
) -> Result<Orders, TableError> {
    // Each byte has one half for each side to move.
    let half = |byte: u8, side: u32| byte >> (4 * side) & 0xf;
    let leading = reader.u8()?;
    let both_have_pawns = Side::ALL.into_iter().all(|side| material.has_pawns_of(side));
    let other_pawns = if both_have_pawns { Some(reader.u8()?) } else { None };
    let start = reader.skip(material.pieces() as u64, 1)?;
    let bytes = &reader.bytes[start..reader.at];
    let order_of = |side| {
        let pieces: ArrayVec<u8, MOST_PIECES> =
            bytes.iter().map(|&byte| half(byte, side)).collect();
        let is_of = |piece: Piece| {
            let found = pieces.iter().filter(|&&other| other == code(piece)).count();
            found as u64 == material.count(piece)
        };
        if !Piece::all().all(is_of) {
            return Err(TableError::Pieces);
        }
        let places = [Some(half(leading, side)), other_pawns.map(|byte| half(byte, side))];
        let groups =
            Groups::of(&pieces, material, places.map(|place| place.map(usize::from)), file);
        Ok((pieces, groups?))
    };
    (0..sides).map(order_of).collect()
}

impl Groups {
    /// The groups of pieces in this order. `places` says when the leading group and, where both sides have
    /// pawns, those of the other side are counted.
    fn of(
        pieces: &[u8],
        material: Material,
        places: [Option<usize>; 2],
        file: u8,
    ) -> Result<Groups, Damaged> {
        let is_pawn = |piece: u8| piece & !BLACK == code(Piece::new(Side::White, Kind::WhitePawn));
        let leading = match (material.has_pawns(), material.has_single_piece()) {
            (true, _) => 1,
            (false, true) => 3,
            (false, false) => 2,
        };
        let mut lengths: ArrayVec<usize, MOST_PIECES> = ArrayVec::new();
        for (i, &piece) in pieces.iter().enumerate() {
            match lengths.last_mut() {
                Some(last) if i < leading || piece == pieces[i - 1] => *last += 1,
                _ => lengths.push(1),
            }
        }
        let first = lengths[0];
        let second_has_pawns = places[1].is_some();
        let pawns_first = is_pawn(pieces[0]) == material.has_pawns();
        let pawns_second = pieces.get(first).is_some_and(|&piece| is_pawn(piece));
        if !pawns_first || pawns_second != second_has_pawns {
            return Err(Damaged);
        }
        let mut factors: ArrayVec<u64, MOST_PIECES> = lengths.iter().map(|_| 0).collect();
        let mut others = 1 + usize::from(second_has_pawns)..lengths.len();
        let mut free = 64 - lengths[..others.start].iter().sum::<usize>();
        let mut size = 1u64;
        for place in 0..lengths.len() {
            let (group, count) = if places[0] == Some(place) {
                let count = match (material.has_pawns(), leading) {
                    (true, _) => index::all_leading_pawns(first, file),
                    (false, 3) => index::THREE_PIECES,
                    (false, _) => index::TWO_KINGS,
                };
                (0, count)
            } else if places[1] == Some(place) {
                (1, index::choose(lengths[1], index::PAWN_SQUARES - first))
            } else {
                let group = others.next().ok_or(Damaged)?;
                let count = index::choose(lengths[group], free);
                free -= lengths[group];
                (group, count)
            };
            factors[group] = size;
            size = size.checked_mul(count).ok_or(Damaged)?;
        }
        Ok(Groups { lengths, factors, size })
    }
}

impl Part {
    fn read_maps(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        let flags = self.pairs.flags;
        if flags & MAPPED == 0 {
            return Ok(());
        }
        if flags & WIDE != 0 {
            reader.align(2);
        }
        for map in &mut self.maps {
            let (count, size) =
                if flags & WIDE != 0 { (reader.u16()?, 2) } else { (reader.u8()?.into(), 1) };
            *map = reader.skip(count.into(), size)?;
        }
        Ok(())
    }

    /// The square of the leading pawn, before mirroring.
    fn leading_pawn(&self, seen: &Seen) -> Option<u8> {
        let leading = *self.pieces.first()?;
        let all = seen.pieces.iter().zip(&seen.squares);
        let pawns = all.filter(|&(&piece, _)| piece == leading).map(|(_, &square)| square);
        pawns.max_by_key(|&square| index::pawn_order(square))
    }

    /// The stored value of a position.
    fn value(&self, bytes: &[u8], seen: Seen, material: Material) -> Result<u16, Damaged> {
        let index = self.index(seen, material).ok_or(Damaged)?;
        self.pairs.value(bytes, index)
    }

    /// The number of a position.
    fn index(&self, mut seen: Seen, material: Material) -> Option<u64> {
        let mut squares = Squares::new();
        if material.has_pawns() {
            squares.push(self.leading_pawn(&seen)?);
        }
        for (i, &wanted) in self.pieces.iter().enumerate() {
            let leading = squares.first().copied().filter(|_| i == 0);
            let found = (0..seen.pieces.len()).find(|&at| {
                seen.pieces[at] == wanted && leading.is_none_or(|square| seen.squares[at] == square)
            })?;
            seen.pieces.swap_remove(found);
            let square = seen.squares.swap_remove(found);
            if leading.is_none() {
                squares.push(square);
            }
        }
        let first = self.groups.lengths[0];
        let number = if material.has_pawns() {
            index::mirror_files(&mut squares);
            index::pawns_number(&mut squares[..first])
        } else {
            index::mirror(&mut squares, first);
            match squares[..first] {
                [a, b] => index::kings_number(a, b)?,
                [a, b, c] => index::three_number([a, b, c]),
                _ => return None,
            }
        };
        let mut sum = number.checked_mul(self.groups.factors[0])?;
        let mut start = first;
        let groups = self.groups.lengths.iter().zip(&self.groups.factors).skip(1);
        for (number, (&length, factor)) in groups.enumerate() {
            let (before, rest) = squares.split_at_mut(start);
            let pawns =
                number == 0 && Side::ALL.into_iter().all(|side| material.has_pawns_of(side));
            let number = index::group_number(before, &mut rest[..length], pawns)?;
            sum = sum.checked_add(number.checked_mul(*factor)?)?;
            start += length;
        }
        Some(sum)
    }
}
