//! The network that style Cairn evaluates with: the one that is built in, or one from a file.

use std::borrow::Cow;
use std::env;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_engine::eval::PackedNetwork;
use cairn_engine::eval::network::LONGEST_FILE;

use crate::protocol::quote;

/// The network of the option `EvalFile`; none for the empty text, which stands for the one that is built in.
///
/// # Errors
/// What is wrong with the file, with its name.
pub fn chosen(path: &str) -> Result<Option<Arc<PackedNetwork>>, String> {
    if path.is_empty() {
        return Ok(None);
    }
    let named = |reason: String| format!("EvalFile '{}': {reason}", quote(path));
    read(&found(Path::new(path))).map(Some).map_err(named)
}

/// The network that plays, if one does: the one that was loaded, or else the one that is built in.
#[must_use]
pub fn playing(loaded: Option<&Arc<PackedNetwork>>) -> Option<Arc<PackedNetwork>> {
    // The build has checked what is built in, so there is no error to tell.
    loaded.cloned().or_else(|| PackedNetwork::built_in().ok().flatten())
}

/// What tells the network that plays from others, in words.
#[must_use]
pub fn identity(loaded: Option<&Arc<PackedNetwork>>) -> String {
    playing(loaded).map_or_else(|| "none".into(), |network| network.identity().to_string())
}

/// Where a file lies: a relative path is looked for in the current folder and then in the program's, as a GUI
/// may start the program anywhere.
fn found(path: &Path) -> Cow<'_, Path> {
    let beside = || -> Option<PathBuf> { Some(env::current_exe().ok()?.parent()?.join(path)) };
    match beside() {
        Some(beside) if !path.exists() && beside.exists() => Cow::Owned(beside),
        _ => Cow::Borrowed(path),
    }
}

/// Reads a file.
fn read(path: &Path) -> Result<Arc<PackedNetwork>, String> {
    let in_words = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string(),
    };
    // Asked before it is opened: a pipe would block for good, and a device may never end.
    let metadata = fs::metadata(path).map_err(in_words)?;
    if metadata.is_dir() {
        return Err("it is a folder".into());
    }
    if !metadata.is_file() {
        return Err("it is no regular file".into());
    }
    let longest = LONGEST_FILE as u64;
    if metadata.len() > longest {
        return Err(format!("{} bytes long, which no network of Cairn is", metadata.len()));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(in_words)?;
    file.take(longest + 1).read_to_end(&mut bytes).map_err(in_words)?;
    PackedNetwork::from_bytes(&bytes).map_err(|error| error.to_string())
}
