#!/usr/bin/env bash
# Builds the program for other systems and checks that it behaves there as it does here. See usage below.
set -euo pipefail

usage() {
    cat <<'END'
scripts/check/ports.sh [--tests] [windows] [arm]

Builds the program for Windows and for Linux on AArch64 (both, if none is named), and runs it under Wine and
QEMU. What has to be the same as in the build for this machine: the node count of bench, perft, all lines of a
search for people and for programs, an analysis of a game, endgame tables, repeatable threads, a game that the
program plays itself, and a logged session, which is replayed there and the other way round.
After `quit` the program has to end with exit code 0, also while its input stays open. --tests runs the tests of
both packages there as well; those that measure time need a quiet machine. Needs Linux on x86-64 and, on Debian:

    apt install gcc-mingw-w64-x86-64-win32 wine64 gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static

and the standard library for these targets: `rustup target add` gets it. Where that fails it is built from its
sources, with Debian's rustc-web, cargo-web and rust-web-src. All runs at low priority; a build takes minutes.
END
}

here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
renice -n 19 $$ >/dev/null

tests=
ports=()
for word in "$@"; do
    case $word in
        --help | -h) usage && exit ;;
        --tests) tests=1 ;;
        windows | arm) ports+=("$word") ;;
        *) usage >&2 && exit 2 ;;
    esac
done
[ ${#ports[@]} -gt 0 ] || ports=(windows arm)

# Every program that is missing is named, not only the first one.
missing=()
needs() { command -v "$1" >/dev/null || missing+=("$2"); }
for port in "${ports[@]}"; do
    case $port in
        windows)
            needs x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64-win32
            needs wine wine64
            ;;
        arm)
            needs aarch64-linux-gnu-gcc "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
            needs qemu-aarch64-static qemu-user-static
            ;;
    esac
