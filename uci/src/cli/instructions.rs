//! The environment variable `CAIRN_SIMD`: which vector instructions the search may use.

use std::env;

use anyhow::anyhow;
use cairn_engine::InstructionSet;

use super::{BAD_USAGE, Failure};
use crate::protocol::quote;

/// The name of the variable.
const VARIABLE: &str = "CAIRN_SIMD";

/// Reads the variable, once, before anything else is done. Empty counts as not set.
pub(super) fn force() -> Result<(), Failure> {
    let Some(name) = env::var_os(VARIABLE).filter(|name| !name.is_empty()) else { return Ok(()) };
    let name = name.to_string_lossy();
    name.parse().and_then(InstructionSet::force).map_err(|error| Failure {
        error: anyhow!("{VARIABLE}={}: {error}", quote(&name)),
        code: BAD_USAGE,
        is_usage: false,
    })
}
