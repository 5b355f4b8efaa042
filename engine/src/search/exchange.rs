//! Static exchange evaluation: what a sequence of captures on one square comes to.
//!
//! The least valuable attacker captures first, sliders behind it join in when it has gone. Source:
//! <https://www.chessprogramming.org/Static_Exchange_Evaluation>.

use crate::attack::{at, line_step, on_board, pawn_attack_origins, reaches};
use crate::board::Board;
use crate::moves::Move;
use crate::params;
use crate::piece::{Kind, Piece, Side};
use crate::score::Score;

/// What a man is worth in an exchange.
#[inline]
pub(crate) fn exchange_value(kind: Kind) -> Score {
    match kind {
        Kind::WhitePawn | Kind::BlackPawn => params::see_pawn(),
        Kind::Knight => params::see_knight(),
        Kind::Bishop => params::see_bishop(),
        Kind::Rook => params::see_rook(),
        Kind::Queen => params::see_queen(),
        Kind::King => 0,
    }
}

/// What a capture or promotion wins at most.
#[inline]
pub(crate) fn captured_value(board: &Board, mv: Move) -> Score {
    let us = board.side_to_move();
    let captured =
        board.piece_on(mv.to()).map_or(params::see_pawn(), |piece| exchange_value(piece.kind()));
    let moved = board.piece_on(mv.from());
    let promotes =
        mv.to().row() == us.promotion_row() && moved.is_some_and(|man| man.kind().is_pawn());
    if promotes { captured + exchange_value(mv.promotion_kind()) } else { captured }
}

/// The order in which pieces capture, after the pawns.
const BY_VALUE: [Kind; 5] = [Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen, Kind::King];

/// Whether the exchange that a move begins leaves its side with at least `threshold` more than
/// before. Castling and promotions count as worth nothing beyond their capture.
pub(crate) fn exchange_reaches(board: &Board, mv: Move, threshold: Score) -> bool {
    let (from, to) = (mv.from().raw(), mv.to().raw());
    let us = board.side_to_move();
    let Some(moved) = board.piece_on(mv.from()) else { return false };
    let captured = match board.piece_on(mv.to()) {
        // Castling: nothing is exchanged.
        Some(piece) if piece.side() == us => return threshold <= 0,
        Some(piece) => exchange_value(piece.kind()),
        None if moved.kind().is_pawn() && board.en_passant() == Some(mv.to()) => params::see_pawn(),
        None => 0,
    };
    let mut balance = captured - threshold;
    if balance < 0 {
        return false;
    }
    balance -= exchange_value(moved.kind());
    if balance >= 0 {
        return true;
    }

    let mut gone = Gone([0; 2]);
    gone.add(board, us, from);
    if board.en_passant() == Some(mv.to()) && moved.kind().is_pawn() {
        gone.add(board, us.other(), mv.to().en_passant_victim().raw());
    }
    let mut side = us.other();
    // `balance` is what the side that has just captured has beyond the threshold if the other side
    // takes its man; the sides take turns in having to improve on it.
    while let Some((attacker, square)) = least_attacker(board, side, to, &gone) {
        gone.add(board, side, square);
        // The king can't capture what is still defended.
        if attacker == Kind::King && least_attacker(board, side.other(), to, &gone).is_some() {
            break;
        }
        side = side.other();
        balance = -balance - 1 - exchange_value(attacker);
        if balance >= 0 {
            break;
        }
    }
    // The side to move has no good capture left: it is the one that loses the exchange.
    side != us
}

/// The men that have left their squares in an exchange, by side as list indices.
struct Gone([u16; 2]);

impl Gone {
    #[inline(always)]
    fn add(&mut self, board: &Board, side: Side, square: u8) {
        self.0[side.index()] |= 1 << board.index_on(square);
    }

    #[inline(always)]
    fn has(&self, board: &Board, side: Side, square: u8) -> bool {
        self.0[side.index()] >> board.index_on(square) & 1 != 0
    }
}

/// The least valuable man of a side that can capture on a square, and where it stands.
#[inline]
fn least_attacker(board: &Board, side: Side, target: u8, gone: &Gone) -> Option<(Kind, u8)> {
    let pawn = side.bit() | side.pawn() as u8;
    for from in pawn_attack_origins(side, target) {
        if on_board(from) && at(board.squares(), from) == pawn && !gone.has(board, side, from) {
            return Some((side.pawn(), from));
        }
    }
    let list = board.list(side);
    for kind in BY_VALUE {
        for from in list.squares_of(list.of(kind) & !gone.0[side.index()]) {
            if reaches(kind as u8, from, target)
                && (!kind.is_slider() || line_is_open(board, from, target, gone))
            {
                return Some((kind, from));
            }
        }
    }
    None
}

#[inline]
fn line_is_open(board: &Board, from: u8, target: u8, gone: &Gone) -> bool {
    let step = line_step(from, target);
    let mut square = from.wrapping_add_signed(step);
    while square != target {
        let man = at(board.squares(), square);
        if man != 0 && !gone.has(board, Piece::from_raw_occupied(man).side(), square) {
            return false;
        }
        square = square.wrapping_add_signed(step);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(fen: &str, mv: &str) -> Score {
        let board = Board::from_fen(fen).unwrap();
        let mv = board.parse_uci(mv).unwrap();
        (-3000..=3000).rev().find(|&threshold| exchange_reaches(&board, mv, threshold)).unwrap()
    }

    #[test]
    fn exchanges_come_to_what_they_are_worth() {
        let (p, n, b, r, q) = (
            params::see_pawn(),
            params::see_knight(),
            params::see_bishop(),
            params::see_rook(),
            params::see_queen(),
        );
        for (fen, mv, expected) in [
            ("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1", "e1e5", p),
            ("1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1", "d3e5", p - n),
            ("4k3/8/3p4/4p3/8/8/8/4QK2 w - - 0 1", "e1e5", p - q),
            ("4k3/8/8/4p3/8/8/8/4QK2 w - - 0 1", "e1e5", p),
            // A rook behind a rook, and a queen behind both.
            ("3rk3/3r4/8/3p4/8/3R4/3R4/3QK3 w - - 0 1", "d3d5", p),
            ("3rk3/3r4/3q4/3p4/8/8/3R4/3RK3 w - - 0 1", "d2d5", p - (r - (q - r))),
            // The king captures only what is not defended.
            ("8/8/3k4/4p3/8/8/8/K3R3 w - - 0 1", "e1e5", p - r),
            ("8/8/3k4/4p3/8/8/4R3/K3R3 w - - 0 1", "e2e5", p),
            ("4k3/8/8/2pP4/8/8/8/4K3 w - c6 0 1", "d5c6", p),
            ("4k3/1p6/8/2pP4/8/8/8/4K3 w - c6 0 1", "d5c6", 0),
            ("4k3/8/8/3b4/8/8/3N4/4K3 w - - 0 1", "d2e4", -n),
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", 0),
            ("4k3/8/2b5/3n4/8/4N3/8/4K3 w - - 0 1", "e3d5", n - n),
            ("4k3/8/2b5/3b4/8/4N3/8/4K3 w - - 0 1", "e3d5", b - n),
        ] {
            assert_eq!(value(fen, mv), expected, "{fen} {mv}");
        }
    }
}
