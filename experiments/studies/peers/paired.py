#!/usr/bin/env python3
"""What one schedule costs beside another, from the rounds of one race.

    experiments/studies/peers/paired.py race.csv --first scan=linear --second scan=sawtooth --limit 0.5%

Rows of one round were timed within milliseconds of each other, so rounds are pairs: for every shape
and every kernel setting that both schedules have, the change of time from first to second in per
cent, as the median over rounds with its 95 % interval (of order statistics; no assumption about the
distribution). Exit 1 when an interval reaches beyond --limit, 2 when nothing could be paired.
"""

import argparse
import sys

import lib_path  # noqa: F401  (makes plots/lib importable)
import race_rows
import table
from measures import median_interval

# Columns that name a contender; what --first and --second leave open must agree.
SHAPE = "batch heads seq_q head_dim dtype mask".split()
SETTING = (*SHAPE, *race_rows.SCHEDULE, "workers")


def condition(text):
    """scan=linear,launch=static as a dictionary."""
    try:
        wanted = dict(part.split("=", 1) for part in text.split(","))
    except ValueError:
        wanted = {"": ""}
    if any(column not in SETTING for column in wanted):
        allowed = f"COLUMN=VALUE with columns {', '.join(SETTING)}"
        raise argparse.ArgumentTypeError(f"'{text}' is no list of {allowed}")
    return wanted


def percentage(text):
    try:
        return float(text.removesuffix("%"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no percentage, such as 0.5%") from None


def pairs(rows, first, second):
    """Per cent of change by setting: {setting: [change of every round]}."""
    open_columns = [column for column in SETTING if column not in {**first, **second}]
    times = {}
    for side, wanted in enumerate((first, second)):
        for row in table.where(rows, **wanted):
            key = tuple((column, row.get(column, "")) for column in open_columns)
            rounds = times.setdefault(key, {}).setdefault(row["repetition"], {})
            rounds[side] = float(row["time_us"])
    found = {}
    for key, rounds in times.items():
        both = [pair for pair in rounds.values() if len(pair) == 2]
        if both:
            found[key] = [100 * (pair[1] / pair[0] - 1) for pair in both]
    return found


def describe(key):
    shown = {name: value for name, value in key if value}
    shape = "B{batch} H{heads} S{seq_q} D{head_dim} {mask}".format(**shown)
    hidden = ("kernel", *SHAPE)
    return " ".join([shape, *(f"{n} {value}" for n, value in shown.items() if n not in hidden)])


def work(options):
    found = pairs(race_rows.timed(options.race), options.first, options.second)
    if not found:
        raise table.TableError(f"{options.race}: no round has both schedules")
    beyond = 0
    for key, changes in sorted(found.items()):
        middle, low, high = median_interval(changes)
        over = options.limit is not None and high > options.limit
        beyond += over
        line = (
            f"{describe(key)}: {middle:+.2f} % ({low:+.2f} to {high:+.2f}), {len(changes)} rounds"
        )
        print(line + (", not shown to be within the limit" if over else ""))
    return 1 if beyond else 0


def main(arguments=None):
    parser = race_rows.parser(__doc__)
    parser.add_argument("--first", type=condition, required=True)
    parser.add_argument("--second", type=condition, required=True)
    parser.add_argument("--limit", type=percentage, help="largest cost that is allowed")
    return race_rows.run("paired", work, parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
