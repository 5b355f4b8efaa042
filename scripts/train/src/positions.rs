//! Positions to learn from: which ones, and how they are kept.

use std::fmt;
use std::ops::AddAssign;
use std::sync::LazyLock;

use cairn_engine::board::Board;
use cairn_engine::eval::network::{INPUTS, bucket, feature};
use cairn_engine::movegen::{ChecksAndPins, confirm};
use cairn_engine::moves::Move;
use cairn_engine::piece::{Kind, Piece, Side};
use cairn_engine::score::is_mate;
use cairn_engine::selfplay::GameResult;
use cairn_engine::square::Square;

use crate::games::Game;

/// The length of a position in bytes.
pub(crate) const PACKED: usize = 32;

/// A position as its mover sees it: the mover's men are white, and the board is turned for black.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Position {
    /// A bit for each square with a man, a8 lowest.
    occupied: u64,
    /// What stands there, lowest square first: [`Piece::compact`], two to a byte, the low half first.
    men: [u8; 16],
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
        let mut position = Position { occupied: 0, men: [0; 16], score, result };
        let turned = Square::all().map(|at| Square::new(at.row() ^ turn, at.file()));
        let men = turned.enumerate().filter_map(|(to, at)| Some((to, board.piece_on(at)?)));
        // No board has more than 32 men.
        for (number, (to, piece)) in men.take(32).enumerate() {
            position.occupied |= 1 << to;
            position.men[number / 2] |= (piece.compact_seen_by(mover) << (number % 2 * 4)) as u8;
        }
        position
    }

    /// The position in bytes.
    pub(crate) fn to_bytes(self) -> [u8; PACKED] {
        let mut bytes = [0; PACKED];
        bytes[..8].copy_from_slice(&self.occupied.to_le_bytes());
        bytes[8..24].copy_from_slice(&self.men);
        bytes[24..26].copy_from_slice(&self.score.to_le_bytes());
        bytes[26] = self.result;
        bytes
    }

    /// What [`Position::to_bytes`] made.
    pub(crate) fn from_bytes(bytes: &[u8; PACKED]) -> Position {
        let mut position = Position { occupied: 0, men: [0; 16], score: 0, result: bytes[26] };
        let mut occupied = [0; 8];
        occupied.copy_from_slice(&bytes[..8]);
        position.occupied = u64::from_le_bytes(occupied);
        position.men.copy_from_slice(&bytes[8..24]);
        position.score = i16::from_le_bytes([bytes[24], bytes[25]]);
        position
    }

    /// How the game ended for the mover, from 0 to 1.
    pub(crate) fn won(self) -> f32 {
        f32::from(self.result) / 2.0
    }

    /// The number of men.
    fn men(self) -> usize {
        self.occupied.count_ones() as usize
    }

    /// The network's bucket.
    pub(crate) fn bucket(self, buckets: usize) -> usize {
        bucket(self.men(), buckets)
    }

    /// Its inputs.
    #[inline]
    pub(crate) fn inputs(self) -> Inputs {
        const OWN_KING: u8 = Kind::King.compact() as u8;
        const ENEMY_KING: u8 = (Kind::COMPACT_COUNT + Kind::King.compact()) as u8;
        let mut places = [0; 32];
        let mut kings = [0; 2];
        let mut left = self.occupied;
        let men = self.men().min(32);
        for (number, place) in places[..men].iter_mut().enumerate() {
            let square = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            let man = self.men[number / 2] >> (number % 2 * 4) & 15;
            match man {
                OWN_KING => kings[0] = square,
                ENEMY_KING => kings[1] = square,
                _ => {}
            }
            *place = 64 * usize::from(man) + square;
        }
        let mut inputs = Inputs { men, numbers: [[0; 32]; 2] };
        for (side, numbers) in inputs.numbers.iter_mut().enumerate() {
            let table = &FEATURES[side][usize::from(kings[side] % 8 < 4)];
            for (number, &place) in numbers.iter_mut().zip(&places[..men]) {
                *number = table[place];
            }
        }
        inputs
    }
}

/// The inputs of a position that are 1.
pub(crate) struct Inputs {
    men: usize,
    numbers: [[u16; 32]; 2],
}

impl Inputs {
    /// Those of the mover (0) or of the other side (1).
    #[inline]
    pub(crate) fn of(&self, side: usize) -> &[u16] {
        &self.numbers[side][..self.men]
    }
}

/// [`feature`] by perspective, by whether its king stands on the files a to d, and by
/// `64 * man + square`.
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
    /// Games that cannot be played, or not to their end.
    pub(crate) damaged: u64,
    /// Positions that are kept.
    pub(crate) kept: u64,
    /// In check.
    pub(crate) in_check: u64,
    /// The best move is a capture.
    pub(crate) captures: u64,
    /// The best move promotes.
    pub(crate) promotions: u64,
    /// The score is beyond the bound, or a mate.
    pub(crate) decided: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, more: Counts) {
        self.games += more.games;
        self.damaged += more.damaged;
        self.kept += more.kept;
        self.in_check += more.in_check;
        self.captures += more.captures;
        self.promotions += more.promotions;
        self.decided += more.decided;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left_out = self.in_check + self.captures + self.promotions + self.decided;
        write!(
            f,
            "{} games, {} positions, {} kept; left out: {} in check, {} before a capture, {} before a \
             promotion, {} decided",
            self.games,
            self.kept + left_out,
            self.kept,
            self.in_check,
            self.captures,
            self.promotions,
            self.decided
        )?;
        if self.damaged > 0 {
            write!(f, "; {} games damaged", self.damaged)?;
        }
        Ok(())
    }
}

