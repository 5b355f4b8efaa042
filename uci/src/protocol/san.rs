//! Moves as people and programs write them, read: SAN in all of its spellings.
//!
//! Accepted beside the standard form, because some program writes it: `0-0`, captures without `x` or with
//! `:`, promotions as `e8Q`, `e8=q`, `e8(Q)` and `e8/Q`, origins that nobody needs (`Ng1f3`, `Pe2e4`),
//! hyphens (`e2-e4`), `e.p.`, any number of `+` and `#`, `!` and `?` behind the move, and UCI.

use std::fmt;

use cairn_engine::board::Board;
use cairn_engine::movegen::{ChecksAndPins, confirm};
use cairn_engine::moves::Move;
use cairn_engine::piece::{Kind, Piece};
use cairn_engine::square::Square;

use crate::protocol::text::quote;

/// Why a move is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SanError {
    /// It does not look like a move.
    Syntax(String),
    /// There is no such legal move.
    Illegal(String),
    /// There are several, or the piece that a pawn becomes is not told.
    Ambiguous(String),
}

impl fmt::Display for SanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SanError::Syntax(text) => write!(f, "'{text}' is no move"),
            SanError::Illegal(text) => write!(f, "move {text} is not legal here"),
            SanError::Ambiguous(text) => write!(f, "move {text} means several moves"),
        }
    }
}

impl std::error::Error for SanError {}

/// The longest text that may be a move, in bytes: `Nb1xd2e.p.+#!?` and the like.
const LONGEST: usize = 20;

/// Reads a move.
///
/// # Errors
/// If the text is no move, or no legal one, or could mean several.
pub fn read_san(board: &Board, text: &str) -> Result<Move, SanError> {
    let pattern = Pattern::read(text).ok_or_else(|| SanError::Syntax(quote(text)))?;
    let (mut found, mut is_ambiguous) = (None, false);
    pattern.for_each(board, &mut |mv| {
        is_ambiguous |= found.is_some();
        found = Some(mv);
    });
    if is_ambiguous {
        return Err(SanError::Ambiguous(quote(text)));
    }
    // UCI for pieces looks like a pawn's move in SAN: g1f3.
    let uci = || board.parse_uci(text.trim_end_matches(is_suffix)).ok();
    found.or_else(uci).ok_or_else(|| SanError::Illegal(quote(text)))
}

/// Whether a letter may stand behind a move: check, mate, and what somebody thinks of the move.
fn is_suffix(letter: char) -> bool {
    matches!(letter, '+' | '#' | '!' | '?')
}

/// What a text tells of a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pattern {
    /// Castling to the king's side or the other.
    Castling { king_side: bool },
    /// Any other move.
    Plain {
        /// The kind of the piece; no kind for a pawn of either side.
        kind: Option<Kind>,
        from_file: Option<u8>,
        from_row: Option<u8>,
        to: Square,
        promotion: Option<Kind>,
    },
}

impl Pattern {
    fn read(text: &str) -> Option<Pattern> {
        if text.len() > LONGEST || !text.is_ascii() {
            return None;
        }
        let mut rest = text.trim_end_matches(is_suffix).as_bytes();
        if let [.., b'p' | b'.'] = rest {
            for ending in [&b"e.p."[..], b"e.p", b"ep"] {
                rest = rest.strip_suffix(ending).unwrap_or(rest);
            }
        }
        if let [b'O' | b'0' | b'o', ..] = rest {
            return match rest {
                b"O-O" | b"0-0" | b"o-o" | b"OO" | b"00" => {
                    Some(Pattern::Castling { king_side: true })
                }
                b"O-O-O" | b"0-0-0" | b"o-o-o" | b"OOO" | b"000" => {
                    Some(Pattern::Castling { king_side: false })
                }
                _ => None,
            };
        }
        let mut kind = None;
        if let [letter, after @ ..] = rest
            && let Some(piece) = officer(*letter, b"NBRQK")
        {
            (kind, rest) = (Some(piece), after);
        } else if let [b'P', after @ ..] = rest {
            rest = after;
        }
        let (promotion, rest) = match kind {
            None => promotion(rest),
            Some(_) => (None, rest),
        };
        let [origin @ .., file, rank] = rest else { return None };
        let to = Square::new(row(*rank)?, self::file(*file)?);
        let origin = match origin {
            [origin @ .., b'x' | b':' | b'-'] => origin,
            origin => origin,
        };
        let (from_file, from_row) = match origin {
            [] => (None, None),
            [file, rank] => (Some(self::file(*file)?), Some(row(*rank)?)),
            [one] => (self::file(*one), row(*one)),
            _ => return None,
        };
        if origin.len() == 1 && from_file.is_none() && from_row.is_none() {
            return None;
        }
        // A pawn that captures names its file.
        let is_push = kind.is_none() && from_file.is_none();
        let from_file = if is_push { Some(to.file()) } else { from_file };
        Some(Pattern::Plain { kind, from_file, from_row, to, promotion })
    }

