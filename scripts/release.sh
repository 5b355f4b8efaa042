#!/usr/bin/env bash
# Makes an archive of the program to give away, with a checksum. See usage below.
set -euo pipefail

usage() {
    cat <<'END'
scripts/release.sh [TARGET]

Builds the program for TARGET (this machine, if none is named: x86_64-pc-windows-msvc, aarch64-apple-darwin and
so on), checks that `bench` counts the nodes that the last commit to change it has announced, and packs it with
README and LICENSE into target/release-archives: a zip for Windows, a tar.gz for all others, and beside it a
.sha256 that `sha256sum -c` (`shasum -a 256 -c`) reads. It runs on Linux, macOS and in Git Bash on Windows.

A program for another kind of machine is run by what RUNNER says: RUNNER="qemu-aarch64-static -L
/usr/aarch64-linux-gnu", or RUNNER=none for no bench. The program finds out itself which vector instructions
there are, so one for each kind of processor is enough.
END
}

host=$(rustc -vV | sed -n 's/^host: //p')
target=$host
case ${1-} in
    --help | -h) usage && exit ;;
    -*) usage >&2 && exit 2 ;;
    ?*) target=$1 ;;
esac
cd "$(dirname "$0")/.."

case $target in
    # Linked in, so that nobody has to install the C library of Visual Studio first.
    *-windows-msvc) export RUSTFLAGS="${RUSTFLAGS-} -C target-feature=+crt-static" ;;
esac
case $target in
    *-windows-*) program=cairn.exe packing=zip ;;
    *) program=cairn packing=tar.gz ;;
esac

echo "building for $target"
cargo build --release --locked -p cairn --target "$target"
built=target/$target/release/$program

if [ "${RUNNER-}" != none ]; then
    announced=$(git log --format=%B | grep -oE '^Bench: [0-9]+' | sed -n '1s/Bench: //p')
    # shellcheck disable=SC2086 # RUNNER is a command with its arguments.
    counted=$(${RUNNER-} "$built" bench | tail -n 1 | cut -d' ' -f1)
    echo "bench: counted $counted, announced ${announced:-nothing}"
    [ "$counted" = "$announced" ]
fi

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
name=cairn-$version-$target
place=target/release-archives
rm -rf "${place:?}/$name" "$place/$name.$packing"*
mkdir -p "$place/$name"
cp "$built" README.md LICENSE "$place/$name/"
cd "$place"
if [ "$packing" = zip ]; then
    python=$(command -v python3 || command -v python)
    "$python" -m zipfile -c "$name.zip" "$name"
else
    tar -czf "$name.tar.gz" "$name"
fi
rm -r "$name"
if command -v sha256sum >/dev/null; then
    sha256sum "$name.$packing" >"$name.$packing.sha256"
else
    shasum -a 256 "$name.$packing" >"$name.$packing.sha256"
fi
cat "$name.$packing.sha256"
