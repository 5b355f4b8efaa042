//! The program `cairn`: without arguments it talks UCI, with arguments it runs them as commands.

use std::process::ExitCode;

fn main() -> ExitCode {
    cairn::cli::run(std::env::args_os().skip(1).collect())
}
