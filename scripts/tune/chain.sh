#!/usr/bin/env bash
# Makes the square tables from nothing: bare material plays itself, tables are fitted to its games,
# those play themselves, and so on. The same sources make the same tables, bit for bit.
#
#   scripts/tune/chain.sh [FOLDER] [THREADS]
#
# Games are kept in FOLDER (default target/tune), and a chain that was broken off goes on where it
# was. About an hour for the two generations on two cores.
set -euo pipefail
cd "$(dirname "$0")/../.."

[ "${1:-}" != --help ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '/^set/d'; exit 0; }
folder=${1:-target/tune}
threads=${2:-2}
weights=engine/src/eval/weights.rs
mkdir -p "$folder"

# generation  games  nodes a move  seed
generations="0 5000 2500 1
1 10000 2500 2"

cargo build --release -p tune
cp target/release/tune "$folder/tune"
"$folder/tune" bare "$weights"
while read -r generation games nodes seed; do
    printf '== generation %s: %s games at %s nodes\n' "$generation" "$games" "$nodes"
    cargo build --release -p cairn
    cp target/release/cairn "$folder/player"
    "$folder/player" datagen "$folder/games$generation.bin" \
        --games "$games" --nodes "$nodes" --seed "$seed" --threads "$threads"
    "$folder/tune" fit "$weights" "$folder/games$generation.bin"
done <<<"$generations"
