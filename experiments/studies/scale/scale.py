#!/usr/bin/env python3
"""What `sawtooth simulate` costs: how its time grows with the sequence, and what processes of MPI add.

    scale.py growth SAWTOOTH [--models lru,sets,opt,halves,timed] [--seq 64K,128K,256K,512K,1M]
    scale.py ranks SAWTOOTH [--ranks 1,2] [--points 10000] [--rounds 3] [--seq 64,32K]

growth: one causal head, D = 128, tiles of 128 rows, 132 static workers, the L2 of an H200; a process and one thread
a point. Visits, of single workers to K and V tiles, grow fourfold a doubling. Missed lines are those that were not
where they were looked up first. ranks: processor time of all processes of one sweep; 1 is a process without mpirun.
Both print Markdown.
"""

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TILE = 128
SECTORS_A_LINE = 4
MODELS = {model: ["--timing", "lockstep", "--l2", model] for model in "lru sets opt halves".split()}
MODELS["timed"] = ["--timing", "timed", "--l2", "halves"]
POINT = "--gpu h200 --mask causal --launch static --head-dim 128 --threads 1 --quiet".split()
SWEEP = "--gpu gb10 --timing lockstep --l2 lru --heads 4".split()
MPIRUN = "mpirun --oversubscribe --bind-to none -n".split()
ROOT = dict(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def run(words, folder):
    """(processor time in seconds, with that of processes it waited for; most memory of a process in MiB)"""
    child = subprocess.Popen(words, cwd=folder, env={**os.environ, **ROOT}, stderr=subprocess.PIPE)
    said = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"scale.py: {' '.join(words)}: {said.decode()[-500:]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss >> 10


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def growth(options, folder):
    row("model", "keys", "seconds", "growth", "MiB", "ns a visit", "ns a missed line")
    print("|---" * 7 + "|")
    for model in options.models.split(","):
        before = None
        for seq in options.seq.split(","):
            words = [options.program, "simulate", *POINT, *MODELS[model], "--seq", seq]
            words += ["--tile-q", str(TILE), "--tile-kv", str(TILE), "--csv", f"{model}{seq}.csv"]
            seconds, mib = run(words, folder)
            with open(folder / f"{model}{seq}.csv", newline="", encoding="utf-8") as file:
                predicted = next(csv.DictReader(file))
            missed = int(predicted["l2_read_miss_sectors"]) // SECTORS_A_LINE
            tiles = int(predicted["seq_kv"]) // TILE
            grown = f"x {seconds / before:.1f}" if before else "-"
            costs = [
                f"{seconds / n * 1e9:.{d}f}" for n, d in ((tiles * (tiles + 1), 0), (missed, 1))
            ]
            row(model, seq, f"{seconds:.2f}", grown, mib, *costs)
            before = seconds


def ranks(options, folder):
    counts = options.ranks.split(",")
    row("keys", *(f"{n} process{'es' * (n != '1')}, s" for n in counts))
    print("|---" * (1 + len(counts)) + "|")
    for seq in options.seq.split(","):
        medians = []
        for n in counts:
            words = [] if n == "1" else [*MPIRUN, n]
            words += [options.program, "simulate", *SWEEP, "--seq", seq, "--seed"]
            words += [f"1..{options.points}", "--csv", f"{n}-{seq}.csv", "--overwrite"]
            words += ["--threads", "1"] if n == "1" else []
            times = [run(words, folder)[0] for _ in range(options.rounds)]
            medians.append(f"{statistics.median(times):.2f}")
        row(seq, *medians)


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    commands = parser.add_subparsers(required=True)
    growing = commands.add_parser("growth")
    growing.add_argument("--models", default=",".join(MODELS))
    growing.add_argument("--seq", default="64K,128K,256K,512K,1M")
    growing.set_defaults(work=growth)
    ranked = commands.add_parser("ranks")
    ranked.add_argument("--ranks", default="1,2")
    ranked.add_argument("--points", type=int, default=10000)
    ranked.add_argument("--rounds", type=int, default=3)
    ranked.add_argument("--seq", default="64,32K", help="lengths, which say how long a point takes")
    ranked.set_defaults(work=ranks)
    for command in (growing, ranked):
        command.add_argument("program", type=os.path.abspath)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        options.work(options, Path(folder))


if __name__ == "__main__":
    main()
