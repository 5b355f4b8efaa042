#!/usr/bin/env bash
# Writes scripts/openings.epd, the opening positions of the match scripts.
#
# `cairn genfens` plays 8 random moves from the starting position and keeps what the historical
# search finds playable. Of these, this script keeps each position once, and only if
# style Cairn finds it even after a short search. Both count nodes and know no time: the same seed and
# the same build give the same file on every machine. A later build judges a little differently, so
# the file in the repository, made by the build whose bench is 15678479, stays as it is: results
# remain comparable.
set -euo pipefail

usage() {
    cat <<'END'
scripts/openings.sh [--engine FILE] [--count N] [--seed N] [--nodes N] [--margin CP] [--out FILE]

  --engine FILE   the program that makes and judges positions (target/release/cairn)
  --count N       how many are wanted (800)
  --seed N        what the random moves depend on (1)
  --nodes N       nodes of the search that judges each position (200000)
  --margin CP     the worst score that counts as even, in centipawns (30)
  --out FILE      the file that is written (scripts/openings.epd)
END
}

root=$(cd "$(dirname "$0")/.." && pwd)
engine=$root/target/release/cairn
out=$root/scripts/openings.epd
count=800 seed=1 nodes=200000 margin=30

while [ $# -gt 0 ]; do
    case $1 in
        --help | -h) usage && exit ;;
        --engine | --count | --seed | --nodes | --margin | --out)
            [ $# -ge 2 ] || { echo "$1 needs a value" >&2 && exit 2; }
            declare "${1#--}=$2"
            shift 2
            ;;
        *) echo "openings.sh does not know '$1'; --help shows what it knows" >&2 && exit 2 ;;
    esac
done
[ -x "$engine" ] || { echo "$engine is missing: cargo build --release makes it" >&2 && exit 2; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# About half of them are even, so three times as many are made as are wanted.
echo "making $((3 * count)) positions"
"$engine" "genfens $((3 * count)) seed $seed book None" |
    sed 's/^info string genfens //' | awk '!known[$1 $2 $3]++' >"$folder/made"

# As arguments each command is carried out to its end.
commands=("setoption name Style value Cairn")
while read -r fen; do
    commands+=(ucinewgame "position fen $fen" "go nodes $nodes")
done <"$folder/made"

# The last score before each answer, beside the position it belongs to.
"$engine" "${commands[@]}" | awk -v margin="$margin" -v count="$count" -v made="$folder/made" '
    / score / { for (i = 1; i < NF; i++) if ($i == "score") { kind = $(i + 1); score = $(i + 2) } }
    /^bestmove/ {
        getline fen < made
        split(fen, field, " ")
        judged++
        if (kind == "cp" && score <= margin && -score <= margin && kept < count) {
            kept++
            print field[1], field[2], field[3], field[4]
        }
        if (judged % 200 == 0) print judged " judged, " kept " kept" > "/dev/stderr"
    }' >"$folder/kept"

kept=$(wc -l <"$folder/kept")
[ "$kept" -eq "$count" ] || { echo "only $kept of $count: try another seed" >&2 && exit 1; }
mv "$folder/kept" "$out"
echo "$out: $kept positions, $(wc -c <"$out") bytes"
