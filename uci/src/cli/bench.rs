//! `cairn bench`: the node count of the fixed positions, the signature of the build.

use cairn_engine::search::Control;
use clap::value_parser;

use super::output::{Printer, exit_when_unread};
use super::progress::spinner;
use super::{Failure, with_large_stack};
use crate::protocol::MAX_BENCH;
use crate::session::views;

/// Search the fixed positions; the node count of the last line, 'N nodes M nps', is the build's
/// signature
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Depth in plies; the signature has the default
    #[arg(value_parser = value_parser!(u32).range(1..=i64::from(MAX_BENCH)))]
    depth: Option<u32>,
}

/// Searches and prints.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    exit_when_unread(0);
    with_large_stack(|| {
        let mut printer = Printer::new(spinner("searching"));
        let control = Control::new();
        views::bench(arguments.depth, &control, &mut |line| {
            if !printer.line(line) {
                control.stop();
            }
        })?;
        printer.finish()
    })
}
