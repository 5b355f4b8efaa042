#!/usr/bin/env bash
# Makes the square tables from nothing: bare material plays itself, tables are fitted to its games,
# those play themselves, and so on. The games are played by the search of one commit, so that they
# are the same, bit for bit, whatever has been changed since. The fit itself is that of the working
# tree, with the terms of its evaluation: a change to these changes the tables.
#
#   scripts/tune/chain.sh [FOLDER] [THREADS]
#
# Everything is kept in FOLDER (default target/chain), and a chain that was broken off goes on where
# it was; games of another player, or by other settings, are other files. The result replaces
# engine/src/eval/weights.rs. About 45 minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")/../.."

[ "${1:-}" != --help ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '/^set/d'; exit 0; }
mkdir -p "${1:-target/chain}"
folder=$(cd "${1:-target/chain}" && pwd)
threads=${2:-2}
weights=engine/src/eval/weights.rs

# Whose search plays.
player=4a05f18c67f56bcdf52fb4c914fd6630c5381b77
# generation  games  nodes a move  seed  generations fitted to
generations="0 2000 1000 1 0
1 6000 1000 2 1
2 10000 1200 3 1 2
3 16000 1500 4 2 3"

tree=$folder/tree
[ -e "$tree" ] || git worktree add --force --detach "$tree" "$player"
git -C "$tree" checkout --quiet --force "$player"
# A copy, so that a build in the same folder does not change a chain that runs.
cargo build --release -p tune --target-dir "$folder/fit-build"
tune=$folder/fit
cp "$folder/fit-build/release/tune" "$tune"
"$tune" bare "$tree/$weights"
# The data file of each generation.
data=()
while read -r generation games nodes seed fitted; do
    printf '== generation %s: %s games at %s nodes\n' "$generation" "$games" "$nodes"
    # datagen goes on with any file by its number of games alone: all else that they depend on is in the name.
    digest=$(sha256sum "$tree/$weights")
    data[generation]=$folder/games$generation-${player:0:7}-$nodes-$seed-${digest:0:8}.bin
    (cd "$tree" && CARGO_TARGET_DIR=$folder/build cargo build --release -p cairn)
    "$folder/build/release/cairn" datagen "${data[generation]}" \
        --games "$games" --nodes "$nodes" --seed "$seed" --threads "$threads"
    files=()
    for number in $fitted; do files+=("${data[number]}"); done
    "$tune" fit "$tree/$weights" "${files[@]}"
done <<<"$generations"
cp "$tree/$weights" "$weights"
git worktree remove --force "$tree"
