//! Tells the program which commit it is built from, for `cairn --version`.
//!
//! `CAIRN_COMMIT` in the environment goes first, for packages that are built without the repository. Where
//! there is neither, the version stands alone. Nothing else of the machine gets in, so that the same
//! commit gives the same program.

use std::env;
use std::path::Path;
use std::process::Command;

/// How many letters of a commit's name are shown. Git's own choice differs from clone to clone.
const LENGTH: usize = 10;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CAIRN_COMMIT");
    let commit = env::var("CAIRN_COMMIT").ok().or_else(commit).unwrap_or_default();
    let commit: String = commit.chars().filter(char::is_ascii_alphanumeric).take(LENGTH).collect();
    println!("cargo::rustc-env=CAIRN_COMMIT={commit}");
}

/// The commit that is checked out. Sees to it that another one is noticed.
fn commit() -> Option<String> {
    // The sources of a package may lie in somebody else's repository.
    if git(&["rev-parse", "--show-prefix"])? != "uci/" {
        return None;
    }
    let commit = git(&["rev-parse", "HEAD"])?;
    watch("HEAD");
    if let Some(branch) = git(&["symbolic-ref", "--quiet", "HEAD"]) {
        // A branch has a file of its own, or a line in the one of all.
        if !watch(&branch) {
            watch("packed-refs");
            watch(branch.rsplit_once('/').map_or("refs", |(folder, _)| folder));
        }
    }
    Some(commit)
}

/// Runs this script again when a file of git's changes; one that is missing would always count as
/// changed. Whether it is there.
fn watch(name: &str) -> bool {
    let path = git(&["rev-parse", "--git-path", name]);
    let there = path.filter(|path| Path::new(path).exists());
    if let Some(path) = &there {
        println!("cargo::rerun-if-changed={path}");
    }
    there.is_some()
}

/// What git says, if there is a git and it has something to say.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
