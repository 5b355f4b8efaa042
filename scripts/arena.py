#!/usr/bin/env python3
"""Plays a match between two engines with fastchess or cutechess-cli, and says how it ended.

An engine is a program (a path, or a name in the PATH, with arguments if need be: "gnuchess --uci"), a
name of scripts/opponents.csv, whose options are then set too, or `cairn`, the release build. Each
opening is played twice, with both colours. Games and the output of the tool are kept in a folder of
the match; a match that was broken off goes on when the same command is given again. Another build of
an engine is another match.

    scripts/match.sh cairn toga2 --games 200
    scripts/match.sh target/new target/old --tc 1+0.01 --elo0 0 --elo1 10 --games 4000
"""

from __future__ import annotations

import argparse
import csv
import fcntl
import hashlib
import json
import math
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NoReturn

SCRIPTS = Path(__file__).resolve().parent
ROOT = SCRIPTS.parent
OPENINGS = SCRIPTS / "openings.epd"
RESULTS = SCRIPTS / "results.csv"
RESULT_COLUMNS = ["commit", "command", "games", "wins", "draws", "losses", "elo", "error"]
OPPONENTS = SCRIPTS / "opponents.csv"
MATCHES = ROOT / "target" / "matches"
RELEASE = ROOT / "target/release/cairn"
TOOLS = ("fastchess", "cutechess-cli")

# The file of a match that holds the number of games of its last row in the table of results.
RECORDED = "recorded"

# Where distributions keep games; often not in the PATH of a server.
GAMES_FOLDERS = ("/usr/games", "/usr/local/games")

# How many standard errors make up an error bar: 95 %.
ERROR_BAR = 1.96

# Seconds between two progress lines where they cannot overwrite each other.
PROGRESS_INTERVAL = 30.0

# Seconds that a tool has to end after it was told to.
PATIENCE = 60.0


class Trouble(Exception):
    """Something the user has to know, without a traceback."""


# Engines


@dataclass(frozen=True)
class Engine:
    """A program that plays, with the options it plays with."""

    name: str
    command: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()
    protocol: str = "uci"

    def fingerprint(self) -> list[object]:
        """What makes it another engine: its program, not where that lies."""
        program = hashlib.sha256(Path(self.command[0]).read_bytes()).hexdigest()
        return [program, self.command[1:], self.options, self.protocol]


@dataclass(frozen=True)
class Opponent:
    """A line of the table of opponents."""

    name: str
    rating: int | None
    commands: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    protocol: str


def read_opponents(path: Path = OPPONENTS) -> dict[str, Opponent]:
    """The table of opponents, by name."""
    opponents = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            opponents[row["name"]] = Opponent(
                name=row["name"],
                rating=int(row["rating"]) if row["rating"] else None,
                commands=tuple(row["commands"].split("|")),
                options=tuple(parse_option(text) for text in row["options"].split(";") if text),
                protocol=row["protocol"],
            )
    return opponents


