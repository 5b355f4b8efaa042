//! Legal move generation: checks and pins are found first, so no move has to be made and tested.
//!
//! Source of the method: <https://www.chessprogramming.org/Move_Generation#Legal>. The 0x88 form is our
//! own: the 0x88 difference tells which enemy sliders share a line with the king; walking that line tells
//! a check (nothing between) from a pin (one piece of ours between).

use crate::attack::{at, line_step, on_board, pawn_attack_origins, reaches, steps};
use crate::board::{Board, right_bit};
use crate::machine::vector::{self, Avx512, Kernel};
use crate::moves::{Move, MoveList};
use crate::piece::{Kind, Side};
use crate::square::{NO_SQUARE, OFF_BOARD, Square};

/// Receives generated moves: keeps or only counts them, all or a part.
trait MoveSink {
    /// Whether to generate captures and promotions.
    const NOISY: bool = true;
    /// Whether to generate all other moves.
    const QUIET: bool = true;
    /// Whether to test king moves for legality at once. If not, the caller tests each with [`king_is_safe`]
    /// before it is searched: most are never reached.
    const LEGAL_KING: bool = true;

    fn add(&mut self, from: u8, to: u8);
    fn add_promotions(&mut self, from: u8, to: u8);
}

impl MoveSink for MoveList {
    #[inline(always)]
    fn add(&mut self, from: u8, to: u8) {
        self.push(Move::new(Square::from_index_masked(from), Square::from_index_masked(to)));
    }

    fn add_promotions(&mut self, from: u8, to: u8) {
        for kind in [Kind::Queen, Kind::Knight, Kind::Rook, Kind::Bishop] {
            let (from, to) = (Square::from_index_masked(from), Square::from_index_masked(to));
            self.push(Move::promotion(from, to, kind));
        }
    }
}

/// Keeps captures and promotions only.
struct NoisyOnly<'a>(&'a mut MoveList);

impl MoveSink for NoisyOnly<'_> {
    const QUIET: bool = false;
    const LEGAL_KING: bool = false;

    #[inline(always)]
    fn add(&mut self, from: u8, to: u8) {
        self.0.add(from, to);
    }

    fn add_promotions(&mut self, from: u8, to: u8) {
        self.0.add_promotions(from, to);
    }
}

/// Keeps everything but captures and promotions.
struct QuietOnly<'a>(&'a mut MoveList);

impl MoveSink for QuietOnly<'_> {
    const NOISY: bool = false;
    const LEGAL_KING: bool = false;

    #[inline(always)]
    fn add(&mut self, from: u8, to: u8) {
        self.0.add(from, to);
    }

    fn add_promotions(&mut self, _from: u8, _to: u8) {}
}

struct Count(u64);

impl MoveSink for Count {
    #[inline(always)]
    fn add(&mut self, _from: u8, _to: u8) {
        self.0 += 1;
    }

    #[inline(always)]
    fn add_promotions(&mut self, _from: u8, _to: u8) {
        self.0 += 4;
    }
}

/// All legal moves, in the order of the piece lists.
#[must_use]
pub fn legal_moves(board: &Board) -> MoveList {
    let mut list = MoveList::new();
    generate(board, &ChecksAndPins::new(board), &mut list);
    list
}

/// Adds the captures and promotions, en passant included. All are legal but the king's, which
/// [`king_is_safe`] still has to test. `checks_and_pins` are this board's.
pub fn noisy_moves(board: &Board, checks_and_pins: &ChecksAndPins, list: &mut MoveList) {
    generate(board, checks_and_pins, &mut NoisyOnly(list));
}

/// Adds the moves that neither capture nor promote, castling included. All are legal but the king's, as
/// with [`noisy_moves`].
pub fn quiet_moves(board: &Board, checks_and_pins: &ChecksAndPins, list: &mut MoveList) {
    generate(board, checks_and_pins, &mut QuietOnly(list));
}

/// Whether a move from [`noisy_moves`] or [`quiet_moves`] is legal: a king must not step onto an attacked
/// square.
#[must_use]
#[inline]
pub fn king_is_safe(board: &Board, mv: Move) -> bool {
    let us = board.side_to_move();
    let king = board.king(us);
    let to = mv.to().raw();
    // Castling is generated only where it is legal.
    mv.from() != king || board.is_castling(mv) || board.is_safe(to, us, [king.raw(); 2], NO_SQUARE)
}

