//! The arithmetic of the network: sums of rows of weights, and the output of clamped, squared sums.
//!
//! All numbers have 16 bits and come in blocks of 32, the length of a cache line and of the longest
//! vectors. The sums of rows are one loop, compiled once for each set of instructions: the compiler turns a
//! block into as many vectors as it takes. The output is written out for each: its heart is one instruction
//! that multiplies 16-bit numbers and adds pairs of products. The limits that a network's weights have to
//! keep make room for that.
//! Source of the trick: <https://www.chessprogramming.org/NNUE>, squared clipped ReLU as in many engines.

use super::instructions::InstructionSet;

/// The numbers of a block.
pub(crate) const LANES: usize = 32;

/// The highest activation of a neuron.
pub(crate) const CLAMP: i16 = 255;

/// Neighbouring numbers on a cache line of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(64))]
pub(crate) struct Block(pub(crate) [i16; LANES]);

impl Block {
    pub(crate) const ZERO: Block = Block([0; LANES]);
}

/// The door to the vectors: a set of instructions that the processor has been seen to have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernels(InstructionSet);

impl Kernels {
    /// With the set of instructions that is used in this process.
    pub(crate) fn new() -> Kernels {
        Kernels(InstructionSet::chosen())
    }

    /// With this set, if the processor has it.
    #[cfg(test)]
    pub(crate) fn with(set: InstructionSet) -> Option<Kernels> {
        set.is_available().then_some(Kernels(set))
    }

