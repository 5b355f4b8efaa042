//! The network that style Cairn evaluates with: the one that is built in, or one from a file.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use cairn_engine::eval::PackedNetwork;
use cairn_engine::eval::network::LONGEST_FILE;

use crate::protocol::quote;
use crate::session::files::FilePath;

/// The network of the option `EvalFile`; none for the empty path, which stands for the one that is built in.
///
/// # Errors
/// What is wrong with the file, with its name.
pub fn chosen(path: &mut FilePath) -> Result<Option<Arc<PackedNetwork>>, String> {
    if path.is_empty() {
        return Ok(None);
    }
    read(path).map(Some).map_err(|reason| format!("EvalFile '{}': {reason}", quote(path.text())))
}

/// Reads a file.
fn read(path: &mut FilePath) -> Result<Arc<PackedNetwork>, String> {
    let in_words = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string(),
    };
    let bytes = path.load(LONGEST_FILE as u64).map_err(in_words)?;
    PackedNetwork::from_bytes(&bytes).map_err(|error| error.to_string())
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
