#!/usr/bin/env python3
"""Compares how fast two engines search, in nodes per second, with one thread each.

Both search each position in turns, so that whatever else the machine does meets both alike. The ratio of a
position is the median of its rounds, and the ratio of the run the median of the positions: above 1, A is
the faster. Where the file of a program happens to lie in memory makes up to 6 % between it and its own copy:
for small differences have each round begin with new copies. What counts as a node is every engine's own
affair. Engines are named as for match.sh. Needs python-chess (scripts/requirements.txt).

    scripts/check/speed.py cairn toga2
    scripts/check/speed.py target/new target/old --copies --seconds 0.1 --rounds 20
"""

import argparse
import contextlib
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import arena
import libraries

chess = libraries.Library("chess", "chess.engine")

# From games of the engine against itself: openings, middlegames, endgames.
POSITIONS = (
    "r1b2rk1/1p1pppb1/1q2n1p1/p1p3Bp/P1P1P1nP/2NP1N2/1PK1QPP1/4RB1R w - - 5 13",
    "r1b1k2r/ppp3b1/3pnn2/4ppq1/2P1P2p/2N4P/PP1N1PP1/R1BQKB1R w KQkq - 1 13",
    "rr4k1/p2qbppp/3Npn2/2Pp4/Pp3B2/3Q1P2/2P2PPP/R3K2R w Q - 6 17",
    "2rq1rk1/1p2bppp/2p1b3/p2pB3/P2P4/6PP/1PQ1PPB1/R2R2K1 w - - 3 17",
    "2r2b1r/6p1/p1k2P2/1p3p1p/2p4P/2N3P1/PP3P2/R1BB2K1 w - - 2 21",
    "r2q1rk1/1p2bpp1/p3p3/P3P2p/2P2P2/3BpR2/1P2Q1PP/R5K1 b - - 0 25",
    "7r/2p1nk2/1p5p/p2pp3/R3P3/1P6/P1P1QP1q/1K4R1 w - - 1 25",
    "r5k1/6pp/P1b5/R7/8/3p1NKP/4r1P1/R7 w - - 3 33",
    "5r2/2k2p2/p2p4/P1pP4/7P/5PP1/8/2R2K2 b - - 0 33",
    "8/8/4p1k1/1n1pB2p/1P1PpPP1/2P5/2r2P2/R4K2 w - - 0 41",
    "8/3n4/bpR1pk2/p2p2p1/P2P2P1/1P3P2/3N1N1r/4K3 w - - 5 50",
    "Q7/6k1/2r2p2/2p1n2p/1pP1P3/p3P2K/P7/8 b - - 0 60",
)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("a", metavar="A", help="the engine whose speed is told ...")
    parser.add_argument("b", metavar="B", help="... beside this one's")
    parser.add_argument("--seconds", type=float, default=0.7, help="for each search")
    parser.add_argument("--rounds", type=int, default=5, help="searches of each position by each engine")
    parser.add_argument("--copies", action="store_true", help="begin each round with new copies of both programs")
    parser.add_argument("--hash", type=int, default=64, help="MiB")
    parser.add_argument("--option-a", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--option-b", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--positions", help="a file with a FEN or EPD on each line, instead of the built-in twelve")
    parser.add_argument("--at-least", type=float, default=0.0, help="fail if the ratio is less")
    return parser.parse_args()


def read_positions(path):
    """The positions of a file; what stands behind the first four fields is of no account."""
    lines = [line.split() for line in Path(path).read_text().splitlines()]
    return [" ".join(fields[:4]) + " 0 1" for fields in lines if len(fields) >= 4]


def start(stack, engine, mebibytes, folder):
    """Runs an engine, or a copy of it in a folder: one thread, the hash table and what else it is told."""
    command = list(engine.command)
    if folder:
        command[0] = shutil.copy(command[0], tempfile.mkdtemp(dir=folder))
    running = stack.enter_context(chess.engine.SimpleEngine.popen_uci(command, timeout=20))
    threads = {"Threads": 1} if "Threads" in running.options else {}
    # What is told last holds.
    running.configure({**threads, "Hash": mebibytes, **dict(engine.options)})
    return running


def speed(engine, board, seconds):
    """Nodes per second of one search, in a game of its own."""
    info = engine.analyse(board, chess.engine.Limit(time=seconds), game=object())
    name = engine.id.get("name", "an engine")
    if "nodes" not in info or "time" not in info:
        raise arena.Trouble(f"{name} does not tell its nodes and time")
    if not info["nodes"] or not info["time"]:
        raise arena.Trouble(f"{name} has told of no search that took any time: --seconds should be more")
    return info["nodes"] / info["time"]


def compare(engines, fens, args):
    """The speeds of both engines in each position, a pair for each round."""
    speeds = [[] for _ in fens]
    for number in range(args.rounds):
        progress = f"round {number + 1} of {args.rounds}"
        print(progress, end="\r", file=sys.stderr, flush=True)
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory()) if args.copies else None
            running = [start(stack, engine, args.hash, folder) for engine in engines]
            for pairs, fen in zip(speeds, fens):
                board = chess.Board(fen)
                pairs.append([speed(engine, board, args.seconds) for engine in running])
    print(" " * len(progress), end="\r", file=sys.stderr, flush=True)
    return speeds


def main():
    args = arguments()
    libraries.load()
    try:
        fens = read_positions(args.positions) if args.positions else POSITIONS
        if not fens or args.rounds < 1 or args.seconds <= 0:
            raise arena.Trouble("there is nothing to measure")
        engines = [arena.find_engine(args.a, options=args.option_a), arena.find_engine(args.b, options=args.option_b)]
        for engine in engines:
            if engine.protocol != "uci":
                raise arena.Trouble(f"{engine.name} does not speak UCI")
        speeds = compare(engines, fens, args)
    except (arena.Trouble, chess.engine.EngineError, ValueError, OSError) as trouble:
        print(f"speed.py: {trouble}", file=sys.stderr)
        return 2
    ratios = [statistics.median(a / b for a, b in pairs) for pairs in speeds]
    for ratio, pairs, fen in zip(ratios, speeds, fens):
        a, b = (statistics.median(side) / 1e6 for side in zip(*pairs))
        print(f"{ratio:.2f}   {a:.2f} and {b:.2f} million nodes/s   {fen}")
    ratio = statistics.median(ratios)
    print(
        f"{args.a} beside {args.b}, {len(ratios)} positions, {args.rounds} rounds of {args.seconds} s:"
        f" median {ratio:.2f} (geometric mean {statistics.geometric_mean(ratios):.2f},"
        f" {min(ratios):.2f} to {max(ratios):.2f})"
    )
    return 1 if ratio < args.at_least else 0


if __name__ == "__main__":
    sys.exit(main())
