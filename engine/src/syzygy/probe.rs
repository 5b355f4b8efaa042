//! Probing: what the tables say, and what captures and single moves add to it.

use super::table::Distance;
use super::{ProbeError, Tables, Wdl};
use crate::board::Board;
use crate::movegen::{self, ChecksAndPins};
use crate::moves::{Move, MoveList};

/// The pieces of a position that needs no table: a draw.
const BARE_KINGS: u32 = 2;

/// A half-move that wins under the 50-move rule leads to a distance below this, one that does not to one above.
pub(super) const CURSED: i32 = 100;

/// Which moves are searched before the table is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Searched {
    /// Captures, which tables may have left out.
    Captures,
    /// Captures and pawn moves, after which distances are counted anew.
    Zeroing,
}

/// What a position is worth.
struct Found {
    wdl: Wdl,
    /// One of the searched moves gets it there, so that the table of distances may hold anything.
    by_zeroing: bool,
}

impl Tables {
    /// What perfect play comes to for the side to move, if no half-move has been made since the last capture
    /// or pawn move. The board is unchanged afterwards; repetitions do not count.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn probe_wdl(&self, board: &mut Board) -> Result<Wdl, ProbeError> {
        if board.castling_rights() != 0 {
            return Err(ProbeError::Castling);
        }
        Ok(self.search(board, Searched::Captures)?.wdl)
    }

    /// The distance to zero (DTZ): after how many half-moves the side that wins makes a capture or pawn move
    /// or mates, if it does so as soon as it can without giving away the win and the other side puts it off.
    /// Above 0 the side to move wins, below it loses, and 0 is a draw; beyond 100 either way it would if
    /// there was no 50-move rule. A side that is mated already is at -1. The board is unchanged afterwards.
    ///
    /// As some tables count moves and not half-moves, the true distance may be one half-move longer.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn probe_dtz(&self, board: &mut Board) -> Result<i32, ProbeError> {
        if board.castling_rights() != 0 {
            return Err(ProbeError::Castling);
        }
        self.distance(board, true)
    }

    /// Searches captures, and asks the table where there is anything else to do.
    fn search(&self, board: &mut Board, searched: Searched) -> Result<Found, ProbeError> {
        if board.piece_count() == BARE_KINGS {
            return Ok(Found { wdl: Wdl::Draw, by_zeroing: false });
        }
        let moves = match searched {
            Searched::Captures => captures(board),
            Searched::Zeroing => {
                let mut moves = board.legal_moves();
                moves.retain(|mv| is_capture(board, *mv) || moves_pawn(board, *mv));
                moves
            }
        };
        let tried = moves.len() as u64;
        let mut best = Wdl::Loss;
        for mv in moves {
            board.make(mv, &mut ());
            let reply = self.search(board, Searched::Captures);
            board.unmake(&mut ());
            best = best.max(-reply?.wdl);
            if best == Wdl::Win {
                return Ok(Found { wdl: best, by_zeroing: true });
            }
        }
        // Tables know no en passant and may be wrong where all moves capture.
        if tried > 0 && tried == movegen::count_legal(board) {
            return Ok(Found { wdl: best, by_zeroing: true });
        }
        let stored = self.stored_wdl(board)?;
        let by_zeroing = tried > 0 && best >= stored && best > Wdl::Draw;
        Ok(Found { wdl: stored.max(best), by_zeroing })
    }

    /// The distance to zero. `may_search`: if the table has the other side to move, all moves may be searched.
    fn distance(&self, board: &mut Board, may_search: bool) -> Result<i32, ProbeError> {
        let Found { wdl, by_zeroing } = self.search(board, Searched::Zeroing)?;
        if wdl == Wdl::Draw {
            return Ok(0);
        }
        if by_zeroing {
            return Ok(before_zeroing(wdl));
        }
        match self.stored_distance(board, wdl)? {
            Distance::Plies(plies) => {
                let is_cursed = matches!(wdl, Wdl::BlessedLoss | Wdl::CursedWin);
                let plies = i32::from(plies) + if is_cursed { CURSED } else { 0 };
                Ok(if wdl > Wdl::Draw { plies } else { -plies })
            }
            Distance::OtherSide if may_search => self.distance_by_moves(board, wdl),
            // Only a damaged table has neither side to move.
            Distance::OtherSide => Err(ProbeError::Damaged),
        }
    }

    /// The distance to zero as the best one after a move. A side that loses puts it off.
    fn distance_by_moves(&self, board: &mut Board, wdl: Wdl) -> Result<i32, ProbeError> {
        let mut nearest: Option<i32> = None;
        for mv in board.legal_moves() {
            let distance = self.distance_after(board, mv, false)?;
            if distance.signum() == (wdl as i32).signum() {
                nearest = Some(nearest.map_or(distance, |nearest| nearest.min(distance)));
            }
        }
        // Without a move it is mate.
        Ok(nearest.unwrap_or(-1))
    }

    /// The distance to zero if this move is made, counted from before it.
    pub(super) fn distance_after(
        &self,
        board: &mut Board,
        mv: Move,
        may_search: bool,
    ) -> Result<i32, ProbeError> {
        let zeroing = is_capture(board, mv) || moves_pawn(board, mv);
        board.make(mv, &mut ());
        let distance = if zeroing {
            self.search(board, Searched::Captures).map(|found| before_zeroing(-found.wdl))
        } else if board.is_checkmate() {
            Ok(1)
        } else {
            self.distance(board, may_search).map(|reply| -reply - reply.signum())
        };
        board.unmake(&mut ());
        distance
    }
}

/// The legal captures.
fn captures(board: &Board) -> MoveList {
    let checks_and_pins = ChecksAndPins::new(board);
    let mut moves = MoveList::new();
    movegen::noisy_moves(board, &checks_and_pins, &mut moves);
    moves.retain(|mv| is_capture(board, *mv) && movegen::king_is_safe(board, *mv));
    moves
}

/// The distance to zero of a capture or pawn move that gets there.
const fn before_zeroing(wdl: Wdl) -> i32 {
    match wdl {
        Wdl::Win => 1,
        Wdl::CursedWin => CURSED + 1,
        Wdl::Draw => 0,
        Wdl::BlessedLoss => -CURSED - 1,
        Wdl::Loss => -1,
    }
}

pub(super) fn is_capture(board: &Board, mv: Move) -> bool {
    board.piece_on(mv.to()).is_some() || board.is_en_passant(mv)
}

pub(super) fn moves_pawn(board: &Board, mv: Move) -> bool {
    board.piece_on(mv.from()).is_some_and(|piece| piece.kind().is_pawn())
}
