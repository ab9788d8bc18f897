#!/usr/bin/env python3
"""What launches of a kernel family take on an H100 as a share of what they take on an H200: [pace] of h100-sxm.ini.

    experiments/studies/validation/pace.py

Durations of the points of lists calibration and calibration_hopper that both GPUs have, the median launch of each
point. Standard library only.
"""

import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "plots", "lib"))
import intervals  # noqa: E402  (the path above leads to it)

DATA = os.path.join(HERE, "..", "..", "data")
LISTS = {"mma": "calibration", "hopper": "calibration_hopper"}


def durations(path):
    """{point: us of its median launch}."""
    return {
        point: statistics.median(float(row[intervals.DURATION]) for row in rows)
        for point, rows in intervals.points([path]).items()
    }


def ratios(here, there):
    """Of the points that both have, least first."""
    return sorted(us / there[point] for point, us in here.items() if point in there)


def main():
    for family, name in LISTS.items():
        h100, h200 = (
            durations(os.path.join(DATA, gpu, "validation", f"{name}.csv"))
            for gpu in ("h100", "h200")
        )
        found = ratios(h100, h200)
        print(
            f"{family}: {statistics.median(found):.3f} ({found[0]:.3f} to {found[-1]:.3f}, {len(found)} points)"
        )


if __name__ == "__main__":
    main()
