#!/usr/bin/env python3
"""Schedules of one kernel beside each other: time and misses as measured, misses as predicted.

    build/release/sawtooth simulate experiments/studies/peers/lists/full-speed.ini --csv predicted.csv
    build/release/sawtooth measure experiments/studies/peers/lists/full-speed.ini --csv measured.csv   (a GPU)
    experiments/studies/peers/schedules_table.py predicted.csv measured.csv

One table a shape, in Markdown, the fastest first: TFLOP/s, L2 reads and DRAM reads (medians over
repetitions), the DRAM reads of the prediction, and the ranks of both; `*` marks the fewest DRAM
reads. Exit 2 for tables that do not belong together.
"""

import argparse
import statistics
import sys

import lib_path  # noqa: F401  (makes plots/lib importable)
import race_rows
import table

SHAPE = "batch heads kv_heads seq_q seq_kv head_dim dtype mask".split()
SCHEDULE = "tile_q tile_kv section q_order launch workers scan prefetch kv_split".split()
TITLES = {"tile_q": "tile", "q_order": "Q order"}
RESULTS = ("TFLOP/s", "L2 reads, M", "DRAM reads, M", "predicted, M", "rank in DRAM reads")
RESULTS += ("predicted rank",)
DRAM = "dram_read_sectors"
MEASURED = ("tflops", "l2_read_sectors", DRAM)


def median_of(rows, column):
    """None for a column that is empty throughout."""
    cells = [float(row[column]) for row in rows if row[column]]
    return statistics.median(cells) if cells else None


def medians(rows, columns):
    """{shape: {schedule: {column: median}}} of rows whose status is ok."""
    found = {}
    for shape, of_shape in table.grouped(table.where(rows, status="ok"), *SHAPE).items():
        schedules = table.grouped(of_shape, *SCHEDULE).items()
        found[shape] = {s: {c: median_of(group, c) for c in columns} for s, group in schedules}
    return found


def millions(value):
    return "" if value is None else f"{value / 1e6:.2f}"


def shape_title(shape):
    named = dict(zip(SHAPE, shape))
    return "B{batch} H{heads} S{seq_q} D{head_dim} {mask}".format(**named)


def rank(value, values):
    return "" if value is None else str(1 + sum(other < value for other in values))


def lines(shape, measured, predicted):
    """Lines of the table of one shape: `measured` and `predicted` by schedule."""
    varied = [at for at in range(len(SCHEDULE)) if len({schedule[at] for schedule in measured}) > 1]
    names = [TITLES.get(SCHEDULE[at], SCHEDULE[at]).replace("_", " ") for at in varied]
    yield f"### {shape_title(shape)}\n"
    yield race_rows.markdown_head([*names, *RESULTS])
    reads = [row[DRAM] for row in measured.values() if row[DRAM] is not None]
    models = {schedule: predicted[schedule][DRAM] for schedule in measured if schedule in predicted}
    for schedule in sorted(measured, key=lambda s: -(measured[s]["tflops"] or 0)):
        row, model = measured[schedule], models.get(schedule)
        dram = row[DRAM]
        star = "*" if dram is not None and dram == min(reads) else ""
        cells = [f"{row['tflops'] or 0:.0f}", millions(row["l2_read_sectors"])]
        cells += [millions(dram) + star, millions(model), rank(dram, reads)]
        named = [schedule[at] for at in varied]
        yield race_rows.markdown([*named, *cells, rank(model, models.values())])
    yield ""


def work(options):
    predicted = medians(table.read(options.predicted), (DRAM,))
    measured = medians(table.read(options.measured), MEASURED)
    if not any(predicted.get(shape, {}).keys() & measured[shape].keys() for shape in measured):
        raise table.TableError("no point is in both tables")
    for shape, schedules in measured.items():
        print("\n".join(lines(shape, schedules, predicted.get(shape, {}))))
    return 0


def main(arguments=None):
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("predicted")
    parser.add_argument("measured")
    return race_rows.run("schedules_table", work, parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
