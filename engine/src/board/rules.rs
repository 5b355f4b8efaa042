//! The rules that end a game without asking for a move: repetition, fifty moves, too little material.
//! `movegen` knows the others.

use super::Board;
use crate::piece::Kind;

/// The number of half-moves without capture or pawn move at which the game is drawn.
pub const FIFTY_MOVES: u16 = 100;

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
    /// Neither side has the pieces for a mate.
    InsufficientMaterial,
}

impl Board {
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

    /// Whether the game is drawn by a rule that holds whatever moves there are, and by which one.
    pub(crate) fn draw_by_rule(&self) -> Option<GameEnd> {
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
}
