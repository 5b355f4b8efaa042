#!/usr/bin/env python3
"""Fits what scores mean to games that the engine has played against itself, and writes the table that the program is
built with (uci/scores.csv) and a diagram of how true it is (.github/scores.svg). It has to be done again for each
network; without arguments the program plays the games, too, and goes on where it was broken off:

    cargo build --release && scripts/wdl.py && cargo build --release

Two kinds of games are needed, which can be given as files instead (cairn datagen writes them, in the engine's own
units): many quick ones, such as those that the network was trained on or would be, and some hundred with more nodes a
move. With more nodes the same score is surer, but the score with an even chance is the same. So the table is fitted to
the quick ones, and one factor on how fast the odds grow to the others. A part of each is held back to try it on.

    scripts/wdl.py games/quick.bin --deep games/deep.bin

The chance to win with a score s is 1 / (1 + 2^((even - s) / doubling)), that to lose the same for -s, and the rest is a
draw; even and doubling depend on the material on the board, their logarithms as polynomials of the third degree, and
are those under which the results were likeliest. What is shown is 100 * s / even: +1.00 is an even chance to win.
The idea is that of Stockfish's model, https://github.com/official-stockfish/WDL_model.

With PGN, which has a score in the comment of each move as fastchess and cutechess-cli write it, only the scores that
were shown are measured: a lead of +1.00 should win every second game. The games have to be between equals, best one
build against itself: against others the same score would win more often, or less. Games that ended by a fault of an
engine or a loss on time are left out.

    scripts/match.sh cairn cairn --games 1000
    scripts/wdl.py target/matches/cairn-a-cairn-b-*/games.pgn

Needs the libraries of scripts/requirements.txt.
"""

from __future__ import annotations

import argparse
import io
import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import arena
import gamefiles
import libraries

chess = libraries.Library("chess", "chess.pgn")
matplotlib = libraries.Library("matplotlib", "matplotlib.figure")
np = libraries.Library("numpy")
optimize = libraries.Library("scipy.optimize")
special = libraries.Library("scipy.special")

TABLE = arena.ROOT / "uci/scores.csv"
COLUMNS = ("material", "even", "doubling")
DIAGRAM = arena.ROOT / ".github/scores.svg"

# The material of both sides at the start of a game, and the rows of the table.
WHOLE = 78
MATERIALS = range(0, WHOLE + 1, 6)
# The degree of the polynomials.
DEGREE = 3

# +0.31/12 0.5s: the score from the view of the side that has moved.
SCORE = re.compile(r"\s*([+-]?\d+\.\d+)/\d+")
# Half points for black and for white.
RESULTS = {"1-0": (0, 2), "0-1": (2, 0), "1/2-1/2": (1, 1)}
# How games end that say something about scores. Without the tag they have ended normally.
SOUND = ("normal", "adjudication")

# Scores that are fitted to, in the engine's units. Smaller ones are mostly of games that are drawn for certain, such as
# repetitions, which the program shows as draws; larger ones are won, and what little goes wrong with them is another
# matter. Both would bend the curves where games are still open.
SMALLEST, LARGEST = 6, 300
# Mates and what the engine cannot tell from them.
MATES = 7750
# Scores that are told apart in a fit by material.
BIN = 5
# The share of positions at which the least material lies that is fitted to: of less there are too few.
FEW = 0.01
# One game in so many is not fitted to: of the quick ones, and of those with more nodes.
HELD_BACK, DEEP_HELD_BACK = 4, 2
# The even chance is looked for among scores that are shown, so many points around +1.00; how far off it may be.
AROUND, TOLERANCE = 60, 5
# The factors on how many points double the odds that are tried.
FACTORS = (0.2, 3.0)
# As in the program: the largest exponent of the odds.
LARGEST_EXPONENT = 40
# The smallest share that a result can have in a fit, which takes its logarithm.
LEAST_SHARE = 1e-9
# Where fits begin, and the smallest values of the table.
START, LEAST = (100, 60), 1
# How many times games are drawn anew to find out how far chance goes.
DRAWINGS = 200

LOSS, DRAW, WIN = 0, 1, 2


