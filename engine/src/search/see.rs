//! Static exchange evaluation (SEE): the outcome of a sequence of captures on one square.
//!
//! The least valuable attacker captures first; sliders behind it (x-rays) join in. Source:
//! <https://www.chessprogramming.org/Static_Exchange_Evaluation>.

use crate::attack::{at, line_step, on_board, pawn_attack_origins, reaches};
use crate::board::Board;
use crate::machine::vector::{self, Avx512, Kernel, RaysTo};
use crate::moves::Move;
use crate::params;
use crate::piece::{Kind, Piece, Side};
use crate::score::Score;

/// The value of a piece in an exchange, in centipawns.
#[inline]
pub(crate) fn see_value(kind: Kind) -> Score {
    match kind {
        Kind::WhitePawn | Kind::BlackPawn => params::see_pawn(),
        Kind::Knight => params::see_knight(),
        Kind::Bishop => params::see_bishop(),
        Kind::Rook => params::see_rook(),
        Kind::Queen => params::see_queen(),
        Kind::King => 0,
    }
}

/// What a promotion gains: the promoted piece less the pawn; 0 for other moves.
#[inline]
fn promotion_gain(board: &Board, mv: Move) -> Score {
    if board.is_promotion(mv) { see_value(mv.promotion_kind()) - params::see_pawn() } else { 0 }
}

/// What a move captures; castling nothing.
#[inline]
fn victim_value(board: &Board, mv: Move) -> Score {
    match board.piece_on(mv.to()) {
        Some(_) if board.is_castling(mv) => 0,
        Some(piece) => see_value(piece.kind()),
        None if board.is_en_passant(mv) => params::see_pawn(),
        None => 0,
    }
}

/// The most that a capture or promotion can win.
#[inline]
pub(crate) fn captured_value(board: &Board, mv: Move) -> Score {
    victim_value(board, mv) + promotion_gain(board, mv)
}

/// The order in which pieces capture, after the pawns.
const BY_VALUE: [Kind; 5] = [Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen, Kind::King];

/// Whether the exchange that a move begins wins at least `threshold` for its side. A promotion gains the
/// promoted piece less the pawn, and puts that piece at risk; castling wins nothing.
pub(crate) fn see_ge(board: &Board, mv: Move, threshold: Score) -> bool {
    let (from, to) = (mv.from().raw(), mv.to().raw());
    let us = board.side_to_move();
    let Some(moved) = board.piece_on(mv.from()) else { return false };
    if board.is_castling(mv) {
        return threshold <= 0;
    }
    let promotes = board.is_promotion(mv);
    let placed = if promotes { mv.promotion_kind() } else { moved.kind() };
    let mut balance = captured_value(board, mv) - threshold;
    if balance < 0 {
        return false;
    }
    balance -= see_value(placed);
    if balance >= 0 {
        return true;
    }

    let victim = board.is_en_passant(mv).then(|| mv.to().en_passant_victim().raw());
    let swap = Swap { us, from, to, victim, balance };
    match Avx512::new() {
        Some(vector) => vector.run(SwapOf { board, swap: &swap }),
        None => swap_by_list(&swap, board),
    }
}

/// Without vectors. Not inlined: keeps the vector path small.
#[inline(never)]
fn swap_by_list(swap: &Swap, board: &Board) -> bool {
    swap.holds(ByList::new(board, swap.to))
}

/// The attackers of a square that have not captured there yet.
trait Attackers {
    /// Removes a piece from its square.
    fn remove(&mut self, square: u8);
    /// Removes a side's least valuable attacker and returns its kind. Of equal ones the one in the first
    /// lane of `vector`, so that both implementations agree.
    fn take_least(&mut self, side: Side) -> Option<Kind>;
}

/// An exchange after its first move.
#[derive(Clone, Copy)]
struct Swap {
    /// The side that began.
    us: Side,
    from: u8,
    to: u8,
    /// The square of the pawn captured en passant.
    victim: Option<u8>,
    /// What that side has beyond the threshold if its piece is recaptured.
    balance: Score,
}

