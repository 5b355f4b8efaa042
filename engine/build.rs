//! Finds the network that is built in: the file that the environment variable `EVALFILE` names, from the
//! repository's root on, or else `src/eval/cairn.net`. One that is damaged or missing ends the build. With
//! `EVALFILE=none`, or without it and `cairn.net`, none is built in, which is told: then the tables play.

#[path = "src/eval/network_file.rs"]
#[allow(dead_code, unreachable_pub, reason = "the engine uses all of it")]
mod network_file;

use std::path::{Path, PathBuf};
use std::{env, fs};

use network_file::Network;

fn main() {
    println!("cargo::rerun-if-env-changed=EVALFILE");
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let own = package.join("src/eval/cairn.net");
    println!("cargo::rerun-if-changed={}", own.display());
    let named = env::var_os("EVALFILE").filter(|name| !name.is_empty());
    let path = match named {
        Some(name) if name != "none" => {
            let path = package.join("..").join(name);
            println!("cargo::rerun-if-changed={}", path.display());
            path
        }
        None if own.exists() => own,
        _ => {
            println!("cargo::warning=no network is built in: the square tables play");
            let none = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo")).join("none");
            fs::write(&none, []).expect("cargo's folder can be written to");
            println!("cargo::rustc-env=CAIRN_NETWORK={}", none.display());
            return;
        }
    };
    if let Err(error) = check(&path) {
        println!("cargo::error=the network {} can't be built in: {error}", path.display());
    }
    println!("cargo::rustc-env=CAIRN_NETWORK={}", path.display());
}

/// Whether a file is a network, to its last byte: read by the same code that reads it in the program.
fn check(path: &Path) -> Result<(), String> {
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    Network::from_bytes(&bytes).map(|_| ()).map_err(|error| error.to_string())
}
