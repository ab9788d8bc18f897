#!/usr/bin/env python3
"""What a launch costs beyond its items: launch-ns, refill-ns, launch-dram-read-sectors, launch-fabric-read-sectors.

    launch.py PREDICTED.csv COUNTED.csv TIMED.csv

PREDICTED: `simulate lists/calibration_short.ini --without starts`, so with launches that take no time and read nothing
beside their tensors; COUNTED and TIMED: rows of `measure` and `bench` of that list. Medians over points of one head, whose
CTAs have an item or two: launch-ns of a family is by how much a launch takes longer than predicted (TIMED), the sectors are
by how many more it reads (COUNTED, all families, launches on more than one GPC). refill-ns: the points of many heads differ in their launch alone, so it is what
`grid` takes longer than `static`, divided by how often a CTA is followed by another. Standard library only.
"""

import argparse
import math
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "plots", "lib"))
import table  # noqa: E402  (the path above leads to it)

SHAPE = """kernel heads seq_q head_dim tile_q tile_kv""".split()
POINT = [*SHAPE, "launch"]
FIRST_GPC = 16  # CTAs of a launch on the SMs of one GPC, so on one half, which is not known
READS = {
    "launch-dram-read-sectors": "dram_read_sectors",
    "launch-fabric-read-sectors": "fabric_read_sectors",
}


def medians(path, column):
    """{point: median of its rows}, of rows that have the column; family mma where no kernel is named."""
    rows = [row for row in table.read(path, [*POINT, column]) if row[column]]
    for row in rows:
        row["kernel"] = row["kernel"] or "mma"
    return {
        point: statistics.median(table.numbers(found, column))
        for point, found in table.grouped(rows, *POINT).items()
    }


def ctas(point):
    """Items of a launch: its Q tiles."""
    heads, rows, tile = (int(point[SHAPE.index(key)]) for key in ("heads", "seq_q", "tile_q"))
    return heads * math.ceil(rows / tile)


def differences(predicted, measured, column, least_ctas=1):
    """{family: [measured - predicted of each point of one head, of so many CTAs]}."""
    found = {}
    before = medians(predicted, column)
    for point, value in medians(measured, column).items():
        one_head = point[SHAPE.index("heads")] == "1"
        if point in before and one_head and ctas(point) >= least_ctas:
            found.setdefault(point[0], []).append(value - before[point])
    return found


def refills(timed, sms):
    """{family: [nanoseconds from a CTA to its successor on the SM, of each shape of many heads]}."""
    found = {}
    times = medians(timed, "time_us")
    for point, time in times.items():
        shape, static = point[:-1], times.get((*point[:-1], "static"))
        if point[-1] != "grid" or shape[SHAPE.index("heads")] == "1" or static is None:
            continue
        successors = math.ceil(ctas(point) / sms) - 1
        found.setdefault(shape[0], []).append(1000 * (time - static) / successors)
    return found


def say(key, values, family=""):
    print(
        f"{family and f'[{family}] '}{key} = {statistics.median(values):.0f}"
        f" ({len(values)} points, {min(values):.0f} to {max(values):.0f})"
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("predicted")
    parser.add_argument("counted")
    parser.add_argument("timed")
    parser.add_argument("--sms", type=int, default=132, help="of the GPU (default: 132)")
    options = parser.parse_args(arguments)
    try:
        times = differences(options.predicted, options.timed, "time_us")
        if not times:
            print("launch.py: no point of one head is in PREDICTED and in TIMED", file=sys.stderr)
            return 1
        for family, values in sorted(times.items()):
            say("launch-ns", [1000 * value for value in values], family)
        for family, values in sorted(refills(options.timed, options.sms).items()):
            say("refill-ns", values, family)
        for key, column in READS.items():
            found = differences(options.predicted, options.counted, column, FIRST_GPC + 1)
            say(key, [value for values in found.values() for value in values])
    except (table.TableError, KeyError, ValueError) as error:
        print(f"launch.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