impl Swap {
    /// Whether it reaches the threshold.
    #[inline(always)]
    fn holds(&self, mut attackers: impl Attackers) -> bool {
        attackers.remove(self.from);
        if let Some(victim) = self.victim {
            attackers.remove(victim);
        }
        let mut side = self.us.other();
        let mut balance = self.balance;
        // `balance`: what the side that captured last has beyond the threshold if it is recaptured; it has won
        // if that is not negative.
        while let Some(attacker) = attackers.take_least(side) {
            // A king cannot capture a defended piece.
            if attacker == Kind::King && attackers.take_least(side.other()).is_some() {
                break;
            }
            side = side.other();
            balance = -balance - 1 - see_value(attacker);
            if balance >= 0 {
                break;
            }
        }
        // The side to move has no capture that helps: it loses the exchange.
        side != self.us
    }
}

/// An exchange, to be run with vectors.
struct SwapOf<'a> {
    board: &'a Board,
    /// By reference: copying stalls on store forwarding.
    swap: &'a Swap,
}

impl Kernel for SwapOf<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self, vector: Avx512) -> bool {
        let to = self.swap.to;
        self.swap.holds(ByLane { to, rays: vector.rays_to(self.board.squares(), to) })
    }
}

/// Attackers as lanes of the rays to the square.
struct ByLane {
    to: u8,
    rays: RaysTo,
}

impl Attackers for ByLane {
    #[inline(always)]
    fn remove(&mut self, square: u8) {
        self.rays.occupied &= !vector::lane_of(self.to, square);
    }

    #[inline(always)]
    fn take_least(&mut self, side: Side) -> Option<Kind> {
        let RaysTo { on_board, occupied, white, attackers } = self.rays;
        let of_side = if side == Side::White { white } else { !white };
        let near = vector::visible(occupied, on_board) & occupied & of_side;
        let kinds = [side.pawn()].into_iter().chain(BY_VALUE);
        let (kind, able) = kinds
            .zip(attackers)
            .map(|(kind, lanes)| (kind, near & lanes))
            .find(|&(_, able)| able != 0)?;
        self.rays.occupied ^= able & able.wrapping_neg();
        Some(kind)
    }
}

/// Attackers from the piece lists.
struct ByList<'a> {
    board: &'a Board,
    to: u8,
    /// Removed pieces by side, as sets of list indices.
    gone: [u16; 2],
}

impl ByList<'_> {
    fn new(board: &Board, to: u8) -> ByList<'_> {
        ByList { board, to, gone: [0; 2] }
    }

    #[inline(always)]
    fn has_gone(&self, side: Side, square: u8) -> bool {
        self.gone[side.index()] >> self.board.index_on(square) & 1 != 0
    }

    #[inline]
    fn line_is_open(&self, from: u8) -> bool {
        let step = line_step(from, self.to);
        let mut square = from.wrapping_add_signed(step);
        while square != self.to {
            let piece = at(self.board.squares(), square);
            if piece != 0 && !self.has_gone(Piece::from_raw_occupied(piece).side(), square) {
                return false;
            }
            square = square.wrapping_add_signed(step);
        }
        true
    }

    #[inline]
    fn least(&self, side: Side) -> Option<(Kind, u8)> {
        let pawn = side.bit() | side.pawn() as u8;
        for from in pawn_attack_origins(side, self.to) {
            let is_pawn = on_board(from) && at(self.board.squares(), from) == pawn;
            if is_pawn && !self.has_gone(side, from) {
                return Some((side.pawn(), from));
            }
        }
        let list = self.board.list(side);
        BY_VALUE.into_iter().find_map(|kind| {
            list.squares_of(list.of(kind) & !self.gone[side.index()])
                .filter(|&from| reaches(kind as u8, from, self.to))
                .filter(|&from| !kind.is_slider() || self.line_is_open(from))
                .min_by_key(|&from| vector::lane_of(self.to, from))
                .map(|from| (kind, from))
        })
    }
}

