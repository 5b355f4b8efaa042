//! The board: squares, piece lists, keys, rules and history, with make and unmake.

use crate::attack::{self, Squares, at};
use crate::keys::{Keys, Zobrist};
use crate::machine::vector::{self, Task, Vector};
use crate::movegen;
use crate::moves::{Move, MoveList};
use crate::piece::{Kind, Piece, Side};
use crate::square::Square;
use std::fmt;

/// No square: the off-board coordinate that micro-Max uses too.
const NONE: u8 = 128;

/// The list index of both kings.
const KING_INDEX: u32 = 0;

/// The number of half-moves without capture or pawn move at which the game is drawn.
pub const FIFTY_MOVES: u16 = 100;

/// What is told of every change that [`Board::make`] makes, so that an evaluation can follow the
/// board without the board knowing it. `()` is the observer that does not care.
///
/// All vanishings of a move come before its appearances: in Chess960 the king and the rook may swap
/// squares.
pub trait Observer {
    /// A move is about to be made on this board.
    fn push(&mut self, _board: &Board, _mv: Move) {}
    /// A piece leaves a square.
    fn vanish(&mut self, _piece: Piece, _square: Square) {}
    /// A piece comes to stand on a square.
    fn appear(&mut self, _piece: Piece, _square: Square) {}
    /// The move is made, and the board is as it stands after it.
    fn settle(&mut self, _board: &Board) {}
    /// The last move that was pushed is taken back.
    fn pop(&mut self) {}
}

impl Observer for () {}

/// The squares on two cache lines, no more.
#[derive(Clone, PartialEq, Eq, Debug)]
#[repr(align(64))]
struct Aligned(Squares);

/// The men of one side, each under an index that it keeps from set-up to capture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PieceList {
    /// Where the man with this index stands; stale once captured.
    squares: [u8; 16],
    /// For each kind, the set of indices of its men.
    by_kind: [u16; 8],
}

impl PieceList {
    const fn new() -> PieceList {
        PieceList { squares: [0; 16], by_kind: [0; 8] }
    }

    /// The square of the man with this index.
    #[inline(always)]
    pub(crate) const fn square(&self, index: u32) -> u8 {
        self.squares[(index & 15) as usize]
    }

    /// The indices of the men of this kind, as a set of bits.
    #[inline(always)]
    pub(crate) const fn of(&self, kind: Kind) -> u16 {
        self.by_kind[kind.index()]
    }

    /// The indices of all men.
    #[inline(always)]
    pub(crate) const fn all(&self) -> u16 {
        let k = &self.by_kind;
        k[1] | k[2] | k[3] | k[4] | k[5] | k[6] | k[7]
    }

    /// The squares of a set of men.
    #[inline(always)]
    pub(crate) fn squares_of(&self, mut set: u16) -> impl Iterator<Item = u8> {
        std::iter::from_fn(move || {
            if set == 0 {
                return None;
            }
            let index = set.trailing_zeros();
            set &= set - 1;
            Some(self.square(index))
        })
    }
}

/// What castling needs to know that does not change during a game: which men's moves cost which
/// rights and where the rooks with a right stand. Chess960 makes this data.
#[derive(Clone, PartialEq, Eq, Debug)]
struct CastlingSetup {
    /// Rights lost when a move leaves or enters this square.
    rights_lost: [u8; 128],
    /// The rook's square for each right's bit number.
    rooks: [u8; 4],
}

/// The bit of one castling right: 1 and 2 white's queen and king side, 4 and 8 black's.
#[inline(always)]
pub(crate) const fn right_bit(side: Side, king_side: bool) -> u8 {
    1 << right_number(side, king_side)
}

const fn right_number(side: Side, king_side: bool) -> usize {
    2 * side.index() + king_side as usize
}

/// What a move changed that can't be computed back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Undo {
    keys: Keys,
    /// `None` for a null move.
    mv: Option<Move>,
    halfmove_clock: u16,
    reversible: u16,
    moved: u8,
    captured: u8,
    captured_index: u8,
    rights: u8,
    raw_en_passant: u8,
    en_passant: u8,
}

