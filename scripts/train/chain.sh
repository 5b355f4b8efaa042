#!/usr/bin/env bash
# Makes the networks from nothing but the sources: the square tables play themselves, a network learns from
# their games, plays itself, and so on. Games are played by the program of one commit and learned from by the
# trainer of one, so that all networks are the same, bit for bit, whatever has been changed since; the checksums
# of games and networks are in scripts/train/chain.sha256, and each is compared as soon as it is made.
#
#   scripts/train/chain.sh FOLDER [THREADS]    all of it; the last network replaces engine/src/eval/cairn.net
#   scripts/train/chain.sh --small FOLDER      the same steps with tiny numbers and the program of the working
#                                              tree, in two minutes on two cores; replaces nothing
#   --dry-run before the folder                only shows the commands
#
# Everything is kept in FOLDER, and a chain that was broken off goes on where it was: games and trainings
# go on by themselves, and what is there already is not made again.
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() { sed -n '2,/^set/s/^# \{0,1\}//p' scripts/train/chain.sh; }
fail() {
    printf 'chain.sh: %s\n' "$1" >&2
    exit 1
}
refuse() {
    printf 'chain.sh: %s\n\n' "$1" >&2
    usage >&2
    exit 2
}
small='' dry=''
while :; do
    case ${1:-} in
        --small) small=yes ;;
        --dry-run) dry=yes ;;
        -h | --help) usage; exit ;;
        -*) refuse "there is no option $1" ;;
        '') refuse "it needs a folder" ;;
        *) break ;;
    esac
    shift
