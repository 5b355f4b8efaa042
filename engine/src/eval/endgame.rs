//! Endgame knowledge: drawn and drawish material, and mop-up.
//!
//! [`mop_up`] drives the losing king to where it can be mated; it depends on the position alone and is part
//! of the raw evaluation. [`scaled`] shrinks an advantage that is hard or impossible to win with, and as
//! the 50-move rule comes nearer; the search applies it to the raw evaluation, outside of the delayed gain.
//!
//! Sources: <https://www.chessprogramming.org/Mop-up_Evaluation>,
//! <https://www.chessprogramming.org/Draw_Evaluation>,
//! <https://www.chessprogramming.org/Wrong_Color_Bishop>,
//! <https://www.chessprogramming.org/Bishops_of_Opposite_Colors>.

use super::phase;
use crate::board::{Board, FIFTY_MOVES};
use crate::params;
use crate::piece::{Kind, Side};
use crate::score::Score;
use crate::square::Square;

/// A scale of 1, in 64ths.
const WHOLE: i32 = 64;

/// Piece values in pawns, to count material.
const MINOR: i32 = 3;
const ROOK: i32 = 5;
const QUEEN: i32 = 9;

/// An evaluation, from the view of the side to move, scaled by draw knowledge and the 50-move rule. Not by the
/// latter against a bare king: a longer line would lose more, and hide how far the king is driven.
#[must_use]
#[inline]
pub fn scaled(board: &Board, score: Score) -> Score {
    let strong = if score > 0 { board.side_to_move() } else { board.side_to_move().other() };
    let left = score * winnable(board, strong) / WHOLE;
    let bare = board.list(strong.other()).all().is_power_of_two();
    if bare { left } else { fifty_scaled(left, board.halfmove_clock()) }
}

/// An evaluation scaled by the half-moves since the last capture or pawn move.
#[must_use]
#[inline]
pub fn fifty_scaled(score: Score, clock: u16) -> Score {
    let whole = params::fifty_scale();
    score * (whole - i32::from(clock.min(FIFTY_MOVES))) / whole
}

/// The scale of an advantage of this side, in 64ths.
#[inline]
fn winnable(board: &Board, strong: Side) -> i32 {
    let (ours, theirs) = (board.list(strong), board.list(strong.other()));
    if ours.of(strong.pawn()) == 0 {
        return winnable_without_pawns(board, strong);
    }
    let others = ours.of(Kind::Knight) | ours.of(Kind::Rook) | ours.of(Kind::Queen);
    if others == 0
        && let Some(left) = rook_pawns(board, strong)
    {
        return left;
    }
    let bishops = (ours.of(Kind::Bishop), theirs.of(Kind::Bishop));
    if bishops.0.is_power_of_two() && bishops.1.is_power_of_two() {
        let colour = |side: Side| bishop_colours(board, side);
        if colour(strong) != colour(strong.other()) {
            let enemies = theirs.of(Kind::Knight) | theirs.of(Kind::Rook) | theirs.of(Kind::Queen);
            return if others | enemies == 0 {
                params::scale_opposite_bishops()
            } else {
                params::scale_opposite_bishops_and_more()
            };
        }
    }
    WHOLE
}

/// The scale without pawns: a minor piece more does not win, nor do two knights.
fn winnable_without_pawns(board: &Board, strong: Side) -> i32 {
    let (ours, theirs) = (force(board, strong), force(board, strong.other()));
    let knights = board.count(strong, Kind::Knight) as i32;
    if knights == 2 && ours == 2 * MINOR {
        return if theirs == 0 && board.count(strong.other(), strong.other().pawn()) == 0 {
            0
        } else {
            params::scale_minor_up()
        };
    }
    if ours - theirs > MINOR {
        WHOLE
    } else if ours < ROOK {
        0
    } else if theirs <= MINOR {
        params::scale_minor_up()
    } else {
        params::scale_minor_up_among_many()
    }
}

