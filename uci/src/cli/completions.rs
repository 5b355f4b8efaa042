//! `cairn completions`: what a shell needs to complete commands and options.

use clap::CommandFactory;
use clap_complete::Shell;

use super::Failure;
use super::output::print;

/// Print the completions for a shell: cairn completions bash > /etc/bash_completion.d/cairn
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The shell
    shell: Shell,
}

/// Prints them.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut text = Vec::new();
    let mut command = super::Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "cairn", &mut text);
    print(&String::from_utf8_lossy(&text))
}
