#!/usr/bin/env python3
"""Plays Cairn against every opponent of scripts/opponents.csv that is installed, and fits a rating.

Each opponent gets a match of its own (see match.sh): one that was broken off goes on when the same command
is given again. The results are kept in ladder.csv in the folder of --out, together with those of
earlier builds and clocks. From all of them a rating is fitted by maximum likelihood, with the opponents
at the ratings of the table, and drawn in ladder.svg. Error bars are 95 % and know nothing of errors in
the opponents' ratings, which are good to about 100 Elo.

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
from xml.sax.saxutils import escape

import arena

LADDER_COLUMNS = ["player", "tc", "opponent", "games", "wins", "draws", "losses", "squares"]

# How many steps the fit may take, and when it has ended, in Elo.
FIT_STEPS = 200
FIT_PRECISION = 1e-6
LONGEST_FIT_STEP = 200.0

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
    """Newton's method on the likelihood, which has one maximum. The error comes from its curvature there;
    draws, which vary less than wins and losses, make it a little too wide."""
    value = sum(anchor * tally.games for anchor, tally in played) / sum(tally.games for _, tally in played)
    weight = 0.0
    for _ in range(FIT_STEPS):
        surplus = weight = 0.0
        for anchor, tally in played:
            expected = arena.score_of(value - anchor)
            surplus += tally.games * (tally.score - expected)
            weight += tally.games * expected * (1.0 - expected)
        step = max(-LONGEST_FIT_STEP, min(LONGEST_FIT_STEP, ELO_PER_LOGIT * surplus / weight))
        value += step
        if abs(step) < FIT_PRECISION:
            break
    return Rating(value, arena.ERROR_BAR * ELO_PER_LOGIT / math.sqrt(weight))


# The chart

WIDTH = 960
TOP, ROW, BOTTOM = 86, 34, 62
CHARACTER = 7.3
STYLE = """
    text { font: 13px sans-serif; fill: #24292f; }
    .title { font-size: 17px; font-weight: bold; }
    .faint { fill: #6e7781; }
    .grid { stroke: #e3e6e9; }
    .axis { stroke: #6e7781; }
    .band { fill: #2f6fb5; opacity: 0.13; }
    .fit { stroke: #2f6fb5; stroke-width: 1.5; }
    .bar { stroke: #2f6fb5; stroke-width: 2; }
    .point { fill: #2f6fb5; }
    .anchor { fill: white; stroke: #6e7781; stroke-width: 1.5; }
"""


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


class Chart:
    """The chart as SVG: the rating that the games against each opponent speak for, and the fit."""

    def __init__(self, rows: Sequence[Row], player: Player, rating: Rating | None):
        self.rows, self.player, self.rating = rows, player, rating
        values = [v for row in rows for v in (row.anchor, row.low, row.value, row.high) if v is not None]
        if rating:
            values += [rating.value - rating.error, rating.value + rating.error]
        span = max(values) - min(values)
        self.step = next((step for step in (50, 100, 200, 400) if span <= 9 * step), 800)
        self.low = self.step * math.floor((min(values) - self.step / 4) / self.step)
        self.high = self.step * math.ceil((max(values) + self.step / 4) / self.step)
        self.left = 30 + CHARACTER * max(len(row.label) for row in rows)
        self.right = WIDTH - 30 - CHARACTER * max(len(row.note) for row in rows)
        self.bottom = TOP + ROW * len(rows)
        self.parts: list[str] = []

    def x(self, value: float) -> float:
        """Where a rating lies."""
        return round(self.left + (value - self.low) / (self.high - self.low) * (self.right - self.left), 1)

    def line(self, style: str, x1: float, y1: float, x2: float, y2: float) -> None:
        self.parts.append(f'<line class="{style}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>')

    def text(self, x: float, y: float, words: str, side: str = "start", style: str = "label") -> None:
        self.parts.append(f'<text class="{style}" x="{x:.1f}" y="{y}" text-anchor="{side}">{escape(words)}</text>')

    def draw(self) -> str:
        """The whole picture."""
        height = self.bottom + BOTTOM
        size = f'width="{WIDTH}" height="{height}"'
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {WIDTH} {height}">',
            f"<style>{STYLE}</style>",
            f'<rect {size} fill="white"/>',
        ]
        self.text(20, 32, f"Cairn {self.player}: {self.rating or 'no rating yet'}", style="title")
        legend = "Points: what the games against each opponent speak for, with 95 % bars. Diamonds: the opponents."
        self.text(20, 54, legend, style="faint")
        self.draw_axis()
        for number, row in enumerate(self.rows):
            self.draw_row(row, TOP + ROW * number + ROW / 2 - 6)
        return "\n".join([*self.parts, "</svg>", ""])

    def draw_axis(self) -> None:
        """The ratings below, the lines above them, and the fit as a band across all rows."""
        top = TOP - 12
        for tick in range(self.low, self.high + 1, self.step):
            self.line("grid", self.x(tick), top, self.x(tick), self.bottom)
            self.text(self.x(tick), self.bottom + 20, str(tick), "middle")
        if self.rating:
            left, right = (self.x(self.rating.value + sign * self.rating.error) for sign in (-1, 1))
            size = f'width="{right - left:.1f}" height="{self.bottom - top}"'
            self.parts.append(f'<rect class="band" x="{left}" y="{top}" {size}/>')
            self.line("fit", self.x(self.rating.value), top, self.x(self.rating.value), self.bottom)
        self.line("axis", self.x(self.low), self.bottom, self.x(self.high), self.bottom)
        self.text(self.x((self.low + self.high) / 2), self.bottom + 44, "rating (Elo)", "middle", "faint")

    def draw_row(self, row: Row, y: float) -> None:
        """One opponent or build. Labels stand beside the plot, where none covers another."""
        self.text(self.left - 14, y + 5, row.label, "end")
        self.text(self.right + 14, y + 5, row.note)
        if row.anchor is not None:
            middle = self.x(row.anchor)
            corners = f"{middle},{y - 6} {middle + 6},{y} {middle},{y + 6} {middle - 6},{y}"
            self.parts.append(f'<polygon class="anchor" points="{corners}"/>')
        # A bar without an end goes to the edge of the plot, and has no stroke across it there.
        low = self.low if row.low is None else row.low
        high = self.high if row.high is None else row.high
        self.line("bar", self.x(low), y, self.x(high), y)
        for end in (row.low, row.high):
            if end is not None:
                self.line("bar", self.x(end), y - 5, self.x(end), y + 5)
        if row.value is not None:
            self.parts.append(f'<circle class="point" cx="{self.x(row.value)}" cy="{y}" r="5"/>')


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
        (path / "ladder.svg").write_text(Chart(rows, player, ratings.get(player)).draw())
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
