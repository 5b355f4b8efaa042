//! Who imports whom in a crate, and whether an import runs up.
//!
//! A crate is a house: its modules are floors, listed from the ground up, and a file imports from its
//! own floor and those below. Looked at is every path that begins with `crate`, `self` or `super`, in a
//! `use` or anywhere else. Exempt are items under `#[cfg(test)]` and the crate's root (`lib.rs`,
//! `main.rs`), which names all floors.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// A source file: its name for messages, its module path (`["board", "attacks"]`) and its text.
pub(crate) struct SourceFile {
    pub(crate) name: String,
    pub(crate) module: Vec<String>,
    pub(crate) text: String,
}

/// All source files below a crate's `src`, named from `root`, sorted by name.
pub(crate) fn source_files(root: &Path, source: &str) -> Vec<SourceFile> {
    let mut files = Vec::new();
    let mut folders = vec![source.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).expect("a folder") {
            let entry = entry.unwrap();
            let name = format!("{folder}/{}", entry.file_name().into_string().unwrap());
            if entry.path().is_dir() {
                folders.push(name);
            } else if let Some(stem) = name.strip_suffix(".rs") {
                let mut module: Vec<String> =
                    stem[source.len() + 1..].split('/').map(str::to_owned).collect();
                module.pop_if(|last| matches!(last.as_str(), "mod" | "lib" | "main"));
                files.push(SourceFile {
                    text: fs::read_to_string(entry.path()).unwrap(),
                    name,
                    module,
                });
            }
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}

/// What is wrong with the imports of these files: those that run up, files and imports on no floor,
/// and circles of files. `floors` are module paths such as `board` or `session::messages`, from the
/// ground up; of two that match, the longer one counts.
///
/// A file may always name what the `mod.rs` of its own folder holds: such files are one module, so this
/// makes no circle.
pub(crate) fn faults(files: &[SourceFile], floors: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut imports: HashMap<&str, Vec<(&str, usize)>> = HashMap::new();
    for file in files.iter().filter(|file| !file.module.is_empty()) {
        let Some(own) = floor_of(&file.module, floors) else {
            faults.push(format!("{}: is on no floor", file.name));
            continue;
        };
        for (line, path) in paths(&file.module, &file.text) {
            let (place, named) = (format!("{}:{line}", file.name), path.join("::"));
            match floor_of(&path, floors) {
                None => faults.push(format!("{place}: crate::{named} is on no floor")),
                Some(floor) if floor > own => faults.push(format!(
                    "{place}: {} imports crate::{named} from {}, a floor above",
                    floors[own], floors[floor]
                )),
                Some(_) => {}
            }
            let target = files
                .iter()
                .filter(|other| !other.module.is_empty() && path.starts_with(&other.module))
                .max_by_key(|other| other.module.len());
            if let Some(target) = target
                && !file.module.starts_with(&target.module)
            {
                imports.entry(&file.name).or_default().push((&target.name, line));
            }
        }
    }
    faults.extend(circle(files, &imports));
    faults
}

/// The number of the floor that a path leads to.
fn floor_of(path: &[String], floors: &[&str]) -> Option<usize> {
    let matches = |floor: &str| {
        let parts: Vec<&str> = floor.split("::").collect();
        path.len() >= parts.len() && parts.iter().zip(path).all(|(part, name)| part == name)
    };
    (0..floors.len()).filter(|&i| matches(floors[i])).max_by_key(|&i| floors[i].len())
}

/// A circle of files, if there is one, as the imports that it consists of.
fn circle(files: &[SourceFile], imports: &HashMap<&str, Vec<(&str, usize)>>) -> Option<String> {
    fn visit<'a>(
        file: &'a str,
        imports: &HashMap<&'a str, Vec<(&'a str, usize)>>,
        trail: &mut Vec<(&'a str, usize)>,
        done: &mut Vec<&'a str>,
    ) -> Option<String> {
        if done.contains(&file) {
            return None;
        }
        if let Some(start) = trail.iter().position(|&(name, _)| name == file) {
            let steps = trail[start..].iter().map(|(name, line)| format!("{name}:{line} -> "));
            return Some(format!("a circle: {}{file}", steps.collect::<String>()));
        }
        for &(next, line) in imports.get(file).into_iter().flatten() {
            trail.push((file, line));
            let found = visit(next, imports, trail, done);
            trail.pop();
            if found.is_some() {
                return found;
            }
        }
        done.push(file);
        None
    }
    let mut done = Vec::new();
    files.iter().find_map(|file| visit(&file.name, imports, &mut Vec::new(), &mut done))
}

