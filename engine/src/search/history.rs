//! Move histories and correction histories: what was good elsewhere in the tree.
//!
//! Updates have gravity: the larger an entry, the less it grows, so that none leaves its range. Sources: <https://www.chessprogramming.org/History_Heuristic>, and
//! <https://www.chessprogramming.org/Static_Evaluation_Correction_History>.

use super::partial_keys::{PartialKeys, SIDES, table_index};
use crate::board::Board;
use crate::machine::memory;
use crate::moves::Move;
use crate::params;
use crate::piece::{Kind, Piece, Side};
use crate::score::Score;
use crate::square::Square;

/// Bound of the entries of the move histories.
const HISTORY_LIMIT: i32 = 16384;
/// Bound of the entries of the correction histories.
const CORRECTION_LIMIT: i32 = 1024;
/// Entries of a correction history per side to move.
const CORRECTIONS: usize = 16384;
/// An entry times its weight in 128ths, divided by this, is in centipawns.
const CORRECTION_SCALE: i32 = 128 * 8;

const SQUARES: usize = 64;
const PIECES: usize = 12;
const KINDS: usize = Kind::COMPACT_COUNT;

#[inline(always)]
const fn compact(square: Square) -> usize {
    square.compact() as usize
}

/// A piece and where it goes, as an index below [`PieceTo::COUNT`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PieceTo(u16);

impl PieceTo {
    const COUNT: usize = PIECES * SQUARES;

    #[inline(always)]
    pub(crate) const fn new(piece: Piece, to: Square) -> PieceTo {
        PieceTo((piece.compact() * SQUARES + compact(to)) as u16)
    }

    #[inline(always)]
    const fn index(self) -> usize {
        self.0 as usize % PieceTo::COUNT
    }
}

/// How many plies back the moves are that continuation histories depend on.
pub(crate) const CONTINUATION_PLIES: [usize; CONTINUATIONS] = [1, 2, 4];
const CONTINUATIONS: usize = 3;

/// The moves so many plies back, where there are any.
pub(crate) type Continuations = [Option<PieceTo>; CONTINUATIONS];

type ByPieceTo = [i16; PieceTo::COUNT];

/// Stands for the continuation history where there was no earlier move.
static NOTHING: ByPieceTo = [0; PieceTo::COUNT];

/// The histories of the quiet moves of a position: main history and continuation histories.
#[derive(Clone, Copy)]
pub(crate) struct QuietScores<'a> {
    plain: &'a [[i16; SQUARES]; SQUARES],
    continued: [&'a ByPieceTo; CONTINUATIONS],
}

impl QuietScores<'_> {
    /// The history score of a quiet move.
    #[inline]
    pub(crate) fn of(&self, mv: Move, moving: PieceTo) -> i32 {
        let plain = self.plain[compact(mv.from())][compact(mv.to())];
        let continued: i32 =
            self.continued.iter().map(|known| i32::from(known[moving.index()])).sum();
        i32::from(plain) + continued
    }
}

/// All histories. Kept from one move of a game to the next.
pub(crate) struct Histories {
    quiet: [[[i16; SQUARES]; SQUARES]; 2],
    continuation: Vec<ByPieceTo>,
    capture: [[i16; KINDS]; PieceTo::COUNT],
    pawn_correction: Vec<[i16; 2]>,
    non_pawn_correction: [Vec<[i16; 2]>; 2],
}

impl Histories {
    pub(crate) fn new() -> Box<Histories> {
        Box::new(Histories {
            quiet: [[[0; SQUARES]; SQUARES]; 2],
            continuation: vec![[0; PieceTo::COUNT]; PieceTo::COUNT],
            capture: [[0; KINDS]; PieceTo::COUNT],
            pawn_correction: vec![[0; 2]; CORRECTIONS],
            non_pawn_correction: [vec![[0; 2]; CORRECTIONS], vec![[0; 2]; CORRECTIONS]],
        })
    }

    /// All numbers, part by part.
    pub(crate) fn parts(&self) -> [&[i16]; 6] {
        let [white, black] = &self.non_pawn_correction;
        [
            self.quiet.as_flattened().as_flattened(),
            self.continuation.as_flattened(),
            self.capture.as_flattened(),
            self.pawn_correction.as_flattened(),
            white.as_flattened(),
            black.as_flattened(),
        ]
    }

    /// The same to be changed.
    pub(crate) fn parts_mut(&mut self) -> [&mut [i16]; 6] {
        let [white, black] = &mut self.non_pawn_correction;
        [
            self.quiet.as_flattened_mut().as_flattened_mut(),
            self.continuation.as_flattened_mut(),
            self.capture.as_flattened_mut(),
            self.pawn_correction.as_flattened_mut(),
            white.as_flattened_mut(),
            black.as_flattened_mut(),
        ]
    }