/// The number of legal moves, without making a list.
#[must_use]
pub fn count_legal(board: &Board) -> u64 {
    let mut count = Count(0);
    generate(board, &ChecksAndPins::new(board), &mut count);
    count.0
}

/// The checks and pins against the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChecksAndPins {
    /// How many pieces give check.
    pub(super) checkers: u32,
    /// Where another piece than the king may move to: the checker's square and those between it and the
    /// king, a bit for each 0x88 coordinate. Every square if there is no check; meaningless in double check,
    /// where only the king moves.
    pub(super) evasion_targets: u128,
    /// The pinned pieces of the side to move, as a set of list indices.
    pub(super) pinned: u16,
}

impl ChecksAndPins {
    /// Those of a position.
    #[must_use]
    #[inline]
    pub fn new(board: &Board) -> ChecksAndPins {
        ChecksAndPins::of(board, board.side_to_move())
    }

    /// Those of a position of which it is known whether the side to move is in check: without check only
    /// pins are looked for.
    #[must_use]
    #[inline]
    pub fn given(board: &Board, in_check: bool) -> ChecksAndPins {
        let us = board.side_to_move();
        if in_check {
            return ChecksAndPins::of(board, us);
        }
        let mut checks_and_pins = ChecksAndPins { checkers: 0, evasion_targets: !0, pinned: 0 };
        let king = board.king(us).raw();
        for slider in sliders_towards(board, us.other(), king) {
            let step = line_step(king, slider);
            checks_and_pins.pin(board, us, next_piece(board, king, step), step, slider);
        }
        checks_and_pins
    }

    /// Whether the side to move is in check.
    #[must_use]
    #[inline]
    pub const fn in_check(&self) -> bool {
        self.checkers > 0
    }

    #[inline(always)]
    fn of(board: &Board, us: Side) -> ChecksAndPins {
        let squares = board.squares();
        let king = board.king(us).raw();
        let them = us.other();
        let enemies = board.list(them);
        let mut checks_and_pins = ChecksAndPins { checkers: 0, evasion_targets: 0, pinned: 0 };

        let enemy_pawn = them.bit() | them.pawn() as u8;
        for origin in pawn_attack_origins(them, king) {
            if on_board(origin) && at(squares, origin) == enemy_pawn {
                checks_and_pins.checkers += 1;
                checks_and_pins.evasion_targets |= 1 << origin;
            }
        }
        for from in enemies.squares_of(enemies.of(Kind::Knight)) {
            if reaches(Kind::Knight as u8, from, king) {
                checks_and_pins.checkers += 1;
                checks_and_pins.evasion_targets |= 1 << from;
            }
        }
        for slider in sliders_towards(board, them, king) {
            checks_and_pins.follow(board, us, king, slider);
        }
        if checks_and_pins.checkers == 0 {
            checks_and_pins.evasion_targets = !0;
        }
        checks_and_pins
    }

    /// Notes what an enemy slider on a line with our king does: a check if nothing stands between, a pin
    /// if one piece of ours does.
    #[inline(always)]
    fn follow(&mut self, board: &Board, us: Side, king: u8, slider: u8) {
        let step = line_step(king, slider);
        let first = next_piece(board, king, step);
        if first != slider {
            return self.pin(board, us, first, step, slider);
        }
        self.checkers += 1;
        let mut square = king;
        while square != slider {
            square = square.wrapping_add_signed(step);
            self.evasion_targets |= 1 << (square & 0x7f);
        }
    }

    /// Notes a pin if `first`, the first piece from our king towards the slider, is ours and the only one
    /// between.
    #[inline(always)]
    fn pin(&mut self, board: &Board, us: Side, first: u8, step: i8, slider: u8) {
        if at(board.squares(), first) & us.bit() != 0 && next_piece(board, first, step) == slider {
            self.pinned |= 1 << board.index_on(first);
        }
    }
}

/// The squares of a side's sliders that would attack `target` on an empty board.
#[inline(always)]
fn sliders_towards(board: &Board, by: Side, target: u8) -> impl Iterator<Item = u8> {
    let list = board.list(by);
    let sliders = list.of(Kind::Bishop) | list.of(Kind::Rook) | list.of(Kind::Queen);
    list.squares_of(sliders).filter(move |&from| reaches(at(board.squares(), from), from, target))
}

/// The next occupied square in this direction. There must be one: nothing stops the walk at the edge.
#[inline(always)]
fn next_piece(board: &Board, from: u8, step: i8) -> u8 {
    let mut square = from.wrapping_add_signed(step);
    while at(board.squares(), square) == 0 {
        square = square.wrapping_add_signed(step);
    }
    square
}

