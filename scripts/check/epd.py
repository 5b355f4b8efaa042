#!/usr/bin/env python3
"""Runs a UCI engine through a test suite of positions in EPD with best moves (bm) or moves to avoid (am).

One thread, a fresh game for each position. Prints the positions that were not solved and the count of
those that were. Needs python-chess (scripts/requirements.txt).

    scripts/check/epd.py suite.epd --engine target/release/cairn --time 1
    scripts/check/epd.py suite.epd --nodes 1000000 --at-least 285
"""

import argparse
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import libraries

chess = libraries.Library("chess", "chess.engine")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("suite", help="the EPD file")
    parser.add_argument("--engine", default="target/release/cairn")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--hash", type=int, default=64, help="MiB")
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument("--time", type=float, default=1.0, help="seconds for each position")
    budget.add_argument("--nodes", type=int, help="nodes for each position instead")
    parser.add_argument("--at-least", type=int, default=0, help="fail if fewer are solved")
    return parser.parse_args()


def positions(path):
    """The positions with a best move or one to avoid: board, best moves, moves to avoid, name."""
    for number, line in enumerate(open(path, encoding="utf-8", errors="replace"), 1):
        fields = line.split(maxsplit=4)
        if len(fields) < 5:
            continue
        board = chess.Board(" ".join(fields[:4]) + " 0 1")
        # Only what is of use here: other operations come in all spellings.
        found = dict(re.findall(r"(?:^|;)\s*(bm|am|id)\s+([^;]+)", fields[4]))
        best, avoid = ([board.parse_san(san) for san in found.get(key, "").split()] for key in ("bm", "am"))
        if best or avoid:
            yield board, best, avoid, found.get("id", f"line {number}").strip('" ')


def main():
    args = arguments()
    libraries.load()
    limit = chess.engine.Limit(nodes=args.nodes) if args.nodes else chess.engine.Limit(time=args.time)
    suite = list(positions(args.suite))
    solved, start = 0, time.perf_counter()
    with chess.engine.SimpleEngine.popen_uci(args.engine, timeout=20) as engine:
        engine.configure({"Hash": args.hash, **dict(option.split("=", 1) for option in args.option)})
        if "Threads" in engine.options:
            engine.configure({"Threads": 1})
        for number, (board, best, avoid, name) in enumerate(suite, 1):
            # A new game for each, so that nothing is left from the one before.
            result = engine.play(board, limit, game=object(), info=chess.engine.INFO_SCORE)
            if result.move not in avoid and (not best or result.move in best):
                solved += 1
                continue
            wanted = [board.san(move) for move in best] or ["not " + board.san(move) for move in avoid]
            score = result.info.get("score")
            print(
                f"{name}: {board.san(result.move)} ({score.relative if score else '?'})"
                f" instead of {' '.join(wanted)}   {board.fen()}   [{solved}/{number}]",
                flush=True,
            )
    seconds = time.perf_counter() - start
    print(f"{solved} of {len(suite)} solved in {seconds:.0f} s")
    return 1 if solved < args.at_least else 0


if __name__ == "__main__":
    sys.exit(main())