def parse_option(text: str) -> tuple[str, str]:
    """Reads `NAME=VALUE`."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise Trouble(f"an option is written NAME=VALUE, not '{text}'")
    return name, value


def find_command(text: str) -> tuple[str, ...] | None:
    """A command with its program found, or nothing."""
    words = shlex.split(text)
    if not words:
        return None
    places = os.pathsep.join([os.environ.get("PATH", ""), *GAMES_FOLDERS])
    program = words[0] if os.sep in words[0] else shutil.which(words[0], path=places)
    if program is None or not os.path.isfile(program) or not os.access(program, os.X_OK):
        return None
    return (os.path.abspath(program), *words[1:])


def find_opponent(opponent: Opponent, command: str | None = None) -> Engine | None:
    """An opponent of the table, if it is installed or a command is given for it."""
    for text in [command] if command else opponent.commands:
        found = find_command(text)
        if found:
            return Engine(opponent.name, found, opponent.options, opponent.protocol)
    return None


def find_engine(text: str, name: str | None = None, options: Iterable[str] = ()) -> Engine:
    """What a user calls an engine: a name of the table, `cairn`, or a command."""
    opponent = read_opponents().get(text)
    engine = find_opponent(opponent) if opponent else None
    if engine is None:
        command = find_command(str(RELEASE) if text == "cairn" else text)
        if command is None and text == "cairn":
            raise Trouble("target/release/cairn is missing: cargo build --release makes it")
        if command is None:
            raise Trouble(f"there is no engine '{text}'")
        engine = Engine(Path(command[0]).name, command)
    # What is said last holds.
    merged = {**dict(engine.options), **dict(parse_option(option) for option in options)}
    return Engine(name or engine.name, engine.command, tuple(merged.items()), engine.protocol)


# Games


@dataclass(frozen=True)
class Game:
    """A finished game, seen from A."""

    a_is_white: bool
    score: float
    opening: str
    termination: str
    loser: str


def opening_key(fen: str) -> str:
    """What two notations of the same opening have in common: pieces, side and castling."""
    return " ".join(fen.split()[:3])


def parse_game(text: str, name_a: str) -> Game | None:
    """Reads one game of a PGN file. One without a result gives nothing."""
    tags = dict(re.findall(r'^\[(\w+) "(.*)"\]\s*$', text, re.MULTILINE))
    white_score = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}.get(tags.get("Result", "*"))
    termination = tags.get("Termination", "normal")
    if white_score is None or termination == "unterminated":
        return None
    a_is_white = tags["White"] == name_a
    if white_score == 0.5:
        loser = ""
    else:
        loser = tags["Black"] if white_score == 1.0 else tags["White"]
    return Game(
        a_is_white=a_is_white,
        score=white_score if a_is_white else 1.0 - white_score,
        opening=opening_key(tags.get("FEN", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq")),
        termination=termination,
        loser=loser,
    )


class GameFile:
    """The games of a PGN file that still grows."""

    def __init__(self, path: Path, name_a: str):
        self.path, self.name_a = path, name_a
        self.games: list[Game] = []
        self.rest, self.offset = "", 0

    def read(self) -> list[Game]:
        """Takes in what is new, and returns all games."""
        if self.path.exists():
            with open(self.path, "rb") as file:
                file.seek(self.offset)
                fresh = file.read()
            # A line that is still being written waits for its end.
            fresh = fresh[: fresh.rfind(b"\n") + 1]
            self.offset += len(fresh)
            self.rest += fresh.decode(errors="replace").replace("\r\n", "\n")
        *complete, last = re.split(r"^(?=\[Event )", self.rest, flags=re.MULTILINE)
        # The last game is complete when its moves end with the result.
        if re.search(r"\n\n.*(1-0|0-1|1/2-1/2|\*)\s*\Z", last, re.DOTALL):
            complete.append(last)
            last = ""
        self.rest = last
        parsed = (parse_game(text, self.name_a) for text in complete if text.strip())
        self.games += [game for game in parsed if game]
        return self.games


# Statistics


def elo_of(score: float) -> float:
    """The Elo difference that goes with a score between 0 and 1."""
    return 400.0 * math.log10(score / (1.0 - score))


def score_of(elo: float) -> float:
    """The score that goes with an Elo difference."""
    return 1.0 / (1.0 + math.pow(10.0, -elo / 400.0))


@dataclass(frozen=True)
class Tally:
    """Wins, draws and losses of A, and how much the score of a pair of games varies."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    # The sum over pairs of squared differences from the mean, in points.
    squares: float = 0.0

    @staticmethod
    def of(games: Sequence[Game]) -> Tally:
        """Counts games. The two games of an opening go together: they are not independent."""
        scores = Counter(game.score for game in games)
        if not games:
            return Tally()
        mean = sum(game.score for game in games) / len(games)
        return Tally(
            wins=scores[1.0],
            draws=scores[0.5],
            losses=scores[0.0],
            squares=sum((sum(pair) - len(pair) * mean) ** 2 for pair in pairs(games)),
        )

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        return (self.wins + self.draws / 2) / self.games

    @property
    def elo(self) -> float | None:
        """The Elo difference, unless all games ended alike."""
        return elo_of(self.score) if self.games and 0.0 < self.score < 1.0 else None

    @property
    def error(self) -> float | None:
        """Half of the 95 % interval of the Elo difference, where there is one."""
        if self.elo is None or self.squares == 0.0:
            return None
        margin = ERROR_BAR * math.sqrt(self.squares) / self.games
        low, high = self.score - margin, self.score + margin
        return (elo_of(high) - elo_of(low)) / 2 if low > 0.0 and high < 1.0 else None

    def __str__(self) -> str:
        if self.elo is None:
            return f"+{self.wins} ={self.draws} -{self.losses}"
        error = "?" if self.error is None else f"{self.error:.1f}"
        return f"+{self.wins} ={self.draws} -{self.losses}  Elo {self.elo:+.1f} +/- {error}"


