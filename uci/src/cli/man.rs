//! `cairn man`: the manual page.

use anyhow::anyhow;
use clap::CommandFactory;
use clap_mangen::Man;

use super::output::print;
use super::{Failure, bad_usage, names};

/// Print the manual page of the program or of a command, in troff: cairn man | man -l -
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The command
    command: Option<String>,
}

/// Prints it.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    // The long version tells of this very processor.
    let mut program = super::Arguments::command().display_name("cairn").long_version(None);
    program.build();
    let command = match &arguments.command {
        None => program,
        Some(name) => match program.find_subcommand(name) {
            Some(command) => command.clone(),
            None => return Err(bad_usage(anyhow!("there is no command '{name}'"))),
        },
    };
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    let mut page = String::from_utf8_lossy(&page).into_owned();
    // The pages of the commands are nowhere installed: this command prints them.
    for name in names().into_iter().chain(["help".into()]) {
        page = page.replace(&format!("cairn\\-{name}(1)"), &format!("cairn {name}"));
    }
    print(&page)
}
