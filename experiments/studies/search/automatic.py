#!/usr/bin/env python3
"""What does a call that names no schedule lose against what `sawtooth search` chooses, and against others?

    sawtooth search proof.ini --kernel hopper --tile-q 128 --tile-kv 128,176 --launch grid,static,dynamic,balanced \\
      --budget 12 --seed 26 --csv FOUND.csv
    automatic.py draw FOUND.csv --seed 26 --schedules 12 > results/automatic_schedules.csv
    automatic_times.py results/automatic_schedules.csv --csv TIMES.csv
    automatic.py judge TIMES.csv [RESULT.csv]

draw: for each shape of FOUND.csv the schedule of rank 1, and others of the space, drawn by seed. All are in fields of
the C API, which has none for the order of heads.
judge: ratios of times are medians of those within rounds, since all launches of a round run at about one clock. The
plain call is timed twice; the noise is the most that its two times differ by in a shape. Exit code 1 where a goal is
missed or a launch failed.
"""

import math
import random
import statistics
import sys
from pathlib import Path

import proof  # first: it makes plots/lib importable
import table

SHAPE = ("gpu", "batch", "heads", "kv_heads", "seq_kv", "head_dim", "mask")
SCHEDULE = ("kernel", "tile_q", "tile_kv", "launch", "scan", "q_order", "section")
PLAIN, AGAIN, SEARCH, FORMER, FORMER_SCHEDULE = (
    "plain",
    "plain-again",
    "search",
    "former",
    "former-schedule",
)
NEEDED = {PLAIN, AGAIN, SEARCH, FORMER, FORMER_SCHEDULE}
RESULT = SHAPE + (
    "rounds",
    "plain_us",
    "noise",
    "loss_to_search",
    "best",
    "loss_to_best",
    "former_over_plain",
    "former_schedule_over_plain",
)
# What is asked of the plain call: loss of time against search in the median, and against any at worst.
MOST_MEDIAN_LOSS, MOST_LOSS = 0.02, 0.05
ANY = math.inf


def draw(found, seed, count):
    """Rows of the schedules to time, by what search wrote."""
    for shape, rows in table.grouped(table.read(found), *SHAPE).items():
        best = table.cells(proof.chosen(rows), SCHEDULE)
        others = sorted({table.cells(row, SCHEDULE) for row in rows} - {best})
        random.Random(f"{seed} {shape}").shuffle(others)
        drawn = {f"drawn-{number:02}": one for number, one in enumerate(others[:count], 1)}
        for entry, schedule in {SEARCH: best, **drawn}.items():
            yield dict(zip((*SHAPE, "entry", *SCHEDULE), (*shape, entry, *schedule)))


def times_of(rows):
    """{entry: times in the order of rounds}"""
    return {
        entry: table.numbers(of_entry, "time_us")
        for entry, of_entry in table.grouped(table.where(rows, status="ok"), "entry").items()
    }


def ratio(times, over, under):
    return statistics.median(a / b for a, b in zip(times[over], times[under], strict=True))


def judged_shape(shape, times):
    losses = {entry: ratio(times, PLAIN, entry) - 1 for entry in times if entry != AGAIN}
    best = max(losses, key=losses.get)
    values = (
        len(times[PLAIN]),
        statistics.median(times[PLAIN]),
        abs(ratio(times, PLAIN, AGAIN) - 1),
        losses[SEARCH],
        best,
        losses[best],
        ratio(times, FORMER, PLAIN),
        ratio(times, FORMER_SCHEDULE, PLAIN),
    )
    return dict(zip(RESULT, shape + values))


def judged(rows):
    """(a row a shape, shapes of which an entry that the judgement needs has no times)."""
    results, missing = [], []
    for shape, of_shape in table.grouped(rows, *SHAPE).items():
        times = times_of(of_shape)
        if NEEDED <= times.keys():
            results.append(judged_shape(shape, times))
        else:
            missing.append(" ".join(shape))
    return results, missing


def report(results):
    """Prints the statistics; the goals that are missed."""

    def values(column):
        return [row[column] for row in results]

    noise = max(values("noise"))
    print(f"{len(results)} shapes, at least {min(values('rounds'))} rounds each")
    missed = []
    for name, column, most_median, most in (
        ("the plain call against itself", "noise", ANY, ANY),
        ("its loss against search", "loss_to_search", MOST_MEDIAN_LOSS, MOST_LOSS),
        ("its loss against the fastest of all that were timed", "loss_to_best", ANY, MOST_LOSS),
    ):
        of_all = values(column)
        middle, worst = statistics.median(of_all), max(of_all)
        print(
            f"{name}: median {middle:.2%}, 90 % {proof.quantile(of_all, 0.9):.2%}, worst {worst:.2%}"
        )
        if middle > most_median or worst > most:
            missed.append(name)
    for name, column in (
        ("former default over the plain call", "former_over_plain"),
        ("its schedule on today's kernel over the plain call", "former_schedule_over_plain"),
    ):
        of_all = values(column)
        print(
            f"{name}, time: median {statistics.median(of_all):.3f}, least {min(of_all):.3f}; "
            f"below 1 in {sum(value < 1 for value in of_all)} shapes, "
            f"by more than the noise in {sum(value < 1 - noise for value in of_all)}"
        )
        if min(of_all) < 1 - noise:
            missed.append(name)
    return missed


def judge(path, result):
    rows = [dict(row) for row in proof.rows_of(path)]
    failed = sorted({f"{row['entry']}: {row['status']}" for row in rows if row["status"] != "ok"})
    results, missing = judged(rows)
    if result:
        shown = [
            {
                name: f"{value:.5g}" if isinstance(value, float) else value
                for name, value in row.items()
            }
            for row in results
        ]
        table.write(result, shown, RESULT)
    missed = report(results) if results else ["no shape was timed whole"]
    for title, names in (("missed", missed), ("not judged", missing), ("failed", failed)):
        for name in names:
            print(f"{title}: {name}")
    return 1 if missed or missing or failed else 0


def main(arguments=None):
    parser, commands = proof.command_line(__doc__, schedules=12)
    judging = commands.add_parser("judge")
    judging.add_argument("times")
    judging.add_argument("result", nargs="?")
    options = parser.parse_args(arguments)
    if options.command == "judge":
        return judge(options.times, options.result)
    drawn = draw(options.found, options.seed, options.schedules)
    table.print_rows(sys.stdout, drawn, (*SHAPE, "entry", *SCHEDULE))
    return 0


if __name__ == "__main__":
    sys.exit(main())
