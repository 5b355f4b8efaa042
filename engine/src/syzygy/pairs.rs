//! The compression of a table: recursive pairing, then a canonical Huffman code, in blocks.
//!
//! A symbol stands for one value or for two other symbols, so that each unfolds to a run of 1 to 256 values.
//! The symbols are written with codes of different lengths into blocks of equal size, each of which
//! begins anew. A sparse index names for every so many positions the block in which one of them is and
//! its place there; a list of the number of values in each block leads on from there. Sources:
//! <https://en.wikipedia.org/wiki/Re-Pair>, <https://en.wikipedia.org/wiki/Canonical_Huffman_code>.

use super::read::{Damaged, Reader, u8_at, u16_at, u32_at};

/// A table of one value only is stored as this value.
const SINGLE_VALUE: u8 = 0x80;

/// The right half of a symbol that is a value.
const NO_SYMBOL: u16 = 0xfff;

/// The longest code of a symbol, in bits.
const LONGEST_CODE: u8 = 32;

/// A symbol unfolds to at most one more than this many values.
const LARGEST_RUN: u8 = u8::MAX;

/// The bytes of an entry of the sparse index: a block in four and a place in two.
const SPARSE_BYTES: u64 = 6;

/// The bytes of a symbol: its left and right half with 12 bits each.
const SYMBOL_BYTES: usize = 3;

/// Blocks begin at a multiple of this.
const BLOCK_ALIGNMENT: usize = 64;

/// The compressed values of one side to move.
pub(super) struct Pairs {
    /// What kind of values these are, in bits.
    pub(super) flags: u8,
    coding: Coding,
}

enum Coding {
    Single(u8),
    Blocks(Box<Blocks>),
}

/// Where the parts of the compressed values are in the file, and how their codes are read.
struct Blocks {
    /// Two to this power is the bytes of a block.
    size_bits: u8,
    /// So many positions share an entry of the sparse index.
    span: u64,
    sparse_count: u64,
    sparse_at: usize,
    /// The number of entries in the list of values in each block.
    length_count: u64,
    lengths_at: usize,
    block_count: u32,
    data_at: usize,
    /// The length of the shortest code, in bits.
    shortest: u8,
    /// For each length of a code, the lowest symbol that has it.
    lowest: Vec<u16>,
    /// For each length, the code of that symbol, from the left of 64 bits.
    base: Vec<u64>,
    symbols_at: usize,
    /// For each symbol, one less than the number of values that it unfolds to.
    runs: Vec<u8>,
}

impl Pairs {
    /// Reads how the values of `size` positions are coded.
    pub(super) fn read(reader: &mut Reader<'_>, size: u64) -> Result<Pairs, Damaged> {
        let flags = reader.u8()?;
        let coding = if flags & SINGLE_VALUE != 0 {
            Coding::Single(reader.u8()?)
        } else {
            Coding::Blocks(Box::new(Blocks::read(reader, size)?))
        };
        Ok(Pairs { flags, coding })
    }

    /// Passes over the sparse index.
    pub(super) fn read_sparse_index(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        if let Coding::Blocks(blocks) = &mut self.coding {
            blocks.sparse_at = reader.skip(blocks.sparse_count, SPARSE_BYTES)?;
        }
        Ok(())
    }

    /// Passes over the numbers of values in each block.
    pub(super) fn read_block_lengths(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        if let Coding::Blocks(blocks) = &mut self.coding {
            blocks.lengths_at = reader.skip(blocks.length_count, 2)?;
        }
        Ok(())
    }

    /// Passes over the blocks.
    pub(super) fn read_blocks(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        if let Coding::Blocks(blocks) = &mut self.coding {
            reader.align(BLOCK_ALIGNMENT);
            blocks.data_at = reader.skip(blocks.block_count.into(), 1 << blocks.size_bits)?;
        }
        Ok(())
    }

    /// The value of the position with this index.
    pub(super) fn value(&self, bytes: &[u8], index: u64) -> Result<u16, Damaged> {
        match &self.coding {
            Coding::Single(value) => Ok((*value).into()),
            Coding::Blocks(blocks) => blocks.value(bytes, index),
        }
    }
}

