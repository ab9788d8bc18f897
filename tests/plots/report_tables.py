"""Tables of a sweep for the tests of the report, with numbers that can be told by hand."""

import csv
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "plots"))
sys.path.append(str(ROOT / "plots" / "lib"))
sys.path.append(str(ROOT / "tests" / "support"))
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
        ["predicted", "h200", "", s, s, SCANS[p % 2], 60 * MIB, r, 500, run_id(p)]
        for p, (s, r) in enumerate(zip(lengths, reads))
    ]
    columns = "source gpu kernel seq_q seq_kv scan l2_bytes"
    columns += " dram_read_sectors cold_read_sectors run_id"
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
    counts = [(110, 100, "linear"), (80, 100, "sawtooth"), (130, 100, "reverse")]
    compared = [["timed", "dram_read_sectors", *count] for count in counts]
    write(folder / "compare.csv", "group counter predicted measured scan", compared)


def make_judged(folder):
    """Two schedules of one problem, predicted with intervals and measured three times each: linear reads
    1000 sectors in 100 us, sawtooth 600 in 90; measured 1100 and 660 sectors (medians) in 110 and 90 us.
    """
    columns = (
        "source gpu kernel timing l2 judged seq_q seq_kv scan cold_read_sectors dram_read_sectors "
    )
    columns += "dram_read_sectors_low dram_read_sectors_high time_us time_us_low time_us_high repetition run_id"
    model = ["predicted", "h200", "", "timed", "halves", "1.5 % (15 % at 90 %)", 1024, 1024]
    rows = [
        [*model, "linear", 500, 1000, 900, 1100, 100, 99, 101, "", run_id(0)],
        [*model, "sawtooth", 500, 600, 540, 660, 90, 89, 91, "", run_id(1)],
    ]
    for place, (scan, reads, time) in enumerate((("linear", 1100, 110), ("sawtooth", 660, 90))):
        for i in range(3):
            head = ["measured", "h200", "mma", "", "", "", 1024, 1024, scan, ""]
            counts = [reads + 10 * (i - 1), "", "", time + i - 1, "", "", i]
            rows.append([*head, *counts, run_id(place + 2)])
    write(folder / "results.csv", columns, rows)
    counts = [(1000, 1100, "linear"), (600, 660, "sawtooth")]
    compared = [["timed", "dram_read_sectors", *count] for count in counts]
    compared += [
        ["timed", "time_us", *time] for time in ((100, 110, "linear"), (90, 90, "sawtooth"))
    ]
    write(folder / "compare.csv", "group counter predicted measured scan", compared)


def make_long(folder):
    """On two GPUs schedules whose names differ at their ends; one reads 49.11 times as much as another."""
    columns, name = "source gpu scan dram_read_sectors time_us", 9 * "long-" + "name-"
    rows = [
        ["predicted", g, f"{name}{i}", (9, 442)[i == 7], 9 + i] for g in "ab" for i in range(40)
    ]
    write(folder / "results.csv", columns, rows)