    /// Sets `to` to `from` with some rows added and some taken off, all of the same length.
    #[inline]
    pub(crate) fn update<const A: usize, const T: usize>(
        self,
        to: &mut [Block],
        from: &[Block],
        added: [&[Block]; A],
        taken: [&[Block]; T],
    ) {
        match self.0 {
            // SAFETY: there are `Kernels` only with a set that the processor has.
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => unsafe { avx512::update(to, from, added, taken) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => unsafe { avx2::update(to, from, added, taken) },
            _ => update(to, from, added, taken),
        }
    }

    /// Adds some rows of a table to a sum and takes some off; each is given by its number.
    #[inline]
    pub(crate) fn apply(self, sum: &mut [Block], table: &[Block], added: &[u16], taken: &[u16]) {
        match self.0 {
            // SAFETY: there are `Kernels` only with a set that the processor has.
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => unsafe { avx512::apply(sum, table, added, taken) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => unsafe { avx2::apply(sum, table, added, taken) },
            _ => apply(sum, table, added, taken),
        }
    }

    /// The sum of `clamp(x, 0, CLAMP)^2 * w` over two accumulators. `CLAMP * w` fits 16 bits, and the sum 32
    /// even if all terms have one sign.
    #[inline]
    pub(crate) fn output(self, sums: [&[Block]; 2], weights: [&[Block]; 2]) -> i32 {
        match self.0 {
            // SAFETY: there are `Kernels` only with a set that the processor has.
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => unsafe { avx512::output(sums, weights) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => unsafe { avx2::output(sums, weights) },
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            InstructionSet::Neon => unsafe { neon::output(sums, weights) },
            _ => output(sums, weights),
        }
    }
}

#[inline(always)]
fn update<const A: usize, const T: usize>(
    to: &mut [Block],
    from: &[Block],
    added: [&[Block]; A],
    taken: [&[Block]; T],
) {
    let length = to.len();
    let from = &from[..length];
    // All as long, so that no step is checked.
    let same = added.iter().chain(&taken).all(|row| row.len() == length);
    assert!(same, "rows of one length");
    for i in 0..length {
        let mut block = from[i];
        for row in added {
            add(&mut block, &row[i]);
        }
        for row in taken {
            take(&mut block, &row[i]);
        }
        to[i] = block;
    }
}

#[inline(always)]
fn apply(sum: &mut [Block], table: &[Block], added: &[u16], taken: &[u16]) {
    let length = sum.len();
    for (i, block) in sum.iter_mut().enumerate() {
        for &row in added {
            add(block, &table[usize::from(row) * length + i]);
        }
        for &row in taken {
            take(block, &table[usize::from(row) * length + i]);
        }
    }
}

#[inline(always)]
fn add(to: &mut Block, weights: &Block) {
    for (number, weight) in to.0.iter_mut().zip(weights.0) {
        *number = number.wrapping_add(weight);
    }
}

#[inline(always)]
fn take(from: &mut Block, weights: &Block) {
    for (number, weight) in from.0.iter_mut().zip(weights.0) {
        *number = number.wrapping_sub(weight);
    }
}

fn output(sums: [&[Block]; 2], weights: [&[Block]; 2]) -> i32 {
    let mut total = 0;
    for (sums, weights) in sums.into_iter().zip(weights) {
        for (block, weights) in sums.iter().zip(weights) {
            let products = block.0.iter().zip(weights.0).map(|(&number, weight)| {
                let active = number.clamp(0, CLAMP);
                i32::from(active.wrapping_mul(weight)) * i32::from(active)
            });
            total += products.sum::<i32>();
        }
    }
    total
}

/// The plain loops of the sums, which the compiler turns into vector instructions of these features.
#[cfg(target_arch = "x86_64")]
macro_rules! compile_sums_for {
    ($features:literal) => {
        #[target_feature(enable = $features)]
        pub(super) fn update<const A: usize, const T: usize>(
            to: &mut [Block],
            from: &[Block],
            added: [&[Block]; A],
            taken: [&[Block]; T],
        ) {
            super::update(to, from, added, taken);
        }

        #[target_feature(enable = $features)]
        pub(super) fn apply(sum: &mut [Block], table: &[Block], added: &[u16], taken: &[u16]) {
            super::apply(sum, table, added, taken);
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{Block, CLAMP};
    use std::arch::x86_64::{
        _mm512_add_epi32, _mm512_load_si512, _mm512_madd_epi16, _mm512_max_epi16, _mm512_min_epi16,
        _mm512_mullo_epi16, _mm512_reduce_add_epi32, _mm512_set1_epi16, _mm512_setzero_si512,
    };

    compile_sums_for!("avx512f,avx512bw");

    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn output(sums: [&[Block]; 2], weights: [&[Block]; 2]) -> i32 {
        let (zero, most) = (_mm512_setzero_si512(), _mm512_set1_epi16(CLAMP));
        let mut totals = [zero; 2];
        for ((sums, weights), total) in sums.into_iter().zip(weights).zip(&mut totals) {
            for (block, weights) in sums.iter().zip(weights) {
                // SAFETY: a block is 64 bytes, on a boundary of 64.
                let (numbers, weights) = unsafe {
                    (
                        _mm512_load_si512(block.0.as_ptr().cast()),
                        _mm512_load_si512(weights.0.as_ptr().cast()),
                    )
                };
                let active = _mm512_min_epi16(_mm512_max_epi16(numbers, zero), most);
                let weighted = _mm512_mullo_epi16(active, weights);
                *total = _mm512_add_epi32(*total, _mm512_madd_epi16(weighted, active));
            }
        }
        _mm512_reduce_add_epi32(_mm512_add_epi32(totals[0], totals[1]))
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Block, CLAMP};
    use std::arch::x86_64::{
        __m256i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_shuffle_epi32, _mm_unpackhi_epi64,
        _mm256_add_epi32, _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_load_si256,
        _mm256_madd_epi16, _mm256_max_epi16, _mm256_min_epi16, _mm256_mullo_epi16,
        _mm256_set1_epi16, _mm256_setzero_si256,
    };

    compile_sums_for!("avx2");

    #[target_feature(enable = "avx2")]
    pub(super) fn output(sums: [&[Block]; 2], weights: [&[Block]; 2]) -> i32 {
        let (zero, most) = (_mm256_setzero_si256(), _mm256_set1_epi16(CLAMP));
        let mut totals = [zero; 2];
        for (sums, weights) in sums.into_iter().zip(weights) {
            for (block, weights) in sums.iter().zip(weights) {
                for (half, total) in totals.iter_mut().enumerate() {
                    // SAFETY: a block is 64 bytes, on a boundary of 64: two halves of 32.
                    let (numbers, weights) = unsafe {
                        (
                            _mm256_load_si256(block.0.as_ptr().cast::<__m256i>().add(half)),
                            _mm256_load_si256(weights.0.as_ptr().cast::<__m256i>().add(half)),
                        )
                    };
                    let active = _mm256_min_epi16(_mm256_max_epi16(numbers, zero), most);
                    let weighted = _mm256_mullo_epi16(active, weights);
                    *total = _mm256_add_epi32(*total, _mm256_madd_epi16(weighted, active));
                }
            }
        }
        let eight = _mm256_add_epi32(totals[0], totals[1]);
        let (low, high) = (_mm256_castsi256_si128(eight), _mm256_extracti128_si256::<1>(eight));
        let four = _mm_add_epi32(low, high);
        let two = _mm_add_epi32(four, _mm_unpackhi_epi64(four, four));
        _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<1>(two)))
    }
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use super::{Block, CLAMP};
    use std::arch::aarch64::{
        vaddvq_s32, vdupq_n_s16, vdupq_n_s32, vget_low_s16, vld1q_s16, vmaxq_s16, vminq_s16,
        vmlal_high_s16, vmlal_s16, vmulq_s16,
    };

    /// The sums of rows need no function of their own: this processor's plain code has these vectors.
    #[target_feature(enable = "neon")]
    pub(super) fn output(sums: [&[Block]; 2], weights: [&[Block]; 2]) -> i32 {
        let (zero, most) = (vdupq_n_s16(0), vdupq_n_s16(CLAMP));
        let mut totals = [[vdupq_n_s32(0); 2]; 4];
        for (sums, weights) in sums.into_iter().zip(weights) {
            for (block, weights) in sums.iter().zip(weights) {
                for (quarter, [low, high]) in totals.iter_mut().enumerate() {
                    // SAFETY: a block is 32 numbers: four quarters of 8.
                    let (numbers, weights) = unsafe {
                        (
                            vld1q_s16(block.0.as_ptr().add(8 * quarter)),
                            vld1q_s16(weights.0.as_ptr().add(8 * quarter)),
                        )
                    };
                    let active = vminq_s16(vmaxq_s16(numbers, zero), most);
                    let weighted = vmulq_s16(active, weights);
                    *low = vmlal_s16(*low, vget_low_s16(weighted), vget_low_s16(active));
                    *high = vmlal_high_s16(*high, weighted, active);
                }
            }
        }
        totals.into_iter().flatten().map(|total| vaddvq_s32(total)).sum()
    }
}
