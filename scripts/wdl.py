#!/usr/bin/env python3
"""Fits the chances that UCI_ShowWDL tells to games that were played: the constants of uci/src/wdl.rs.

Reads PGN with a score in the comment of each move, as fastchess and cutechess-cli write it, and takes
the moves of the players whose names contain --player. The chance to win with a score s is
1 / (1 + 2^((CENTRE - s) / SLOPE)), that to lose the same for -s; both constants are those under which the
results were likeliest.

    scripts/wdl.py target/matches/*/games.pgn --player cairn
"""

import argparse
import collections
import math
import re
import sys

TAG = re.compile(r'^\[(\w+) "(.*)"\]$')
# {+0.31/12 0.5s}: the score from the view of the side that has moved.
SCORE = re.compile(r"\{\s*([+-]?\d+\.\d+)/\d+")
COMMENT = re.compile(r"\{[^}]*\}")
RESULTS = {"1-0": (2, 0), "0-1": (0, 2), "1/2-1/2": (1, 1)}
# Scores beyond are decided and would only cost time.
LARGEST = 1000
BIN = 5


def games(paths):
    """Yields the tags and the text of each game."""
    for path in paths:
        tags, text = {}, []
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                line = line.strip()
                tag = TAG.match(line)
                if tag and text:
                    yield tags, " ".join(text)
                    tags, text = {}, []
                if tag:
                    tags[tag[1]] = tag[2]
                elif line:
                    text.append(line)
        if text:
            yield tags, " ".join(text)


def count(paths, player):
    """How often a score (binned) came to 0, 1 or 2 half points."""
    counts, number = collections.Counter(), 0
    for tags, text in games(paths):
        result = RESULTS.get(tags.get("Result"))
        sides = [player.lower() in tags.get(colour, "").lower() for colour in ("White", "Black")]
        if result is None or not any(sides):
            continue
        number += 1
        side = 1 if tags.get("FEN", " w").split()[1] == "b" else 0
        for comment in COMMENT.findall(text):
            score = SCORE.match(comment)
            if score and sides[side]:
                value = round(float(score[1]) * 100 / BIN) * BIN
                if abs(value) <= LARGEST:
                    counts[value, result[side]] += 1
            side = 1 - side
    return counts, number


def chance(score, centre, slope):
    return 1 / (1 + 2 ** min(60, max(-60, (centre - score) / slope)))


def surprise(counts, centre, slope):
    """The negated logarithm of the likelihood."""
    total = 0
    for (score, result), times in counts.items():
        win, loss = chance(score, centre, slope), chance(-score, centre, slope)
        share = (loss, max(1 - win - loss, 1e-9), win)[result]
        total -= times * math.log(max(share, 1e-9))
    return total


def fit(counts):
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("pgn", nargs="+")
    parser.add_argument("--player", default="cairn", help="part of the names that count; '' for all")
    args = parser.parse_args()
    counts, number = count(args.pgn, args.player)
    if not counts:
        print("there is no game with scores of that player", file=sys.stderr)
        return 1
    centre, slope = fit(counts)
    print(f"{number} games, {sum(counts.values())} moves")
    print(f"CENTRE = {centre}, SLOPE = {slope}")
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