/// Every path in a module's text that begins with `crate`, `self` or `super`, from the crate's root,
/// with its line. What is under `#[cfg(test)]` is left out.
pub(crate) fn paths(module: &[String], text: &str) -> Vec<(usize, Vec<String>)> {
    const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let tokens = tokens(text);
    let word = |i: usize| tokens.get(i).map_or("", |token| token.1.as_str());
    let mut found = Vec::new();
    let mut depth = 0;
    // The modules within the file that are open here, with the depth of their braces.
    let mut open: Vec<(String, usize)> = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        match word(i) {
            "#" if (0..TEST.len()).all(|k| word(i + k) == TEST[k]) => {
                i = item_end(&tokens, i + TEST.len());
                continue;
            }
            "mod" if word(i + 2) == "{" => open.push((word(i + 1).to_owned(), depth)),
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                open.pop_if(|(_, at)| *at == depth);
            }
            "crate" | "self" | "super"
                if word(i + 1) == "::" && (i == 0 || word(i - 1) != "::") =>
            {
                let here = module.iter().chain(open.iter().map(|(name, _)| name));
                let mut prefix: Vec<String> =
                    if word(i) == "crate" { Vec::new() } else { here.cloned().collect() };
                while matches!(word(i), "crate" | "self" | "super") && word(i + 1) == "::" {
                    if word(i) == "super" {
                        prefix.pop();
                    }
                    i += 2;
                }
                i = tree(&tokens, i, prefix, &mut found);
                continue;
            }
            _ => {}
        }
        i += 1;
    }
    found
}

/// Reads the rest of a path from token `i` on, all branches of its braces; where it ends.
fn tree(
    tokens: &[(usize, String)],
    mut i: usize,
    mut prefix: Vec<String>,
    found: &mut Vec<(usize, Vec<String>)>,
) -> usize {
    let word = |i: usize| tokens.get(i).map_or("", |token| token.1.as_str());
    loop {
        match word(i) {
            "{" => {
                i += 1;
                while !matches!(word(i), "}" | "") {
                    i = tree(tokens, i, prefix.clone(), found);
                    // An `as` and the comma.
                    while !matches!(word(i), "," | "}" | "") {
                        i += 1;
                    }
                    i += usize::from(word(i) == ",");
                }
                return i + 1;
            }
            "*" | "self" => {}
            name => prefix.push(name.to_owned()),
        }
        // A path ends where no name follows; it may be types that follow.
        if word(i + 1) != "::" || word(i + 2) == "<" {
            found.push((tokens.get(i).map_or(0, |token| token.0), prefix));
            return i + 1;
        }
        i += 2;
    }
}

/// The first token after the item that begins at token `i`: after its semicolon or its braces.
fn item_end(tokens: &[(usize, String)], mut i: usize) -> usize {
    let mut depth = 0;
    while let Some((_, word)) = tokens.get(i) {
        i += 1;
        match word.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 && matches!(word.as_str(), ";" | "}") {
            break;
        }
    }
    i
}

/// The words and signs of a Rust text with their lines; `::` is one sign. Comments, strings and
/// characters are left out.
fn tokens(text: &str) -> Vec<(usize, String)> {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let (mut line, mut i) = (1, 0);
    while i < chars.len() {
        let start = i;
        match at(i) {
            '/' if at(i + 1) == '/' => {
                while i < chars.len() && at(i) != '\n' {
                    i += 1;
                }
            }
            '/' if at(i + 1) == '*' => {
                let mut depth = 0;
                loop {
                    let two = (at(i), at(i + 1));
                    depth += i32::from(two == ('/', '*')) - i32::from(two == ('*', '/'));
                    i += if matches!(two, ('/', '*') | ('*', '/')) { 2 } else { 1 };
                    if depth == 0 || i >= chars.len() {
                        break;
                    }
                }
            }
            '"' => {
                i += 1;
                while i < chars.len() && at(i) != '"' {
                    i += if at(i) == '\\' { 2 } else { 1 };
                }
                i += 1;
            }
            // A character, or else a lifetime.
            '\'' if at(i + 1) == '\\' => {
                i += 3;
                while i < chars.len() && at(i) != '\'' {
                    i += 1;
                }
                i += 1;
            }
            '\'' => i += if at(i + 2) == '\'' { 3 } else { 1 },
            c if is_word(c) => {
                while is_word(at(i)) {
                    i += 1;
                }
                let word: String = chars[start..i].iter().collect();
                let mut hashes = 0;
                while at(i + hashes) == '#' {
                    hashes += 1;
                }
                if matches!(word.as_str(), "r" | "br" | "cr") && at(i + hashes) == '"' {
                    i += hashes + 1;
                    let closes = |i: usize| at(i) == '"' && (1..=hashes).all(|k| at(i + k) == '#');
                    while i < chars.len() && !closes(i) {
                        i += 1;
                    }
                    i += hashes + 1;
                } else {
                    tokens.push((line, word));
                }
            }
            ':' if at(i + 1) == ':' => {
                tokens.push((line, "::".to_owned()));
                i += 2;
            }
            c => {
                if !c.is_whitespace() {
                    tokens.push((line, c.to_string()));
                }
                i += 1;
            }
        }
        line += chars[start..i.min(chars.len())].iter().filter(|&&c| c == '\n').count();
    }
    tokens
}

