#!/usr/bin/env python3
"""Checks how the match scripts read games, count, go on with a match, record it, and fit ratings and chances.
Plays nothing. Needs the libraries of scripts/requirements.txt.

    scripts/check/matches.py
"""

import contextlib
import io
import math
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import arena
import gamefiles
import ladder
import levels
import wdl

import chess
import numpy as np

OPENINGS = arena.OPENINGS.read_text().splitlines()


def pgn(white: str, black: str, result: str, fen: str, termination: str = "normal") -> str:
    tags = {"Event": "?", "White": white, "Black": black, "Result": result, "FEN": f"{fen} 0 1", "SetUp": "1"}
    lines = [f'[{name} "{value}"]' for name, value in {**tags, "Termination": termination}.items()]
    return "\n".join(
        [*lines, "", "1. e4 {+0.10/5 0.1s} e5 {+0.20/5", f"0.1s, somebody did something}} {result}", "", ""]
    )


# White's score goes with the moves e4 and Nf3, black's with e5; the comments span lines and hold anything.
SCORED = """1. e4 {+0.10/5 0.1s} {+9.00/9 no second move} e5 {-0.20/5
[Odd "tag"]
0.1s, {a 1-0 (b) $1 e4} 2.Nf3 $1 {+0.30/6 0.1s} """


def bare_pgn(moves: str, result: str, *lines: str) -> str:
    """A game with few tags."""
    tags = ['[Event "?"]', '[White "new"]', '[Black "old"]', f'[Result "{result}"]', *lines]
    return "\n".join([*tags, "", f"{moves} {result}", "", ""])


def tally_of(difference: float, games: int = 1000) -> arena.Tally:
    """What a difference in Elo comes to on average."""
    wins = round(games * arena.score_of(difference))
    return arena.Tally(wins, 0, games - wins)


def game(a_is_white: bool, score: float, opening: str) -> arena.Game:
    return arena.Game(a_is_white, score, arena.opening_key(opening), "normal", "")


def match(games: int) -> arena.Match:
    engine = arena.Engine("a", (sys.executable,))
    return arena.Match(a=engine, b=replace(engine, name="b"), games=games, tool="fastchess")


