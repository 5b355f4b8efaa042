//! The command line: one file for each command, a thin shell over the session and the engine.
//!
//! Arguments are read by `clap`; its definitions also give the help, the completions and the manual
//! page. An argument that is a UCI command, such as `"go depth 5"`, is no subcommand: such arguments
//! are run one after the other, which is how scripts and OpenBench call the program.

mod analyze;
mod annotate;
mod bench;
mod completions;
mod datagen;
mod eval;
mod explain;
mod genfens;
mod go;
mod instructions;
mod man;
mod output;
mod perft;
mod progress;
mod replay;
mod script;
mod spsa;
mod suite;
mod version;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::thread;

use anyhow::anyhow;
use cairn_engine::board::Board;
use clap::{CommandFactory, Parser, Subcommand};

use crate::session::messages::STACK;
use output::{ReaderGone, print};

/// The exit code for a command line that makes no sense.
const BAD_USAGE: u8 = 2;

/// What stands below the list of commands.
const AFTER_HELP: &str = "\
UCI commands as arguments, each carried out to its end:
  cairn \"position startpos\" \"go depth 5\"
  cairn \"genfens 10 seed 1 book None\"

Environment:
  CAIRN_SIMD  the vector instructions to search with, instead of the best there are: scalar,
              neon, avx2 or avx512; 'cairn --version' says which are used

Exit codes:
  0  all went well; a reader of the output that has seen enough is no error
  1  an error; for 'replay' a difference, for 'perft --suite' a count that disagrees, for UCI
     commands as arguments one that is not done as it was asked for
  2  a command line or a CAIRN_SIMD that makes no sense here, or for 'replay' no usable log
  3  for 'replay': the log is incomplete, but the same as far as it goes";

/// Cairn is a UCI chess engine. Without arguments it talks UCI on standard input and output.
#[derive(Parser)]
#[command(
    name = "cairn",
    display_name = "Cairn",
    version = version::short(),
    long_version = version::long(),
    after_help = AFTER_HELP,
    subcommand_required = true
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Bench(bench::Arguments),
    Perft(perft::Arguments),
    Go(go::Arguments),
    Analyze(analyze::Arguments),
    Annotate(annotate::Arguments),
    Explain(explain::Arguments),
    Eval(eval::Arguments),
    Datagen(datagen::Arguments),
    Replay(replay::Arguments),
    Genfens(genfens::Arguments),
    Spsa(spsa::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
}

impl Command {
    fn run(self) -> Result<(), Failure> {
        match self {
            Command::Bench(arguments) => bench::run(&arguments),
            Command::Perft(arguments) => perft::run(&arguments),
            Command::Go(arguments) => go::run(&arguments),
            Command::Analyze(arguments) => analyze::run(&arguments),
            Command::Annotate(arguments) => annotate::run(&arguments),
            Command::Explain(arguments) => explain::run(&arguments),
            Command::Eval(arguments) => eval::run(&arguments),
            Command::Datagen(arguments) => datagen::run(&arguments),
            Command::Replay(arguments) => replay::run(&arguments),
            Command::Genfens(arguments) => genfens::run(&arguments),
            Command::Spsa(arguments) => spsa::run(&arguments),
            Command::Completions(arguments) => completions::run(&arguments),
            Command::Man(arguments) => man::run(&arguments),
        }
    }
}

/// Runs the program with the given arguments, the program's own name left out.
#[must_use]
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    let done = instructions::force().and_then(|()| dispatch(arguments));
    let Err(failure) = done else { return ExitCode::SUCCESS };
    if failure.error.is::<ReaderGone>() {
        return ExitCode::from(failure.code);
    }
    let mut text = match failure.error.downcast_ref::<clap::Error>() {
        Some(error) => error.render().to_string(),
        None => format!("cairn: {:#}\n", failure.error),
    };
    if failure.is_usage {
        text.push_str("'cairn --help' shows how it is used\n");
    }
    // Where nobody can be told, the exit code tells.
    let _ = io::stderr().write_all(text.as_bytes());
    ExitCode::from(failure.code)
}

/// Talks UCI without arguments, runs UCI commands, or a command of its own.
fn dispatch(arguments: Vec<OsString>) -> Result<(), Failure> {
    if arguments.is_empty() {
        return crate::session::uci_loop(io::stdin(), io::stdout()).map_err(output::failure);
    }
    if script::is_script(&arguments) {
        return script::run(arguments);
    }
    let program = OsString::from("cairn");
    match Arguments::try_parse_from(std::iter::once(program).chain(arguments)) {
        Ok(arguments) => arguments.command.run(),
        Err(text) if text.use_stderr() => {
            Err(Failure { error: text.into(), code: BAD_USAGE, is_usage: false })
        }
        Err(text) => print(&text.render().to_string()),
    }
}

/// The names of all commands.
fn names() -> Vec<String> {
    let command = Arguments::command();
    command.get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

/// An error and what the program ends with because of it.
struct Failure {
    error: anyhow::Error,
    code: u8,
    /// It is the command line that was wrong.
    is_usage: bool,
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure { error: error.into(), code: 1, is_usage: false }
    }
}

/// A command line that makes no sense.
fn bad_usage(error: anyhow::Error) -> Failure {
    Failure { error, code: BAD_USAGE, is_usage: true }
}

/// The position that a command line names: a FEN, in one piece or several, or the first of all.
fn position(fen: &[String]) -> Result<Board, Failure> {
    match fen {
        [] => Ok(Board::startpos()),
        words => Board::from_fen(&words.join(" ")).map_err(|error| bad_usage(error.into())),
    }
}

/// Runs something deeply recursive.
fn with_large_stack<T: Send>(
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        thread.join().unwrap_or_else(|_| Err(anyhow!("internal error").into()))
    })
}
