//! micro-Max node for node: against the original's own records, and against a plain transcription
//! of its behaviour on positions that the records do not have.

#[path = "micromax/reference.rs"]
mod reference;

use std::thread;

use cairn_engine::board::Board;
use cairn_engine::search::Limits;
use cairn_engine::search::micromax::{self, Iteration, MicroMax};
use cairn_engine::square::Square;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The smallest table in which the records' searches fill no line.
const HASH_MIB: usize = 256;

#[derive(Deserialize)]
struct Record {
    id: String,
    fen: String,
    hash: bool,
    depth: u32,
    iterations: Vec<RecordedIteration>,
}

#[derive(Deserialize, PartialEq, Eq, Debug)]
struct RecordedIteration {
    depth: u32,
    nodes: u64,
    score: i32,
    bestmove: String,
}

#[derive(Deserialize)]
struct RootRecord {
    fen: String,
    root_eval: i32,
    moves: Vec<RecordedRootMove>,
}

#[derive(Deserialize, PartialEq, Eq, Debug)]
struct RecordedRootMove {
    #[serde(rename = "move")]
    text: String,
    positional: i32,
    gain: i32,
    child_ep: Option<String>,
    castling: bool,
    score: i32,
}

#[derive(Deserialize)]
struct Game {
    node_limit: u64,
    opening: Vec<String>,
    plies: usize,
    final_fen: String,
    moves: Vec<Ply>,
}

#[derive(Deserialize)]
struct Ply {
    fen: String,
    root_eval: i32,
    bestmove: String,
    score: i32,
    nodes: u64,
    depth: u32,
}

fn records<T: DeserializeOwned>(lines: &str) -> Vec<T> {
    let records: Vec<T> =
        lines.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    assert!(!records.is_empty());
    records
}

fn fixed(depth: u32) -> Limits {
    Limits { depth: Some(depth), ..Limits::default() }
}

fn budget(nodes: u64) -> Limits {
    Limits { nodes: Some(nodes), ..Limits::default() }
}

/// The move as the records write it: a promotion with its letter, no move as 0000.
fn text(board: &Board, best: Option<(Square, Square)>) -> String {
    let Some((from, to)) = best else { return "0000".to_owned() };
    let pawn = board.piece_on(from).is_some_and(|piece| piece.kind().is_pawn());
    let queen = if pawn && matches!(to.row(), 0 | 7) { "q" } else { "" };
    format!("{from}{to}{queen}")
}

fn check_iterations(file: &str) {
    let mut engine = MicroMax::new(HASH_MIB).unwrap();
    for record in records::<Record>(file) {
        let board = Board::from_fen(&record.fen).unwrap();
        let found: Vec<RecordedIteration> = engine
            .iterations(&board, None, &fixed(record.depth), record.hash)
            .iter()
            .map(|iteration| RecordedIteration {
                depth: iteration.depth,
                nodes: iteration.nodes,
                score: iteration.score,
                bestmove: text(&board, iteration.best),
            })
            .collect();
        assert_eq!(found, record.iterations, "{}", record.id);
    }
}

#[test]
fn records_without_hash_agree() {
    check_iterations(include_str!("data/micromax/nohash.jsonl"));
}

#[test]
fn records_with_hash_agree() {
    check_iterations(include_str!("data/micromax/hash.jsonl"));
}

#[test]
fn root_moves_agree() {
    for record in records::<RootRecord>(include_str!("data/micromax/rootmoves.jsonl")) {
        let board = Board::from_fen(&record.fen).unwrap();
        assert_eq!(micromax::root_balance(&board), record.root_eval);
        let found: Vec<RecordedRootMove> = MicroMax::root_moves(&board)
            .iter()
            .map(|mv| RecordedRootMove {
                text: text(&board, Some((mv.from, mv.to))),
                positional: mv.positional,
                gain: mv.gain,
                child_ep: mv.en_passant.map(|square| square.to_string()),
                castling: mv.castling,
                score: mv.score,
            })
            .collect();
        assert_eq!(found, record.moves, "{}", record.fen);
    }
}

#[test]
fn games_agree() {
    let mut engine = MicroMax::new(HASH_MIB).unwrap();
    for game in records::<Game>(include_str!("data/micromax/game.jsonl")) {
        let mut board = Board::startpos();
        for mv in &game.opening {
            board.play(board.parse_uci(mv).unwrap());
        }
        assert_eq!(game.moves.len(), game.plies);
        for ply in &game.moves {
            assert_eq!(placement(&board.to_fen()), placement(&ply.fen));
            assert_eq!(micromax::root_balance(&board), ply.root_eval, "{}", ply.fen);
            let iterations = engine.iterations(&board, None, &budget(game.node_limit), true);
            let last = iterations.last().unwrap();
            let found = (last.nodes, last.depth, last.score, text(&board, last.best));
            assert_eq!(found, (ply.nodes, ply.depth, ply.score, ply.bestmove.clone()));
            board.play(board.parse_uci(&ply.bestmove).unwrap());
        }
        assert_eq!(placement(&board.to_fen()), placement(&game.final_fen));
    }
}

