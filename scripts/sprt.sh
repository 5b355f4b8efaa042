#!/usr/bin/env bash
# Tests the working tree against a commit: builds both, each in its own place, and plays until the
# test has decided. See usage below.
set -euo pipefail

usage() {
    cat <<'END'
scripts/sprt.sh [COMMIT] [OPTIONS OF match.sh]

Builds the working tree and COMMIT (HEAD) apart from each other under target/sprt, and plays the first
against the second at 1+0.01 until a test has decided between 0 and 10 Elo, for 4000 games at most. All
options of match.sh can be given and take precedence: --tc 8+0.08 --elo1 5. A test that was broken off goes
on when it is started again with the same sources.
END
}

commit=HEAD
case ${1-} in
    --help | -h) usage && exit ;;
    -* | '') ;;
    *) commit=$1 && shift ;;
esac

here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.."
base=$(git rev-parse --short=10 --verify --quiet "$commit^{commit}") || {
    echo "sprt.sh: there is no commit '$commit'" >&2
    exit 2
}
place=$PWD/target/sprt
mkdir -p "$place"

# The engines get names of their own, so that later builds do not change a match that is played.
build() { # FOLDER TARGET NAME
    echo "building $3"
    cargo build --release --locked --quiet -p cairn --manifest-path "$1/Cargo.toml" --target-dir "$2"
}

old=$place/cairn-$base
if [ ! -x "$old" ]; then
    tree=$place/tree
    git worktree remove --force "$tree" 2>/dev/null || rm -rf "$tree"
    git worktree add --quiet --force --detach "$tree" "$base"
    build "$tree" "$place/build-base" "$base"
    git worktree remove --force "$tree"
    cp "$place/build-base/release/cairn" "$old"
fi

build . "$place/build-new" "the working tree"
sum=$(sha256sum "$place/build-new/release/cairn")
new=$place/cairn-new-${sum:0:10}
cp "$place/build-new/release/cairn" "$new"

exec "$here/match.sh" "$new" "$old" --name-a new --name-b "$base" --option-a Style=Cairn --option-b Style=Cairn \
    --tc 1+0.01 --elo0 0 --elo1 10 --games 4000 "$@"
