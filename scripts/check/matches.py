#!/usr/bin/env python3
"""Checks how the match scripts read games, count, go on with a match and fit ratings. Plays nothing.

scripts/check/matches.py
"""

import math
import random
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import arena
import ladder

OPENINGS = arena.OPENINGS.read_text().splitlines()


def pgn(white: str, black: str, result: str, fen: str, termination: str = "normal") -> str:
    tags = {"Event": "?", "White": white, "Black": black, "Result": result, "FEN": f"{fen} 0 1", "SetUp": "1"}
    lines = [f'[{name} "{value}"]' for name, value in {**tags, "Termination": termination}.items()]
    return "\n".join(
        [*lines, "", "1. e4 {+0.10/5 0.1s} e5 {+0.20/5", f"0.1s, somebody did something}} {result}", "", ""]
    )


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
            wins = round(1000 * arena.score_of(2800 - anchor))
            results[player, name] = arena.Tally(wins, 0, 1000 - wins, 500.0)
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
            picture = ElementTree.fromstring(ladder.Chart(rows, who, ratings.get(who)).draw())
            points = [float(element.get("cx", "0")) for element in picture.iter("{http://www.w3.org/2000/svg}circle")]
            self.assertTrue(points and all(0 < x < ladder.WIDTH for x in points))


if __name__ == "__main__":
    unittest.main()
