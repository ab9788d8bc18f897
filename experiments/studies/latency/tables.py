#!/usr/bin/env python3
"""Markdown tables of what was measured.

tables.py TILES.csv           rows of tile_latency, a line a way to ask: median time of the slowest reader
                              for a tile of 32 KiB, and the straight line through the medians of all
                              sizes, as latency (ns at 0 KiB) and bytes a nanosecond and SM
tables.py TIMES.csv COUNTERS.csv   rows of triton_stages.py, a line a kernel and mask: what sawtooth
                              gains in time over linear at each length, static launches, and the DRAM
                              reads that it saves
"""

import csv
import sys

KEYS = ("place", "tiles", "readers", "load")


def line(points):
    """Least squares through (KiB, ns): intercept in ns and slope in ns a KiB."""
    x_mean, y_mean = (sum(column) / len(points) for column in zip(*points))
    slope = sum((x - x_mean) * (y - y_mean) for x, y in points)
    slope /= sum((x - x_mean) ** 2 for x, _ in points)
    return y_mean - slope * x_mean, slope


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def stages(times, counters):
    """Percent by which sawtooth is faster, and percent of DRAM reads that it saves, by length."""
    groups = {}
    for column, rows in (("time_us", times), ("dram_read_sectors", counters)):
        for row in rows:
            if row["launch"] == "static":
                kernel = tuple(row[key] for key in ("head_dim", "mask", "kernel"))
                lengths = groups.setdefault(kernel, {}).setdefault(int(row["seq_q"]), {})
                lengths[column, row["scan"]] = float(row[column])
    print("| D | mask | kernel | length: gain in time / DRAM reads saved, % |")
    print("|---|---|---|---|")
    for kernel, lengths in groups.items():
        cells = []
        for length, found in lengths.items():
            gain = 100 * (found["time_us", "linear"] / found["time_us", "sawtooth"] - 1)
            cell = f"{length // 1024}K: {gain:.1f}"
            if ("dram_read_sectors", "linear") in found:
                kept = found["dram_read_sectors", "sawtooth"]
                cell += f" / {100 * (1 - kept / found['dram_read_sectors', 'linear']):.0f}"
            cells.append(cell)
        print(f"| {' | '.join(kernel)} | {', '.join(cells)} |")


def tiles(rows):
    rows = [row for row in rows if row["background"] == "none"]
    print("| tile is | tiles | readers | load | 32 KiB, ns | latency, ns | bytes/ns and SM |")
    print("|---|---|---|---|---|---|---|")
    groups = {}
    for row in rows:
        if row["place"] != "coming" and row["readers"] in ("1", "66", "132"):
            groups.setdefault(tuple(row[key] for key in KEYS), []).append(row)
    for key in sorted(groups, key=lambda key: (key[0] == "dram", key[0] != "near", key)):
        sizes = {int(row["tile_kib"]): float(row["slowest_median_ns"]) for row in groups[key]}
        latency, slope = line([(kib, ns) for kib, ns in sizes.items()])
        print(f"| {' | '.join(key)} | {sizes[32]:.0f} | {latency:.0f} | {1024 / slope:.0f} |")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    tables = [read(path) for path in sys.argv[1:]]
    (tiles if len(tables) == 1 else stages)(*tables)
