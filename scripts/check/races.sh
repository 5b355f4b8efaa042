#!/usr/bin/env bash
# Runs the tests of the search on several threads under ThreadSanitizer, which reports every data race. The
# standard library is built anew for it. Needs Linux on x86-64 or AArch64 and a nightly toolchain with its sources:
#
#     rustup toolchain install nightly --component rust-src
#
#     scripts/check/races.sh [TEST...]
#
# runs all tests of tests/threads.rs, or those that are named. Takes minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."

host=$(rustc -vV | sed -n 's/^host: //p')
rustc +nightly --version >/dev/null 2>&1 || {
    echo "races.sh: no nightly toolchain: rustup toolchain install nightly --component rust-src" >&2
    exit 2
}
[ -d "$(rustc +nightly --print sysroot)/lib/rustlib/src/rust/library" ] || {
    echo "races.sh: the nightly toolchain has no sources: rustup +nightly component add rust-src" >&2
    exit 2
}
export RUSTFLAGS="-Zsanitizer=thread" TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS:-}"
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
cargo +nightly test -Zbuild-std --release --target "$host" --target-dir target/races --locked \
    -p cairn-engine --test threads -- --test-threads 1 "$@"