/// The scale of pawns on one rook file, without a bishop of the corner's colour; `None` with other pawns or
/// such a bishop, or if the enemy king does not get there.
fn rook_pawns(board: &Board, strong: Side) -> Option<i32> {
    let weak = strong.other();
    let list = board.list(strong);
    let mut pawns = list.squares_of(list.of(strong.pawn()));
    let first = Square::from_index_masked(pawns.next()?);
    let file = first.file();
    let rows_to_go = |square: Square| i32::from(square.row().abs_diff(strong.promotion_row()));
    let mut nearest = rows_to_go(first);
    for square in pawns.map(Square::from_index_masked) {
        if square.file() != file {
            return None;
        }
        nearest = nearest.min(rows_to_go(square));
    }
    let corner = Square::new(strong.promotion_row(), file);
    let helps = bishop_colours(board, strong) & 1 << colour(corner) != 0;
    if !matches!(file, 0 | 7) || helps {
        return None;
    }
    let king_to_go = distance(board.king(weak), corner);
    let bare = force(board, weak) == 0 && board.list(weak).of(weak.pawn()) == 0;
    if king_to_go <= 1 && bare {
        return Some(0);
    }
    let turn = i32::from(board.side_to_move() == weak);
    let arrives =
        king_to_go - turn < distance(board.king(strong), corner) && king_to_go - turn <= nearest;
    arrives.then(params::scale_rook_pawns)
}

/// Mop-up evaluation: adds to `score` a bonus for driving the losing king to the edge, towards the enemy king
/// and, with bishop and knight, into a corner of the bishop's colour. Returns `score` unchanged unless one
/// side wins without its pawns. Against a king with a minor piece at most, material and this bonus replace
/// `score`, which would now and then want the pieces elsewhere. All from the view of the side to move. Source:
/// <https://www.chessprogramming.org/Mop-up_Evaluation>.
#[must_use]
#[inline]
pub fn mop_up(board: &Board, score: Score) -> Score {
    let has_no_pawns = |side: Side| board.list(side).of(side.pawn()) == 0;
    // The cheap test first: this is called in every node.
    if has_no_pawns(Side::White) || has_no_pawns(Side::Black) {
        mop_up_without_pawns(board, score)
    } else {
        score
    }
}

/// [`mop_up`] where a side has no pawns.
fn mop_up_without_pawns(board: &Board, score: Score) -> Score {
    if phase::phase(board) > params::mop_up_phase() {
        return score;
    }
    for strong in Side::ALL {
        if is_won(board, strong) {
            let weak = strong.other();
            let view = if board.side_to_move() == strong { 1 } else { -1 };
            let easy = force(board, weak) <= MINOR;
            let won = if easy { easy_win(board, strong) } else { view * score };
            return view * (won + drive(board, strong));
        }
    }
    score
}

/// The evaluation of a win against a king with a minor piece at most, before the king is driven.
fn easy_win(board: &Board, strong: Side) -> Score {
    let lead = force(board, strong) - force(board, strong.other());
    let pieces = lead + board.count(strong, strong.pawn()) as i32;
    params::mop_up_won() + params::mop_up_man() * pieces
}

/// Whether this side has the material to mate, and the other no pawns and a minor piece less at least.
fn is_won(board: &Board, strong: Side) -> bool {
    let weak = strong.other();
    if board.list(weak).of(weak.pawn()) != 0 {
        return false;
    }
    let list = board.list(strong);
    let heavy = list.of(Kind::Rook) | list.of(Kind::Queen) != 0;
    let knights = list.of(Kind::Knight).count_ones();
    let colours = bishop_colours(board, strong);
    let mates = heavy || colours == 3 || (colours != 0 && knights > 0) || knights > 2;
    mates && force(board, strong) - force(board, weak) > MINOR
}

