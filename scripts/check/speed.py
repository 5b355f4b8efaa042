#!/usr/bin/env python3
"""Compares how fast two engines search, in nodes per second, with one thread each.

Both search each position in turns, so that whatever else the machine does meets both alike. The ratio of a
position is the median of its rounds, and the ratio of the run the median of the positions: above 1, A is
the faster. What counts as a node is every engine's own affair. Engines are named as for match.sh. Needs the
package `chess` (pip install chess).

    scripts/check/speed.py cairn toga2
    scripts/check/speed.py target/new target/old --seconds 0.5 --rounds 9
"""

import argparse
import statistics
import sys
from pathlib import Path

import chess
import chess.engine

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import arena

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


def set_up(running, options, mebibytes):
    """One thread, the hash table and what else the engine is told; what is told last holds."""
    threads = {"Threads": 1} if "Threads" in running.options else {}
    running.configure({**threads, "Hash": mebibytes, **dict(options)})


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
    """The ratio of each position."""
    ratios = []
    for fen in fens:
        board = chess.Board(fen)
        rounds = [[speed(engine, board, args.seconds) for engine in engines] for _ in range(args.rounds)]
        ratios.append(statistics.median(a / b for a, b in rounds))
        a, b = (statistics.median(side) / 1e6 for side in zip(*rounds))
        print(f"{ratios[-1]:.2f}   {a:.2f} and {b:.2f} million nodes/s   {fen}", flush=True)
    return ratios


def main():
    args = arguments()
    running = []
    try:
        fens = read_positions(args.positions) if args.positions else POSITIONS
        if not fens or args.rounds < 1 or args.seconds <= 0:
            raise arena.Trouble("there is nothing to measure")
        for text, options in ((args.a, args.option_a), (args.b, args.option_b)):
            engine = arena.find_engine(text, options=options)
            if engine.protocol != "uci":
                raise arena.Trouble(f"{engine.name} does not speak UCI")
            running.append(chess.engine.SimpleEngine.popen_uci(list(engine.command), timeout=20))
            set_up(running[-1], engine.options, args.hash)
        ratios = compare(running, fens, args)
    except (arena.Trouble, chess.engine.EngineError, ValueError, OSError) as trouble:
        print(f"speed.py: {trouble}", file=sys.stderr)
        return 2
    finally:
        for engine in running:
            engine.close()
    ratio = statistics.median(ratios)
    print(
        f"{args.a} beside {args.b}, {len(ratios)} positions, {args.rounds} rounds of {args.seconds} s:"
        f" median {ratio:.2f} (geometric mean {statistics.geometric_mean(ratios):.2f},"
        f" {min(ratios):.2f} to {max(ratios):.2f})"
    )
    return 1 if ratio < args.at_least else 0


if __name__ == "__main__":
    sys.exit(main())
