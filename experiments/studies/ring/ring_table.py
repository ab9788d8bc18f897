#!/usr/bin/env python3
"""Tables of ring attention: `ring_table.py MEASURED [--predicted ROWS]`.

MEASURED is a CSV of `sawtooth ring`, or a recorded one with medians (experiments/data/h200/ring). A table a pass, a line a
length and head dim, shares of the ideal in %. With --predicted, rows of `sawtooth simulate` for each step of each GPU:
the time of the ring beside the measured one.
"""

import argparse
import collections
import csv
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "plots", "lib"))
import measures  # noqa: E402  (the path above leads to it)

COLUMNS = [("causal", "zigzag"), ("causal", "plain"), ("none", "plain")]
US_A_MS = 1000


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def key_of(row):
    length = row["seq"] if "seq" in row else row["seq_q"]
    layout = row["layout"] if "layout" in row else row["ring_order"]
    return int(row["head_dim"]), int(length), row["mask"], layout


def measured(rows):
    """{(head dim, length, mask, layout): (shares of the ideal, ms of the ring)}, a value a round or their median,
    least and most."""
    found = collections.defaultdict(lambda: ([], []))
    for row in rows:
        shares, times = found[key_of(row)]
        if "ring_ms" in row:
            shares += [float(row[c]) for c in ("of_ideal", "of_ideal_least", "of_ideal_most")]
            times.append(float(row["ring_ms"]))
        elif row["ring_rank"] == row["ring_step"] == "all":
            shares.append(float(row["of_ideal"]))
            times.append(float(row["time_us"]) / US_A_MS)
    return {key: value for key, value in found.items() if value[0]}


def table(found):
    """Lines of Markdown: of_ideal (median of the rounds, least to most) of each mask and layout."""
    head = " | ".join(f"{mask}, {layout}" for mask, layout in COLUMNS)
    lines = [f"| D, length | {head} |", "|---" * (len(COLUMNS) + 1) + "|"]
    for dim, seq in sorted({key[:2] for key in found}, key=lambda key: (-key[0], key[1])):
        cells = []
        for column in COLUMNS:
            shares, _ = found.get((dim, seq, *column), ([], []))
            if not shares:
                cells.append("")
                continue
            values = [100 * v for v in (statistics.median(shares), min(shares), max(shares))]
            cells.append("{:.1f} ({:.0f} to {:.0f})".format(*values))
        lines.append(f"| {dim}, {seq // 1024}K | {' | '.join(cells)} |")
    return lines


def predicted_ms(rows):
    """{key: ms of the ring}: that of the GPU whose steps and waits take longest."""
    gpus = collections.defaultdict(float)
    for row in rows:
        if row["status"] == "ok" and "all" not in (row["ring_rank"], row["ring_step"]):
            gpus[key_of(row), row["ring_rank"]] += float(row["time_us"]) + float(row["exposed_us"])
    rings = collections.defaultdict(float)
    for (key, _), us in gpus.items():
        rings[key] = max(rings[key], us / US_A_MS)
    return rings


def judgement(found, predicted):
    """Lines of Markdown: predicted and measured ms of each ring, and the errors of all of them."""
    lines = [
        "| D, length | mask | layout | predicted ms | measured ms | error % |",
        "|---" * 6 + "|",
    ]
    errors = []
    for key in sorted(predicted, key=lambda key: (-key[0], key[1], key[2:])):
        if key not in found:
            continue
        ms = statistics.median(found[key][1])
        errors.append(100 * (predicted[key] / ms - 1))
        dim, seq, mask, layout = key
        lines.append(
            f"| {dim}, {seq // 1024}K | {mask} | {layout} | {predicted[key]:.2f} | {ms:.2f} | {errors[-1]:+.1f} |"
        )
    sizes = [abs(error) for error in errors]
    lines.append("")
    lines.append(
        f"{len(sizes)} rings: error in the median {statistics.median(sizes):.1f} %, "
        f"at 90 % {measures.quantile(sizes, 0.9):.1f} %, worst {max(sizes):.1f} %"
    )
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("measured")
    parser.add_argument("--predicted")
    arguments = parser.parse_args()
    rows = read(arguments.measured)
    passes = sorted({row.get("pass", "forward") for row in rows}, reverse=True)
    for one in passes:
        found = measured([row for row in rows if row.get("pass", "forward") == one])
        lines = [one, ""] if len(passes) > 1 else []
        if arguments.predicted:
            lines += judgement(found, predicted_ms(read(arguments.predicted)))
        else:
            lines += table(found)
        print("\n".join(lines))


if __name__ == "__main__":
    main()
