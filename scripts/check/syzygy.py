#!/usr/bin/env python3
"""Compares what the engine reads from endgame tables with what python-chess reads from them.

Asks for random legal positions of the endings that a folder has tables of, en passant included, and
fails at the first difference in win, draw and loss or in the distance to zero. Needs python-chess
(scripts/requirements.txt) and Syzygy tables.

    scripts/check/syzygy.py /path/to/syzygy --engine target/release/cairn --positions 100000
"""

import argparse
import random
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import libraries

with libraries.needed():
    import chess
    import chess.syzygy

WDL = {-2: "loss", -1: "blessed loss", 0: "draw", 1: "cursed win", 2: "win"}
VERDICT = "Endgame tables: "

# So many positions are asked for at a time.
BATCH = 500


def random_position(name, generator):
    """A random legal position with the pieces of a table, or None; with en passant where it can be."""
    white, black = name.split("v")
    if generator.random() < 0.5:
        white, black = black, white
    letters = white + black.lower()
    board = chess.Board(None)
    for letter, square in zip(letters, generator.sample(chess.SQUARES, len(letters))):
        board.set_piece_at(square, chess.Piece.from_symbol(letter))
    board.turn = generator.random() < 0.5
    if not board.is_valid():
        return None
    if generator.random() < 0.5:
        for file in generator.sample(range(8), 8):
            board.ep_square = chess.square(file, 5 if board.turn else 2)
            if board.is_valid() and board.has_legal_en_passant():
                return board
        board.ep_square = None
    return board


def ask(engine, boards):
    """What the engine says of positions."""
    commands = "".join(f"position fen {board.fen()}\nd\n" for board in boards)
    engine.stdin.write(commands + "isready\n")
    engine.stdin.flush()
    answers = []
    for line in engine.stdout:
        if line.startswith("Fen: "):
            answers.append(None)
        elif line.startswith(VERDICT):
            answers[-1] = line[len(VERDICT) :].strip()
        elif line.strip() == "readyok":
            return answers
    sys.exit("the engine has ended")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="a folder with tables")
    parser.add_argument("--engine", default="target/release/cairn")
    parser.add_argument("--positions", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    names = sorted(path.stem for path in arguments.folder.glob("*.rtbw"))
    names = [name for name in names if (arguments.folder / f"{name}.rtbz").exists()]
    if not names:
        sys.exit(f"there are no tables in {arguments.folder}")
    generator = random.Random(arguments.seed)
    engine = subprocess.Popen([arguments.engine], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    engine.stdin.write(f"setoption name SyzygyPath value {arguments.folder}\n")
    done, en_passant = 0, 0
    with chess.syzygy.open_tablebase(str(arguments.folder)) as tables:
        while done < arguments.positions:
            boards = []
            while len(boards) < min(BATCH, arguments.positions - done):
                board = random_position(generator.choice(names), generator)
                if board is not None:
                    boards.append(board)
            answers = ask(engine, boards)
            if len(answers) != len(boards):
                sys.exit(f"{len(answers)} answers for {len(boards)} positions")
            for board, answer in zip(boards, answers):
                expected = f"{WDL[tables.probe_wdl(board)]}, distance to zero {tables.probe_dtz(board)}"
                if answer != expected:
                    sys.exit(f"{board.fen()}: the engine says {answer}, python-chess {expected}")
                en_passant += board.has_legal_en_passant()
            done += len(boards)
    engine.stdin.write("quit\n")
    engine.stdin.close()
    engine.wait(10)
    print(f"{done} positions agree, {en_passant} of them with en passant")


if __name__ == "__main__":
    main()
