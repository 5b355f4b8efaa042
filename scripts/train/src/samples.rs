//! Games for the tests: random moves, scored by material.

use cairn_engine::board::Board;
use cairn_engine::eval::Damping;
use cairn_engine::piece::{Kind, Side};
use cairn_engine::selfplay::{Game, GameResult, Ply, Record};
use cairn_engine::square::Square;

use crate::positions::{Position, lesson, scrambled};

/// White's material less black's, in centipawns.
fn material(board: &Board) -> i16 {
    let values = [100, 300, 300, 500, 900, 0];
    let pieces = Square::all().filter_map(|square| board.piece_on(square));
    let signed = pieces.map(|piece| {
        let value = values[piece.kind().compact()];
        if piece.side() == Side::White { value } else { -value }
    });
    signed.sum()
}

/// A game of random moves, the same ones whatever the search does.
pub(crate) fn record(number: u64) -> Record {
    let mut board = Board::startpos();
    let (mut opening, mut plies) = (Vec::new(), Vec::new());
    for ply in 0..100 {
        let mut moves = board.legal_moves();
        if moves.is_empty() || board.outcome().is_some() {
            break;
        }
        moves.sort_unstable_by_key(|mv| mv.raw());
        let mv = moves[(scrambled(number << 32 | ply) % moves.len() as u64) as usize];
        if ply < 8 {
            opening.push(mv);
        } else {
            plies.push(Ply { mv, score: material(&board) });
        }
        board.play(mv);
    }
    let result = match material(&board) {
        ..-100 => GameResult::BlackWins,
        -100..=100 => GameResult::Draw,
        _ => GameResult::WhiteWins,
    };
    Record { opening, plies, result }
}

/// The game of a record.
pub(crate) fn game(number: u64) -> Game {
    record(number).into()
}

/// All positions of some games that are kept.
pub(crate) fn positions(numbers: std::ops::Range<u64>) -> Vec<Position> {
    numbers
        .flat_map(|number| lesson(&game(number), 2000, Damping::NONE).unwrap().positions)
        .collect()
}

/// The positions of some games, kept or not.
pub(crate) fn boards(numbers: std::ops::Range<u64>) -> Vec<Board> {
    let mut boards = Vec::new();
    for number in numbers {
        game(number).replay(|board, _| boards.push(board.clone())).unwrap();
    }
    boards
}

/// Checks that a game has a king's move for each side, so that mirroring matters.
#[test]
fn kings_wander_in_these_games() {
    let boards = boards(0..20);
    for side in Side::ALL {
        let left = boards.iter().filter(|board| board.king(side).file() < 4).count();
        assert!(left > 20 && left + 20 < boards.len(), "{side}: {left} of {}", boards.len());
    }
    assert!(boards.iter().any(|board| board.count(Side::White, Kind::Queen) == 0));
}
