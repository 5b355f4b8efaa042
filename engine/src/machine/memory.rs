//! Large zeroed memory and cache prefetching. Where memory can't be mapped, it comes from the heap.
//!
//! Why not the standard library: its aligned zeroed allocations are filled by hand, which takes half a
//! second for a gigabyte and touches the pages before huge pages can be asked for. Huge pages save a TLB
//! miss at each probe. Prefetching a bucket while the move is still being made cuts the cost of the probe
//! to a third.

use std::fmt;
use std::sync::atomic::AtomicU64;
#[cfg(any(unix, windows))]
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(any(unix, windows))]
use std::sync::{Mutex, PoisonError};
#[cfg(any(unix, windows))]
use std::thread;

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

/// Eight slots of the hash table, starting on a cache line of their own.
#[repr(C, align(64))]
pub(crate) struct Bucket<const WORDS: usize>(pub(crate) [[AtomicU64; WORDS]; 8]);

impl<const WORDS: usize> Bucket<WORDS> {
    const fn zeroed() -> Bucket<WORDS> {
        Bucket([const { [const { AtomicU64::new(0) }; WORDS] }; 8])
    }
}

/// Memory that is not used any more. To drop it takes the system some time, most of all where it has small
/// pages: better where nobody waits.
#[derive(Debug)]
pub struct Remains {
    #[cfg(any(unix, windows))]
    _memory: memmap2::MmapRaw,
}

#[cfg(not(any(unix, windows)))]
pub(crate) use heap::Buckets;
#[cfg(any(unix, windows))]
pub(crate) use mapped::Buckets;

/// The error of an allocation of `count` buckets.
const fn refused<const WORDS: usize>(count: usize) -> AllocationError {
    AllocationError { bytes: count.saturating_mul(size_of::<Bucket<WORDS>>()) }
}

/// Zeroes buckets slice by slice on up to `threads` threads, until `is_over`, which is asked before each slice
/// of this one, says so. Returns the first bucket that may not be zero then.
#[cfg(any(unix, windows))]
fn zero<const WORDS: usize>(
    buckets: &mut [Bucket<WORDS>],
    slice: usize,
    threads: usize,
    is_over: &mut dyn FnMut() -> bool,
) -> Option<usize> {
    let count = buckets.len();
    let helpers = threads.min(count.div_ceil(slice)).saturating_sub(1);
    let slices = Mutex::new((0..).step_by(slice).zip(buckets.chunks_mut(slice)));
    let next = || slices.lock().unwrap_or_else(PoisonError::into_inner).next();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let help = || {
            while !stop.load(Ordering::Relaxed)
                && let Some((_, slice)) = next()
            {
                slice.fill_with(Bucket::zeroed);
            }
        };
        for _ in 0..helpers {
            if thread::Builder::new().spawn_scoped(scope, help).is_err() {
                break;
            }
        }
        while let Some((from, slice)) = next() {
            if is_over() {
                stop.store(true, Ordering::Relaxed);
                return Some(from);
            }
            slice.fill_with(Bucket::zeroed);
        }
        None
    })
}

/// Mapped memory, where the system can map.
#[cfg(any(unix, windows))]
mod mapped {
    use super::{AllocationError, Bucket, Remains, refused, zero};
    use memmap2::{MmapMut, MmapRaw};
    use std::ops::{Deref, DerefMut};

    /// The size of a huge page; smaller tables gain nothing from them.
    const HUGE_PAGE: usize = 2 << 20;

    /// So many bytes at most are touched when emptied: otherwise the search would take the page faults, and a
    /// stop would wait for them. Beyond, the system may not have all the memory that it promises.
    const TOUCHED: usize = 2 << 30;

    /// A slice of buckets in memory of their own.
    pub(crate) struct Buckets<const WORDS: usize> {
        memory: MmapRaw,
        /// Where the first bucket starts in the memory: on a huge page if there is one.
        start: usize,
        count: usize,
        /// Some of the pages are small, where there could be huge ones, or not there yet.
        has_small_pages: bool,
    }

