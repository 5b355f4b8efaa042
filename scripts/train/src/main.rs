//! Trains the network on games that the engine has played against itself.
//!
//! ```text
//! train fit --out NAME.net --games GAMES...   trains a network
//! train check NAME.net                        tells what it is
//! train test NAME.net --games GAMES...        its error on the games that training holds back
//! train games GAMES...                        counts what there is to learn from
//! ```

mod aligned;
mod curve;
mod fit;
mod games;
mod network;
mod positions;
#[cfg(test)]
mod samples;
mod shuffle;
mod workers;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use cairn_engine::board::Board;
use cairn_engine::eval::network::{INPUTS, Network, QA, QB, SCALE, evaluate_reference, fnv1a};
use clap::{Args, Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};

use fit::{Settings, Training, mean_error};
use games::{Source, collect, take};
use network::{Goal, LARGEST_WEIGHT, Shape, quantised_outputs};

/// Trains Cairn's network on games that it has played against itself.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Trains a network
    Fit(Fit),
    /// Tells what a network is
    Check {
        /// The network
        network: PathBuf,
    },
    /// The error of a network on the positions that training holds back
    Test {
        /// The network
        network: PathBuf,
        /// The scale of the logistic function in centipawns
        #[arg(long, default_value_t = 200.0)]
        scale: f64,
        /// The result's share in the target
        #[arg(long, default_value_t = 0.0)]
        result: f64,
        #[command(flatten)]
        source: Source,
    },
    /// Counts what there is to learn from
    Games {
        #[command(flatten)]
        source: Source,
    },
}

#[derive(Args)]
struct Fit {
    /// The network to be written; curve and checkpoint stand beside it
    #[arg(long)]
    out: PathBuf,
    /// Neurons of a side: 8, 16, 32, 64, 96, 128, 192 or 256
    #[arg(long, default_value_t = 64)]
    hidden: usize,
    /// Sets of output weights by the number of pieces
    #[arg(long, default_value_t = 1)]
    buckets: usize,
    /// Passes over all positions
    #[arg(long, default_value_t = 30)]
    epochs: u64,
    /// Positions to learn from, counted as often as they are, instead of passes
    #[arg(long, conflicts_with = "epochs")]
    samples: Option<u64>,
    /// Positions between two steps
    #[arg(long, default_value_t = 16384)]
    batch: usize,
    /// The learning rate at first
    #[arg(long, default_value_t = 1e-3)]
    lr: f64,
    /// The learning rate in the end
    #[arg(long, default_value_t = 1e-5)]
    lr_end: f64,
    /// The result's share in the target at first
    #[arg(long, default_value_t = 0.0)]
    result_start: f64,
    /// The result's share in the target in the end
    #[arg(long, default_value_t = 0.0)]
    result_end: f64,
    /// The scale of the logistic function in centipawns
    #[arg(long, default_value_t = 200.0)]
    scale: f64,
    /// The last share of the training in which the network is asked with its weights rounded
    #[arg(long, default_value_t = 0.1)]
    rounded: f64,
    /// Begin with the weights of this network, of the same sizes, instead of random ones
    #[arg(long, value_name = "NETWORK")]
    from: Option<PathBuf>,
    /// Where all randomness comes from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The generation of the engine's own games, written into the network
    #[arg(long, default_value_t = 1)]
    generation: u32,
    /// Memory for positions in MiB; more are shuffled through temporary files beside the network
    #[arg(long, default_value_t = 1024)]
    memory: usize,
    /// A checkpoint after so many hundredths of the training; 0 for none
    #[arg(long, default_value_t = 5)]
    checkpoint_every: usize,
    /// Go on from the checkpoint, if there is one
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    source: Source,
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Fit(fit) => train(&fit),
        Command::Check { network } => check(&network),
        Command::Test { network, scale, result, source } => test(&network, scale, result, &source),
        Command::Games { source } => {
            let (counts, held_back) = take(&source, &mut |_, _| Ok(()))?;
            println!("{counts}; {held_back} held back");
            Ok(())
        }
    }
}