impl Undo {
    /// The move that was made; `None` for a null move.
    #[must_use]
    pub const fn mv(&self) -> Option<Move> {
        self.mv
    }

    /// Whether the move, which is this one's, captured en passant.
    #[inline]
    fn was_en_passant(&self, mv: Move) -> bool {
        self.captured != 0
            && Piece::from_raw_occupied(self.moved).kind().is_pawn()
            && mv.to().raw() == self.raw_en_passant
            && mv.from().file() != mv.to().file()
    }

    /// The side that made it and whether a pawn became a queen by it.
    #[must_use]
    pub fn queened(&self) -> Option<Side> {
        let mv = self.mv?;
        let moved = Piece::from_raw_occupied(self.moved);
        let last_row = mv.to().row() == moved.side().promotion_row();
        let queen = mv.promotion_kind() == Kind::Queen;
        if moved.kind().is_pawn() && last_row && queen { Some(moved.side()) } else { None }
    }
}

/// How a game has ended by the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GameEnd {
    /// The side to move is checkmated.
    Checkmate,
    /// The side to move has no legal move and is not in check.
    Stalemate,
    /// 50 moves by each side without a capture or a pawn move.
    FiftyMoves,
    /// The position has occurred three times.
    Repetition,
    /// Neither side has the men for a mate.
    InsufficientMaterial,
}

/// A move's text that means no legal move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MoveTextError {
    /// Not of the form e2e4 or e7e8q.
    Syntax(String),
    /// Well formed, but not legal in the position.
    Illegal(String),
}

impl fmt::Display for MoveTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MoveTextError::Syntax(text) => {
                write!(f, "'{text}' is no move; one looks like e2e4 or e7e8q")
            }
            MoveTextError::Illegal(text) => write!(f, "move {text} is not legal here"),
        }
    }
}

impl std::error::Error for MoveTextError {}

/// A position with the history of its game.
#[derive(Clone)]
pub struct Board {
    squares: Aligned,
    /// The list index of the man on each square; stale where the square is empty.
    indices: [u8; 128],
    lists: [PieceList; 2],
    keys: Keys,
    side: Side,
    rights: u8,
    /// The square a pawn has just jumped over, whether or not anything can capture there.
    raw_en_passant: u8,
    /// The same, only if an en-passant capture is legal.
    en_passant: u8,
    halfmove_clock: u16,
    /// How many of the last half-moves could be taken back by moving: no capture, no pawn move and no
    /// null move is among them.
    reversible: u16,
    /// Half-moves since white's first move of move 1.
    ply: u32,
    castling: CastlingSetup,
    zobrist: &'static Zobrist,
    history: Vec<Undo>,
}

/// The raw material of a position, for [`Board::assemble`]; `fen` fills and validates it.
pub(crate) struct Setup {
    pub(crate) men: Vec<(Piece, Square)>,
    pub(crate) side: Side,
    /// Rook squares of the rights that exist, by side and wing (queen side first).
    pub(crate) castling: [[Option<Square>; 2]; 2],
    pub(crate) en_passant: Option<Square>,
    pub(crate) halfmove_clock: u16,
    pub(crate) fullmove_number: u16,
}

impl Board {
    /// The position that games start from.
    #[must_use]
    pub fn startpos() -> Board {
        Board::from_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
            .expect("the start position is valid")
    }

