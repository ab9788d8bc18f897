#!/usr/bin/env python3
"""Errors of predicted rings, for judged.py: `steps.py PREDICTED MEASURED... --csv ERRORS.csv`.

PREDICTED has rows of `sawtooth simulate`, MEASURED of `sawtooth ring`, of which medians over the repetitions
count; times are those of the last file. Column `of` says what an error is about: a step,
a GPU (the sum of its steps), or a ring (time alone: steps and waits of the GPU that takes longest).
"""

import collections
import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "plots" / "lib"))
import table  # noqa: E402  (the path above leads to it)

RING = "ring head_dim seq_q mask ring_order ring_mover".split()
STEP = RING + "scan launch tile_q tile_kv heads kv_heads q_order section".split()
SUMMED = (
    "sm_read_sectors l2_read_sectors l2_read_miss_sectors dram_read_sectors dram_write_sectors"
).split()
TIME = "time_us"
US_A_MS = 1000


def is_step(row):
    return "all" not in (row["ring_rank"], row["ring_step"]) and row["status"] == "ok"


def number(row, column):
    return float(row[column]) if row.get(column) else None


def steps_of(path):
    """{(ring, rank, step): rows of its repetitions}, of single steps that ran."""
    rows = [row for row in table.read(path) if is_step(row)]
    return table.grouped(rows, *STEP, "ring_rank", "ring_step")


def median(rows, column):
    values = [value for value in (number(row, column) for row in rows) if value is not None]
    return statistics.median(values) if values else None


def error(of, row, counter, predicted, measured):
    cells = {key: row[key] for key in (*STEP, "gpu", "kernel")}
    cells |= dict(group=f"{row['timing']}, {row['l2']}", of=of, counter=counter)
    cells |= dict(relative_error=predicted / measured - 1)
    return cells | dict(predicted=predicted, measured=measured)


def errors_of_steps(predicted, measured, counters):
    """Errors of each step that does something and was predicted, then of each GPU's sums."""
    sums = collections.defaultdict(lambda: [None, 0.0, 0.0])
    for key, rows in measured.items():
        (row,) = predicted.get(key, (None,))
        if row is None or not number(row, "sm_read_sectors"):
            continue
        for counter in counters:
            ours, theirs = number(row, counter), median(rows, counter)
            if ours is None or not theirs:
                continue
            yield error("step", row, counter, ours, theirs)
            if counter in SUMMED:
                at = sums[key[:-1], counter]
                at[:] = row, at[1] + ours, at[2] + theirs
    for (_, counter), (row, ours, theirs) in sums.items():
        yield error("GPU", row, counter, ours, theirs)


def errors_of_rings(predicted, measured):
    """Errors of whole rings, of rows with ring_ms."""
    known = {table.cells(row, RING): float(row["ring_ms"]) for row in measured}
    gpus = collections.defaultdict(float)
    for (row,) in predicted.values():
        us = number(row, TIME) + number(row, "exposed_us")
        gpus[table.cells(row, [*RING, "ring_rank"])] += us
    last = {table.cells(row, RING): row for (row,) in predicted.values()}
    for key in known.keys() & last.keys():
        ms = max(us for gpu, us in gpus.items() if gpu[:-1] == key) / US_A_MS
        yield error("ring", last[key], TIME, ms, known[key])


def main(words):
    parser = table.Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("predicted")
    parser.add_argument("measured", nargs="+")
    parser.add_argument("--csv", required=True)
    options = parser.parse_args(words)
    predicted = steps_of(options.predicted)
    found = []
    for path in options.measured:
        rows = table.read(path)
        if "ring_ms" in rows[0]:
            found += errors_of_rings(predicted, rows)
        else:
            counters = (*SUMMED, TIME) if path == options.measured[-1] else SUMMED
            found += errors_of_steps(predicted, steps_of(path), counters)
    table.write(options.csv, found)


if __name__ == "__main__":
    sys.exit(table.exit_code(main, sys.argv[1:], "steps.py"))
