//! Fits the square tables to games of the engine against itself.
//!
//! ```text
//! tune bare WEIGHTS.rs             writes tables that know material only: where everything begins
//! tune fit WEIGHTS.rs DATA...      fits them, from bare material on, to the games in the data files
//! ```
//!
//! Logistic regression by Adam: the expected result of a position, a logistic function of its
//! evaluation, is fitted to a blend of the game's result and of what the search thought. Everything
//! runs in one thread and in a fixed order, so that the same data make the same tables. Source:
//! <https://www.chessprogramming.org/Texel%27s_Tuning_Method>.

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result, bail};
use cairn_engine::board::Board;
use cairn_engine::eval::tapered::{FULL_PHASE, WEIGHTS, phase_of, weight_in};
use cairn_engine::piece::{Kind, Side};
use cairn_engine::score::is_mate;
use cairn_engine::selfplay::{GameResult, Record};
use cairn_engine::square::Square;

/// Bare material in centipawns: pawn, knight, bishop, rook, queen, king.
const MATERIAL: [f64; 6] = [100.0, 300.0, 300.0, 500.0, 900.0, 0.0];
const BARE_TEMPO: f64 = 0.0;

/// Centipawns for odds of ten to one.
const SCALE: f64 = 400.0;
/// How much of the target is the game's result; the rest is the search's score.
const RESULT_WEIGHT: f64 = 0.6;
/// Positions beyond this are decided and tell nothing about squares.
const LARGEST_SCORE: i16 = 1200;
/// Passes over the data.
const EPOCHS: usize = 40;
/// Positions between two steps.
const BATCH: usize = 8192;
/// Centipawns a step at the start; it falls linearly to a hundredth.
const LEARNING_RATE: f64 = 2.0;
/// Pulls each square towards the mean of its table, against noise where little has happened.
const SMOOTHING: f64 = 3e-5;

/// A position as the fit sees it.
struct Position {
    /// Index range of its men in [`Data::men`].
    men: std::ops::Range<usize>,
    /// 1 with all men on the board, 0 with kings and pawns only.
    phase: f64,
    /// +1 if white is to move, -1 if black.
    side: f64,
    /// What white can expect, from 0 to 1.
    target: f64,
}

/// All positions; a man is its weight's number, negated and less one for black.
#[derive(Default)]
struct Data {
    men: Vec<i16>,
    positions: Vec<Position>,
}

fn sigmoid(score: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-score / SCALE))
}

impl Data {
    fn read(&mut self, file: &str) -> Result<usize> {
        let bytes = fs::read(file).with_context(|| format!("reading {file}"))?;
        let (mut at, mut games) = (0, 0);
        while let Some((record, length)) = Record::read(&bytes[at..]) {
            self.add_game(&record);
            at += length;
            games += 1;
        }
        if at != bytes.len() {
            bail!("{file} is damaged after {games} games, at byte {at}");
        }
        Ok(games)
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
                let searched = sigmoid(f64::from(ply.score));
                let target = RESULT_WEIGHT * result + (1.0 - RESULT_WEIGHT) * searched;
                self.add_position(&board, target);
            }
            board.play(ply.mv);
        }
    }

    fn add_position(&mut self, board: &Board, target: f64) {
        let first = self.men.len();
        let mut phase = 0;
        for square in Square::all() {
            if let Some(piece) = board.piece_on(square) {
                let weight = weight_in(board, piece, square) as i16;
                self.men.push(if piece.side() == Side::White { weight } else { -weight - 1 });
                phase += phase_of(piece.kind());
            }
        }
        self.positions.push(Position {
            men: first..self.men.len(),
            phase: f64::from(phase.min(FULL_PHASE)) / f64::from(FULL_PHASE),
            side: if board.side_to_move() == Side::White { 1.0 } else { -1.0 },
            target,
        });
    }
}

/// Middle game and endgame weights, and what the move is worth: [`WEIGHTS`] twice and one more.
type Weights = Vec<f64>;
const TEMPO: usize = 2 * WEIGHTS;

fn bare() -> Weights {
    let mut weights = vec![0.0; TEMPO + 1];
    for (index, weight) in weights[..TEMPO].iter_mut().enumerate() {
        *weight = MATERIAL[index / 64 % 6];
    }
    weights[TEMPO] = BARE_TEMPO;
    weights
}

/// The weight that a man's number stands for, and its sign.
fn decode(man: i16) -> (usize, f64) {
    if man >= 0 { (man as usize, 1.0) } else { ((-man - 1) as usize, -1.0) }
}

