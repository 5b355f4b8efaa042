//! The transposition table: buckets of 8 slots, as micro-Max rehashes 8 times.
//!
//! One key chooses the bucket, the other one verifies the entry. The slots of a bucket are neighbours in
//! memory, so a probe costs one or two cache misses. Entries are packed into one or two 64-bit words, loaded
//! and stored as relaxed atomics. Source:
//! <https://www.chessprogramming.org/Transposition_Table>.
//!
//! # Replacement
//!
//! What makes room for a new position differs by style: micro-Max's rule stands in `search::micromax`, the strong
//! search's in `search::tt`. Thousands of nodes of the strong search to a fixed depth from an empty table, geometric
//! means of eight endings (Fine 70 to depth 24, KPK 30, KBNK 20 and 22, pawn and rook endings 20 to 30) and of
//! twenty middle games (numbers 5 to 24 of [`crate::bench::POSITIONS`], depth 17):
//!
//! | rule | endings, 1 MiB | 8 MiB | 64 MiB | middle games, 1 MiB | 8 MiB |
//! |---|---|---|---|---|---|
//! | the shallowest and oldest goes (what there is) | 719 | 728 | 717 | 631 | 585 |
//! | micro-Max's: exact entries yield only to as deep ones | 1292 | 1195 | 1220 | 574 | |
//! | depth-preferred: none yields to a shallower one of the same search | 832 | 721 | 717 | 583 | |
//! | two tiers after Thompson, 4 slots depth-preferred, 4 always replaced | 751 | 714 | 717 | 580 | |
//! | the same, 7 and 1 | 721 | 727 | 717 | 562 | 581 |
//! | equal draft: one of the depth that most entries have goes | 702 | 722 | 717 | | |
//!
//! Cells without a number were not measured. With 64 MiB the endings hardly replace anything but entries of the same
//! position. The second tier of one slot needs a ninth fewer nodes than what there is where 1 MiB is far too little,
//! and as many in the other cells that were measured. These are single searches; what rules do from move to move only
//! games tell, so what there is stays until they do.

use crate::keys::Keys;
use crate::machine::memory::{self, AllocationError, Bucket, Buckets, Remains};
use std::marker::PhantomData;
use std::sync::atomic::Ordering;

/// The slots of a bucket.
pub const SLOTS: usize = 8;

/// What the table stores, packed into `WORDS` 64-bit words; all zero is an empty slot.
pub trait Entry<const WORDS: usize>: Copy {
    /// The entry as words.
    fn pack(self) -> [u64; WORDS];
    /// The entry in these words.
    fn unpack(words: [u64; WORDS]) -> Self;
}

/// A transposition table with entries of type `E`.
pub struct Table<E, const WORDS: usize> {
    buckets: Buckets<WORDS>,
    /// All of the memory was there at least once.
    is_touched: bool,
    generation: u16,
    entry: PhantomData<E>,
}

/// The bucket of a position: the slots that it may be stored in.
#[derive(Clone, Copy)]
pub struct Slots<'a, E, const WORDS: usize> {
    bucket: &'a Bucket<WORDS>,
    entry: PhantomData<E>,
}

impl<E: Entry<WORDS>, const WORDS: usize> Table<E, WORDS> {
    /// An empty table of `mebibytes` MiB; 0 counts as 1, as every position needs a bucket. Its pages are
    /// slow when they are first probed: clear it where there is time.
    ///
    /// # Errors
    /// If the memory can't be had.
    pub fn new(mebibytes: usize) -> Result<Table<E, WORDS>, AllocationError> {
        let count = mebibytes.max(1).saturating_mul((1 << 20) / size_of::<Bucket<WORDS>>());
        let buckets = Buckets::zeroed(count)?;
        Ok(Table { buckets, is_touched: false, generation: 1, entry: PhantomData })
    }

    /// The size in MiB.
    #[must_use]
    pub fn mebibytes(&self) -> usize {
        size_of_val(&*self.buckets) >> 20
    }

    /// The number of the present search, which its entries carry: 1 to 65535. An empty slot has 0.
    #[must_use]
    #[inline]
    pub const fn generation(&self) -> u16 {
        self.generation
    }

    /// Goes on behind the search with this number, from 1.
    pub(crate) const fn set_generation(&mut self, generation: u16) {
        self.generation = generation;
    }

    /// The size in bytes.
    pub(crate) fn len_bytes(&self) -> usize {
        size_of_val(&*self.buckets)
    }

    /// Copies the slots from a byte on, that of a bucket's beginning, in little-endian words.
    pub(crate) fn read_bytes(&self, from: usize, bytes: &mut [u8]) {
        let first = from / size_of::<Bucket<WORDS>>();
        let words = self.buckets[first..].iter().flat_map(|bucket| bucket.0.iter().flatten());
        for (place, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *place = word.load(Ordering::Relaxed).to_le_bytes();
        }
    }

