"""Reads files of games in format 2, as `cairn datagen` writes them: scores and the material on the board.

The format is told in engine/src/selfplay/format2.rs. Castling is the king taking its own rook.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import arena

MAGIC = b"CairnGam"
FORMAT = 2
HEADER = 64
HEAD = struct.Struct("<IIHHBBHB")

# What pieces count as material. The number of a square is 16 times its row, from rank 8 down, and its file.
WORTH = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9, "k": 0}
PROMOTIONS = "nbrq"
KNIGHTS = ((0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4))

# The ending of a game that was given as a draw at the most moves that a game may have.
TOO_LONG = 6


class Ply(NamedTuple):
    """A position that was searched."""

    # The score in the engine's own centipawns, from the view of the side to move.
    score: int
    # The material of both sides.
    material: int
    whites: bool


class Game(NamedTuple):
    number: int
    # Half points for black and for white.
    result: tuple[int, int]
    ending: int
    plies: list[Ply]


class Damaged(arena.Trouble):
    """A file that cannot be used; what is wrong with it, and where."""


def is_game_file(path: str | Path) -> bool:
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read(path: str | Path) -> Iterator[Game]:
    """The games of a file. One that was cut off at its end, as while it is being written, is left out."""
    data = Path(path).read_bytes()
    if len(data) < HEADER or struct.unpack_from("<H", data, len(MAGIC))[0] != FORMAT:
        raise Damaged(f"{path}: this is no file of games in format {FORMAT}")
    at = HEADER
    while at + HEAD.size <= len(data):
        number, checksum, white, black, result, ending, searched, random = HEAD.unpack_from(data, at)
        end = at + HEAD.size + 2 * random + 4 * searched
        if end > len(data):
            return
        if zlib.crc32(data[at + 8 : end], zlib.crc32(data[at : at + 4])) != checksum:
            raise Damaged(f"{path}, at byte {at}: the checksum of the game is wrong")
        opening = struct.unpack_from(f"<{random}H", data, at + HEAD.size)
        moves = struct.unpack_from("<" + "Hh" * searched, data, at + HEAD.size + 2 * random)
        plies = replay(start(white, black), opening, list(zip(moves[::2], moves[1::2])))
        yield Game(number, (2 - result, result), ending, plies)
        at = end


def back_rank(number: int) -> str:
    """The pieces of a start position of Chess960 from its number."""
    rank = [""] * 8
    rank[2 * (number % 4) + 1] = "b"
    rank[2 * (number // 4 % 4)] = "b"

    def put(place: int, piece: str) -> None:
        free = [file for file in range(8) if not rank[file]]
        rank[free[place]] = piece

    put(number // 16 % 6, "q")
    first, second = KNIGHTS[number // 96]
    put(second, "n")
    put(first, "n")
    for piece in "rkr":
        put(0, piece)
    return "".join(rank)


def start(white: int, black: int) -> dict[int, str]:
    """The pieces of a start position by square, white's in capitals."""
    board = {file: piece for file, piece in enumerate(back_rank(black))}
    board |= {112 + file: piece.upper() for file, piece in enumerate(back_rank(white))}
    for file in range(8):
        board[16 + file] = "p"
        board[96 + file] = "P"
    return board


def replay(board: dict[int, str], opening: tuple[int, ...], searched: list[tuple[int, int]]) -> list[Ply]:
    """The positions that were searched. Moves are taken to be legal."""
    material = sum(WORTH[piece.lower()] for piece in board.values())
    plies = []
    moves = [(move, None) for move in opening] + searched
    for ply, (move, score) in enumerate(moves):
        whites = ply % 2 == 0
        if score is not None:
            plies.append(Ply(score if whites else -score, material, whites))
        origin, target = move & 0x7F, move >> 7 & 0x7F
        piece, taken = board.pop(origin), board.get(target)
        if taken and taken.isupper() == piece.isupper():
            # Castling.
            row = origin & 0x70
            del board[target]
            board[row + (6 if target > origin else 2)] = piece
            board[row + (5 if target > origin else 3)] = taken
            continue
        if piece in "Pp":
            if taken is None and (target - origin) % 16:
                # En passant.
                taken = board.pop((origin & 0x70) + (target & 0x0F))
            if target >> 4 in (0, 7):
                kind = PROMOTIONS[move >> 14]
                material += WORTH[kind] - WORTH["p"]
                piece = kind.upper() if piece == "P" else kind
        if taken:
            material -= WORTH[taken.lower()]
        board[target] = piece
    return plies
