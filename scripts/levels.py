#!/usr/bin/env python3
"""Measures what the figures of UCI_Elo are worth, in games against the opponents of scripts/opponents.csv.

Each figure plays the opponents whose ratings are near, and the next higher figure, at one clock, of which
the opponents need most. From all games a rating is fitted to each figure, with the opponents at the ratings
of the table. Error bars are 95 % and know nothing of errors in the opponents' ratings. Matches are kept
in the folder of --out, and go on where they were when the same command is given again. At the end stands
the table for uci/src/level.rs with which each figure would play as strongly as it says.

    scripts/levels.py --figures 800,1200,1600,2000,2400 --games 60 --tc 1+0.01
"""

from __future__ import annotations

import argparse
import bisect
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import arena
from ladder import ELO_PER_LOGIT, FIT_STEPS

# An opponent is near if its rating differs by no more.
NEAR = 450

# One that says itself how strong it is measures nothing.
NO_ANCHOR = "UCI_Elo"

# A draw between two figures that were not played keeps the fit from running away where all games were won.
PRIOR_GAMES = 1.0

LEVEL_SOURCE = arena.ROOT / "uci/src/level.rs"

Game = tuple[str, str, arena.Tally]


def fit(results: Sequence[Game], anchors: dict[str, float]) -> dict[str, tuple[float, float]]:
    """The likeliest ratings of all who are no anchors, by Newton's method, and half of their 95 % intervals."""
    names = sorted({name for a, b, _ in results for name in (a, b) if name not in anchors})
    index = {name: number for number, name in enumerate(names)}
    start = sum(anchors.values()) / len(anchors)
    values = [start] * len(names)
    information: list[list[float]] = []
    for _ in range(FIT_STEPS):
        surplus = [0.0] * len(names)
        information = [[0.0] * len(names) for _ in names]
        for a, b, tally in results:
            rating = {name: anchors.get(name, values[index[name]] if name in index else 0.0) for name in (a, b)}
            expected = arena.score_of(rating[a] - rating[b])
            games = tally.games + PRIOR_GAMES
            points = tally.score * tally.games + PRIOR_GAMES / 2
            weight = games * expected * (1.0 - expected)
            for one, sign in ((a, 1.0), (b, -1.0)):
                if one in index:
                    surplus[index[one]] += sign * (points - games * expected)
                    information[index[one]][index[one]] += weight
            if a in index and b in index:
                information[index[a]][index[b]] -= weight
                information[index[b]][index[a]] -= weight
        steps = solve(information, surplus)
        values = [value + max(-200.0, min(200.0, ELO_PER_LOGIT * step)) for value, step in zip(values, steps)]
        if max(map(abs, steps)) < 1e-6:
            break
    errors = []
    for number in range(len(names)):
        unit = [float(number == other) for other in range(len(names))]
        variance = solve(information, unit)[number]
        errors.append(arena.ERROR_BAR * ELO_PER_LOGIT * math.sqrt(variance))
    return {name: (values[index[name]], errors[index[name]]) for name in names}


