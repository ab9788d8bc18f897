#!/usr/bin/env python3
"""What one schedule costs beside another, from the rounds of one race.

    experiments/studies/peers/paired.py race.csv --first scan=linear --second scan=sawtooth --limit 0.5%

Rows of one round were timed within milliseconds of each other, so rounds are pairs: for every shape
and every kernel setting that both schedules have, the change of time from first to second in per
cent, as the median over rounds with its 95 % interval (of order statistics; no assumption about the
distribution). Exit 1 when an interval reaches beyond --limit, 2 when nothing could be paired.
"""

import argparse
import csv
import math
import sys

# Columns that name a contender; what --first and --second leave open must agree.
SETTING = ("kernel", "batch", "heads", "seq_q", "head_dim", "dtype", "mask", "tile_q", "tile_kv",
           "section", "q_order", "launch", "workers", "scan", "prefetch", "kv_split", "hints")
CONFIDENCE = 0.95


def condition(text):
    """scan=linear,launch=static as a dictionary."""
    try:
        wanted = dict(part.split("=", 1) for part in text.split(","))
    except ValueError:
        wanted = {"": ""}
    unknown = [column for column in wanted if column not in SETTING]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"'{text}' is no list of COLUMN=VALUE with columns {', '.join(SETTING)}")
    return wanted


def percentage(text):
    try:
        return float(text.removesuffix("%"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no percentage, such as 0.5%") from None


def median_interval(values, confidence=CONFIDENCE):
    """Median of `values`, and the narrowest pair of order statistics that covers the true median
    with at least `confidence` (binomial with p = 1/2); the extremes when there are too few."""
    ordered = sorted(values)
    count = len(ordered)
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    cut, outside = 0, 0.0
    while cut < count // 2:
        outside += 2 * math.comb(count, cut) / 2 ** count  # below place cut, and above its mirror
        if outside > 1 - confidence:
            break
        cut += 1
    low = max(cut - 1, 0)
    return middle, ordered[low], ordered[count - 1 - low]


def pairs(rows, first, second):
    """Per cent of change by setting: {setting: [change of every round]}."""
    times = {}
    for row in rows:
        if row["status"] != "ok" or not row["time_us"]:
            continue
        for side, wanted in (("first", first), ("second", second)):
            if all(row[column] == value for column, value in wanted.items()):
                open_columns = [c for c in SETTING if c not in first and c not in second]
                key = tuple((c, row[c]) for c in open_columns)
                times.setdefault(key, {}).setdefault(row["repetition"], {})[side] = float(
                    row["time_us"])
    found = {}
    for key, rounds in times.items():
        changes = [100 * (pair["second"] / pair["first"] - 1)
                   for pair in rounds.values() if len(pair) == 2]
        if changes:
            found[key] = changes
    return found


def describe(key):
    shown = {name: value for name, value in key if value}
    shape = (f"B{shown.pop('batch')} H{shown.pop('heads')} S{shown.pop('seq_q')} "
             f"D{shown.pop('head_dim')} {shown.pop('mask')}")
    return shape + " " + " ".join(f"{name} {value}" for name, value in shown.items()
                                  if name not in ("kernel", "dtype"))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("race")
    parser.add_argument("--first", type=condition, required=True)
    parser.add_argument("--second", type=condition, required=True)
    parser.add_argument("--limit", type=percentage, help="largest cost that is allowed")
    options = parser.parse_args(arguments)
    try:
        with open(options.race, newline="", encoding="utf-8") as file:
            found = pairs(list(csv.DictReader(file)), options.first, options.second)
    except (OSError, KeyError, ValueError) as error:
        print(f"paired.py: {options.race}: {error}", file=sys.stderr)
        return 2
    if not found:
        print(f"paired.py: {options.race}: no round has both schedules", file=sys.stderr)
        return 2
    beyond = 0
    for key, changes in sorted(found.items()):
        middle, low, high = median_interval(changes)
        over = options.limit is not None and high > options.limit
        beyond += over
        print(f"{describe(key)}: {middle:+.2f} % ({low:+.2f} to {high:+.2f}), {len(changes)} rounds"
              + (", not shown to be within the limit" if over else ""))
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