    impl<const WORDS: usize> Buckets<WORDS> {
        /// `count` zeroed buckets. The system gives each page when it is first written to, a small one;
        /// [`Self::clear_until`] gets them all at once, and huge ones.
        ///
        /// # Errors
        /// If the system does not give the memory.
        pub(crate) fn zeroed(count: usize) -> Result<Buckets<WORDS>, AllocationError> {
            let error = refused::<WORDS>(count);
            let bytes = count.checked_mul(size_of::<Bucket<WORDS>>()).ok_or(error)?;
            let spare = if bytes >= HUGE_PAGE { HUGE_PAGE } else { 0 };
            let total = bytes.checked_add(spare).filter(|&total| total <= isize::MAX as usize);
            let memory = MmapMut::map_anon(total.ok_or(error)?.max(1)).map_err(|_| error)?;
            let memory = MmapRaw::from(memory);
            let start = memory.as_ptr().align_offset(HUGE_PAGE).min(spare);
            Ok(Buckets { memory, start, count, has_small_pages: true })
        }

        /// Zeroes the buckets and touches the first [`TOUCHED`] bytes of them, in slices of a huge page on up to
        /// `threads` threads, until `hurried` says that somebody waits. Then they are mapped anew, which takes next
        /// to no time, and what is left gets small pages when it is written to: the first write to a huge one takes
        /// long.
        ///
        /// Returns the old memory if it was mapped anew. To give it back takes time, too.
        pub(crate) fn clear_until(
            &mut self,
            threads: usize,
            hurried: &mut dyn FnMut() -> bool,
        ) -> Option<Remains> {
            const SLICE: usize = HUGE_PAGE;
            let size = size_of::<Bucket<WORDS>>();
            let touched = self.count.min(TOUCHED / size);
            let is_large = self.count > touched;
            let mut old = if self.has_small_pages || is_large { self.replace() } else { None };
            let end = if old.is_some() { touched } else { self.count };
            self.advise(0, true);
            self.has_small_pages = false;
            let (count, is_fresh) = (self.count, old.is_some());
            let mut fresh = None;
            let is_over = &mut || {
                hurried()
                    && (is_fresh || {
                        fresh = Buckets::zeroed(count).ok();
                        // Else there is no memory for both at once.
                        fresh.is_some()
                    })
            };
            if let Some(from) = zero(&mut self[..end], SLICE / size, threads, is_over) {
                if let Some(fresh) = fresh {
                    old = Some(Remains { _memory: std::mem::replace(self, fresh).memory });
                }
                self.has_small_pages = true;
                self.advise(from, false);
            }
            old
        }

        /// Maps the buckets anew, if the system has the memory, and returns the old mapping.
        fn replace(&mut self) -> Option<Remains> {
            let fresh = Buckets::zeroed(self.count).ok()?;
            Some(Remains { _memory: std::mem::replace(self, fresh).memory })
        }

        /// Asks for huge pages from a bucket on, or for small ones. Only advice: a refusal costs speed.
        fn advise(&self, from: usize, huge: bool) {
            #[cfg(target_os = "linux")]
            if self.count > from {
                use memmap2::Advice;
                let size = size_of::<Bucket<WORDS>>();
                let advice = if huge { Advice::HugePage } else { Advice::NoHugePage };
                let (offset, length) = (self.start + from * size, (self.count - from) * size);
                let _ = self.memory.advise_range(advice, offset, length);
            }
            #[cfg(not(target_os = "linux"))]
            let _ = (from, huge);
        }
    }

    impl<const WORDS: usize> Deref for Buckets<WORDS> {
        type Target = [Bucket<WORDS>];

        #[inline(always)]
        fn deref(&self) -> &[Bucket<WORDS>] {
            // SAFETY: `zeroed` mapped at least `start` bytes and `count` buckets, which live as long as
            // `self`. A mapping starts on a page and `start` is 0 or leads to a huge page, so the buckets
            // are aligned. They were zero when mapped, which is a valid `Bucket` (it consists of
            // integers), and only `Bucket`s have been written since: the memory is private to `self`, which
            // holds it by a raw pointer and makes no other reference to it.
            unsafe {
                std::slice::from_raw_parts(
                    self.memory.as_mut_ptr().add(self.start).cast(),
                    self.count,
                )
            }
        }
    }

    impl<const WORDS: usize> DerefMut for Buckets<WORDS> {
        fn deref_mut(&mut self) -> &mut [Bucket<WORDS>] {
            // SAFETY: as in `deref`, and `self` is borrowed mutably.
            unsafe {
                let first = self.memory.as_mut_ptr().add(self.start).cast();
                std::slice::from_raw_parts_mut(first, self.count)
            }
        }
    }
}

