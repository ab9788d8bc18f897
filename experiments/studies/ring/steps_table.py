#!/usr/bin/env python3
"""Errors of predicted steps of rings: `steps_table.py PREDICTED MEASURED... [--by COLUMN]`.

PREDICTED has rows of `sawtooth simulate`, MEASURED of `sawtooth ring`, of which medians over the repetitions count;
counters may be in one file and times in another. Prints Markdown: for each counter the errors over the GPUs of all
rings, whose steps are summed, and over single steps; then the time of steps. --by: a table for each value of a column
(ring, mask, ring_mover, scan, head_dim, seq_q). --lines: a line a step.
"""

import argparse
import collections
import csv
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "plots", "lib"))
import errors  # noqa: E402  (the path above leads to it)
import measures  # noqa: E402

KEYS = (
    "ring head_dim seq_q mask ring_order ring_mover scan launch tile_q tile_kv heads kv_heads q_order "
    "section"
).split()
COUNTERS = (
    "dram_read dram_write l2_read_miss fabric_read_miss fabric_read l2_read l2_write sm_read"
).split()


def number(row, column):
    return float(row[column]) if row.get(column) else None


def read(path):
    """{(ring, rank, step): [row of each repetition]} of single steps that ran."""
    found = collections.defaultdict(list)
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if "all" in (row["ring_rank"], row["ring_step"]) or row["status"] != "ok":
                continue
            ring = tuple(row[key] for key in KEYS)
            found[ring, int(row["ring_rank"]), int(row["ring_step"])].append(row)
    return found


def column_of(counter):
    return "time_us" if counter == "time" else f"{counter}_sectors"


def median(rows, column):
    values = [number(row, column) for row in rows]
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def pairs(predicted, measured, counter, whole_gpus):
    """(ring, rank, step or None, predicted, measured, times compulsory): one a step that does something, or one a
    GPU."""
    column = column_of(counter)
    sums = collections.defaultdict(lambda: [0.0, 0.0, 0.0, 0.0])
    for (ring, rank, step), rows in measured.items():
        if (ring, rank, step) not in predicted:
            continue
        row = predicted[ring, rank, step][0]
        ours, theirs = number(row, column), median(rows, column)
        if ours is None or theirs is None or not number(row, "sm_read_sectors"):
            continue
        at = sums[ring, rank, None if whole_gpus else step]
        for i, value in enumerate(
            (ours, theirs, number(row, "dram_read_sectors"), number(row, "cold_read_sectors"))
        ):
            at[i] += value
    return [
        (*key, ours, theirs, reads / cold if cold else 0)
        for key, (ours, theirs, reads, cold) in sums.items()
        if theirs > 0
    ]


def errors_text(found):
    """median, 90 %, worst and bias of relative errors in %, and how many."""
    percent = [100 * (ours / theirs - 1) for _, _, _, ours, theirs, _ in found]
    if not percent:
        return "| 0 | | | | |"
    sizes = [abs(error) for error in percent]
    return (
        f"| {len(sizes)} | {statistics.median(sizes):.1f} | {measures.quantile(sizes, 0.9):.1f} | {max(sizes):.1f} "
        f"| {statistics.median(percent):+.1f} |"
    )


def table(predicted, counted, timed):
    lines = ["| | n | median % | 90 % | worst | bias |", "|---|---|---|---|---|---|"]
    for whole_gpus, name in ((True, "GPU"), (False, "step")):
        for counter in COUNTERS:
            found = pairs(predicted, counted, counter, whole_gpus)
            lines.append(f"| {counter} a {name} {errors_text(found)}")
            if counter == "dram_read":
                far = [pair for pair in found if pair[-1] > errors.OVER]
                lines.append(
                    f"| {counter} a {name}, over {errors.OVER} x compulsory {errors_text(far)}"
                )
    lines.append(f"| time a step {errors_text(pairs(predicted, timed, 'time', False))}")
    return lines


def listing(predicted, measured, counter):
    lines = []
    for ring, rank, step, ours, theirs, _ in sorted(
        pairs(predicted, measured, counter, False), key=str
    ):
        lines.append(
            f"{' '.join(ring[:7])} rank {rank} step {step}: {counter} predicted {ours:.6g} measured {theirs:.6g} "
            f"{100 * (ours / theirs - 1):+.1f} %"
        )
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("predicted")
    parser.add_argument("measured", nargs="+", help="counters, then times where they are elsewhere")
    parser.add_argument("--by", choices=KEYS)
    parser.add_argument(
        "--lines", choices=[*COUNTERS, "time"], help="print each step's error in this counter"
    )
    arguments = parser.parse_args()
    predicted = read(arguments.predicted)
    counted, timed = read(arguments.measured[0]), read(arguments.measured[-1])
    if arguments.lines:
        print(
            "\n".join(
                listing(predicted, timed if arguments.lines == "time" else counted, arguments.lines)
            )
        )
        return
    if not arguments.by:
        print("\n".join(table(predicted, counted, timed)))
        return
    at = KEYS.index(arguments.by)
    for value in sorted({ring[at] for ring, _, _ in counted}):

        def only(rows, value=value):
            return {key: rows[key] for key in rows if key[0][at] == value}

        print(f"\n{arguments.by} {value}\n")
        print("\n".join(table(predicted, only(counted), only(timed))))


if __name__ == "__main__":
    main()
