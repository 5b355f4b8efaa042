#!/usr/bin/env python3
"""Talks to the program at random, legally and illegally, for a long time and at a bounded rate.

Fails unless every go is answered by exactly one bestmove, isready always in time, the memory stays
flat, and nothing is written to standard error. The same seed says the same lines.

    scripts/check/soak.py --engine target/release/cairn --minutes 60
"""

import argparse
import queue
import random
import subprocess
import sys
import threading
import time

PATIENCE = 30
SQUARES = [file + rank for file in "abcdefgh" for rank in "12345678"]
FENS = [
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1",
    "7k/8/6QK/8/8/8/8/8 b - - 0 1",
    "4k3/8/8/8/8/8/QQQQ4/QQQQK3 w - - 0 1",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "8/8/8/8/8/8/8/8 w - - 0 1",
    "no position at all",
]
OPTIONS = [
    ("Hash", ["1", "4", "16", "0", "-3", "x", "<empty>"]),
    ("MultiPV", ["1", "3", "256", "1000"]),
    ("Move Overhead", ["0", "10", "5000", "99999"]),
    ("Style", ["Cairn", "MicroMax", "Tal"]),
    ("UCI_Chess960", ["true", "false"]),
    ("UCI_ShowWDL", ["true", "false", "perhaps"]),
    ("UCI_AnalyseMode", ["true", "false"]),
    ("UCI_LimitStrength", ["true", "false"]),
    ("UCI_Elo", ["800", "1500", "9999"]),
    ("UCI_Opponent", ["GM 2800 human Gary Kasparov", ""]),
    ("SyzygyPath", ["<empty>", "/a b/c:d"]),
    ("Ponder", ["true", "false"]),
    ("Threads", ["1", "2", "3", "8", "64", "0", "2000", "x"]),
    ("Deterministic", ["true", "false", "perhaps"]),
    ("Nonsense", ["1"]),
]