fn evaluate(weights: &Weights, position: &Position, men: &[i16]) -> f64 {
    let (mut middlegame, mut endgame) = (0.0, 0.0);
    for &man in men {
        let (index, sign) = decode(man);
        middlegame += sign * weights[index];
        endgame += sign * weights[WEIGHTS + index];
    }
    middlegame * position.phase + endgame * (1.0 - position.phase) + position.side * weights[TEMPO]
}

/// Adam's moments for each weight.
struct Adam {
    first: Vec<f64>,
    second: Vec<f64>,
    steps: i32,
}

impl Adam {
    fn step(&mut self, weights: &mut Weights, gradient: &[f64], rate: f64) {
        const DECAY: (f64, f64) = (0.9, 0.999);
        self.steps += 1;
        let corrections = (1.0 - DECAY.0.powi(self.steps), 1.0 - DECAY.1.powi(self.steps));
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
    let mut adam = Adam { first: vec![0.0; TEMPO + 1], second: vec![0.0; TEMPO + 1], steps: 0 };
    let order = shuffled(data.positions.len());
    for epoch in 0..EPOCHS {
        let rate = LEARNING_RATE * (1.0 - 0.99 * epoch as f64 / EPOCHS as f64);
        let mut loss = 0.0;
        for batch in order.chunks(BATCH) {
            let mut gradient = smoothing_gradient(&weights);
            for &number in batch {
                let position = &data.positions[number];
                let men = &data.men[position.men.clone()];
                let expected = sigmoid(evaluate(&weights, position, men));
                let error = expected - position.target;
                loss += error * error;
                let slope = error * expected * (1.0 - expected) / batch.len() as f64;
                for &man in men {
                    let (index, sign) = decode(man);
                    gradient[index] += slope * sign * position.phase;
                    gradient[WEIGHTS + index] += slope * sign * (1.0 - position.phase);
                }
                gradient[TEMPO] += slope * position.side;
            }
            adam.step(&mut weights, &gradient, rate);
        }
        eprintln!("epoch {}/{EPOCHS}: error {:.6}", epoch + 1, loss / order.len() as f64);
    }
    weights
}

fn smoothing_gradient(weights: &Weights) -> Vec<f64> {
    let mut gradient = vec![0.0; TEMPO + 1];
    for table in 0..TEMPO / 64 {
        let range = table * 64..(table + 1) * 64;
        let mean = weights[range.clone()].iter().sum::<f64>() / 64.0;
        for i in range {
            gradient[i] = SMOOTHING * (weights[i] - mean) / 100.0;
        }
    }
    gradient
}

/// Numbers in an order that has nothing to do with that of the games.
fn shuffled(count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for i in (1..count).rev() {
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
         //! Rank 8 first, from the own side's view, mirrored so that the own king stands on the files e\n\
         //! to h. First the tables for the enemy king on the same wing, then those for the other.\n\n",
    );
    let rounded = |index: usize| weights[index].round() as i64;
    writeln!(text, "/// What it is worth to have the move.")?;
    writeln!(text, "pub(super) const TEMPO: i32 = {};\n", rounded(TEMPO))?;
    writeln!(text, "/// By enemy king's wing, kind and square.")?;
    writeln!(text, "#[rustfmt::skip]")?;
    writeln!(text, "pub(super) static PIECE_SQUARE: [(i16, i16); {WEIGHTS}] = [")?;
    let kinds = [Kind::WhitePawn, Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen, Kind::King];
    for (table, wing) in ["same wing", "other wing"].into_iter().enumerate() {
        for (number, kind) in kinds.into_iter().enumerate() {
            writeln!(text, "    // {}, {wing}", kind.letter())?;
            for row in 0..8 {
                let first = table * 384 + number * 64 + row * 8;
                let entries: Vec<String> = (first..first + 8)
                    .map(|index| format!("({}, {}),", rounded(index), rounded(WEIGHTS + index)))
                    .collect();
                writeln!(text, "    {}", entries.join(" "))?;
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
            let mut games = 0;
            for name in data {
                games += all.read(name)?;
            }
            eprintln!("{games} games, {} positions", all.positions.len());
            if all.positions.is_empty() {
                bail!("the data hold no position to learn from");
            }
            write(file, &fit(&all))
        }
        _ => bail!("usage: tune bare WEIGHTS.rs | tune fit WEIGHTS.rs DATA..."),
    }
}