    /// Puts the men on the board. At most 16 a side and one king each: `fen` has checked it.
    pub(crate) fn assemble(setup: &Setup) -> Board {
        let mut board = Board {
            squares: Aligned([0; 128]),
            indices: [0; 128],
            lists: [PieceList::new(), PieceList::new()],
            keys: Keys::default(),
            side: setup.side,
            rights: 0,
            raw_en_passant: setup.en_passant.map_or(NONE, Square::raw),
            en_passant: NONE,
            halfmove_clock: setup.halfmove_clock,
            reversible: 0,
            ply: 2 * (u32::from(setup.fullmove_number).max(1) - 1)
                + u32::from(setup.side == Side::Black),
            castling: CastlingSetup { rights_lost: [0; 128], rooks: [NONE; 4] },
            zobrist: Zobrist::get(),
            history: Vec::new(),
        };
        let mut count = [0; 2];
        let (kings, others): (Vec<_>, Vec<_>) =
            setup.men.iter().partition(|(piece, _)| piece.kind() == Kind::King);
        for &(piece, square) in kings.into_iter().chain(others) {
            let next: &mut u8 = &mut count[piece.side().index()];
            board.put(piece.raw(), *next, square.raw());
            *next += 1;
        }
        for side in Side::ALL {
            for king_side in [false, true] {
                if let Some(rook) = setup.castling[side.index()][usize::from(king_side)] {
                    let bit = right_bit(side, king_side);
                    board.rights |= bit;
                    board.castling.rooks[right_number(side, king_side)] = rook.raw();
                    board.castling.rights_lost[rook.index()] |= bit;
                    board.castling.rights_lost[board.king(side).index()] |= bit;
                }
            }
        }
        board.en_passant = board.usable_en_passant();
        board.keys = board.computed_keys();
        board
    }

    // ---- what stands where ------------------------------------------------------------------

    /// The piece on a square.
    #[must_use]
    #[inline]
    pub fn piece_on(&self, square: Square) -> Option<Piece> {
        match at(&self.squares.0, square.raw()) {
            0 => None,
            byte => Some(Piece::from_raw_occupied(byte)),
        }
    }

    /// The board as bytes.
    #[inline(always)]
    pub(crate) const fn squares(&self) -> &Squares {
        &self.squares.0
    }

    /// One side's men.
    #[inline(always)]
    pub(crate) const fn list(&self, side: Side) -> &PieceList {
        &self.lists[side.index()]
    }

    /// The list index of the man on an occupied square.
    #[inline(always)]
    pub(crate) const fn index_on(&self, square: u8) -> u8 {
        self.indices[(square & 0x7f) as usize] & 15
    }

    /// Where a side's king stands.
    #[must_use]
    #[inline]
    pub const fn king(&self, side: Side) -> Square {
        Square::from_index_masked(self.list(side).square(KING_INDEX))
    }

    /// How many men of this kind a side has, 0 to 16.
    #[must_use]
    pub const fn count(&self, side: Side, kind: Kind) -> u32 {
        self.list(side).of(kind).count_ones()
    }

    /// Whose turn it is.
    #[must_use]
    #[inline]
    pub const fn side_to_move(&self) -> Side {
        self.side
    }

    /// The castling rights as four bits: 1 and 2 white's queen and king side, 4 and 8 black's.
    #[must_use]
    #[inline]
    pub const fn castling_rights(&self) -> u8 {
        self.rights
    }

    /// The square of the rook that a side may castle with, if it has the right.
    #[must_use]
    #[inline]
    pub const fn castling_rook(&self, side: Side, king_side: bool) -> Option<Square> {
        if self.rights & right_bit(side, king_side) == 0 {
            return None;
        }
        Square::from_index(self.castling.rooks[right_number(side, king_side)])
    }

    /// The square that a pawn has just jumped over, if an en-passant capture there is legal.
    #[must_use]
    #[inline]
    pub const fn en_passant(&self) -> Option<Square> {
        Square::from_index(self.en_passant)
    }

    /// The square that a pawn has just jumped over, whether or not it can be captured.
    #[must_use]
    #[inline]
    pub const fn raw_en_passant(&self) -> Option<Square> {
        Square::from_index(self.raw_en_passant)
    }

    /// Half-moves since the last capture or pawn move.
    #[must_use]
    #[inline]
    pub const fn halfmove_clock(&self) -> u16 {
        self.halfmove_clock
    }

    /// The number of the move, from 1, counted up after black's.
    #[must_use]
    pub const fn fullmove_number(&self) -> u32 {
        self.ply / 2 + 1
    }

    /// The position's keys: placement, side to move, castling rights and usable en passant.
    #[must_use]
    #[inline]
    pub const fn keys(&self) -> Keys {
        self.keys
    }

