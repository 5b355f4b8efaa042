#!/usr/bin/env python3
"""Lets fastchess test the program: its compliance suite in both styles, and games without any margin.

Fails on a failed step, and on any time loss, illegal move, disconnect, stall or warning in a game. It
fails, too, when fastchess is missing: a check that was not made is not passed.

    scripts/check/fastchess.py --engine target/release/cairn --games 2000 --tc 1+0.01 --concurrency 2
    scripts/check/fastchess.py --games 200 --tc 0.1+0.01 --concurrency 1

A long run can be made in parts, each with a --seed of its own: other openings are played then.
"""

import argparse
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

STYLES = ("MicroMax", "Cairn")
STEPS = 40
# How often the games are counted aloud where no terminal shows a line that changes.
PROGRESS = 100
FAULTS = re.compile(r"warning|loses on time|illegal|disconnect|stall|timeout|error", re.IGNORECASE)


def in_style(engine, style, folder):
    """A program that plays in one style without being told: compliance sets no options."""
    path = os.path.join(folder, f"cairn-{style}")
    with open(path, "w") as script:
        script.write(f"#!/bin/sh\n(echo 'setoption name Style value {style}'; cat) | '{engine}'\n")
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path


def compliance(fastchess, engine, style):
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [fastchess, "--compliance", in_style(engine, style, folder)],
            capture_output=True, text=True, timeout=300,
        )
    passed = len(set(re.findall(r"Passed\S* Step (\d+)", run.stdout)))
    good = run.returncode == 0 and passed == STEPS
    print(f"compliance, {style}: {passed} of {STEPS} steps")
    if not good:
        print(run.stdout[-2000:] + run.stderr[-2000:])
    return good


def make_openings(engine, count, seed, folder):
    """Has the program make up opening positions."""
    command = [engine, f"genfens {max(1, count // 2)} seed {seed} book None", "quit"]
    run = subprocess.run(command, capture_output=True, text=True)
    path = os.path.join(folder, "openings.epd")
    with open(path, "w") as file:
        for line in run.stdout.splitlines():
            file.write(line.removeprefix("info string genfens ") + "\n")
    return path


def games(fastchess, engine, style, args):
    command = [fastchess]
    for number in (1, 2):
        command += ["-engine", f"cmd={engine}", f"name=Cairn{number}"]
    command += [
        "-each", f"tc={args.tc}", "timemargin=0", f"option.Hash={args.hash}", f"option.Style={style}",
        "-rounds", str(max(1, args.games // 2)), "-games", "2", "-repeat",
        "-concurrency", str(args.concurrency), "-srand", str(args.seed), "-check-mate-pvs",
    ]
    if args.pgn:
        command += ["-pgnout", f"file={os.path.abspath(args.pgn)}"]
    wanted = 2 * max(1, args.games // 2)
    with tempfile.TemporaryDirectory() as folder:
        openings = os.path.abspath(args.openings) if args.openings else make_openings(engine, args.games, args.seed, folder)
        kind = "pgn" if openings.endswith(".pgn") else "epd"
        command += ["-openings", f"file={openings}", f"format={kind}", "order=random"]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder
        )
        lines, finished = [], 0
        for line in process.stdout:
            lines.append(line.rstrip())
            if "Finished game" in line:
                finished += 1
                if sys.stderr.isatty() or finished % PROGRESS == 0:
                    print(f"{finished} of {wanted}", end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr)
        process.wait()
    faults = [line for line in lines if FAULTS.search(line)]
    print(f"games, {style}, tc {args.tc}, concurrency {args.concurrency}: {finished} of {wanted}, {len(faults)} faults")
    for line in faults[:10]:
        print(f"  {line}")
    if process.returncode != 0 or finished != wanted:
        print("\n".join(lines)[-2000:])
    return process.returncode == 0 and finished == wanted and not faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--engine", default="target/release/cairn")
    parser.add_argument("--fastchess", default="fastchess", help="where it is, if not in the PATH")
    parser.add_argument("--styles", default=",".join(STYLES))
    parser.add_argument("--games", type=int, default=20, help="for each style; 0 is compliance alone")
    parser.add_argument("--tc", default="1+0.01")
    parser.add_argument("--hash", type=int, default=16)
    parser.add_argument("--concurrency", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1, help="which openings are made up, and their order")
    parser.add_argument("--pgn", help="keeps the games in this file, behind what is there")
    parser.add_argument("--openings", help="EPD or PGN file; without one the program makes some up")
    args = parser.parse_args()

    fastchess = shutil.which(args.fastchess)
    if not fastchess:
        print(f"'{args.fastchess}' was not found; --fastchess says where it is\n0 passed, 1 failed")
        return 1
    engine = os.path.abspath(args.engine)
    results = []
    for style in args.styles.split(","):
        results.append(compliance(fastchess, engine, style))
        if args.games:
            results.append(games(fastchess, engine, style, args))
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