    /// Replaces the slots from a byte on, as [`Self::read_bytes`] has copied them.
    pub(crate) fn write_bytes(&mut self, from: usize, bytes: &[u8]) {
        let first = from / size_of::<Bucket<WORDS>>();
        let words =
            self.buckets[first..].iter_mut().flat_map(|bucket| bucket.0.iter_mut().flatten());
        for (word, &bytes) in words.zip(bytes.as_chunks().0) {
            *word.get_mut() = u64::from_le_bytes(bytes);
        }
    }

    /// Begins the next search. What entries of earlier searches are good for is the reader's decision:
    /// micro-Max takes them as empty, the strong search uses them and replaces the oldest first. Writes
    /// nothing, except that the table is cleared once in 65535 calls.
    pub fn next_generation(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.clear();
        }
    }

    /// Empties every slot.
    pub fn clear(&mut self) {
        drop(self.clear_until(1, &mut || false));
    }

    /// The same slice by slice on up to `threads` threads, until `hurried`, which is asked now and then, says that
    /// somebody waits. The table then gets fresh memory: it is as empty, but slower to probe at first. Returns
    /// the old memory if there is any.
    pub fn clear_until(
        &mut self,
        threads: usize,
        hurried: &mut dyn FnMut() -> bool,
    ) -> Option<Remains> {
        self.is_touched = true;
        self.generation = 1;
        self.buckets.clear_until(threads, hurried)
    }

    /// Whether it was ever cleared since it was allocated, which gives it its memory.
    #[must_use]
    pub const fn is_touched(&self) -> bool {
        self.is_touched
    }

    #[inline(always)]
    fn bucket(&self, keys: Keys) -> &Bucket<WORDS> {
        // Multiply-high maps the key evenly to 0..len, for any length.
        let number = (u128::from(keys.index) * self.buckets.len() as u128) >> 64;
        &self.buckets[number as usize]
    }

    /// The bucket of a position.
    #[inline(always)]
    #[must_use]
    pub fn slots(&self, keys: Keys) -> Slots<'_, E, WORDS> {
        Slots { bucket: self.bucket(keys), entry: PhantomData }
    }

    /// Prefetches the bucket of a position that is about to be probed.
    #[inline(always)]
    pub fn prefetch(&self, keys: Keys) {
        memory::prefetch(self.bucket(keys));
    }

    /// How many of the first 1000 slots hold an entry for which `current` is true: UCI's hashfull, in
    /// permill.
    pub fn fill(&self, current: impl Fn(E) -> bool) -> u32 {
        const SAMPLE: usize = 1000 / SLOTS;
        let entries = self.buckets.iter().take(SAMPLE).flat_map(|bucket| {
            let slots = Slots { bucket, entry: PhantomData::<E> };
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
        let words = &self.bucket.0[slot % SLOTS];
        E::unpack(std::array::from_fn(|i| words[i].load(Ordering::Relaxed)))
    }

    /// Stores an entry in a slot (0 to 7).
    #[inline(always)]
    pub fn store(&self, slot: usize, entry: E) {
        let packed = entry.pack();
        for (word, value) in self.bucket.0[slot % SLOTS].iter().zip(packed) {
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
        let mut tt: Table<u64, 1> = Table::new(1).unwrap();
        assert_eq!(tt.mebibytes(), 1);
        let keys = |i: u64| Keys { index: i.wrapping_mul(0x9e37_79b9_7f4a_7c15), lock: 0 };
        for i in 0..100 {
            tt.slots(keys(i)).store(i as usize % SLOTS, i);
        }
        let kept = (0..100).filter(|&i| tt.slots(keys(i)).load(i as usize % SLOTS) == i);
        assert!(kept.count() > 95, "100 keys spread over 16384 buckets");
        let all = Keys { index: u64::MAX, lock: 0 };
        assert_eq!(tt.slots(all).load(7), 0);
        tt.clear();
        assert!((0..100).all(|i| tt.slots(keys(i)).load(i as usize % SLOTS) == 0));
    }

    #[test]
    fn a_table_of_no_size_has_the_least() {
        let tt: Table<u64, 1> = Table::new(0).unwrap();
        assert_eq!(tt.mebibytes(), 1);
        assert_eq!(tt.slots(Keys { index: u64::MAX, lock: 0 }).load(0), 0);
    }

    #[test]
    fn generations_never_reach_zero() {
        let mut tt: Table<u64, 1> = Table::new(1).unwrap();
        for _ in 0..70_000 {
            tt.next_generation();
            assert_ne!(tt.generation(), 0);
        }
    }
}