fn drive(board: &Board, strong: Side) -> Score {
    let (winner, loser) = (board.king(strong), board.king(strong.other()));
    let (row, file) = (i32::from(loser.row()), i32::from(loser.file()));
    let from_centre = |line: i32| (3 - line).max(line - 4);
    let apart = i32::from(winner.row().abs_diff(loser.row()))
        + i32::from(winner.file().abs_diff(loser.file()));
    let list = board.list(strong);
    let others = list.of(Kind::Rook) | list.of(Kind::Queen) | list.of(strong.pawn());
    let place = match bishop_colours(board, strong) {
        // Distance from the diagonal between the wrong corners.
        1 if others == 0 => params::mop_up_corner() * (7 - row - file).abs(),
        2 if others == 0 => params::mop_up_corner() * (row - file).abs(),
        _ => params::mop_up_edge() * (from_centre(row) + from_centre(file)),
    };
    place + params::mop_up_close() * (14 - apart)
}

/// A side's material without pawns, in pawns.
fn force(board: &Board, side: Side) -> i32 {
    let count = |kind: Kind| board.count(side, kind) as i32;
    MINOR * (count(Kind::Knight) + count(Kind::Bishop))
        + ROOK * count(Kind::Rook)
        + QUEEN * count(Kind::Queen)
}

/// The colours of a side's bishops as bits: 1 for light squares (a8), 2 for dark ones.
fn bishop_colours(board: &Board, side: Side) -> u8 {
    let list = board.list(side);
    list.squares_of(list.of(Kind::Bishop))
        .fold(0, |colours, square| colours | 1 << colour(Square::from_index_masked(square)))
}

const fn colour(square: Square) -> u8 {
    (square.row() ^ square.file()) & 1
}

