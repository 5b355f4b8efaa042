//! The board: squares, piece lists, keys and history, with make and unmake.
//!
//! Beside it are attacks on it and the draws by rule. FEN, legal moves and texts are added to [`Board`] by
//! `fen`, `movegen` and `text`, which build on this module.

mod attacks;
mod rules;

use crate::attack::{self, Squares, at};
use crate::keys::{Keys, Zobrist};
use crate::moves::Move;
use crate::piece::{Kind, Piece, Side};
use crate::square::{NO_SQUARE, Square};

pub use rules::{FIFTY_MOVES, GameEnd};

/// The list index of both kings.
const KING_INDEX: u32 = 0;

/// Is told of every change that [`Board::make`] makes, so that an evaluation can be updated incrementally
/// without the board knowing it. `()` ignores everything.
///
/// All pieces of a move vanish before any appears: in Chess960 king and rook may swap squares.
pub trait Observer {
    /// A move is about to be made on this board.
    fn push(&mut self, _board: &Board, _mv: Move) {}
    /// A piece leaves a square.
    fn vanish(&mut self, _piece: Piece, _square: Square) {}
    /// A piece is put on a square.
    fn appear(&mut self, _piece: Piece, _square: Square) {}
    /// The move is made: this is the board after it.
    fn finish_move(&mut self, _board: &Board) {}
    /// The last pushed move is taken back.
    fn pop(&mut self) {}
}

impl Observer for () {}

/// The squares, aligned so that they take two cache lines.
#[derive(Clone, PartialEq, Eq, Debug)]
#[repr(align(64))]
struct Aligned(Squares);

/// The pieces of one side, each with an index that it keeps until it is captured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PieceList {
    /// The square of the piece with this index; stale once it is captured.
    squares: [u8; 16],
    /// The indices of each kind's pieces, as a set of bits.
    by_kind: [u16; 8],
}

impl PieceList {
    const fn new() -> PieceList {
        PieceList { squares: [0; 16], by_kind: [0; 8] }
    }

    /// The square of the piece with this index.
    #[inline(always)]
    pub(crate) const fn square(&self, index: u32) -> u8 {
        self.squares[(index & 15) as usize]
    }

    /// The indices of the pieces of this kind, as a set of bits.
    #[inline(always)]
    pub(crate) const fn of(&self, kind: Kind) -> u16 {
        self.by_kind[kind.index()]
    }

    /// The indices of all pieces.
    #[inline(always)]
    pub(crate) const fn all(&self) -> u16 {
        let k = &self.by_kind;
        k[1] | k[2] | k[3] | k[4] | k[5] | k[6] | k[7]
    }

    /// The squares of a set of indices.
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

/// The part of castling that a game does not change: which moves lose which rights, and the rooks' squares.
/// Data and not code because of Chess960.
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

/// What unmaking a move needs and can't compute.
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

    /// Whether `mv`, the move that this undoes, captured en passant.
    #[inline]
    fn was_en_passant(&self, mv: Move) -> bool {
        self.captured != 0
            && Piece::from_raw_occupied(self.moved).kind().is_pawn()
            && mv.to().raw() == self.raw_en_passant
            && mv.from().file() != mv.to().file()
    }

    /// The side that promoted to a queen by this move, if it was such a move.
    #[must_use]
    pub fn queened(&self) -> Option<Side> {
        let mv = self.mv?;
        let moved = Piece::from_raw_occupied(self.moved);
        let last_row = mv.to().row() == moved.side().promotion_row();
        let queen = mv.promotion_kind() == Kind::Queen;
        if moved.kind().is_pawn() && last_row && queen { Some(moved.side()) } else { None }
    }
}

/// A position with its history.
#[derive(Clone)]
pub struct Board {
    squares: Aligned,
    /// The list index of the piece on each square; stale on empty squares.
    indices: [u8; 128],
    lists: [PieceList; 2],
    keys: Keys,
    side: Side,
    rights: u8,
    /// The square that a pawn has just jumped over, whether or not it can be captured there.
    raw_en_passant: u8,
    /// The same, only if an en-passant capture is legal.
    en_passant: u8,
    halfmove_clock: u16,
    /// Half-moves since the last capture, pawn move or null move: a repetition can't be older.
    reversible: u16,
    /// Half-moves since white's first move of move 1.
    ply: u32,
    castling: CastlingSetup,
    zobrist: &'static Zobrist,
    history: Vec<Undo>,
}