@dataclass(frozen=True)
class Positions:
    """Positions with the score of the side to move, the material, half points for that side, and their game."""

    score: np.ndarray
    material: np.ndarray
    result: np.ndarray
    game: np.ndarray

    def where(self, chosen: np.ndarray) -> Positions:
        return Positions(self.score[chosen], self.material[chosen], self.result[chosen], self.game[chosen])

    def __len__(self) -> int:
        return len(self.score)

    @property
    def games(self) -> int:
        return len(np.unique(self.game))


@dataclass(frozen=True)
class Table:
    """The table of the program, and what it does with it: for each of MATERIALS the score with an even chance, and
    how many points more double the odds."""

    rows: np.ndarray

    def at(self, material: np.ndarray) -> np.ndarray:
        """Both numbers for amounts of material, a row for each, as `look_up` of the program finds them."""
        step = MATERIALS.step
        low = np.minimum(material, WHOLE) // step
        part, high = np.minimum(material, WHOLE) % step, np.minimum(low + 1, len(MATERIALS) - 1)
        return (self.rows[:, low] * (step - part) + self.rows[:, high] * part) // step

    def shown(self, positions: Positions) -> Positions:
        """The same positions with scores as they are shown."""
        even, _ = self.at(positions.material)
        size = np.abs(positions.score)
        shown = np.sign(positions.score) * ((100 * size + even // 2) // even)
        return Positions(shown, positions.material, positions.result, positions.game)

    def chances(self, positions: Positions) -> np.ndarray:
        """The chances to lose, draw and win, a row for each."""
        return shares(positions.score, *self.at(positions.material))


# Reading games


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


def pgn_games(paths: Iterable[str | Path]) -> Iterator[Scores]:
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


def positions_of(rows: list[tuple[int, int, int, int]]) -> Positions:
    return Positions(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)


def read_pgn(paths: Iterable[str | Path], player: str) -> Positions:
    """The scores that were shown. Of the material nothing is known."""
    rows, number = [], 0
    for game in pgn_games(paths):
        result = RESULTS.get(game.tags.get("Result", "*"))
        sides = [player.lower() in game.tags.get(colour, "").lower() for colour in ("Black", "White")]
        if result is None or not any(sides) or game.tags.get("Termination", "normal") not in SOUND:
            continue
        number += 1
        moves = [(mover, score) for mover, score in game.moves if sides[mover]]
        rows += [(score, WHOLE, result[mover], number) for mover, score in moves]
    return positions_of(rows)


def read_game_files(paths: Iterable[str | Path]) -> Positions:
    """The scores in the engine's units. Games that were given as draws for their length are left out."""
    rows, number = [], 0
    for path in paths:
        for game in gamefiles.read(path):
            number += 1
            if game.ending != gamefiles.TOO_LONG:
                plies = [ply for ply in game.plies if abs(ply.score) < MATES]
                rows += [(ply.score, ply.material, game.result[ply.whites], number) for ply in plies]
    return positions_of(rows)


# Fits


def chance(score, even, doubling):
    """The chance to win with scores, as a share. Between two powers of two the odds go in a line, as in the program,
    which reckons in integers."""
    distance = even - score
    exponent = np.minimum(np.abs(distance) / doubling, LARGEST_EXPONENT)
    whole = np.floor(exponent)
    odds = (1.0 + exponent - whole) * 2.0**whole
    return np.where(distance > 0, 1.0, odds) / (1.0 + odds)


def shares(score, even, doubling) -> np.ndarray:
    """The chances to lose, draw and win, a row for each."""
    win, loss = chance(score, even, doubling), chance(-score, even, doubling)
    return np.array([loss, 1.0 - win - loss, win])


def fit_table(positions: Positions) -> Table:
    """The likeliest table. The polynomials begin as those that do not depend on the material."""
    size = np.abs(positions.score)
    open_games = positions.where((size >= SMALLEST) & (size <= LARGEST))
    # Scores near to each other are one: so there is less to reckon.
    kinds = np.stack([np.rint(open_games.score / BIN) * BIN, open_games.material, open_games.result])
    (score, material, result), weights = np.unique(kinds.astype(np.int64), axis=1, return_counts=True)

    def of(constants: np.ndarray, material: np.ndarray) -> list[np.ndarray]:
        return [np.exp(np.polynomial.polynomial.polyval(material / WHOLE, half)) for half in np.split(constants, len(START))]

    def surprise(constants: np.ndarray) -> float:
        """The negated logarithm of the likelihood of the results, by position."""
        share = np.choose(result, shares(score, *of(constants, material)))
        return -np.sum(weights * np.log(np.maximum(share, LEAST_SHARE))) / np.sum(weights)

    start = [np.log(value) * (np.arange(DEGREE + 1) == 0) for value in START]
    found = optimize.minimize(surprise, np.concatenate(start), method="BFGS")
    # Where hardly a game has been, the polynomials mean nothing.
    known = np.maximum(np.array(MATERIALS), np.quantile(positions.material, FEW))
    values = np.array(of(found.x, known))

    def table() -> Table:
        return Table(np.maximum(np.rint(values).astype(np.int64), LEAST))

    # The curves are not quite those of the games. What is said of +1.00 is to hold all the same.
    values[0] *= even_chance(table().shown(positions), drawings=0)[0] / 100
    return table()


def sharpened(table: Table, deep: Positions) -> Table:
    """The table with the likeliest factor on how many points double the odds, for games with more nodes."""
    size = np.abs(deep.score)
    open_games = deep.where((size >= SMALLEST) & (size <= LARGEST))
    even, doubling = table.at(open_games.material)

    def surprise(factor: float) -> float:
        share = np.choose(open_games.result, shares(open_games.score, even, doubling * factor))
        return -np.mean(np.log(np.maximum(share, LEAST_SHARE)))

    factor = float(optimize.minimize_scalar(surprise, bounds=FACTORS, method="bounded").x)
    print(f"with more nodes {factor:.2f} times the points double the odds")
    return Table(np.maximum(np.rint(table.rows * [[1.0], [factor]]).astype(np.int64), LEAST))


def even_chance(shown: Positions, drawings: int = DRAWINGS) -> tuple[float, float]:
    """The score that is shown with which every second game is won, and half of its 95 % interval. Found by logistic
    regression around +1.00, leads of either side alike; for the error whole games are drawn anew so many times, as the
    positions of one game have one result."""
    ahead = shown.where(np.abs(np.abs(shown.score) - 100) <= AROUND)
    if not len(ahead):
        return math.nan, math.nan
    lead = np.abs(ahead.score) - 100
    won = ahead.result == np.where(ahead.score > 0, WIN, LOSS)
    games, of_game = np.unique(ahead.game, return_inverse=True)

    def even(times: np.ndarray) -> float:
        weights = times[of_game]
        count = np.bincount(lead + AROUND, weights=weights, minlength=2 * AROUND + 1)
        hits = np.bincount(lead + AROUND, weights=weights * won, minlength=2 * AROUND + 1)
        leads = np.arange(-AROUND, AROUND + 1)

        def surprise(line: np.ndarray) -> float:
            odds = line[0] + line[1] * leads / 100
            return -np.sum(hits * special.log_expit(odds) + (count - hits) * special.log_expit(-odds)) / np.sum(count)

        found = optimize.minimize(surprise, (0.0, 1.0), method="BFGS").x
        return 100.0 - 100.0 * float(found[0] / found[1])

    choose = np.random.default_rng(1)
    drawn = choose.integers(len(games), size=(drawings, len(games)))
    evens = [even(np.bincount(draw, minlength=len(games))) for draw in drawn]
    low, high = np.quantile(evens, (0.025, 0.975)) if evens else (0.0, 0.0)
    return even(np.ones(len(games))), float(high - low) / 2


# The table and the diagram


def read_table(path: Path = TABLE) -> Table:
    return Table(np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.int64).T[1:])


def write_table(table: Table, path: Path = TABLE) -> None:
    rows = [COLUMNS, *zip(MATERIALS, *table.rows)]
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))


