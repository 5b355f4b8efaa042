//! `cairn datagen`: games of the engine against itself, written to a file.

use super::Failure;
use super::output::Printer;
use crate::datagen::{self, Options};

/// The most threads that play; more are taken for a slip of the keyboard.
const MAX_THREADS: u64 = 1024;

/// Play against itself and keep the games; goes on where it was broken off
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The file that is written
    file: String,
    /// How many games the file is to hold in the end
    #[arg(long, value_name = "N", default_value_t = 1000)]
    games: u64,
    /// Nodes a move
    #[arg(long, value_name = "N", default_value_t = 5000)]
    nodes: u64,
    /// What the random openings depend on
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Games that are played at the same time; the file does not depend on it
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: u64,
}

/// Plays and writes. Without a reader of its progress it goes on: the file is what counts.
pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    let options = Options {
        file: arguments.file,
        games: arguments.games,
        nodes: arguments.nodes.max(1),
        seed: arguments.seed,
        threads: arguments.threads.clamp(1, MAX_THREADS) as usize,
    };
    let mut printer = Printer::default();
    datagen::run(&options, &mut |line| {
        printer.line(line);
    })?;
    printer.finish()
}
