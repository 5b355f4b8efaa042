//! Pseudo-legal moves in micro-Max's order, and the legality of a single move.

use super::legal::{ChecksAndPins, castling_is_legal};
use crate::attack::{at, attacks, line_step, on_board, reaches, steps};
use crate::board::Board;
use crate::moves::{Move, MoveList};
use crate::piece::{Kind, Piece, Side};
use crate::square::{NO_SQUARE, Square};

/// The pseudo-legal moves in micro-Max's scan order: squares from `start` on, cyclically; for the piece
/// there the steps of its kind; for a step the squares outwards. They may leave the king in check. Promotions come queen, rook, bishop, knight; castling comes last of
/// the king's moves, queen side first.
#[must_use]
pub fn scan(board: &Board, start: Square) -> MoveList {
    let mut list = MoveList::new();
    let us = board.side_to_move();
    let from_start = Square::all().skip_while(|&s| s != start);
    let to_start = Square::all().take_while(|&s| s != start);
    for from in from_start.chain(to_start) {
        if let Some(piece) = board.piece_on(from).filter(|piece| piece.side() == us) {
            scan_piece(board, piece, from, &mut list);
        }
    }
    list
}

fn scan_piece(board: &Board, piece: Piece, from: Square, list: &mut MoveList) {
    for &step in steps(piece.kind()) {
        scan_ray(board, piece, from, step, list);
    }
    if piece.kind() == Kind::King {
        for king_side in [false, true] {
            if castling_is_legal(board, piece.side(), king_side)
                && !board.in_check()
                && let Some(rook) = board.castling_rook(piece.side(), king_side)
            {
                list.push(Move::new(from, rook));
            }
        }
    }
}

fn scan_ray(board: &Board, piece: Piece, from: Square, step: i8, list: &mut MoveList) {
    let (us, kind) = (piece.side(), piece.kind());
    let straight = step % 16 == 0;
    let second_row = if us == Side::White { 6 } else { 1 };
    let mut length = match kind {
        Kind::WhitePawn | Kind::BlackPawn if straight && from.row() == second_row => 2,
        Kind::WhitePawn | Kind::BlackPawn | Kind::Knight | Kind::King => 1,
        Kind::Bishop | Kind::Rook | Kind::Queen => 7,
    };
    let mut to = from.raw().wrapping_add_signed(step);
    while length > 0 && on_board(to) {
        let target = at(board.squares(), to);
        let square = Square::from_index_masked(to);
        let captures = target != 0 || (kind.is_pawn() && board.en_passant() == Some(square));
        if target & us.bit() != 0 || (kind.is_pawn() && captures == straight) {
            break;
        }
        if kind.is_pawn() && square.row() == us.promotion_row() {
            for kind in [Kind::Queen, Kind::Rook, Kind::Bishop, Kind::Knight] {
                list.push(Move::promotion(from, square, kind));
            }
        } else {
            list.push(Move::new(from, square));
        }
        if target != 0 {
            break;
        }
        to = to.wrapping_add_signed(step);
        length -= 1;
    }
}

/// Whether a pseudo-legal move leaves the mover's king unattacked.
#[must_use]
pub fn is_legal(board: &Board, mv: Move) -> bool {
    is_legal_with(board, &ChecksAndPins::new(board), mv)
}

fn is_legal_with(board: &Board, checks_and_pins: &ChecksAndPins, mv: Move) -> bool {
    let us = board.side_to_move();
    let king = board.king(us).raw();
    let (from, to) = (mv.from().raw(), mv.to().raw());
    if from == king {
        // Castling comes out of the scan legal.
        return board.is_castling(mv) || board.is_safe(to, us, [king, king], NO_SQUARE);
    }
    if board.is_en_passant(mv) {
        return board.en_passant_is_legal(from, to, us);
    }
    let answers_check =
        checks_and_pins.checkers < 2 && checks_and_pins.evasion_targets >> to & 1 != 0;
    let pinned = checks_and_pins.pinned >> board.index_on(from) & 1 != 0;
    let stays_on_line = line_step(king, to) == line_step(king, from);
    answers_check && (!pinned || stays_on_line)
}

