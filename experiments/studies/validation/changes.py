#!/usr/bin/env python3
"""What each change of schedule wins, as a table: medians and ranges over all pairs of points of one
problem that differ in that one thing, after / before, measured and predicted.

    experiments/studies/validation/changes.py errors.csv

`errors.csv` is what `sawtooth compare --csv` writes. Standard library only.
"""

import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "plots", "lib"))
import change_pairs as changes  # noqa: E402  (the path above leads to it)
import table  # noqa: E402

OVER = 1.5  # x compulsory: a pair counts where one of its points is over it


def matters(before, after):
    return any(row["over_compulsory"] and float(row["over_compulsory"]) > OVER
               for row in (before, after))


def text(ratios):
    low, high = min(ratios), max(ratios)
    return f"{statistics.median(ratios):.2f} ({low:.2f} to {high:.2f})"


def lines(rows):
    """Markdown rows of one group."""
    found = {}
    for counter in changes.COUNTERS:
        for kind, before, after in changes.pairs(table.where(rows, counter=counter)):
            if matters(before, after):
                found.setdefault((kind, before["mask"].split(":")[0]), {}).setdefault(
                    counter, []).append((changes.ratio(before, after, "measured"),
                                         changes.ratio(before, after, "predicted")))
    yield "| change | mask | pairs | DRAM reads, measured | predicted | time, measured | predicted |"
    yield "|---|---|---|---|---|---|---|"
    for kind in changes.KINDS:
        for (name, mask), by_counter in sorted(found.items()):
            if name != kind:
                continue
            cells = []
            for counter in changes.COUNTERS:
                pairs = by_counter.get(counter, [])
                cells += [text([pair[side] for pair in pairs]) if pairs else "" for side in (0, 1)]
            count = max(len(pairs) for pairs in by_counter.values())
            yield f"| {kind} | {mask} | {count} | {' | '.join(cells)} |"


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        rows = changes.read(arguments[0])
    except table.TableError as error:
        print(f"changes.py: {error}", file=sys.stderr)
        return 2
    for group in table.values(rows, "group"):
        print(f"{group}\n")
        print("\n".join(lines(table.where(rows, group=group))) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
