#!/usr/bin/env python3
"""Fits the chances that UCI_ShowWDL tells to games that were played: the constants of wdl.rs.

Reads PGN with a score in the comment of each move, as fastchess and cutechess-cli write it. The chance to
win with a score s is 1 / (1 + 2^((CENTRE - s) / SLOPE)), that to lose the same for -s; both constants are
those under which the results were likeliest. This says that both sides are equally strong, so the games have
to be between equals, best one build against itself, with the moves of both sides counted: against others,
the same score would win more often, or less, for what it says nothing of. Games that ended by a fault of an
engine or a loss on time are left out. Needs the libraries of scripts/requirements.txt.

    scripts/match.sh cairn cairn --games 1000
    scripts/wdl.py target/matches/cairn-a-cairn-b-*/games.pgn
"""

from __future__ import annotations

import argparse
import io
import itertools
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import libraries

chess = libraries.Library("chess", "chess.pgn")
np = libraries.Library("numpy")
optimize = libraries.Library("scipy.optimize")

# +0.31/12 0.5s: the score from the view of the side that has moved.
SCORE = re.compile(r"\s*([+-]?\d+\.\d+)/\d+")
# Half points for black and for white.
RESULTS = {"1-0": (0, 2), "0-1": (2, 0), "1/2-1/2": (1, 1)}
# How games end that say something about scores. Without the tag they have ended normally.
SOUND = ("normal", "adjudication")
# Scores beyond are decided and would only cost time.
LARGEST = 1000
BIN = 5

# Constants of the file wdl.rs of the program: from which score on it says no more, and the largest exponent it
# can reckon with.
DECIDED = 1500
LARGEST_EXPONENT = 43

# The smallest share that a result can have in the fit, which takes its logarithm.
LEAST_SHARE = 1e-9

# The smallest constants the fit tries; where it begins.
LEAST_CENTRE, LEAST_SLOPE = 1, 6
START = (120, 60)

# How often a score came to 0, 1 or 2 half points.
Counts = Counter[tuple[int, int]]


class Scores:
    """Collects the scores of a game: who has moved, and centipawns. What a visitor of games does beside the base."""

    def __init__(self) -> None:
        self.tags: dict[str, str] = {}
        self.moves: list[tuple[chess.Color, int]] = []
        self.first = chess.WHITE
        self.plies = 0
        self.unscored = False

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        self.tags[tagname] = tagvalue

    def begin_parse_san(self, board: chess.Board, san: str) -> chess.pgn.SkipType:
        """Counts a move. What it is does not matter, so it is not played: the board stays at the start."""
        self.first = board.turn
        self.plies += 1
        self.unscored = True
        return chess.pgn.SKIP

    def begin_variation(self) -> chess.pgn.SkipType:
        return chess.pgn.SKIP

    def visit_comment(self, comment: str) -> None:
        """Takes the first score behind a move; not every move has one."""
        score = SCORE.match(comment)
        if score and self.unscored:
            mover = self.first if self.plies % 2 else not self.first
            self.moves.append((mover, round(float(score[1]) * 100)))
            self.unscored = False

    def handle_error(self, error: Exception) -> None:
        """A position that is none: the game counts for nothing."""
        self.tags["Result"] = "*"

    def result(self) -> Scores:
        return self


def games(paths: Iterable[str | Path]) -> Iterator[Scores]:
    """Reads games, each beginning with its event by itself: one that was broken off within a comment does not
    take the next one with it."""

    class Visitor(Scores, chess.pgn.BaseVisitor):
        """A visitor whose base is imported only now."""

    def read(lines: list[str]) -> Iterator[Scores]:
        text = io.StringIO("".join(lines))
        while (found := chess.pgn.read_game(text, Visitor=Visitor)) is not None:
            yield found

    for path in paths:
        lines: list[str] = []
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            for line in file:
                if line.startswith("[Event ") and lines:
                    yield from read(lines)
                    lines = []
                lines.append(line)
        yield from read(lines)


def count(paths: Iterable[str | Path], player: str) -> tuple[Counts, int]:
    """How often scores (binned) came to 0, 1 or 2 half points, and in how many games."""
    counts: Counts = Counter()
    number = 0
    for game in games(paths):
        result = RESULTS.get(game.tags.get("Result", "*"))
        sides = [player.lower() in game.tags.get(colour, "").lower() for colour in ("Black", "White")]
        if result is None or not any(sides) or game.tags.get("Termination", "normal") not in SOUND:
            continue
        number += 1
        for mover, score in game.moves:
            value = round(score / BIN) * BIN
            if sides[mover] and abs(value) <= LARGEST:
                counts[value, result[mover]] += 1
    return counts, number


def chance(score, centre: float, slope: float):
    """The chance to win with a score, or with each score of an array, as a share."""
    return 1 / (1 + 2 ** np.clip((centre - score) / slope, -60, 60))


def fit(counts: Counts) -> tuple[int, int]:
    """The likeliest constants: found among all numbers, then the best whole ones beside them."""
    scores, results, times = np.array([(*key, times) for key, times in counts.items()]).T

    def surprise(constants) -> float:
        """The negated logarithm of the likelihood."""
        win, loss = chance(scores, *constants), chance(-scores, *constants)
        share = np.choose(results, (loss, 1 - win - loss, win))
        return -np.sum(times * np.log(np.maximum(share, LEAST_SHARE)))

    bounds = ((LEAST_CENTRE, None), (LEAST_SLOPE, None))
    found = optimize.minimize(surprise, START, method="Nelder-Mead", bounds=bounds)
    centres, slopes = (range(max(int(value) - 1, least), int(value) + 3) for value, (least, _) in zip(found.x, bounds))
    return min(itertools.product(centres, slopes), key=surprise)


def can_be_reckoned(centre: int, slope: int) -> bool:
    """Whether the program can work with constants; it has the same condition and would not compile."""
    return (DECIDED + centre) // slope <= LARGEST_EXPONENT


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("pgn", nargs="+")
    parser.add_argument("--player", default="", help="part of the names whose moves count (all; see above)")
    args = parser.parse_args()
    libraries.load()
    counts, number = count(args.pgn, args.player)
    if not counts:
        print("there is no game with scores of that player", file=sys.stderr)
        return 1
    centre, slope = fit(counts)
    print(f"{number} games, {sum(counts.values())} moves")
    print(f"CENTRE = {centre}, SLOPE = {slope}")
    if not can_be_reckoned(centre, slope):
        print(f"wdl.rs cannot reckon with these: (DECIDED + CENTRE) / SLOPE is more than {LARGEST_EXPONENT}")
    print(f"{'score':>6} {'moves':>6}  won/drawn/lost in permill, and what is said of it")
    for low in range(-400, 401, 100):
        seen = [sum(n for (s, r), n in counts.items() if abs(s - low) < 25 and r == result) for result in (2, 1, 0)]
        if sum(seen):
            real = "/".join(f"{1000 * n / sum(seen):.0f}" for n in seen)
            win, loss = chance(low, centre, slope), chance(-low, centre, slope)
            said = f"{1000 * win:.0f}/{1000 * (1 - win - loss):.0f}/{1000 * loss:.0f}"
            print(f"{low:6} {sum(seen):6}  {real:>12}  {said:>12}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
