#!/usr/bin/env python3
"""Measures what the figures of UCI_Elo are worth, in games against the opponents of scripts/opponents.csv.

From the strongest figure down, each plays the next stronger one, and then the two opponents whose ratings are
nearest to what its games so far say of it. All games are played at one clock, of which the opponents need
most; where it cuts searches of the levels short too, their table says nothing. From all games a rating is
fitted to each figure, with the opponents at the ratings of the table. Error bars are 95 % and know nothing of
errors in the opponents' ratings. Matches are kept in the folder of --out, and go on where they were when the
same command is given again. At the end stands the table for uci/src/session/level.rs with which each figure would play
as strongly as it says.

    scripts/levels.py --figures 800,1100,1400,1700,2000,2300,2600 --games 60
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import arena
from ladder import ELO_PER_LOGIT, FIT_STEPS

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

LEVEL_SOURCE = arena.ROOT / "uci/src/session/level.rs"

Game = tuple[str, str, arena.Tally]
Rating = tuple[float, float]


def fit(results: Sequence[Game], anchors: dict[str, float]) -> dict[str, Rating]:
    """The likeliest ratings of all who are no anchors, by Newton's method, and half of their 95 % intervals.
    Who is not connected to an anchor by games can have none: there must not be such players."""
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


def read_levels(source: str) -> tuple[int, int, list[tuple[int, int]]]:
    """The first figure of uci/src/session/level.rs, the step from one to the next, and their nodes and attention."""
    first, step = (int(re.search(rf"const {name}: u32 = (\d+);", source)[1]) for name in ("MIN_ELO", "STEP"))
    table = re.search(r"const LEVELS: .*?= \[(.*?)\];", source, re.DOTALL)[1]
    rows = re.findall(r"\(([\d_]+), (\d+)\)", table)
    return first, step, [(int(nodes.replace("_", "")), int(attention)) for nodes, attention in rows]


def level_of(figure: float, source: str) -> tuple[float, float]:
    """What a figure stands for as `Level::of` reckons it: nodes and attention, in proportion between rows."""
    first, step, levels = read_levels(source)
    place = min(max((figure - first) / step, 0.0), len(levels) - 1.0)
    row = min(int(place), len(levels) - 2)
    low, high = levels[row], levels[row + 1]
    nodes, attention = (a + (b - a) * (place - row) for a, b in zip(low, high))
    return nodes, attention


def climb(ratings: Sequence[tuple[float, Rating]]) -> list[tuple[float, float]]:
    """Figures with ratings that rise with them: where they do not, neighbours are put together, each weighing as
    much as it is certain (isotonic regression)."""
    pools: list[tuple[float, float, float]] = []
    for figure, (rating, error) in sorted(ratings):
        pools.append((figure, rating, 1.0 / error**2))
        while len(pools) > 1 and pools[-2][1] >= pools[-1][1]:
            (figure_a, rating_a, a), (figure_b, rating_b, b) = pools[-2:]
            mean = ((figure_a * a + figure_b * b) / (a + b), (rating_a * a + rating_b * b) / (a + b), a + b)
            pools[-2:] = [mean]
    return [(figure, rating) for figure, rating, _ in pools]


def table_for(ratings: Sequence[tuple[float, Rating]], source: str) -> list[tuple[int, int, int]]:
    """Figures with the nodes and attention that stand for them, if figures as they are now have these ratings."""
    _, step, _ = read_levels(source)
    points = climb(ratings)
    rows = []
    for wanted in range(math.ceil(points[0][1] / step) * step, math.floor(points[-1][1]) + 1, step):
        for (low, low_rating), (high, high_rating) in zip(points, points[1:]):
            if low_rating <= wanted <= high_rating:
                figure = low + (high - low) * (wanted - low_rating) / (high_rating - low_rating)
                nodes, attention = level_of(figure, source)
                rows.append((wanted, round(nodes), round(attention)))
                break
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
    rows = table_for(measured, LEVEL_SOURCE.read_text())
    if rows:
        print(f"MIN_ELO = {rows[0][0]}, MAX_ELO = {rows[-1][0]}")
    for wanted, nodes, attention in rows:
        print(f"    ({nodes}, {attention}), // {wanted}")
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
