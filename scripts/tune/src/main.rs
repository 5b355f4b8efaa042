//! Fits the square tables to games of the engine against itself.
//!
//! ```text
//! tune bare WEIGHTS.rs             writes tables that know material only: where everything begins
//! tune fit WEIGHTS.rs DATA...      fits them, from bare material on, to the games in the data files
//! ```
//!
//! Logistic regression by Adam: the expected result of a position, a logistic function of its
//! evaluation, is fitted to a blend of the game's result and of what the search thought. A weight is
//! a part that all tables share plus what is its table's own, and the own part is drawn to nothing:
//! where a table has seen little it follows the others. Everything is done in a fixed order, so that
//! the same data make the same tables. Source:
//! <https://www.chessprogramming.org/Texel%27s_Tuning_Method>.

use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::thread;

use anyhow::{Context, Result, bail};
use cairn_engine::board::Board;
use cairn_engine::eval::phase::{FULL_PHASE, phase_of};
use cairn_engine::eval::tapered::{KING_TABLES, TABLE_WEIGHTS, WEIGHTS, weights_in};
use cairn_engine::piece::{Kind, Side};
use cairn_engine::score::is_mate;
use cairn_engine::selfplay::{GameResult, Record};
use cairn_engine::square::Square;

/// Bare material in centipawns: pawn, knight, bishop, rook, queen, king.
const MATERIAL: [f32; 6] = [100.0, 300.0, 300.0, 500.0, 900.0, 0.0];

/// Centipawns for odds of ten to one.
const SCALE: f32 = 400.0;
/// How much of the target is the game's result; the rest is the search's score.
const RESULT_WEIGHT: f32 = 0.5;
/// Positions beyond this are decided and tell nothing about squares.
const LARGEST_SCORE: i16 = 1200;
/// Passes over the data.
const EPOCHS: usize = 40;
/// One game in so many is kept from the fit and tells what it is worth elsewhere.
const HELD_BACK: usize = 20;
/// Positions between two steps.
const BATCH: usize = 16384;
/// Parts of a batch that are summed up apart, so that several cores can share it. Part of the result:
/// sums depend on their order.
const PARTS: usize = 4;
/// Centipawns a step at the start; it falls linearly to a hundredth.
const LEARNING_RATE: f32 = 1.0;
/// Pulls what a table has of its own towards nothing, against noise where little has happened.
const SHRINKING: f32 = 5e-7;

/// A position as the fit sees it.
struct Position {
    /// Index range of its pieces in [`Data::pieces`].
    pieces: Range<usize>,
    /// 1 with all pieces on the board, 0 with kings and pawns only.
    phase: f32,
    /// +1 if white is to move, -1 if black.
    side: f32,
    /// What white can expect, from 0 to 1.
    target: f32,
    /// Not to be fitted to.
    held_back: bool,
}

/// All positions; a piece is the weight that white's king sees and the one that black's does.
#[derive(Default)]
struct Data {
    pieces: Vec<[u16; 2]>,
    positions: Vec<Position>,
    games: usize,
}

fn sigmoid(score: f32) -> f32 {
    1.0 / (1.0 + libm::exp10f(-score / SCALE))
}

impl Data {
    fn read(&mut self, file: &str) -> Result<()> {
        let bytes = fs::read(file).with_context(|| format!("reading {file}"))?;
        let mut at = 0;
        while let Some((record, length)) = Record::read(&bytes[at..]) {
            self.add_game(&record);
            at += length;
            self.games += 1;
        }
        if at != bytes.len() {
            bail!("{file} is damaged at byte {at}");
        }
        Ok(())
    }

    /// The numbers of the positions that are fitted to, or of the others.
    fn numbers(&self, held_back: bool) -> Vec<usize> {
        let all = self.positions.iter().enumerate();
        all.filter(|(_, position)| position.held_back == held_back).map(|(i, _)| i).collect()
    }

    fn add_game(&mut self, record: &Record) {
        let mut board = Board::startpos();
        for &mv in &record.opening {
            board.play(mv);
        }
        let result = match record.result {
            GameResult::BlackWins => 0.0,
            GameResult::Draw => 0.5,
            GameResult::WhiteWins => 1.0,
        };
        for ply in &record.plies {
            let captures = board.piece_on(ply.mv.to()).is_some();
            let decided = ply.score.abs() > LARGEST_SCORE || is_mate(i32::from(ply.score));
            if !captures && !decided && !board.in_check() {
                let searched = sigmoid(f32::from(ply.score));
                let target = RESULT_WEIGHT * result + (1.0 - RESULT_WEIGHT) * searched;
                self.add_position(&board, target);
            }
            board.play(ply.mv);
        }
    }

