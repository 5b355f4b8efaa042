//! FEN in and out, and the validity of positions.
//!
//! Reads 4 to 6 fields, with castling rights as `KQkq` (the outermost rook of that wing, as in X-FEN) or as
//! the letters of rook files (Shredder-FEN). Writes `KQkq` wherever that is unambiguous.
//! Source: <https://www.chessprogramming.org/Forsyth-Edwards_Notation>.

use crate::board::{Board, Setup};
use crate::piece::{Kind, Piece, Side};
use crate::square::{Square, Step};
use std::fmt;
use std::str::FromStr;

/// Why a FEN is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each is described by the message it displays")]
pub enum FenError {
    FieldCount(usize),
    RowCount(usize),
    RowWidth { rank: u8 },
    Letter(char),
    SideToMove(String),
    Castling(String),
    CastlingWithoutPieces(char),
    CastlingTwice(char),
    EnPassantText(String),
    EnPassantRank(Square),
    EnPassantImpossible(Square),
    HalfmoveClock(String),
    FullmoveNumber(String),
    NoKing(Side),
    ManyKings(Side),
    ManyPieces(Side),
    ManyPawns(Side),
    PawnOnLastRank(Square),
    KingCanBeCaptured(Side),
}

impl fmt::Display for FenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FenError::FieldCount(n) => write!(f, "a FEN has 4 to 6 fields, this has {n}"),
            FenError::RowCount(n) => write!(f, "a FEN has 8 ranks, this has {n}"),
            FenError::RowWidth { rank } => write!(f, "rank {rank} does not have 8 squares"),
            FenError::Letter(c) => write!(f, "'{}' is no piece", c.escape_default()),
            FenError::SideToMove(text) => write!(f, "side to move is w or b, not '{text}'"),
            FenError::Castling(text) => {
                write!(f, "castling rights are -, KQkq or rook files, not '{text}'")
            }
            FenError::CastlingWithoutPieces(c) => {
                write!(f, "castling right {c} without a king and a rook that have it")
            }
            FenError::CastlingTwice(c) => write!(f, "castling right {c} is given twice"),
            FenError::EnPassantText(text) => {
                write!(f, "en passant is - or a square, not '{text}'")
            }
            FenError::EnPassantRank(square) => {
                write!(f, "en passant square {square} is on the wrong rank")
            }
            FenError::EnPassantImpossible(square) => {
                write!(f, "no pawn can just have jumped over {square}")
            }
            FenError::HalfmoveClock(text) => {
                write!(f, "halfmove clock is a number from 0 to 65535, not '{text}'")
            }
            FenError::FullmoveNumber(text) => {
                write!(f, "move number is a number from 0 to 65535, not '{text}'")
            }
            FenError::NoKing(side) => write!(f, "{side} has no king"),
            FenError::ManyKings(side) => write!(f, "{side} has more than one king"),
            FenError::ManyPieces(side) => write!(f, "{side} has more than 16 pieces"),
            FenError::ManyPawns(side) => write!(f, "{side} has more than 8 pawns"),
            FenError::PawnOnLastRank(square) => write!(f, "a pawn stands on {square}"),
            FenError::KingCanBeCaptured(side) => {
                write!(f, "{side} is in check, but it is the other side's turn")
            }
        }
    }
}

impl std::error::Error for FenError {}

/// How much of a text that cannot be read is kept for its message, in characters.
const EXCERPT: usize = 20;

/// The beginning of a text that cannot be read: it may be of any length.
pub(crate) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The first field: pieces by row and file.
type Placement = [[Option<Piece>; 8]; 8];

impl Board {
    /// The position that games start from.
    #[must_use]
    pub fn startpos() -> Board {
        Board::from_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
            .expect("the start position is valid")
    }