/// The distance of two squares in king moves.
fn distance(from: Square, to: Square) -> i32 {
    i32::from(from.row().abs_diff(to.row()).max(from.file().abs_diff(to.file())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(fen: &str) -> Board {
        Board::from_fen(fen).unwrap()
    }

    /// What is left of 640 points of white's.
    fn left(fen: &str) -> Score {
        let board = board(fen);
        let sign = if board.side_to_move() == Side::White { 1 } else { -1 };
        sign * scaled(&board, sign * 640)
    }

    #[test]
    fn ordinary_positions_keep_their_value() {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
            "4k3/8/8/8/8/8/8/4K2R w - - 0 1",
            "4k3/8/8/8/8/8/8/2B1KN2 w - - 0 1",
            "3rk3/8/8/8/8/8/8/3QK3 b - - 0 1",
            "5bk1/p7/8/8/8/8/PP6/2B1K1N1 w - - 0 1",
        ] {
            assert_eq!(left(fen), 640, "{fen}");
        }
    }

    #[test]
    fn pieces_that_win_nothing_are_worth_little() {
        for fen in [
            "4k3/8/8/8/8/8/8/4KB2 w - - 0 1",
            "4k3/8/8/8/8/8/8/3NKN2 w - - 0 1",
            "4k3/8/8/8/8/8/8/3NKN2 b - - 0 1",
            "4kb2/8/8/8/8/8/8/4KN2 w - - 0 1",
            "4k3/pp6/8/8/8/8/8/4KN2 w - - 0 1",
        ] {
            assert_eq!(left(fen), 0, "{fen}");
        }
        for fen in [
            "4kb2/8/8/8/8/8/8/4KR2 w - - 0 1",
            "4kn2/8/8/8/8/8/8/4KR2 b - - 0 1",
            "4kr2/8/8/8/8/8/8/3BKR2 w - - 0 1",
            "4kn2/8/8/8/8/8/8/3BKB2 w - - 0 1",
            "4k3/p7/8/8/8/8/8/3NKN2 w - - 0 1",
        ] {
            assert!((1..200).contains(&left(fen)), "{fen}");
        }
    }

    #[test]
    fn the_wrong_bishop_draws_once_the_king_is_in_the_corner() {
        // The bishop does not command a8, h8.
        assert_eq!(left("k7/8/8/P7/8/8/8/K1B5 w - - 0 1"), 0);
        assert_eq!(left("8/6k1/8/7P/7P/8/8/K4B2 b - - 0 1"), 0);
        assert_eq!(left("7k/8/7P/8/8/8/8/K7 b - - 0 1"), 0);
        // It does.
        assert_eq!(left("k7/8/8/P7/8/8/8/K4B2 w - - 0 1"), 640);
        // It is on its way, too late, or in time were it not for a pawn of its own.
        assert!((1..320).contains(&left("8/4k3/8/8/P7/8/8/K1B5 b - - 0 1")));
        assert_eq!(left("8/8/P7/7k/8/8/8/K1B5 w - - 0 1"), 640);
        assert!((1..320).contains(&left("k7/1p6/8/P7/8/8/8/K1B5 w - - 0 1")));
        // Another pawn, another file, another piece.
        assert_eq!(left("k7/8/8/P7/8/8/7P/K1B5 w - - 0 1"), 640);
        assert_eq!(left("k7/8/8/1P6/8/8/8/K1B5 w - - 0 1"), 640);
        assert_eq!(left("k7/8/8/P7/8/8/8/K1BN4 w - - 0 1"), 640);
        // The same for black.
        let wrong = board("k1b5/8/8/8/p7/8/8/K7 b - - 0 1");
        assert_eq!(scaled(&wrong, 640), 0);
        let right = board("k4b2/8/8/8/p7/8/8/K7 b - - 0 1");
        assert_eq!(scaled(&right, 640), 640);
    }

    #[test]
    fn opposite_bishops_are_drawish() {
        let alone = left("2b1k3/p7/8/8/8/8/PPP5/2B1K3 w - - 0 1");
        let with_rooks = left("r1b1k3/p7/8/8/8/8/PPP5/R1B1K3 w - - 0 1");
        assert!(0 < alone && alone < with_rooks && with_rooks < 640);
        assert_eq!(left("5bk1/p7/8/8/8/8/PPP5/2B1K3 w - - 0 1"), 640, "of the same colour");
    }

    #[test]
    fn the_clock_shrinks_what_is_left() {
        let all: Vec<Score> = (0..=120).map(|clock| fifty_scaled(1000, clock)).collect();
        assert!(all.is_sorted_by(|before, after| before >= after));
        assert_eq!((all[0], all[120]), (1000, all[100]));
        assert!(all[100] > 0 && all[100] < all[50]);
        assert!((0..=120).all(|clock| fifty_scaled(-1000, clock) == -all[usize::from(clock)]));
    }

    #[test]
    fn scaling_keeps_the_sign_and_never_grows() {
        for fen in crate::bench::POSITIONS {
            let board = board(fen);
            for score in [-5000, -77, -1, 0, 1, 77, 5000] {
                let scaled = scaled(&board, score);
                assert!(scaled.abs() <= score.abs() && scaled * score >= 0, "{fen}");
            }
        }
    }

    #[test]
    fn kings_are_driven_to_where_they_can_be_mated() {
        let value = |fen| mop_up(&board(fen), 0);
        // To the edge, and the own king near.
        assert!(value("8/8/8/4k3/8/8/8/KR6 w - - 0 1") < value("4k3/8/8/8/8/8/8/KR6 w - - 0 1"));
        assert!(value("4k3/8/8/8/8/8/8/KR6 w - - 0 1") < value("4k3/8/4K3/8/8/8/8/1R6 w - - 0 1"));
        // The bishop's corner, not the other: c1 is dark as a1 and h8 are.
        let right = value("7k/8/5K2/8/8/8/8/2B2N2 w - - 0 1");
        let wrong = value("k7/8/2K5/8/8/8/8/2B2N2 w - - 0 1");
        assert!(wrong + 100 < right);
        // From both sides.
        assert_eq!(value("7k/8/5K2/8/8/8/8/2B2N2 b - - 0 1"), -right);
        // Not where nothing is won.
        for fen in [
            "7k/8/5K2/8/8/8/8/2N2N2 w - - 0 1",
            "7k/7p/5K2/8/8/8/8/2B2N2 w - - 0 1",
            "7k/7b/5K2/8/8/8/8/5R2 w - - 0 1",
            "7k/8/5K2/8/8/8/8/B1B5 w - - 0 1",
        ] {
            assert_eq!(value(fen), 0, "{fen}");
        }
    }
}
