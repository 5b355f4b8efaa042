#!/usr/bin/env python3
"""Measures what several threads are worth, free and deterministic, for each number of them:

- nodes/s: of all threads together, beside as many programs with one thread each that run side by side;
- time to depth: how many times sooner than one thread they have searched a position to a depth, and the same
  in nodes of the thread that speaks for all if all were equally fast (which busy processors do not spoil);
- the same twice: whether a session gives the same lines when it is repeated; fails if deterministic threads do
  not;
- stop: from `stop` to `bestmove`, in milliseconds, median and 99th percentile.

Means are geometric, over positions of the bench. All of it is in turns, so that whatever else the machine does
meets all alike. More threads than processors show what that costs.

    scripts/check/threads.py --engine target/release/cairn --threads 1,2,4 --depth 14 --runs 5
"""

import argparse
import math
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent.parent / "engine/src/bench.rs"


class Engine:
    def __init__(self, path, mebibytes, threads, deterministic):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        for name, value in [("Hash", mebibytes), ("Deterministic", deterministic), ("Threads", threads)]:
            self.send(f"setoption name {name} value {str(value).lower()}")
        self.ask("isready", "readyok")

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def read(self, start):
        lines = []
        for line in self.process.stdout:
            lines.append(line.strip())
            if line.startswith(start):
                return lines
        raise SystemExit(f"the program ended before '{start}'")

    def ask(self, line, answer):
        self.send(line)
        return self.read(answer)

    def prepare(self, fen):
        self.send("ucinewgame")
        self.send(f"position fen {fen}")
        self.ask("isready", "readyok")

    def quit(self):
        self.send("quit")
        self.process.wait(20)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--engine", default="target/release/cairn")
    parser.add_argument("--threads", default="1,2", help="numbers of threads, with commas between them")
    parser.add_argument("--depth", type=int, default=13, help="to which depth")
    parser.add_argument("--runs", type=int, default=3, help="searches of each position")
    parser.add_argument("--positions", type=int, default=20, help="how many of the bench")
    parser.add_argument("--nodes", type=int, default=100000, help="for each search of a repeated session")
    parser.add_argument("--stops", type=int, default=100, help="searches that are stopped")
    parser.add_argument("--hash", type=int, default=64, help="MiB")
    return parser.parse_args()


def number(lines, word):
    """The last number behind a word."""
    found = [match for line in lines for match in re.findall(rf" {word} (\d+)", line)]
    return int(found[-1]) if found else 0


def mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else float("nan")


def to_depth(engine, fen, depth):
    """Seconds and nodes."""
    engine.prepare(fen)
    start = time.perf_counter()
    lines = engine.ask(f"go depth {depth}", "bestmove")
    return time.perf_counter() - start, number(lines, "nodes")


def speed_ratio(engine, singles, fen, seconds=0.5):
    """Nodes per second, beside that of programs with one thread side by side."""
    go = f"go movetime {int(seconds * 1000)}"
    engine.prepare(fen)
    together = number(engine.ask(go, "bestmove"), "nps")
    for single in singles:
        single.prepare(fen)
    for single in singles:
        single.send(go)
    apart = sum(number(single.read("bestmove"), "nps") for single in singles)
    return together / apart


def session(args, threads, deterministic, fens):
    """All that is said in a session, without what depends on time."""
    engine = Engine(args.engine, args.hash, threads, deterministic)
    said = []
    for fen in fens:
        engine.send(f"position fen {fen}")
        for line in engine.ask(f"go nodes {args.nodes}", "bestmove"):
            said.append(re.sub(r" (time|nps) \d+", "", line))
    engine.quit()
    return said


def stops(engine, fen, count):
    """Milliseconds from stop to bestmove."""
    engine.prepare(fen)
    took = []
    for turn in range(count):
        engine.send("go infinite")
        time.sleep(0.005 + 0.0003 * turn)
        start = time.perf_counter()
        engine.ask("stop", "bestmove")
        took.append((time.perf_counter() - start) * 1000)
    return sorted(took)


def row(args, threads, deterministic, fens):
    one = Engine(args.engine, args.hash, 1, False)
    singles = [Engine(args.engine, args.hash, 1, False) for _ in range(threads)]
    engine = Engine(args.engine, args.hash, threads, deterministic)
    times, nodes, speeds = [], [], []
    for fen in fens * args.runs:
        (alone, alone_nodes), (took, took_nodes) = to_depth(one, fen, args.depth), to_depth(engine, fen, args.depth)
        # What takes no time says nothing.
        if alone_nodes > 50000:
            times.append(alone / took)
            nodes.append(threads * alone_nodes / took_nodes)
            speeds.append(speed_ratio(engine, singles, fen))
    took = stops(engine, fens[0], args.stops)
    for program in [one, engine, *singles]:
        program.quit()
    same = session(args, threads, deterministic, fens) == session(args, threads, deterministic, fens)
    median, late = took[len(took) // 2], took[int(len(took) * 0.99)]
    kind = "deterministic" if deterministic else "free"
    print(
        f"| {threads} | {kind} | {mean(speeds):.2f} | {mean(times):.2f} | {mean(nodes):.2f} | {'yes' if same else 'no'}"
        f" | {median:.1f}, {late:.1f} |",
        flush=True,
    )
    return same or not (deterministic or threads == 1)


def main():
    args = arguments()
    fens = re.findall(r'^    "(.*)",$', BENCH.read_text(), re.MULTILINE)[: args.positions]
    print("| threads | | nodes/s | time to depth | in nodes | the same twice | stop, ms: median, p99 |")
    print("|---|---|---|---|---|---|---|")
    good = True
    for threads in map(int, args.threads.split(",")):
        good &= row(args, threads, False, fens)
        if threads > 1:
            good &= row(args, threads, True, fens)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
