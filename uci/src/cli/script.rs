//! UCI commands as arguments, one to an argument: `cairn "position startpos" "go depth 5"`.

use std::ffi::OsString;
use std::io;

use anyhow::anyhow;

use super::output::failure;
use super::{Failure, bad_usage, names};
use crate::protocol::{self, Command, Go};
use crate::session::options::{Settings, needs_idle_engine};
use crate::session::writer::Writer;

/// Whether the arguments are UCI commands: the first one is none of the program's own and can be read as
/// one, or could only have been meant so, as a whole line in one argument.
pub(super) fn is_script(arguments: &[OsString]) -> bool {
    let Some(first) = arguments.first().map(|first| first.to_string_lossy()) else { return false };
    let is_own = first.starts_with('-') || names().iter().any(|name| *name == first);
    let is_line = first.trim().contains(char::is_whitespace);
    !is_own
        && first != "help"
        && (is_line || matches!(protocol::parse(first.as_bytes()), Ok(Some(_))))
}

/// Runs the commands, each after the one before it has finished.
pub(super) fn run(arguments: Vec<OsString>) -> Result<(), Failure> {
    let mut commands = Vec::with_capacity(arguments.len());
    let mut lines = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let (line, command) = readable(argument)?;
        lines.push(line);
        commands.push(command);
    }
    check_ends(&commands)?;
    let writer = Writer::spawn(io::stdout())?;
    crate::session::run_lines(lines, writer).map_err(failure)
}

/// Refuses a search that would go on for ever, as nothing that comes behind it would be carried out. One
/// that waits for `stop` needs a command behind it that stops it.
fn check_ends(commands: &[Command]) -> Result<(), Failure> {
    let mut settings = Settings::default();
    // The search that waits, if one does, and whether it has an end of its own after `ponderhit`.
    let mut waiting: Option<(&Command, bool)> = None;
    for command in commands {
        match command {
            Command::Go(go) => {
                let bare = Go {
                    ponder: go.ponder,
                    search_moves: go.search_moves.clone(),
                    ..Go::default()
                };
                let ends = !go.infinite && (**go != bare || settings.level().is_some());
                waiting = (go.ponder || go.infinite).then_some((command, ends));
                if waiting.is_none() && !ends {
                    return Err(endless(command));
                }
            }
            Command::PonderHit => {
                if let Some((search, ends)) = waiting.take()
                    && !ends
                {
                    return Err(endless(search));
                }
            }
            Command::SetOption { name, value } => {
                // What is refused is told when it is carried out.
                let _ = settings.set(name, value.as_deref());
                if needs_idle_engine(name) {
                    waiting = None;
                }
            }
            Command::Stop
            | Command::Position(_)
            | Command::NewGame
            | Command::Perft(_)
            | Command::Bench(_)
            | Command::Openings(_)
            | Command::Quit => waiting = None,
            Command::Uci
            | Command::Debug(_)
            | Command::IsReady
            | Command::Display
            | Command::Eval
            | Command::Help => {}
        }
    }
    waiting.map_or(Ok(()), |(search, _)| Err(endless(search)))
}

/// The refusal of a search without an end.
fn endless(search: &Command) -> Failure {
    bad_usage(anyhow!("'{search}' would search for ever: go needs a limit, such as 'go depth 8'"))
}

/// An argument and the command that it is.
fn readable(argument: OsString) -> Result<(String, Command), Failure> {
    let argument = argument.into_string().map_err(|argument| {
        bad_usage(anyhow!("'{}' is not written in UTF-8", argument.to_string_lossy()))
    })?;
    match protocol::parse(argument.as_bytes()) {
        Ok(Some(command)) => Ok((argument, command)),
        Ok(None) => Err(bad_usage(anyhow!("'{argument}' is no command"))),
        Err(refusal) => Err(bad_usage(anyhow!("{refusal}"))),
    }
}