    /// The moves made since the position was set up, oldest first.
    #[must_use]
    pub fn history(&self) -> &[Undo] {
        &self.history
    }

    // ---- attacks and rules ------------------------------------------------------------------

    /// The squares of the men that give check.
    pub fn checkers(&self) -> impl Iterator<Item = Square> {
        let king = self.king(self.side).raw();
        self.attackers(king, self.side.other()).map(Square::from_index_masked)
    }

    /// Whether the side to move is in check.
    #[must_use]
    pub fn in_check(&self) -> bool {
        self.checkers().next().is_some()
    }

    /// [`Board::in_check`] for a position that a legal move has led to: only the man that moved can give
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

    /// Whether the first man seen from `target` in the direction of `left` is a slider of this side that
    /// attacks `target`. A man on `left` counts as gone.
    #[inline]
    pub(crate) fn is_open_to_slider(&self, target: u8, left: u8, by: Side) -> bool {
        let step = attack::line_step(target, left);
        if step == 0 {
            return false;
        }
        let mut square = target.wrapping_add_signed(step);
        while attack::on_board(square) {
            let man = at(&self.squares.0, square);
            if man != 0 && square != left {
                return man & by.bit() != 0
                    && man & 7 > Kind::King as u8
                    && attack::reaches(man, square, target);
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
    /// men having left the `vacated` squares and `blocker`, which is no enemy's, being occupied by one of
    /// them.
    #[inline]
    pub(crate) fn is_safe(&self, king: u8, side: Side, vacated: [u8; 2], blocker: u8) -> bool {
        match Vector::new() {
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
    fn usable_en_passant(&self) -> u8 {
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

    /// How often the position stood on the board before, since the last irreversible move.
    #[must_use]
    pub fn repetitions(&self) -> usize {
        let reversible = usize::from(self.halfmove_clock);
        self.history
            .iter()
            .rev()
            .take(reversible)
            .skip(1)
            .step_by(2)
            .filter(|undo| undo.keys == self.keys)
            .count()
    }

    /// Whether a search that is `ply` half-moves below its root should see a draw by repetition: the
    /// position stood on the board below the root already, or twice before.
    #[must_use]
    pub fn is_repetition(&self, ply: usize) -> bool {
        let made = self.history.len();
        let mut before = 0;
        // Sooner than after four half-moves nothing can stand as it stood.
        for distance in (4..=usize::from(self.reversible).min(made)).step_by(2) {
            if self.history[made - distance].keys == self.keys {
                before += 1;
                if distance < ply || before == 2 {
                    return true;
                }
            }
        }
        false
    }

    /// Whether no sequence of legal moves leads to a mate by either side: bare kings, one minor
    /// piece, or only bishops that all stand on one colour.
    #[must_use]
    pub fn insufficient_material(&self) -> bool {
        let mut minors = 0;
        let mut bishop_colours = 0u8;
        let mut knights = 0;
        for list in &self.lists {
            let heavy = [Kind::WhitePawn, Kind::BlackPawn, Kind::Rook, Kind::Queen];
            if heavy.iter().any(|&kind| list.of(kind) != 0) {
                return false;
            }
            knights += list.of(Kind::Knight).count_ones();
            minors += (list.of(Kind::Knight) | list.of(Kind::Bishop)).count_ones();
            for square in list.squares_of(list.of(Kind::Bishop)) {
                bishop_colours |= 1 << ((square ^ square >> 4) & 1);
            }
        }
        minors <= 1 || (knights == 0 && bishop_colours.count_ones() == 1)
    }

    /// Whether the side to move is checkmated.
    #[must_use]
    pub fn is_checkmate(&self) -> bool {
        self.in_check() && movegen::count_legal(self) == 0
    }

    /// How the game has ended, if it has.
    #[must_use]
    pub fn outcome(&self) -> Option<GameEnd> {
        if movegen::count_legal(self) == 0 {
            return Some(if self.in_check() { GameEnd::Checkmate } else { GameEnd::Stalemate });
        }
        if self.insufficient_material() {
            Some(GameEnd::InsufficientMaterial)
        } else if self.halfmove_clock >= FIFTY_MOVES {
            Some(GameEnd::FiftyMoves)
        } else if self.repetitions() >= 2 {
            Some(GameEnd::Repetition)
        } else {
            None
        }
    }

    /// The legal moves.
    #[must_use]
    pub fn legal_moves(&self) -> MoveList {
        movegen::legal_moves(self)
    }

    // ---- making and unmaking ----------------------------------------------------------------

    fn put(&mut self, piece: u8, index: u8, square: u8) {
        let list = &mut self.lists[usize::from(piece >> 4 & 1)];
        list.squares[usize::from(index & 15)] = square;
        list.by_kind[usize::from(piece & 7)] |= 1 << (index & 15);
        self.squares.0[usize::from(square & 0x7f)] = piece;
        self.indices[usize::from(square & 0x7f)] = index;
    }

    #[inline(always)]
    fn key(&self, piece: u8, square: u8) -> Keys {
        self.zobrist.piece(Piece::from_raw_occupied(piece), Square::from_index_masked(square))
    }

    #[inline(always)]
    fn en_passant_key(&self) -> Keys {
        match self.en_passant() {
            Some(square) => self.zobrist.en_passant(square),
            None => Keys::default(),
        }
    }

    /// The rook's and the king's square after castling.
    pub(crate) const fn castled_squares(side: Side, king_side: bool) -> (u8, u8) {
        let row = 16 * side.home_row();
        if king_side { (row + 6, row + 5) } else { (row + 2, row + 3) }
    }

    /// Makes a legal move and tells the observer.
    ///
    /// A move that is not legal leaves the board in a state without meaning; texts from outside go
    /// through [`Board::parse_uci`].
    pub fn make<O: Observer>(&mut self, mv: Move, observer: &mut O) {
        observer.push(self, mv);
        let (from, to) = (mv.from().raw(), mv.to().raw());
        let moved = at(&self.squares.0, from);
        let target = at(&self.squares.0, to);
        let us = self.side;
        if target & us.bit() != 0 {
            return self.make_castling(mv, observer);
        }
        let is_pawn = Piece::from_raw_occupied(moved).kind().is_pawn();
        let en_passant = is_pawn && to == self.raw_en_passant && target == 0;
        let captured_on = if en_passant { to ^ 16 } else { to };
        let captured = at(&self.squares.0, captured_on);
        let captured_index = self.index_on(captured_on);
        self.remember(Some(mv), moved, captured, captured_index);

        let mut keys =
            self.keys ^ self.en_passant_key() ^ self.zobrist.side() ^ self.key(moved, from);
        observer.vanish(Piece::from_raw_occupied(moved), mv.from());
        self.halfmove_clock = self.halfmove_clock.saturating_add(1);
        self.reversible = self.reversible.saturating_add(1);
        if captured != 0 {
            keys ^= self.key(captured, captured_on);
            observer
                .vanish(Piece::from_raw_occupied(captured), Square::from_index_masked(captured_on));
            self.lists[us.other().index()].by_kind[usize::from(captured & 7)] &=
                !(1 << captured_index);
            self.squares.0[usize::from(captured_on & 0x7f)] = 0;
            self.halfmove_clock = 0;
            self.reversible = 0;
        }

        let index = self.index_on(from);
        let mut placed = moved;
        self.raw_en_passant = NONE;
        if is_pawn {
            self.halfmove_clock = 0;
            self.reversible = 0;
            if mv.to().row() == us.promotion_row() {
                placed = Piece::new(us, mv.promotion_kind()).raw();
                let by_kind = &mut self.lists[us.index()].by_kind;
                by_kind[usize::from(moved & 7)] &= !(1 << index);
                by_kind[usize::from(placed & 7)] |= 1 << index;
            } else if from.abs_diff(to) == 32 {
                self.raw_en_passant = from.midpoint(to);
            }
        }
        self.squares.0[usize::from(from & 0x7f)] = 0;
        self.squares.0[usize::from(to & 0x7f)] = placed;
        self.indices[usize::from(to & 0x7f)] = index;
        self.lists[us.index()].squares[usize::from(index)] = to;
        keys ^= self.key(placed, to);
        observer.appear(Piece::from_raw_occupied(placed), mv.to());
        self.finish_make(keys, self.lost_rights(from, to));
        observer.settle(self);
    }

    #[inline(always)]
    fn lost_rights(&self, from: u8, to: u8) -> u8 {
        let lost = &self.castling.rights_lost;
        lost[usize::from(from & 0x7f)] | lost[usize::from(to & 0x7f)]
    }

    fn remember(&mut self, mv: Option<Move>, moved: u8, captured: u8, captured_index: u8) {
        self.history.push(Undo {
            keys: self.keys,
            mv,
            halfmove_clock: self.halfmove_clock,
            reversible: self.reversible,
            moved,
            captured,
            captured_index,
            rights: self.rights,
            raw_en_passant: self.raw_en_passant,
            en_passant: self.en_passant,
        });
    }

    /// The end that all moves share: rights, turn, and the usable en-passant square.
    fn finish_make(&mut self, mut keys: Keys, lost_rights: u8) {
        if self.rights & lost_rights != 0 {
            keys ^= self.zobrist.rights(self.rights);
            self.rights &= !lost_rights;
            keys ^= self.zobrist.rights(self.rights);
        }
        self.ply += 1;
        self.side = self.side.other();
        self.en_passant = self.usable_en_passant();
        self.keys = keys ^ self.en_passant_key();
    }

    fn make_castling<O: Observer>(&mut self, mv: Move, observer: &mut O) {
        let us = self.side;
        let (king_from, rook_from) = (mv.from().raw(), mv.to().raw());
        let (king_to, rook_to) = Board::castled_squares(us, rook_from > king_from);
        let (king, rook) = (at(&self.squares.0, king_from), at(&self.squares.0, rook_from));
        self.remember(Some(mv), king, 0, 0);
        let mut keys = self.keys ^ self.en_passant_key() ^ self.zobrist.side();
        keys ^= self.key(king, king_from) ^ self.key(rook, rook_from);
        keys ^= self.key(king, king_to) ^ self.key(rook, rook_to);
        let (king_piece, rook_piece) =
            (Piece::from_raw_occupied(king), Piece::from_raw_occupied(rook));
        observer.vanish(king_piece, mv.from());
        observer.vanish(rook_piece, mv.to());
        self.move_two((king, king_from, king_to), (rook, rook_from, rook_to));
        observer.appear(king_piece, Square::from_index_masked(king_to));
        observer.appear(rook_piece, Square::from_index_masked(rook_to));
        self.halfmove_clock = self.halfmove_clock.saturating_add(1);
        self.reversible = self.reversible.saturating_add(1);
        self.raw_en_passant = NONE;
        self.finish_make(keys, self.lost_rights(king_from, rook_from));
        observer.settle(self);
    }

    /// Moves king and rook at once, each given as (piece, from, to); their squares may overlap.
    fn move_two(&mut self, king: (u8, u8, u8), rook: (u8, u8, u8)) {
        let king_index = self.index_on(king.1);
        let rook_index = self.index_on(rook.1);
        self.squares.0[usize::from(king.1 & 0x7f)] = 0;
        self.squares.0[usize::from(rook.1 & 0x7f)] = 0;
        self.put(king.0, king_index, king.2);
        self.put(rook.0, rook_index, rook.2);
    }

    /// The keys after a move, but for castling, promotion, lost rights and en passant: good enough to
    /// fetch what is stored about the position before the move is made.
    #[must_use]
    #[inline]
    pub(crate) fn likely_keys_after(&self, mv: Move) -> Keys {
        let (from, to) = (mv.from().raw(), mv.to().raw());
        let moved = at(&self.squares.0, from);
        let target = at(&self.squares.0, to);
        let keys = self.keys ^ self.zobrist.side() ^ self.key(moved, from) ^ self.key(moved, to);
        if target == 0 { keys } else { keys ^ self.key(target, to) }
    }

    /// Passes the turn. Legal only when not in check; observers are not told, as nothing moves.
    pub fn make_null(&mut self) {
        self.remember(None, 0, 0, 0);
        let keys = self.keys ^ self.en_passant_key() ^ self.zobrist.side();
        self.halfmove_clock = self.halfmove_clock.saturating_add(1);
        self.reversible = 0;
        self.raw_en_passant = NONE;
        self.finish_make(keys, 0);
    }

    /// Whether the last move was a null move.
    #[must_use]
    pub fn last_was_null(&self) -> bool {
        self.history.last().is_some_and(|undo| undo.mv.is_none())
    }

    /// Makes a legal move of the game, with nobody watching.
    pub fn play(&mut self, mv: Move) {
        self.make(mv, &mut ());
    }

    /// Whether a move of this side was castling: a king can only have gone to the square of a rook that
    /// it might castle with by castling.
    #[inline]
    fn was_castling(&self, undo: &Undo, mv: Move, us: Side) -> bool {
        let (from, to) = (mv.from().raw(), mv.to().raw());
        let wing = right_number(us, to > from);
        undo.moved & 7 == Kind::King as u8
            && undo.rights & 1 << wing != 0
            && self.castling.rooks[wing] == to
    }

    /// Takes back the last move; nothing happens if there is none.
    pub fn unmake<O: Observer>(&mut self, observer: &mut O) {
        let Some(undo) = self.history.pop() else { return };
        if undo.mv.is_some() {
            observer.pop();
        }
        self.side = self.side.other();
        self.ply -= 1;
        self.keys = undo.keys;
        self.halfmove_clock = undo.halfmove_clock;
        self.reversible = undo.reversible;
        self.rights = undo.rights;
        self.raw_en_passant = undo.raw_en_passant;
        self.en_passant = undo.en_passant;

        let us = self.side;
        let Some(mv) = undo.mv else { return };
        let (from, to) = (mv.from().raw(), mv.to().raw());
        if self.was_castling(&undo, mv, us) {
            let rook = Piece::new(us, Kind::Rook).raw();
            let (king_to, rook_to) = Board::castled_squares(us, to > from);
            return self.move_two((undo.moved, king_to, from), (rook, rook_to, to));
        }

        let index = self.index_on(to);
        let placed = at(&self.squares.0, to);
        if placed != undo.moved {
            let by_kind = &mut self.lists[us.index()].by_kind;
            by_kind[usize::from(placed & 7)] &= !(1 << index);
            by_kind[usize::from(undo.moved & 7)] |= 1 << index;
        }
        self.squares.0[usize::from(to & 0x7f)] = 0;
        self.squares.0[usize::from(from & 0x7f)] = undo.moved;
        self.indices[usize::from(from & 0x7f)] = index;
        self.lists[us.index()].squares[usize::from(index)] = from;
        if undo.captured != 0 {
            let captured_on = if undo.was_en_passant(mv) { to ^ 16 } else { to };
            self.put(undo.captured, undo.captured_index, captured_on);
        }
    }

    // ---- texts ------------------------------------------------------------------------------

    /// The move as UCI writes it: `e2e4`, `e7e8q`, and castling as `e1g1`, or as king takes own
    /// rook (`e1h1`) in Chess960.
    #[must_use]
    pub fn uci_text(&self, mv: Move, chess960: bool) -> String {
        let (from, to) = (mv.from(), mv.to());
        let Some(piece) = self.piece_on(from) else { return format!("{from}{to}") };
        let castling = self.piece_on(to).is_some_and(|target| target.side() == piece.side());
        if castling && !chess960 {
            let (king_to, _) = Board::castled_squares(piece.side(), to > from);
            return format!("{from}{}", Square::from_index_masked(king_to));
        }
        if piece.kind().is_pawn() && to.row() == piece.side().promotion_row() {
            return format!("{from}{to}{}", mv.promotion_kind().letter());
        }
        format!("{from}{to}")
    }

    /// The legal move that a text means. Castling may be written both ways, whatever the mode; where
    /// `e1g1` is both a king's move and castling, it is the king's move.
    ///
    /// # Errors
    /// If the text is no move, or the move is not legal.
    pub fn parse_uci(&self, text: &str) -> Result<Move, MoveTextError> {
        let well_formed = text.is_ascii()
            && matches!(text.len(), 4 | 5)
            && text[0..2].parse::<Square>().is_ok()
            && text[2..4].parse::<Square>().is_ok()
            && matches!(text.as_bytes().get(4), None | Some(b'n' | b'b' | b'r' | b'q'));
        if !well_formed {
            return Err(MoveTextError::Syntax(text.to_owned()));
        }
        let moves = self.legal_moves();
        [true, false]
            .iter()
            .find_map(|&chess960| moves.iter().find(|&&mv| self.uci_text(mv, chess960) == text))
            .copied()
            .ok_or_else(|| MoveTextError::Illegal(text.to_owned()))
    }

    // ---- consistency ------------------------------------------------------------------------

    fn computed_keys(&self) -> Keys {
        let mut keys = self.en_passant_key() ^ self.zobrist.rights(self.rights);
        if self.side == Side::Black {
            keys ^= self.zobrist.side();
        }
        for square in Square::all() {
            if let Some(piece) = self.piece_on(square) {
                keys ^= self.zobrist.piece(piece, square);
            }
        }
        keys
    }

    /// Recomputes all that is kept up to date move by move and compares: lists against squares,
    /// keys, kings, rights, en passant. Slow; for tests and debugging.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        let mut found = [PieceList::new(), PieceList::new()];
        for square in 0..128u8 {
            let byte = at(&self.squares.0, square);
            if byte == 0 {
                continue;
            }
            let Some(piece) = Piece::from_raw(byte) else { return false };
            if !attack::on_board(square) {
                return false;
            }
            let index = self.index_on(square);
            if self.list(piece.side()).square(u32::from(index)) != square {
                return false;
            }
            found[piece.side().index()].by_kind[piece.kind().index()] |= 1 << index;
        }
        let lists_agree = (0..2).all(|i| found[i].by_kind == self.lists[i].by_kind);
        let one_king_each =
            Side::ALL.iter().all(|&side| self.list(side).of(Kind::King) == 1 << KING_INDEX);
        let rights_have_men = Side::ALL.iter().all(|&side| {
            [false, true].iter().all(|&wing| match self.castling_rook(side, wing) {
                Some(rook) => {
                    self.piece_on(rook) == Some(Piece::new(side, Kind::Rook))
                        && self.king(side).row() == side.home_row()
                        && (rook > self.king(side)) == wing
                }
                None => true,
            })
        });
        lists_agree
            && one_king_each
            && rights_have_men
            && !self.king_can_be_captured()
            && self.en_passant == self.usable_en_passant()
            && self.in_check_after_move() == self.in_check()
            && self.keys == self.computed_keys()
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

impl Task for Safety<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self, vector: Vector) -> bool {
        let around = vector.around(self.squares, self.king);
        let lane = |square: u8| vector::lane_of(self.king, square);
        let blocked = lane(self.blocker);
        let left = around.occupied & !(lane(self.vacated[0]) | lane(self.vacated[1]) | blocked);
        let near = vector::reached(left | blocked, around.on_board) & left;
        let theirs = if self.side == Side::White { !around.white } else { around.white };
        let attackers = around.attackers.iter().fold(0, |all, lanes| all | lanes);
        near & theirs & attackers == 0
    }
}

/// The board as a diagram, white at the bottom.
impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in 0..8 {
            write!(f, "{} ", 8 - row)?;
            for file in 0..8 {
                let piece = self.piece_on(Square::new(row, file));
                write!(f, " {}", piece.map_or('.', Piece::letter))?;
            }
            writeln!(f)?;
        }
        write!(f, "\n   a b c d e f g h")
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Board({})", self.to_fen())
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
