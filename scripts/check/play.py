#!/usr/bin/env python3
"""Plays Cairn against another UCI engine through python-chess and checks its behaviour.

Fails on an illegal move, a move after the time has run out (no margin), a crash, a move that does not
come at all, and whatever else python-chess logs as wrong. With --ponder both sides think on the other's
time, and there have to be hits. --styles plays all games in each of these styles, and lets both
sides have it if the opponent is Cairn itself. Needs python-chess (scripts/requirements.txt).

    scripts/check/play.py --engine target/release/cairn --opponent stockfish \
        --opponent-option UCI_LimitStrength=true --opponent-option UCI_Elo=1350 --games 20
    scripts/check/play.py --opponent target/release/cairn --ponder --styles MicroMax,Cairn
"""

import argparse
import logging
import random
import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import libraries

chess = libraries.Library("chess", "chess.engine")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--engine", default="target/release/cairn", help="the program under test")
    parser.add_argument("--opponent", default="stockfish")
    parser.add_argument("--engine-option", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--opponent-option", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--time", type=float, default=1.0, help="seconds at the start")
    parser.add_argument("--increment", type=float, default=0.1, help="seconds a move")
    parser.add_argument("--openings", help="file of FENs; without one, games begin with 4 random moves")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ponder", action="store_true", help="both sides think on the other's time")
    parser.add_argument("--styles", help="comma-separated; for each all games are played")
    return parser.parse_args()


class Complaints(logging.Handler):
    """Collects what python-chess finds wrong."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


def open_engine(command, options):
    engine = chess.engine.SimpleEngine.popen_uci(command, timeout=10)
    engine.configure(dict(option.split("=", 1) for option in options))
    return engine


def opening(openings, number, seed):
    if openings:
        return chess.Board(openings[number // 2 % len(openings)].split(";")[0].strip())
    board, choose = chess.Board(), random.Random(seed + number // 2)
    for _ in range(4):
        board.push(choose.choice(list(board.legal_moves)))
    return board


def play(white, black, board, args):
    """Returns the result, the ponder hits, and what went wrong, if anything did, with the side that did it."""
    clocks = {chess.WHITE: args.time, chess.BLACK: args.time}
    expected, hits = {}, 0
    marker = object()
    while (outcome := board.outcome(claim_draw=True)) is None:
        side = board.turn
        limit = chess.engine.Limit(
            white_clock=clocks[chess.WHITE],
            black_clock=clocks[chess.BLACK],
            white_inc=args.increment,
            black_inc=args.increment,
        )
        hits += bool(board.move_stack) and expected.get(side) == board.peek()
        start = time.perf_counter()
        try:
            # python-chess raises on an illegal or missing bestmove.
            result = (white if side else black).play(board, limit, game=marker, ponder=args.ponder)
        except chess.engine.EngineError as error:
            return None, hits, side, f"{type(error).__name__}: {error} in {board.fen()}"
        clocks[side] -= time.perf_counter() - start
        if result.move is None or result.move not in board.legal_moves:
            return None, hits, side, f"no legal move ({result.move}) in {board.fen()}"
        if clocks[side] < 0:
            return None, hits, side, f"time loss by {-clocks[side] * 1000:.1f} ms in {board.fen()}"
        clocks[side] += args.increment
        board.push(result.move)
        expected[side] = result.ponder
    return outcome.result(), hits, None, None


def match(style, args):
    """Plays all games in one style, or as the options are; returns how many were faulty."""
    openings = open(args.openings).read().splitlines() if args.openings else None
    score, faults, all_hits = {"win": 0, "draw": 0, "loss": 0}, 0, 0
    complaints = Complaints()
    logging.getLogger("chess.engine").addHandler(complaints)
    styled = [f"Style={style}"] if style else []
    engine = open_engine(args.engine, args.engine_option + styled)
    opponent = open_engine(args.opponent, args.opponent_option)
    if "Style" in opponent.options:
        opponent.configure(dict(option.split("=", 1) for option in styled))
    for number in range(args.games):
        complaints.texts.clear()
        ours = chess.WHITE if number % 2 == 0 else chess.BLACK
        players = (engine, opponent) if ours == chess.WHITE else (opponent, engine)
        result, hits, culprit, fault = play(*players, opening(openings, number, args.seed), args)
        all_hits += hits
        if fault:
            who = "engine" if culprit == ours else "opponent"
            print(f"game {number + 1}: {who}: {fault}")
            faults += culprit == ours
            continue
        if complaints.texts:
            print(f"game {number + 1}: {'; '.join(complaints.texts[:3])}")
            faults += 1
        kind = "draw" if result == "1/2-1/2" else "win" if (result == "1-0") == (ours == chess.WHITE) else "loss"
        score[kind] += 1
        pondering = f", {hits} ponder hits" if args.ponder else ""
        print(
            f"game {number + 1}/{args.games}{f', {style}' if style else ''}: {kind}"
            f"  (+{score['win']} ={score['draw']} -{score['loss']}){pondering}",
            flush=True,
        )
    engine.quit()
    opponent.quit()
    logging.getLogger("chess.engine").removeHandler(complaints)
    if args.ponder and not all_hits:
        print("nothing was pondered on")
        return args.games
    return faults


def main():
    args = arguments()
    libraries.load()
    styles = args.styles.split(",") if args.styles else [None]
    for program in (args.engine, args.opponent):
        if not shutil.which(program):
            print(f"'{program}' was not found\n0 passed, 1 failed")
            return 1
    faults = sum(match(style, args) for style in styles)
    print(f"{len(styles) * args.games - faults} passed, {faults} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
