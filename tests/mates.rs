//! Forced mates in 2 to 4 moves from the engine's own games: each proved by exhaustive search, none
//! missed by the engine.
//!
//! `data/mates.epd` was collected from a file of games (see `cairn datagen`) by
//! `CAIRN_GAMES=file cargo test --release --test mates -- --ignored`.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, thread};

use cairn_engine::board::Board;
use cairn_engine::keys::Keys;
use cairn_engine::movegen::gives_check;
use cairn_engine::moves::Move;
use cairn_engine::piece::Side;
use cairn_engine::score::is_mate;
use cairn_engine::search::{Control, Limits, ScoreText, Searcher, Style, Verdict};
use cairn_engine::selfplay::{Game, games};
use cairn_engine::square::Square;

/// What the engine may spend on a position: about a second's work.
const NODES: u64 = 2_500_000;
const HASH_MIB: usize = 16;
/// How many mates in 2, 3 and 4 moves there are.
const WANTED: [usize; 3] = [70, 70, 60];

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/mates.epd")
}

/// Looks for a forced mate through every line, by the rules of movement alone.
#[derive(Default)]
struct Prover {
    known: HashMap<(u64, u64, u32), bool>,
    /// Positions that may still be looked at; when none are left the answer means nothing.
    budget: u64,
}

impl Prover {
    fn with_budget(budget: u64) -> Prover {
        Prover { known: HashMap::new(), budget }
    }

    /// Whether the side to move mates in at most so many moves.
    fn mates(&mut self, board: &mut Board, moves: u32) -> bool {
        let Keys { index, lock } = board.keys();
        if let Some(&known) = self.known.get(&(index, lock, moves)) {
            return known;
        }
        // Checks first: they mate most often.
        let mut candidates = board.legal_moves();
        candidates.sort_by_key(|&mv| !gives_check(board, mv));
        let found = candidates.into_iter().any(|mv| {
            if self.budget == 0 {
                return false;
            }
            self.budget -= 1;
            board.make(mv, &mut ());
            let wins = self.is_lost(board, moves - 1);
            board.unmake(&mut ());
            wins
        });
        self.known.insert((index, lock, moves), found);
        found
    }

    /// Whether the side to move is mated in at most so many moves, now if 0, whatever it plays.
    fn is_lost(&mut self, board: &mut Board, moves: u32) -> bool {
        if moves == 0 {
            return board.is_checkmate();
        }
        let replies = board.legal_moves();
        if replies.is_empty() {
            return board.in_check();
        }
        replies.iter().all(|&reply| {
            board.make(reply, &mut ());
            let lost = self.mates(board, moves);
            board.unmake(&mut ());
            lost
        })
    }

    /// The moves that the side to move needs for a mate, up to `most`; `None` if it has none or the
    /// budget does not suffice.
    fn distance(&mut self, board: &mut Board, most: u32) -> Option<u32> {
        let found = (1..=most).find(|&moves| self.mates(board, moves));
        found.filter(|_| self.budget > 0)
    }
}

fn search(searcher: &mut Searcher, board: &Board, limits: &Limits) -> (Option<Move>, ScoreText) {
    let outcome = searcher.search(board, limits, &Control::new(), &mut |_| Verdict::Continue);
    (outcome.best, outcome.score)
}

fn positions() -> Vec<(Board, u32)> {
    let text = fs::read_to_string(data()).unwrap();
    text.lines()
        .map(|line| {
            let (fen, moves) = line.split_once(" dm ").unwrap();
            (Board::from_fen(fen).unwrap(), moves.trim_end_matches(';').parse().unwrap())
        })
        .collect()
}

/// Runs `check` on every position, in two threads, and returns what it complains of.
fn complaints(check: impl Fn(&Board, u32) -> Option<String> + Sync) -> Vec<String> {
    let positions = positions();
    let half = positions.len().div_ceil(2);
    let check = &check;
    thread::scope(|scope| {
        let parts: Vec<_> = positions
            .chunks(half)
            .map(|part| {
                scope.spawn(move || {
                    part.iter().filter_map(|(board, moves)| check(board, *moves)).collect()
                })
            })
            .collect();
        parts.into_iter().flat_map(|part| -> Vec<String> { part.join().unwrap() }).collect()
    })
}

