//! Opening positions for testing, as OpenBench asks for them with `genfens`.
//!
//! Random legal moves from a starting position, kept if the game goes on from there and neither side
//! is much better. The same request gives the same positions on every machine and with every later
//! version: the judge is the historical search, which never changes.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use cairn_engine::board::Board;
use cairn_engine::search::{Control, Limits, ScoreText, Searcher, Style, Verdict};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::protocol::{OpeningsRequest, quote};
use crate::session::files::read_text;

/// How many random moves are played.
const PLIES: usize = 8;

/// The worst score, in centipawns, with which a position is still fair.
const FAIR: i32 = 100;

/// The nodes of the search that judges a position.
const JUDGE_NODES: u64 = 5000;

/// How many positions are tried for one that is kept. Most books need two or three.
const TRIES: usize = 1000;

/// The longest book that is read, in bytes.
const MAX_BOOK: u64 = 1 << 30;

/// Prints the positions that are asked for, one to a line, until `stop` is set.
///
/// # Errors
/// When the book cannot be used, or does not lead to fair positions.
pub fn generate(
    request: &OpeningsRequest,
    stop: &AtomicBool,
    print: &mut dyn FnMut(String),
) -> Result<()> {
    let starts = match &request.book {
        Some(file) => read_book(file)?,
        None => vec![Board::startpos()],
    };
    let mut judge = Searcher::new(Style::MicroMax, 1)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(request.seed);
    for _ in 0..request.count {
        let mut found = None;
        for _ in 0..TRIES {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let start = &starts[below(starts.len(), &mut random)];
            found = random_walk(start, &mut random).filter(|board| is_fair(board, &mut judge));
            if found.is_some() {
                break;
            }
        }
        let Some(board) = found else { bail!("{TRIES} tries have led to no fair position") };
        print(format!("info string genfens {}", board.to_fen()));
    }
    Ok(())
}

/// The positions of a book.
fn read_book(file: &str) -> Result<Vec<Board>> {
    let text = read_text(Path::new(file), MAX_BOOK)
        .with_context(|| format!("cannot read {}", quote(file)))?;
    let boards = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            // The first four fields are common to FEN and EPD.
            let fields: Vec<&str> = line.split_whitespace().take(4).collect();
            Board::from_fen(&fields.join(" "))
                .with_context(|| format!("{}, line {}", quote(file), index + 1))
        })
        .collect::<Result<Vec<Board>>>()?;
    if boards.is_empty() {
        bail!("{} has no positions", quote(file));
    }
    Ok(boards)
}

/// A random number below `end`, which is small.
fn below(end: usize, random: &mut impl Rng) -> usize {
    (random.next_u64() % end as u64) as usize
}

/// The position after random moves, unless the game has ended.
fn random_walk(start: &Board, random: &mut impl Rng) -> Option<Board> {
    let mut board = start.clone();
    for _ in 0..PLIES {
        let moves = board.legal_moves();
        if moves.is_empty() {
            return None;
        }
        board.play(moves[below(moves.len(), random)]);
    }
    board.outcome().is_none().then_some(board)
}

/// Whether neither side is much better.
fn is_fair(board: &Board, judge: &mut Searcher) -> bool {
    let limits = Limits { nodes: Some(JUDGE_NODES), ..Limits::default() };
    judge.clear();
    let outcome = judge.search(board, &limits, &Control::new(), &mut |_| Verdict::Continue);
    matches!(outcome.score, ScoreText::Centipawns(score) if score.abs() <= FAIR)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn openings(count: u32, seed: u64) -> Vec<String> {
        let request = OpeningsRequest { count, seed, book: None };
        let mut lines = Vec::new();
        generate(&request, &AtomicBool::new(false), &mut |line| lines.push(line))
            .expect("openings");
        lines
    }

    #[test]
    fn a_seed_gives_the_same_positions_and_another_one_others() {
        let first = openings(5, 1);
        assert_eq!(first, openings(5, 1));
        assert_eq!(first[..3], openings(3, 1));
        assert_ne!(first, openings(5, 2));
    }

    #[test]
    fn openings_are_positions_of_running_games() {
        for line in openings(10, 7) {
            let fen = line.strip_prefix("info string genfens ").expect("the prefix");
            assert_eq!(fen.split(' ').count(), 6, "{fen}");
            let board = Board::from_fen(fen).expect("a FEN");
            assert!(board.outcome().is_none(), "{fen}");
            assert_eq!(board.fullmove_number(), 5, "{fen}");
        }
    }

    #[test]
    fn a_book_that_cannot_be_used_is_told() {
        let request = OpeningsRequest { count: 1, seed: 1, book: Some("/no/such/book".into()) };
        let error = generate(&request, &AtomicBool::new(false), &mut |_| {}).expect_err("no file");
        assert!(error.to_string().contains("/no/such/book"));
        let request = OpeningsRequest { book: Some("x".repeat(50_000)), ..request };
        let error = generate(&request, &AtomicBool::new(false), &mut |_| {}).expect_err("no file");
        assert!(error.to_string().len() < 200, "only a part is repeated");
    }
}
