//! All positions in an order that has nothing to do with that of the games, in bounded memory.
//!
//! What fits the memory stays there. Of more, each part that fits is shuffled and written to a file, and
//! the training goes through chunks, each made of the same slice of every file: a random sample of
//! everything. The order within a chunk is a permutation that is computed, not stored.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::positions::{PACKED, Position, scrambled};

/// A permutation of the numbers below `length`: a Feistel network over the next power of two, walked
/// until it comes back below.
///
/// Source: Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002.
pub(crate) struct Permutation {
    length: u64,
    /// The bits of the two halves of a number.
    bits: [u32; 2],
    keys: [u64; 4],
}

impl Permutation {
    /// One of the permutations of the numbers below `length`, chosen by `seed`.
    pub(crate) fn new(length: usize, seed: u64) -> Permutation {
        let length = length as u64;
        let bits = (u64::BITS - length.saturating_sub(1).leading_zeros()).max(2);
        let keys = [1, 2, 3, 4].map(|round| scrambled(scrambled(seed) ^ round));
        Permutation { length, bits: [bits / 2, bits.div_ceil(2)], keys }
    }

    /// Where `number`, which is below the length, goes.
    #[inline]
    pub(crate) fn at(&self, number: usize) -> usize {
        let mixed = |half: u64, key: u64, bits: u32| {
            let mixed = (half ^ key).wrapping_mul(0x9fb2_1c65_1e98_df25);
            (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) >> (u64::BITS - bits)
        };
        let [high, low] = self.bits;
        let mut number = number as u64;
        loop {
            let (mut left, mut right) = (number >> low, number & ((1 << low) - 1));
            for [first, second] in self.keys.as_chunks().0 {
                left ^= mixed(right, *first, high);
                right ^= mixed(left, *second, low);
            }
            number = left << low | right;
            if number < self.length {
                return number as usize;
            }
        }
    }
}

/// Takes positions one by one; see the module.
pub(crate) struct Collector {
    most: usize,
    stem: PathBuf,
    seed: u64,
    held: Vec<Position>,
    /// How many positions each file has, and the files.
    runs: Runs,
    fingerprint: u64,
}

impl Collector {
    /// Holds up to `most` positions in memory; what is more goes to files `stem` with a number.
    pub(crate) fn new(most: usize, stem: PathBuf, seed: u64) -> Collector {
        let (held, runs) = (Vec::new(), Runs(Vec::new()));
        Collector { most: most.max(1), stem, seed, held, runs, fingerprint: 0 }
    }

    /// Takes one more.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(crate) fn push(&mut self, position: Position) -> Result<()> {
        if self.held.len() == self.most {
            self.write()?;
        }
        for eight in position.to_bytes().as_chunks().0 {
            let mixed = (self.fingerprint ^ u64::from_le_bytes(*eight)).rotate_left(23);
            self.fingerprint = mixed.wrapping_mul(0x9fb2_1c65_1e98_df25);
        }
        self.held.push(position);
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        let number = self.runs.0.len();
        let path = self.stem.with_added_extension(format!("shuffle{number}"));
        let failed = || format!("writing {}", path.display());
        let file = File::create(&path).with_context(failed)?;
        let order = Permutation::new(self.held.len(), self.seed ^ scrambled(number as u64));
        self.runs.0.push((path.clone(), self.held.len()));
        let mut file = BufWriter::new(file);
        for index in 0..self.held.len() {
            file.write_all(&self.held[order.at(index)].to_bytes()).with_context(failed)?;
        }
        file.flush().with_context(failed)?;
        self.held.clear();
        Ok(())
    }

    /// All that was taken.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(crate) fn finish(mut self) -> Result<Positions> {
        let count = self.held.len() + self.runs.0.iter().map(|&(_, count)| count).sum::<usize>();
        if !self.runs.0.is_empty() {
            self.write()?;
        }
        let fingerprint = scrambled(self.fingerprint ^ count as u64);
        Ok(Positions { chunk: self.held, number: 0, count, runs: self.runs, fingerprint })
    }
}

/// The temporary files, removed in the end, and how many positions each has.
struct Runs(Vec<(PathBuf, usize)>);

impl Drop for Runs {
    fn drop(&mut self) {
        for (path, _) in &self.0 {
            // One that stays behind is overwritten by the next training.
            let _ = fs::remove_file(path);
        }
    }
}

