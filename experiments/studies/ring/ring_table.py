#!/usr/bin/env python3
"""The table of a ring_time CSV: `ring_table.py FILE`. A line a length and head dim, shares of the ideal in %."""

import csv
import sys

COLUMNS = [("causal", "zigzag"), ("causal", "plain"), ("none", "plain")]


def table(rows):
    """Lines of Markdown: of_ideal (median of the rounds, least to most) of each mask and layout."""
    found = {(int(r["head_dim"]), int(r["seq"]), r["mask"], r["layout"]): r for r in rows}
    head = " | ".join(f"{mask}, {layout}" for mask, layout in COLUMNS)
    lines = [f"| D, length | {head} |", "|---" * (len(COLUMNS) + 1) + "|"]
    for dim, seq in sorted({key[:2] for key in found}, key=lambda key: (-key[0], key[1])):
        cells = []
        for mask, layout in COLUMNS:
            row = found.get((dim, seq, mask, layout))
            if row is None:
                cells.append("")
                continue
            shares = [100 * float(row[c]) for c in ("of_ideal", "of_ideal_least", "of_ideal_most")]
            cells.append("{:.1f} ({:.0f} to {:.0f})".format(*shares))
        lines.append(f"| {dim}, {seq // 1024}K | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        print("\n".join(table(csv.DictReader(file))))