fn placement(fen: &str) -> &str {
    fen.split(' ').next().unwrap()
}

/// The FEN with the raw en-passant square, which matters here, in place of the usable one.
fn raw_fen(board: &Board) -> String {
    let fen = board.to_fen();
    let mut fields: Vec<&str> = fen.split(' ').collect();
    let raw = board.raw_en_passant().map_or("-".to_owned(), |square| square.to_string());
    fields[3] = &raw;
    fields.join(" ")
}

fn same(found: &[Iteration], expected: &[reference::Iteration], what: &str) {
    let found: Vec<_> = found.iter().map(|i| (i.depth, i.nodes, i.score, i.best)).collect();
    let square = |index| Square::from_index(index).unwrap();
    let expected: Vec<_> = expected
        .iter()
        .map(|i| (i.depth, i.nodes, i.score, i.best.map(|(from, to)| (square(from), square(to)))))
        .collect();
    assert_eq!(found, expected, "{what}");
}

#[test]
fn random_positions_agree_with_the_transcription() {
    thread::scope(|scope| {
        for seed in 0..4 {
            scope.spawn(move || random_games_agree(seed, 15));
        }
    });
}

fn random_games_agree(seed: u64, games: u32) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut engine = MicroMax::new(HASH_MIB).unwrap();
    for game in 0..games {
        let mut board = Board::startpos();
        for ply in 0..160 {
            let moves = board.legal_moves();
            if moves.is_empty() {
                break;
            }
            let choice = random.next_u64() as usize % moves.len();
            board.play(moves[choice]);
            if random.next_u64() % 12 != 0 {
                continue;
            }
            let fen = raw_fen(&board);
            let fresh = Board::from_fen(&fen).unwrap();
            let what = format!("seed {seed} game {game} ply {ply}: {fen}");
            let hash = random.next_u64() % 2 == 0;
            let depth = 3 + (random.next_u64() % 3) as u32;
            let expected = reference::search(&fen, None, depth, 0, hash);
            same(&engine.iterations(&fresh, None, &fixed(depth), hash), &expected, &what);
            let expected = reference::search(&fen, None, 0, 20_000, hash);
            same(&engine.iterations(&fresh, None, &budget(20_000), hash), &expected, &what);
        }
    }
}

#[test]
fn corners_agree_with_the_transcription() {
    let mut engine = MicroMax::new(HASH_MIB).unwrap();
    for fen in [
        // Stalemated roots, one of them on both sides.
        "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
        "k7/2Q5/8/8/8/8/8/4K3 b - - 0 1",
        "8/8/8/8/8/5k2/5p2/5K2 w - - 0 1",
        "kb6/p1p5/P1P5/8/8/5p1p/5P1P/6BK w - - 0 1",
        // Mated roots.
        "R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1",
        // So much material that the original gives no move, and nearly so much.
        "7k/8/8/8/8/8/3QQ3/KQ6 w - - 0 1",
        "7k/8/8/8/8/8/1R6/KQQ5 w - - 0 1",
        "kqqq4/8/8/8/8/7K/8/8 w - - 0 1",
        // Castling on either wing and on both, rooks that attack through it, promotions.
        "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
        "r3k2r/p6p/8/8/8/8/P6P/R3K2R b KQkq - 0 1",
        "r3k2r/1P4P1/8/8/8/8/1p4p1/R3K2R w KQkq - 0 1",
        "4k3/8/8/8/8/8/3p1p2/R3K2R w KQ - 0 1",
        "r3k2r/3P1P2/8/8/8/8/8/4K3 b kq - 0 1",
        // En passant, with a pin and as the only way out.
        "8/8/8/KPpr3k/8/8/8/8 w - c6 0 1",
        "8/8/8/2k5/3Pp3/8/8/4K2B b - d3 0 1",
        "4k3/3p4/8/4P3/8/8/8/4K3 b - - 0 1",
    ] {
        let board = Board::from_fen(fen).unwrap();
        for hash in [false, true] {
            let expected = reference::search(fen, None, 5, 0, hash);
            same(&engine.iterations(&board, None, &fixed(5), hash), &expected, fen);
            for nodes in [1, 2, 100, 5_000, 60_000] {
                let expected = reference::search(fen, None, 0, nodes, hash);
                let found = engine.iterations(&board, None, &budget(nodes), hash);
                same(&found, &expected, &format!("{fen}, {nodes} nodes, hash {hash}"));
            }
        }
    }
}
