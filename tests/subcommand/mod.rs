//! Runs one of the program's subcommands to its end and looks at what it says.

#![allow(dead_code, reason = "each test binary needs a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A subcommand by its name.
pub(crate) struct Subcommand(pub(crate) &'static str);

impl Subcommand {
    /// The command with these arguments and nothing to read, not started.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        command.arg(self.0).args(arguments).stdin(Stdio::null());
        command
    }

    /// What became of it.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    /// The standard output of a run that goes well.
    pub(crate) fn told(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!((output.status.code(), &*errors(&output)), (Some(0), ""), "{arguments:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// An empty folder of its own for each test.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(self.0).join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder");
        path
    }
}

/// The standard error of a run.
pub(crate) fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A new file, by its path as an argument.
pub(crate) fn file(folder: &Path, name: &str, text: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    fs::write(&path, text).expect("a file");
    path.to_str().expect("UTF-8").to_owned()
}
