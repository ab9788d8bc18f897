#!/usr/bin/env python3
"""How wide intervals of predictions are: the lines of [intervals] in a GPU's profile.

    intervals.py MEASURED.csv PREDICTED.csv PREDICTED.csv ...   rows of results.csv, of each point one simulated launch a file

90 % of the points are measured within predicted x exp(-h) to predicted x exp(h). Of one launch, h is the
90 % mark of |ln(measured / predicted)|. Of several it is factor x hypot(s, floor), with s the standard
deviation of the logarithm over launches: factor is the 90 % mark of |ln(measured / predicted)| / hypot(s,
floor) over pairs of files, and floor the one that makes the median of h the least. No list that judges may
be given here. Standard library only.
"""

import argparse
import math
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "plots", "lib"))
import measures  # noqa: E402  (the path above leads to it)
import table  # noqa: E402

COLUMNS = """l2_read_sectors l2_read_miss_sectors fabric_read_sectors fabric_read_miss_sectors
    dram_read_sectors dram_write_sectors time_us""".split()
POINT = """batch heads kv_heads seq_q seq_kv head_dim dtype mask tile_q tile_kv section q_order launch
    ctas_per_sm scan prefetch""".split()
CHOSEN = "dram_read_sectors"  # the launch that is the median of several is that of this column
COVERED = 0.9
FLOORS = (0.001, 0.002, 0.003, 0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.05)


def points(path):
    """{point: rows} of one table."""
    return table.grouped(table.read(path, POINT), *POINT)


def forecasts(column, measured, files):
    """(|ln(measured median / predicted median)|, spread of the logarithm) of each point that has values, with
    the launches of `files`, tables of one row a point."""
    for point, rows in files[0].items():
        launches = [rows[0], *(file[point][0] for file in files[1:])]
        values = [row[column] for row in measured.get(point, []) if row[column]]
        if not values or not all(row[column] and float(row[column]) > 0 for row in launches):
            continue
        middle = statistics.median(map(float, values))
        if middle <= 0:
            continue
        launches.sort(key=lambda row: float(row[CHOSEN]))
        predicted = float(launches[(len(launches) - 1) // 2][column])
        logarithms = [math.log(float(row[column])) for row in launches]
        spread = statistics.stdev(logarithms) if len(launches) > 1 else 0
        yield abs(math.log(middle / predicted)), spread


def width_of(column, measured, files):
    """(h of one launch, floor, factor) of one column."""
    alone = [error for file in files for error, _ in forecasts(column, measured, [file])]
    pairs = zip(files, files[1:] + files[:1])
    found = [one for pair in pairs for one in forecasts(column, measured, list(pair))]
    choices = []
    for floor in FLOORS:
        scales = [math.hypot(spread, floor) for _, spread in found]
        ratios = [error / scale for (error, _), scale in zip(found, scales)]
        factor = measures.quantile(ratios, COVERED)
        choices.append((factor * statistics.median(scales), floor, factor))
    _, floor, factor = min(choices)
    return measures.quantile(alone, COVERED), floor, factor


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("measured")
    parser.add_argument("predicted", nargs="+")
    options = parser.parse_args(arguments)
    try:
        if len(options.predicted) < 2:
            raise table.TableError("at least two tables of predictions are needed, a seed each")
        measured, files = points(options.measured), [points(path) for path in options.predicted]
        for column in COLUMNS:
            one, floor, factor = width_of(column, measured, files)
            print(f"{column} = {one:.3f}, {floor:g}, {factor:.2f}")
    except (table.TableError, KeyError) as error:
        print(f"intervals.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