done
[ $# -le 2 ] || refuse "it takes a folder and a number of threads"
[[ ${2:-1} =~ ^[1-9][0-9]*$ ]] || refuse "the number of threads is from 1 up, not $2"
mkdir -p "$1"
folder=$(cd "$1" && pwd)
threads=${2:-2}

# set  player  trainer  since  games  settings of the games : settings of the training
# Player and trainer are commits, or "here" for the working tree. The player plays with the last network, at first
# with square tables. A network learns from all games from set SINCE on; where LAST stands in the settings it begins
# with the weights of the last network. A set without settings of a training only adds games, one without games
# only trains. The number of a set is the generation of its network.
if [ "$small" ]; then
    sets="1 here here 1 500 --nodes 100 --seed 1 : --hidden 16 --epochs 20 --batch 64 --lr 0.001 --validation-share 0.1
2a here - - 50 --nodes 50 --seed 2 :
2 here here 2a 200 --nodes 100 --seed 3 : --hidden 16 --epochs 20 --batch 64 --lr 0.001 --validation-share 0.1
3 - here 2a - : --from LAST --hidden 16 --epochs 5 --batch 64 --lr 0.0002 --result-start 0.25 --result-end 0.25 --validation-share 0.1"
else
    sets="1 64e5033e398cdf0719ba30def8ff5bcb7c23db07 784bfa6f6445f4644523e844ebc3caf41e11d734 1 75125 --nodes 1500 --seed 20261122 : --hidden 128 --epochs 40 --lr-end 1e-6
2 230a916838d322a5f0c3de71c66a7802200629a9 b5f0e4c149c4a87249333014cf500c71fa941b9e 1 42710 --nodes 500 --seed 3 : --hidden 128 --epochs 40 --lr-end 1e-6
3a b6619d96d57df17a2982e4bd8d3dc2ebd8dd7c16 - - 96568 --nodes 500 --seed 5 :
3b b6619d96d57df17a2982e4bd8d3dc2ebd8dd7c16 b5f0e4c149c4a87249333014cf500c71fa941b9e 2 192183 --nodes 150 --seed 6 : --hidden 256 --epochs 26 --lr-end 1e-6
3 - b5f0e4c149c4a87249333014cf500c71fa941b9e 2 - : --from LAST --hidden 256 --epochs 6 --lr 0.0002 --lr-end 1e-6 --result-start 0.25 --result-end 0.25"
fi

# Shows a command and runs it.
run() {
    printf '+ %s\n' "$*"
    [ "$dry" ] || "$@"
}

# Two chains in one folder would spoil each other's files. The programs that they run hold the lock as well: they
# may outlive a chain that was killed.
if command -v flock >/dev/null; then
    exec 9>"$folder/lock"
    flock --timeout 10 9 || fail "another chain is at work in $folder"
fi

# Puts the sources of a commit into a folder of their own. Not by a worktree: that would change the repository.
unpack() { # COMMIT FOLDER
    [ ! -e "$2" ] || return 0
    git cat-file -e "$1^{commit}" || fail "the repository has no commit $1: all of its history is needed"
    rm -rf "$2.new"
    mkdir "$2.new"
    git archive "$1" | tar -x -C "$2.new"
    mv "$2.new" "$2"
}

# Builds a package of a commit, with a network in it if one is named, and keeps its program under a name.
build() { # NAME PACKAGE COMMIT [NETWORK]
    local kept=$folder/$1 package=$2 commit=$3 tree=$PWD settings=() which=(-p "$2")
    [ ! -e "$kept" ] || return 0
    # What is not set must not be set to nothing: cargo would build again what the tests have built.
    [ $# -lt 4 ] || settings+=(EVALFILE="$4")
    if [ "$commit" != here ]; then
        tree=$folder/tree-$commit
        run unpack "$commit" "$tree"
        settings+=(CAIRN_COMMIT="$commit")
    else
        # Of all packages, so that the libraries of others are those of the tests.
        which=(--workspace --bin "$package")
    fi
    run env "${settings[@]}" cargo build --quiet --locked --profile "$profile" --manifest-path "$tree/Cargo.toml" "${which[@]}"
    run cp "$target/$profile/$package" "$kept.new"
    run mv "$kept.new" "$kept"
    # Nobody is to take a program with a tiny network for that of the working tree.
    run rm "$target/$profile/$package"
}

# Compares what was made with what was made before, in a chain of all of it.
compare() { # FILE...
    [ -z "$small" ] || return 0
    local sums
    for file in "$@"; do
        sums=$(grep "  ${file##*/}\$" scripts/train/chain.sha256) || fail "chain.sha256 has no ${file##*/}"
        (cd "$folder" && sha256sum --check --quiet <<<"$sums") || fail "$file is not what it was"
    done
}

if [ "$small" ]; then
    # What the tests have built need not be built again.
    profile=checked target=${CARGO_TARGET_DIR:-$PWD/target}
else
    profile=release target=$folder/build
fi
export CARGO_TARGET_DIR=$target

shopt -s nullglob
# The files of all sets, and where those of each begin.
files=()
declare -A begin
network=none
while read -r set player trainer since games settings; do
    printf '== set %s\n' "$set"
    data=$folder/games$set.bin
    read -ra play <<<"${settings%:*}"
    read -ra fit <<<"${settings#*:}"
    if [ "$player" != - ] && [ ! -e "$data.done" ]; then
        build "player$set" cairn "$player" "$network"
        run "$folder/player$set" datagen "$data" --games "$games" --threads "$threads" "${play[@]}"
        run touch "$data.done"
    fi
    parts=()
    [ "$player" = - ] || parts=("$data" "$data".[0-9][0-9][0-9])
    begin[$set]=${#files[@]}
    files+=("${parts[@]}")
    [ "$dry" ] || compare "${parts[@]}"
    [ ${#fit[@]} -gt 0 ] || continue
    fit=("${fit[@]/#LAST/"$network"}")
    network=$folder/net$set.net
    train=$folder/train-$trainer
    build "train-$trainer" train "$trainer"
    [ -e "$network" ] || run "$train" fit --out "$network" --generation "${set%[a-z]}" "${fit[@]}" \
        --threads "$threads" --resume --games "${files[@]:${begin[$since]}}"
    [ "$dry" ] || compare "$network"
    run "$train" check "$network"
done <<<"$sets"
if [ "$dry" ]; then
    exit
elif [ -z "$small" ]; then
    cp "$network" engine/src/eval/cairn.net.new
    mv engine/src/eval/cairn.net.new engine/src/eval/cairn.net
    printf '== engine/src/eval/cairn.net is what the chain has made\n'
    exit
fi

# The network has learned something, and what was made is what plays: the scores are others.
value() { "$train" check "$network" | sed -n "s/^$1: //p"; }
queen=$(($(value "a queen up") - $(value "start position")))
scores() { "$folder/player$1" go nodes 2000 | awk '{ print $3 }'; }
if [ "$queen" -lt 200 ] || [ "$(scores 1)" = "$(scores 2)" ]; then
    printf 'a queen up is worth %s centipawns; scores of the players:\n%s\n%s\n' "$queen" "$(scores 1)" "$(scores 2)"
    exit 1
fi

# The network that ships is the last one of the chain.
ships=$(sha256sum <engine/src/eval/cairn.net | cut -d' ' -f1)
last=$(grep -E '  net[0-9]+\.net$' scripts/train/chain.sha256 | tail -n 1)
[ "$ships" = "${last%% *}" ] || fail "engine/src/eval/cairn.net is not ${last##* } of scripts/train/chain.sha256"
printf '== all steps were made: a queen up is worth %s centipawns\n' "$queen"
