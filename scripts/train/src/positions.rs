//! Positions to learn from: which ones, and how they are kept.

use std::fmt;
use std::ops::AddAssign;
use std::sync::LazyLock;

use cairn_engine::board::Board;
use cairn_engine::eval::Damping;
use cairn_engine::eval::network::{INPUTS, bucket, feature};
use cairn_engine::piece::{Kind, Piece, Side};
use cairn_engine::score::Score;
use cairn_engine::selfplay::{Game, GameResult, IllegalMove, Unfit};
use cairn_engine::square::Square;

/// The length of a position in bytes.
pub(crate) const PACKED: usize = 32;

/// A position as its mover sees it: the mover's pieces are white, and the board is turned for black.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Position {
    /// A bit for each square with a piece, a8 lowest.
    occupied: u64,
    /// What stands there, lowest square first: [`Piece::compact`], two to a byte, the low half first.
    pieces: [u8; 16],
    /// What the search found, in centipawns from the mover's view.
    pub(crate) score: i16,
    /// How the game ended for the mover: 0 lost, 1 drawn, 2 won.
    pub(crate) result: u8,
}

impl Position {
    /// The position on the board, with score and result from white's view.
    pub(crate) fn new(board: &Board, score: i16, result: GameResult) -> Position {
        let mover = board.side_to_move();
        let (turn, score, result) = match mover {
            Side::White => (0, score, result as u8),
            Side::Black => (7, score.saturating_neg(), 2 - result as u8),
        };
        let mut position = Position { occupied: 0, pieces: [0; 16], score, result };
        let turned = Square::all().map(|at| Square::new(at.row() ^ turn, at.file()));
        let pieces = turned.enumerate().filter_map(|(to, at)| Some((to, board.piece_on(at)?)));
        // No board has more than 32 pieces.
        for (number, (to, piece)) in pieces.take(32).enumerate() {
            position.occupied |= 1 << to;
            position.pieces[number / 2] |= (piece.compact_seen_by(mover) << (number % 2 * 4)) as u8;
        }
        position
    }

    /// The position in bytes.
    pub(crate) fn to_bytes(self) -> [u8; PACKED] {
        let mut bytes = [0; PACKED];
        bytes[..8].copy_from_slice(&self.occupied.to_le_bytes());
        bytes[8..24].copy_from_slice(&self.pieces);
        bytes[24..26].copy_from_slice(&self.score.to_le_bytes());
        bytes[26] = self.result;
        bytes
    }

    /// What [`Position::to_bytes`] made.
    pub(crate) fn from_bytes(bytes: &[u8; PACKED]) -> Position {
        let mut position = Position { occupied: 0, pieces: [0; 16], score: 0, result: bytes[26] };
        let mut occupied = [0; 8];
        occupied.copy_from_slice(&bytes[..8]);
        position.occupied = u64::from_le_bytes(occupied);
        position.pieces.copy_from_slice(&bytes[8..24]);
        position.score = i16::from_le_bytes([bytes[24], bytes[25]]);
        position
    }

    /// How the game ended for the mover, from 0 to 1.
    pub(crate) fn won(self) -> f32 {
        f32::from(self.result) / 2.0
    }

    /// The number of pieces.
    fn pieces(self) -> usize {
        self.occupied.count_ones() as usize
    }

    /// The network's bucket.
    pub(crate) fn bucket(self, buckets: usize) -> usize {
        bucket(self.pieces(), buckets)
    }

    /// Its inputs.
    #[inline(always)]
    pub(crate) fn inputs(self) -> Inputs {
        const OWN_KING: u8 = Kind::King.compact() as u8;
        const ENEMY_KING: u8 = (Kind::COMPACT_COUNT + Kind::King.compact()) as u8;
        let mut places = [0; 32];
        let mut kings = [0; 2];
        let mut left = self.occupied;
        let pieces = self.pieces().min(32);
        for (number, place) in places[..pieces].iter_mut().enumerate() {
            let square = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            let piece = self.pieces[number / 2] >> (number % 2 * 4) & 15;
            match piece {
                OWN_KING => kings[0] = square,
                ENEMY_KING => kings[1] = square,
                _ => {}
            }
            *place = 64 * usize::from(piece) + square;
        }
        let mut inputs = Inputs { pieces, numbers: [[0; 32]; 2] };
        for (side, numbers) in inputs.numbers.iter_mut().enumerate() {
            let table = &FEATURES[side][usize::from(kings[side] % 8 < 4)];
            for (number, &place) in numbers.iter_mut().zip(&places[..pieces]) {
                *number = table[place];
            }
        }
        inputs
    }
}

