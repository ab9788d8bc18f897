#!/usr/bin/env python3
"""Schedules of one kernel beside each other: time and misses as measured, misses as predicted.

    build/release/sawtooth simulate experiments/studies/peers/full-speed.ini --csv predicted.csv
    build/release/sawtooth measure experiments/studies/peers/full-speed.ini --csv measured.csv   (a GPU)
    experiments/studies/peers/schedules_table.py predicted.csv measured.csv

One table a shape, in Markdown, the fastest first: TFLOP/s, L2 reads and DRAM reads (medians over
repetitions), the DRAM reads of the prediction, and the ranks of both; `*` marks the fewest DRAM
reads. Exit 2 for tables that do not belong together.
"""

import csv
import statistics
import sys

SHAPE = ("batch", "heads", "kv_heads", "seq_q", "seq_kv", "head_dim", "dtype", "mask")
SCHEDULE = ("tile_q", "tile_kv", "section", "q_order", "launch", "workers", "scan", "prefetch",
            "kv_split")
TITLES = {"tile_q": "tile", "q_order": "Q order"}
MEASURED = ("tflops", "l2_read_sectors", "dram_read_sectors")


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["status"] == "ok"]


def key(row, columns):
    return tuple(row[column] for column in columns)


def medians(rows, columns):
    """{(shape, schedule): {column: median}}; a column that is empty throughout is None."""
    grouped = {}
    for row in rows:
        grouped.setdefault((key(row, SHAPE), key(row, SCHEDULE)), []).append(row)
    return {where: {column: statistics.median(cells) if cells else None
                    for column in columns
                    for cells in [[float(row[column]) for row in group if row[column]]]}
            for where, group in grouped.items()}


def millions(value):
    return "" if value is None else f"{value / 1e6:.2f}"


def shape_title(shape):
    named = dict(zip(SHAPE, shape))
    return (f"B{named['batch']} H{named['heads']} S{named['seq_q']} D{named['head_dim']} "
            f"{named['mask']}")


def varied(schedules):
    """Columns that differ between these schedules; the tile as one."""
    return [column for at, column in enumerate(SCHEDULE)
            if len({schedule[at] for schedule in schedules}) > 1]


def rank(value, values):
    return 1 + sum(other < value for other in values)


def table(shape, measured, predicted):
    """Lines of the table of one shape: `measured` and `predicted` by schedule."""
    columns = varied(measured)
    yield f"### {shape_title(shape)}\n"
    yield "| " + " | ".join([*(TITLES.get(c, c).replace("_", " ") for c in columns), "TFLOP/s",
                            "L2 reads, M", "DRAM reads, M", "predicted, M", "rank in DRAM reads",
                            "predicted rank"]) + " |"
    yield "|" + "---|" * (len(columns) + 6)
    reads = [m["dram_read_sectors"] for m in measured.values()
             if m["dram_read_sectors"] is not None]
    expected = [predicted[s]["dram_read_sectors"] for s in measured if s in predicted]
    fastest_first = sorted(measured, key=lambda s: -(measured[s]["tflops"] or 0))
    for schedule in fastest_first:
        row, found = measured[schedule], predicted.get(schedule)
        dram, model = row["dram_read_sectors"], found and found["dram_read_sectors"]
        star = "*" if dram is not None and dram == min(reads) else ""
        cells = [*(schedule[SCHEDULE.index(c)] for c in columns), f"{row['tflops'] or 0:.0f}",
                 millions(row["l2_read_sectors"]), millions(dram) + star, millions(model),
                 "" if dram is None else str(rank(dram, reads)),
                 "" if model is None else str(rank(model, expected))]
        yield "| " + " | ".join(cells) + " |"
    yield ""


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        predicted = medians(read(sys.argv[1]), ("dram_read_sectors",))
        measured = medians(read(sys.argv[2]), MEASURED)
    except (OSError, KeyError, ValueError) as error:
        print(f"schedules_table.py: {error}", file=sys.stderr)
        return 2
    if not predicted.keys() & measured.keys():
        print("schedules_table.py: no point is in both tables", file=sys.stderr)
        return 2
    for shape in dict.fromkeys(shape for shape, _ in measured):
        def of(rows, wanted=shape):
            return {schedule: row for (where, schedule), row in rows.items() if where == wanted}
        print("\n".join(table(shape, of(measured), of(predicted))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
