//! Which build this is: version, commit and instruction sets.

use std::sync::LazyLock;

use cairn_engine::InstructionSet;

/// The commit that the program was built from; empty where that is not known.
const COMMIT: &str = env!("CAIRN_COMMIT");

/// The version in one line, after the program's name.
pub(super) fn short() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| match COMMIT {
        "" => env!("CARGO_PKG_VERSION").to_owned(),
        commit => format!("{} ({commit})", env!("CARGO_PKG_VERSION")),
    });
    &TEXT
}

/// The same with the instructions that the program was compiled for, and those that its search uses on
/// this processor.
pub(super) fn long() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let used = InstructionSet::chosen();
        format!("{}\ncompiled for {}\nsearches with {used}", short(), compiled_for())
    });
    &TEXT
}

/// The instruction set that the compiler was allowed to use everywhere.
fn compiled_for() -> &'static str {
    const V2: bool = cfg!(all(target_feature = "sse4.2", target_feature = "popcnt"));
    const V3: bool = cfg!(all(
        target_feature = "avx2",
        target_feature = "bmi1",
        target_feature = "bmi2",
        target_feature = "fma",
        target_feature = "lzcnt"
    ));
    const V4: bool = cfg!(all(
        target_feature = "avx512f",
        target_feature = "avx512bw",
        target_feature = "avx512cd",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ));
    match std::env::consts::ARCH {
        "x86_64" if V4 && V3 && V2 => "x86-64-v4",
        "x86_64" if V3 && V2 => "x86-64-v3",
        "x86_64" if V2 => "x86-64-v2",
        "x86_64" => "x86-64",
        other => other,
    }
}