    /// Reads a position.
    ///
    /// # Errors
    /// If the text is not a FEN or the position can't be played from.
    pub fn from_fen(fen: &str) -> Result<Board, FenError> {
        let fields: Vec<&str> = fen.split_ascii_whitespace().collect();
        if !(4..=6).contains(&fields.len()) {
            return Err(FenError::FieldCount(fields.len()));
        }
        let placement = parse_placement(fields[0])?;
        check_pieces(&placement)?;
        let side = match fields[1] {
            "w" => Side::White,
            "b" => Side::Black,
            other => return Err(FenError::SideToMove(excerpt(other))),
        };
        let castling = parse_castling(fields[2], &placement)?;
        let en_passant = parse_en_passant(fields[3], side, &placement)?;
        let halfmove_clock = match fields.get(4) {
            Some(text) => parse_count(text).ok_or(FenError::HalfmoveClock(excerpt(text)))?,
            None => 0,
        };
        let fullmove_number = match fields.get(5) {
            Some(text) => parse_count(text).ok_or(FenError::FullmoveNumber(excerpt(text)))?,
            None => 1,
        };
        let pieces =
            Square::all().filter_map(|square| Some((at(&placement, square)?, square))).collect();
        let board = Board::assemble(&Setup {
            pieces,
            side,
            castling,
            en_passant,
            halfmove_clock,
            fullmove_number,
        });
        if board.king_can_be_captured() {
            return Err(FenError::KingCanBeCaptured(side.other()));
        }
        Ok(board)
    }

    /// The position as FEN. Castling rights are `KQkq`, or the rook's file where that would mean another
    /// rook.
    #[must_use]
    pub fn to_fen(&self) -> String {
        self.write_fen(|side, rook, king_side| {
            let outer = outermost_rook(|square| self.piece_on(square), side, king_side);
            match (outer == Some(rook), king_side) {
                (true, true) => 'k',
                (true, false) => 'q',
                (false, _) => file_letter(rook),
            }
        })
    }

    /// The position as Shredder-FEN: rook files as castling rights, `HAha`.
    #[must_use]
    pub fn to_shredder_fen(&self) -> String {
        self.write_fen(|_, rook, _| file_letter(rook))
    }

    fn write_fen(&self, castling_letter: impl Fn(Side, Square, bool) -> char) -> String {
        let mut fen = String::with_capacity(90);
        for row in 0..8 {
            if row > 0 {
                fen.push('/');
            }
            let mut empty = 0;
            for file in 0..8 {
                match self.piece_on(Square::new(row, file)) {
                    None => empty += 1,
                    Some(piece) => {
                        if empty > 0 {
                            fen.push((b'0' + empty) as char);
                        }
                        empty = 0;
                        fen.push(piece.letter());
                    }
                }
            }
            if empty > 0 {
                fen.push((b'0' + empty) as char);
            }
        }
        let mut rights = String::new();
        for side in Side::ALL {
            for king_side in [true, false] {
                if let Some(rook) = self.castling_rook(side, king_side) {
                    let letter = castling_letter(side, rook, king_side);
                    rights.push(match side {
                        Side::White => letter.to_ascii_uppercase(),
                        Side::Black => letter,
                    });
                }
            }
        }
        if rights.is_empty() {
            rights.push('-');
        }
        let side = if self.side_to_move() == Side::White { 'w' } else { 'b' };
        let en_passant = self.en_passant().map_or("-".to_owned(), |square| square.to_string());
        let (clock, number) = (self.halfmove_clock(), self.fullmove_number());
        fen + &format!(" {side} {rights} {en_passant} {clock} {number}")
    }
}

impl FromStr for Board {
    type Err = FenError;

    fn from_str(fen: &str) -> Result<Board, FenError> {
        Board::from_fen(fen)
    }
}

fn at(placement: &Placement, square: Square) -> Option<Piece> {
    placement[usize::from(square.row())][usize::from(square.file())]
}

fn file_letter(square: Square) -> char {
    (b'a' + square.file()) as char
}

fn parse_placement(text: &str) -> Result<Placement, FenError> {
    let rows: Vec<&str> = text.split('/').collect();
    if rows.len() != 8 {
        return Err(FenError::RowCount(rows.len()));
    }
    let mut placement = [[None; 8]; 8];
    for (row, text) in rows.into_iter().enumerate() {
        let wrong_width = FenError::RowWidth { rank: 8 - row as u8 };
        let mut file = 0;
        for letter in text.chars() {
            if let Some(skip @ 1..=8) = letter.to_digit(10) {
                file += skip as usize;
            } else {
                let piece = Piece::from_letter(letter).ok_or(FenError::Letter(letter))?;
                if file >= 8 {
                    return Err(wrong_width);
                }
                placement[row][file] = Some(piece);
                file += 1;
            }
        }
        if file != 8 {
            return Err(wrong_width);
        }
    }
    Ok(placement)
}

