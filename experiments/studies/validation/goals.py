#!/usr/bin/env python3
"""What a list says of goals that errors alone do not: intervals, points whose launches agree, and the identity.

    goals.py PREDICTED.csv MEASURED.csv    of one simulated launch a point, with intervals, and of several measured ones

Prints Markdown: of each column the share of points whose median launch lies in the interval, of all points and of
those over 1.5 x compulsory whose launches differ by 5 % in DRAM reads, with the median half width (shares of the prediction);
the errors over 1.5 x compulsory where launches agree; and DRAM reads = near misses - fabric reads + fabric misses (twice
these where tiles come by TMA), all without what a launch reads beside its tensors (launch-... of the GPU's profile), in
measured points without prefetch whose launches agree within 1 %. Standard library only.
"""

import argparse
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "plots", "lib"))
import intervals  # noqa: E402  (the path above leads to it)
import measures  # noqa: E402
import points  # noqa: E402
import table  # noqa: E402

NEAR, FABRIC, MISSES = "l2_read_miss_sectors fabric_read_sectors fabric_read_miss_sectors".split()
LAUNCH_READS = ("launch-dram-read-sectors", "launch-fabric-read-sectors")
BULK = ("hopper", "mma-tma")
SMALL_SPREAD = 0.01
HOLDS = 0.03


def median_of(rows, column):
    return statistics.median(float(row[column]) for row in rows)


def joined(predicted_path, measured_path):
    """[(predicted row, measured rows, over 1.5 x compulsory, launches agree)] of the points in both tables."""
    predicted, measured = intervals.points([predicted_path]), intervals.points([measured_path])
    found = []
    for point, (row, *_) in predicted.items():
        rows = measured.get(point)
        if rows is None:
            continue
        reads = median_of(rows, intervals.CHOSEN)
        over = reads > intervals.OVER * float(row["cold_read_sectors"])
        found.append((row, rows, over, intervals.launches_agree(rows)))
    return found


def coverage(found):
    """(column, points, share covered, median half width, points that disagree, of these covered)."""
    for column in intervals.COLUMNS:
        inside, widths, apart = [], [], []
        for row, rows, over, agree in found:
            if not row[f"{column}_low"]:
                continue
            low, high = (float(row[f"{column}_{end}"]) for end in ("low", "high"))
            inside.append(low <= median_of(rows, column) <= high)
            widths.append((high - low) / (2 * float(row[column])))
            if over and not agree:
                apart.append(inside[-1])
        if inside:
            share = sum(inside) / len(inside)
            yield column, len(inside), share, statistics.median(widths), len(apart), sum(apart)


def agreeing(found):
    """(column, points, median, 90 % and worst error) over 1.5 x compulsory where launches agree."""
    for column in (intervals.CHOSEN, NEAR, FABRIC, MISSES):
        errors = [
            abs(float(row[column]) / median_of(rows, column) - 1)
            for row, rows, over, agree in found
            if over and agree
        ]
        if errors:
            yield column, len(errors), statistics.median(errors), measures.quantile(
                errors, 0.9
            ), max(errors)


def identity(found):
    """(points, of these within HOLDS, median error) of measured points."""
    errors = []
    for row, rows, _, _ in found:
        reads = [float(one[intervals.CHOSEN]) for one in rows]
        if row["prefetch"] != "0" or max(reads) - min(reads) > SMALL_SPREAD * min(reads):
            continue
        times = 2 if row["kernel"] in BULK else 1
        profile = points.profile(row["gpu"])
        of_launch = sum(int(profile.get(key, 0)) for key in LAUNCH_READS)
        sums = [
            float(o[NEAR]) - float(o[FABRIC]) + times * float(o[MISSES]) + of_launch for o in rows
        ]
        errors.append(abs(statistics.median(sums) / statistics.median(reads) - 1))
    return len(errors), sum(error <= HOLDS for error in errors), statistics.median(errors)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("predicted")
    parser.add_argument("measured")
    options = parser.parse_args(arguments)
    try:
        found = joined(options.predicted, options.measured)
        print("| intervals | points | covered, % | half width, % | covered where launches differ |")
        print("|---|---|---|---|---|")
        for column, points, share, width, apart, held in coverage(found):
            print(
                f"| {column} | {points} | {100 * share:.1f} | {100 * width:.1f} | {held} of {apart} |"
            )
        print("\n| over 1.5 x, launches agree | points | median, % | 90 %, % | worst, % |")
        print("|---|---|---|---|---|")
        for column, points, *errors in agreeing(found):
            print(f"| {column} | {points} | {' | '.join(f'{100 * e:.1f}' for e in errors)} |")
        points, held, middle = identity(found)
        print(
            f"\nThe identity holds within 3 % in {held} of {points} points, {100 * middle:.1f} % in the median."
        )
    except (table.TableError, KeyError) as error:
        print(f"goals.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
