#!/usr/bin/env python3
"""By how much two CTAs of an SM run apart with prefetch and without it: age-bias-prefetch of kernels/mma.

    prefetch_bias.py ROWS.csv ITEMS.csv[.xz]    of `sawtooth measure lists/calibration_prefetch.ini --item-trace`

Of each shape with two CTAs an SM, medians over launches of (younger - older) / mean of their times a step, where those are
medians over CTAs; the quotient of both, with prefetch over without, is what age-bias is multiplied by. On an H200 CTAs
80 to 87 share their SMs with CTAs 0 to 7 (cta-order of its profile), and from 140 on all are the younger ones. Standard
library only.
"""

import argparse
import csv
import lzma
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "plots", "lib"))
import table  # noqa: E402  (the path above leads to it)

SHAPE = ("head_dim", "tile_q", "tile_kv")
FIRST_YOUNGER = range(80, 88)
YOUNGER_FROM = 140


def is_younger(cta):
    return cta in FIRST_YOUNGER or cta >= YOUNGER_FROM


def paces(path):
    """{(run_id, repetition): {CTA: nanoseconds a step}} without the last item, whose end is not recorded."""
    launches = {}
    opened = lzma.open(path, "rt") if path.endswith(".xz") else open(path, encoding="utf-8")
    with opened as file:
        for row in csv.DictReader(file):
            ctas = launches.setdefault((row["run_id"], row["repetition"]), {})
            item = (int(row["items_before"]), int(row["steps"]), int(row["start_ns"]))
            ctas.setdefault(int(row["worker"]), []).append(item)
    found = {}
    for launch, ctas in launches.items():
        for cta, items in ctas.items():
            items.sort()
            steps = sum(item[1] for item in items[:-1])
            if steps:
                found.setdefault(launch, {})[cta] = (items[-1][2] - items[0][2]) / steps
    return found


def biases(rows_path, items_path):
    """{shape: {whether it prefetches: [(younger - older) / mean of each launch]}}."""
    found, times = {}, paces(items_path)
    for row in table.read(rows_path, [*SHAPE, "ctas_per_sm", "prefetch", "run_id", "repetition"]):
        ctas = times.get((row["run_id"], row["repetition"]))
        if row["ctas_per_sm"] != "2" or not ctas:
            continue
        older, younger = (
            statistics.mean(ns for cta, ns in ctas.items() if is_younger(cta) == age)
            for age in (False, True)
        )
        of_shape = found.setdefault(tuple(row[key] for key in SHAPE), {False: [], True: []})
        of_shape[row["prefetch"] != "0"].append(2 * (younger - older) / (younger + older))
    return found


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows")
    parser.add_argument("items")
    options = parser.parse_args(arguments)
    try:
        found = biases(options.rows, options.items)
    except (table.TableError, KeyError, OSError) as error:
        print(f"prefetch_bias.py: {error}", file=sys.stderr)
        return 2
    if not found:
        print("prefetch_bias.py: no launch with two CTAs an SM has items", file=sys.stderr)
        return 1
    for (head_dim, q, kv), of_shape in sorted(found.items()):
        without, ahead = (statistics.median(of_shape[key] or [0]) for key in (False, True))
        quotient = f", quotient {ahead / without:.3f}" if without else ""
        print(
            f"[d{head_dim}-{q}x{kv}] {100 * without:.2f} % without, {100 * ahead:.2f} % with{quotient}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
