#!/usr/bin/env python3
"""Plays Cairn against every opponent of scripts/opponents.csv that is installed, and fits a rating.

Each opponent gets a match of its own (see match.sh): one that was broken off goes on when the same command
is given again. The results are kept in ladder.csv in the folder of --out, together with those of
earlier builds and clocks. From all of them a rating is fitted by maximum likelihood, with the opponents
at the ratings of the table, and drawn in ladder.svg. Error bars are 95 % and know nothing of errors in
the opponents' ratings, which are good to about 100 Elo. Needs the libraries of scripts/requirements.txt.

    scripts/ladder.py --games 100 --tc 8+0.08
    scripts/ladder.py --only toga2,fruit --opponent fruit=/opt/fruit/fruit --opponent reckless-0.4=./reckless
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import arena
import libraries

matplotlib = libraries.Library("matplotlib", "matplotlib.figure")
np = libraries.Library("numpy")
optimize = libraries.Library("scipy.optimize")
special = libraries.Library("scipy.special")

LADDER_COLUMNS = ["player", "tc", "opponent", "games", "wins", "draws", "losses", "squares"]

# How precise the fit is, in Elo.
FIT_PRECISION = 1e-6

# Elo per natural logarithm of the odds.
ELO_PER_LOGIT = 400.0 / math.log(10.0)


@dataclass(frozen=True, order=True)
class Player:
    """A build of ours at a clock."""

    label: str
    tc: str

    def __str__(self) -> str:
        return f"{self.label}, {self.tc}"


Results = dict[tuple[Player, str], arena.Tally]


@dataclass(frozen=True)
class Rating:
    """A rating and half of its 95 % interval."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.0f} +/- {self.error:.0f}"


# The table of all results


def read_ladder(path: Path) -> Results:
    """All results that were kept."""
    results: Results = {}
    if path.exists():
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                tally = arena.Tally(int(row["wins"]), int(row["draws"]), int(row["losses"]), float(row["squares"]))
                results[Player(row["player"], row["tc"]), row["opponent"]] = tally
    return results


