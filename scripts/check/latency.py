#!/usr/bin/env python3
"""Measures how fast the program answers: process start to uciok, stop to bestmove, isready during
search, and a long position command. Prints median, 99th percentile and maximum in milliseconds.

    scripts/check/latency.py --engine target/release/cairn --hash 64 --runs 200
"""

import argparse
import random
import subprocess
import sys
import time

LIMITS_MS = {"start to uciok": 10, "stop to bestmove": 10, "isready in search": 5, "600 moves": 2}


class Engine:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def wait(self, start):
        for line in self.process.stdout:
            if line.startswith(start):
                return
        raise SystemExit(f"the program ended before '{start}'")

    def quit(self):
        self.send("quit")
        self.process.wait(5)


def timed(action):
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def start_to_uciok(path):
    def run():
        nonlocal engine
        engine = Engine(path)
        engine.send("uci")
        engine.wait("uciok")

    engine = None
    elapsed = timed(run)
    engine.quit()
    return elapsed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--engine", default="target/release/cairn")
    parser.add_argument("--hash", type=int, default=64, help="MiB")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    choose = random.Random(args.seed)

    figures = {"start to uciok": [start_to_uciok(args.engine) for _ in range(args.runs)]}
    engine = Engine(args.engine)
    engine.send(f"setoption name Hash value {args.hash}")
    engine.send("isready")
    engine.wait("readyok")

    def ask(line, answer):
        engine.send(line)
        engine.wait(answer)

    stops, readies = [], []
    for _ in range(args.runs):
        engine.send("go infinite")
        time.sleep(choose.uniform(0.001, 0.05))
        readies.append(timed(lambda: ask("isready", "readyok")))
        stops.append(timed(lambda: ask("stop", "bestmove")))
    figures["stop to bestmove"], figures["isready in search"] = stops, readies

    cycle = ["g1f3", "g8f6", "f3g1", "f6g8"]
    other = ["b1c3", "b8c6", "c3b1", "c6b8"]
    long_games = [" ".join(moves * 150) for moves in (cycle, other)]
    figures["600 moves"] = []
    for run in range(args.runs):
        line = "position startpos moves " + long_games[run % 2] + "\nisready"
        figures["600 moves"].append(timed(lambda: ask(line, "readyok")))
    engine.quit()

    failed = 0
    for name, values in figures.items():
        values.sort()
        median, late = values[len(values) // 2], values[int(len(values) * 0.99)]
        good = late <= LIMITS_MS[name]
        failed += not good
        print(f"{name:<20} median {median:7.3f}  p99 {late:7.3f}  max {values[-1]:7.3f} ms"
              f"  (limit {LIMITS_MS[name]} ms at p99{'' if good else ': MISSED'})")
    print(f"{len(figures) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