def pairs(games: Sequence[Game]) -> list[list[float]]:
    """The scores of games, those of the same opening with both colours together."""
    by_opening: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for game in games:
        by_opening[game.opening][game.a_is_white].append(game.score)
    together = []
    for black, white in by_opening.values():
        both = min(len(black), len(white))
        together += [[black[i], white[i]] for i in range(both)]
        together += [[score] for score in black[both:] + white[both:]]
    return together


@dataclass(frozen=True)
class Sprt:
    """A sequential test between two Elo differences (logistic)."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    @property
    def lower(self) -> float:
        return math.log(self.beta / (1.0 - self.alpha))

    @property
    def upper(self) -> float:
        return math.log((1.0 - self.beta) / self.alpha)

    def llr(self, games: Sequence[Game]) -> float:
        """The log-likelihood ratio of elo1 to elo0, in the normal approximation over pairs of
        games. Two pairs that were not played, one won and one lost in both games, keep it from jumping
        while there are few."""
        played = [*pairs(games), [1.0, 1.0], [0.0, 0.0]]
        count = sum(len(pair) for pair in played)
        mean = sum(sum(pair) for pair in played) / count
        squares = sum((sum(pair) - len(pair) * mean) ** 2 for pair in played)
        score0, score1 = score_of(self.elo0), score_of(self.elo1)
        return (score1 - score0) * (2 * mean - score0 - score1) / (2 * squares / count**2)

    def verdict(self, games: Sequence[Game]) -> str | None:
        """What the test says, once it says something."""
        llr = self.llr(games)
        if llr >= self.upper:
            return f"passed: {self.elo1:g} Elo rather than {self.elo0:g}"
        if llr <= self.lower:
            return f"failed: {self.elo0:g} Elo rather than {self.elo1:g}"
        return None

    def show(self, games: Sequence[Game]) -> str:
        return f"LLR {self.llr(games):+.2f} [{self.lower:.2f}, {self.upper:.2f}]"


# Matches


@dataclass(frozen=True)
class Match:
    """What is to be played."""

    a: Engine
    b: Engine
    games: int
    tc: str = "8+0.08"
    hash_mib: int = 64
    concurrency: int | None = None
    openings: Path = OPENINGS
    seed: int = 1
    sprt: Sprt | None = None
    tool: str = ""
    folder: Path = MATCHES

    def schedule(self) -> list[tuple[str, bool]]:
        """The games in their order: the opening, and whether A is white."""
        lines = self.openings.read_text().splitlines()
        openings = [" ".join(line.split()[:4]) for line in lines if line.strip()]
        if not openings:
            raise Trouble(f"{self.openings} has no positions")
        random.Random(self.seed).shuffle(openings)
        rounds = (self.games + 1) // 2
        return [(openings[i % len(openings)], a_is_white) for i in range(rounds) for a_is_white in (True, False)]

    def key(self) -> str:
        """What has to be the same for a match to go on. More games may be wanted than before."""
        parts: list[object] = [self.a.fingerprint(), self.b.fingerprint(), self.tc, self.hash_mib, self.seed]
        parts += [hashlib.sha256(self.openings.read_bytes()).hexdigest(), Path(self.tool).name]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:8]

    def home(self) -> Path:
        """The folder where its games are kept."""
        name = f"{self.a.name}-{self.b.name}-{self.tc}-{self.key()}"
        return self.folder / re.sub(r"[^\w.+-]", "_", name)


@dataclass
class Outcome:
    """How a match stands or has ended."""

    games: list[Game]
    home: Path
    broken_off: bool = False
    verdict: str | None = None
    faults: Counter[tuple[str, str]] = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)

    @property
    def tally(self) -> Tally:
        return Tally.of(self.games)


def find_tool(wanted: str | None, xboard: bool = False) -> str:
    """The program that runs the games. Only cutechess-cli can talk to xboard engines."""
    for name in [wanted] if wanted else TOOLS:
        path = shutil.which(name)
        if path and not (xboard and "cutechess" not in Path(path).name):
            return os.path.abspath(path)
    needed = "cutechess-cli, which an xboard engine needs," if xboard else wanted or " or ".join(TOOLS)
    raise Trouble(f"{needed} is not in the PATH")


def base_seconds(tc: str) -> float:
    """The seconds on the clock at the start: of `8+0.08`, `40/60+0.6` or `1:30+1`."""
    try:
        clock = tc.split("+")[0].split("/")[-1]
        minutes, _, seconds = clock.rpartition(":")
        return 60 * float(minutes or 0) + float(seconds)
    except ValueError:
        raise Trouble(f"a clock is written like 8+0.08, not '{tc}'") from None


def tool_command(match: Match, first: Engine, second: Engine, rounds: int, halves: bool, openings: Path) -> list[str]:
    """The command line for rounds of two games each, or of one game with `first` as white."""
    fastchess = "cutechess" not in Path(match.tool).name
    words = [match.tool]
    for engine in (first, second):
        words += ["-engine", f"cmd={engine.command[0]}", f"name={engine.name}"]
        arguments = engine.command[1:]
        if fastchess and arguments:
            words.append(f"args={shlex.join(arguments)}")
        elif arguments:
            words += [f"arg={argument}" for argument in arguments]
        if engine.protocol == "uci":
            options = {"Hash": str(match.hash_mib), **dict(engine.options)}
            words += [f"option.{name}={value}" for name, value in options.items()]
        words.append(f"proto={engine.protocol}")
    words += ["-each", f"tc={match.tc}", "timemargin=0", "-rounds", str(rounds), "-recover"]
    words += ["-games", "1", "-noswap"] if halves else ["-games", "2", "-repeat"]
    words += ["-openings", f"file={openings}", "format=epd", "order=sequential", "-ratinginterval", "0"]
    concurrency = match.concurrency or (2 if base_seconds(match.tc) >= 1.0 else 1)
    words += ["-concurrency", str(concurrency), "-pgnout"]
    if not fastchess:
        return words + ["games.pgn"]
    words += ["file=games.pgn", "append=true", "-autosaveinterval", "0", "-check-mate-pvs"]
    return words + (["-force-concurrency"] if concurrency > (os.cpu_count() or 1) else [])


class Progress:
    """A line that says how far a match is: overwritten on a terminal, else now and then a new one."""

    def __init__(self, match: Match):
        self.match, self.last = match, time.monotonic()
        self.terminal = sys.stdout.isatty()

    def show(self, games: Sequence[Game]) -> None:
        if not self.terminal and time.monotonic() - self.last < PROGRESS_INTERVAL:
            return
        self.last = time.monotonic()
        line = f"{len(games)}/{self.match.games}  {Tally.of(games)}"
        if self.match.sprt:
            line += f"  {self.match.sprt.show(games)}"
        print(f"\r\033[K{line}" if self.terminal else line, end="" if self.terminal else "\n", flush=True)

    def finish(self) -> None:
        if self.terminal:
            print("\r\033[K", end="", flush=True)


def run_tool(match: Match, command: list[str], home: Path, lock: IO[str], file: GameFile, progress: Progress) -> bool:
    """Runs the tool until its games or the test are over. Whether it was broken off by the user."""
    with open(home / "tool.log", "a") as log:
        log.write(f"$ {shlex.join(command)}\n")
        log.flush()
        # The tool holds the lock too: a match cannot be played twice at a time, even if this program dies.
        tool = subprocess.Popen(
            command,
            cwd=home,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(lock.fileno(),),
            start_new_session=True,
        )
        assert tool.stdout is not None
        try:
            for line in tool.stdout:
                log.write(line)
                if "Finished game" not in line:
                    continue
                log.flush()
                progress.show(file.read())
                if match.sprt and match.sprt.verdict(file.games):
                    stop(tool)
                    return False
            if tool.wait() != 0:
                raise Trouble(f"the tool has failed, see {home / 'tool.log'}")
            return False
        except KeyboardInterrupt:
            stop(tool)
            return True
        finally:
            if tool.poll() is None:
                stop(tool)
            tool.stdout.close()


def stop(tool: subprocess.Popen[str]) -> None:
    """Ends the tool and its engines."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        try:
            if number == signal.SIGKILL:
                os.killpg(tool.pid, number)
            else:
                tool.send_signal(number)
            tool.communicate(timeout=PATIENCE)
            return
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            return


