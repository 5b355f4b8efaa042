#!/usr/bin/env python3
"""Plays Cairn against another UCI engine through python-chess and checks its behaviour.

Fails on an illegal move, a move after the time has run out (no margin), a crash, or a move that does
not come at all. Needs the package `chess` (pip install chess).

    scripts/check/play.py --engine target/release/cairn --opponent stockfish \
        --opponent-option UCI_LimitStrength=true --opponent-option UCI_Elo=1350 --games 20
"""

import argparse
import random
import sys
import time

import chess
import chess.engine


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
    return parser.parse_args()


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
    """Returns the result and what went wrong, if anything did, with the side that did it."""
    clocks = {chess.WHITE: args.time, chess.BLACK: args.time}
    marker = object()
    while (outcome := board.outcome(claim_draw=True)) is None:
        side = board.turn
        limit = chess.engine.Limit(
            white_clock=clocks[chess.WHITE],
            black_clock=clocks[chess.BLACK],
            white_inc=args.increment,
            black_inc=args.increment,
        )
        start = time.perf_counter()
        try:
            # python-chess raises on an illegal or missing bestmove.
            result = (white if side else black).play(board, limit, game=marker)
        except chess.engine.EngineError as error:
            return None, side, f"{type(error).__name__}: {error} in {board.fen()}"
        clocks[side] -= time.perf_counter() - start
        if result.move is None or result.move not in board.legal_moves:
            return None, side, f"no legal move ({result.move}) in {board.fen()}"
        if clocks[side] < 0:
            return None, side, f"time loss by {-clocks[side] * 1000:.1f} ms in {board.fen()}"
        clocks[side] += args.increment
        board.push(result.move)
    return outcome.result(), None, None


def main():
    args = arguments()
    openings = open(args.openings).read().splitlines() if args.openings else None
    score, faults = {"win": 0, "draw": 0, "loss": 0}, 0
    engine = open_engine(args.engine, args.engine_option)
    opponent = open_engine(args.opponent, args.opponent_option)
    for number in range(args.games):
        ours = chess.WHITE if number % 2 == 0 else chess.BLACK
        players = (engine, opponent) if ours == chess.WHITE else (opponent, engine)
        result, culprit, fault = play(*players, opening(openings, number, args.seed), args)
        if fault:
            who = "engine" if culprit == ours else "opponent"
            print(f"game {number + 1}: {who}: {fault}")
            faults += culprit == ours
            continue
        kind = "draw" if result == "1/2-1/2" else "win" if (result == "1-0") == (ours == chess.WHITE) else "loss"
        score[kind] += 1
        print(f"game {number + 1}/{args.games}: {kind}  (+{score['win']} ={score['draw']} -{score['loss']})", flush=True)
    engine.quit()
    opponent.quit()
    print(f"{args.games - faults} passed, {faults} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
