#!/usr/bin/env python3
"""Measures what the figures of UCI_Elo are worth, in games against the opponents of scripts/opponents.csv.

From the strongest figure down, each plays the next stronger one, and then the two opponents whose ratings are
nearest to what its games so far say of it. All games are played at one clock, of which the opponents need
most; where it cuts searches of the levels short too, their table says nothing. From all games a rating is
fitted to each figure, with the opponents at the ratings of the table. Error bars are 95 % and know nothing of
errors in the opponents' ratings. Matches are kept in the folder of --out, and go on where they were when the
same command is given again. At the end stands the table (uci/levels.csv) with which each figure would play as
strongly as it says. Needs the libraries of scripts/requirements.txt.

    scripts/levels.py --figures 800,1100,1400,1700,2000,2300,2600 --games 60
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import arena
import libraries

from ladder import ELO_PER_LOGIT

np = libraries.Library("numpy")
optimize = libraries.Library("scipy.optimize")
special = libraries.Library("scipy.special")

# How many opponents a figure meets, and how far off they may be.
OPPONENTS = 2
NEAR = 450

# One that says itself how strong it is measures nothing.
NO_ANCHOR = "UCI_Elo"

# The historical style is an opponent as well: what micro-Max is worth at 0.1 to 1 million nodes.
MICROMAX = "MicroMax"
MICROMAX_RATING = 1500

# A share of a game, drawn, that is added to each match: it keeps the fit from running away where all games
# were won, and is too small to bend it elsewhere.
PRIOR_GAMES = 0.2

# The table of levels, which the program is built with, and its columns.
LEVELS = arena.ROOT / "uci/levels.csv"
COLUMNS = ("elo", "nodes", "quiet_percent")

# How small the slope of the likelihood is when the fit has ended, in games.
FIT_PRECISION = 1e-8

Game = tuple[str, str, arena.Tally]
Rating = tuple[float, float]
Level = tuple[int, int, int]


def fit(results: Sequence[Game], anchors: dict[str, float]) -> dict[str, Rating]:
    """The likeliest ratings of all who are no anchors, and half of their 95 % intervals, which come from the
    curvature of the likelihood at its maximum. Who is not connected to an anchor by games can have none: there
    must not be such players."""
    names = sorted({name for a, b, _ in results for name in (a, b) if name not in anchors})
    start = sum(anchors.values()) / len(anchors)
    games = np.array([tally.games + PRIOR_GAMES for _, _, tally in results])
    points = np.array([tally.score * tally.games + PRIOR_GAMES / 2 for _, _, tally in results])
    # In logits above the start, a match has a difference of `pairing @ ratings + known`.
    pairing = np.array([[float(name == a) - float(name == b) for name in names] for a, b, _ in results])
    known = np.array([anchors.get(a, start) - anchors.get(b, start) for a, b, _ in results]) / ELO_PER_LOGIT

    def surprise(ratings):
        """The negated logarithm of the likelihood."""
        difference = pairing @ ratings + known
        return -np.sum(points * special.log_expit(difference) + (games - points) * special.log_expit(-difference))

    def slope(ratings):
        return pairing.T @ (games * special.expit(pairing @ ratings + known) - points)

    def curvature(ratings):
        expected = special.expit(pairing @ ratings + known)
        return (pairing.T * (games * expected * (1.0 - expected))) @ pairing

    found = optimize.minimize(
        surprise,
        np.zeros(len(names)),
        jac=slope,
        hess=curvature,
        method="trust-exact",
        options={"gtol": FIT_PRECISION},
    )
    values = start + ELO_PER_LOGIT * found.x
    errors = arena.ERROR_BAR * ELO_PER_LOGIT * np.sqrt(np.diag(np.linalg.inv(curvature(found.x))))
    return {name: (float(value), float(error)) for name, value, error in zip(names, values, errors)}


def read_levels(path: Path = LEVELS) -> list[Level]:
    """The table of levels: figure, nodes and quiet_percent."""
    with open(path, newline="") as file:
        elo, nodes, quiet_percent = COLUMNS
        return [(int(row[elo]), int(row[nodes]), int(row[quiet_percent])) for row in csv.DictReader(file)]


def level_of(figure: float, table: Sequence[Level]) -> tuple[float, float]:
    """What a figure stands for as `Level::of` reckons it: nodes and quiet_percent, in proportion between rows."""
    figures, nodes, quiet_percent = zip(*table)
    return float(np.interp(figure, figures, nodes)), float(np.interp(figure, figures, quiet_percent))


def climb(ratings: Sequence[tuple[float, Rating]]) -> list[tuple[float, float]]:
    """Figures with ratings that rise with them: where they do not, neighbours are put together, each weighing as
    much as it is certain (isotonic regression)."""
    figures, values, errors = np.array([(figure, *rating) for figure, rating in sorted(ratings)]).T
    found = optimize.isotonic_regression(values, weights=1.0 / errors**2)
    pools = [slice(first, last) for first, last in itertools.pairwise(found.blocks)]
    return [
        (float(np.average(figures[pool], weights=errors[pool] ** -2.0)), float(found.x[pool.start])) for pool in pools
    ]


def table_for(ratings: Sequence[tuple[float, Rating]], table: Sequence[Level]) -> list[Level]:
    """The table of levels that makes figures true, if those of `table` have these ratings."""
    step = table[1][0] - table[0][0]
    figures, values = zip(*climb(ratings))
    rows = []
    for wanted in range(math.ceil(values[0] / step) * step, math.floor(values[-1]) + 1, step):
        nodes, quiet_percent = level_of(float(np.interp(wanted, values, figures)), table)
        rows.append((wanted, round(nodes), round(quiet_percent)))
    return rows


def find_anchors(args: argparse.Namespace) -> dict[str, tuple[arena.Engine, int]]:
    """The opponents that can be played and have a rating of their own. Why others cannot is told."""
    commands = dict(arena.parse_option(text) for text in args.opponent)
    micromax = arena.find_engine(args.engine, MICROMAX, ["Style=MicroMax"])
    anchors = {MICROMAX: (micromax, MICROMAX_RATING)}
    for opponent in arena.read_opponents().values():
        engine = arena.find_opponent(opponent, commands.get(opponent.name))
        rated_by_itself = any(name == NO_ANCHOR for name, _ in opponent.options)
        if engine is None or opponent.rating is None or rated_by_itself:
            continue
        try:
            arena.find_tool(args.tool, opponent.protocol == "xboard")
            anchors[opponent.name] = (engine, opponent.rating)
        except arena.Trouble as trouble:
            print(f"{opponent.name}: {trouble}")
    return anchors


def nearest(anchors: dict[str, tuple[arena.Engine, int]], expected: float) -> list[arena.Engine]:
    """The opponents to play for one who is expected to have this rating."""
    by_distance = sorted(anchors.values(), key=lambda anchor: abs(anchor[1] - expected))
    return [engine for engine, rating in by_distance[:OPPONENTS] if abs(rating - expected) <= NEAR]


def name_of(figure: int) -> str:
    return f"Cairn-{figure}"


def run_levels(arguments: Sequence[str]) -> int:
    args = parse_arguments(arguments)
    libraries.load()
    try:
        figures = sorted({int(figure) for figure in args.figures.split(",")}, reverse=True)
    except ValueError:
        raise arena.Trouble(f"figures are written like 800,1200,1600, not '{args.figures}'") from None
    levels = [
        arena.find_engine(args.engine, name_of(figure), ["UCI_LimitStrength=true", f"UCI_Elo={figure}"])
        for figure in figures
    ]
    anchors = find_anchors(args)
    values = {name: float(rating) for name, (_, rating) in anchors.items()}
    results: list[Game] = []

    def play(a: arena.Engine, b: arena.Engine) -> bool:
        print(f"{a.name} - {b.name}, {args.tc}, {args.games} games", flush=True)
        match = arena.match_of(args, a, b)
        outcome = arena.play(match, fresh=args.fresh)
        if outcome.broken_off:
            print("broken off; the same command goes on with it")
            return False
        print(f"{outcome.tally}\n{arena.describe_faults(match, outcome)}", flush=True)
        if not args.no_record:
            how = f" ({Path(match.tool).name}, {a.name} - {b.name})"
            arena.record_match(outcome, arena.without_places(["scripts/levels.py", *arguments]) + how)
        results.append((a.name, b.name, outcome.tally))
        return True

    for number, (figure, us) in enumerate(zip(figures, levels)):
        expected = float(figure)
        if number > 0:
            if not play(us, levels[number - 1]):
                return 130
            expected = fit(results, values)[us.name][0]
        # The strongest figure has met nobody yet, and needs an opponent however far off.
        closest = min(anchors.values(), key=lambda anchor: abs(anchor[1] - expected))[0]
        for opponent in nearest(anchors, expected) or ([] if number > 0 else [closest]):
            if not play(us, opponent):
                return 130
    ratings = fit(results, values)
    measured = [(float(figure), ratings[name_of(figure)]) for figure in reversed(figures)]
    for figure, (value, error) in measured:
        print(f"UCI_Elo {figure:.0f}: {value:.0f} +/- {error:.0f}")
    csv.writer(sys.stdout, lineterminator="\n").writerows([COLUMNS, *table_for(measured, read_levels())])
    return 0


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arena.add_match_options(parser, tc="4+0.04", games=60)
    parser.add_argument("--figures", default="800,1100,1400,1700,2000,2300,2600", help="values of UCI_Elo (%(default)s)")
    parser.add_argument("--engine", default="cairn", help="the program that is measured (target/release/cairn)")
    parser.add_argument(
        "--opponent", action="append", default=[], metavar="NAME=CMD", help="where an opponent is; repeatable"
    )
    parser.add_argument("--out", type=Path, default=arena.ROOT / "target/levels", help="the folder for all")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(arena.guarded(run_levels, sys.argv[1:]))