fn generate<S: MoveSink>(board: &Board, checks_and_pins: &ChecksAndPins, sink: &mut S) {
    match Avx512::new() {
        Some(avx512) => avx512.run(Generate { board, checks_and_pins, sink }),
        None => walk(board, checks_and_pins, sink),
    }
}

/// Generation without AVX-512. Not inlined: it is large, and beside the other it would slow that down.
#[inline(never)]
fn walk<S: MoveSink>(board: &Board, checks_and_pins: &ChecksAndPins, sink: &mut S) {
    generate_by(Walk, board, checks_and_pins, sink);
}

/// Generation with AVX-512.
struct Generate<'a, S> {
    board: &'a Board,
    checks_and_pins: &'a ChecksAndPins,
    sink: &'a mut S,
}

impl<S: MoveSink> Kernel for Generate<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self, avx512: Avx512) {
        generate_by(avx512, self.board, self.checks_and_pins, self.sink);
    }
}

#[inline(always)]
fn generate_by<S: MoveSink>(
    geometry: impl Geometry,
    board: &Board,
    checks_and_pins: &ChecksAndPins,
    sink: &mut S,
) {
    match board.side_to_move() {
        Side::White => generate_for::<S, true>(geometry, board, checks_and_pins, sink),
        Side::Black => generate_for::<S, false>(geometry, board, checks_and_pins, sink),
    }
}

/// A way to find the squares that a piece can go to.
trait Geometry: Copy {
    /// Adds the moves from a square of a knight, king, bishop or rook to `allowed` squares, direction by
    /// direction in the order of `steps`.
    fn moves<S: MoveSink>(
        self,
        board: &Board,
        kind: Kind,
        from: u8,
        us: Side,
        sink: &mut S,
        allowed: impl Fn(u8) -> bool,
    );
}

/// Square by square along each ray.
#[derive(Clone, Copy)]
struct Walk;

impl Geometry for Walk {
    #[inline(always)]
    fn moves<S: MoveSink>(
        self,
        board: &Board,
        kind: Kind,
        from: u8,
        us: Side,
        sink: &mut S,
        allowed: impl Fn(u8) -> bool,
    ) {
        if kind.is_slider() {
            return slider_moves(board, from, us, steps(kind), sink, allowed);
        }
        for &step in steps(kind) {
            let to = from.wrapping_add_signed(step);
            if is_free(board, to, us) && wants::<S>(board, to) && allowed(to) {
                sink.add(from, to);
            }
        }
    }
}

impl Geometry for Avx512 {
    #[inline(always)]
    fn moves<S: MoveSink>(
        self,
        board: &Board,
        kind: Kind,
        from: u8,
        us: Side,
        sink: &mut S,
        allowed: impl Fn(u8) -> bool,
    ) {
        let lanes = match kind {
            Kind::Knight => vector::JUMPS,
            Kind::Bishop => vector::DIAGONAL,
            Kind::Rook => vector::STRAIGHT,
            _ => vector::NEXT,
        };
        let rays = self.rays_from(board.squares(), from);
        let ours = if us == Side::White { rays.white } else { rays.occupied & !rays.white };
        let wanted = match (S::NOISY, S::QUIET) {
            (true, true) => !ours,
            (true, false) => rays.occupied & !ours,
            (false, _) => !rays.occupied,
        };
        let mut rest = rays.visible & lanes & wanted;
        while rest != 0 {
            let to = vector::lane_square(from, rest.trailing_zeros());
            rest &= rest - 1;
            if allowed(to) {
                sink.add(from, to);
            }
        }
    }
}

#[inline(always)]
const fn side_of(white: bool) -> Side {
    if white { Side::White } else { Side::Black }
}

#[inline(always)]
fn generate_for<S: MoveSink, const WHITE: bool>(
    geometry: impl Geometry,
    board: &Board,
    checks_and_pins: &ChecksAndPins,
    sink: &mut S,
) {
    king_moves::<S, WHITE>(geometry, board, sink);
    if checks_and_pins.checkers == 0 {
        if S::QUIET {
            castlings(board, side_of(WHITE), sink);
        }
        piece_moves::<S, WHITE, false>(geometry, board, checks_and_pins, sink);
    } else if checks_and_pins.checkers == 1 {
        piece_moves::<S, WHITE, true>(geometry, board, checks_and_pins, sink);
    }
}