/// The parts of a position, for [`Board::assemble`]. `fen` reads and validates them.
pub(crate) struct Setup {
    pub(crate) pieces: Vec<(Piece, Square)>,
    pub(crate) side: Side,
    /// Rook squares of the rights that exist, by side and wing (queen side first).
    pub(crate) castling: [[Option<Square>; 2]; 2],
    pub(crate) en_passant: Option<Square>,
    pub(crate) halfmove_clock: u16,
    pub(crate) fullmove_number: u16,
}

impl Board {
    /// The board of these parts, which must be valid: at most 16 pieces a side and one king each.
    pub(crate) fn assemble(setup: &Setup) -> Board {
        let mut board = Board {
            squares: Aligned([0; 128]),
            indices: [0; 128],
            lists: [PieceList::new(), PieceList::new()],
            keys: Keys::default(),
            side: setup.side,
            rights: 0,
            raw_en_passant: setup.en_passant.map_or(NO_SQUARE, Square::raw),
            en_passant: NO_SQUARE,
            halfmove_clock: setup.halfmove_clock,
            reversible: 0,
            ply: 2 * (u32::from(setup.fullmove_number).max(1) - 1)
                + u32::from(setup.side == Side::Black),
            castling: CastlingSetup { rights_lost: [0; 128], rooks: [NO_SQUARE; 4] },
            zobrist: Zobrist::get(),
            history: Vec::new(),
        };
        let mut count = [0; 2];
        let (kings, others): (Vec<_>, Vec<_>) =
            setup.pieces.iter().partition(|(piece, _)| piece.kind() == Kind::King);
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

    /// The pieces of a side.
    #[inline(always)]
    pub(crate) const fn list(&self, side: Side) -> &PieceList {
        &self.lists[side.index()]
    }

    /// The list index of the piece on an occupied square.
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

    /// The number of a side's pieces of this kind, 0 to 16.
    #[must_use]
    pub const fn count(&self, side: Side, kind: Kind) -> u32 {
        self.list(side).of(kind).count_ones()
    }

    /// Where a side's pieces of this kind stand, in no order that means anything.
    pub fn squares_of(&self, side: Side, kind: Kind) -> impl Iterator<Item = Square> {
        let list = self.list(side);
        list.squares_of(list.of(kind)).map(Square::from_index_masked)
    }

    /// The number of all pieces, kings included.
    #[must_use]
    #[inline]
    pub fn piece_count(&self) -> u32 {
        self.lists.iter().map(|list| list.all().count_ones()).sum()
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

    /// The en-passant square, if a capture there is legal.
    #[must_use]
    #[inline]
    pub const fn en_passant(&self) -> Option<Square> {
        Square::from_index(self.en_passant)
    }

    /// The square that a pawn has just jumped over, whether or not it can be captured there.
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

    /// Whether a castling right is left that only Chess960 has: its king is not on the e-file, or its rook
    /// not in the corner.
    #[must_use]
    pub fn has_chess960_castling(&self) -> bool {
        Side::ALL.into_iter().any(|side| {
            [(false, 0), (true, 7)].into_iter().any(|(king_side, corner)| {
                self.castling_rook(side, king_side)
                    .is_some_and(|rook| rook.file() != corner || self.king(side).file() != 4)
            })
        })
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

    // ---- what a move is ---------------------------------------------------------------------

    /// Whether a move of the side to move takes a pawn to the last row.
    #[must_use]
    #[inline(always)]
    pub fn is_promotion(&self, mv: Move) -> bool {
        mv.to().row() == self.side.promotion_row() && self.moves_pawn(mv)
    }

    /// Whether a move of the side to move castles: only then is its goal a piece of its own, the rook.
    #[must_use]
    #[inline(always)]
    pub const fn is_castling(&self, mv: Move) -> bool {
        at(&self.squares.0, mv.to().raw()) & self.side.bit() != 0
    }

    /// Whether a move of the side to move captures en passant.
    #[must_use]
    #[inline(always)]
    pub fn is_en_passant(&self, mv: Move) -> bool {
        mv.to().raw() == self.en_passant && self.moves_pawn(mv)
    }

    #[inline(always)]
    fn moves_pawn(&self, mv: Move) -> bool {
        at(&self.squares.0, mv.from().raw()) == Piece::new(self.side, self.side.pawn()).raw()
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
    /// An illegal move leaves the board in a meaningless state. For moves from outside use
    /// [`Board::parse_uci`].
    pub fn make<O: Observer>(&mut self, mv: Move, observer: &mut O) {
        observer.push(self, mv);
        let (from, to) = (mv.from().raw(), mv.to().raw());
        let moved = at(&self.squares.0, from);
        let us = self.side;
        if self.is_castling(mv) {
            return self.make_castling(mv, observer);
        }
        let is_pawn = self.moves_pawn(mv);
        let is_promotion = self.is_promotion(mv);
        let captured_on = if self.is_en_passant(mv) { to ^ 16 } else { to };
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
        self.raw_en_passant = NO_SQUARE;
        if is_pawn {
            self.halfmove_clock = 0;
            self.reversible = 0;
            if is_promotion {
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
        observer.finish_move(self);
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

    /// The last part of every move: castling rights, side to move, usable en-passant square and keys.
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
        self.raw_en_passant = NO_SQUARE;
        self.finish_make(keys, self.lost_rights(king_from, rook_from));
        observer.finish_move(self);
    }

    /// Moves king and rook, each given as (piece, from, to). Both are lifted first, as one may go to the
    /// other's square.
    fn move_two(&mut self, king: (u8, u8, u8), rook: (u8, u8, u8)) {
        let king_index = self.index_on(king.1);
        let rook_index = self.index_on(rook.1);
        self.squares.0[usize::from(king.1 & 0x7f)] = 0;
        self.squares.0[usize::from(rook.1 & 0x7f)] = 0;
        self.put(king.0, king_index, king.2);
        self.put(rook.0, rook_index, rook.2);
    }

    /// The keys after a move, wrong for castling, promotion, lost rights and en passant. For prefetching the
    /// bucket of the position before the move is made.
    #[must_use]
    #[inline]
    pub(crate) fn likely_keys_after(&self, mv: Move) -> Keys {
        let (from, to) = (mv.from().raw(), mv.to().raw());
        let moved = at(&self.squares.0, from);
        let target = at(&self.squares.0, to);
        let keys = self.keys ^ self.zobrist.side() ^ self.key(moved, from) ^ self.key(moved, to);
        if target == 0 { keys } else { keys ^ self.key(target, to) }
    }

    /// Makes a null move. Not allowed in check. Observers are not told, as no piece moves.
    pub fn make_null(&mut self) {
        self.remember(None, 0, 0, 0);
        let keys = self.keys ^ self.en_passant_key() ^ self.zobrist.side();
        self.halfmove_clock = self.halfmove_clock.saturating_add(1);
        self.reversible = 0;
        self.raw_en_passant = NO_SQUARE;
        self.finish_make(keys, 0);
    }

    /// Whether the last move was a null move.
    #[must_use]
    pub fn last_was_null(&self) -> bool {
        self.history.last().is_some_and(|undo| undo.mv.is_none())
    }

    /// Makes a legal move without an observer.
    pub fn play(&mut self, mv: Move) {
        self.make(mv, &mut ());
    }

    /// Whether a move that this side made was castling: the king went to the square of a rook that it had
    /// the right to castle with.
    #[inline]
    fn was_castling(&self, undo: &Undo, mv: Move, us: Side) -> bool {
        let (from, to) = (mv.from().raw(), mv.to().raw());
        let wing = right_number(us, to > from);
        undo.moved & 7 == Kind::King as u8
            && undo.rights & 1 << wing != 0
            && self.castling.rooks[wing] == to
    }

    /// Unmakes the last move; does nothing if there is none.
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

    /// Whether all that is updated incrementally equals what is computed from the squares: lists, keys,
    /// rights, en passant. Slow; for tests and debugging.
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
        let rights_have_pieces = Side::ALL.iter().all(|&side| {
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
            && rights_have_pieces
            && !self.king_can_be_captured()
            && self.en_passant == self.usable_en_passant()
            && self.in_check_after_move() == self.in_check()
            && self.keys == self.computed_keys()
    }
}