def seen_and_said(said: np.ndarray, happened: np.ndarray, game: np.ndarray) -> list[tuple[float, float, float]]:
    """For positions in bins of what was said: its average, how often it happened, and half of the 95 % interval, by
    games drawn anew."""
    choose = np.random.default_rng(1)
    games, of_game = np.unique(game, return_inverse=True)
    bins = np.minimum((10 * said).astype(int), 9)
    drawn = choose.integers(len(games), size=(DRAWINGS, len(games)))
    times = np.array([np.bincount(draw, minlength=len(games)) for draw in drawn])
    points = []
    for number in range(10):
        inside = bins == number
        if len(np.unique(game[inside])) < 10:
            continue
        count = np.bincount(of_game[inside], minlength=len(games))
        hits = np.bincount(of_game[inside], weights=happened[inside], minlength=len(games))
        again = (times @ hits) / np.maximum(times @ count, 1)
        low, high = np.quantile(again, (0.025, 0.975))
        points.append((float(said[inside].mean()), float(happened[inside].mean()), float(high - low) / 2))
    return points


def draw_diagram(table: Table, held_back: Positions, path: Path = DIAGRAM) -> None:
    """What was said against what happened, and how games end by the score that is shown."""
    figure = matplotlib.figure.Figure(figsize=(9, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    chances = table.chances(held_back)
    left.plot([0, 100], [0, 100], color="0.7", linewidth=1, zorder=0)
    for result, name, colour in ((WIN, "win", "tab:green"), (DRAW, "draw", "tab:gray")):
        points = 100 * np.array(seen_and_said(chances[result], held_back.result == result, held_back.game))
        left.errorbar(*points.T[:2], yerr=points.T[2], fmt="o", color=colour, capsize=2, markersize=5, label=name)
    left.set(xlabel="chance that is told, %", ylabel="how often it came so, %", aspect="equal")
    left.set(xlim=(-2, 102), ylim=(-2, 102), title=f"{held_back.games} games that were not fitted to")
    left.legend(frameon=False, loc="upper left")

    shown = table.shown(held_back).score
    edges = np.arange(-312.5, 313, 25)
    centres, bins = (edges[1:] + edges[:-1]) / 2, np.digitize(shown, edges) - 1
    inside = [bins == number for number in range(len(centres))]
    kept = [number for number, where in enumerate(inside) if where.sum() >= 30]
    for result, name, colour in ((WIN, "won", "tab:green"), (DRAW, "drawn", "tab:gray"), (LOSS, "lost", "tab:red")):
        said = [100 * chances[result][inside[number]].mean() for number in kept]
        happened = [100 * (held_back.result[inside[number]] == result).mean() for number in kept]
        right.plot(centres[kept] / 100, said, color=colour, label=name)
        right.plot(centres[kept] / 100, happened, "o", color=colour, markersize=4)
    right.axvline(1, color="0.7", linewidth=1, zorder=0)
    right.axhline(50, color="0.7", linewidth=1, zorder=0)
    right.set(xlabel="score that is shown", ylabel="share of positions, %", ylim=(-2, 102))
    right.set_title("lines: told; dots: how it came")
    right.legend(frameon=False, loc="upper center")
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "scores", "font.family": "sans-serif"}):
        figure.savefig(path, metadata={"Date": None})