impl Attackers for ByList<'_> {
    fn remove(&mut self, square: u8) {
        if let Some(piece) = Piece::from_raw(at(self.board.squares(), square)) {
            self.gone[piece.side().index()] |= 1 << self.board.index_on(square);
        }
    }

    fn take_least(&mut self, side: Side) -> Option<Kind> {
        let (kind, from) = self.least(side)?;
        self.remove(from);
        Some(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::POSITIONS;

    fn value(fen: &str, mv: &str) -> Score {
        let board = Board::from_fen(fen).unwrap();
        let mv = board.parse_uci(mv).unwrap();
        (-3000..=3000).rev().find(|&threshold| see_ge(&board, mv, threshold)).unwrap()
    }

    #[test]
    fn captures_and_promotions_are_worth_what_is_there() {
        let value = |fen: &str, mv: &str| {
            let board = Board::from_fen(fen).unwrap();
            captured_value(&board, board.parse_uci(mv).unwrap())
        };
        let (p, r, q) = (params::see_pawn(), params::see_rook(), params::see_queen());
        assert_eq!(value("1r2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q"), q - p);
        assert_eq!(value("1r2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7b8q"), r + q - p);
        assert_eq!(value("1r2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8r"), r - p);
        assert_eq!(value("4k3/8/8/2pP4/8/8/8/4K3 w - c6 0 1", "d5c6"), p);
        assert_eq!(value("4k3/8/8/2pP4/8/8/8/4K3 w - c6 0 1", "d5d6"), 0);
        assert_eq!(value("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1"), 0);
    }

    #[test]
    fn vectors_tell_the_same() {
        let Some(vector) = Avx512::new() else { return };
        let more = [
            // En passant, also with someone behind.
            "4k3/1p6/8/2pP4/8/8/8/4K3 w - c6 0 1",
            "2r1k3/8/8/2pP4/8/8/2R5/2R1K3 w - c6 0 1",
            // Two queens, one with a rook behind.
            "6Q1/kb6/1np2n2/3p4/8/2N5/3Q4/3R2K1 w - - 0 1",
        ];
        for fen in POSITIONS.into_iter().chain(more) {
            let board = Board::from_fen(fen).unwrap();
            let us = board.side_to_move();
            for mv in board.legal_moves().iter().filter(|mv| !board.is_castling(**mv)) {
                let (from, to) = (mv.from().raw(), mv.to().raw());
                let victim = board.is_en_passant(*mv).then(|| mv.to().en_passant_victim().raw());
                for balance in (-1500..0).step_by(50) {
                    let swap = Swap { us, from, to, victim, balance };
                    let by_list = swap.holds(ByList::new(&board, to));
                    assert_eq!(
                        vector.run(SwapOf { board: &board, swap: &swap }),
                        by_list,
                        "{fen} {mv:?}"
                    );
                }
            }
        }
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
            // Promotions: to a free square, one that is attacked, one that is attacked and defended; with
            // a capture; to another piece.
            ("8/P3k3/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", q - p),
            ("8/P3k3/8/8/8/8/8/4K3 w - - 0 1", "a7a8n", n - p),
            ("2r5/P3k3/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", -p),
            ("2r5/P3k3/8/8/8/8/8/R3K3 w - - 0 1", "a7a8q", r - p),
            ("1rr5/P3k3/8/8/8/8/8/4K3 w - - 0 1", "a7b8q", r - p),
            ("1n6/P3k3/8/8/8/8/8/4K3 w - - 0 1", "a7b8r", n + r - p),
            ("4k3/8/8/8/8/8/4K2p/6N1 b - - 0 1", "h2g1q", n + q - p),
            ("4k3/8/8/8/8/8/5K1p/6N1 b - - 0 1", "h2g1q", n - p),
        ] {
            assert_eq!(value(fen, mv), expected, "{fen} {mv}");
        }
    }
}