#[inline(always)]
fn king_moves<S: MoveSink, const WHITE: bool>(
    geometry: impl Geometry,
    board: &Board,
    sink: &mut S,
) {
    let us = side_of(WHITE);
    let king = board.king(us).raw();
    let allowed = |to: u8| !S::LEGAL_KING || board.is_safe(to, us, [king, king], NO_SQUARE);
    geometry.moves(board, Kind::King, king, us, sink, allowed);
}

/// Whether a coordinate is on the board and not occupied by our own pieces. One test for both.
#[inline(always)]
fn is_free(board: &Board, to: u8, us: Side) -> bool {
    (to & OFF_BOARD) | (at(board.squares(), to) & us.bit()) == 0
}

/// Whether a move of a piece other than a pawn to this square is of the kind that the sink wants.
#[inline(always)]
fn wants<S: MoveSink>(board: &Board, to: u8) -> bool {
    (S::NOISY && S::QUIET) || (at(board.squares(), to) != 0) == S::NOISY
}

/// Adds castling; not to be called in check. King and rook end on the c- and d- or g- and f-file. All
/// squares that either crosses must be free of other pieces, and those that the king crosses unattacked.
#[inline(always)]
fn castlings<S: MoveSink>(board: &Board, us: Side, sink: &mut S) {
    for king_side in [false, true] {
        if board.castling_rights() & right_bit(us, king_side) != 0
            && castling_is_legal(board, us, king_side)
            && let Some(rook) = board.castling_rook(us, king_side)
        {
            sink.add(board.king(us).raw(), rook.raw());
        }
    }
}

pub(super) fn castling_is_legal(board: &Board, us: Side, king_side: bool) -> bool {
    let Some(rook) = board.castling_rook(us, king_side) else { return false };
    let (king, rook) = (board.king(us).raw(), rook.raw());
    let (king_to, rook_to) = Board::castled_squares(us, king_side);
    let first = king.min(rook).min(king_to).min(rook_to);
    let last = king.max(rook).max(king_to).max(rook_to);
    let crossed_is_free = (first..=last).all(|square| {
        let crossed = is_within(square, king, king_to) || is_within(square, rook, rook_to);
        !crossed || square == king || square == rook || at(board.squares(), square) == 0
    });
    crossed_is_free
        && (king.min(king_to)..=king.max(king_to))
            .all(|square| square == king_to || board.is_safe(square, us, [king, king], NO_SQUARE))
        && board.is_safe(king_to, us, [king, rook], rook_to)
}

fn is_within(square: u8, a: u8, b: u8) -> bool {
    (a.min(b)..=a.max(b)).contains(&square)
}

/// All but the king's moves. `EVADE`: one piece gives check and has to be captured or blocked.
#[inline(always)]
fn piece_moves<S: MoveSink, const WHITE: bool, const EVADE: bool>(
    geometry: impl Geometry,
    board: &Board,
    checks_and_pins: &ChecksAndPins,
    sink: &mut S,
) {
    let us = side_of(WHITE);
    let list = board.list(us);
    let free = !checks_and_pins.pinned;
    let allowed = |to: u8| !EVADE || checks_and_pins.evasion_targets >> (to & 0x7f) & 1 != 0;

    for from in list.squares_of(list.of(us.pawn()) & free) {
        pawn_moves::<S, WHITE>(board, from, 0, sink, allowed);
    }
    for from in list.squares_of(list.of(Kind::Knight) & free) {
        geometry.moves(board, Kind::Knight, from, us, sink, allowed);
    }
    for from in list.squares_of((list.of(Kind::Bishop) | list.of(Kind::Queen)) & free) {
        geometry.moves(board, Kind::Bishop, from, us, sink, allowed);
    }
    for from in list.squares_of((list.of(Kind::Rook) | list.of(Kind::Queen)) & free) {
        geometry.moves(board, Kind::Rook, from, us, sink, allowed);
    }
    // A pinned piece can't answer another piece's check: it may not leave its line.
    if !EVADE && checks_and_pins.pinned != 0 {
        for from in list.squares_of(checks_and_pins.pinned) {
            pinned_moves::<S, WHITE>(board, from, sink);
        }
    }
    if S::NOISY
        && let Some(target) = board.en_passant()
    {
        en_passant_moves(board, us, target.raw(), sink);
    }
}

