//! Draws by rule: repetition, fifty moves, insufficient material. Mate and stalemate need legal moves and
//! are `movegen`'s.

use super::Board;
use crate::piece::Kind;

/// The number of half-moves without a capture or pawn move at which the game is drawn.
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
    /// Neither side can mate.
    InsufficientMaterial,
}

impl Board {
    /// How often the position occurred before, since the last capture or pawn move.
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

    /// Whether any position has occurred twice since the last capture or pawn move.
    #[must_use]
    pub fn has_repeated(&self) -> bool {
        let reversible = usize::from(self.halfmove_clock).min(self.history.len());
        let before = &self.history[self.history.len() - reversible..];
        let keys = || before.iter().map(|undo| undo.keys).chain([self.keys]);
        keys().enumerate().any(|(i, key)| keys().skip(i + 1).any(|later| later == key))
    }

    /// Whether a search `ply` half-moves below its root should score a draw by repetition: the position
    /// occurred before within the search, or twice in all.
    #[must_use]
    pub fn is_repetition(&self, ply: usize) -> bool {
        let made = self.history.len();
        let mut before = 0;
        // No position recurs in fewer than four half-moves.
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

    /// Whether neither side can mate by any sequence of legal moves: bare kings, one minor piece, or only
    /// bishops, all on squares of one colour.
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

    /// The rule by which the game is drawn, if it is. Stalemate is not looked for.
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
