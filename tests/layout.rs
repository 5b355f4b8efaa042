//! The repository's own shape: no test that is never compiled, nothing unexpected at the top, no import
//! that runs up.

mod floors;

use std::fs;
use std::path::{Path, PathBuf};

/// The engine's modules from the ground up, as the crate's docs explain them.
const ENGINE: [&str; 18] = [
    "square", "piece", "score", "moves", "keys", "attack", "machine", "board", "fen", "movegen",
    "text", "perft", "hash", "params", "eval", "search", "selfplay", "bench",
];

/// The front-end's files from the ground up, as the crate's docs explain them.
const UCI: [&str; 31] = [
    "protocol::text",
    "protocol::command",
    "protocol::parse",
    "protocol::reply",
    "protocol::notation",
    "protocol",
    "signature",
    "openings",
    "session::files",
    "session::messages",
    "session::reader",
    "session::writer",
    "session::game",
    "session::level",
    "session::wdl",
    "session::clock",
    "session::options",
    "session::network",
    "session::plan",
    "session::log",
    "session::views",
    "session::answer",
    "session::watch",
    "session::worker",
    "session::pending",
    "session::controller",
    "session::replay",
    "session",
    "analyze",
    "games",
    "cli",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn every_test_file_is_compiled() {
    let manifests: String = ["engine/Cargo.toml", "uci/Cargo.toml"]
        .map(|manifest| fs::read_to_string(root().join(manifest)).unwrap())
        .concat();
    let files: Vec<String> =
        names(&root().join("tests")).into_iter().filter(|name| name.ends_with(".rs")).collect();
    assert!(files.len() >= 5, "{files:?}");
    for file in files {
        let entry = format!("path = \"../tests/{file}\"");
        assert!(manifests.contains(&entry), "no [[test]] entry has {entry}");
    }
}

#[test]
fn the_top_level_is_what_was_agreed() {
    const AGREED: [&str; 8] =
        ["Cargo.toml", "Cargo.lock", "LICENSE", "README.md", "engine", "uci", "tests", "scripts"];
    for name in names(&root()) {
        let expected = name.starts_with('.') || name == "target" || AGREED.contains(&&*name);
        assert!(expected, "{name} stands at the top level");
    }
}

#[test]
fn no_import_runs_up() {
    for (source, from_the_ground) in [("engine/src", &ENGINE[..]), ("uci/src", &UCI[..])] {
        let files = floors::source_files(&root(), source);
        for floor in from_the_ground {
            let path: Vec<&str> = floor.split("::").collect();
            let found = files.iter().any(|file| file.module.iter().eq(&path));
            assert!(found, "{source} has no module {floor}");
        }
        let faults = floors::faults(&files, from_the_ground);
        assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    }
}

#[test]
fn the_session_opens_files_in_one_place() {
    let files = floors::source_files(&root(), "uci/src/session");
    let opening = |text: &str| {
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        ["fs::", "std::fs", "OpenOptions", "memmap2"].iter().any(|word| product.contains(word))
    };
    let found: Vec<&str> =
        files.iter().filter(|file| opening(&file.text)).map(|file| file.name.as_str()).collect();
    assert_eq!(found, ["uci/src/session/files.rs"]);
}
