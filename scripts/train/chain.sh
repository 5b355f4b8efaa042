#!/usr/bin/env bash
# Makes the networks from nothing but the sources: the square tables play themselves, a network learns from
# their games, plays itself, and so on. Games are played by the program of one commit, so that they are the
# same, bit for bit, whatever has been changed since; the training is that of the working tree.
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

# generation  player  games  settings of the games  settings of the training
# A player is a commit, or "here" for the working tree; HEAD stays what it is when the player is built. It
# plays with the network of the generation before, that of generation 1 with what its sources have: square
# tables. A network learns from the games of all generations up to its own.
if [ "$small" ]; then
    profile=checked
    generations="1 here 300 --nodes 100 --seed 1 : --hidden 8 --epochs 12 --batch 256 --lr 0.01 --validation-share 0.1
2 here 200 --nodes 100 --seed 2 : --hidden 8 --epochs 12 --batch 256 --lr 0.01 --validation-share 0.1"
else
    profile=release
    generations="1 64e5033e398cdf0719ba30def8ff5bcb7c23db07 75125 --nodes 1500 --seed 20261122 : --hidden 128 --epochs 40 --lr-end 1e-6"
fi

# Builds the player of a generation, with the network of the one before in it if there is one.
build_player() {
    local generation=$1 commit=$2 tree=$PWD network=$folder/net$(($1 - 1)).net
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
    (cd "$tree" && EVALFILE=$network CARGO_TARGET_DIR=$folder/build cargo build --profile "$profile" -p cairn)
    cp "$folder/build/$profile/cairn" "$folder/player$generation.new"
    mv "$folder/player$generation.new" "$folder/player$generation"
}

shopt -s nullglob
train=$folder/train
if [ ! -e "$train" ]; then
    cargo build --profile "$profile" -p train
    # A copy, so that a build in the same folder does not change a chain that runs.
    cp "${CARGO_TARGET_DIR:-target}/$profile/train" "$train.new"
    mv "$train.new" "$train"
fi
files=()
while read -r generation player games settings; do
    printf '== generation %s\n' "$generation"
    data=$folder/games$generation.bin
    read -ra play <<<"${settings%:*}"
    read -ra fit <<<"${settings#*:}"
    [ -e "$folder/player$generation" ] || build_player "$generation" "$player"
    if [ ! -e "$data.done" ]; then
        "$folder/player$generation" datagen "$data" --games "$games" --threads "$threads" "${play[@]}"
        touch "$data.done"
    fi
    files+=("$data" "$data".[0-9][0-9][0-9])
    network=$folder/net$generation.net
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