def missing_games(match: Match, played: Sequence[Game]) -> tuple[list[str], list[str], list[str]]:
    """What is still to be played: openings for both colours, with A as white alone, as black alone."""
    done = Counter((game.opening, game.a_is_white) for game in played)
    missing: dict[int, list[bool]] = {}
    schedule = match.schedule()
    for number, (opening, a_is_white) in enumerate(schedule):
        key = (opening_key(opening), a_is_white)
        if done[key] > 0:
            done[key] -= 1
        else:
            missing.setdefault(number // 2, []).append(a_is_white)
    both = [schedule[2 * number][0] for number, colours in missing.items() if len(colours) == 2]
    white = [schedule[2 * number][0] for number, colours in missing.items() if colours == [True]]
    black = [schedule[2 * number][0] for number, colours in missing.items() if colours == [False]]
    return both, white, black


def play(match: Match, fresh: bool = False) -> Outcome:
    """Plays a match, or what is left of it."""
    home = match.home()
    home.mkdir(parents=True, exist_ok=True)
    with open(home / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Trouble(f"this match is being played already, in {home}") from None
        if fresh:
            put_aside(home)
        file = GameFile(home / "games.pgn", match.a.name)
        if file.read():
            print(f"{len(file.games)} games were played before")
        outcome = Outcome(games=file.games, home=home)
        progress = Progress(match)
        both, white, black = missing_games(match, file.games)
        for openings, first, second, halves in (
            (white, match.a, match.b, True),
            (black, match.b, match.a, True),
            (both, match.a, match.b, False),
        ):
            decided = match.sprt is not None and match.sprt.verdict(file.games) is not None
            if not openings or outcome.broken_off or decided:
                continue
            book = home / "openings.epd"
            book.write_text("".join(f"{opening}\n" for opening in openings))
            command = tool_command(match, first, second, len(openings), halves, book)
            outcome.broken_off = run_tool(match, command, home, lock, file, progress)
        progress.finish()
        file.read()
    outcome.broken_off = outcome.broken_off and len(file.games) < match.games
    outcome.verdict = match.sprt.verdict(file.games) if match.sprt else None
    if not outcome.broken_off and outcome.verdict is None and len(file.games) < match.games:
        raise Trouble(
            f"the tool has ended after {len(file.games)} of {match.games} games, see {home / 'tool.log'}; "
            "the same command goes on with it"
        )
    count_faults(match, outcome)
    return outcome


def put_aside(home: Path) -> None:
    """Begins anew; what was played is kept under another name."""
    for name in ("games.pgn", "tool.log"):
        if (home / name).exists():
            number = 1
            while (home / f"{name}.{number}").exists():
                number += 1
            (home / name).rename(home / f"{name}.{number}")
    (home / RECORDED).unlink(missing_ok=True)


def count_faults(match: Match, outcome: Outcome) -> None:
    """Counts what went wrong, by engine."""
    kinds = {"time forfeit": "time losses", "illegal move": "illegal moves"}
    for game in outcome.games:
        kind = kinds.get(game.termination, "disconnects")
        if game.termination not in ("normal", "adjudication"):
            outcome.faults[game.loser or "either", kind] += 1
    log = outcome.home / "tool.log"
    if not log.exists():
        return
    for line in log.read_text(errors="replace").splitlines():
        text = re.sub(r"\033\[[0-9;]*m", "", line).strip()
        if not text.lower().startswith("warning"):
            continue
        if "have option" in text:
            # No fault: an engine need not have what is set for all.
            if text not in outcome.remarks:
                outcome.remarks.append(text)
        else:
            names = [engine.name for engine in (match.a, match.b) if re.search(rf"\b{re.escape(engine.name)}\b", text)]
            outcome.faults[names[-1] if names else "either", "warnings"] += 1


def describe_faults(match: Match, outcome: Outcome) -> str:
    """What went wrong in a match, in one line for each engine."""
    lines = []
    for name in (match.a.name, match.b.name, "either"):
        counts = [
            f"{outcome.faults[name, kind]} {kind}"
            for kind in ("time losses", "illegal moves", "disconnects", "warnings")
        ]
        if name != "either" or any(key[0] == name for key in outcome.faults):
            lines.append(f"{name}: {', '.join(counts)}")
    return "\n".join(lines)


# Results


def commit() -> str:
    """The commit that is checked out, marked if the sources differ from it."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()

    try:
        name = git("rev-parse", "--short=7", "HEAD")
        changed = git("status", "--porcelain", "--untracked-files=no", "--", "engine", "uci", "Cargo.toml", "Cargo.lock")
        return name + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def without_places(words: Sequence[str]) -> str:
    """A command line without the folders of this machine."""

    def shorten(word: str) -> str:
        name, equals, value = word.rpartition("=")
        if os.path.isabs(value):
            path = Path(value)
            value = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name
        return name + equals + value

    return shlex.join(shorten(word) for word in words)


def record(command: str, tally: Tally, path: Path = RESULTS) -> None:
    """Adds a row to the table of results."""
    is_new = not path.exists()
    with open(path, "a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(RESULT_COLUMNS)
        elo = "" if tally.elo is None else f"{tally.elo:.2f}"
        error = "" if tally.error is None else f"{tally.error:.2f}"
        writer.writerow([commit(), command, tally.games, tally.wins, tally.draws, tally.losses, elo, error])


def record_match(outcome: Outcome, command: str, path: Path = RESULTS) -> None:
    """Adds a row for a match, unless its last one says as much. Whether games were played just now does not
    matter: the tool may have failed after the last one, or they were not to be recorded then."""
    mark = outcome.home / RECORDED
    games = str(outcome.tally.games)
    if games != (mark.read_text() if mark.exists() else "0"):
        record(command, outcome.tally, path)
        mark.write_text(games)


# Command line


def add_match_options(parser: argparse.ArgumentParser, tc: str, games: int) -> None:
    """The options that all scripts have that play matches."""
    parser.add_argument("--tc", default=tc, help="the clock: seconds + increment (%(default)s)")
    parser.add_argument(
        "--games", type=int, default=games, help="games, the most if there are SPRT bounds (%(default)s)"
    )
    parser.add_argument("--hash", type=int, default=64, help="hash table of each engine, in MiB (%(default)s)")
    parser.add_argument("--concurrency", type=int, help="games at a time (2; 1 for clocks under a second)")
    parser.add_argument("--openings", type=Path, default=OPENINGS, help="EPD file with openings (scripts/openings.epd)")
    parser.add_argument("--seed", type=int, default=1, help="which openings come first (%(default)s)")
    parser.add_argument("--tool", help="fastchess or cutechess-cli (the first that is in the PATH)")
    parser.add_argument("--no-record", action="store_true", help="add no row to scripts/results.csv")
    parser.add_argument("--fresh", action="store_true", help="begin anew; earlier games are put aside")


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="match.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("a", metavar="A", help="the engine whose result is told")
    parser.add_argument("b", metavar="B", help="its opponent")
    add_match_options(parser, tc="8+0.08", games=100)
    parser.add_argument(
        "--option-a", action="append", default=[], metavar="NAME=VALUE", help="an option of A; repeatable"
    )
    parser.add_argument(
        "--option-b", action="append", default=[], metavar="NAME=VALUE", help="an option of B; repeatable"
    )
    parser.add_argument("--name-a", help="what A is called (its file name)")
    parser.add_argument("--name-b", help="what B is called (its file name)")
    parser.add_argument("--elo0", type=float, help="stop when a test (SPRT) prefers this difference ...")
    parser.add_argument("--elo1", type=float, help="... or this one")
    parser.add_argument(
        "--alpha", type=float, default=0.05, help="chance that the test is wrong if elo0 holds (%(default)s)"
    )
    parser.add_argument(
        "--beta", type=float, default=0.05, help="chance that the test is wrong if elo1 holds (%(default)s)"
    )
    parser.add_argument("--out", type=Path, default=MATCHES, help="where the folder of the match goes (target/matches)")
    return parser.parse_args(arguments)


def match_of(args: argparse.Namespace, a: Engine, b: Engine, sprt: Sprt | None = None, folder: Path | None = None) -> Match:
    """The match that the options of `add_match_options` and `--out` ask for."""
    return Match(
        a=a,
        b=b,
        games=args.games,
        tc=args.tc,
        hash_mib=args.hash,
        concurrency=args.concurrency,
        openings=args.openings.resolve(),
        seed=args.seed,
        sprt=sprt,
        tool=find_tool(args.tool, xboard="xboard" in (a.protocol, b.protocol)),
        folder=folder or args.out.resolve(),
    )


def make_match(args: argparse.Namespace) -> Match:
    a = find_engine(args.a, args.name_a, args.option_a)
    b = find_engine(args.b, args.name_b, args.option_b)
    if a.name == b.name:
        a = Engine(f"{a.name}-a", a.command, a.options, a.protocol)
        b = Engine(f"{b.name}-b", b.command, b.options, b.protocol)
    base_seconds(args.tc)
    if (args.elo0 is None) != (args.elo1 is None):
        raise Trouble("a test needs --elo0 and --elo1")
    sprt = None if args.elo0 is None else Sprt(args.elo0, args.elo1, args.alpha, args.beta)
    return match_of(args, a, b, sprt)


def run_match(arguments: Sequence[str]) -> int:
    args = parse_arguments(arguments)
    match = make_match(args)
    tool = Path(match.tool).name
    print(f"{match.a.name} - {match.b.name}, {match.tc}, up to {match.games} games with {tool}, in {match.home()}")
    outcome = play(match, fresh=args.fresh)
    tally = outcome.tally
    for remark in outcome.remarks:
        print(remark)
    print(describe_faults(match, outcome))
    print(f"{match.a.name} - {match.b.name}: {tally.games} games  {tally}")
    if match.sprt:
        print(f"{match.sprt.show(outcome.games)}: {outcome.verdict or 'no verdict yet'}")
    if outcome.broken_off:
        print("broken off; the same command goes on with it")
        return 130
    if not args.no_record:
        verdict = f" [SPRT {outcome.verdict or 'without verdict'}]" if match.sprt else ""
        record_match(outcome, without_places(["scripts/match.sh", *arguments]) + f" ({tool}){verdict}")
    return 0


def interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def guarded(run: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> int:
    """Runs a program of these scripts: trouble is told in one line, and a polite end is an interruption."""
    signal.signal(signal.SIGTERM, interrupt)
    try:
        return run(arguments)
    except KeyboardInterrupt:
        return 130
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(guarded(run_match, sys.argv[1:]))
