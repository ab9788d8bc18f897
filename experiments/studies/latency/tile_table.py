#!/usr/bin/env python3
"""tile_table.py ROWS.csv: what rows of tile_latency say, as a Markdown table.

A line is one way to ask: median time of the slowest reader for a tile of 32 KiB, and the straight line
through the medians of all sizes, as latency (ns at 0 KiB) and bytes a nanosecond and SM.
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


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["background"] == "none"]
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
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
