#!/usr/bin/env python3
"""Fits the chances that UCI_ShowWDL tells to games that were played: the constants of uci/src/session/wdl.rs.

Reads PGN with a score in the comment of each move, as fastchess and cutechess-cli write it. The chance to
win with a score s is 1 / (1 + 2^((CENTRE - s) / SLOPE)), that to lose the same for -s; both constants are
those under which the results were likeliest. This says that both sides are equally strong, so the games have
to be between equals, best one build against itself, with the moves of both sides counted: against others,
the same score would win more often, or less, for what it says nothing of. Games that ended by a fault of an
engine or a loss on time are left out.

    scripts/match.sh cairn cairn --games 1000
    scripts/wdl.py target/matches/cairn-a-cairn-b-*/games.pgn
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

TAG = re.compile(r'^\[(\w+) "(.*)"\]$')
# {+0.31/12 0.5s}: the score from the view of the side that has moved.
SCORE = re.compile(r"\{\s*([+-]?\d+\.\d+)/\d+")
# What the text of a game consists of: comments, numbers of moves, which may stand close to the move, and words.
TOKEN = re.compile(r"\{[^}]*\}|\d+\.+|[^\s{]+")
RESULTS = {"1-0": (2, 0), "0-1": (0, 2), "1/2-1/2": (1, 1)}
# How games end that say something about scores. Without the tag they have ended normally.
SOUND = ("normal", "adjudication")
# Scores beyond are decided and would only cost time.
LARGEST = 1000
BIN = 5

# Constants of uci/src/session/wdl.rs: from which score on it says no more, and the largest exponent it can reckon with.
DECIDED = 1500
LARGEST_EXPONENT = 43

# How often a score came to 0, 1 or 2 half points.
Counts = Counter[tuple[int, int]]


def games(paths: Iterable[str | Path]) -> Iterator[tuple[dict[str, str], str]]:
    """Yields the tags and the text of each game."""
    for path in paths:
        tags: dict[str, str] = {}
        text: list[str] = []
        in_comment = False
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                line = line.strip()
                tag = TAG.match(line)
                # In a comment that spans lines, what looks like a tag is none, unless a new game begins because
                # the one before was broken off.
                if tag and in_comment and tag[1] != "Event":
                    tag = None
                if tag and text:
                    yield tags, " ".join(text)
                    tags, text, in_comment = {}, [], False
                if tag:
                    tags[tag[1]] = tag[2]
                elif line:
                    text.append(line)
                    in_comment = ends_in_comment(line, in_comment)
        if text:
            yield tags, " ".join(text)


def ends_in_comment(line: str, in_comment: bool) -> bool:
    """Whether a comment is open behind a line. Comments do not nest."""
    for sign in line:
        if sign == ("}" if in_comment else "{"):
            in_comment = not in_comment
    return in_comment


def scores(text: str, side: int) -> Iterator[tuple[int, int]]:
    """The moves of a game that have a score: the side that has moved (0 for white) and centipawns."""
    mover = None
    for token in TOKEN.findall(text):
        if token.startswith("{"):
            score = SCORE.match(token)
            if score and mover is not None:
                yield mover, round(float(score[1]) * 100)
                # Another comment on the same move is no second move.
                mover = None
        # Whatever is no number, sign ($1) or result is a move; not every move has a comment.
        elif not token.rstrip(".").isdigit() and not token.startswith("$") and token not in (*RESULTS, "*"):
            mover, side = side, 1 - side


def count(paths: Iterable[str | Path], player: str) -> tuple[Counts, int]:
    """How often scores (binned) came to 0, 1 or 2 half points, and in how many games."""
    counts: Counts = Counter()
    number = 0
    for tags, text in games(paths):
        result = RESULTS.get(tags.get("Result", "*"))
        sides = [player.lower() in tags.get(colour, "").lower() for colour in ("White", "Black")]
        if result is None or not any(sides) or tags.get("Termination", "normal") not in SOUND:
            continue
        number += 1
        for side, score in scores(text, 1 if tags.get("FEN", "").split()[1:2] == ["b"] else 0):
            value = round(score / BIN) * BIN
            if sides[side] and abs(value) <= LARGEST:
                counts[value, result[side]] += 1
    return counts, number


def chance(score: int, centre: int, slope: int) -> float:
    """The chance to win, as a share."""
    return 1 / (1 + 2 ** min(60, max(-60, (centre - score) / slope)))


def surprise(counts: Counts, centre: int, slope: int) -> float:
    """The negated logarithm of the likelihood."""
    total = 0.0
    for (score, result), times in counts.items():
        win, loss = chance(score, centre, slope), chance(-score, centre, slope)
        share = (loss, max(1 - win - loss, 1e-9), win)[result]
        total -= times * math.log(max(share, 1e-9))
    return total


def fit(counts: Counts) -> tuple[int, int]:
    """The likeliest constants: a grid that is refined around its best point."""
    best, step = (120, 60), 32
    while step >= 1:
        around = [
            (centre, slope)
            for centre in (best[0] - step, best[0], best[0] + step)
            for slope in (best[1] - step, best[1], best[1] + step)
            if slope > 5 and centre > 0
        ]
        better = min(around, key=lambda constants: surprise(counts, *constants))
        if better == best:
            step //= 2
        best = better
    return best


def can_be_reckoned(centre: int, slope: int) -> bool:
    """Whether uci/src/session/wdl.rs can work with constants; it has the same condition and would not compile."""
    return (DECIDED + centre) // slope <= LARGEST_EXPONENT


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("pgn", nargs="+")
    parser.add_argument("--player", default="", help="part of the names whose moves count (all; see above)")
    args = parser.parse_args()
    counts, number = count(args.pgn, args.player)
    if not counts:
        print("there is no game with scores of that player", file=sys.stderr)
        return 1
    centre, slope = fit(counts)
    print(f"{number} games, {sum(counts.values())} moves")
    print(f"CENTRE = {centre}, SLOPE = {slope}")
    if not can_be_reckoned(centre, slope):
        print(f"uci/src/session/wdl.rs cannot reckon with these: (DECIDED + CENTRE) / SLOPE is more than {LARGEST_EXPONENT}")
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