    /// The bounds of their sizes, part by part.
    pub(crate) const LIMITS: [i32; 6] = [
        HISTORY_LIMIT,
        HISTORY_LIMIT,
        HISTORY_LIMIT,
        CORRECTION_LIMIT,
        CORRECTION_LIMIT,
        CORRECTION_LIMIT,
    ];

    /// The histories of a side's quiet moves after these moves.
    #[inline]
    pub(crate) fn quiet_scores(
        &self,
        side: Side,
        continuations: &Continuations,
    ) -> QuietScores<'_> {
        QuietScores {
            plain: &self.quiet[side.index()],
            continued: continuations.map(|previous| match previous {
                Some(previous) => &self.continuation[previous.index()],
                None => &NOTHING,
            }),
        }
    }

    /// The history score of a capture or promotion.
    #[inline]
    pub(crate) fn capture(&self, moving: PieceTo, captured: Kind) -> i32 {
        i32::from(self.capture[moving.index()][captured.compact()])
    }

    pub(crate) fn update_quiet(
        &mut self,
        side: Side,
        mv: Move,
        moving: PieceTo,
        continuations: &Continuations,
        bonus: i32,
    ) {
        apply(
            &mut self.quiet[side.index()][compact(mv.from())][compact(mv.to())],
            bonus,
            HISTORY_LIMIT,
        );
        for previous in continuations.iter().flatten() {
            apply(&mut self.continuation[previous.index()][moving.index()], bonus, HISTORY_LIMIT);
        }
    }

    pub(crate) fn update_capture(&mut self, moving: PieceTo, captured: Kind, bonus: i32) {
        apply(&mut self.capture[moving.index()][captured.compact()], bonus, HISTORY_LIMIT);
    }

    /// Prefetches the corrections of a position.
    #[inline]
    pub(crate) fn prefetch_correction(&self, keys: &PartialKeys) {
        memory::prefetch(&self.pawn_correction[table_index(keys.pawn, CORRECTIONS)]);
        for side in SIDES {
            let index = table_index(keys.non_pawn[side.index()], CORRECTIONS);
            memory::prefetch(&self.non_pawn_correction[side.index()][index]);
        }
    }

    /// The correction of the evaluation, in centipawns: its error in positions with the same keys.
    pub(crate) fn correction(&self, board: &Board, keys: &PartialKeys) -> Score {
        let us = board.side_to_move().index();
        let pawns = self.pawn_correction[table_index(keys.pawn, CORRECTIONS)][us];
        let others: i32 = SIDES
            .map(|side| {
                let table = &self.non_pawn_correction[side.index()];
                i32::from(table[table_index(keys.non_pawn[side.index()], CORRECTIONS)][us])
            })
            .iter()
            .sum();
        let weighted = i32::from(pawns) * params::correction_pawn_weight()
            + others * params::correction_non_pawn_weight();
        weighted / CORRECTION_SCALE
    }

    /// Learns that a search to `depth` found the evaluation too low by `error` centipawns.
    pub(crate) fn update_correction(
        &mut self,
        board: &Board,
        keys: &PartialKeys,
        depth: i32,
        error: Score,
    ) {
        let us = board.side_to_move().index();
        let bonus = (error * depth / params::correction_divisor())
            .clamp(-params::correction_bonus_max(), params::correction_bonus_max());
        let pawns = &mut self.pawn_correction[table_index(keys.pawn, CORRECTIONS)][us];
        apply(pawns, bonus, CORRECTION_LIMIT);
        for side in SIDES {
            let index = table_index(keys.non_pawn[side.index()], CORRECTIONS);
            apply(&mut self.non_pawn_correction[side.index()][index][us], bonus, CORRECTION_LIMIT);
        }
    }
}

/// The bonus of the best move at this depth, and the malus of the others.
pub(crate) fn bonus(depth: i32) -> i32 {
    (params::history_bonus() * depth - params::history_bonus_offset())
        .clamp(0, params::history_bonus_max())
}

#[inline]
fn apply(entry: &mut i16, bonus: i32, limit: i32) {
    let old = i32::from(*entry);
    let bonus = bonus.clamp(-limit, limit);
    *entry = (old + bonus - old * bonus.abs() / limit) as i16;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_in_range_and_move_towards_their_bonus() {
        let mut entry = 0;
        for _ in 0..1000 {
            apply(&mut entry, 2000, HISTORY_LIMIT);
            assert!((0..=HISTORY_LIMIT).contains(&i32::from(entry)));
        }
        assert!(entry > 14000);
        apply(&mut entry, -2000, HISTORY_LIMIT);
        assert!(entry < 14000);
        for _ in 0..1000 {
            apply(&mut entry, -100_000, HISTORY_LIMIT);
        }
        assert_eq!(i32::from(entry), -HISTORY_LIMIT);
    }
}