    fn add_position(&mut self, board: &Board, target: f32) {
        let first = self.pieces.len();
        let mut phase = 0;
        for square in Square::all() {
            if let Some(piece) = board.piece_on(square) {
                self.pieces.push(weights_in(board, piece, square).map(|weight| weight as u16));
                phase += phase_of(piece.kind());
            }
        }
        self.positions.push(Position {
            pieces: first..self.pieces.len(),
            phase: phase.min(FULL_PHASE) as f32 / FULL_PHASE as f32,
            side: if board.side_to_move() == Side::White { 1.0 } else { -1.0 },
            target,
            held_back: self.games.is_multiple_of(HELD_BACK),
        });
    }
}

/// Middle game and endgame weights in turn, what the move is worth, then the parts that all tables
/// share.
type Weights = Vec<f32>;
const TEMPO: usize = 2 * WEIGHTS;
const SHARED: usize = TEMPO + 1;
const ALL: usize = SHARED + 2 * TABLE_WEIGHTS;

fn bare() -> Weights {
    let mut weights = vec![0.0; ALL];
    for (index, weight) in weights[SHARED..].iter_mut().enumerate() {
        let number = index / 2;
        // Both kings see each piece: half of it counts for one, half against the other.
        let half = MATERIAL[number / 64 % 6] / 2.0;
        *weight = if number < TABLE_WEIGHTS / 2 { half } else { -half };
    }
    spread(&mut weights, |_| 0.0);
    weights
}

/// Sets each table's weights to the shared part plus its own.
fn spread(weights: &mut Weights, own: impl Fn(usize) -> f32) {
    let (tables, rest) = weights.split_at_mut(TEMPO);
    for (index, weight) in tables.iter_mut().enumerate() {
        *weight = rest[1 + index % (2 * TABLE_WEIGHTS)] + own(index);
    }
}

fn evaluate(weights: &Weights, position: &Position, pieces: &[[u16; 2]]) -> f32 {
    let (mut middlegame, mut endgame) = (0.0, 0.0);
    for &[white, black] in pieces {
        let (white, black) = (2 * usize::from(white), 2 * usize::from(black));
        middlegame += weights[white] - weights[black];
        endgame += weights[white + 1] - weights[black + 1];
    }
    middlegame * position.phase + endgame * (1.0 - position.phase) + position.side * weights[TEMPO]
}

/// The gradient of the squared error over some positions, and the error itself.
fn slope_of(data: &Data, weights: &Weights, numbers: &[usize]) -> (Vec<f32>, f32) {
    let mut gradient = vec![0.0; SHARED];
    let mut loss = 0.0;
    for &number in numbers {
        let position = &data.positions[number];
        let pieces = &data.pieces[position.pieces.clone()];
        let expected = sigmoid(evaluate(weights, position, pieces));
        let error = expected - position.target;
        loss += error * error;
        let slope = error * expected * (1.0 - expected);
        let (middlegame, endgame) = (slope * position.phase, slope * (1.0 - position.phase));
        for &[white, black] in pieces {
            let (white, black) = (2 * usize::from(white), 2 * usize::from(black));
            gradient[white] += middlegame;
            gradient[white + 1] += endgame;
            gradient[black] -= middlegame;
            gradient[black + 1] -= endgame;
        }
        gradient[TEMPO] += slope * position.side;
    }
    (gradient, loss)
}

/// The same over a batch, its parts side by side.
fn batch_slope(data: &Data, weights: &Weights, batch: &[usize]) -> (Vec<f32>, f32) {
    let parts: Vec<(Vec<f32>, f32)> = thread::scope(|scope| {
        let workers: Vec<_> = batch
            .chunks(batch.len().div_ceil(PARTS))
            .map(|part| scope.spawn(|| slope_of(data, weights, part)))
            .collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    });
    let mut gradient = vec![0.0; ALL];
    let mut loss = 0.0;
    for (part, part_loss) in parts {
        for (sum, slope) in gradient.iter_mut().zip(part) {
            *sum += slope / batch.len() as f32;
        }
        loss += part_loss;
    }
    for index in 0..TEMPO {
        gradient[SHARED + index % (2 * TABLE_WEIGHTS)] += gradient[index];
    }
    (gradient, loss)
}

/// Adam's moments for each weight.
struct Adam {
    first: Vec<f32>,
    second: Vec<f32>,
    steps: i32,
}

