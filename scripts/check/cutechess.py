#!/usr/bin/env python3
"""Lets cutechess-cli play the program against itself, with pondering and without any time margin.

Fails on any warning, time loss, illegal move, disconnect or stall, when no search was pondered on a move
that then came, and when cutechess-cli is missing: a check that was not made is not passed.

    scripts/check/cutechess.py --engine target/release/cairn --cutechess cutechess-cli --games 20
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

from fastchess import STYLES, make_openings

FAULTS = re.compile(r"warning|on time|illegal|disconnect|stall|timeout|error:|terminated", re.IGNORECASE)
# With -debug each line that an engine sends or gets is shown behind its time, as "123 >Cairn1(0): go".
DIALOGUE = re.compile(r"^\d+ [<>]")


def games(cutechess, engine, style, args):
    command = [cutechess]
    for number in (1, 2):
        command += ["-engine", f"cmd={engine}", f"name=Cairn{number}"]
    wanted = 2 * max(1, args.games // 2)
    command += [
        "-each", "proto=uci", f"tc={args.tc}", "timemargin=0", "ponder", f"option.Hash={args.hash}",
        f"option.Style={style}", f"option.Move Overhead={args.overhead}",
        "-rounds", str(wanted // 2), "-games", "2", "-repeat", "-concurrency", "1", "-srand", "1", "-debug", "all",
    ]
    with tempfile.TemporaryDirectory() as folder:
        openings = make_openings(engine, wanted, folder)
        command += ["-openings", f"file={openings}", "format=epd", "order=random"]
        run = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    lines = (run.stdout + run.stderr).splitlines()
    told = [line for line in lines if not DIALOGUE.match(line)]
    pondered = sum(line.endswith(": ponderhit") for line in lines)
    started = sum(": go ponder" in line for line in lines)
    finished = sum(line.startswith("Finished game") for line in told)
    faults = [line for line in told if FAULTS.search(line)]
    print(
        f"games, {style}, tc {args.tc}, pondering: {finished} of {wanted}, {pondered} hits of {started} tries, "
        f"{len(faults)} faults",
        flush=True,
    )
    for line in faults[:10]:
        print(f"  {line}")
    good = run.returncode == 0 and finished == wanted and not faults and pondered > 0
    if not good:
        print("\n".join(told[-20:]))
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--engine", default="target/release/cairn")
    parser.add_argument("--cutechess", default="cutechess-cli", help="where it is, if not in the PATH")
    parser.add_argument("--styles", default=",".join(STYLES))
    parser.add_argument("--games", type=int, default=10, help="for each style")
    parser.add_argument("--tc", default="1+0.05")
    parser.add_argument("--hash", type=int, default=16)
    parser.add_argument("--overhead", type=int, default=10, help="the option Move Overhead: more on a busy machine")
    args = parser.parse_args()

    cutechess, engine = shutil.which(args.cutechess), shutil.which(args.engine)
    for program, found in ((args.cutechess, cutechess), (args.engine, engine)):
        if not found:
            print(f"'{program}' was not found\n0 passed, 1 failed")
            return 1
    results = [games(cutechess, os.path.abspath(engine), style, args) for style in args.styles.split(",")]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
