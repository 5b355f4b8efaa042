//! Finds the network that is built in: the file that the environment variable `EVALFILE` names, from the
//! repository's root on, or else `src/eval/cairn.net`. Without either none is, and the tables play.

use std::path::{Path, PathBuf};
use std::{env, fs};

const MAGIC: &[u8] = b"CAIRNNN1";

fn main() {
    println!("cargo::rerun-if-env-changed=EVALFILE");
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let own = package.join("src/eval/cairn.net");
    println!("cargo::rerun-if-changed={}", own.display());
    let path = match env::var_os("EVALFILE").filter(|name| !name.is_empty()) {
        Some(name) => {
            let path = package.join("..").join(name);
            println!("cargo::rerun-if-changed={}", path.display());
            if let Err(error) = check(&path) {
                println!("cargo::error=EVALFILE {}: {error}", path.display());
            }
            path
        }
        None if own.exists() => own,
        None => {
            let none = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo")).join("none");
            fs::write(&none, []).expect("cargo's folder can be written to");
            none
        }
    };
    println!("cargo::rustc-env=CAIRN_NETWORK={}", path.display());
}

/// Whether a file can be read and begins as a network; the rest is checked when it is loaded.
fn check(path: &Path) -> Result<(), String> {
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    if bytes.starts_with(MAGIC) { Ok(()) } else { Err("not a network of Cairn".to_owned()) }
}
