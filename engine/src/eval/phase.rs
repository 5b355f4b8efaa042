//! The phase of a game: how much of the material that makes a middle game is left.

use crate::board::Board;
use crate::piece::{Kind, Side};

/// What a piece counts towards the middle game, by kind.
const WEIGHT: [i32; 8] = [0, 0, 0, 1, 0, 1, 2, 4];

/// The phase at the start of a game; more, after promotions, counts as much.
pub const FULL_PHASE: i32 = 24;

/// How much a piece counts towards the middle game; the sum is [`FULL_PHASE`] at the start.
#[must_use]
pub const fn phase_of(kind: Kind) -> i32 {
    WEIGHT[kind.index()]
}

/// The phase of a position: the sum of [`phase_of`] over all pieces, not limited to [`FULL_PHASE`].
#[must_use]
pub fn phase(board: &Board) -> i32 {
    let of_kind = |kind| {
        Side::ALL.map(|side| board.count(side, kind) as i32).iter().sum::<i32>() * phase_of(kind)
    };
    [Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen].into_iter().map(of_kind).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phase_counts_pieces_and_no_pawns() {
        let phase = |fen| phase(&Board::from_fen(fen).unwrap());
        assert_eq!(phase("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"), FULL_PHASE);
        assert_eq!(phase("4k3/pppp4/8/8/8/8/8/R2QK1N1 w - - 0 1"), 2 + 4 + 1);
    }
}
