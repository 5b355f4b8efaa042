//! Large zeroed memory and cache prefetching.
//!
//! Why it pays: a hash table of hundreds of megabytes has to be had without touching it (the
//! standard library's aligned allocations fill it by hand, half a second for a gigabyte, and too early
//! for huge pages), aligned to cache lines, and on huge pages, without which each probe waits for the
//! page tables too; a probe that is announced while the move is still being made costs a third of one
//! that is not.

use memmap2::{MmapMut, MmapRaw};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::AtomicU64;

/// Memory that the system does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AllocationError {
    /// The number of bytes asked for.
    pub bytes: usize,
}

impl fmt::Display for AllocationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MiB of memory can't be allocated", self.bytes >> 20)
    }
}

impl std::error::Error for AllocationError {}

/// Eight slots of a hash table, starting on a cache line of their own.
#[repr(C, align(64))]
pub(crate) struct Bucket<const WORDS: usize>(pub(crate) [[AtomicU64; WORDS]; 8]);

/// Huge pages are 2 MiB; smaller tables gain nothing from them.
const HUGE_PAGE: usize = 2 << 20;

/// The smallest pages that systems have.
const PAGE: usize = 4 << 10;
/// Up to so many bytes are touched before they are used. Otherwise the system would find each page only
/// when a search first comes there, and a stop would have to wait for that. Of
/// more memory than this a machine may not have as much as it promises.
const TOUCHED: usize = 2 << 30;

/// A slice of lines in memory of their own, on huge pages where the system has them.
pub(crate) struct Buckets<const WORDS: usize> {
    memory: MmapRaw,
    /// Where the first line starts in the memory: on a huge page if there is one.
    start: usize,
    count: usize,
}

impl<const WORDS: usize> Buckets<WORDS> {
    /// As many zeroed lines as asked for, ready for use up to [`TOUCHED`] bytes.
    ///
    /// # Errors
    /// If the memory can't be had.
    pub(crate) fn zeroed(count: usize) -> Result<Buckets<WORDS>, AllocationError> {
        let error = AllocationError { bytes: count.saturating_mul(size_of::<Bucket<WORDS>>()) };
        let bytes = count.checked_mul(size_of::<Bucket<WORDS>>()).ok_or(error)?;
        let spare = if bytes >= HUGE_PAGE { HUGE_PAGE } else { 0 };
        let total = bytes.checked_add(spare).filter(|&total| total <= isize::MAX as usize);
        let memory = MmapMut::map_anon(total.ok_or(error)?.max(1)).map_err(|_| error)?;
        let memory = MmapRaw::from(memory);
        let start = memory.as_ptr().align_offset(HUGE_PAGE).min(spare);
        #[cfg(target_os = "linux")]
        if spare > 0 {
            // Advice only: nothing depends on the answer.
            let _ = memory.advise_range(memmap2::Advice::HugePage, start, bytes);
        }
        let mut lines = Buckets { memory, start, count };
        let touched = lines.iter_mut().take(TOUCHED / size_of::<Bucket<WORDS>>());
        for line in touched.step_by(PAGE / size_of::<Bucket<WORDS>>()) {
            *line.0[0][0].get_mut() = 0;
        }
        Ok(lines)
    }
}

impl<const WORDS: usize> Deref for Buckets<WORDS> {
    type Target = [Bucket<WORDS>];

    #[inline(always)]
    fn deref(&self) -> &[Bucket<WORDS>] {
        // SAFETY: `zeroed` mapped at least `start` bytes and `count` lines, which live as long as
        // `self`. A mapping starts on a page and `start` is 0 or leads to a huge page, so the lines
        // are aligned. They were zero when mapped, which is a valid `Bucket` (it consists of
        // integers), and only `Bucket`s have been written since: the memory is private to `self`, which
        // holds it by a raw pointer and makes no other reference to it.
        unsafe {
            std::slice::from_raw_parts(self.memory.as_mut_ptr().add(self.start).cast(), self.count)
        }
    }
}

impl<const WORDS: usize> DerefMut for Buckets<WORDS> {
    fn deref_mut(&mut self) -> &mut [Bucket<WORDS>] {
        // SAFETY: as in `deref`, and `self` is borrowed for writing.
        unsafe {
            let first = self.memory.as_mut_ptr().add(self.start).cast();
            std::slice::from_raw_parts_mut(first, self.count)
        }
    }
}

/// Starts fetching the cache line that a value begins on.
#[inline(always)]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching has no effect but on timing, and the address is that of a live reference.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn lines_are_zero_and_aligned() {
        let lines = Buckets::<2>::zeroed(100_000).expect("13 MB are there");
        assert_eq!(lines.len(), 100_000);
        assert_eq!(lines.as_ptr().align_offset(64), 0);
        let words = lines.iter().flat_map(|line| line.0.iter().flatten());
        assert!(words.map(|word| word.load(Ordering::Relaxed)).all(|word| word == 0));
        assert!(Buckets::<1>::zeroed(0).is_ok());
    }

    #[test]
    fn too_much_is_an_error() {
        for count in [usize::MAX, usize::MAX / 64, 1 << 56] {
            assert!(Buckets::<1>::zeroed(count).is_err());
        }
    }
}