#[inline(always)]
fn slider_moves<S: MoveSink>(
    board: &Board,
    from: u8,
    us: Side,
    steps: &[i8],
    sink: &mut S,
    allowed: impl Fn(u8) -> bool,
) {
    let squares = board.squares();
    for &step in steps {
        let mut to = from.wrapping_add_signed(step);
        while to & OFF_BOARD == 0 {
            let target = at(squares, to);
            if target & us.bit() != 0 {
                break;
            }
            let wanted = if target == 0 { S::QUIET } else { S::NOISY };
            if wanted && allowed(to) {
                sink.add(from, to);
            }
            if target != 0 {
                break;
            }
            to = to.wrapping_add_signed(step);
        }
    }
}

/// Adds the pushes and captures of one pawn, without en passant. `line` is the step of the line that it is
/// pinned on, 0 if it is not.
#[inline(always)]
fn pawn_moves<S: MoveSink, const WHITE: bool>(
    board: &Board,
    from: u8,
    line: i8,
    sink: &mut S,
    allowed: impl Fn(u8) -> bool,
) {
    let us = side_of(WHITE);
    let squares = board.squares();
    let (push, captures) = if WHITE { (-16i8, [-15i8, -17]) } else { (16i8, [15i8, 17]) };
    let on_line = |step: i8| line == 0 || step == line || step == -line;
    let to = from.wrapping_add_signed(push);
    let promotes = to >> 4 == if WHITE { 0 } else { 7 };
    if (if promotes { S::NOISY } else { S::QUIET }) && at(squares, to) == 0 && on_line(push) {
        if allowed(to) {
            add_pawn_move::<S, WHITE>(from, to, sink);
        }
        let second_row = if WHITE { 6 } else { 1 };
        if from >> 4 == second_row {
            let to = to.wrapping_add_signed(push);
            if at(squares, to) == 0 && allowed(to) {
                sink.add(from, to);
            }
        }
    }
    if !S::NOISY {
        return;
    }
    for step in captures {
        let to = from.wrapping_add_signed(step);
        // No edge test: the off-board columns hold no pieces, and no pawn stands on the last row.
        if at(squares, to) & us.other().bit() != 0 && on_line(step) && allowed(to) {
            add_pawn_move::<S, WHITE>(from, to, sink);
        }
    }
}

#[inline(always)]
fn add_pawn_move<S: MoveSink, const WHITE: bool>(from: u8, to: u8, sink: &mut S) {
    let last_row = if WHITE { 0 } else { 7 };
    if to >> 4 == last_row {
        sink.add_promotions(from, to);
    } else {
        sink.add(from, to);
    }
}

/// Adds a pinned piece's moves: along the line to its king only, so none for a knight.
fn pinned_moves<S: MoveSink, const WHITE: bool>(board: &Board, from: u8, sink: &mut S) {
    let us = side_of(WHITE);
    let line = line_step(board.king(us).raw(), from);
    let Some(piece) = board.piece_on(Square::from_index_masked(from)) else { return };
    let kind = piece.kind();
    if kind.is_pawn() {
        pawn_moves::<S, WHITE>(board, from, line, sink, |_| true);
    } else if kind.is_slider() && steps(kind).contains(&line) {
        slider_moves(board, from, us, &[line, -line], sink, |_| true);
    }
}

fn en_passant_moves<S: MoveSink>(board: &Board, us: Side, target: u8, sink: &mut S) {
    let pawn = us.bit() | us.pawn() as u8;
    for from in pawn_attack_origins(us, target) {
        if on_board(from)
            && at(board.squares(), from) == pawn
            && board.en_passant_is_legal(from, target, us)
        {
            sink.add(from, target);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::POSITIONS;

    fn all_ways<G: Geometry>(geometry: G, board: &Board) -> [MoveList; 3] {
        let checks_and_pins = ChecksAndPins::new(board);
        let mut lists = [MoveList::new(), MoveList::new(), MoveList::new()];
        let [all, noisy, quiet] = &mut lists;
        generate_by(geometry, board, &checks_and_pins, all);
        generate_by(geometry, board, &checks_and_pins, &mut NoisyOnly(noisy));
        generate_by(geometry, board, &checks_and_pins, &mut QuietOnly(quiet));
        lists
    }

    #[test]
    fn vectors_find_the_same_moves_in_the_same_order() {
        let Some(avx512) = Avx512::new() else { return };
        for fen in POSITIONS {
            let mut board = Board::from_fen(fen).unwrap();
            for mv in board.legal_moves() {
                board.play(mv);
                assert_eq!(all_ways(avx512, &board), all_ways(Walk, &board), "{}", board.to_fen());
                board.unmake(&mut ());
            }
        }
    }
}
