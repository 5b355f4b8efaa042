//! Endings from outside: won ones are won within the 50-move rule, and not repeated.

use cairn_engine::board::{Board, GameEnd};
use cairn_engine::search::{Control, Limits, Outcome, Searcher, Style, Verdict};

fn new() -> Searcher {
    Searcher::new(Style::Cairn, 4).unwrap()
}

fn search(searcher: &mut Searcher, board: &Board, nodes: u64) -> Outcome {
    let limits = Limits { nodes: Some(nodes), ..Limits::default() };
    searcher.search(board, &limits, &Control::new(), &mut |_| Verdict::Continue)
}

/// Both sides search so many nodes a move, and the stronger one has to mate in time.
fn mates_in_time(fen: &str, nodes: u64) {
    let mut board = Board::from_fen(fen).unwrap();
    let mut players = [new(), new()];
    for ply in 0.. {
        if let Some(end) = board.outcome() {
            assert_eq!(end, GameEnd::Checkmate, "{fen}: after {ply} half-moves");
            return;
        }
        let best = search(&mut players[ply % 2], &board, nodes).best.unwrap();
        board.play(best);
    }
}

#[test]
fn heavy_pieces_mate_within_fifty_moves() {
    for fen in [
        "8/8/8/3k4/8/8/8/Q3K3 w - - 0 1",
        "8/8/8/3k4/8/8/8/R3K3 w - - 0 1",
        "8/8/8/8/3K4/8/r7/4k3 b - - 0 1",
        "8/8/3kn3/8/8/8/8/2Q1K3 w - - 0 1",
        "8/8/3kb3/8/8/8/8/2Q1K3 w - - 0 1",
    ] {
        mates_in_time(fen, 20_000);
    }
}

#[test]
fn two_bishops_mate_within_fifty_moves() {
    for fen in ["8/8/8/3k4/8/8/8/2B1KB2 w - - 0 1", "3k4/8/8/8/8/8/1K6/BB6 w - - 0 1"] {
        mates_in_time(fen, 50_000);
    }
}

#[test]
fn bishop_and_knight_mate_within_fifty_moves() {
    mates_in_time("8/8/8/8/8/4k3/8/KBN5 w - - 0 1", 100_000);
}

#[test]
fn bishop_and_knight_mate_from_the_wrong_corner() {
    mates_in_time("k7/8/2K5/8/8/8/8/2B2N2 w - - 0 1", 100_000);
    mates_in_time("2b2n2/8/8/8/8/2k5/8/K7 b - - 0 1", 100_000);
}
