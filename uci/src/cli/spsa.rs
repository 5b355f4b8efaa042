//! `cairn spsa`: the parameters of the search as OpenBench tunes them.

use std::fmt::Write as _;

use anyhow::anyhow;
use cairn_engine::params;

use super::Failure;
use super::output::print;

/// List the parameters of the search as OpenBench tunes them (feature 'tune')
#[derive(clap::Args)]
pub(super) struct Arguments {}

/// Prints a line `name, int, value, min, max, c_end, r_end` for each parameter. The step at the end is a
/// twentieth of the range, at least a half, and the learning rate is OpenBench's usual one.
pub(super) fn run(_: &Arguments) -> Result<(), Failure> {
    if !cfg!(feature = "tune") {
        return Err(anyhow!(
            "the parameters of this build are fixed; one that can be tuned is made with \
             'cargo build --release -p cairn --features tune'"
        )
        .into());
    }
    let mut text = String::new();
    for param in params::ALL {
        let step = (f64::from(param.max - param.min) / 20.0).max(0.5);
        let (name, value, min, max) = (param.name, param.default, param.min, param.max);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name}, int, {value}, {min}, {max}, {step}, 0.002");
    }
    print(&text)
}