impl Adam {
    fn step(&mut self, weights: &mut Weights, gradient: &[f32], rate: f32) {
        const DECAY: (f32, f32) = (0.9, 0.999);
        self.steps += 1;
        let decayed = |decay: f32| 1.0 - libm::powf(decay, self.steps as f32);
        let corrections = (decayed(DECAY.0), decayed(DECAY.1));
        for (i, &slope) in gradient.iter().enumerate() {
            self.first[i] = DECAY.0 * self.first[i] + (1.0 - DECAY.0) * slope;
            self.second[i] = DECAY.1 * self.second[i] + (1.0 - DECAY.1) * slope * slope;
            let root = (self.second[i] / corrections.1).sqrt() + 1e-8;
            weights[i] -= rate * self.first[i] / corrections.0 / root;
        }
    }
}

fn fit(data: &Data) -> Weights {
    let mut weights = bare();
    // What is fitted: each table's own part, the tempo, the shared parts.
    let mut fitted = weights.clone();
    fitted[..TEMPO].fill(0.0);
    let mut adam = Adam { first: vec![0.0; ALL], second: vec![0.0; ALL], steps: 0 };
    let order = shuffled(data.numbers(false));
    let held_back = data.numbers(true);
    for epoch in 0..EPOCHS {
        let rate = LEARNING_RATE * (1.0 - 0.99 * epoch as f32 / EPOCHS as f32);
        let mut loss = 0.0;
        for batch in order.chunks(BATCH) {
            let (mut gradient, batch_loss) = batch_slope(data, &weights, batch);
            loss += f64::from(batch_loss);
            for (slope, own) in gradient[..TEMPO].iter_mut().zip(&fitted) {
                *slope += SHRINKING * own;
            }
            adam.step(&mut fitted, &gradient, rate);
            weights[TEMPO..].copy_from_slice(&fitted[TEMPO..]);
            spread(&mut weights, |index| fitted[index]);
        }
        let elsewhere = slope_of(data, &weights, &held_back).1 / held_back.len().max(1) as f32;
        let loss = loss / order.len() as f64;
        eprintln!("epoch {}/{EPOCHS}: error {loss:.6}, elsewhere {elsewhere:.6}", epoch + 1);
    }
    weights
}

/// Numbers in an order that has nothing to do with that of the games.
fn shuffled(mut order: Vec<usize>) -> Vec<usize> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for i in (1..order.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        order.swap(i, (state % (i as u64 + 1)) as usize);
    }
    order
}

fn write(file: &str, weights: &Weights) -> Result<()> {
    let mut text = String::from(
        "//! The numbers of the tapered evaluation: material and square in one, in hundredths of a pawn.\n\
         //!\n\
         //! Written by the tuner; see the README of `scripts/tune`. Each entry is (middle game, endgame).\n\
         //! Rank 8 first, from the king's own side, mirrored so that it stands on the files e to h. For\n\
         //! each of its squares the tables of its own pieces, then those of the enemy's.\n\n",
    );
    let rounded = |index: usize| weights[index].round() as i64;
    writeln!(text, "/// What it is worth to have the move.")?;
    writeln!(text, "pub(super) const TEMPO: i32 = {};\n", rounded(TEMPO))?;
    writeln!(text, "/// By the square of the king, side, kind and square.")?;
    writeln!(text, "#[rustfmt::skip]")?;
    writeln!(text, "pub(super) static PIECE_SQUARE: [(i16, i16); {WEIGHTS}] = [")?;
    let kinds = [Kind::WhitePawn, Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen, Kind::King];
    let mut next = 0;
    for table in 0..KING_TABLES {
        for side in ["own", "enemy"] {
            for kind in kinds {
                writeln!(text, "    // king at {table}, {side} {}", kind.letter())?;
                for _row in 0..8 {
                    let entries: Vec<String> = (next..next + 8)
                        .map(|index| {
                            format!("({}, {}),", rounded(2 * index), rounded(2 * index + 1))
                        })
                        .collect();
                    writeln!(text, "    {}", entries.join(" "))?;
                    next += 8;
                }
            }
        }
    }
    text.push_str("];\n");
    fs::write(file, text).with_context(|| format!("writing {file}"))
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["bare", file] => write(file, &bare()),
        ["fit", file, data @ ..] if !data.is_empty() => {
            let mut all = Data::default();
            for name in data {
                all.read(name)?;
            }
            eprintln!("{} games, {} positions", all.games, all.positions.len());
            if all.positions.is_empty() {
                bail!("the data hold no position to learn from");
            }
            write(file, &fit(&all))
        }
        _ => bail!("usage: tune bare WEIGHTS.rs | tune fit WEIGHTS.rs DATA..."),
    }
}
