//! Attacks on the board: checks, safe squares, and whether an en-passant capture is legal.

use super::{Board, NONE};
use crate::attack::{self, Squares, at};
use crate::machine::vector::{self, Avx512, Kernel};
use crate::piece::{Kind, Piece, Side};
use crate::square::Square;

impl Board {
    /// The squares of the pieces that give check.
    pub fn checkers(&self) -> impl Iterator<Item = Square> {
        let king = self.king(self.side).raw();
        self.attackers(king, self.side.other()).map(Square::from_index_masked)
    }

    /// Whether the side to move is in check.
    #[must_use]
    pub fn in_check(&self) -> bool {
        self.checkers().next().is_some()
    }

    /// [`Board::in_check`] for a position that a legal move has led to: only the piece that moved can give
    /// check, or one behind the square that it left.
    #[must_use]
    #[inline]
    pub(crate) fn in_check_after_move(&self) -> bool {
        let Some(undo) = self.history.last() else { return self.in_check() };
        // Passing never gives check.
        let Some(mv) = undo.mv else { return false };
        let them = self.side.other();
        if self.was_castling(undo, mv, them) || undo.was_en_passant(mv) {
            return self.in_check();
        }
        let king = self.king(self.side).raw();
        let (from, to) = (mv.from().raw(), mv.to().raw());
        attack::attacks(&self.squares.0, at(&self.squares.0, to), to, king, |_| false)
            || self.is_open_to_slider(king, from, them)
    }

    /// Whether the first piece seen from `target` in the direction of `left` is a slider of this side that
    /// attacks `target`. A piece on `left` counts as gone.
    #[inline]
    pub(crate) fn is_open_to_slider(&self, target: u8, left: u8, by: Side) -> bool {
        let step = attack::line_step(target, left);
        if step == 0 {
            return false;
        }
        let mut square = target.wrapping_add_signed(step);
        while attack::on_board(square) {
            let piece = at(&self.squares.0, square);
            if piece != 0 && square != left {
                return piece & by.bit() != 0
                    && piece & 7 > Kind::King as u8
                    && attack::reaches(piece, square, target);
            }
            square = square.wrapping_add_signed(step);
        }
        false
    }

    /// Whether the side that has just moved left its king to be captured: never so after a legal
    /// move.
    #[must_use]
    pub(crate) fn king_can_be_captured(&self) -> bool {
        let them = self.side.other();
        self.attackers(self.king(them).raw(), self.side).next().is_some()
    }

    fn attackers(&self, target: u8, by: Side) -> impl Iterator<Item = u8> {
        let list = self.list(by);
        list.squares_of(list.all()).filter(move |&from| {
            attack::attacks(&self.squares.0, at(&self.squares.0, from), from, target, |_| false)
        })
    }

    /// Whether a side's king is safe from all of `squares`' attackers once it stands on `king`, its
    /// pieces having left the `vacated` squares and `blocker`, which is no enemy's, being occupied by one of
    /// them.
    #[inline]
    pub(crate) fn is_safe(&self, king: u8, side: Side, vacated: [u8; 2], blocker: u8) -> bool {
        match Avx512::new() {
            Some(vector) => {
                let squares = &self.squares.0;
                vector.run(Safety { squares, king, side, vacated, blocker })
            }
            None => self.is_safe_by_list(king, side, vacated, blocker),
        }
    }

    /// [`Board::is_safe`] without vectors.
    #[inline(never)]
    fn is_safe_by_list(&self, king: u8, side: Side, vacated: [u8; 2], blocker: u8) -> bool {
        let them = self.list(side.other());
        !them.squares_of(them.all()).any(|from| {
            let piece = at(&self.squares.0, from);
            from != vacated[0]
                && from != vacated[1]
                && attack::attacks(&self.squares.0, piece, from, king, |square| {
                    vacated.contains(&square)
                })
                && !is_between(blocker, from, king)
        })
    }

    /// Whether the pawn on `from` may legally capture en passant on `to`: after both pawns have
    /// gone from their row, nothing attacks the king.
    pub(crate) fn en_passant_is_legal(&self, from: u8, to: u8, side: Side) -> bool {
        self.is_safe(self.king(side).raw(), side, [from, to ^ 16], to)
    }

    /// [`Board::raw_en_passant`] if a legal capture exists there, else no square.
    pub(super) fn usable_en_passant(&self) -> u8 {
        let target = self.raw_en_passant;
        if target == NONE {
            return NONE;
        }
        let pawn = Piece::new(self.side, self.side.pawn()).raw();
        let capturable = attack::pawn_attack_origins(self.side, target).iter().any(|&from| {
            attack::on_board(from)
                && at(&self.squares.0, from) == pawn
                && self.en_passant_is_legal(from, target, self.side)
        });
        if capturable { target } else { NONE }
    }
}

/// Whether `middle` lies strictly between two squares of one line.
#[inline(always)]
fn is_between(middle: u8, from: u8, to: u8) -> bool {
    let step = attack::line_step(from, to);
    step != 0
        && attack::line_step(from, middle) == step
        && attack::line_step(middle, to) == step
        && middle != NONE
}

/// [`Board::is_safe`] as a task for vectors.
struct Safety<'a> {
    squares: &'a Squares,
    king: u8,
    side: Side,
    vacated: [u8; 2],
    blocker: u8,
}

impl Kernel for Safety<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self, vector: Avx512) -> bool {
        let around = vector.rays_to(self.squares, self.king);
        let lane = |square: u8| vector::lane_of(self.king, square);
        let blocked = lane(self.blocker);
        let left = around.occupied & !(lane(self.vacated[0]) | lane(self.vacated[1]) | blocked);
        let near = vector::visible(left | blocked, around.on_board) & left;
        let theirs = if self.side == Side::White { !around.white } else { around.white };
        let attackers = around.attackers.iter().fold(0, |all, lanes| all | lanes);
        near & theirs & attackers == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::POSITIONS;

    #[test]
    fn vectors_see_the_same_dangers() {
        for fen in POSITIONS {
            let board = Board::from_fen(fen).unwrap();
            for side in Side::ALL {
                let king = board.king(side).raw();
                for to in Square::all().map(Square::raw) {
                    let agrees = |vacated, blocker| {
                        board.is_safe(to, side, vacated, blocker)
                            == board.is_safe_by_list(to, side, vacated, blocker)
                    };
                    assert!(agrees([king; 2], NONE), "{fen}: {side} {to:x}");
                    // As when a rook castles or a pawn is captured en passant.
                    let theirs = |square| at(&board.squares.0, square) & side.other().bit() != 0;
                    let others = Square::all().map(Square::raw).filter(|&square| square != to);
                    for blocker in others.filter(|&square| !theirs(square)) {
                        let vacated = [king, blocker ^ 16];
                        assert!(agrees(vacated, blocker), "{fen}: {side} {to:x} {blocker:x}");
                    }
                }
            }
        }
    }
}
