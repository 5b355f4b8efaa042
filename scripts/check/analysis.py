#!/usr/bin/env python3
"""Analyses, ponders and plays through python-chess, as its users do, and fails on any oddity.

Checks MultiPV analysis (complete iterations, legal lines, scores in order), infinite analysis that is
broken off, a stream of analyses back to back, games with pondering against itself with hits and
misses, and positions without a move. Whatever python-chess logs as wrong counts as a failure. Needs
python-chess (scripts/requirements.txt).

    scripts/check/analysis.py --engine target/release/cairn
"""

import argparse
import logging
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import libraries

chess = libraries.Library("chess", "chess.engine")

POSITIONS = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1",
]
NO_MOVE = ["7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "7k/8/6QK/8/8/8/8/8 b - - 0 1"]


class Complaints(logging.Handler):
    """Collects what python-chess finds wrong."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


def check(condition, text):
    if not condition:
        raise AssertionError(text)


def check_line(board, info):
    board = board.copy()
    for move in info.get("pv", []):
        check(move in board.legal_moves, f"illegal {move} in {board.fen()}")
        board.push(move)
    score = info["score"].relative
    if score.is_mate() and info.get("pv"):
        moves = score.mate()
        plies = 2 * moves - 1 if moves > 0 else -2 * moves
        check(len(info["pv"]) == plies and board.is_checkmate(), f"mate in {moves}, but {info['pv']}")


def multipv(engine):
    for fen in POSITIONS:
        board = chess.Board(fen)
        for lines in (1, 3, 256):
            infos = engine.analyse(board, chess.engine.Limit(depth=5), multipv=lines)
            wanted = min(lines, board.legal_moves.count())
            check(len(infos) == wanted, f"{len(infos)} lines of {wanted} in {fen}")
            check(len({info["pv"][0] for info in infos if info.get("pv")}) >= wanted - 1, "a move twice")
            for info in infos:
                check_line(board, info)


def endless(engine):
    board = chess.Board()
    for delay in (0, 0.001, 0.05, 0.3):
        with engine.analysis(board) as analysis:
            time.sleep(delay)
        best = analysis.wait().move
        check(best in board.legal_moves, f"{best} after {delay} s")


def in_quick_succession(engine):
    choose, board = random.Random(1), chess.Board()
    for _ in range(60):
        if board.is_game_over():
            board = chess.Board()
        with engine.analysis(board, multipv=choose.choice([1, 2, 4])):
            time.sleep(choose.uniform(0, 0.02))
        board.push(choose.choice(list(board.legal_moves)))


def pondering(engine):
    """Games against itself: the engine ponders on what it expects, and half of the time that comes."""
    choose = random.Random(2)
    for _ in range(3):
        board, marker, hits = chess.Board(), object(), 0
        while not board.is_game_over() and board.ply() < 60:
            result = engine.play(
                board,
                chess.engine.Limit(white_clock=1, black_clock=1, white_inc=0.05, black_inc=0.05),
                game=marker,
                ponder=True,
            )
            check(result.move in board.legal_moves, f"{result.move} in {board.fen()}")
            board.push(result.move)
            if board.is_game_over():
                break
            if result.ponder and choose.random() < 0.5:
                check(result.ponder in board.legal_moves, f"ponder {result.ponder} in {board.fen()}")
                hits += 1
                board.push(result.ponder)
            else:
                board.push(choose.choice(list(board.legal_moves)))
            time.sleep(choose.uniform(0, 0.03))
        check(hits > 0, "nothing to ponder on")


def without_a_move(engine):
    for fen in NO_MOVE:
        board = chess.Board(fen)
        info = engine.analyse(board, chess.engine.Limit(depth=3))
        check("score" in info and not info.get("pv"), f"{info} in {fen}")
        check(engine.play(board, chess.engine.Limit(time=0.05)).move is None, fen)


def chess960(engine):
    board = chess.Board("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", chess960=True)
    for _ in range(20):
        if board.is_game_over():
            break
        board.push(engine.play(board, chess.engine.Limit(nodes=2000)).move)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--engine", default="target/release/cairn")
    args = parser.parse_args()
    libraries.load()
    complaints = Complaints()
    logging.getLogger("chess.engine").addHandler(complaints)
    failed = passed = 0
    for style in ("MicroMax", "Cairn"):
        for test in (multipv, endless, in_quick_succession, pondering, without_a_move, chess960):
            complaints.texts.clear()
            try:
                with chess.engine.SimpleEngine.popen_uci(args.engine, timeout=20) as engine:
                    engine.configure({"Style": style})
                    test(engine)
                    engine.quit()
                check(not complaints.texts, "; ".join(complaints.texts[:3]))
                passed += 1
            except (AssertionError, chess.engine.EngineError, TimeoutError) as error:
                print(f"{style}, {test.__name__}: {type(error).__name__}: {error}")
                failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