/// All positions, one chunk of them in memory.
pub(crate) struct Positions {
    chunk: Vec<Position>,
    number: usize,
    count: usize,
    runs: Runs,
    fingerprint: u64,
}

impl Positions {
    /// How many there are in all chunks.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// A number made of all positions in their order.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The number of chunks.
    pub(crate) fn chunks(&self) -> usize {
        self.runs.0.len().max(1)
    }

    /// The range of the positions of a file, of which there are `count`, that belong to a chunk.
    fn slice(&self, count: usize, chunk: usize) -> (usize, usize) {
        (count * chunk / self.chunks(), count * (chunk + 1) / self.chunks())
    }

    /// How many positions a chunk has.
    pub(crate) fn length(&self, chunk: usize) -> usize {
        if self.runs.0.is_empty() {
            return self.count;
        }
        let lengths = self.runs.0.iter().map(|&(_, count)| {
            let (from, to) = self.slice(count, chunk);
            to - from
        });
        lengths.sum()
    }

    /// The positions of a chunk.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub(crate) fn chunk(&mut self, chunk: usize) -> Result<&[Position]> {
        if !self.runs.0.is_empty() && (self.chunk.is_empty() || self.number != chunk) {
            self.chunk.clear();
            for (path, count) in &self.runs.0 {
                let (from, to) = self.slice(*count, chunk);
                let mut load = || -> std::io::Result<()> {
                    let mut file = BufReader::with_capacity(1 << 20, File::open(path)?);
                    file.seek(SeekFrom::Start((PACKED * from) as u64))?;
                    for _ in from..to {
                        let mut bytes = [0; PACKED];
                        file.read_exact(&mut bytes)?;
                        self.chunk.push(Position::from_bytes(&bytes));
                    }
                    Ok(())
                };
                load().with_context(|| format!("reading {}", path.display()))?;
            }
            self.number = chunk;
        }
        Ok(&self.chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use std::collections::HashMap;

    #[test]
    fn a_permutation_hits_every_number_once_and_mixes() {
        for length in [1, 2, 3, 16, 17, 1000, 4097] {
            let order = Permutation::new(length, 5);
            let mut seen = vec![false; length];
            (0..length).for_each(|number| seen[order.at(number)] = true);
            assert!(seen.into_iter().all(|seen| seen), "{length}");
        }
        let (first, second) = (Permutation::new(10_000, 1), Permutation::new(10_000, 2));
        let same = (0..10_000).filter(|&number| first.at(number) == second.at(number)).count();
        assert!(same < 10, "{same}");
        // Neighbours come to be a third of the length apart on average.
        let apart = (1..10_000).map(|number| first.at(number).abs_diff(first.at(number - 1)));
        let apart = apart.sum::<usize>() / 10_000;
        assert!((3000..3700).contains(&apart), "{apart}");
    }

    #[test]
    fn what_does_not_fit_the_memory_goes_through_files() {
        let all = samples::positions(0..40);
        let counted = |positions: &[Position]| {
            let mut counts = HashMap::new();
            for position in positions {
                *counts.entry(position.to_bytes()).or_insert(0) += 1;
            }
            counts
        };
        let stem = std::env::temp_dir().join(format!("train-shuffle-{}", std::process::id()));
        let most = all.len() / 3;
        let mut collector = Collector::new(most, stem.clone(), 3);
        all.iter().for_each(|&position| collector.push(position).unwrap());
        let mut positions = collector.finish().unwrap();
        assert_eq!((positions.count(), positions.chunks()), (all.len(), 4));
        let mut found = Vec::new();
        for chunk in [2, 0, 3, 1] {
            let length = positions.length(chunk);
            let held = positions.chunk(chunk).unwrap();
            assert_eq!(held.len(), length);
            assert!(length <= most, "{length}");
            // Each chunk is a sample of everything: of the first third, too.
            let early = counted(&all[..most]);
            let share = held.iter().filter(|p| early.contains_key(&p.to_bytes())).count();
            assert!(3 * share > length / 2 && share < length / 2, "{share} of {length}");
            found.extend_from_slice(held);
        }
        assert_eq!(counted(&found), counted(&all));
        let file = stem.with_added_extension("shuffle0");
        assert!(file.exists());
        drop(positions);
        assert!(!file.exists());
    }
}
