//! The one place with `unsafe`: large zeroed allocations and cache prefetching.
//!
//! Why it pays: a hash table of hundreds of megabytes has to be had without touching it (the
//! standard library's fallible allocations fill it by hand, half a second for a gigabyte), aligned
//! to cache lines, and on huge pages; a probe that is announced while the move is still being made
//! costs a third of one that is not.

#![allow(unsafe_code, reason = "allocation and prefetch have no safe form; arguments stand below")]

use std::alloc::{Layout, alloc_zeroed};
use std::fmt;
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
pub(crate) struct Line<const WORDS: usize>(pub(crate) [[AtomicU64; WORDS]; 8]);

/// Huge pages are 2 MiB; smaller allocations gain nothing from them.
const HUGE_PAGE: usize = 2 << 20;

/// As many zeroed lines as asked for.
///
/// # Errors
/// If the memory can't be had.
pub(crate) fn zeroed_lines<const WORDS: usize>(
    count: usize,
) -> Result<Box<[Line<WORDS>]>, AllocationError> {
    let error = AllocationError { bytes: count.saturating_mul(size_of::<Line<WORDS>>()) };
    let layout = Layout::array::<Line<WORDS>>(count).map_err(|_| error)?;
    if layout.size() == 0 {
        return Ok(Box::default());
    }
    // SAFETY: the layout has a non-zero size. All-zero bytes are a valid `Line`: it consists of
    // integers. `alloc_zeroed` and `Box` use the same global allocator, and the layout is exactly
    // that of a boxed slice of `count` lines, so the box may free it.
    unsafe {
        let memory = alloc_zeroed(layout);
        if memory.is_null() {
            return Err(error);
        }
        advise_huge_pages(memory, layout.size());
        let slice = std::ptr::slice_from_raw_parts_mut(memory.cast::<Line<WORDS>>(), count);
        Ok(Box::from_raw(slice))
    }
}

/// Asks for huge pages, which is advice only: nothing depends on the answer.
#[cfg(target_os = "linux")]
fn advise_huge_pages(memory: *mut u8, bytes: usize) {
    let start = memory.align_offset(HUGE_PAGE);
    if bytes < start + HUGE_PAGE {
        return;
    }
    // SAFETY: the range lies within the allocation of `bytes` bytes at `memory`, starts on a page,
    // and MADV_HUGEPAGE changes no contents.
    unsafe {
        libc::madvise(memory.add(start).cast(), bytes - start, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_memory: *mut u8, _bytes: usize) {}

/// Starts fetching a line into the cache.
#[inline(always)]
pub(crate) fn prefetch<const WORDS: usize>(line: &Line<WORDS>) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching has no effect but on timing, and the address is that of a live reference.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(line).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn lines_are_zero_and_aligned() {
        let lines = zeroed_lines::<2>(100_000).expect("13 MB are there");
        assert_eq!(lines.len(), 100_000);
        assert_eq!(lines.as_ptr().align_offset(64), 0);
        let words = lines.iter().flat_map(|line| line.0.iter().flatten());
        assert!(words.map(|word| word.load(Ordering::Relaxed)).all(|word| word == 0));
        assert!(zeroed_lines::<1>(0).is_ok());
    }

    #[test]
    fn too_much_is_an_error() {
        for count in [usize::MAX, usize::MAX / 64, 1 << 56] {
            assert!(zeroed_lines::<1>(count).is_err());
        }
    }
}