    /// Finds the legal moves that fit. Only those are tested: all moves would take longer to generate.
    fn for_each(self, board: &Board, add: &mut dyn FnMut(Move)) {
        let us = board.side_to_move();
        let checks_and_pins = ChecksAndPins::new(board);
        let mut try_move = |mv: Move, castles: bool| {
            if board.is_castling(mv) == castles
                && let Some(mv) = confirm(board, &checks_and_pins, mv.raw())
            {
                add(mv);
            }
        };
        let (kind, from_file, from_row, to, promotion) = match self {
            Pattern::Castling { king_side } => {
                if let Some(rook) = board.castling_rook(us, king_side) {
                    try_move(Move::new(board.king(us), rook), true);
                }
                return;
            }
            Pattern::Plain { kind, from_file, from_row, to, promotion } => {
                (kind.unwrap_or(us.pawn()), from_file, from_row, to, promotion)
            }
        };
        let promotes = kind.is_pawn() && to.row() == us.promotion_row();
        if (promotion.is_some() && !promotes)
            || board.piece_on(to).is_some_and(|at| at.side() == us)
        {
            return;
        }
        for from in board.squares_of(us, kind) {
            if from_row.is_some_and(|row| row != from.row())
                || from_file.is_some_and(|file| file != from.file())
            {
                continue;
            }
            if !promotes {
                try_move(Move::new(from, to), false);
                continue;
            }
            // A pawn that does not say what it becomes fits all four.
            for kind in [Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen] {
                if promotion.is_none_or(|wanted| wanted == kind) {
                    try_move(Move::promotion(from, to, kind), false);
                }
            }
        }
    }
}

/// The piece that a pawn becomes, and what stands before it.
fn promotion(text: &[u8]) -> (Option<Kind>, &[u8]) {
    let inner = text.strip_suffix(b")").unwrap_or(text);
    let Some((&letter, before)) = inner.split_last() else { return (None, text) };
    let square = match before {
        [square @ .., b'=' | b'(' | b'/'] => square,
        square => square,
    };
    match (officer(letter.to_ascii_uppercase(), b"NBRQ"), square.last()) {
        (Some(kind), Some(b'1' | b'8')) => (Some(kind), square),
        _ => (None, text),
    }
}

/// The piece that a capital letter stands for, if it is one of those allowed.
fn officer(letter: u8, allowed: &[u8]) -> Option<Kind> {
    if !allowed.contains(&letter) {
        return None;
    }
    Piece::from_letter(char::from(letter)).map(Piece::kind)
}

fn file(letter: u8) -> Option<u8> {
    matches!(letter, b'a'..=b'h').then(|| letter - b'a')
}

