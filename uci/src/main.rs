//! The program `cairn`: without arguments it talks UCI, with arguments it runs them as commands.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Arguments need not be UTF-8; what is not will be refused as a command, not by a panic.
    let arguments = std::env::args_os().skip(1);
    cairn::console::run(arguments.map(|argument| argument.to_string_lossy().into_owned()))
}