/// The positions of a game, and a number that tells it from others.
pub(crate) struct Lesson {
    /// Those that are kept.
    pub(crate) positions: Vec<Position>,
    /// Made of its moves alone: the same game has the same one in whatever file it is.
    pub(crate) hash: u64,
    /// What was kept and what not.
    pub(crate) counts: Counts,
}

/// Takes the quiet positions of a game: not in check, the best move neither a capture nor a promotion,
/// the score at most `bound` either way. Nothing of a game with an illegal move.
pub(crate) fn lesson(mut game: Game, bound: i16) -> Lesson {
    let mut positions = Vec::with_capacity(game.plies.len());
    let mut counts = Counts { games: 1, ..Counts::default() };
    let mut hash = game.start.keys().index;
    let board = &mut game.start;
    for ply in &game.plies {
        if confirm(board, &ChecksAndPins::new(board), ply.mv.raw()).is_none() {
            let counts = Counts { damaged: 1, ..Counts::default() };
            return Lesson { positions: Vec::new(), hash, counts };
        }
        hash = scrambled(hash ^ u64::from(ply.mv.raw()));
        let reason = match loudness(board, ply.mv) {
            Some(Loudness::Check) => &mut counts.in_check,
            Some(Loudness::Capture) => &mut counts.captures,
            Some(Loudness::Promotion) => &mut counts.promotions,
            None if ply.score.unsigned_abs() > bound.unsigned_abs() => &mut counts.decided,
            None if is_mate(i32::from(ply.score)) => &mut counts.decided,
            None => {
                positions.push(Position::new(board, ply.score, game.result));
                &mut counts.kept
            }
        };
        *reason += 1;
        board.play(ply.mv);
    }
    Lesson { positions, hash, counts }
}

enum Loudness {
    Check,
    Capture,
    Promotion,
}

/// What is not quiet about a position in which this is played.
fn loudness(board: &Board, mv: Move) -> Option<Loudness> {
    let mover = board.side_to_move();
    let is_pawn = board.piece_on(mv.from()).is_some_and(|piece| piece.kind().is_pawn());
    let takes = board.piece_on(mv.to()).is_some_and(|piece| piece.side() != mover);
    if board.in_check() {
        Some(Loudness::Check)
    } else if takes || (is_pawn && mv.from().file() != mv.to().file()) {
        Some(Loudness::Capture)
    } else if is_pawn && mv.to().row() == mover.promotion_row() {
        Some(Loudness::Promotion)
    } else {
        None
    }
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
                let men = Square::all().filter_map(|at| Some((board.piece_on(at)?, at)));
                let mut expected: Vec<u16> = men
                    .map(|(piece, at)| feature(side, board.king(side), piece, at) as u16)
                    .collect();
                let mut found = inputs.of(number).to_vec();
                expected.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, expected, "{board:?}");
            }
        }
    }

    /// What becomes of a position in which this move has this score.
    fn counted(fen: &str, mv: &str, score: i16) -> Counts {
        let start = Board::from_fen(fen).unwrap();
        let mv = start.parse_uci(mv).unwrap();
        let plies = vec![cairn_engine::selfplay::Ply { mv, score }];
        let lesson = lesson(Game { start, plies, result: GameResult::Draw }, 2000);
        assert_eq!(lesson.positions.len() as u64, lesson.counts.kept);
        Counts { games: 0, ..lesson.counts }
    }

    #[test]
    fn what_is_not_quiet_is_left_out() {
        let none = Counts::default();
        let kept = Counts { kept: 1, ..none };
        let fen = "r3k2r/1P2p3/8/3pP3/8/8/4Q3/R3K2R w KQkq d6 0 1";
        assert_eq!(counted(fen, "e2e3", 2000), kept);
        assert_eq!(counted(fen, "e1g1", -2000), kept, "castling takes nothing");
        assert_eq!(counted(fen, "e5e6", 0), kept);
        assert_eq!(counted(fen, "e5d6", 0), Counts { captures: 1, ..none }, "en passant");
        assert_eq!(counted(fen, "a1a8", 0), Counts { captures: 1, ..none });
        assert_eq!(counted(fen, "b7a8q", 0), Counts { captures: 1, ..none });
        assert_eq!(counted(fen, "b7b8n", 0), Counts { promotions: 1, ..none });
        assert_eq!(counted(fen, "e2e3", 2001), Counts { decided: 1, ..none });
        assert_eq!(counted(fen, "e2e3", i16::MIN), Counts { decided: 1, ..none });
        let check = "4k3/8/8/8/8/8/4r3/4K3 w - - 0 1";
        assert_eq!(counted(check, "e1d1", 0), Counts { in_check: 1, ..none });
    }

    #[test]
    fn a_game_with_an_illegal_move_is_left_out() {
        let mut game = samples::game(1);
        let last = game.plies.len() - 1;
        game.plies[last].mv = game.plies[0].mv;
        let lesson = lesson(game, 2000);
        assert_eq!(lesson.counts, Counts { damaged: 1, ..Counts::default() });
        assert!(lesson.positions.is_empty());
    }
}