# The program


def play(args: argparse.Namespace, kind: str, games: int, nodes: int) -> list[Path]:
    """Lets the program play, in a folder for its network and search, and gives the files of games."""
    engine = arena.find_engine(args.engine)
    said = subprocess.run([*engine.command, "eval"], capture_output=True, text=True, check=True).stdout
    network = re.search(r"checksum (\w+)", said)
    bench = subprocess.run([*engine.command, "bench"], capture_output=True, text=True, check=True).stdout
    name = f"{network[1] if network else 'tables'}-{bench.splitlines()[-1].split()[0]}"
    folder = arena.ROOT / "target/wdl" / name
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{kind}-{nodes}.bin"
    # From the usual start only, and to the end by the rules: what looks won and cannot be won is drawn.
    fixed = {"chess960": 0, "played-out": 1, "hash": 8, "seed": 1}
    settings = {**fixed, "games": games, "nodes": nodes, "threads": args.threads}
    words = [word for name, value in settings.items() for word in (f"--{name}", str(value))]
    played = subprocess.run([*engine.command, "datagen", str(file), *words])
    if played.returncode != 0:
        raise arena.Trouble("the games were not played to the end; the same command goes on with them")
    return sorted(path for path in folder.glob(f"{file.name}*") if gamefiles.is_game_file(path))