#[test]
fn there_are_as_many_as_there_should_be() {
    let positions = positions();
    let count = |wanted| positions.iter().filter(|&&(_, moves)| moves == wanted).count();
    assert_eq!([2, 3, 4].map(count), WANTED);
    let mut keys: Vec<u64> = positions.iter().map(|(board, _)| board.keys().index).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), positions.len(), "each once");
}

#[test]
fn every_mate_is_proved_and_none_is_shorter() {
    let wrong = complaints(|board, moves| {
        let found = Prover::with_budget(u64::MAX).distance(&mut board.clone(), moves);
        (found != Some(moves)).then(|| format!("{} {moves}: {found:?}", board.to_fen()))
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_engine_misses_none() {
    let missed = complaints(|board, moves| {
        let mut searcher = Searcher::new(Style::Cairn, HASH_MIB).unwrap();
        let limits = Limits { nodes: Some(NODES), mate: Some(moves), ..Limits::default() };
        let (_, score) = search(&mut searcher, board, &limits);
        (score != ScoreText::Mate(moves as i32))
            .then(|| format!("{} dm {moves}: {score}", board.to_fen()))
    });
    assert!(missed.is_empty(), "{} missed: {missed:#?}", missed.len());
}

/// The mates near the end of a game that is played on until it is over: moves, whether the engine
/// had not seen it when it played there, and the position.
fn mates_of(game: &Game, searcher: &mut Searcher) -> Vec<(u32, bool, String)> {
    const LAST: usize = 14;
    const BUDGET: u64 = 400_000;
    let mut board = game.start.board();
    game.opening.iter().for_each(|&mv| board.play(mv));
    let mut found = Vec::new();
    let mut look = |board: &Board, score: i32| {
        let pieces = Square::all().filter(|&square| board.piece_on(square).is_some()).count();
        if score > 300
            && pieces >= 8
            && let Some(moves) = Prover::with_budget(BUDGET).distance(&mut board.clone(), 4)
            && moves >= 2
        {
            found.push((moves, !is_mate(score), board.to_fen()));
        }
    };
    let first = game.plies.len().saturating_sub(LAST);
    for (number, ply) in game.plies.iter().enumerate() {
        if number >= first {
            let sign = if board.side_to_move() == Side::White { 1 } else { -1 };
            look(&board, sign * i32::from(ply.score));
        }
        board.play(ply.mv);
    }
    searcher.clear();
    for _ in 0..8 {
        if board.outcome().is_some() {
            break;
        }
        let limits = Limits { nodes: Some(3000), ..Limits::default() };
        let (best, score) = search(searcher, &board, &limits);
        look(&board, score.to_score());
        board.play(best.unwrap());
    }
    found
}

/// Writes `data/mates.epd`: at most one position of a game, rather one that the engine overlooked.
#[test]
#[ignore = "writes the data"]
fn collect() {
    let bytes = fs::read(env::var("CAIRN_GAMES").expect("a file of games")).unwrap();
    let mut searcher = Searcher::new(Style::Cairn, HASH_MIB).unwrap();
    let mut found: [Vec<String>; 3] = Default::default();
    for (_, game) in games(&bytes).expect("games").filter_map(Result::ok) {
        let open = |moves: u32| found[moves as usize - 2].len() < WANTED[moves as usize - 2];
        let mates = mates_of(&game, &mut searcher);
        let wanted = mates.into_iter().filter(|&(moves, ..)| open(moves));
        // The longest there is still room for, as those are rarest.
        if let Some((moves, _, fen)) = wanted.max_by_key(|&(moves, unseen, _)| (unseen, moves)) {
            found[moves as usize - 2].push(fen);
        }
        if found.iter().zip(WANTED).all(|(found, wanted)| found.len() == wanted) {
            break;
        }
    }
    let mut text = String::new();
    for (moves, fens) in (2..).zip(&found) {
        for fen in fens {
            writeln!(text, "{fen} dm {moves};").unwrap();
        }
    }
    fs::write(data(), text).unwrap();
}
