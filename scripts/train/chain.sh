#!/usr/bin/env bash
# Makes the networks from nothing but the sources: the square tables play themselves, a network learns from
# their games, plays itself, and so on. Games are played by the program of one commit and learned from by the
# trainer of one, so that all networks are the same, bit for bit, whatever has been changed since.
#
#   scripts/train/chain.sh FOLDER [THREADS]    all of it; the last network replaces engine/src/eval/cairn.net
#   scripts/train/chain.sh --small FOLDER      the same steps with tiny numbers and the program of the working
#                                              tree, in two minutes on two cores; replaces nothing
#
# Everything is kept in FOLDER, and a chain that was broken off goes on where it was: games and trainings
# go on by themselves, and what is there already is not made again.
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() { sed -n '2,/^set/s/^# \{0,1\}//p' scripts/train/chain.sh; }
refuse() {
    printf 'chain.sh: %s\n\n' "$1" >&2
    usage >&2
    exit 2
}
small=
[ "${1:-}" != --small ] || { small=yes; shift; }
case ${1:-} in
    -h | --help) usage; exit ;;
    -*) refuse "there is no option $1" ;;
    '') refuse "it needs a folder" ;;
esac
[ $# -le 2 ] || refuse "it takes a folder and a number of threads"
[[ ${2:-1} =~ ^[1-9][0-9]*$ ]] || refuse "the number of threads is from 1 up, not $2"
mkdir -p "$1"
folder=$(cd "$1" && pwd)
threads=${2:-2}

# generation  player  trainer  games  settings of the games  settings of the training
# Player and trainer are commits, or "here" for the working tree. The player plays with the network of the
# generation before, that of generation 1 with what its sources have: square tables. A network learns from the
# games of all generations up to its own.
if [ "$small" ]; then
    profile=checked
    generations="1 here here 300 --nodes 100 --seed 1 : --hidden 8 --epochs 12 --batch 256 --lr 0.01 --validation-share 0.1
2 here here 200 --nodes 100 --seed 2 : --hidden 8 --epochs 12 --batch 256 --lr 0.01 --validation-share 0.1"
else
    profile=release
    generations="1 64e5033e398cdf0719ba30def8ff5bcb7c23db07 784bfa6f6445f4644523e844ebc3caf41e11d734 75125 --nodes 1500 --seed 20261122 : --hidden 128 --epochs 40 --lr-end 1e-6
2 230a916838d322a5f0c3de71c66a7802200629a9 b5f0e4c149c4a87249333014cf500c71fa941b9e 42710 --nodes 500 --seed 3 : --hidden 128 --epochs 40 --lr-end 1e-6"
fi

# Builds a package of a commit, with a network in it if there is that one, and keeps its program under a name.
build() {
    local package=$1 commit=$2 network=$3 kept=$folder/$4 tree=$PWD
    [ ! -e "$kept" ] || return 0
    if [ "$commit" != here ]; then
        tree=$folder/tree
        # In the other tree HEAD is something else.
        commit=$(git rev-parse --verify "$commit^{commit}")
        [ -e "$tree" ] || git worktree add --force --detach "$tree" "$commit"
        git -C "$tree" checkout --quiet --force "$commit"
    fi
    [ -e "$network" ] || network=
    # Games need no fast program where they are few.
    [ -z "$small" ] || export CARGO_PROFILE_CHECKED_OPT_LEVEL=1
    (cd "$tree" && EVALFILE=$network CARGO_TARGET_DIR=$folder/build cargo build --profile "$profile" -p "$package")
    cp "$folder/build/$profile/$package" "$kept.new"
    mv "$kept.new" "$kept"
}

shopt -s nullglob
files=()
while read -r generation player trainer games settings; do
    printf '== generation %s\n' "$generation"
    data=$folder/games$generation.bin
    read -ra play <<<"${settings%:*}"
    read -ra fit <<<"${settings#*:}"
    build cairn "$player" "$folder/net$((generation - 1)).net" "player$generation"
    build train "$trainer" "" "train$generation"
    if [ ! -e "$data.done" ]; then
        "$folder/player$generation" datagen "$data" --games "$games" --threads "$threads" "${play[@]}"
        touch "$data.done"
    fi
    files+=("$data" "$data".[0-9][0-9][0-9])
    network=$folder/net$generation.net
    train=$folder/train$generation
    [ -e "$network" ] || "$train" fit --out "$network" --generation "$generation" "${fit[@]}" \
        --threads "$threads" --resume --games "${files[@]}"
    "$train" check "$network"
done <<<"$generations"
[ ! -e "$folder/tree" ] || git worktree remove --force "$folder/tree"
if [ -z "$small" ]; then
    cp "$network" engine/src/eval/cairn.net
    exit
fi

# The network has learned something, and what was made is what plays: the scores are others.
value() { "$train" check "$network" | sed -n "s/^$1: //p"; }
queen=$(($(value "a queen up") - $(value "start position")))
scores() { "$folder/player$1" go nodes 2000 | awk '{ print $3 }'; }
if [ "$queen" -lt 100 ] || [ "$(scores 1)" = "$(scores 2)" ]; then
    printf 'a queen up is worth %s centipawns; scores of the players:\n%s\n%s\n' "$queen" "$(scores 1)" "$(scores 2)"
    exit 1
fi
printf '== all steps were made: a queen up is worth %s centipawns\n' "$queen"