def measure(what: str, shown: Positions) -> float:
    """Tells which score that is shown wins every second game."""
    even, error = even_chance(shown)
    print(f"{what}: {even / 100:+.2f} +/- {error / 100:.2f} wins every second of {shown.games} games")
    return even


def report(shown: Positions, chances: np.ndarray | None) -> None:
    """Tells how games have ended by the score that was shown."""
    print(f"{'score':>6} {'positions':>9}  won/drawn/lost in permill{', and what is said of it' * (chances is not None)}")
    for score in range(-300, 301, 50):
        inside = np.abs(shown.score - score) < 13
        if inside.any():
            seen = [np.mean(shown.result[inside] == result) for result in (WIN, DRAW, LOSS)]
            said = [] if chances is None else [chances[result][inside].mean() for result in (WIN, DRAW, LOSS)]
            words = ["/".join(f"{1000 * share:.0f}" for share in part) for part in (seen, said) if part]
            print(f"{score / 100:+6.2f} {inside.sum():9}  " + "".join(f"{word:>13}" for word in words))


def run_wdl(arguments: Sequence[str]) -> int:
    args = parse_arguments(arguments)
    libraries.load()
    are_games = {gamefiles.is_game_file(path) for path in args.files}
    if len(are_games) > 1:
        raise arena.Trouble("give either PGN or files of games, not both")
    if are_games == {False}:
        shown = read_pgn(args.files, args.player)
        if not len(shown):
            raise arena.Trouble("there is no game with scores of that player")
        even = measure("as shown", shown)
        report(shown, None)
        return 0 if abs(even - 100) <= TOLERANCE else 1

    quick = read_game_files(args.files or play(args, "quick", args.games, args.nodes))
    deep = read_game_files(args.deep or play(args, "deep", args.deep_games, args.deep_nodes))
    held, deep_held = quick.game % HELD_BACK == 0, deep.game % DEEP_HELD_BACK == 0
    if not held.any() or not deep_held.any():
        raise arena.Trouble("these are too few games")
    fitted, held_back, judged = quick.where(~held), quick.where(held), deep.where(deep_held)
    print(f"{quick.games} quick games, {fitted.games} to fit to; {deep.games} with more nodes, half of them to fit to")
    table = read_table() if args.check else sharpened(fit_table(fitted), deep.where(~deep_held))
    print("material, score with an even chance, and what doubles the odds, in the engine's centipawns:")
    for row in zip(MATERIALS, *table.rows):
        print("".join(f"{number:5}" for number in row))
    measured = measure("quick games that were fitted to", table.shown(fitted))
    measure("quick games held back", table.shown(held_back))
    measure("games with more nodes held back", table.shown(judged))
    report(table.shown(judged), table.chances(judged))
    if not abs(measured - 100) <= TOLERANCE:
        print(f"the table is wrong: +1.00 would have to be {measured / 100:+.2f}", file=sys.stderr)
        return 1
    if not args.check:
        write_table(table)
        draw_diagram(table, judged)
        print(f"{TABLE.relative_to(arena.ROOT)} and {DIAGRAM.relative_to(arena.ROOT)} are written: build anew")
    return 0


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="files of quick games, or PGN (otherwise games are played)")
    parser.add_argument("--deep", nargs="*", default=[], metavar="FILE", help="files of games with more nodes")
    parser.add_argument("--check", action="store_true", help="only try the table that is there, and write nothing")
    parser.add_argument("--player", default="", help="in PGN: part of the names whose moves count (all; see above)")
    parser.add_argument("--engine", default="cairn", help="the program that plays (target/release/cairn)")
    for name, games, nodes, what in (("", 12_000, 1000, "quick"), ("deep-", 400, 20_000, "deep")):
        parser.add_argument(f"--{name}games", type=int, default=games, help=f"how many {what} ones it plays (%(default)s)")
        parser.add_argument(f"--{name}nodes", type=int, default=nodes, help="with how many nodes a move (%(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="and how many at the same time (%(default)s)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(arena.guarded(run_wdl, sys.argv[1:]))