/// The inputs of a position that are 1.
pub(crate) struct Inputs {
    pieces: usize,
    numbers: [[u16; 32]; 2],
}

impl Inputs {
    /// Those of the mover (0) or of the other side (1).
    #[inline]
    pub(crate) fn of(&self, side: usize) -> &[u16] {
        &self.numbers[side][..self.pieces]
    }
}

/// [`feature`] by perspective, by whether its king stands on the files a to d, and by
/// `64 * piece + square`.
static FEATURES: LazyLock<[[[u16; INPUTS]; 2]; 2]> = LazyLock::new(|| {
    let mut table = [[[0; INPUTS]; 2]; 2];
    for (side, tables) in Side::ALL.into_iter().zip(&mut table) {
        for (king, table) in [Square::new(0, 7), Square::new(0, 0)].into_iter().zip(tables) {
            for (piece, square) in
                Piece::all().flat_map(|piece| Square::all().map(move |square| (piece, square)))
            {
                let place = 64 * piece.compact() + usize::from(square.compact());
                table[place] = feature(side, king, piece, square) as u16;
            }
        }
    }
    table
});

/// Which positions are left out, and how many.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Counts {
    /// Games.
    pub(crate) games: u64,
    /// Places in files that hold no whole game, and games that cannot be played to their end.
    pub(crate) damaged: u64,
    /// Positions that are kept.
    pub(crate) kept: u64,
    /// Those that are not, by the first reason that holds, in the order of [`Unfit::ALL`].
    pub(crate) unfit: [u64; Unfit::ALL.len()],
}

impl AddAssign for Counts {
    fn add_assign(&mut self, more: Counts) {
        self.games += more.games;
        self.damaged += more.damaged;
        self.kept += more.kept;
        for (sum, more) in self.unfit.iter_mut().zip(more.unfit) {
            *sum += more;
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let positions = self.kept + self.unfit.iter().sum::<u64>();
        write!(f, "{} games, {positions} positions, {} kept; left out", self.games, self.kept)?;
        for (number, reason) in Unfit::ALL.into_iter().enumerate() {
            let separator = if number == 0 { ':' } else { ',' };
            write!(f, "{separator} {reason} {}", self.unfit[number])?;
        }
        if self.damaged > 0 {
            write!(f, "; {} damaged", self.damaged)?;
        }
        Ok(())
    }
}

/// The positions of a game, and a number that tells it from others.
#[derive(Debug)]
pub(crate) struct Lesson {
    /// Those that are kept.
    pub(crate) positions: Vec<Position>,
    /// Made of its moves alone: the same game has the same one in whatever file it is.
    pub(crate) hash: u64,
    /// What was kept and what not.
    pub(crate) counts: Counts,
}

/// Takes the positions of a game that [`Unfit`] lets pass, with scores up to `bound` either way once their damping
/// is undone.
///
/// # Errors
/// If a move is illegal: nothing of such a game is used.
pub(crate) fn lesson(game: &Game, bound: i16, damping: Damping) -> Result<Lesson, IllegalMove> {
    let mut positions = Vec::with_capacity(game.plies.len());
    let mut counts = Counts { games: 1, ..Counts::default() };
    let mut hash = None;
    let most = Score::from(bound);
    let largest = damping.damped(most).unsigned_abs() as u16;
    game.replay(|board, ply| {
        let before = hash.unwrap_or_else(|| board.keys().index);
        hash = Some(scrambled(before ^ u64::from(ply.mv.raw())));
        match Unfit::of(board, ply, largest) {
            Some(reason) => counts.unfit[reason as usize] += 1,
            None => {
                counts.kept += 1;
                let score = damping.undone(ply.score.into()).clamp(-most, most);
                positions.push(Position::new(board, score as i16, game.result));
            }
        }
    })?;
    Ok(Lesson { positions, hash: hash.unwrap_or_default(), counts })
}

/// A number with all its bits mixed. Source: <https://prng.di.unimi.it/splitmix64.c>.
pub(crate) const fn scrambled(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn inputs_are_those_of_the_board() {
        for board in samples::boards(0..30) {
            let position = Position::new(&board, 17, GameResult::WhiteWins);
            let mover = board.side_to_move();
            let signed = if mover == Side::White { (17, 1.0) } else { (-17, 0.0) };
            assert_eq!((position.score, position.won()), signed);
            assert_eq!(Position::from_bytes(&position.to_bytes()), position);
            let inputs = position.inputs();
            for (number, side) in [mover, mover.other()].into_iter().enumerate() {
                let pieces = Square::all().filter_map(|at| Some((board.piece_on(at)?, at)));
                let mut expected: Vec<u16> = pieces
                    .map(|(piece, at)| feature(side, board.king(side), piece, at) as u16)
                    .collect();
                let mut found = inputs.of(number).to_vec();
                expected.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, expected, "{board:?}");
            }
        }
    }