fn check_pieces(placement: &Placement) -> Result<(), FenError> {
    for side in Side::ALL {
        let pieces = || placement.iter().flatten().flatten().filter(|piece| piece.side() == side);
        match pieces().filter(|piece| piece.kind() == Kind::King).count() {
            0 => return Err(FenError::NoKing(side)),
            1 => {}
            _ => return Err(FenError::ManyKings(side)),
        }
        if pieces().count() > 16 {
            return Err(FenError::ManyPieces(side));
        }
        if pieces().filter(|piece| piece.kind().is_pawn()).count() > 8 {
            return Err(FenError::ManyPawns(side));
        }
    }
    let is_pawn = |&square: &Square| at(placement, square).is_some_and(|p| p.kind().is_pawn());
    match Square::all().filter(|square| matches!(square.row(), 0 | 7)).find(is_pawn) {
        Some(square) => Err(FenError::PawnOnLastRank(square)),
        None => Ok(()),
    }
}

/// The outermost rook on this wing of the home row, if the king is on that row too.
fn outermost_rook(
    piece_on: impl Fn(Square) -> Option<Piece>,
    side: Side,
    king_side: bool,
) -> Option<Square> {
    let row = side.home_row();
    let (corner, step) = if king_side { (7, Step::WEST) } else { (0, Step::EAST) };
    let from_corner = std::iter::successors(Some(Square::new(row, corner)), |s| s.step(step));
    let mut rook = None;
    for square in from_corner {
        match piece_on(square) {
            Some(piece) if piece == Piece::new(side, Kind::Rook) => {
                rook = rook.or(Some(square));
            }
            Some(piece) if piece == Piece::new(side, Kind::King) => return rook,
            _ => {}
        }
    }
    None
}

fn parse_castling(text: &str, placement: &Placement) -> Result<[[Option<Square>; 2]; 2], FenError> {
    let mut castling = [[None; 2]; 2];
    if text == "-" {
        return Ok(castling);
    }
    for letter in text.chars() {
        let side = if letter.is_ascii_uppercase() { Side::White } else { Side::Black };
        let piece_on = |square| at(placement, square);
        let rook = match letter.to_ascii_lowercase() {
            'k' => outermost_rook(piece_on, side, true),
            'q' => outermost_rook(piece_on, side, false),
            file @ 'a'..='h' => {
                let square = Square::new(side.home_row(), file as u8 - b'a');
                Some(square).filter(|&s| piece_on(s) == Some(Piece::new(side, Kind::Rook)))
            }
            _ => return Err(FenError::Castling(excerpt(text))),
        };
        let king = Square::all().find(|&s| {
            piece_on(s) == Some(Piece::new(side, Kind::King)) && s.row() == side.home_row()
        });
        let (Some(rook), Some(king)) = (rook, king) else {
            return Err(FenError::CastlingWithoutPieces(letter));
        };
        let right = &mut castling[side.index()][usize::from(rook > king)];
        if right.is_some() {
            return Err(FenError::CastlingTwice(letter));
        }
        *right = Some(rook);
    }
    Ok(castling)
}

fn parse_en_passant(
    text: &str,
    side: Side,
    placement: &Placement,
) -> Result<Option<Square>, FenError> {
    if text == "-" {
        return Ok(None);
    }
    let square: Square = text.parse().map_err(|_| FenError::EnPassantText(excerpt(text)))?;
    let (expected_row, towards_origin) = match side {
        Side::White => (2, Step::NORTH),
        Side::Black => (5, Step::SOUTH),
    };
    if square.row() != expected_row {
        return Err(FenError::EnPassantRank(square));
    }
    let mover = side.other();
    let pawn = Some(Piece::new(mover, mover.pawn()));
    let origin = square.step(towards_origin);
    let jumped = at(placement, square.en_passant_victim()) == pawn
        && at(placement, square).is_none()
        && origin.is_some_and(|origin| at(placement, origin).is_none());
    if jumped { Ok(Some(square)) } else { Err(FenError::EnPassantImpossible(square)) }
}

