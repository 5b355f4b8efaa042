//! Moves and scores as people write them: SAN, and pawns with a sign.

use cairn_engine::board::Board;
use cairn_engine::moves::Move;
use cairn_engine::piece::{Kind, Side};
use cairn_engine::search::ScoreText;
use cairn_engine::square::Square;

/// A legal move in standard algebraic notation: `Nbd7`, `exd5`, `e8=Q+`, `O-O#`.
#[must_use]
pub fn san(board: &Board, mv: Move) -> String {
    let mut text = plain_san(board, mv);
    let mut after = board.clone();
    after.play(mv);
    if after.is_checkmate() {
        text.push('#');
    } else if after.in_check() {
        text.push('+');
    }
    text
}

/// A move without the sign of check or mate.
fn plain_san(board: &Board, mv: Move) -> String {
    let Some(piece) = board.piece_on(mv.from()) else { return board.uci_text(mv, false) };
    if board.is_castling(mv) {
        return if mv.to() > mv.from() { "O-O" } else { "O-O-O" }.to_owned();
    }
    let is_pawn = piece.kind().is_pawn();
    let takes = board.piece_on(mv.to()).is_some() || board.is_en_passant(mv);
    let mut text = String::new();
    if is_pawn {
        if takes {
            text.push(file_letter(mv.from()));
        }
    } else {
        text.push(piece.kind().letter().to_ascii_uppercase());
        text.push_str(&origin(board, mv, piece.kind()));
    }
    if takes {
        text.push('x');
    }
    text.push_str(&mv.to().to_string());
    if board.is_promotion(mv) {
        text.push('=');
        text.push(mv.promotion_kind().letter().to_ascii_uppercase());
    }
    text
}

/// The part of the origin square that SAN needs: none, file, rank or both, so that no other piece of
/// this kind could be meant.
fn origin(board: &Board, mv: Move, kind: Kind) -> String {
    let rivals: Vec<Square> = board
        .legal_moves()
        .iter()
        .filter(|other| other.to() == mv.to() && other.from() != mv.from())
        .map(|other| other.from())
        .filter(|&from| board.piece_on(from).is_some_and(|piece| piece.kind() == kind))
        .collect();
    let square = mv.from().to_string();
    if rivals.is_empty() {
        String::new()
    } else if rivals.iter().all(|rival| rival.file() != mv.from().file()) {
        square[..1].to_owned()
    } else if rivals.iter().all(|rival| rival.row() != mv.from().row()) {
        square[1..].to_owned()
    } else {
        square
    }
}

fn file_letter(square: Square) -> char {
    char::from(b'a' + square.file())
}

/// A line of moves in coordinate notation as SAN with move numbers, up to the first illegal move.
#[must_use]
pub fn san_line(board: &Board, moves: &[String]) -> String {
    let mut after = board.clone();
    let mut legal = Vec::new();
    for text in moves {
        let Ok(mv) = after.parse_uci(text) else { break };
        after.play(mv);
        legal.push(mv);
    }
    san_moves(board, &legal)
}

/// A line of legal moves as SAN with move numbers: `12... Ke7 13. e4 Ke6`.
#[must_use]
pub fn san_moves(board: &Board, moves: &[Move]) -> String {
    let mut board = board.clone();
    let mut words = Vec::new();
    for &mv in moves {
        match board.side_to_move() {
            Side::White => words.push(format!("{}.", board.fullmove_number())),
            Side::Black if words.is_empty() => {
                words.push(format!("{}...", board.fullmove_number()))
            }
            Side::Black => {}
        }
        words.push(san(&board, mv));
        board.play(mv);
    }
    words.join(" ")
}

/// A score in pawns or moves to mate: `+0.35`, `mate in 3`, `mated in 2`.
#[must_use]
pub fn score(score: ScoreText) -> String {
    match score {
        ScoreText::Centipawns(score) => pawns(score),
        ScoreText::Mate(moves @ 1..) => format!("mate in {moves}"),
        ScoreText::Mate(moves) => format!("mated in {}", moves.unsigned_abs()),
    }
}

/// Centipawns as pawns, with a sign.
#[must_use]
pub fn pawns(centipawns: i32) -> String {
    let sign = if centipawns < 0 { '-' } else { '+' };
    let size = centipawns.unsigned_abs();
    format!("{sign}{}.{:02}", size / 100, size % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(fen: &str, moves: &[&str]) -> Vec<String> {
        let board = Board::from_fen(fen).expect("a position");
        moves.iter().map(|text| san(&board, board.parse_uci(text).expect("legal"))).collect()
    }

    #[test]
    fn moves_are_written_as_people_do() {
        let castling = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
        assert_eq!(
            written(castling, &["e1g1", "e1c1", "a1a8", "e1e2"]),
            ["O-O", "O-O-O", "Rxa8+", "Ke2"]
        );
        let pawns = "1n5k/P6p/8/3pP3/8/8/8/K7 w - d6 0 1";
        assert_eq!(
            written(pawns, &["e5d6", "e5e6", "a7a8q", "a7b8n"]),
            ["exd6", "e6", "a8=Q", "axb8=N"]
        );
        let knights = "7k/8/8/1N3N2/8/8/8/KN3N2 w - - 0 1";
        assert_eq!(written(knights, &["b1d2", "b5d4", "f5d4"]), ["Nbd2", "Nbd4", "Nfd4"]);
        let rooks = "7k/8/8/R7/8/8/8/R3K3 w - - 0 1";
        assert_eq!(written(rooks, &["a1a3", "a5a3", "a5h5"]), ["R1a3", "R5a3", "Rh5+"]);
        let queens = "8/8/8/k7/4Q2Q/8/8/K6Q w - - 0 1";
        assert_eq!(written(queens, &["h4e1"]), ["Qh4e1+"]);
        assert_eq!(written("6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1", &["e1e8"]), ["Re8#"]);
    }

    #[test]
    fn lines_have_move_numbers() {
        let board = Board::from_fen("4k3/8/8/8/8/8/4P3/4K3 b - - 0 12").expect("a position");
        let moves = ["e8e7", "e2e4", "e7e6"].map(String::from);
        assert_eq!(san_line(&board, &moves), "12... Ke7 13. e4 Ke6");
    }

    #[test]
    fn scores_are_in_pawns() {
        assert_eq!(score(ScoreText::Centipawns(-5)), "-0.05");
        assert_eq!(score(ScoreText::Centipawns(1234)), "+12.34");
        assert_eq!(score(ScoreText::Mate(3)), "mate in 3");
        assert_eq!(score(ScoreText::Mate(-2)), "mated in 2");
    }
}