    #[test]
    fn positions_that_are_unfit_are_left_out_and_counted() {
        let game = samples::game(1);
        let bound = 200;
        let (mut kept, mut counts) = (Vec::new(), Counts { games: 1, ..Counts::default() });
        let replayed = game.replay(|board, ply| match Unfit::of(board, ply, bound as u16) {
            None => kept.push(Position::new(board, ply.score, game.result)),
            Some(reason) => counts.unfit[reason as usize] += 1,
        });
        assert!(replayed.is_ok());
        counts.kept = kept.len() as u64;
        let lesson = lesson(&game, bound, Damping::NONE).unwrap();
        assert_eq!((lesson.positions, lesson.counts), (kept, counts));
        assert!(counts.kept > 5 && counts.unfit[Unfit::Decided as usize] > 5, "{counts}");
        assert_eq!(counts.kept + counts.unfit.iter().sum::<u64>(), game.plies.len() as u64);
        assert!(counts.to_string().contains("score too large"));
        let others = [0, 2].map(|number| {
            super::lesson(&samples::game(number), bound, Damping::NONE).unwrap().hash
        });
        assert!(!others.contains(&lesson.hash));
    }

    #[test]
    fn damping_is_undone_before_scores_are_bounded() {
        let damping = Damping { bound: 100, divisor: 2 };
        let (raw, bound) = (samples::game(1), 300);
        let mut damped = raw.clone();
        for ply in &mut damped.plies {
            ply.score = damping.damped(ply.score.into()) as i16;
        }
        let raw = lesson(&raw, bound, Damping::NONE).unwrap();
        let undone = lesson(&damped, bound, damping).unwrap();
        let scores = |lesson: &Lesson| lesson.positions.iter().map(|one| one.score).collect();
        let (raw, undone): (Vec<i16>, Vec<i16>) = (scores(&raw), scores(&undone));
        assert!(raw.iter().any(|score| score.abs() > 200), "{raw:?}");
        // Rounding may take a position in or out at the bound.
        assert!(raw.len().abs_diff(undone.len()) <= 1, "{raw:?} {undone:?}");
        let inner = |scores: Vec<i16>| scores.into_iter().filter(|score| score.abs() < 298);
        assert!(inner(raw).zip(inner(undone)).all(|(raw, undone)| raw.abs_diff(undone) < 2));
    }

    #[test]
    fn a_game_with_an_illegal_move_is_left_out() {
        let mut game = samples::game(1);
        let last = game.plies.len() - 1;
        game.plies[last].mv = game.plies[0].mv;
        let error = lesson(&game, 2000, Damping::NONE).unwrap_err();
        assert_eq!(error.ply, game.opening.len() + last);
    }
}
