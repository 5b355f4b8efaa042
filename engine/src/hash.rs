//! The hash table: lines of 8 slots, as micro-Max rehashes 8 times.
//!
//! One key chooses the line, the other one checks the entry. A line's slots are neighbours in
//! memory, so that all 8 cost one or two cache misses. Entries are packed into one or two 64-bit words that
//! are loaded and stored as relaxed atomics. Source:
//! <https://www.chessprogramming.org/Transposition_Table>.

use crate::keys::Keys;
use crate::machine::memory::{self, AllocationError, Bucket, Buckets};
use std::marker::PhantomData;
use std::sync::atomic::Ordering;

/// The slots of a line.
pub const SLOTS: usize = 8;

/// What a table holds, packed into `WORDS` 64-bit words of which all zero means an empty slot.
pub trait Entry<const WORDS: usize>: Copy {
    /// The entry as words.
    fn pack(self) -> [u64; WORDS];
    /// The entry in these words.
    fn unpack(words: [u64; WORDS]) -> Self;
}

/// A table of entries.
pub struct Table<E, const WORDS: usize> {
    lines: Buckets<WORDS>,
    generation: u16,
    entry: PhantomData<E>,
}

/// The slots that a position may be stored in.
#[derive(Clone, Copy)]
pub struct Slots<'a, E, const WORDS: usize> {
    line: &'a Bucket<WORDS>,
    entry: PhantomData<E>,
}

impl<E: Entry<WORDS>, const WORDS: usize> Table<E, WORDS> {
    /// An empty table of `mebibytes` MiB.
    ///
    /// # Errors
    /// If the memory can't be had.
    pub fn new(mebibytes: usize) -> Result<Table<E, WORDS>, AllocationError> {
        let count = mebibytes.saturating_mul((1 << 20) / size_of::<Bucket<WORDS>>());
        let lines = Buckets::zeroed(count)?;
        Ok(Table { lines, generation: 1, entry: PhantomData })
    }

    /// The size in MiB.
    #[must_use]
    pub fn mebibytes(&self) -> usize {
        size_of_val(&*self.lines) >> 20
    }

    /// The number that entries of the present search carry: 1 to 65535, while an empty slot's is 0.
    #[must_use]
    #[inline]
    pub const fn generation(&self) -> u16 {
        self.generation
    }

    /// Begins the next search. What the entries of earlier ones count for is up to who reads them:
    /// micro-Max takes them for empty, the strong search uses them and lets the oldest go first.
    /// Nothing is written, but that once in 65535 times the table is cleared.
    pub fn next_generation(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.clear();
        }
    }

    /// Empties every slot.
    pub fn clear(&mut self) {
        for line in self.lines.iter_mut() {
            for word in line.0.iter_mut().flatten() {
                *word.get_mut() = 0;
            }
        }
        self.generation = 1;
    }

    #[inline(always)]
    fn line(&self, keys: Keys) -> &Bucket<WORDS> {
        // The high half of the product maps the key evenly to 0..len, whatever the length.
        let line = (u128::from(keys.index) * self.lines.len() as u128) >> 64;
        &self.lines[line as usize]
    }

    /// The slots of a position.
    #[inline(always)]
    #[must_use]
    pub fn slots(&self, keys: Keys) -> Slots<'_, E, WORDS> {
        Slots { line: self.line(keys), entry: PhantomData }
    }

    /// Announces that a position's slots will be asked for.
    #[inline(always)]
    pub fn prefetch(&self, keys: Keys) {
        memory::prefetch(self.line(keys));
    }

    /// How many of a sample of 1000 slots hold an entry for which `current` is true, in permill.
    pub fn fill(&self, current: impl Fn(E) -> bool) -> u32 {
        const SAMPLE: usize = 1000 / SLOTS;
        let entries = self.lines.iter().take(SAMPLE).flat_map(|line| {
            let slots = Slots { line, entry: PhantomData::<E> };
            (0..SLOTS).map(move |slot| slots.load(slot))
        });
        entries.filter(|&entry| current(entry)).count() as u32
    }
}

impl<E: Entry<WORDS>, const WORDS: usize> Slots<'_, E, WORDS> {
    /// The entry in a slot (0 to 7).
    #[inline(always)]
    #[must_use]
    pub fn load(&self, slot: usize) -> E {
        let words = &self.line.0[slot % SLOTS];
        E::unpack(std::array::from_fn(|i| words[i].load(Ordering::Relaxed)))
    }

    /// Puts an entry into a slot (0 to 7).
    #[inline(always)]
    pub fn store(&self, slot: usize, entry: E) {
        let packed = entry.pack();
        for (word, value) in self.line.0[slot % SLOTS].iter().zip(packed) {
            word.store(value, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Entry<1> for u64 {
        fn pack(self) -> [u64; 1] {
            [self]
        }
        fn unpack(words: [u64; 1]) -> u64 {
            words[0]
        }
    }

    #[test]
    fn slots_keep_what_is_stored() {
        let mut table: Table<u64, 1> = Table::new(1).unwrap();
        assert_eq!(table.mebibytes(), 1);
        let keys = |i: u64| Keys { index: i.wrapping_mul(0x9e37_79b9_7f4a_7c15), lock: 0 };
        for i in 0..100 {
            table.slots(keys(i)).store(i as usize % SLOTS, i);
        }
        let kept = (0..100).filter(|&i| table.slots(keys(i)).load(i as usize % SLOTS) == i);
        assert!(kept.count() > 95, "100 keys spread over 16384 lines");
        let all = Keys { index: u64::MAX, lock: 0 };
        assert_eq!(table.slots(all).load(7), 0);
        table.clear();
        assert!((0..100).all(|i| table.slots(keys(i)).load(i as usize % SLOTS) == 0));
    }

    #[test]
    fn generations_never_reach_zero() {
        let mut table: Table<u64, 1> = Table::new(1).unwrap();
        for _ in 0..70_000 {
            table.next_generation();
            assert_ne!(table.generation(), 0);
        }
    }
}