mod tests {
    use super::{SourceFile, faults, paths};

    fn found(module: &str, text: &str) -> Vec<String> {
        let module: Vec<String> = module.split("::").map(str::to_owned).collect();
        let paths = paths(&module, text);
        paths.iter().map(|(line, path)| format!("{line} {}", path.join("::"))).collect()
    }

    #[test]
    fn paths_are_found_wherever_they_stand() {
        for (module, text, expected) in [
            ("a", "use crate::b::C;", &["1 b::C"][..]),
            (
                "a",
                "use crate::{\n b::{C, d::*},\n e as f,\n g::{self, H as I}};",
                &["2 b::C", "2 b::d", "3 e", "4 g", "4 g::H"],
            ),
            (
                "a::b",
                "use super::c::D; use super::super::E; use self::f::G;",
                &["1 a::c::D", "1 E", "1 a::b::f::G"],
            ),
            (
                "a",
                "mod x { use super::B; mod y { use super::super::C; } }\nuse super::d;",
                &["1 a::B", "1 a::C", "2 d"],
            ),
            (
                "a",
                "pub(crate) fn f(&self) -> crate::b::C<'_> { crate::d::g::<u8>('\"') }",
                &["1 b::C", "1 d::g"],
            ),
            (
                "a",
                "// crate::b\n/* crate::c /* */ */ \"crate::d \\\" \" r#\"crate::e\"# crate::f::G",
                &["2 f::G"],
            ),
            (
                "a",
                "#[cfg(test)]\nmod tests { use crate::b; }\n#[cfg(test)]\nuse crate::c;\ncrate::d::E",
                &["5 d::E"],
            ),
            ("a", "#[cfg(unix)]\nmod tests { use crate::b; }", &["2 b"]),
        ] {
            assert_eq!(found(module, text), expected, "{text}");
        }
    }

    fn house(texts: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<SourceFile> = texts
            .iter()
            .map(|(module, text)| SourceFile {
                name: format!("{module}.rs"),
                module: module.split("::").map(str::to_owned).collect(),
                text: (*text).to_owned(),
            })
            .collect();
        faults(&files, &["ground", "first::low", "first", "roof"])
    }

    #[test]
    fn what_runs_down_is_right() {
        let none: [&str; 0] = [];
        assert_eq!(
            house(&[
                ("ground", ""),
                ("first", "use crate::ground::A;"),
                ("first::low", "use crate::ground::{A, B};"),
                ("first::high", "use super::{C, low::D}; use crate::first::E;"),
                ("roof", "use crate::{first::high::F, ground};"),
            ]),
            none
        );
    }

    #[test]
    fn what_runs_up_is_told_with_its_place() {
        for (module, text, expected) in [
            (
                "ground",
                "\nuse crate::{\n    first::A,\n};",
                "ground.rs:3: ground imports crate::first::A from first, a floor above",
            ),
            (
                "first::low",
                "use super::A;",
                "first::low.rs:1: first::low imports crate::first::A from first, a floor above",
            ),
            (
                "first::high",
                "fn f() { super::super::roof::g() }",
                "first::high.rs:1: first imports crate::roof::g from roof, a floor above",
            ),
            ("roof", "use crate::Error;", "roof.rs:1: crate::Error is on no floor"),
            ("shed", "", "shed.rs: is on no floor"),
        ] {
            assert_eq!(house(&[(module, text)]), [expected], "{text}");
        }
    }

    #[test]
    fn circles_are_found() {
        let told = house(&[
            ("roof::a", "use super::b::B;"),
            ("roof::b", "\nuse crate::roof::c::C;"),
            ("roof::c", "use super::a::A;"),
        ]);
        let expected = "a circle: roof::a.rs:1 -> roof::b.rs:2 -> roof::c.rs:1 -> roof::a.rs";
        assert_eq!(told, [expected]);
    }
}
