#!/usr/bin/env python3
"""Measures what the figures of UCI_Elo are worth, in games against the opponents of scripts/opponents.csv.

Each figure plays the opponents whose ratings are near, and the next higher figure, at one clock, of which
the opponents need most. From all games a rating is fitted to each figure, with the opponents at the ratings
of the table. Error bars are 95 % and know nothing of errors in the opponents' ratings. Matches are kept
in the folder of --out, and go on where they were when the same command is given again.

    scripts/levels.py --figures 800,1200,1600,2000,2400,2800 --games 60 --tc 1+0.01
"""

from __future__ import annotations

import argparse
import math
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
