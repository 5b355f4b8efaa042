//! Attacks on the board: checks, squares that are safe for a king, and legal en-passant captures.

use super::Board;
use crate::attack::{self, Squares, at};
use crate::machine::vector::{self, Avx512, Kernel};
use crate::piece::{Kind, Piece, Side};
use crate::square::{NO_SQUARE, Square};

impl Board {
    /// The squares of the pieces that give check to the side to move.
    pub fn checkers(&self) -> impl Iterator<Item = Square> {
        let king = self.king(self.side).raw();
        self.attackers(king, self.side.other()).map(Square::from_index_masked)
    }

    /// Whether the side to move is in check.
    #[must_use]
    pub fn in_check(&self) -> bool {
        self.checkers().next().is_some()
    }

    /// As [`Board::in_check`], for a position that a legal move has led to. Faster: looks only for a direct
    /// check by the piece that moved and a discovered one through the square that it left.
    #[must_use]
    #[inline]
    pub(crate) fn in_check_after_move(&self) -> bool {
        let Some(undo) = self.history.last() else { return self.in_check() };
        // A null move never gives check.
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

    /// Whether a slider of `by` attacks `target` along the line through `vacated`, with that square
    /// emptied.
    #[inline]
    pub(crate) fn is_open_to_slider(&self, target: u8, vacated: u8, by: Side) -> bool {
        let step = attack::line_step(target, vacated);
        if step == 0 {
            return false;
        }
        let mut square = target.wrapping_add_signed(step);
        while attack::on_board(square) {
            let piece = at(&self.squares.0, square);
            if piece != 0 && square != vacated {
                return piece & by.bit() != 0
                    && piece & 7 > Kind::King as u8
                    && attack::reaches(piece, square, target);
            }
            square = square.wrapping_add_signed(step);
        }
        false
    }

    /// Whether the side to move could capture the king: never so after a legal move.
    #[must_use]
    pub(crate) fn king_can_be_captured(&self) -> bool {
        let them = self.side.other();
        self.attackers(self.king(them).raw(), self.side).next().is_some()
    }

    /// The squares of `by`'s pieces that attack `target`.
    fn attackers(&self, target: u8, by: Side) -> impl Iterator<Item = u8> {
        let list = self.list(by);
        list.squares_of(list.all()).filter(move |&from| {
            attack::attacks(&self.squares.0, at(&self.squares.0, from), from, target, |_| false)
        })
    }

    /// Whether `side`'s king would be unattacked on `king`, with `vacated` emptied and `blocker` occupied.
    /// No enemy piece may stand on `blocker`; [`NO_SQUARE`] for none.
    #[inline]
    pub(crate) fn is_safe(&self, king: u8, side: Side, vacated: [u8; 2], blocker: u8) -> bool {
        match Avx512::new() {
            Some(avx512) => {
                let squares = &self.squares.0;
                avx512.run(UnattackedKing { squares, king, side, vacated, blocker })
            }
            None => self.is_safe_by_list(king, side, vacated, blocker),
        }
    }

    /// [`Board::is_safe`] without AVX-512.
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

    /// Whether `side`'s pawn on `from` may capture en passant on `to`: its king must be unattacked with both
    /// pawns gone from their row.
    pub(crate) fn en_passant_is_legal(&self, from: u8, to: u8, side: Side) -> bool {
        self.is_safe(self.king(side).raw(), side, [from, to ^ 16], to)
    }

    /// [`Board::raw_en_passant`] if a capture there is legal, else [`NO_SQUARE`].
    pub(super) fn usable_en_passant(&self) -> u8 {
        let target = self.raw_en_passant;
        if target == NO_SQUARE {
            return NO_SQUARE;
        }
        let pawn = Piece::new(self.side, self.side.pawn()).raw();
        let capturable = attack::pawn_attack_origins(self.side, target).iter().any(|&from| {
            attack::on_board(from)
                && at(&self.squares.0, from) == pawn
                && self.en_passant_is_legal(from, target, self.side)
        });
        if capturable { target } else { NO_SQUARE }
    }
}

/// Whether `middle` lies strictly between two squares of one line. [`NO_SQUARE`] lies between none.
#[inline(always)]
fn is_between(middle: u8, from: u8, to: u8) -> bool {
    let step = attack::line_step(from, to);
    step != 0 && attack::line_step(from, middle) == step && attack::line_step(middle, to) == step
}

/// [`Board::is_safe`] with AVX-512.
struct UnattackedKing<'a> {
    squares: &'a Squares,
    king: u8,
    side: Side,
    vacated: [u8; 2],
    blocker: u8,
}

impl Kernel for UnattackedKing<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self, avx512: Avx512) -> bool {
        let rays = avx512.rays_to(self.squares, self.king);
        let lane = |square: u8| vector::lane_of(self.king, square);
        let blocked = lane(self.blocker);
        let left = rays.occupied & !(lane(self.vacated[0]) | lane(self.vacated[1]) | blocked);
        let near = vector::visible(left | blocked, rays.on_board) & left;
        let theirs = if self.side == Side::White { !rays.white } else { rays.white };
        let attackers = rays.attackers.iter().fold(0, |all, lanes| all | lanes);
        near & theirs & attackers == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::POSITIONS;

    #[test]
    fn avx512_sees_the_same_attacks() {
        for fen in POSITIONS {
            let board = Board::from_fen(fen).unwrap();
            for side in Side::ALL {
                let king = board.king(side).raw();
                for to in Square::all().map(Square::raw) {
                    let agrees = |vacated, blocker| {
                        board.is_safe(to, side, vacated, blocker)
                            == board.is_safe_by_list(to, side, vacated, blocker)
                    };
                    assert!(agrees([king; 2], NO_SQUARE), "{fen}: {side} {to:x}");
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

    #[test]
    fn no_square_is_between_none() {
        for from in Square::all().map(Square::raw) {
            for to in Square::all().map(Square::raw) {
                assert!(!is_between(NO_SQUARE, from, to), "{from:x} {to:x}");
            }
        }
        assert!(is_between(0x22, 0x00, 0x77) && !is_between(0x77, 0x00, 0x22));
    }
}