def write_ladder(path: Path, results: Results) -> None:
    """Keeps all results. The old table stays until the new one is whole."""
    fresh = path.with_suffix(".new")
    with open(fresh, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(LADDER_COLUMNS)
        for (player, opponent), tally in sorted(results.items()):
            counts = [tally.games, tally.wins, tally.draws, tally.losses, f"{tally.squares:g}"]
            writer.writerow([player.label, player.tc, opponent, *counts])
    fresh.replace(path)


# The fit


def fit(results: Results, anchors: dict[str, int]) -> dict[Player, Rating]:
    """The ratings under which the results are most likely, if scores follow the logistic curve and the
    opponents have the ratings of the table. Who has won or lost all games has none."""
    games: dict[Player, list[tuple[int, arena.Tally]]] = {}
    for (player, opponent), tally in results.items():
        if opponent in anchors and tally.games:
            games.setdefault(player, []).append((anchors[opponent], tally))
    ratings = {}
    for player, played in games.items():
        points = sum(tally.score * tally.games for _, tally in played)
        count = sum(tally.games for _, tally in played)
        if 0.0 < points < count:
            ratings[player] = fit_one(played)
    return ratings


def fit_one(played: Sequence[tuple[int, arena.Tally]]) -> Rating:
    """The rating with which as many points are expected as were won: there the likelihood has its maximum. The
    error comes from its curvature; draws, which vary less than wins and losses, make it a little too wide."""
    anchors, games, scores = np.array([(anchor, tally.games, tally.score) for anchor, tally in played]).T

    def expected(rating: float):
        return special.expit((rating - anchors) / ELO_PER_LOGIT)

    # This far from all anchors less than half a point is expected, or lost, which is the least that there is.
    far = arena.elo_of(1.0 - 0.25 / games.sum())
    value = optimize.brentq(
        lambda rating: np.sum(games * (scores - expected(rating))),
        anchors.min() - far,
        anchors.max() + far,
        xtol=FIT_PRECISION,
    )
    weight = np.sum(games * expected(value) * (1.0 - expected(value)))
    return Rating(value, arena.ERROR_BAR * ELO_PER_LOGIT / math.sqrt(weight))


# The chart

# Inches.
WIDTH, ROW, MARGINS = 10.0, 0.36, 1.6
BLUE, GREY = "#2f6fb5", "#6e7781"

@dataclass(frozen=True)
class Row:
    """A line of the chart. An error bar without an end has none there."""

    label: str
    note: str
    anchor: float | None
    low: float | None
    value: float | None
    high: float | None


def performance(anchor: int, tally: arena.Tally) -> tuple[float | None, float | None, float | None]:
    """The rating that the results against one opponent speak for, between the ends of its error bar."""
    if tally.elo is None:
        # Better, or worse, than half a point less than all, or more than nothing.
        edge = 0.5 / tally.games
        if tally.score == 1.0:
            return anchor + arena.elo_of(1.0 - edge), None, None
        return None, None, anchor + arena.elo_of(edge)
    margin = arena.ERROR_BAR * math.sqrt(tally.squares) / tally.games
    low, high = tally.score - margin, tally.score + margin
    return (
        anchor + arena.elo_of(low) if low > 0.0 else None,
        anchor + tally.elo,
        anchor + arena.elo_of(high) if high < 1.0 else None,
    )


def chart_rows(results: Results, player: Player, ratings: dict[Player, Rating], anchors: dict[str, int]) -> list[Row]:
    """The opponents from the strongest down, then the other builds."""
    rows = []
    for (who, opponent), tally in results.items():
        if who == player and opponent in anchors and tally.games:
            score = f"+{tally.wins} ={tally.draws} -{tally.losses}  ({100 * tally.score:.0f} %)"
            anchor = anchors[opponent]
            rows.append(Row(f"{opponent}, {anchor}", score, anchor, *performance(anchor, tally)))
    rows.sort(key=lambda row: -(row.anchor or 0.0))
    for other, rating in sorted(ratings.items()):
        if other != player:
            ends = rating.value - rating.error, rating.value, rating.value + rating.error
            rows.append(Row(str(other), f"fitted {rating}", None, *ends))
    return rows


def draw(rows: Sequence[Row], player: Player, rating: Rating | None) -> matplotlib.figure.Figure:
    """The chart: the rating that the games against each opponent speak for, and the fit as a band across all."""
    figure = matplotlib.figure.Figure(figsize=(WIDTH, MARGINS + ROW * len(rows)), layout="constrained")
    figure.suptitle(f"Cairn {player}: {rating or 'no rating yet'}", x=0.01, ha="left", weight="bold")
    axes = figure.add_subplot()
    axes.set_title(
        "Points: what the games against each opponent speak for, with 95 % bars. Diamonds: the opponents.",
        loc="left",
        size="small",
        color=GREY,
    )
    if rating:
        axes.axvspan(rating.value - rating.error, rating.value + rating.error, color=BLUE, alpha=0.13, lw=0)
        axes.axvline(rating.value, color=BLUE, lw=1)
    for height, row in enumerate(rows):
        ends = [end for end in (row.low, row.high) if end is not None]
        axes.plot(ends, [height] * len(ends), "|", color=BLUE, ms=9, mew=1.5)
        for values, style in (([row.anchor], "D"), ([row.value], "o")):
            shown = [value for value in values if value is not None]
            colours = {"mfc": "white", "mec": GREY} if style == "D" else {"color": BLUE}
            axes.plot(shown, [height] * len(shown), style, ms=7, zorder=3, **colours)
    axes.margins(x=0.05)
    # A bar without an end goes to the edge of the plot.
    left, right = axes.get_xlim()
    for height, row in enumerate(rows):
        axes.hlines(height, left if row.low is None else row.low, right if row.high is None else row.high, color=BLUE)
    axes.set_xlim(left, right)
    axes.set_xlabel("rating (Elo)", color=GREY)
    axes.grid(axis="x", color="#e3e6e9")
    axes.set_axisbelow(True)
    axes.set_yticks(range(len(rows)), [row.label for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    notes = axes.secondary_yaxis("right")
    notes.set_yticks(range(len(rows)), [row.note for row in rows])
    for side in (axes, notes):
        side.tick_params(axis="y", length=0)
        side.spines[:].set_visible(False)
    return figure


def save(figure: matplotlib.figure.Figure, path: Path) -> None:
    """Writes a picture. The same figure makes the same file, and its text stays text."""
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "ladder", "font.family": "sans-serif"}):
        figure.savefig(path, metadata={"Date": None})


# Playing


def choose(args: argparse.Namespace) -> list[tuple[arena.Opponent, arena.Engine, str]]:
    """The opponents that can be played, with the tool for each. Why others cannot is told."""
    table = arena.read_opponents()
    commands = dict(arena.parse_option(text) for text in args.opponent)
    wanted = args.only.split(",") if args.only else list(table)
    for name in [*commands, *wanted]:
        if name not in table:
            raise arena.Trouble(f"'{name}' is not in {arena.OPPONENTS.name}")
    chosen = []
    for name in wanted:
        opponent = table[name]
        engine = arena.find_opponent(opponent, commands.get(name))
        if engine is None:
            print(f"{name}: not installed")
        elif opponent.rating is None:
            print(f"{name}: has no rating in {arena.OPPONENTS.name}")
        else:
            try:
                chosen.append((opponent, engine, arena.find_tool(args.tool, opponent.protocol == "xboard")))
            except arena.Trouble as trouble:
                print(f"{name}: {trouble}")
    if not chosen:
        raise arena.Trouble("no opponent can be played")
    return chosen


def show(path: Path, results: Results, player: Player) -> None:
    """Draws the chart and says what it shows."""
    opponents = arena.read_opponents().values()
    anchors = {opponent.name: opponent.rating for opponent in opponents if opponent.rating is not None}
    ratings = fit(results, anchors)
    rows = chart_rows(results, player, ratings, anchors)
    if rows:
        save(draw(rows, player, ratings.get(player)), path / "ladder.svg")
    for who in sorted({who for who, _ in results}):
        print(f"Cairn {who}: {ratings.get(who, 'no rating: all games won, or all lost')}")


def label_of(cairn: arena.Engine) -> str:
    """What a build is called: its commit, and if the sources differ from that, the program itself. Of another
    program than the release build the commit is not known: it goes by its file."""
    contents = str(cairn.fingerprint()[0])[:4]
    if cairn.command[0] != str(arena.RELEASE):
        return f"{Path(cairn.command[0]).name} {contents}"
    name = arena.commit()
    return name + contents if name.endswith("+") else name


def conditions_of(args: argparse.Namespace) -> str:
    """The clock, with what else differs from the usual: results under other conditions are others."""
    usual = parse_arguments([])
    parts = [args.tc, *args.option]
    if args.hash != usual.hash:
        parts.append(f"hash {args.hash}")
    if args.seed != usual.seed:
        parts.append(f"seed {args.seed}")
    if args.openings != usual.openings:
        parts.append(args.openings.name)
    return ", ".join(parts)


def run_ladder(arguments: Sequence[str]) -> int:
    args = parse_arguments(arguments)
    libraries.load()
    place: Path = args.out.resolve()
    place.mkdir(parents=True, exist_ok=True)
    table = place / "ladder.csv"
    cairn = arena.find_engine(args.engine, "Cairn", args.option)
    player = Player(args.label or label_of(cairn), conditions_of(args))
    arena.base_seconds(args.tc)
    chosen = choose(args)
    for number, (opponent, engine, tool) in enumerate(chosen, 1):
        print(f"{number}/{len(chosen)}: {opponent.name} ({opponent.rating}), {args.tc}, {args.games} games")
        match = arena.match_of(args, cairn, engine, folder=place / "games")
        outcome = arena.play(match, fresh=args.fresh)
        print(arena.describe_faults(match, outcome))
        print(f"against {opponent.name}: {outcome.tally.games} games  {outcome.tally}")
        results = read_ladder(table)
        results[player, opponent.name] = outcome.tally
        write_ladder(table, results)
        if outcome.broken_off:
            print("broken off; the same command goes on with it")
            return 130
        if not args.no_record:
            how = f" ({Path(tool).name}, against {opponent.name}, {opponent.rating})"
            arena.record_match(outcome, arena.without_places(["scripts/ladder.py", *arguments]) + how)
        show(place, results, player)
    print(f"{table} and {place / 'ladder.svg'}")
    return 0


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arena.add_match_options(parser, tc="8+0.08", games=100)
    parser.add_argument("--engine", default="cairn", help="the program that is rated (target/release/cairn)")
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="an option of it; repeatable"
    )
    parser.add_argument("--label", help="what this build is called in the table (its commit or file)")
    parser.add_argument(
        "--opponent", action="append", default=[], metavar="NAME=CMD", help="where an opponent is; repeatable"
    )
    parser.add_argument("--only", metavar="NAMES", help="play these alone, with commas between them")
    parser.add_argument(
        "--out", type=Path, default=arena.ROOT / "target/ladder", help="the folder for all (target/ladder)"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(arena.guarded(run_ladder, sys.argv[1:]))
