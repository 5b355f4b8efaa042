#!/usr/bin/env python3
"""Checks the marks of `cairn annotate`: that python-chess reads them, and that a longer search agrees.

Annotates the first games of a file twice, the second time with a multiple of the nodes. Each game has to be read back
without an error, with the moves that it had, a score behind each but a mate on the board, and legal variations. The
marks `?!`, `?` and `??` of the first run are compared with those of the second, which counts as the truth: how many are
within one class (none, `?!`, `?`, `??`). Needs python-chess (scripts/requirements.txt).

    scripts/check/annotate.py games.pgn --engine target/release/cairn --games 20
"""

import argparse
import io
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import libraries

chess = libraries.Library("chess", "chess.pgn")

# The class of a mark by its annotation, 0 for none; `!` is no fault.
CLASSES = {6: 1, 2: 2, 4: 3}
NAMES = ["none", "?!", "?", "??"]


def read(text):
    games = []
    stream = io.StringIO(text)
    while (game := chess.pgn.read_game(stream)) is not None:
        if game.errors:
            raise AssertionError(f"{game.headers}: {game.errors}")
        games.append(game)
    return games


def moves(game):
    return [node.move for node in game.mainline()]


def annotate(engine, text, options):
    started = time.monotonic()
    found = subprocess.run([engine, "annotate", *options], input=text, capture_output=True, text=True)
    if found.returncode != 0:
        raise AssertionError(f"exit code {found.returncode}: {found.stderr}")
    return read(found.stdout), time.monotonic() - started


def check(before, after):
    if moves(before) != moves(after):
        raise AssertionError("the moves are others")
    for node in after.mainline():
        if node.eval() is None and not node.board().is_checkmate():
            raise AssertionError(f"no score behind {node.san()}")
        marks = [nag for nag in node.nags if nag in (1, 2, 4, 6)]
        if len(marks) > 1:
            raise AssertionError(f"several marks behind {node.san()}: {node.nags}")
        if marks and marks != [1] and len(node.parent.variations) < 2:
            raise AssertionError(f"no better move beside {node.san()}")


def classes(game):
    return [max((CLASSES.get(nag, 0) for nag in node.nags), default=0) for node in game.mainline()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pgn", type=Path, help="games to annotate")
    parser.add_argument("--engine", default="target/release/cairn")
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=500_000)
    parser.add_argument("--times", type=int, default=20, help="how many times the nodes of the longer search; 0 for none")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--agreement", type=float, default=90, help="the least agreement in percent")
    options = parser.parse_args()
    with options.pgn.open(encoding="utf-8") as stream:
        games = []
        while len(games) < options.games and (game := chess.pgn.read_game(stream)) is not None:
            games.append(game)
    pairs, seconds = Counter(), [0.0, 0.0]
    for number, game in enumerate(games, 1):
        runs = []
        for i, factor in enumerate([1, options.times]):
            if factor == 0:
                continue
            limits = ["--nodes", str(options.nodes * factor), "--jobs", str(options.jobs)]
            (annotated,), spent = annotate(options.engine, str(game), limits)
            check(game, annotated)
            runs.append(classes(annotated))
            seconds[i] += spent
        pairs.update(zip(runs[0], runs[-1]))
        marks = sum(count for (short, _), count in pairs.items() if short)
        near = sum(count for (short, long), count in pairs.items() if short and abs(short - long) <= 1)
        print(f"game {number}: {marks} marks, {near} within one class, {seconds[0]:.0f} s and {seconds[1]:.0f} s",
              flush=True)
    if options.times == 0:
        return
    print("short\\long " + "".join(f"{name:>7}" for name in NAMES))
    for short, name in enumerate(NAMES):
        print(f"{name:>10} " + "".join(f"{pairs[short, long]:7}" for long in range(4)))
    missed = sum(count for (short, long), count in pairs.items() if not short and long > 1)
    print(f"mistakes and blunders without a mark in the short search: {missed}")
    if marks and 100 * near < options.agreement * marks:
        sys.exit(f"only {near} of {marks} marks are within one class")


if __name__ == "__main__":
    main()