impl Blocks {
    fn read(reader: &mut Reader<'_>, size: u64) -> Result<Blocks, Damaged> {
        let (size_bits, span_bits, padding) = (reader.u8()?, reader.u8()?, reader.u8()?);
        if u32::from(size_bits) >= u32::BITS || u32::from(span_bits) >= u32::BITS {
            return Err(Damaged);
        }
        let block_count = reader.u32()?;
        let (longest, shortest) = (reader.u8()?, reader.u8()?);
        if shortest == 0 || shortest > longest || longest > LONGEST_CODE {
            return Err(Damaged);
        }
        let lowest =
            (shortest..=longest).map(|_| reader.u16()).collect::<Result<Vec<u16>, Damaged>>()?;
        let symbol_count = reader.u16()?;
        let symbols_at = reader.skip(symbol_count.into(), SYMBOL_BYTES as u64)?;
        reader.align(2);
        let runs = Runs::of(reader.bytes, symbols_at, symbol_count.into())?;
        let span = 1 << span_bits;
        Ok(Blocks {
            size_bits,
            span,
            sparse_count: size.div_ceil(span),
            sparse_at: 0,
            length_count: u64::from(block_count) + u64::from(padding),
            lengths_at: 0,
            block_count,
            data_at: 0,
            shortest,
            base: bases(&lowest, shortest)?,
            lowest,
            symbols_at,
            runs,
        })
    }

    fn value(&self, bytes: &[u8], index: u64) -> Result<u16, Damaged> {
        let (block, skipped) = self.block_of(bytes, index)?;
        if block >= self.block_count {
            return Err(Damaged);
        }
        let size = 1usize << self.size_bits;
        let start = (block as usize)
            .checked_mul(size)
            .and_then(|start| start.checked_add(self.data_at))
            .ok_or(Damaged)?;
        let block = start.checked_add(size).and_then(|end| bytes.get(start..end)).ok_or(Damaged)?;
        let (mut symbol, mut skipped) = self.symbol_in(block, skipped)?;
        // Unfold it. Each half is shorter than the whole, so this ends.
        let mut run = self.run(symbol)?;
        while run > 1 {
            let [left, right] = halves(bytes, self.symbols_at, symbol.into())?;
            let first = self.run(left)?;
            if first >= run {
                return Err(Damaged);
            }
            if skipped < first {
                (symbol, run) = (left, first);
            } else {
                (symbol, run) = (right, run - first);
                skipped -= first;
            }
        }
        let [value, _] = halves(bytes, self.symbols_at, symbol.into())?;
        Ok(value)
    }

    /// The block that holds the value of a position, and the number of values before it in there.
    fn block_of(&self, bytes: &[u8], index: u64) -> Result<(u32, u64), Damaged> {
        let entry = index / self.span;
        if entry >= self.sparse_count {
            return Err(Damaged);
        }
        let at = self.sparse_at + (entry * SPARSE_BYTES) as usize;
        let mut block = u32_at(bytes, at)?;
        // An entry is of the position in the middle of its span.
        let (within, middle) = ((index % self.span) as i64, (self.span / 2) as i64);
        let mut offset = i64::from(u16_at(bytes, at + 4)?) + within - middle;
        while offset < 0 {
            block = block.checked_sub(1).ok_or(Damaged)?;
            offset += self.values_in(bytes, block)?;
        }
        loop {
            let values = self.values_in(bytes, block)?;
            if offset < values {
                return Ok((block, offset as u64));
            }
            offset -= values;
            block = block.checked_add(1).ok_or(Damaged)?;
        }
    }

    fn values_in(&self, bytes: &[u8], block: u32) -> Result<i64, Damaged> {
        if u64::from(block) >= self.length_count {
            return Err(Damaged);
        }
        Ok(i64::from(u16_at(bytes, self.lengths_at + 2 * block as usize)?) + 1)
    }