done
needs cargo "cargo (or https://rustup.rs)"
needs python3 python3
if [ ${#missing[@]} -gt 0 ]; then
    printf 'ports.sh: missing: %s\n' "${missing[*]}" >&2
    exit 2
fi

place=$PWD/target/ports
mkdir -p "$place"
export WINEPREFIX=$place/wine WINEDEBUG=-all
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64-static -L /usr/aarch64-linux-gnu"
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=wine

step() { printf '\n== %s\n' "$*"; }

# Runs cargo for a target with its standard library from rustup, or built from its sources.
cargo_for() { # TARGET ARGUMENTS...
    local target=$1
    shift
    if [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ] || rustup target add "$target" 2>/dev/null; then
        cargo "$@" --target "$target"
    elif [ -d "$(/usr/bin/rustc --print sysroot 2>/dev/null)/lib/rustlib/src" ]; then
        RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 /usr/bin/cargo "$@" -Zbuild-std=std,panic_unwind --target "$target"
    else
        echo "ports.sh: no standard library for $target: rustup target add $target, or Debian's rust-web-src" >&2
        exit 2
    fi
}

# Rust's standard library takes random numbers from a system library that Wine has only had since version 8.6.
provide_random_numbers() { # FOLDER
    wineboot --init
    [ -e "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" ] && return
    x86_64-w64-mingw32-gcc -shared -x c -o "$1/bcryptprimitives.dll" - -ladvapi32 <<'END'
#include <windows.h>
#include <ntsecapi.h>
BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return RtlGenRandom(data, (ULONG)size); }
END
}

# What a search has found. Progress lines, one each second, have no score; bounds are told only once it takes long,
# and after one the last line is told again.
searched() {
    grep -E ' score |bestmove' | grep -Ev ' (lower|upper)bound ' | sed -E 's/ (time|nps) [0-9]+//g' | uniq
}

# What has to be the same everywhere. What depends on the machine is taken out.
behaviour() { # COMMAND...
    "$@" bench | sed 's/ [0-9]* nps//'
    "$@" perft 5 | grep -v nodes/s
    "$@" perft 4 "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1" | grep -v nodes/s
    "$@" eval
    "$@" "setoption name Style value MicroMax" "position startpos moves e2e4" "go nodes 100000" | searched
    "$@" "genfens 20 seed 3 book None"
    # Tables are mapped; several threads wait for each other.
    "$@" "setoption name SyzygyPath value $tables" "position fen 8/8/8/8/8/4k3/4P3/4K3 w - - 0 1" \
        "go depth 12" | searched
    "$@" "setoption name Threads value 3" "setoption name Deterministic value true" "go nodes 100000" | searched
    "$@" analyze game.pgn --nodes 5000 --jobs 2 --multipv 2 --option "SyzygyPath=$tables"
    rm -f part.jsonl
    head -n 3 whole.jsonl >part.jsonl
    # What somebody else has begun is gone on with.
    "$@" analyze game.pgn --nodes 5000 --resume part.jsonl --option "SyzygyPath=$tables"
    cmp part.jsonl whole.jsonl
    rm -f games.bin games.bin.*
    "$@" datagen games.bin --games 6 --nodes 200 --seed 5 --threads 2 >/dev/null
    # The same games under the same numbers, whatever the system.
    cksum games.bin
    "$@" perft nonsense 2>&1 || echo "exit code $?"
}

# Plays a session that is logged: searches that end by themselves, by the clock and by `stop`.
session() { # LOG COMMAND...
    python3 - "$@" <<'END'
import subprocess, sys, time

log, *command = sys.argv[1:]
lines = f"""setoption name Debug Log File value {log}
setoption name MultiPV value 2
position startpos moves e2e4 c7c5
go nodes 200000
setoption name MultiPV value 1
ucinewgame
position fen 8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1
go movetime 700
go depth 10
go infinite
quit"""
program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def send(line):
    program.stdin.write(line.encode() + b"\n")
    program.stdin.flush()


for line in lines.splitlines():
    send(line)
    if line == "go infinite":
        time.sleep(0.5)
        send("stop")
    if line.startswith("go"):
        while not program.stdout.readline().startswith(b"bestmove"):
            pass
program.wait(30)
END
}

# Ends the program by `quit` with its input left open, as a GUI does, and looks at the exit codes. Now and then
# Wine kills a program half a second after its end, with signal 9: Wine ends the other threads by a signal,
# which may meet one of them while it holds a lock of the C library (of the Unix side, which no Windows program
# can hold itself), and then waits for this lock. Seen at 2 to 4 of 100 ends, whether or not the program had
# waited for its other threads, and more seldom with a program of twenty lines.
quit_often() { # KILLS-ALLOWED COMMAND...
    python3 - "$@" <<'END'
import collections, signal, subprocess, sys, time

RUNS = 40
allowed, command = int(sys.argv[1]), sys.argv[2:]
codes, slowest = collections.Counter(), 0.0
for _ in range(RUNS):
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    program.stdin.write(b"uci\nposition startpos\ngo nodes 5000\n")
    program.stdin.flush()
    for line in program.stdout:
        if line.startswith(b"bestmove"):
            break
    start = time.monotonic()
    program.stdin.write(b"quit\n")
    program.stdin.flush()
    codes[program.wait(30)] += 1
    slowest = max(slowest, time.monotonic() - start)
print(f"{RUNS} times quit: exit codes {dict(codes)}, the slowest took {slowest:.2f} s")
killed = codes.pop(-signal.SIGKILL, 0)
sys.exit(killed > allowed or set(codes) != {0})
END
}

# All builds name the same commit, which analyses tell, even if there is another one meanwhile.
CAIRN_COMMIT=$(git rev-parse HEAD)
export CAIRN_COMMIT
step "the build for this machine"
cargo build --release --locked -p cairn
native=$PWD/target/release/cairn
tables=$PWD/tests/data/syzygy
cd "$place"
cat >game.pgn <<'END'
[Event "ends in a table"]
[SetUp "1"]
[FEN "8/2k5/8/3p4/8/2K5/4R3/8 w - - 0 1"]

1. Kd4 Kd6 2. Re5 Kc6 3. Rxd5 Kb6 4. Rc5 *
END
"$native" analyze game.pgn --nodes 5000 --option "SyzygyPath=$tables" >whole.jsonl
behaviour "$native" >native.txt
session native.log "$native"

for port in "${ports[@]}"; do
    step "$port: build"
    cd "$here/../.."
    case $port in
        windows)
            target=x86_64-pc-windows-gnu
            folder=$PWD/target/$target/release
            run=(wine "$folder/cairn.exe")
            kills=6
            cargo_for $target build --release --locked -p cairn
            provide_random_numbers "$folder"
            ;;
        arm)
            target=aarch64-unknown-linux-gnu
            folder=$PWD/target/$target/release
            kills=0
            run=(qemu-aarch64-static -L /usr/aarch64-linux-gnu "$folder/cairn")
            cargo_for $target build --release --locked -p cairn
            ;;
    esac

    step "$port: bench, perft, searches, wrong commands"
    cd "$place"
    behaviour "${run[@]}" | tr -d '\r' >"$port.txt"
    diff native.txt "$port.txt"
    grep " nodes$" "$port.txt" | tail -n 1

    step "$port: a dialogue, line by line"
    "$here/builds.py" "$native" "${run[*]}" --nodes 200000

    step "$port: a log from here replayed there, and the other way round"
    "${run[@]}" replay native.log
    session "$port.log" "${run[@]}"
    "$native" replay "$port.log"

    step "$port: quit"
    quit_often "$kills" "${run[@]}"

    if [ -n "$tests" ]; then
        step "$port: tests"
        cd "$here/../.."
        # The programs of the tests lie in other folders.
        for place_of_tests in "${folder%/*}/checked" "${folder%/*}/checked/deps"; do
            mkdir -p "$place_of_tests"
            [ ! -e "$folder/bcryptprimitives.dll" ] || cp "$folder/bcryptprimitives.dll" "$place_of_tests/"
        done
        cargo_for $target test --profile checked --locked -p cairn-engine -p cairn
    fi
done
step "all the same"
