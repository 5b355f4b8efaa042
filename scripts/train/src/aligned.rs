//! Numbers that begin at a cache line.

use std::ops::{Deref, DerefMut};

/// A cache line, and the widest vector, in numbers.
const LINE: usize = 16;

/// Numbers of which every sixteenth begins a cache line: no vector of them lies across two, which costs
/// twice the time.
#[derive(Debug)]
pub(crate) struct Aligned {
    numbers: Vec<f32>,
    skipped: usize,
}

impl Aligned {
    /// So many zeros.
    pub(crate) fn zeros(count: usize) -> Aligned {
        let mut numbers = vec![0.0; count + LINE];
        let skipped = numbers.as_ptr().align_offset(LINE * size_of::<f32>()).min(LINE);
        numbers.truncate(skipped + count);
        Aligned { numbers, skipped }
    }

    /// The same numbers.
    pub(crate) fn of(numbers: &[f32]) -> Aligned {
        let mut aligned = Aligned::zeros(numbers.len());
        aligned.copy_from_slice(numbers);
        aligned
    }
}

impl PartialEq for Aligned {
    fn eq(&self, other: &Aligned) -> bool {
        **self == **other
    }
}

impl Deref for Aligned {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.numbers[self.skipped..]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.numbers[self.skipped..]
    }
}

#[cfg(test)]
mod tests {
    use super::Aligned;

    #[test]
    fn they_begin_at_a_line() {
        for count in [0, 1, 15, 16, 1000, 100_000] {
            let aligned = Aligned::of(&vec![1.0; count]);
            assert_eq!((aligned.as_ptr().addr() % 64, aligned.len()), (0, count));
            assert!(aligned.iter().all(|&number| number == 1.0));
        }
    }
}
