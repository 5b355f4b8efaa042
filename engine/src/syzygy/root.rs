//! The moves of a root, ranked by what the tables say of them, so that a won ending is won in time.

use super::probe::{CURSED, is_capture, moves_pawn};
use super::{ProbeError, Tables, Wdl};
use crate::board::{Board, FIFTY_MOVES, GameEnd};
use crate::moves::Move;
use std::cmp::Reverse;

/// The rank of a sure win; above any distance with the moves before it.
const SURE: i32 = 1 << 16;

/// A root move with what it leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RankedMove {
    /// The move.
    pub mv: Move,
    /// Moves of a higher rank are better; those of one rank are alike to the tables.
    pub rank: i32,
    /// What it comes to with the half-moves that were made since the last capture or pawn move: a cursed win
    /// or a blessed loss if that are too many.
    pub wdl: Wdl,
}

/// What the tables say of a root.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RootVerdict {
    /// All legal moves, the best first; moves of equal rank as they are generated.
    pub moves: Vec<RankedMove>,
    /// Whether the ranks are of distances, so that the best moves alone make progress. If not, they
    /// only keep a win, a draw or a loss.
    pub by_distance: bool,
}

impl Tables {
    /// Ranks the moves of a root. The board is unchanged afterwards.
    ///
    /// All wins that can't be spoilt by the 50-move rule have one rank, as the nearest capture is often not
    /// the best way to win. Once a position has occurred twice since the last capture or pawn move, the
    /// nearest is the best. So are all losses alike, but for those that the rule may save.
    ///
    /// Without the 50-move rule no move draws by it; wins that it would spoil are told as such all the same.
    ///
    /// # Errors
    /// Why there is no answer for one of the moves.
    pub fn rank_root(
        &self,
        board: &mut Board,
        fifty_move_rule: bool,
    ) -> Result<RootVerdict, ProbeError> {
        if board.castling_rights() != 0 {
            return Err(ProbeError::Castling);
        }
        let repeated = board.has_repeated();
        let legal = board.legal_moves();
        let drawn: Vec<bool> =
            legal.iter().map(|&mv| is_drawn_after(board, mv, fifty_move_rule)).collect();
        let legal = || legal.iter().copied().zip(drawn.iter().copied());
        let by_distance: Result<Vec<RankedMove>, ProbeError> =
            legal().map(|(mv, drawn)| self.rank_by_distance(board, mv, drawn, repeated)).collect();
        let (mut moves, by_distance) = match by_distance {
            Ok(moves) => (moves, true),
            Err(_) => {
                let moves: Result<_, _> =
                    legal().map(|(mv, drawn)| self.rank_by_wdl(board, mv, drawn)).collect();
                (moves?, false)
            }
        };
        moves.sort_by_key(|ranked| Reverse(ranked.rank));
        Ok(RootVerdict { moves, by_distance })
    }

    fn rank_by_distance(
        &self,
        board: &mut Board,
        mv: Move,
        is_drawn: bool,
        repeated: bool,
    ) -> Result<RankedMove, ProbeError> {
        let clock = i32::from(board.halfmove_clock());
        let distance = if is_drawn { 0 } else { self.distance_after(board, mv, true)? };
        // The half-moves without a capture or pawn move, once the next one is made.
        let plies = distance.abs() + clock;
        let is_sure = match distance.signum() {
            1 => plies < i32::from(FIFTY_MOVES) && !repeated,
            _ => 2 * distance.abs() + clock < i32::from(FIFTY_MOVES),
        };
        let rank = distance.signum() * if is_sure { SURE } else { SURE - plies };
        let in_time = plies <= CURSED;
        let wdl = match (distance.signum(), in_time) {
            (1, true) => Wdl::Win,
            (1, false) => Wdl::CursedWin,
            (-1, true) => Wdl::Loss,
            (-1, false) => Wdl::BlessedLoss,
            _ => Wdl::Draw,
        };
        Ok(RankedMove { mv, rank, wdl })
    }

    fn rank_by_wdl(
        &self,
        board: &mut Board,
        mv: Move,
        is_drawn: bool,
    ) -> Result<RankedMove, ProbeError> {
        let wdl = if is_drawn {
            Wdl::Draw
        } else {
            board.make(mv, &mut ());
            let reply = self.probe_wdl(board);
            board.unmake(&mut ());
            -reply?
        };
        let rank = match wdl {
            Wdl::Win => SURE,
            Wdl::CursedWin => SURE - CURSED - 1,
            Wdl::Draw => 0,
            Wdl::BlessedLoss => CURSED + 1 - SURE,
            Wdl::Loss => -SURE,
        };
        Ok(RankedMove { mv, rank, wdl })
    }
}

/// Whether a move ends the game as a draw, or lets a draw be claimed, by repetition or, where it counts, the
/// 50-move rule.
fn is_drawn_after(board: &mut Board, mv: Move, fifty_move_rule: bool) -> bool {
    if is_capture(board, mv) || moves_pawn(board, mv) {
        return false;
    }
    board.make(mv, &mut ());
    let drawn = match board.draw_by_rule() {
        Some(GameEnd::FiftyMoves) if !fifty_move_rule => board.repetitions() >= 2,
        end => end.is_some() && !board.is_checkmate(),
    };
    board.unmake(&mut ());
    drawn
}
