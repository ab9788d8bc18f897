#!/usr/bin/env python3
"""How the clock falls under a GPU's power limit: power-delay-ms, power-fall-ms, and power-slowness of kernels/hopper.

    power.py ROWS.csv ...    rows of `sawtooth measure`, with durations of counted and of uncounted launches

Counted launches stand apart and run at the full clock; the others come one behind the other, one that loads
the kernel and five of which the middle one is told. So the quotient of both durations tells the clock, without a model of the
kernel. A launch of t at the full clock takes t (1 + slowness x fallen), fallen = (3.5 t - delay) / fall, cut to 0
to 1: half of the median launch is reached after 3.5 launches. Least absolute error over medians of points of at least
LEAST_MS; delay and fall are one pair for all shapes. Standard library only.
"""

import argparse
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "plots", "lib"))
import table  # noqa: E402  (the path above leads to it)

LEAST_MS = 3
FLUSH_MS = 0.025  # what a counted launch takes longer: the profiler's begin and end
LAUNCHES_UNTIL_MIDDLE = 3.5
STEP_MS = 5
POINT = """heads seq_kv head_dim mask tile_q tile_kv section q_order launch scan prefetch""".split()


def points(paths):
    """{shape: [(milliseconds at the full clock, quotient)]} of kernels/hopper; tiles of one head dim above 64 are one shape."""
    found = {}
    for path in paths:
        rows = table.where(table.read(path, POINT), kernel="hopper")
        rows = [row for row in rows if row["profiled_time_us"] and row["time_us"]]
        for launches in table.grouped(rows, *POINT).values():
            row = launches[0]
            full = statistics.median(table.numbers(launches, "profiled_time_us")) / 1000 - FLUSH_MS
            usual = statistics.median(table.numbers(launches, "time_us")) / 1000
            tile = f"-{row['tile_q']}x{row['tile_kv']}" if row["head_dim"] == "64" else ""
            if full >= LEAST_MS:
                found.setdefault(f"d{row['head_dim']}{tile}", []).append((full, usual / full))
    return found


def fallen(full, delay, fall):
    return min(1, max(0, (LAUNCHES_UNTIL_MIDDLE * full - delay) / fall))


def slowness(shape, delay, fall):
    """(slowness, sum of absolute errors) of one shape."""
    early = [q for full, q in shape if fallen(full, delay, fall) == 0]
    if not early:
        return None
    usual = statistics.median(early)
    shares = [(fallen(full, delay, fall), q / usual - 1) for full, q in shape]
    squares = sum(x * x for x, _ in shares)
    slow = sum(x * y for x, y in shares) / squares if squares else 0
    return slow, sum(abs(y - slow * x) for x, y in shares)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="+")
    options = parser.parse_args(arguments)
    try:
        shapes = points(options.rows)
    except (table.TableError, KeyError) as error:
        print(f"power.py: {error}", file=sys.stderr)
        return 2
    choices = []
    for delay in range(2 * STEP_MS, 61, STEP_MS):
        for fall in range(STEP_MS, 121, STEP_MS):
            found = [slowness(shape, delay, fall) for shape in shapes.values()]
            if None not in found:
                choices.append((sum(error for _, error in found), delay, fall))
    if not choices:
        print("power.py: no shape has launches before the clock falls", file=sys.stderr)
        return 1
    _, delay, fall = min(choices)
    print(f"power-delay-ms = {delay}\npower-fall-ms = {fall}")
    for name, shape in sorted(shapes.items()):
        slow, error = slowness(shape, delay, fall)
        print(
            f"[{name}] power-slowness = {slow:.3f} ({len(shape)} points, off by {error / len(shape):.3f})"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