class Games(unittest.TestCase):
    def test_a_growing_file_is_read_game_by_game(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "games.pgn"
            file = arena.GameFile(path, "A")
            self.assertEqual(file.read(), [])
            text = (
                pgn("A", "B", "1-0", OPENINGS[0])
                + pgn("B", "A", "1-0", OPENINGS[0], "time forfeit")
                + pgn("A", "B", "*", OPENINGS[1], "unterminated")
                + pgn("B", "A", "1/2-1/2", OPENINGS[1])
            )
            for end in range(0, len(text) + 1, 7):
                path.write_text(text[:end])
                file.read()
            path.write_text(text)
            games = file.read()
        self.assertEqual([(game.a_is_white, game.score) for game in games], [(True, 1.0), (False, 0.0), (False, 0.5)])
        self.assertEqual((games[1].termination, games[1].loser), ("time forfeit", "A"))
        self.assertEqual(games[0].opening, games[1].opening)

    def test_a_match_goes_on_with_what_is_missing(self) -> None:
        wanted = match(2 * len(OPENINGS) + 10)
        schedule = wanted.schedule()
        self.assertEqual(len(schedule), wanted.games)
        self.assertEqual({opening for opening, _ in schedule}, set(OPENINGS))
        played = [game(a_is_white, 1.0, opening) for opening, a_is_white in schedule]
        self.assertEqual(arena.missing_games(wanted, played), ([], [], []))
        both, white, black = arena.missing_games(wanted, played[:2] + played[3:7] + played[8:-2])
        self.assertEqual((len(both), white, black), (1, [schedule[2][0]], [schedule[7][0]]))
        self.assertEqual(len(arena.missing_games(wanted, [])[0]), wanted.games // 2)

    def test_a_tool_that_ends_early_is_told(self) -> None:
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            wanted = replace(match(2), tool=shutil.which("true") or "true", folder=Path(folder))
            self.assertRaisesRegex(arena.Trouble, "after 0 of 2 games", arena.play, wanted)
            (wanted.home() / "games.pgn").write_text(
                "".join(pgn(*("ab" if is_white else "ba"), "1-0", fen) for fen, is_white in wanted.schedule())
            )
            self.assertEqual(arena.play(wanted).tally.games, 2)

    def test_the_openings_are_many_and_different(self) -> None:
        self.assertGreaterEqual(len({arena.opening_key(fen) for fen in OPENINGS}), 500)
        self.assertLess(arena.OPENINGS.stat().st_size, 100_000)

    def test_another_program_or_clock_is_another_match(self) -> None:
        self.assertEqual(match(10).key(), match(20).key())
        self.assertNotEqual(match(10).key(), replace(match(10), tc="1+0.01").key())
        other = arena.Engine("a", (__file__,))
        self.assertNotEqual(match(10).key(), replace(match(10), a=other).key())

    def test_clocks_are_read(self) -> None:
        for text, seconds in (("8+0.08", 8), ("40/60+0.6", 60), ("1:30+1", 90), ("0.1+0.01", 0.1)):
            self.assertEqual(arena.base_seconds(text), seconds)
        self.assertRaises(arena.Trouble, arena.base_seconds, "fast")

    def test_commands_do_not_tell_where_things_are(self) -> None:
        words = [str(arena.ROOT / "target/release/cairn"), "--opponent", "fruit=/opt/fruit/fruit", "--tc", "1+0.01"]
        text = arena.without_places(words)
        self.assertEqual(text, "target/release/cairn --opponent fruit=fruit --tc 1+0.01")


class Libraries(unittest.TestCase):
    def run_bare(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        # Without site, nothing but the standard library is found.
        command = [sys.executable, "-S", str(arena.SCRIPTS / name), *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def test_a_missing_one_is_named_before_anything_is_done_and_help_needs_none(self) -> None:
        needy = {
            "ladder.py": [],
            "levels.py": [],
            "wdl.py": ["none.pgn"],
            "check/analysis.py": [],
            "check/epd.py": ["none.epd"],
            "check/play.py": [],
            "check/speed.py": ["a", "b"],
        }
        for name, arguments in needy.items():
            result = self.run_bare(name, *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            said = rf"^{Path(name).name} needs the Python library \w+: .* -m pip install -r .*requirements\.txt\n$"
            self.assertRegex(result.stderr, said)
        for name in [*needy, "arena.py"]:
            result = self.run_bare(name, "--help")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("usage: ", result.stdout)


class Arguments(unittest.TestCase):
    def test_wrong_ones_are_told_with_the_usage(self) -> None:
        folder = str(arena.ROOT / "target/no-chain")
        for command, code, said in [
            (["train/chain.sh"], 2, "needs a folder"),
            (["train/chain.sh", "--small"], 2, "needs a folder"),
            (["train/chain.sh", "--smal", folder], 2, "no option --smal"),
            (["train/chain.sh", folder, "two"], 2, "threads"),
            (["train/chain.sh", "-h"], 0, "chain.sh FOLDER"),
            (["train/chain.sh", "--small", "--help"], 0, "chain.sh FOLDER"),
            (["check/builds.py", "/nonexistent"], 2, "no program '/nonexistent'"),
            (["check/builds.py", sys.executable, "--option", "Hash"], 2, "NAME=VALUE"),
        ]:
            interpreter = "bash" if command[0].endswith(".sh") else sys.executable
            result = subprocess.run(
                [interpreter, str(arena.SCRIPTS / command[0]), *command[1:]], capture_output=True, text=True, timeout=60
            )
            self.assertEqual(result.returncode, code, command)
            self.assertIn(said, result.stdout + result.stderr)
            self.assertNotIn("Traceback", result.stderr)
        self.assertFalse(Path(folder).exists())


class Records(unittest.TestCase):
    def test_a_match_is_recorded_once_for_each_number_of_games(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            home, table = Path(folder), Path(folder) / "results.csv"
            outcome = arena.Outcome([], home)
            arena.record_match(outcome, "none", table)
            self.assertFalse(table.exists())
            games = [game(a_is_white, 0.5, OPENINGS[0]) for a_is_white in (True, False)]
            # All of them may have been played before: what counts is whether there is a row for them.
            for outcome.games in (games, games, games * 2, games * 2):
                arena.record_match(outcome, "some", table)
            rows = table.read_text().splitlines()
            self.assertEqual([row.split(",")[1:3] for row in rows[1:]], [["some", "2"], ["some", "4"]])
            # Who begins anew has recorded nothing.
            (home / "games.pgn").touch()
            arena.put_aside(home)
            arena.record_match(outcome, "anew", table)
            self.assertEqual(len(table.read_text().splitlines()), 4)

    def test_a_build_goes_by_its_commit_and_another_program_by_its_file(self) -> None:
        release, other = arena.Engine("Cairn", (str(arena.RELEASE),)), arena.Engine("Cairn", (__file__,))
        if arena.RELEASE.exists():
            self.assertTrue(ladder.label_of(release).startswith(arena.commit()))
        self.assertRegex(ladder.label_of(other), r"^matches\.py [0-9a-f]{4}$")


def game_file(games: list[tuple[int, int, list[chess.Move], int]]) -> bytes:
    """A file of games that were played at random, from the numbers of both back ranks, with two moves of an opening
    and scores from white's view that count up, and half points for white."""
    text = b"CairnGam" + struct.pack("<HH", 2, 64) + bytes(52)
    for number, (white, black, moves, result) in enumerate(games):
        board, words = chess960(white, black), []
        for ply, move in enumerate(moves):
            # Rows from rank 8 down, and castling as the king taking its own rook, as python-chess has it, too.
            squares = [16 * (7 - chess.square_rank(square)) + chess.square_file(square) for square in move_squares(move)]
            kind = move.promotion - chess.KNIGHT if move.promotion else 0
            words.append(struct.pack("<H", squares[0] | squares[1] << 7 | kind << 14))
            words[-1] += struct.pack("<h", ply) if ply >= 2 else b""
            board.push(move)
        ending = 4 if result == 1 else 0
        head = struct.pack("<HHBBHB", white, black, result, ending, len(moves) - 2, 2)
        block = struct.pack("<I", number), head + b"".join(words)
        text += block[0] + struct.pack("<I", zlib.crc32(b"".join(block))) + block[1]
    return text


def move_squares(move: chess.Move) -> tuple[int, int]:
    return move.from_square, move.to_square


def chess960(white: int, black: int) -> chess.Board:
    """The start with these back ranks."""
    ranks = [chess.Board.from_chess960_pos(number).fen().split("/")[-1].split()[0] for number in (white, black)]
    return chess.Board(f"{ranks[1].lower()}/pppppppp/8/8/8/8/PPPPPPPP/{ranks[0]} w KQkq - 0 1", chess960=True)


class GameFiles(unittest.TestCase):
    def test_positions_are_those_that_were_searched(self) -> None:
        choose, games = random.Random(3), []
        for white, black in ((518, 518), *((choose.randrange(960), choose.randrange(960)) for _ in range(30))):
            board = chess960(white, black)
            while board.ply() < 200 and not board.is_game_over():
                moves = list(board.legal_moves)
                rare = [m for m in moves if board.is_castling(m) or board.is_en_passant(m) or m.promotion]
                board.push(choose.choice(rare or moves))
            games.append((white, black, board.move_stack, choose.randrange(3)))
        worth = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 0}
        rare: set[str] = set()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "games.bin"
            path.write_bytes(game_file(games))
            self.assertTrue(gamefiles.is_game_file(path))
            read = list(gamefiles.read(path))
            self.assertEqual(len(read), len(games))
            for (white, black, moves, result), found in zip(games, read):
                self.assertEqual(found.result, (2 - result, result))
                board, plies = chess960(white, black), iter(found.plies)
                for ply, move in enumerate(moves):
                    if ply >= 2:
                        material = sum(worth[piece.piece_type] for piece in board.piece_map().values())
                        score = ply if board.turn else -ply
                        self.assertEqual(next(plies), gamefiles.Ply(score, material, board.turn))
                    rare |= {"castling"} if board.is_castling(move) else set()
                    rare |= {"en passant"} if board.is_en_passant(move) else set()
                    rare |= {"promotion"} if move.promotion else set()
                    board.push(move)
                self.assertIsNone(next(plies, None))
            self.assertEqual(rare, {"castling", "en passant", "promotion"})
            # One that is being written has no whole last game; damage is told with its place.
            whole = path.read_bytes()
            path.write_bytes(whole[:-1])
            self.assertEqual(len(list(gamefiles.read(path))), len(games) - 1)
            path.write_bytes(whole[:100] + b"?" + whole[101:])
            with self.assertRaisesRegex(arena.Trouble, "games.bin, at byte 64: the checksum"):
                list(gamefiles.read(path))
            path.write_bytes(b"CairnGam")
            with self.assertRaisesRegex(arena.Trouble, "no file of games"):
                list(gamefiles.read(path))


class Chances(unittest.TestCase):
    def read(self, *games: str, player: str = "") -> wdl.Positions:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "games.pgn"
            path.write_text("".join(games))
            return wdl.read_pgn([path], player)

    def scored(self, *games: str, player: str = "") -> list[tuple[int, int]]:
        """Scores with half points."""
        positions = self.read(*games, player=player)
        return sorted(zip(positions.score.tolist(), positions.result.tolist()))

    def test_scores_go_with_the_side_that_has_moved(self) -> None:
        black_first = '[FEN "4k3/8/8/8/8/8/8/4K3 b - - 0 1"]'
        for tag, whites in (("", True), ('[FEN "4k3/8/8/8/8/8/8/4K3 w - - 0 1"]', True), (black_first, False)):
            found = self.scored(bare_pgn(SCORED, "1-0", *filter(None, [tag])), bare_pgn(SCORED, "1/2-1/2"))
            first, second = (2, 0) if whites else (0, 2)
            won = [(10, first), (-20, second), (30, first)]
            self.assertEqual(found, sorted([*won, (10, 1), (-20, 1), (30, 1)]))
        self.assertEqual(self.scored(bare_pgn(SCORED, "1-0"), player="OLD"), [(-20, 0)])

    def test_moves_without_comments_are_moves(self) -> None:
        text = "{start} 1. d4 1... d5 2. c4 {book} c6 {+0.40/8 1s} 3. O-O-O 0-0 4.e8=Q+ {+M5/9 1s} Kd7! {-0.50/9 1s}"
        self.assertEqual(self.scored(bare_pgn(text, "0-1")), [(-50, 2), (40, 2)])

    def test_games_that_say_nothing_are_left_out(self) -> None:
        ends = ("time forfeit", "illegal move", "abandoned", "adjudication", "normal")
        games = [bare_pgn(SCORED, "1-0", f'[Termination "{end}"]') for end in ends]
        self.assertEqual(self.read(*games, bare_pgn(SCORED, "*")).games, 2)
        # One that was broken off within a comment does not take the next one with it.
        self.assertEqual(self.read(bare_pgn("1. e4 {+0.1", "*"), bare_pgn(SCORED, "1-0")).games, 1)

    TABLE = wdl.Table(np.array([np.linspace(200, 60, len(wdl.MATERIALS)), np.linspace(30, 110, len(wdl.MATERIALS))], int))

    def played_by(self, table: wdl.Table) -> wdl.Positions:
        """Positions, each a game of its own, whose results are those of a table."""
        choose = np.random.default_rng(1)
        score, material = choose.integers(-400, 401, 300_000), choose.integers(0, 79, 300_000)
        positions = wdl.Positions(score, material, np.zeros_like(score), np.arange(len(score)))
        loss, draw, _ = table.chances(positions)
        lot = choose.random(len(score))
        return wdl.Positions(score, material, (lot > loss).astype(int) + (lot > loss + draw), positions.game)

    def test_a_table_is_found_again(self) -> None:
        found = wdl.fit_table(self.played_by(self.TABLE))
        self.assertLess(np.abs(found.rows / self.TABLE.rows - 1).max(), 0.1, found)

    def test_games_with_more_nodes_make_it_sharper(self) -> None:
        rows = self.TABLE.rows
        deep = self.played_by(wdl.Table(np.array([rows[0], rows[1] // 2])))
        with contextlib.redirect_stdout(io.StringIO()) as said:
            found = wdl.sharpened(self.TABLE, deep)
        self.assertRegex(said.getvalue(), r"0\.(49|50) times")
        self.assertTrue((found.rows[0] == rows[0]).all())
        self.assertLess(np.abs(found.rows[1] - rows[1] / 2).max(), 4, found)

    def test_what_is_shown_as_one_is_an_even_chance(self) -> None:
        played = self.played_by(self.TABLE)
        even, error = wdl.even_chance(self.TABLE.shown(played), drawings=20)
        self.assertTrue(abs(even - 100) < 3 and 0 < error < 5, (even, error))
        half = wdl.Positions(played.score // 2, played.material, played.result, played.game)
        self.assertTrue(abs(wdl.even_chance(self.TABLE.shown(half), drawings=0)[0] - 50) < 15)

    def test_the_program_reckons_alike(self) -> None:
        """By the table that it was built with: `cairn eval` shows the score in both units, and the chances."""
        self.assertTrue(arena.RELEASE.exists(), "cargo build --release makes the program")
        table = wdl.read_table()
        for fen, material in (
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 78),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKB1R w KQkq - 0 1", 75),
            ("4k3/pp3ppp/8/3p4/8/8/PPP2PPP/2R1K3 b - - 0 1", 17),
            ("8/5k2/8/4p3/4P3/3K4/5P2/8 w - - 0 1", 3),
        ):
            said = subprocess.run([arena.RELEASE, "eval", fen], capture_output=True, text=True, check=True).stdout
            shown = float(re.search(r"Evaluation +([+-]\S+)", said)[1])
            own = int(re.search(r"Own units +([+-]\d+)", said)[1])
            positions = wdl.positions_of([(own, material, 0, 0)])
            self.assertEqual(round(100 * shown), table.shown(positions).score[0], said)
            told = re.search(r"white wins (\S+) %, drawn (\S+) %, black wins (\S+) %", said).groups()
            for percent, share in zip(told, table.chances(positions)[::-1, 0]):
                self.assertLess(abs(float(percent) - 100 * share), 0.21, said)


class Levels(unittest.TestCase):
    TABLE = levels.read_levels()

    def test_ratings_of_figures_are_found_again(self) -> None:
        anchors = {"low": 1500.0, "middle": 2100.0, "high": 2900.0}
        real = {"a": 1300.0, "b": 1750.0, "c": 2600.0, "d": 3100.0}
        everybody = {**anchors, **real}
        # Some meet anchors, some only each other.
        met = [("a", "b"), ("b", "low"), ("b", "middle"), ("b", "c"), ("c", "high"), ("c", "middle"), ("d", "c")]
        results = [(a, b, tally_of(everybody[a] - everybody[b], 10_000)) for a, b in met]
        found = levels.fit(results, anchors)
        self.assertEqual(sorted(found), sorted(real))
        for name, rating in real.items():
            self.assertAlmostEqual(found[name][0], rating, delta=10)
            self.assertTrue(0 < found[name][1] < 40, found)
        # Fewer games are less certain.
        few = levels.fit([(a, b, tally_of(everybody[a] - everybody[b], 100)) for a, b in met], anchors)
        self.assertTrue(all(few[name][1] > 5 * found[name][1] for name in real))

    def test_a_whitewash_does_not_run_away(self) -> None:
        anchors = {"low": 1000.0, "high": 3000.0}
        for wins, losses, away in ((60, 0, 1), (0, 60, -1)):
            found = levels.fit([("a", "low", arena.Tally(wins, 0, losses))], anchors)["a"]
            self.assertTrue(600 < away * (found[0] - 1000) < 1300, found)
            chain = [("a", "high", arena.Tally(wins, 0, losses)), ("b", "a", arena.Tally(wins, 0, losses))]
            found = levels.fit(chain, anchors)["b"]
            self.assertTrue(1200 < away * (found[0] - 3000) < 2600, found)

    def test_figures_out_of_order_are_put_together_by_weight(self) -> None:
        rising = [(800.0, (900.0, 50.0)), (1100.0, (1000.0, 50.0)), (1400.0, (1500.0, 50.0))]
        self.assertEqual(levels.climb(rising), [(800.0, 900.0), (1100.0, 1000.0), (1400.0, 1500.0)])
        # Half the error is four times the weight.
        pooled = levels.climb([(800.0, (900.0, 50.0)), (1300.0, (1000.0, 100.0)), (1100.0, (1100.0, 50.0))])
        self.assertEqual(pooled[0], (800.0, 900.0))
        self.assertEqual(len(pooled), 2)
        self.assertAlmostEqual(pooled[1][0], 1140.0)
        self.assertAlmostEqual(pooled[1][1], 1080.0)
        # One that is far too low takes all before it along.
        falling = levels.climb([(1.0, (500.0, 50.0)), (2.0, (600.0, 50.0)), (3.0, (100.0, 50.0))])
        self.assertEqual([tuple(map(round, point)) for point in falling], [(2, 400)])

    def test_figures_stand_for_the_rows_of_the_table(self) -> None:
        (first, *lowest), (second, *second_lowest), *_ = self.TABLE
        step = second - first
        self.assertGreater(len(self.TABLE), 2)
        for number, (figure, nodes, quiet_percent) in enumerate(self.TABLE):
            self.assertEqual(figure, first + number * step)
            self.assertEqual(levels.level_of(figure, self.TABLE), (nodes, quiet_percent))
        self.assertEqual(levels.level_of(first - step, self.TABLE), tuple(lowest))
        self.assertEqual(levels.level_of(first + 99 * step, self.TABLE), self.TABLE[-1][1:])
        middle = tuple((low + high) / 2 for low, high in zip(lowest, second_lowest))
        self.assertEqual(levels.level_of(first + step / 2, self.TABLE), middle)

    def test_a_new_table_rises(self) -> None:
        first, step, last = self.TABLE[0][0], self.TABLE[1][0] - self.TABLE[0][0], self.TABLE[-1][0]
        figures = [float(figure) for figure in range(first, last + 1, 3 * step)]
        # Ratings that are what the figures say leave the table as it is.
        same = levels.table_for([(figure, (figure, 50.0)) for figure in figures], self.TABLE)
        self.assertEqual(same, [row for row in self.TABLE if row[0] <= figures[-1]])
        choose = random.Random(3)
        noisy = [(figure, (700 + 0.8 * figure + choose.gauss(0, 150), choose.uniform(40, 120))) for figure in figures]
        table = levels.table_for(noisy, self.TABLE)
        self.assertGreater(len(table), 2)
        for (wanted, nodes, quiet_percent), (next_wanted, more_nodes, more_percent) in zip(table, table[1:]):
            self.assertEqual(next_wanted, wanted + step)
            self.assertTrue(nodes < more_nodes and quiet_percent <= more_percent, table)

    def test_the_nearest_opponents_are_chosen(self) -> None:
        ratings = {"a": 1000, "b": 1500, "c": 2000}
        anchors = {name: (arena.Engine(name, (sys.executable,)), rating) for name, rating in ratings.items()}
        for expected, names in ((1700.0, ["b", "c"]), (1100.0, ["a", "b"]), (2400.0, ["c"]), (3000.0, [])):
            self.assertEqual([engine.name for engine in levels.nearest(anchors, expected)], names)


class Statistics(unittest.TestCase):
    def test_a_difference_and_its_error_are_those_of_known_matches(self) -> None:
        # 200 pairs of independent games: the error is that of single games.
        scores = [1.0] * 150 + [0.5] * 150 + [0.0] * 100
        random.Random(1).shuffle(scores)
        games = [game(i % 2 == 0, score, OPENINGS[i // 2]) for i, score in enumerate(scores)]
        tally = arena.Tally.of(games)
        self.assertEqual((tally.wins, tally.draws, tally.losses), (150, 150, 100))
        assert tally.elo is not None and tally.error is not None
        self.assertAlmostEqual(tally.elo, 43.66, places=2)
        self.assertAlmostEqual(tally.error, 27.0, delta=4.0)
        # Openings that decide the game tell nothing.
        decided = [game(colour, float(colour), fen) for fen in OPENINGS[:100] for colour in (True, False)]
        self.assertEqual((arena.Tally.of(decided).elo, arena.Tally.of(decided).squares), (0.0, 0.0))

    def test_the_sequential_test_decides_rightly(self) -> None:
        sprt = arena.Sprt(0.0, 10.0)
        self.assertAlmostEqual(sprt.upper, math.log(19.0))
        self.assertIsNone(sprt.verdict([]))
        for difference, verdict in ((40.0, "passed"), (-30.0, "failed")):
            choose, games = random.Random(2), list[arena.Game]()
            while not sprt.verdict(games):
                score = float(choose.random() < arena.score_of(difference))
                games.append(game(len(games) % 2 == 0, score, OPENINGS[len(games) // 2]))
            self.assertTrue(str(sprt.verdict(games)).startswith(verdict))
            self.assertGreater(len(games), 50)

    def test_ratings_are_found_again(self) -> None:
        player, anchors = ladder.Player("new", "1+0.01"), {"weak": 2500, "strong": 2900, "far": 3600}
        results: ladder.Results = {}
        for name, anchor in anchors.items():
            results[player, name] = replace(tally_of(2800 - anchor), squares=500.0)
        results[ladder.Player("lost", "1+0.01"), "far"] = arena.Tally(0, 0, 10)
        ratings = ladder.fit(results, anchors)
        self.assertEqual(list(ratings), [player])
        self.assertAlmostEqual(ratings[player].value, 2800, delta=1)
        self.assertTrue(5 < ratings[player].error < 20)

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ladder.csv"
            ladder.write_ladder(path, results)
            self.assertEqual(ladder.read_ladder(path), results)
        for who in (player, ladder.Player("lost", "1+0.01")):
            rows = ladder.chart_rows(results, who, ratings, anchors)
            figure = ladder.draw(rows, who, ratings.get(who))
            axes = figure.axes[0]
            left, right = axes.get_xlim()
            # All is in the picture: diamonds, points and the ends of their bars.
            values = [v for row in rows for v in (row.anchor, row.low, row.value, row.high) if v is not None]
            self.assertTrue(all(left < value < right for value in values), (left, right, values))
            self.assertEqual([label.get_text() for label in axes.get_yticklabels()], [row.label for row in rows])
            with tempfile.TemporaryDirectory() as folder:
                paths = [Path(folder) / name for name in ("a.svg", "b.svg")]
                for path in paths:
                    ladder.save(ladder.draw(rows, who, ratings.get(who)), path)
                self.assertEqual(*(path.read_bytes() for path in paths))
                words = "".join(ElementTree.parse(paths[0]).getroot().itertext())
            self.assertIn(f"Cairn {who}", words)


if __name__ == "__main__":
    unittest.main()
