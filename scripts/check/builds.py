#!/usr/bin/env python3
"""Checks that builds search alike: the same nodes, scores and moves for the same limits in each program,
and again in the same program after ucinewgame, with the positions in reverse order. With --instruction-sets
also the first program with every set of vector instructions that this machine has, the others with the least
and the best one, and each one's whole bench.

    scripts/check/builds.py target/release/cairn target/checked/cairn --nodes 1000000
"""

import argparse
import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import sys

POSITIONS = (
    "startpos",
    "fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "fen r1b2rk1/pp1nqppp/2pbpn2/3p4/2PP4/2NBPN2/PPQ2PPP/R1B2RK1 w - - 6 9",
    "fen 8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
)

# What depends on the machine: everything else has to be the same.
MACHINE = re.compile(r" (?:time|nps) \d+")


# The names that CAIRN_SIMD takes; scalar code runs everywhere.
SETS = ("scalar", "neon", "avx2", "avx512")


def environment(instructions):
    """The environment in which a program uses these instructions; None leaves the choice to it."""
    others = {name: value for name, value in os.environ.items() if name != "CAIRN_SIMD"}
    return others | ({"CAIRN_SIMD": instructions} if instructions else {})


def available(program):
    """The instruction sets that the program can use here. Ends this script if it does not obey."""
    found = []
    for name in SETS:
        command = [*shlex.split(program), "--version"]
        answer = subprocess.run(command, capture_output=True, text=True, env=environment(name))
        if answer.returncode == 2 and f"does not have {name}" in answer.stderr:
            continue
        if f"searches with {name}\n" not in answer.stdout:
            raise SystemExit(f"{program} does not search with {name}: {answer.stdout}{answer.stderr}")
        found.append(name)
    if "scalar" not in found:
        raise SystemExit(f"{program} has no scalar code")
    return found


def bench(program, instructions):
    """The node count of the whole bench."""
    command = [*shlex.split(program), "bench"]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment(instructions))
    return int(answer.stdout.splitlines()[-1].split()[0])


def search_all(program, instructions, args):
    """What the program says of each position, info lines and the best move, in the first and in the second pass."""
    process = subprocess.Popen(
        shlex.split(program),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
        env=environment(instructions),
    )

    def send(line):
        try:
            process.stdin.write(line + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            raise SystemExit(f"{program} has ended before '{line}'") from None

    def search(position):
        send("ucinewgame")
        send(f"position {position}")
        send(f"go nodes {args.nodes}")
        lines = []
        for line in process.stdout:
            # Bounds are told only once a search takes long, which depends on the machine, and after one the last
            # line is told again.
            if line.startswith("bestmove") or re.match(r"info depth (?!.* (?:lower|upper)bound ).* pv ", line):
                line = MACHINE.sub("", line.strip())
                if lines[-1:] != [line]:
                    lines.append(line)
            if line.startswith("bestmove"):
                return lines
        raise SystemExit(f"{program} ended in the middle of {position}")

    send(f"setoption name Hash value {args.hash}")
    for option in args.option:
        name, value = option.split("=", 1)
        send(f"setoption name {name} value {value}")
    first = [search(position) for position in POSITIONS]
    # In another order, so that each follows another one: what ucinewgame has left behind shows.
    second = [search(position) for position in reversed(POSITIONS)]
    send("quit")
    process.wait(10)
    return first, second[::-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("programs", nargs="+", help="builds of the program, or commands that run them; the first is what the others are held to")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--hash", type=int, default=16, help="MiB")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--instruction-sets", action="store_true", help="with each set of vector instructions, and the bench")
    args = parser.parse_args()
    for program in args.programs:
        command = shlex.split(program)
        if not command or not shutil.which(command[0]):
            parser.error(f"there is no program '{program}'")
    for option in args.option:
        if "=" not in option:
            parser.error(f"--option is written NAME=VALUE, not '{option}'")
    runs = [(program, None) for program in args.programs]
    if args.instruction_sets:
        sets = [available(program) for program in args.programs]
        # All of them in the first program; the others take long and have the least and the best.
        runs = [(args.programs[0], name) for name in sets[0]]
        runs += [(program, name) for program, names in zip(args.programs[1:], sets[1:]) for name in sorted({names[0], names[-1]})]
    # Side by side: nothing here is a matter of time.
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
    found = list(pool.map(lambda run: search_all(*run, args), runs))
    names = [f"{program} with {instructions}" if instructions else program for program, instructions in runs]
    expected, _ = found[0]
    wrong = 0
    for program, passes in zip(names, found):
        for when, answers in zip(("", " after other games"), passes):
            for position, wanted, lines in zip(POSITIONS, expected, answers):
                if wanted == lines:
                    continue
                wrong += 1
                a, b = next(((a, b) for a, b in zip(wanted, lines) if a != b), (wanted[-1], lines[-1]))
                print(f"{program}, {position}{when}:\n  {b}\ninstead of\n  {a}")
    count = sum(map(len, expected))
    print(f"{len(found)} ways to run it, {count} lines each, searched twice: {wrong} positions differ")
    if args.instruction_sets:
        counts = list(pool.map(lambda run: bench(*run), runs))
        for program, nodes in zip(names, counts):
            print(f"{program}: bench {nodes}")
        wrong += len(set(counts)) - 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
