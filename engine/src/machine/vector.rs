//! All rays of a square at once, with AVX-512.
//!
//! `vpermi2b` looks up 64 bytes out of 128 by 7-bit indices. A 0x88 board has 128 bytes, so raw 0x88
//! coordinates are such indices, and testing them against `0x88` tells which are on the board. One lookup
//! reads a square's eight knight jumps and eight rays into 64 lanes (bytes): eight groups, each one jump
//! and the seven squares of one ray. One subtraction finds the first blocker of all rays.
//! Source: the byteboard articles at <https://87flowers.com>; their boards have 64 squares and need
//! other coordinates.
//!
//! Why: captures are generated in half the time, static exchange evaluation takes two thirds, and the
//! search is 8 % faster. Results are the same with and without.

use crate::attack::steps;
use crate::piece::Kind;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use none::Avx512;

/// The lanes of knight jumps.
pub(crate) const JUMPS: u64 = 0x0101_0101_0101_0101;
/// The lanes of adjacent squares, where a king goes.
pub(crate) const NEXT: u64 = JUMPS << 1;
/// The lanes of a rook's rays.
pub(crate) const STRAIGHT: u64 = 0x0000_0000_fefe_fefe;
/// The lanes of a bishop's rays.
pub(crate) const DIAGONAL: u64 = STRAIGHT << 32;

/// What to add to the square for the coordinate of each lane.
const OFFSETS: [u8; 64] = {
    let mut offsets = [0; 64];
    let (jumps, lines) = (steps(Kind::Knight), steps(Kind::Queen));
    let mut group = 0;
    while group < 8 {
        offsets[8 * group] = jumps[group] as u8;
        let mut n = 1;
        while n < 8 {
            offsets[8 * group + n] = (lines[group] * n as i8) as u8;
            n += 1;
        }
        group += 1;
    }
    offsets
};

/// The coordinate of a lane of the square `from`.
#[inline(always)]
pub(crate) const fn lane_square(from: u8, lane: u32) -> u8 {
    from.wrapping_add(OFFSETS[(lane & 63) as usize])
}

/// The rays and knight jumps from a square, a bit for each lane.
#[derive(Clone, Copy)]
pub(crate) struct RaysFrom {
    /// The squares on the board that no piece hides: a ray's up to and including its first blocker, and
    /// all jumps.
    pub(crate) visible: u64,
    /// The occupied squares, whether visible or not.
    pub(crate) occupied: u64,
    /// Those with white ones.
    pub(crate) white: u64,
}

/// The rays and knight jumps to a square, with the pieces that might attack it along them.
pub(crate) struct RaysTo {
    /// The lanes whose squares are on the board.
    pub(crate) on_board: u64,
    /// The occupied squares, whether visible or not.
    pub(crate) occupied: u64,
    /// Those with white ones.
    pub(crate) white: u64,
    /// Those with pieces that attack the square if nothing stands between, by kind: pawns, knights,
    /// bishops, rooks, queens, kings.
    pub(crate) attackers: [u64; 6],
}

/// The visible lanes: those on the board with no piece between them and the square.
#[inline(always)]
pub(crate) const fn visible(occupied: u64, on_board: u64) -> u64 {
    // Each byte is one group, with the jump in bit 0 and the ray in bits 1 to 7; bits 0 and 7 are set as
    // sentinels. Subtracting 3 flips the bits up to and including the first blocker, and no others.
    let stops = occupied | 0x8181_8181_8181_8181;
    (stops ^ stops.wrapping_sub(0x0303_0303_0303_0303)) & on_board
}

/// The lane of the square `to` among those of `from`, as a bit; 0 if no ray or jump leads there.
#[inline(always)]
pub(crate) const fn lane_of(from: u8, to: u8) -> u64 {
    LANES[to.wrapping_sub(from) as usize]
}

/// The lane of each 0x88 difference, as a bit.
const LANES: [u64; 256] = {
    let mut lanes = [0; 256];
    let mut lane = 0;
    while lane < 64 {
        lanes[OFFSETS[lane] as usize] = 1 << lane;
        lane += 1;
    }
    lanes
};

/// Code to compile with AVX-512 and run where the processor has it.
pub(crate) trait Kernel {
    /// What it returns.
    type Output;

    /// Runs it. `#[inline(always)]`, so that it is compiled with the features of its caller.
    fn run(self, avx512: Avx512) -> Self::Output;
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{
        DIAGONAL, JUMPS, Kernel, NEXT, OFFSETS, RaysFrom, RaysTo, STRAIGHT, lane_of, visible,
    };
    use crate::attack::{Squares, pawn_attack_origins};
    use crate::machine::instructions::InstructionSet;
    use crate::piece::{Kind, Side};
    use crate::square::OFF_BOARD;
    use std::arch::x86_64::{
        __m512i, _mm512_add_epi8, _mm512_and_si512, _mm512_cmpeq_epi8_mask, _mm512_loadu_epi8,
        _mm512_maskz_permutex2var_epi8, _mm512_set1_epi8, _mm512_test_epi8_mask,
        _mm512_testn_epi8_mask,
    };
    use std::sync::LazyLock;

