#!/usr/bin/env python3
"""Says what the launches of `sawtooth record` were.

    label.py RECORDED.csv LAUNCHES.csv ROWS.csv

LAUNCHES has a row for each recorded launch, in order, with columns of results.csv that `record` cannot know: the
problem and the schedule. What it leaves out gets the defaults of `sawtooth simulate`. ROWS has both, for `teach` and
`compare`; the first launch of each problem, by which a program loads its kernel, is left out.
"""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "plots" / "lib"))
import table  # noqa: E402  (the path above leads to it)

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


def main(arguments):
    if len(arguments) != 3:
        sys.exit(__doc__)
    recorded, launches = (table.read(path) for path in arguments[:2])
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
    table.write(arguments[2], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
