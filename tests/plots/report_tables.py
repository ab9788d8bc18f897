"""Tables of a sweep for the tests of the report, with numbers that can be told by hand."""

import csv
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "plots"))
sys.path.append(str(ROOT / "plots" / "lib"))
SCANS = ("linear", "sawtooth")
MIB = 1 << 20
CTAS, STEPS = 4, 32


def write(path, columns, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([columns.split(), *rows])


def run_id(point):
    return f"{point:012x}"


def make(folder, points):
    """`points` points: point p has scan p mod 2, 1024 (p // 2 + 1) tokens and reads 1000 (p // 2 + 1)
    sectors, sawtooth 3/4 of them. A curve misses 100 + p sectors below 1 MiB and 100 from there on.
    In the wave of point 0 step s visits tile s; the last CTA ends after half of them."""
    lengths = [1024 * (p // 2 + 1) for p in range(points)]
    reads = [1000 * (p // 2 + 1) * (3 if p % 2 else 4) // 4 for p in range(points)]
    rows = [
        ["predicted", "h200", s, s, SCANS[p % 2], 60 * MIB, r, 500, run_id(p)]
        for p, (s, r) in enumerate(zip(lengths, reads))
    ]
    columns = "source gpu seq_q seq_kv scan l2_bytes dram_read_sectors cold_read_sectors run_id"
    write(folder / "results.csv", columns, rows)
    curve = []
    for p in range(points):
        head = [run_id(p), SCANS[p % 2], "h200", 60 * MIB]
        curve += [[*head, 4096, 100 + p], [*head, MIB, 100]]
    write(folder / "curve.csv", "run_id scan gpu l2_bytes capacity_bytes miss_sectors", curve)
    wave = [
        [run_id(0), "linear", step, worker, step]
        for step in range(STEPS)
        for worker in range(CTAS)
        if worker < CTAS - 1 or step < STEPS // 2
    ]
    write(folder / "wave.csv", "run_id scan step worker kv_tile", wave)
    compared = [["timed", "dram_read_sectors", 110, 100, "linear"]]
    compared += [["timed", "dram_read_sectors", 80, 100, "sawtooth"]]
    compared += [["timed", "dram_read_sectors", 130, 100, "reverse"]]
    write(folder / "compare.csv", "group counter predicted measured scan", compared)
