#!/usr/bin/env python3
"""How long a list of points takes to measure, before it is measured.

    build/release/sawtooth simulate experiments/studies/validation/grid.ini --csv grid.csv
    experiments/studies/validation/estimate_time.py grid.csv [--tflops 280] [--repetitions 5] [--list]

A point costs its FLOPs over an assumed speed, times its launches, and a constant for its tensors,
the state of L2 and the profiler. The duplicates of a list are counted once, as they are measured.
"""

import argparse
import csv
import sys

# What `sawtooth measure` launches: one to load the kernel, then a repetition's timed launches and
# replay passes; and what a repetition costs besides (facts of one H200: a point of few passes over
# small kernels takes 0.3 s, tensors and L2 state included).
TIMED_LAUNCHES = 5
REPLAY_PASSES = 3  # on GH100
SECONDS_A_REPETITION = 0.3

PROBLEM = ("batch", "heads", "kv_heads", "seq_q", "seq_kv", "head_dim", "dtype", "mask")
SCHEDULE = ("tile_q", "tile_kv", "section", "q_order", "head_order", "launch", "workers",
            "ctas_per_sm", "scan", "prefetch", "kv_split", "loop")


def flop(row):
    """FLOP of the forward pass: 4 D a visible pair of query and key (causal: half of all pairs)."""
    queries, keys = int(row["seq_q"]), int(row["seq_kv"])
    pairs = queries * keys
    if row["mask"] == "causal":
        pairs /= 2
    elif row["mask"].startswith("window:"):
        window = int(row["mask"].split(":")[1])
        # Row i of equal lengths sees min(i + 1, window) keys.
        pairs = queries * window - window * (window - 1) / 2 if window < queries else pairs / 2
    return 4 * int(row["batch"]) * int(row["heads"]) * pairs * int(row["head_dim"])


def seconds(row, tflops, repetitions):
    launches = 1 + repetitions * (TIMED_LAUNCHES + REPLAY_PASSES)
    return launches * flop(row) / (tflops * 1e12) + repetitions * SECONDS_A_REPETITION


def unique(rows):
    return list({tuple(row[key] for key in PROBLEM + SCHEDULE): row for row in rows}.values())


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv", help="rows of results.csv, one a point")
    parser.add_argument("--tflops", type=float, default=280, help="assumed speed (default: 280)")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--list", action="store_true", help="print every point")
    options = parser.parse_args(arguments)
    try:
        with open(options.csv, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        print(f"estimate_time: {options.csv}: {error.strerror}", file=sys.stderr)
        return 2
    points = unique(rows)
    times = [seconds(row, options.tflops, options.repetitions) for row in points]
    if options.list:
        for row, time in zip(points, times):
            print(f"{time:7.2f} s  " + " ".join(row[key] for key in PROBLEM + SCHEDULE))
    beyond = [row for row in points if row.get("dram_read_sectors") and
              int(row["dram_read_sectors"]) > 1.5 * int(row["cold_read_sectors"])]
    print(f"{len(points)} points ({len(rows) - len(points)} duplicates), {sum(times):.0f} s at "
          f"{options.tflops:g} TFLOP/s and {options.repetitions} repetitions, longest "
          f"{max(times, default=0):.1f} s; DRAM reads over 1.5 x compulsory in {len(beyond)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