    /// The symbol with the value that comes after `skipped` others in a block, and how many of them are in
    /// this symbol.
    fn symbol_in(&self, block: &[u8], mut skipped: u64) -> Result<(u16, u64), Damaged> {
        // The next bits of the block, from the left, and how many of them are left.
        let (mut bits, mut left) = (0u64, 0u32);
        let mut words = block.chunks(4).map(|word| {
            let mut padded = [0; 4];
            padded[..word.len()].copy_from_slice(word);
            u64::from(u32::from_be_bytes(padded))
        });
        loop {
            while left <= u32::BITS {
                // Behind the end come zeros, which no code of the block needs.
                bits |= words.next().unwrap_or(0) << (u32::BITS - left);
                left += u32::BITS;
            }
            let longer = self.base.iter().position(|&base| bits >= base).ok_or(Damaged)?;
            let length = u32::from(self.shortest) + longer as u32;
            let above_lowest = (bits - self.base[longer]) >> (u64::BITS - length);
            let symbol = above_lowest + u64::from(self.lowest[longer]);
            let symbol = u16::try_from(symbol).map_err(|_| Damaged)?;
            let run = self.run(symbol)?;
            if skipped < run {
                return Ok((symbol, skipped));
            }
            skipped -= run;
            bits <<= length;
            left -= length;
        }
    }

    /// How many values a symbol unfolds to.
    fn run(&self, symbol: u16) -> Result<u64, Damaged> {
        Ok(u64::from(u8_at(&self.runs, symbol.into())?) + 1)
    }
}

/// For each length of a code, from the shortest, the first code that has it. Codes are given in the order of
/// their symbols, shorter ones to higher symbols, so that the longest begin at 0.
fn bases(lowest: &[u16], shortest: u8) -> Result<Vec<u64>, Damaged> {
    let mut base = vec![0u64; lowest.len()];
    for i in (0..lowest.len() - 1).rev() {
        let sum = base[i + 1] + u64::from(lowest[i]);
        base[i] = sum.checked_sub(lowest[i + 1].into()).ok_or(Damaged)? / 2;
    }
    for (longer, base) in base.iter_mut().enumerate() {
        *base <<= u64::BITS - u32::from(shortest) - longer as u32;
    }
    Ok(base)
}

/// The halves of a symbol; the right one of a value is [`NO_SYMBOL`], the left one then the value.
fn halves(bytes: &[u8], symbols_at: usize, symbol: usize) -> Result<[u16; 2], Damaged> {
    let at = symbols_at + SYMBOL_BYTES * symbol;
    let [low, middle, high] = [0, 1, 2].map(|i| u8_at(bytes, at + i).map(u16::from));
    let (low, middle, high) = (low?, middle?, high?);
    Ok([low | (middle & 0xf) << 8, middle >> 4 | high << 4])
}

/// Finds how many values symbols unfold to.
struct Runs<'a> {
    bytes: &'a [u8],
    symbols_at: usize,
    /// One less than the number of values, where known.
    known: Vec<Option<u8>>,
}

impl Runs<'_> {
    fn of(bytes: &[u8], symbols_at: usize, count: usize) -> Result<Vec<u8>, Damaged> {
        let mut runs = Runs { bytes, symbols_at, known: vec![None; count] };
        (0..count).map(|symbol| runs.find(symbol, LARGEST_RUN)).collect()
    }

    /// Each half of a symbol is at least one value shorter than the symbol, which ends this if a symbol should
    /// hold itself.
    fn find(&mut self, symbol: usize, largest: u8) -> Result<u8, Damaged> {
        if let Some(known) = *self.known.get(symbol).ok_or(Damaged)? {
            return Ok(known);
        }
        let [left, right] = halves(self.bytes, self.symbols_at, symbol)?;
        let run = if right == NO_SYMBOL {
            0
        } else {
            let largest = largest.checked_sub(1).ok_or(Damaged)?;
            let left = self.find(left.into(), largest)?;
            let right = self.find(right.into(), largest)?;
            left.checked_add(right).and_then(|run| run.checked_add(1)).ok_or(Damaged)?
        };
        self.known[symbol] = Some(run);
        Ok(run)
    }
}
