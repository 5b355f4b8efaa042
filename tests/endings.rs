//! Endings from outside: won ones are won within the 50-move rule, and not repeated.

use cairn_engine::board::{Board, GameEnd};
use cairn_engine::moves::Move;
use cairn_engine::search::{Control, Limits, Outcome, ScoreText, Searcher, Style, Verdict};

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

/// Won positions for white without captures or pawn moves to begin with.
const WON: [&str; 8] = [
    "8/8/8/3k4/8/8/4K3/Q7 w - - 0 1",
    "8/8/8/3k4/8/8/4K3/R7 w - - 0 1",
    "8/8/2k5/8/8/3BK3/8/2B5 w - - 0 1",
    "8/8/8/3k4/8/4K3/8/2B2N2 w - - 0 1",
    "3r2k1/5ppp/8/8/8/4Q3/5PPP/6K1 w - - 0 1",
    "6k1/5pp1/7p/8/3Q4/6P1/5P1P/6K1 w - - 0 1",
    "2r3k1/5ppp/8/8/4B3/8/1R3PPP/6K1 w - - 0 1",
    "4k3/4r3/8/8/8/8/3Q4/4K3 w - - 0 1",
];

/// The board after these moves, each back and forth, so that only the first four are new.
fn shuffled(start: &Board, moves: [Move; 4], plies: usize) -> Option<Board> {
    let mut board = start.clone();
    for &mv in moves.iter().cycle().take(plies) {
        if !board.legal_moves().contains(&mv) {
            return None;
        }
        board.play(mv);
    }
    Some(board)
}

const fn back(mv: Move) -> Move {
    Move::new(mv.to(), mv.from())
}

/// Replies that can be taken back are tried until a shuffle of four half-moves is legal.
fn shuffles(board: &Board, best: Move) -> impl Iterator<Item = [Move; 4]> {
    let mut after = board.clone();
    after.play(best);
    let start = board.clone();
    let replies = after.legal_moves();
    replies.into_iter().map(move |reply| [best, reply, back(best), back(reply)]).filter(
        move |&moves| shuffled(&start, moves, 4).is_some_and(|end| end.keys() == start.keys()),
    )
}

/// A searcher that knows nothing of repetitions finds a best move; the game's history is then made
/// such that this move, or the reply to it, would repeat for the third time. With everything it
/// has in its table from before, the engine keeps its advantage and does not allow that.
#[test]
fn a_won_position_is_not_walked_into_a_repetition() {
    let mut tried = 0;
    for fen in WON {
        let start = Board::from_fen(fen).unwrap();
        let mut searcher = new();
        let first_time = search(&mut searcher, &start, 100_000);
        let best = first_time.best.unwrap();
        let Some(moves) = shuffles(&start, best).next() else { continue };
        let [first, reply, undo, undo_reply] = moves;
        // The games begin after the best move or after the reply, so that this is the first time,
        // come there again after four half-moves, and end before the best move.
        let fresh =
            |plies| Board::from_fen(&shuffled(&start, moves, plies).unwrap().to_fen()).unwrap();
        let by_move = shuffled(&fresh(1), [reply, undo, undo_reply, first], 7).unwrap();
        let by_reply = shuffled(&fresh(2), [undo, undo_reply, first, reply], 6).unwrap();
        for (board, line) in [(by_move, &moves[..1]), (by_reply, &moves[..2])] {
            tried += 1;
            let mut repeated = board.clone();
            line.iter().for_each(|&mv| repeated.play(mv));
            assert_eq!(repeated.outcome(), Some(GameEnd::Repetition), "{fen}");
            let outcome = search(&mut searcher, &board, 100_000);
            // Beyond 500 points a score depends on when a mate or the last pawn's fall comes in sight.
            let kept = match (first_time.score, outcome.score) {
                (_, ScoreText::Mate(moves)) => moves > 0,
                (ScoreText::Centipawns(before), ScoreText::Centipawns(now)) => {
                    before > 200 && now >= (before - 50).min(500)
                }
                (ScoreText::Mate(_), ScoreText::Centipawns(now)) => now > 500,
            };
            let (before, now) = (first_time.score, outcome.score);
            assert!(kept, "{fen}: {before}, then {now} with {:?}", outcome.best);
            let mut after = board.clone();
            after.play(outcome.best.unwrap());
            assert_eq!(after.outcome(), None, "{fen}: {:?} repeats", outcome.best);
            for reply in after.legal_moves() {
                let mut end = after.clone();
                end.play(reply);
                assert!(end.outcome() != Some(GameEnd::Repetition), "{fen}: {reply:?} repeats");
            }
        }
    }
    assert!(tried >= 10, "only {tried}");
}