/// Heap memory, for systems without mappings such as WebAssembly. Compiled for tests everywhere.
#[cfg(any(test, not(any(unix, windows))))]
mod heap {
    use super::{AllocationError, Bucket, Remains, refused};
    use std::ops::{Deref, DerefMut};

    /// A slice of buckets on the heap.
    pub(crate) struct Buckets<const WORDS: usize>(Vec<Bucket<WORDS>>);

    impl<const WORDS: usize> Buckets<WORDS> {
        /// `count` zeroed buckets.
        ///
        /// # Errors
        /// If the system does not give the memory.
        pub(crate) fn zeroed(count: usize) -> Result<Buckets<WORDS>, AllocationError> {
            let mut buckets = Vec::new();
            buckets.try_reserve_exact(count).map_err(|_| refused::<WORDS>(count))?;
            buckets.resize_with(count, Bucket::zeroed);
            Ok(Buckets(buckets))
        }

        /// Zeroes the buckets. Fresh memory would take no less time, so nobody can hurry it.
        pub(crate) fn clear_until(
            &mut self,
            _: usize,
            _: &mut dyn FnMut() -> bool,
        ) -> Option<Remains> {
            self.0.fill_with(Bucket::zeroed);
            None
        }
    }

    impl<const WORDS: usize> Deref for Buckets<WORDS> {
        type Target = [Bucket<WORDS>];

        #[inline(always)]
        fn deref(&self) -> &[Bucket<WORDS>] {
            &self.0
        }
    }

    impl<const WORDS: usize> DerefMut for Buckets<WORDS> {
        fn deref_mut(&mut self) -> &mut [Bucket<WORDS>] {
            &mut self.0
        }
    }
}

/// Prefetches the cache line that a value begins on.
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
    use super::{Bucket, heap, mapped};
    use std::sync::atomic::Ordering;

    fn check<const WORDS: usize>(buckets: &[Bucket<WORDS>]) {
        assert_eq!(buckets.len(), 100_000);
        assert_eq!(buckets.as_ptr().align_offset(64), 0);
        let words = buckets.iter().flat_map(|bucket| bucket.0.iter().flatten());
        assert!(words.map(|word| word.load(Ordering::Relaxed)).all(|word| word == 0));
    }

    #[test]
    fn buckets_are_zero_and_aligned() {
        check(&mapped::Buckets::<2>::zeroed(100_000).expect("13 MB are there"));
        check(&heap::Buckets::<2>::zeroed(100_000).expect("13 MB are there"));
        assert!(mapped::Buckets::<1>::zeroed(0).is_ok());
        assert!(heap::Buckets::<1>::zeroed(0).is_ok());
    }

    #[test]
    fn buckets_are_zero_however_they_were_cleared() {
        let mut buckets = mapped::Buckets::<2>::zeroed(100_000).expect("13 MB are there");
        // At once, after some slices, and not at all; twice, as the pages are others after a hurry.
        for slices in [0, 1, 3, 100, 0, 2, 100, 100] {
            for word in buckets.iter().flat_map(|bucket| bucket.0.iter().flatten()) {
                word.store(u64::MAX, Ordering::Relaxed);
            }
            let mut left = slices;
            let _remains = buckets.clear_until(1, &mut || {
                left -= 1;
                left < 0
            });
            assert_eq!(left < 0, slices < 7, "12.8 MB are 7 slices");
            check(&buckets);
        }
        for (threads, slices) in [(2, 0), (3, 2), (4, 100), (100, 1), (2, 100)] {
            for word in buckets.iter().flat_map(|bucket| bucket.0.iter().flatten()) {
                word.store(u64::MAX, Ordering::Relaxed);
            }
            let mut left = slices;
            let _remains = buckets.clear_until(threads, &mut || {
                left -= 1;
                left < 0
            });
            check(&buckets);
        }
        let mut buckets = heap::Buckets::<2>::zeroed(100_000).expect("13 MB are there");
        buckets[7].0[3][1] = 7.into();
        assert!(buckets.clear_until(1, &mut || false).is_none());
        check(&buckets);
    }

    #[test]
    fn too_much_is_an_error() {
        for count in [usize::MAX, usize::MAX / 64, 1 << 56] {
            let told = mapped::Buckets::<1>::zeroed(count).err().map(|error| error.bytes);
            assert_eq!(told, Some(count.saturating_mul(64)));
            assert_eq!(heap::Buckets::<1>::zeroed(count).err().map(|error| error.bytes), told);
        }
    }
}
