#!/usr/bin/env python3
"""How processor time of `simulate` grows with the sequence, and what a missed line costs.

    experiments/studies/speed/growth.py build/release/sawtooth halves timed --seq 64K,128K,256K,512K,1M

One causal head, D = 128, tiles of 128 rows, 132 static workers, the L2 of an H200; a process a point,
one thread. Visits, of single workers to K and V tiles, grow fourfold a doubling. Missed lines are
those that were not where they were looked up first (near misses, for two halves). --record writes the
table into docs/reference/performance.md, under the name given.
"""
import argparse
import csv
import os
import pathlib
import subprocess
import tempfile

import table

TILE = 128
SECTORS_A_LINE = 4
MODELS = {  # options of simulate
    "lru": ["--timing", "lockstep", "--l2", "lru"],
    "sample": ["--timing", "lockstep", "--l2", "lru", "--sample", "1%"],
    "sets": ["--timing", "lockstep", "--l2", "sets"],
    "opt": ["--timing", "lockstep", "--l2", "opt"],
    "halves": ["--timing", "lockstep", "--l2", "halves"],
    "timed": ["--timing", "timed", "--l2", "halves"],
}
POINT = "--gpu h200 --mask causal --launch static --head-dim 128 --threads 1 --quiet".split()


def keys(text):
    return int(text[:-1]) << {"K": 10, "M": 20}[text[-1]]


def measure(program, model, seq):
    """Seconds of processor time, and lines that were missed."""
    with tempfile.TemporaryDirectory() as folder:
        rows = pathlib.Path(folder) / "rows.csv"
        command = [program, "simulate", *POINT, *MODELS[model], "--seq", seq, "--csv", rows]
        command += ["--tile-q", str(TILE), "--tile-kv", str(TILE)]
        child = subprocess.Popen(command)
        _, status, used = os.wait4(child.pid, 0)
        if status != 0:
            raise SystemExit(
                f"{model} {seq}: simulate ended with {os.waitstatus_to_exitcode(status)}"
            )
        with open(rows, newline="") as file:
            row = next(csv.DictReader(file))
    missed = int(row["l2_read_miss_sectors"]) // SECTORS_A_LINE
    return used.ru_utime + used.ru_stime, missed


def rows_of(program, model, lengths):
    before = None
    for seq in lengths:
        seconds, missed = measure(program, model, seq)
        tiles = keys(seq) // TILE
        visits = tiles * (tiles + 1)  # to K and to V
        yield [
            model,
            seq,
            f"{seconds:.2f}",
            f"x {seconds / before:.1f}" if before else "",
            f"{visits / 1e6:.2f}",
            f"{missed / 1e6:.1f}",
            f"{seconds / visits * 1e9:.0f}",
            f"{seconds / missed * 1e9:.1f}",
        ]
        before = seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program")
    parser.add_argument("models", nargs="+", choices=MODELS)
    parser.add_argument("--seq", default="256K,512K,1M", help="lengths, such as 256K,512K,1M")
    parser.add_argument("--record", metavar="NAME", help="of the table in the page")
    arguments = parser.parse_args()
    header = ["model", "keys", "seconds", "growth", "visits, M", "missed lines, M"]
    header += ["ns a visit", "ns a missed line"]
    lengths = arguments.seq.split(",")
    rows = [r for model in arguments.models for r in rows_of(arguments.program, model, lengths)]
    text = table.table(header, rows)
    if arguments.record:
        table.write_into(table.PAGE, arguments.record, text)
    print(text)


if __name__ == "__main__":
    main()