def solve(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """The solution of a few linear equations, by elimination."""
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for column in range(len(rows)):
        pivot = max(range(column, len(rows)), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(len(rows)):
            if row != column:
                factor = rows[row][column] / rows[column][column]
                rows[row] = [value - factor * above for value, above in zip(rows[row], rows[column])]
    return [row[-1] / row[number] for number, row in enumerate(rows)]


def read_levels() -> tuple[int, int, list[tuple[int, int]]]:
    """The first figure of uci/src/level.rs, the step from one to the next, and their nodes and attention."""
    text = LEVEL_SOURCE.read_text()
    first, step = (int(re.search(rf"const {name}: u32 = (\d+);", text)[1]) for name in ("MIN_ELO", "STEP"))
    table = re.search(r"const LEVELS: .*?= \[(.*?)\];", text, re.DOTALL)[1]
    rows = re.findall(r"\(([\d_]+), (\d+)\)", table)
    return first, step, [(int(nodes.replace("_", "")), int(attention)) for nodes, attention in rows]


def table_for(ratings: Sequence[tuple[int, float]]) -> list[tuple[int, int, int]]:
    """Figures with the nodes and attention that stand for them, if figures as they are now have these ratings."""
    first, step, levels = read_levels()
    # What is measured as weaker than a lower figure says nothing that could be used.
    climbing = [ratings[0]]
    for figure, rating in ratings[1:]:
        if rating > climbing[-1][1]:
            climbing.append((figure, rating))
    values = [rating for _, rating in climbing]
    rows = []
    for wanted in range(math.ceil(values[0] / step) * step, math.floor(values[-1] / step) * step + 1, step):
        above = min(max(bisect.bisect_right(values, wanted), 1), len(values) - 1)
        (low, low_rating), (high, high_rating) = climbing[above - 1], climbing[above]
        figure = low + (high - low) * (wanted - low_rating) / (high_rating - low_rating)
        place = min(max((figure - first) / step, 0.0), len(levels) - 1.000001)
        (nodes, attention), (more_nodes, more_attention) = levels[int(place)], levels[int(place) + 1]
        part = place % 1
        rows.append((
            wanted,
            round(nodes * (more_nodes / nodes) ** part),
            round(attention + (more_attention - attention) * part),
        ))
    return rows


def find_anchors(args: argparse.Namespace) -> dict[str, tuple[arena.Engine, int]]:
    """The opponents that are installed and have a rating of their own."""
    commands = dict(arena.parse_option(text) for text in args.opponent)
    anchors = {}
    for opponent in arena.read_opponents().values():
        engine = arena.find_opponent(opponent, commands.get(opponent.name))
        rated_by_itself = any(name == NO_ANCHOR for name, _ in opponent.options)
        if engine and opponent.rating is not None and not rated_by_itself:
            anchors[opponent.name] = (engine, opponent.rating)
    return anchors


def level(args: argparse.Namespace, figure: int) -> arena.Engine:
    options = ["UCI_LimitStrength=true", f"UCI_Elo={figure}"]
    return arena.find_engine(args.engine, f"Cairn-{figure}", options)


def run_levels(arguments: Sequence[str]) -> int:
    args = parse_arguments(arguments)
    figures = sorted(int(figure) for figure in args.figures.split(","))
    anchors = find_anchors(args)
    if not anchors:
        raise arena.Trouble("no opponent with a rating is installed")
    pairings: list[tuple[arena.Engine, arena.Engine]] = []
    for number, figure in enumerate(figures):
        us = level(args, figure)
        pairings += [(us, engine) for engine, rating in anchors.values() if abs(rating - figure) <= NEAR]
        if number + 1 < len(figures):
            pairings.append((us, level(args, figures[number + 1])))
    results: list[Game] = []
    for number, (a, b) in enumerate(pairings, 1):
        print(f"{number}/{len(pairings)}: {a.name} - {b.name}, {args.tc}, {args.games} games", flush=True)
        match = arena.match_of(args, a, b)
        outcome = arena.play(match, fresh=args.fresh)
        if outcome.broken_off:
            print("broken off; the same command goes on with it")
            return 130
        print(f"{outcome.tally}\n{arena.describe_faults(match, outcome)}", flush=True)
        if outcome.fresh and not args.no_record:
            how = f" ({Path(match.tool).name}, {a.name} - {b.name})"
            arena.record(arena.without_places(["scripts/levels.py", *arguments]) + how, outcome.tally)
        results.append((a.name, b.name, outcome.tally))
    ratings = fit(results, {name: float(rating) for name, (_, rating) in anchors.items()})
    for figure in figures:
        value, error = ratings[f"Cairn-{figure}"]
        print(f"UCI_Elo {figure}: {value:.0f} +/- {error:.0f}")
    for wanted, nodes, attention in table_for([(figure, ratings[f"Cairn-{figure}"][0]) for figure in figures]):
        print(f"    ({nodes}, {attention}), // {wanted}")
    return 0


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arena.add_match_options(parser, tc="1+0.01", games=60)
    parser.add_argument("--figures", default="800,1200,1600,2000,2400", help="values of UCI_Elo (%(default)s)")
    parser.add_argument("--engine", default="cairn", help="the program that is measured (target/release/cairn)")
    parser.add_argument(
        "--opponent", action="append", default=[], metavar="NAME=CMD", help="where an opponent is; repeatable"
    )
    parser.add_argument("--out", type=Path, default=arena.ROOT / "target/levels", help="the folder for all")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(arena.guarded(run_levels, sys.argv[1:]))
