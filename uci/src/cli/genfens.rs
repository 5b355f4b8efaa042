//! `cairn genfens`: opening positions for testing.

use anyhow::anyhow;

use super::output::Printer;
use super::{Failure, bad_usage};
use crate::openings;
use crate::protocol::{self, Command};

/// Print opening positions for testing, always the same for a seed
///
/// OpenBench asks for them in one argument: cairn "genfens 10 seed 1 book None".
#[derive(clap::Args)]
#[command(override_usage = "cairn genfens <N> seed <S> [book <None|FILE>]")]
pub(super) struct Arguments {
    /// How many, with 'seed', a number, 'book', and a file with a FEN or EPD in each line
    #[arg(required = true, value_name = "WORDS")]
    words: Vec<String>,
}

/// Makes them up and prints them.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let line = format!("genfens {}", arguments.words.join(" "));
    let request = match protocol::parse(line.as_bytes()) {
        Ok(Some(Command::Openings(request))) => request,
        Ok(_) => return Err(bad_usage(anyhow!("'{line}' asks for no openings"))),
        Err(refusal) => return Err(bad_usage(anyhow!("{refusal}"))),
    };
    let stop = std::sync::atomic::AtomicBool::new(false);
    let mut printer = Printer::default();
    super::with_large_stack(|| {
        openings::generate(&request, &stop, &mut |line| {
            if !printer.line(line) {
                stop.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        })?;
        printer.finish()
    })
}
