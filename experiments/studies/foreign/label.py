#!/usr/bin/env python3
"""Says what the launches of `sawtooth record` were.

    label.py RECORDED.csv LAUNCHES.csv ROWS.csv

LAUNCHES has a row for each recorded launch, in order, with columns of results.csv that `record` cannot know: the
problem and the schedule. What it leaves out gets the defaults of `sawtooth simulate`. ROWS has both, for `teach` and
`compare`; the first launch of each problem, by which a program loads its kernel, is left out.
"""

import csv
import sys

DEFAULTS = {
    "pass": "forward",
    "batch": 1,
    "heads": 1,
    "kv_heads": 1,
    "mask": "none",
    "section": 1,
    "q_order": "ascending",
    "head_order": "batch-major",
    "prefetch": 0,
    "kv_split": 1,
    "loop": "kv-inner",
    "lse": "off",
    "seed": 0,
}


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main(arguments):
    if len(arguments) != 3:
        sys.exit(__doc__)
    recorded, launches = read(arguments[0]), read(arguments[1])
    if len(recorded) != len(launches):
        sys.exit(
            f"label.py: {arguments[0]} has {len(recorded)} launches, {arguments[1]} says {len(launches)}; "
            f"record them with the --kernel that names attention alone"
        )
    unknown = [column for column in launches[0] if column not in recorded[0]]
    if unknown:
        sys.exit(f"label.py: {arguments[1]}: {unknown[0]} is no column of results.csv")
    rows, seen = [], {}
    for row, launch in zip(recorded, launches, strict=True):
        problem = tuple(launch.values())
        seen[problem] = seen.get(problem, -1) + 1
        if seen[problem] > 0:
            rows.append({**row, **DEFAULTS, **launch, "repetition": seen[problem] - 1})
    with open(arguments[2], "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main(sys.argv[1:])
