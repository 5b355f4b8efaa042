//! The repository's own shape: no test that is never compiled, nothing unexpected at the top, no import
//! that runs up.

mod floors;

use std::fs;
use std::path::{Path, PathBuf};

/// The engine's modules from the ground up, as the crate's docs explain them.
const ENGINE: [&str; 19] = [
    "square", "piece", "score", "moves", "keys", "attack", "machine", "board", "fen", "movegen",
    "text", "perft", "syzygy", "hash", "params", "eval", "search", "selfplay", "bench",
];

/// The front-end's files from the ground up, as the crate's docs explain them.
const UCI: [&str; 36] = [
    "protocol::text",
    "protocol::command",
    "protocol::parse",
    "protocol::reply",
    "protocol::notation",
    "protocol::san",
    "protocol",
    "signature",
    "session::files",
    "openings",
    "session::messages",
    "session::reader",
    "session::writer",
    "session::game",
    "session::table",
    "session::level",
    "session::wdl",
    "session::clock",
    "session::options",
    "session::network",
    "session::tables",
    "session::saved",
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
    "report",
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

/// The docs of a crate, without what marks them.
fn crate_docs(package: &str) -> String {
    let text = fs::read_to_string(root().join(package).join("src/lib.rs")).unwrap();
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("//!")).collect();
    lines.join("\n")
}

#[test]
fn the_docs_tell_the_floors() {
    let engine = crate_docs("engine");
    let rows = engine.lines().filter_map(|line| line.strip_prefix(" | "));
    let modules: Vec<&str> = rows
        .filter_map(|row| row.split('`').nth(1))
        .map(|name| name.trim_start_matches("mod@"))
        .collect();
    assert_eq!(modules, ENGINE);

    let uci = crate_docs("uci");
    let list = uci.split("```text").nth(1).and_then(|rest| rest.split("```").next());
    let floors: Vec<String> = list
        .unwrap_or_default()
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(|file| file.trim_end_matches("/mod").trim_end_matches("/...").replace('/', "::"))
        .collect();
    assert_eq!(floors, UCI);
}

#[test]
fn the_docs_name_files_that_exist() {
    let read = |file: &str| fs::read_to_string(root().join(file)).unwrap();
    let mut named = 0;
    for (name, text) in [
        ("engine", crate_docs("engine")),
        ("uci", crate_docs("uci")),
        ("README.md", read("README.md")),
        ("scripts/train/README.md", read("scripts/train/README.md")),
        ("scripts/tune/README.md", read("scripts/tune/README.md")),
        ("engine/src/search/TECHNIQUES.md", read("engine/src/search/TECHNIQUES.md")),
    ] {
        for word in text.split(|c: char| c.is_whitespace() || "`()[],;:|<>".contains(c)) {
            let path = word.trim_end_matches('.');
            let folders = ["engine/", "uci/", "scripts/", "tests/", ".github/", ".ci/"];
            if folders.iter().any(|folder| path.starts_with(folder)) {
                assert!(root().join(path).exists(), "{name} names {path}");
                named += 1;
            }
        }
    }
    assert!(named > 40, "{named}");
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