fn parse_count(text: &str) -> Option<u16> {
    let digits_only = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits_only { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fens_come_back() {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 7 31",
            "4k3/8/8/2pP4/8/8/8/4K3 w - c6 0 2",
            "1rqbkrbn/1ppppp1p/1n6/p1N3p1/8/2P4P/PP1PPPP1/1RQBKRBN w KQkq - 0 9",
            // A second rook outside the one that castles: the file must be named.
            "rr2k3/8/8/8/8/8/8/RR2K3 w Bb - 0 1",
        ] {
            assert_eq!(Board::from_fen(fen).map(|board| board.to_fen()), Ok(fen.to_owned()));
        }
    }

    #[test]
    fn short_and_shredder_forms_are_read() {
        let full = Board::startpos();
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0",
            "  rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR  w  qkQK  -  0 0 ",
        ] {
            let board = Board::from_fen(fen).expect(fen);
            assert_eq!(board.to_fen(), full.to_fen());
            assert_eq!(board.keys(), full.keys());
        }
        assert!(full.to_shredder_fen().contains(" HAha "));
    }

    #[test]
    fn an_uncapturable_en_passant_square_is_kept_raw_only() {
        let board =
            Board::from_fen("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1").unwrap();
        assert_eq!(board.raw_en_passant(), "e3".parse().ok());
        assert_eq!(board.en_passant(), None);
        assert!(board.to_fen().contains(" - 0 1"));
    }

    #[test]
    fn messages_are_short_whatever_they_are_about() {
        let long = "é".repeat(50_000);
        for field in 1..6 {
            let mut fields = ["4k3/8/8/8/8/8/8/4K3", "w", "-", "-", "0", "1"];
            fields[field] = &long;
            let message = Board::from_fen(&fields.join(" ")).expect_err("no FEN").to_string();
            assert!(message.len() < 150 && message.contains("éé..."), "{message}");
        }
    }

    #[test]
    fn bad_fens_are_told_apart() {
        use FenError::*;
        let e3 = "e3".parse().unwrap();
        for (fen, error) in [
            ("", FieldCount(0)),
            ("8/8/8/8/8/8/8/8 w -", FieldCount(3)),
            ("8/8/8/8/8/8/8/8 w - - 0 1 x", FieldCount(7)),
            ("8/8/8/8/8/8/8 w - -", RowCount(7)),
            ("9/8/8/8/8/8/8/8 w - -", Letter('9')),
            ("88/8/8/8/8/8/8/8 w - -", RowWidth { rank: 8 }),
            ("8/8/8/8/8/8/8/7 w - -", RowWidth { rank: 1 }),
            ("ppppppppp/8/8/8/8/8/8/8 w - -", RowWidth { rank: 8 }),
            ("8/8/8/8/8/8/8/8 w - -", NoKing(Side::White)),
            ("8/8/8/8/8/8/8/K7 w - -", NoKing(Side::Black)),
            ("8/8/8/8/8/8/k7/K1K5 w - -", ManyKings(Side::White)),
            ("k7/8/8/8/8/NNN5/NNNNNNNN/NNNNKNNN w - -", ManyPieces(Side::White)),
            ("k7/8/8/8/8/7P/PPPPPPPP/4K3 w - -", ManyPawns(Side::White)),
            ("k6P/8/8/8/8/8/8/4K3 w - -", PawnOnLastRank("h8".parse().unwrap())),
            ("4k3/8/8/8/8/8/8/4K3 W - -", SideToMove("W".into())),
            ("4k3/8/8/8/8/8/8/4K3 w X -", Castling("X".into())),
            ("4k3/8/8/8/8/8/8/4K3 w K -", CastlingWithoutPieces('K')),
            ("4k3/8/8/8/8/8/4K3/7R w K -", CastlingWithoutPieces('K')),
            ("4k3/8/8/8/8/8/8/4K2R w KK -", CastlingTwice('K')),
            ("4k3/8/8/8/8/8/8/4K3 w - e9", EnPassantText("e9".into())),
            ("4k3/8/8/8/8/8/8/4K3 w - e3", EnPassantRank(e3)),
            ("4k3/8/8/8/8/8/8/4K3 b - e3", EnPassantImpossible(e3)),
            ("4k3/8/8/8/8/8/8/4K3 w - - -1 1", HalfmoveClock("-1".into())),
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 x", FullmoveNumber("x".into())),
            ("4k3/8/8/8/8/8/8/4KR2 w - - 0 70000", FullmoveNumber("70000".into())),
            ("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", KingCanBeCaptured(Side::Black)),
        ] {
            assert_eq!(Board::from_fen(fen).map(|_| ()), Err(error), "{fen}");
        }
    }
}
