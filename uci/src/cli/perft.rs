//! `cairn perft`: counts the legal move tree of a position, or checks the counts of a file.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::anyhow;
use clap::value_parser;

use super::output::{Printer, exit_when_unread};
use super::{Failure, bad_usage, position, suite};
use crate::protocol::MAX_PERFT;
use crate::session::views;

/// The deepest count, in plies.
const DEEPEST: i64 = MAX_PERFT as i64;

/// Count the legal move tree of a position, by first move and in all, or check the counts of a file
#[derive(clap::Args)]
#[command(override_usage = "cairn perft <DEPTH> [FEN]...\n       \
                            cairn perft --suite <FILE> [--max-depth <DEPTH>] [--threads <N>]")]
pub(super) struct Arguments {
    /// Depth in plies
    #[arg(conflicts_with = "suite", value_parser = value_parser!(u32).range(..=DEEPEST))]
    depth: Option<u32>,
    /// The position; without it the starting position
    #[arg(conflicts_with = "suite")]
    fen: Vec<String>,
    /// Check all counts of a file with lines like 'FEN ;D1 20 ;D2 400'
    #[arg(long, value_name = "FILE")]
    suite: Option<PathBuf>,
    /// Leave out the counts of a suite that are deeper, in plies
    #[arg(long, value_name = "DEPTH", requires = "suite")]
    max_depth: Option<u32>,
    /// Positions of a suite that are counted at the same time
    #[arg(long, value_name = "N", requires = "suite", default_value_t = 1)]
    threads: usize,
}

/// Counts and prints.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(file) = &arguments.suite {
        return suite::run(file, arguments.max_depth, arguments.threads);
    }
    let Some(depth) = arguments.depth else {
        return Err(bad_usage(anyhow!("perft needs a depth, or --suite and a file")));
    };
    let board = position(&arguments.fen)?;
    exit_when_unread(0);
    let mut printer = Printer::default();
    let stop = AtomicBool::new(false);
    views::divide(&board, depth, false, &stop, &mut |line| {
        if !printer.line(line) {
            stop.store(true, Ordering::Relaxed);
        }
    });
    printer.finish()
}
