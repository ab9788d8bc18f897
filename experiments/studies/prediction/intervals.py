#!/usr/bin/env python3
"""How wide intervals of predictions are: the lines of [intervals] in a GPU's profile.

    intervals.py --measured ROWS.csv ... --predicted SEED.csv SEED.csv ...   of each point one simulated launch a seed

90 % of the points are measured within predicted x exp(-h) to predicted x exp(h). Of one launch, h is the
90 % mark of |ln(measured / predicted)| over the points of a kind (interval_width.hpp), for durations by how long they are;
where CTAs stand apart or drift, over those points whose measured launches differ by 5 %. Of several launches h is factor x hypot(s, floor), with s the standard
deviation of the logarithm over launches: factor is the 90 % mark of |ln(measured / predicted)| / hypot(s,
floor) over pairs of seeds, and floor the one that makes the median of h the least. Counters have one width for all kernels,
durations one for each family. No list that judges may be given here. Standard library only.
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
POINT = """kernel batch heads kv_heads seq_q seq_kv head_dim dtype mask tile_q tile_kv section q_order
    launch ctas_per_sm scan prefetch""".split()
CHOSEN = "dram_read_sectors"  # the launch that is the median of several is that of this column
DURATION = "time_us"
USUAL = "mma"  # the family of rows that name none
COVERED = 0.9
AGREE = 0.05
KINDS = ("within", "in_step", "apart", "drifting")
DURATIONS = ("brief", "usual", "sustained", "limited")
DURATION_BEGINS_US = (200, 10_000, 30_000)  # of all but the first
APART = ("apart", "drifting")  # whose widths are those of points whose launches disagree
OVER = 1.5  # x compulsory
FLOORS = (0.001, 0.002, 0.003, 0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.05)


def points(paths):
    """{point: rows} of tables."""
    rows = [row for path in paths for row in table.read(path, POINT)]
    for row in rows:
        row["kernel"] = row["kernel"] or USUAL
    return table.grouped(rows, *POINT)


def kind_of(row):
    """As kind_of() of experiments/sawtooth/results/intervals.cpp has it, of a predicted row."""
    if float(row[CHOSEN]) <= OVER * float(row["cold_read_sectors"]):
        return "within"
    masked = row["mask"] != "none"
    if masked and row["q_order"] == "ascending":
        return "drifting"
    return "apart" if masked or row["section"] != "1" else "in_step"


def duration_kind_of(row):
    return DURATIONS[sum(float(row[DURATION]) >= begin for begin in DURATION_BEGINS_US)]


def launches_agree(rows):
    values = sorted(float(row[CHOSEN]) for row in rows if row[CHOSEN])
    low, high = (measures.quantile(values, share) for share in (AGREE, 1 - AGREE))
    return high - low < AGREE * statistics.median(values)


def forecasts(column, measured, files):
    """(kind, whether measured launches agree, |ln(measured median / predicted median)|, spread of the logarithm) of
    each point that has values, with the launches of `files`, tables of one row a point."""
    for point, rows in files[0].items():
        if point not in measured or not all(point in file for file in files):
            continue
        launches = [rows[0], *(file[point][0] for file in files[1:])]
        values = [row[column] for row in measured[point] if row[column]]
        if not values or not all(row[column] and float(row[column]) > 0 for row in launches):
            continue
        middle = statistics.median(map(float, values))
        if middle <= 0:
            continue
        launches.sort(key=lambda row: float(row[CHOSEN]))
        chosen = launches[(len(launches) - 1) // 2]
        logarithms = [math.log(float(row[column])) for row in launches]
        spread = statistics.stdev(logarithms) if len(launches) > 1 else 0
        error = abs(math.log(middle / float(chosen[column])))
        kind = duration_kind_of(chosen) if column == DURATION else kind_of(chosen)
        yield kind, launches_agree(measured[point]), error, spread


def width_of(column, measured, files):
    """(h of one launch of each kind, floor, factor) of one column."""
    kinds = DURATIONS if column == DURATION else KINDS
    errors = {kind: [] for kind in kinds}
    for file in files:
        for kind, agree, error, _ in forecasts(column, measured, [file]):
            if kind not in APART or not agree:
                errors[kind].append(error)
    pairs = zip(files, files[1:] + files[:1])
    found = [one[2:] for pair in pairs for one in forecasts(column, measured, list(pair))]
    choices = []
    for floor in FLOORS:
        scales = [math.hypot(spread, floor) for _, spread in found]
        ratios = [error / scale for (error, _), scale in zip(found, scales)]
        factor = measures.quantile(ratios, COVERED)
        choices.append((factor * statistics.median(scales), floor, factor))
    _, floor, factor = min(choices)
    widths = [measures.quantile(errors[kind], COVERED) if errors[kind] else 0 for kind in kinds]
    return widths, floor, factor


def of_family(found, family):
    return {point: rows for point, rows in found.items() if point[0] == family}


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--measured", nargs="+", required=True)
    parser.add_argument("--predicted", nargs="+", required=True)
    options = parser.parse_args(arguments)
    try:
        if len(options.predicted) < 2:
            raise table.TableError("at least two tables of predictions are needed, a seed each")
        measured = points(options.measured)
        files = [points([path]) for path in options.predicted]
        families = sorted({point[0] for point in files[0]}, key=lambda name: name != USUAL)
        for family in families:
            print("[intervals]" if family == USUAL else f"\n[intervals-{family}]")
            own = [of_family(file, family) for file in files]
            for column in COLUMNS:
                widths, floor, factor = width_of(
                    column, measured, own if column == DURATION else files
                )
                told = ", ".join(f"{h:.3f}" for h in widths)
                print(f"{column} = {told}, {floor:g}, {factor:.2f}")
    except (table.TableError, KeyError) as error:
        print(f"intervals.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