/// The legal moves in scan order from `start`.
#[must_use]
pub fn legal_scan(board: &Board, start: Square) -> MoveList {
    let checks_and_pins = ChecksAndPins::new(board);
    let mut list = scan(board, start);
    list.retain(|mv| is_legal_with(board, &checks_and_pins, *mv));
    list
}

/// The move with these bits if it is legal here. Confirms hash moves, which another position with the
/// same key may have stored. The promotion bits of any other move have to be 0. `checks_and_pins` are this board's.
#[must_use]
pub fn confirm(board: &Board, checks_and_pins: &ChecksAndPins, raw: u16) -> Option<Move> {
    let mv = Move::from_raw(raw)?;
    let us = board.side_to_move();
    let piece = board.piece_on(mv.from()).filter(|piece| piece.side() == us)?;
    let (from, to) = (mv.from().raw(), mv.to().raw());
    if !board.is_promotion(mv) && mv.promotion_kind() != Kind::Knight {
        return None;
    }
    if board.is_castling(mv) {
        let king_side = to > from;
        let castles = piece.kind() == Kind::King
            && board.castling_rook(us, king_side) == Some(mv.to())
            && !checks_and_pins.in_check()
            && castling_is_legal(board, us, king_side);
        return castles.then_some(mv);
    }
    let moves_so = if piece.kind().is_pawn() && from & 15 == to & 15 {
        pushes(board, us, from, to)
    } else if piece.kind().is_pawn() {
        let captures = at(board.squares(), to) != 0 || board.is_en_passant(mv);
        captures && attacks(board.squares(), piece.raw(), from, to, |_| false)
    } else {
        attacks(board.squares(), piece.raw(), from, to, |_| false)
    };
    (moves_so && is_legal_with(board, checks_and_pins, mv)).then_some(mv)
}

fn pushes(board: &Board, us: Side, from: u8, to: u8) -> bool {
    let step = steps(us.pawn())[0];
    let once = from.wrapping_add_signed(step);
    let second_row = if us == Side::White { 6 } else { 1 };
    let empty = |square: u8| at(board.squares(), square) == 0;
    let twice = from >> 4 == second_row && to == once.wrapping_add_signed(step) && empty(to);
    empty(once) && (to == once || twice)
}

/// Whether castling gives check: by the rook on its new square, or on the home row by a slider behind it.
fn castling_gives_check(board: &Board, mv: Move) -> bool {
    let us = board.side_to_move();
    let squares = board.squares();
    let target = board.king(us.other()).raw();
    let (king, rook) = (mv.from().raw(), mv.to().raw());
    let (king_to, rook_to) = Board::castled_squares(us, rook > king);
    // What stands on a square after the move.
    let after = |square: u8| match square {
        _ if square == king_to => at(squares, king),
        _ if square == rook_to => at(squares, rook),
        _ if square == king || square == rook => 0,
        _ => at(squares, square),
    };
    if target >> 4 != rook_to >> 4 {
        return attacks(squares, at(squares, rook), rook_to, target, |square| {
            square == king || square == rook
        });
    }
    // Seen from the king, to both sides.
    [1, -1].into_iter().any(|step: i8| {
        let outwards = (1..8).map(|count| target.wrapping_add_signed(step * count));
        let first =
            outwards.take_while(|&square| on_board(square)).find(|&square| after(square) != 0);
        first.is_some_and(|square| {
            let piece = after(square);
            piece & us.bit() != 0 && piece & 7 > Kind::King as u8 && reaches(piece, square, target)
        })
    })
}

/// Whether a legal move gives check, directly, as the piece that a pawn becomes, by castling, or by discovery.
/// May be wrong for en passant: good enough for pruning and ordering, not for the rules.
#[must_use]
pub fn gives_check(board: &Board, mv: Move) -> bool {
    let us = board.side_to_move();
    let squares = board.squares();
    let king = board.king(us.other()).raw();
    let (from, to) = (mv.from().raw(), mv.to().raw());
    if board.is_castling(mv) {
        return castling_gives_check(board, mv);
    }
    let placed = if board.is_promotion(mv) {
        Piece::new(us, mv.promotion_kind()).raw()
    } else {
        at(squares, from)
    };
    if attacks(squares, placed, to, king, |square| square == from) {
        return true;
    }
    line_step(king, from) != line_step(king, to) && board.is_open_to_slider(king, from, us)
}
