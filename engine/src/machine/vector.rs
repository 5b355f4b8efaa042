//! All lines from a square at once, with AVX-512.
//!
//! A 0x88 board has 128 bytes, and `vpermi2b` looks up 64 bytes out of 128 by 7-bit index: raw 0x88
//! coordinates are the index, and one mask tells which of them are on the board. So the eight rays of a
//! square and its eight knight's jumps are looked at together, in 64 lanes: eight groups of a jump and
//! seven steps of one direction. Which men stop the rays one subtraction tells for all groups.
//! Source: the byteboard articles at <https://87flowers.com>; their boards have 64 squares and need
//! other coordinates.
//!
//! Why it pays: captures are generated in half the time, exchanges looked at in two thirds, and the
//! search is 8 % faster. What comes out is the same with and without.

use crate::attack::steps;
use crate::piece::Kind;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Vector;
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use none::Vector;

/// The lanes of knight's jumps.
pub(crate) const JUMPS: u64 = 0x0101_0101_0101_0101;
/// The lanes next to the square.
pub(crate) const NEXT: u64 = JUMPS << 1;
/// The lanes along row and file.
pub(crate) const STRAIGHT: u64 = 0x0000_0000_fefe_fefe;
/// The lanes along the diagonals.
pub(crate) const DIAGONAL: u64 = STRAIGHT << 32;

/// From a square to that of each lane.
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

/// The coordinate of a lane, seen from a square.
#[inline(always)]
pub(crate) const fn lane_square(from: u8, lane: u32) -> u8 {
    from.wrapping_add(OFFSETS[(lane & 63) as usize])
}

/// What is seen from a square, by lanes.
#[derive(Clone, Copy)]
pub(crate) struct Sight {
    /// The squares that a man here reaches, if it moves that way: all on the board but those behind a
    /// man.
    pub(crate) reached: u64,
    /// The squares where men stand, also such that are not reached.
    pub(crate) occupied: u64,
    /// Those with white ones.
    pub(crate) white: u64,
}

/// The men around a square, by lanes.
pub(crate) struct Around {
    pub(crate) on_board: u64,
    /// The squares where men stand.
    pub(crate) occupied: u64,
    /// Those with white ones.
    pub(crate) white: u64,
    /// Those with men that attack the square unless something stands between: pawns, knights, bishops,
    /// rooks, queens and kings.
    pub(crate) attackers: [u64; 6],
}

/// The lanes that are reached: all on the board but those behind men.
#[inline(always)]
pub(crate) const fn reached(occupied: u64, on_board: u64) -> u64 {
    // In each group, jump and last step count as men: subtracting 3 turns the jump's bit and all up
    // to the first man.
    let stops = occupied | 0x8181_8181_8181_8181;
    (stops ^ stops.wrapping_sub(0x0303_0303_0303_0303)) & on_board
}

/// The lane of a square, seen from another, as a bit; 0 if it has none.
#[inline(always)]
pub(crate) const fn lane_of(from: u8, to: u8) -> u64 {
    LANES[to.wrapping_sub(from) as usize]
}

/// The lane of each difference, as a bit.
const LANES: [u64; 256] = {
    let mut lanes = [0; 256];
    let mut lane = 0;
    while lane < 64 {
        lanes[OFFSETS[lane] as usize] = 1 << lane;
        lane += 1;
    }
    lanes
};

/// Something to do with vectors if the processor has them.
pub(crate) trait Task {
    /// What comes of it.
    type Output;

    /// Does it; to be inlined.
    fn run(self, vector: Vector) -> Self::Output;
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{Around, DIAGONAL, JUMPS, NEXT, OFFSETS, STRAIGHT, Sight, Task, lane_of, reached};
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

    /// All that `target_feature` below enables.
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

    /// The proof that the processor has what is needed: there is none without having asked it.
    #[derive(Clone, Copy)]
    pub(crate) struct Vector(());

    impl Vector {
        /// Whether the processor can, and may.
        #[inline(always)]
        pub(crate) fn new() -> Option<Vector> {
            FOUND.then_some(Vector(()))
        }

        /// Does a task, compiled for the processor that this proves.
        #[inline(always)]
        pub(crate) fn run<T: Task>(self, task: T) -> T::Output {
            // SAFETY: there is a `Vector` only because `new` saw all features that are enabled.
            unsafe { run(self, task) }
        }

        /// The men around a square.
        #[inline(always)]
        pub(crate) fn around(self, squares: &Squares, square: u8) -> Around {
            // SAFETY: as in `run`.
            unsafe { around(squares, square) }
        }

        /// What is seen from a square.
        #[inline(always)]
        pub(crate) fn sight(self, squares: &Squares, from: u8) -> Sight {
            // SAFETY: as in `run`.
            unsafe { sight(squares, from) }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2,lzcnt,popcnt")]
    fn run<T: Task>(vector: Vector, task: T) -> T::Output {
        task.run(vector)
    }

    /// The lanes from which a side's pawns attack.
    const fn pawn_lanes(side: Side) -> u64 {
        let [one, other] = pawn_attack_origins(side, 0);
        lane_of(0, one) | lane_of(0, other)
    }

    /// Which lanes are on the board, and what stands there.
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
        let men = _mm512_maskz_permutex2var_epi8(on_board, low, coordinates, high);
        (on_board, men)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2,lzcnt,popcnt")]
    fn sight(squares: &Squares, from: u8) -> Sight {
        let (on_board, men) = gather(squares, from);
        let occupied = _mm512_test_epi8_mask(men, men);
        let white = _mm512_test_epi8_mask(men, _mm512_set1_epi8(8));
        Sight { reached: reached(occupied, on_board), occupied, white }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2,lzcnt,popcnt")]
    fn around(squares: &Squares, square: u8) -> Around {
        let (on_board, men) = gather(squares, square);
        let occupied = _mm512_test_epi8_mask(men, men);
        let white = _mm512_test_epi8_mask(men, _mm512_set1_epi8(8));
        let kinds = _mm512_and_si512(men, _mm512_set1_epi8(7));
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
        Around { on_board, occupied, white, attackers }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod none {
    use super::{Around, Sight, Task};
    use crate::attack::Squares;

    /// Other processors have none: `new` never makes one, and what it could do is never asked.
    #[derive(Clone, Copy)]
    pub(crate) struct Vector(());

    impl Vector {
        pub(crate) const fn new() -> Option<Vector> {
            None
        }

        pub(crate) fn run<T: Task>(self, task: T) -> T::Output {
            task.run(self)
        }

        pub(crate) const fn around(self, _squares: &Squares, _square: u8) -> Around {
            Around { on_board: 0, occupied: 0, white: 0, attackers: [0; 6] }
        }

        pub(crate) const fn sight(self, _squares: &Squares, _from: u8) -> Sight {
            Sight { reached: 0, occupied: 0, white: 0 }
        }
    }
}
