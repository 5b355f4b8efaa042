#!/usr/bin/env python3
"""How much `cairn analyze --jobs N` gets done, and whether it finds what one job finds.

Analyses positions with N jobs, then the same positions with N processes of one job each that run side by side, each
with its shard, in turns, and compares the best times. The results of both, put together, have to be the same bytes.
For comparison it also gives the nodes per second of one job by those of the bare search, `cairn bench`. Without a file
of positions (EPD or FEN) it takes the openings in `scripts/openings.epd`, again from the first where they are too few. Fails where results differ or, with
`--least`, where the ratio is lower.

    scripts/check/jobs.py --engine target/release/cairn --positions 1000 --least 0.95

A quiet machine with as many free cores as jobs is needed; on a busy one only the ratio means anything, and not much.
"""

import argparse
import itertools
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OPENINGS = Path(__file__).resolve().parent.parent / "openings.epd"


def finished(processes):
    """Waits for processes; the seconds that it takes."""
    for process in processes:
        if process.wait() != 0:
            sys.exit(f"{process.args} ended with {process.returncode}")


def timed(commands):
    """Runs commands, each with the file for its output, side by side."""
    started = time.perf_counter()
    outputs = [path.open("wb") for _, path in commands]
    finished([subprocess.Popen(command, stdout=out) for (command, _), out in zip(commands, outputs)])
    seconds = time.perf_counter() - started
    for output in outputs:
        output.close()
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--engine", default="target/release/cairn")
    parser.add_argument("--file", type=Path, default=OPENINGS, help="positions, one a line")
    parser.add_argument("--positions", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=100_000, help="for each position")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2, help="how often both are timed")
    parser.add_argument("--least", type=float, default=0.0, help="the least ratio that passes")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        positions = folder / "positions.epd"
        lines = args.file.read_text(encoding="utf-8").splitlines()
        lines = list(itertools.islice(itertools.cycle(lines), args.positions))
        positions.write_text("\n".join(lines) + "\n", encoding="utf-8")
        analyze = [args.engine, "analyze", str(positions), "--format", "jsonl", "--nodes", str(args.nodes)]
        whole = folder / "whole.jsonl"
        shards = [folder / f"shard{index}.jsonl" for index in range(args.jobs)]
        parts = [(analyze + ["--shard", f"{i}/{args.jobs}"], path) for i, path in enumerate(shards)]
        together, apart = [], []
        for _ in range(args.rounds):
            together.append(timed([(analyze + ["--jobs", str(args.jobs)], whole)]))
            apart.append(timed(parts))
            print(f"{args.jobs} jobs {together[-1]:.2f} s, {args.jobs} processes {apart[-1]:.2f} s", flush=True)
        merged = folder / "merged.jsonl"
        timed([([args.engine, "analyze", "--merge"] + [str(path) for path in shards], merged)])
        if merged.read_bytes() != whole.read_bytes():
            sys.exit("jobs and processes have found different things")
        ratio = min(apart) / min(together)
        nodes = len(lines) * args.nodes / args.jobs / min(apart)
        bench = subprocess.run([args.engine, "bench"], capture_output=True, text=True, check=True).stdout
        bare = int(re.findall(r"(\d+) nps", bench)[-1])
        print(f"{len(lines)} positions at {args.nodes} nodes: --jobs {args.jobs} is {ratio:.3f} x {args.jobs} processes")
        print(f"one process: about {nodes:.0f} nodes/s, {nodes / bare:.3f} x bench ({bare} nodes/s)")
        return 0 if ratio >= args.least else 1


if __name__ == "__main__":
    sys.exit(main())