/// A bar that says how far it is.
fn bar(length: u64, what: &str) -> ProgressBar {
    let bar = ProgressBar::new(length);
    let template =
        format!("{{wide_bar}} {{human_pos}}/{{human_len}} {what}, {{per_sec}}, {{eta}} {{msg}}");
    // The template is a constant that is right.
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

fn train(fit: &Fit) -> Result<()> {
    let shape = Shape { hidden: fit.hidden, buckets: fit.buckets };
    let settings = Settings {
        shape,
        batch: fit.batch,
        samples: fit.samples,
        epochs: fit.epochs,
        rate: (fit.lr, fit.lr_end),
        result_share: (fit.result_start, fit.result_end),
        scale: fit.scale,
        bound: fit.source.largest_score,
        rounded: fit.rounded,
        seed: fit.seed,
    };
    let threads = usize::from(fit.source.threads);
    let (counts, mut positions, held_back) = collect(&fit.source, fit.memory, &fit.out, fit.seed)?;
    eprintln!("{counts}; {} held back, {} chunks", held_back.len(), positions.chunks());
    let mut training = Training::new(settings, &mut positions, &held_back, threads)?;
    if let Some(from) = &fit.from {
        training.begin_with(&load(from)?).with_context(|| from.display().to_string())?;
    }
    let checkpoint = fit.out.with_extension("checkpoint");
    if fit.resume && checkpoint.exists() {
        let bytes = read(&checkpoint)?;
        let failed = || format!("{} cannot be gone on from", checkpoint.display());
        training.resume(&bytes).with_context(failed)?;
        eprintln!("goes on after {} of {} steps", training.step(), training.steps());
    }
    // First of all: whether there is a place to write to.
    write(&fit.out.with_extension("csv"), training.csv().as_bytes())?;
    let batch = fit.batch as u64;
    let progress = bar(training.steps() * batch, "samples");
    progress.set_position(training.step() * batch);
    let (begun, before) = (Instant::now(), training.step());
    loop {
        let more = training.advance(&mut |count| progress.inc(count))?;
        let measurements = training.curve().len();
        if let Some(measured) = training.curve().last() {
            let (training, held_back) = (measured.training, measured.held_back);
            progress.set_message(format!("loss {training:.6}, held back {held_back:.6}"));
            if progress.is_hidden() && measurements.is_multiple_of(10) {
                eprintln!("step {}: loss {training:.6}, held back {held_back:.6}", measured.step);
            }
        }
        let due =
            fit.checkpoint_every > 0 && training.curve().len().is_multiple_of(fit.checkpoint_every);
        if more && due {
            write(&checkpoint, &training.checkpoint())?;
        }
        if due || !more {
            write(&fit.out.with_extension("csv"), training.csv().as_bytes())?;
        }
        if !more {
            break;
        }
    }
    progress.finish_and_clear();
    let seconds = begun.elapsed().as_secs_f64();
    let samples = (training.step() - before) * batch;
    let network = shape.quantised(training.weights(), fit.generation)?;
    let bytes = network.to_bytes();
    write(&fit.out, &bytes)?;
    write(&fit.out.with_extension("svg"), curve::svg(training.curve())?.as_bytes())?;
    if checkpoint.exists() {
        fs::remove_file(&checkpoint).with_context(|| checkpoint.display().to_string())?;
    }
    let goal = Goal::new(fit.source.largest_score, fit.scale as f32, fit.result_end as f32);
    let error =
        mean_error(&held_back, threads, &goal, |positions| quantised_outputs(&network, positions));
    if let Some(last) = training.curve().last() {
        println!(
            "{}: loss {:.7}, held back {:.7}, in whole numbers {error:.7}; {:016x}; {samples} samples in \
             {seconds:.1} s, {:.2} million a second",
            fit.out.display(),
            last.training,
            last.held_back,
            fnv1a(&bytes),
            samples as f64 / seconds / 1e6
        );
    }
    Ok(())
}

fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("reading {}", file.display()))
}

/// Writes a file, in the place of one that lies there only when it is whole.
fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    let new = file.with_added_extension("new");
    fs::write(&new, bytes).with_context(|| format!("writing {}", new.display()))?;
    fs::rename(&new, file).with_context(|| format!("writing {}", file.display()))
}

fn load(file: &Path) -> Result<Network> {
    Network::from_bytes(&read(file)?).with_context(|| file.display().to_string())
}

fn test(file: &Path, scale: f64, result: f64, source: &Source) -> Result<()> {
    let network = load(file)?;
    ensure!(scale > 0.0, "the scale has to be above 0");
    let mut held_back = Vec::new();
    let (counts, _) = take(source, &mut |position, is_held_back| {
        if is_held_back {
            held_back.push(position);
        }
        Ok(())
    })?;
    eprintln!("{counts}");
    let goal = Goal::new(source.largest_score, scale as f32, result as f32);
    let threads = usize::from(source.threads);
    let error =
        mean_error(&held_back, threads, &goal, |positions| quantised_outputs(&network, positions));
    println!("{}: {error:.7} on {} positions", file.display(), held_back.len());
    Ok(())
}

fn check(file: &Path) -> Result<()> {
    let bytes = read(file)?;
    let network = Network::from_bytes(&bytes).with_context(|| file.display().to_string())?;
    let (hidden, buckets) = (network.hidden(), network.buckets());
    println!(
        "{}: a network of Cairn, {} bytes, {:016x}",
        file.display(),
        bytes.len(),
        fnv1a(&bytes)
    );
    println!("generation {}, {INPUTS} inputs -> {hidden} x 2 -> 1", network.generation());
    println!("{buckets} buckets, units {QA} and {QB}, scale {SCALE}");
    for (name, weights, unit) in [
        ("columns", network.columns(), QA),
        ("column bias", network.column_bias(), QA),
        ("output", network.output_weights(), QB),
    ] {
        let sizes = weights.iter().map(|&weight| f64::from(weight).abs() / f64::from(unit));
        let most = sizes.clone().fold(0.0, f64::max);
        let mean = sizes.clone().sum::<f64>() / weights.len() as f64;
        let bound = f64::from(LARGEST_WEIGHT) - 1.0 / f64::from(unit);
        let held = sizes.filter(|&size| size >= bound).count();
        println!(
            "{name}: mean size {mean:.4}, largest {most:.3}, {held} of {} held",
            weights.len()
        );
    }
    let idle = (0..hidden).filter(|neuron| {
        let mut output = network.output_weights().chunks_exact(hidden);
        output.all(|weights| weights[*neuron] == 0)
    });
    println!("{} neurons without a say", idle.count());
    for (name, fen) in [
        ("start position", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
        ("a pawn up", "rnbqkbnr/ppp1pppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
        ("a knight up", "r1bqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
        ("a rook up", "1nbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQk - 0 1"),
        ("a queen up", "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
    ] {
        let board = Board::from_fen(fen).with_context(|| fen.to_string())?;
        println!("{name}: {}", evaluate_reference(&network, &board));
    }
    Ok(())
}