    /// Whether the processor has all features that `target_feature` enables below.
    static FOUND: LazyLock<bool> = LazyLock::new(|| {
        InstructionSet::chosen() == InstructionSet::Avx512
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
    });

    /// Proof that the processor has AVX-512: only [`Avx512::new`] makes one, after asking.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512(());

    impl Avx512 {
        /// The proof, if the processor has the features.
        #[inline(always)]
        pub(crate) fn new() -> Option<Avx512> {
            FOUND.then_some(Avx512(()))
        }

        /// Runs a kernel, compiled with AVX-512.
        #[inline(always)]
        pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
            // SAFETY: there is an `Avx512` only because `new` saw all features that are enabled.
            unsafe { run(self, kernel) }
        }

        /// The rays to a square.
        #[inline(always)]
        pub(crate) fn rays_to(self, squares: &Squares, square: u8) -> RaysTo {
            // SAFETY: as in `run`.
            unsafe { rays_to(squares, square) }
        }

        /// The rays from a square.
        #[inline(always)]
        pub(crate) fn rays_from(self, squares: &Squares, from: u8) -> RaysFrom {
            // SAFETY: as in `run`.
            unsafe { rays_from(squares, from) }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2,lzcnt,popcnt")]
    fn run<K: Kernel>(avx512: Avx512, kernel: K) -> K::Output {
        kernel.run(avx512)
    }

    /// The lanes from which a side's pawns attack the square.
    const fn pawn_lanes(side: Side) -> u64 {
        let [one, other] = pawn_attack_origins(side, 0);
        lane_of(0, one) | lane_of(0, other)
    }

    /// Which lanes are on the board, and the piece bytes there.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2,lzcnt,popcnt")]
    fn gather(squares: &Squares, from: u8) -> (u64, __m512i) {
        // SAFETY: 64 bytes from the beginning of 64, and from the beginning and middle of 128.
        let (low, high, offsets) = unsafe {
            let first = squares.as_ptr().cast::<i8>();
            let offsets = OFFSETS.as_ptr().cast::<i8>();
            (_mm512_loadu_epi8(first), _mm512_loadu_epi8(first.add(64)), _mm512_loadu_epi8(offsets))
        };
        let coordinates = _mm512_add_epi8(_mm512_set1_epi8(from as i8), offsets);
        let on_board = _mm512_testn_epi8_mask(coordinates, _mm512_set1_epi8(OFF_BOARD as i8));
        let pieces = _mm512_maskz_permutex2var_epi8(on_board, low, coordinates, high);
        (on_board, pieces)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2,lzcnt,popcnt")]
    fn rays_from(squares: &Squares, from: u8) -> RaysFrom {
        let (on_board, pieces) = gather(squares, from);
        let occupied = _mm512_test_epi8_mask(pieces, pieces);
        let white = _mm512_test_epi8_mask(pieces, _mm512_set1_epi8(8));
        RaysFrom { visible: visible(occupied, on_board), occupied, white }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2,lzcnt,popcnt")]
    fn rays_to(squares: &Squares, square: u8) -> RaysTo {
        let (on_board, pieces) = gather(squares, square);
        let occupied = _mm512_test_epi8_mask(pieces, pieces);
        let white = _mm512_test_epi8_mask(pieces, _mm512_set1_epi8(8));
        let kinds = _mm512_and_si512(pieces, _mm512_set1_epi8(7));
        let of = |kind: Kind| _mm512_cmpeq_epi8_mask(kinds, _mm512_set1_epi8(kind as i8));
        let attackers = [
            of(Kind::WhitePawn) & pawn_lanes(Side::White)
                | of(Kind::BlackPawn) & pawn_lanes(Side::Black),
            of(Kind::Knight) & JUMPS,
            of(Kind::Bishop) & DIAGONAL,
            of(Kind::Rook) & STRAIGHT,
            of(Kind::Queen) & (DIAGONAL | STRAIGHT),
            of(Kind::King) & NEXT,
        ];
        RaysTo { on_board, occupied, white, attackers }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod none {
    use super::{Kernel, RaysFrom, RaysTo};
    use crate::attack::Squares;

    /// Other processors have no AVX-512: `new` never makes a proof, so the rest is never called.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512(());

    impl Avx512 {
        pub(crate) const fn new() -> Option<Avx512> {
            None
        }

        pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
            kernel.run(self)
        }

        pub(crate) const fn rays_to(self, _squares: &Squares, _square: u8) -> RaysTo {
            RaysTo { on_board: 0, occupied: 0, white: 0, attackers: [0; 6] }
        }

        pub(crate) const fn rays_from(self, _squares: &Squares, _from: u8) -> RaysFrom {
            RaysFrom { visible: 0, occupied: 0, white: 0 }
        }
    }
}
