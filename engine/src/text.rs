//! Text of boards and moves: the diagram, and moves in UCI notation such as `e2e4`. FEN is `fen`'s.

use crate::board::Board;
use crate::fen::excerpt;
use crate::moves::Move;
use crate::piece::Piece;
use crate::square::Square;
use std::fmt;

/// Why a move's text is refused.
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

impl Board {
    /// A legal move in UCI notation: `e2e4`, `e7e8q`. Castling is `e1g1`, in Chess960 king takes own rook
    /// (`e1h1`). Where only Chess960 has the castling rights, it is always written so: there `g1g1` would
    /// be no move, and `b1c1` a step of the king too.
    #[must_use]
    pub fn uci_text(&self, mv: Move, chess960: bool) -> String {
        self.move_text(mv, chess960 || self.has_chess960_castling())
    }

    /// The same with castling written as asked, even if that means two things.
    fn move_text(&self, mv: Move, chess960: bool) -> String {
        let (from, to) = (mv.from(), mv.to());
        let Some(piece) = self.piece_on(from) else { return format!("{from}{to}") };
        if self.is_castling(mv) && !chess960 {
            let (king_to, _) = Board::castled_squares(piece.side(), to > from);
            return format!("{from}{}", Square::from_index_masked(king_to));
        }
        if self.is_promotion(mv) {
            return format!("{from}{to}{}", mv.promotion_kind().letter());
        }
        format!("{from}{to}")
    }

    /// The legal move with this text in UCI notation. Castling is read in both forms. Where `e1g1` is both
    /// a king's step and castling, it is the king's step.
    ///
    /// # Errors
    /// If the text is no move or the move is not legal.
    pub fn parse_uci(&self, text: &str) -> Result<Move, MoveTextError> {
        let well_formed = text.is_ascii()
            && matches!(text.len(), 4 | 5)
            && text[0..2].parse::<Square>().is_ok()
            && text[2..4].parse::<Square>().is_ok()
            && matches!(text.as_bytes().get(4), None | Some(b'n' | b'b' | b'r' | b'q'));
        if !well_formed {
            return Err(MoveTextError::Syntax(excerpt(text)));
        }
        let moves = self.legal_moves();
        [true, false]
            .iter()
            .find_map(|&chess960| moves.iter().find(|&&mv| self.move_text(mv, chess960) == text))
            .copied()
            .ok_or_else(|| MoveTextError::Illegal(text.to_owned()))
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