class Engine:
    """The program, with threads that read what it says."""

    def __init__(self, path):
        self.process = subprocess.Popen(
            [path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.lines = queue.Queue()
        self.errors = []
        threading.Thread(target=self.read_output, daemon=True).start()
        threading.Thread(target=self.read_errors, daemon=True).start()

    def read_output(self):
        for line in self.process.stdout:
            self.lines.put(line.decode().rstrip("\n"))
        self.lines.put(None)

    def read_errors(self):
        for line in self.process.stderr:
            self.errors.append(line.decode(errors="replace"))

    def send(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def memory_mib(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            for line in status:
                if line.startswith("VmRSS"):
                    return int(line.split()[1]) / 1024
        return 0.0


def random_move(choose):
    return choose.choice(SQUARES) + choose.choice(SQUARES) + choose.choice(["", "", "", "q", "n"])


def random_position(choose):
    if choose.random() < 0.4:
        start = "fen " + choose.choice(FENS)
    else:
        start = "startpos"
    legal = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6", "e1g1", "f8c5"]
    moves = legal[: choose.randrange(len(legal) + 1)]
    if choose.random() < 0.2:
        moves.append(random_move(choose))
    return f"position {start}" + (" moves " + " ".join(moves) if moves else "")


def random_go(choose):
    words = ["go"]
    for word, values in [
        ("depth", ["1", "3", "5", "0", "999"]),
        ("nodes", ["1", "500", "20000", "-1", "5k"]),
        ("movetime", ["0", "5", "30", "-7"]),
        ("wtime", ["0", "50", "500", "-5"]),
        ("btime", ["0", "50", "500", "x"]),
        ("winc", ["0", "5"]),
        ("movestogo", ["0", "1", "40", "1000"]),
        ("mate", ["1", "2", "0"]),
        ("searchmoves", ["e2e4 d2d4", "a1a1", ""]),
    ]:
        if choose.random() < 0.2:
            words += [word, choose.choice(values)]
    for word in ["infinite", "ponder"]:
        if choose.random() < 0.15:
            words.append(word)
    return " ".join(words)


def random_line(choose):
    kind = choose.random()
    if kind < 0.30:
        return random_go(choose).encode()
    if kind < 0.50:
        return random_position(choose).encode()
    if kind < 0.62:
        return b"stop"
    if kind < 0.68:
        return b"ponderhit"
    if kind < 0.80:
        name, values = choose.choice(OPTIONS)
        return f"setoption name {name} value {choose.choice(values)}".encode()
    if kind < 0.84:
        return b"ucinewgame"
    if kind < 0.92:
        return choose.choice([b"uci", b"d", b"eval", b"help", b"debug off", b"setoption name Clear Hash", b"perft 2"])
    if kind < 0.96:
        return bytes(choose.randrange(256) for _ in range(choose.randrange(80))).replace(b"\n", b"").replace(b"quit", b"")
    return b" ".join(choose.choice([b"go", b"position", b"fen", b"moves", b"e2e4", b"value", b"name", b"-1"]) for _ in range(6))


def is_go(line):
    """Whether a line asks for a search: the first known command in it is go, without perft."""
    commands = "uci debug isready setoption register ucinewgame position go stop ponderhit quit".split()
    text = line.decode(errors="replace").lower()
    # Blanks and control characters separate words.
    words = "".join(" " if c.isspace() or not c.isprintable() and c != "\ufffd" else c for c in text).split()
    if words and words[0] in "bench d eval genfens help perft id uciok readyok bestmove copyprotection registration info option refutation".split():
        return False
    for place, word in enumerate(words):
        if word in commands:
            return word == "go" and "perft" not in words[place:]
    return False


class Dialogue:
    """One session and what is still owed in it."""

    def __init__(self, args):
        self.engine = Engine(args.engine)
        self.choose = random.Random(args.seed)
        self.owed = 0
        self.answers = 0
        self.searches = 0
        self.slowest = 0.0

    def take(self, line):
        if line is None:
            raise SystemExit(f"the program has ended: {''.join(self.engine.errors)[:500]}")
        if line.startswith("bestmove"):
            self.owed -= 1
            self.answers += 1
            if self.owed < 0:
                raise SystemExit("a bestmove that nobody asked for")
        return line

    def settle(self, answer, command):
        """Sends a command and reads on until its answer."""
        start = time.perf_counter()
        self.engine.send(command)
        while True:
            try:
                line = self.take(self.engine.lines.get(timeout=PATIENCE))
            except queue.Empty:
                raise SystemExit(f"no '{answer}' within {PATIENCE} s; {self.owed} answers owed")
            if line.startswith(answer):
                self.slowest = max(self.slowest, time.perf_counter() - start)
                return

    def round(self, rate):
        """Some random lines, then all that is owed."""
        for _ in range(self.choose.randrange(1, 12)):
            line = random_line(self.choose)
            if is_go(line):
                self.owed += 1
                self.searches += 1
            self.engine.send(line)
            if self.choose.random() < 0.5:
                time.sleep(self.choose.uniform(0, 2 / rate))
        self.engine.send(b"stop")
        self.settle("readyok", b"isready")
        # What waited behind other commands began only now.
        deadline = time.perf_counter() + PATIENCE
        while self.owed:
            self.engine.send(b"stop")
            try:
                self.take(self.engine.lines.get(timeout=0.2))
            except queue.Empty:
                if time.perf_counter() > deadline:
                    raise SystemExit(f"{self.owed} answers did not come within {PATIENCE} s")
        self.settle("readyok", b"isready")
        if self.engine.errors:
            raise SystemExit(f"on standard error: {''.join(self.engine.errors)[:500]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--engine", default="target/release/cairn")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=float, default=200, help="about so many lines a second")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--growth", type=float, default=64, help="MiB that the memory may grow by after the first\ntenth; the allocator keeps some of what dozens of threads have freed")
    args = parser.parse_args()

    dialogue = Dialogue(args)
    began = time.monotonic()
    end = began + args.minutes * 60
    settled_at = began + args.minutes * 6
    early = latest = 0.0
    shown = began
    while time.monotonic() < end:
        dialogue.round(args.rate)
        # Measured with the same table and one thread each time.
        if dialogue.choose.random() < 0.02:
            dialogue.engine.send(b"setoption name Threads value 1")
            dialogue.engine.send(b"setoption name Hash value 1")
            dialogue.settle("readyok", b"isready")
            latest = dialogue.engine.memory_mib()
            if time.monotonic() < settled_at:
                early = max(early, latest)
        if time.monotonic() - shown > 60:
            shown = time.monotonic()
            print(f"{(shown - began) / 60:.0f} min: {dialogue.searches} searches, {latest:.1f} MiB", flush=True)
    dialogue.engine.send(b"quit")
    code = dialogue.engine.process.wait(5)
    print(
        f"{dialogue.searches} searches, {dialogue.answers} answers, slowest isready {dialogue.slowest * 1000:.0f} ms, "
        f"memory {early:.1f} MiB early, {latest:.1f} MiB at the end, exit code {code}"
    )
    good = code == 0 and dialogue.owed == 0 and (early == 0 or latest <= early + args.growth)
    print("1 passed, 0 failed" if good else "0 passed, 1 failed")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