/// The row of a rank; rank 8 is row 0.
fn row(digit: u8) -> Option<u8> {
    matches!(digit, b'1'..=b'8').then(|| b'8' - digit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::notation::san;

    fn read(fen: &str, text: &str) -> Result<String, SanError> {
        let board = Board::from_fen(fen).expect("a position");
        read_san(&board, text).map(|mv| board.uci_text(mv, false))
    }

    fn refused(text: &str) -> impl Fn(&SanError) -> bool {
        move |error| error.to_string().contains(text)
    }

    const CASTLING: &str = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    const PAWNS: &str = "1n5k/P6p/8/3pP3/8/8/8/K7 w - d6 0 1";
    const KNIGHTS: &str = "7k/8/8/1N3N2/8/8/8/KN3N2 w - - 0 1";

    #[test]
    fn every_spelling_is_read() {
        for (fen, spellings, expected) in [
            (CASTLING, "O-O 0-0 o-o OO O-O! e1g1", "e1g1"),
            (CASTLING, "O-O-O 0-0-0 O-O-O?!", "e1c1"),
            (CASTLING, "Rxa8+ Rxa8 Ra8 Ra1xa8 R:a8 R1xa8+ Raxa8++ Ra1-a8 a1a8 Ra8!?", "a1a8"),
            (CASTLING, "Kd2 Ke1d2 Ke1-d2 Ked2", "e1d2"),
            (PAWNS, "exd6 ed6 e5d6 exd6e.p. exd6ep e5xd6 Pexd6 e:d6", "e5d6"),
            (PAWNS, "a8=Q a8Q a8=Q+ a8=q a8(Q) a8/Q a7a8q a7-a8=Q+!!", "a7a8q"),
            (PAWNS, "axb8=N axb8N ab8N ab8=N a7xb8=N+", "a7b8n"),
            (PAWNS, "axb8=B ab8B a7b8b axb8=b", "a7b8b"),
            (PAWNS, "e6 e5e6 e5-e6 Pe6", "e5e6"),
            (KNIGHTS, "Nbd2 Nb1d2 b1d2", "b1d2"),
            (KNIGHTS, "Nfd4 Nf5d4 f5d4", "f5d4"),
        ] {
            for text in spellings.split(' ') {
                assert_eq!(read(fen, text).as_deref(), Ok(expected), "{text}");
            }
        }
    }

    #[test]
    fn a_pawn_that_names_no_file_does_not_capture() {
        let fen = "4k3/8/8/4p3/3P1P2/4P3/8/4K3 w - - 0 1";
        assert!(read(fen, "e5").is_err_and(|error| refused("not legal")(&error)));
        assert_eq!(read(fen, "e4").as_deref(), Ok("e3e4"));
        assert_eq!(read(fen, "dxe5").as_deref(), Ok("d4e5"));
    }

    #[test]
    fn what_is_no_move_is_refused() {
        for (fen, text, reason) in [
            (KNIGHTS, "Nd4", "several"),
            (PAWNS, "a8", "several"),
            (PAWNS, "e6=Q", "no move"),
            (CASTLING, "Kg1", "not legal"),
            (CASTLING, "Kh1", "not legal"),
            (CASTLING, "Ke9", "no move"),
            (CASTLING, "Kzd2", "no move"),
            (CASTLING, "", "no move"),
            (CASTLING, "+", "no move"),
            (CASTLING, "e", "no move"),
            (CASTLING, "N\u{e9}4", "no move"),
            (CASTLING, &"e".repeat(50_000), "no move"),
            (CASTLING, "Ra1xxa8", "no move"),
        ] {
            let error = read(fen, text).expect_err(text);
            assert!(refused(reason)(&error), "{error}");
            assert!(error.to_string().len() < 120);
        }
    }

    #[test]
    fn what_is_written_is_read_everywhere() {
        let mut board =
            Board::from_fen("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9")
                .expect("a position");
        for ply in 0..200 {
            let moves = board.legal_moves();
            for &mv in &moves {
                assert_eq!(read_san(&board, &san(&board, mv)), Ok(mv), "{board:?}");
                assert_eq!(read_san(&board, &board.uci_text(mv, true)), Ok(mv), "{board:?}");
            }
            if moves.is_empty() {
                break;
            }
            board.play(moves[ply * 7 % moves.len()]);
        }
    }
}
