#!/usr/bin/env python3
"""Is the schedule that `sawtooth search` chooses as good as measured ones? Draws schedules, judges their rows.

    proof.py draw FOUND.csv --seed N --schedules 24 > candidates.ini
    proof.py near FOUND.csv TIMES.csv > near.ini
    proof.py judge FOUND.csv TIMES.csv COUNTERS.csv [RESULT.csv]

draw: for each shape of FOUND.csv (what search wrote) the schedule of rank 1, the one with the fewest DRAM reads
within 1 % of its time (both predicted), the usual one, and others of the space, drawn by seed.
TIMES.csv is what `sawtooth bench` says of candidates.ini.
near: of these the ones whose measured time is within 1 % of their shape's least, and the choices of search;
COUNTERS.csv is what `sawtooth measure` says of near.ini.
judge: regret is the time of the chosen schedule over the least measured one, less 1; its DRAM reads stand against
the fewest of the schedules whose measured time is within 1 % of the least.
"""

import argparse
import csv
import lzma
import random
import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "plots" / "lib"))
import table  # noqa: E402  (the path above leads to it)

SHAPE = ("batch", "heads", "kv_heads", "seq_kv", "mask")
SCHEDULE = ("launch", "scan", "q_order", "section")
KEYS = {"kv_heads": "kv-heads", "seq_kv": "seq", "q_order": "q-order"}
TIME_CONSTRAINT = 1.01
RESULT = SHAPE + (
    "schedules",
    "chosen",
    "chosen_us",
    "least_us",
    "regret",
    "frugal",
    "frugal_us",
    "frugal_dram_read_sectors",
    "least_dram_read_sectors",
    "dram_excess",
    "usual_us",
)


def shapes(path):
    """{shape: its rows}, in the order of the file."""
    return table.grouped(table.read(path), *SHAPE)


def chosen(rows):
    return next(row for row in rows if row["rank"] == "1")


def frugal(rows):
    """The fewest DRAM reads that search predicts within 1 % of its least time."""
    limit = TIME_CONSTRAINT * float(chosen(rows)["time_us"])
    near = [row for row in rows if row["rank"] and float(row["time_us"]) <= limit]
    return min(near, key=lambda row: float(row["dram_read_sectors"]))


def is_usual(row):
    order = "ascending" if row["mask"] == "none" else "descending"
    return table.cells(row, SCHEDULE) == ("grid", "linear", order, "1")


def draw(found, seed, count):
    print(f"# Drawn by proof.py draw --seed {seed} --schedules {count} from what search found: its")
    print("# choices, the usual schedule, and others of the space.")
    points = {}
    for shape, rows in shapes(found).items():
        kept = {table.cells(row, SCHEDULE): None for row in (chosen(rows), frugal(rows))}
        kept |= {table.cells(row, SCHEDULE): None for row in rows if is_usual(row)}
        others = sorted({table.cells(row, SCHEDULE) for row in rows} - set(kept))
        random.Random(f"{seed} {shape}").shuffle(others)
        points[shape] = [*kept, *others[:count]]
    print_points(found, points)


def near(found, times):
    print("# Of the candidates the fastest ones as measured, and the choices of search.")
    time_us, points = medians(times, "time_us"), {}
    for shape, rows in shapes(found).items():
        of_shape = {key[1]: value for key, value in time_us.items() if key[0] == shape}
        limit = TIME_CONSTRAINT * min(of_shape.values())
        kept = {table.cells(pick(rows), SCHEDULE): None for pick in (chosen, frugal)}
        kept |= {schedule: None for schedule, value in of_shape.items() if value <= limit}
        points[shape] = list(kept)
    print_points(found, points)


def print_points(found, points):
    """As a configuration: a section for each schedule of each shape."""
    first = table.read(found)[0]
    print(f"gpu = {first['gpu']}\nhead-dim = {first['head_dim']}\ntiles = kernel")
    for number, (shape, schedules) in enumerate(points.items(), 1):
        for letter, schedule in enumerate(schedules, 1):
            print(f"\n[{number}.{letter}]")
            for column, value in zip(SHAPE + SCHEDULE, shape + schedule):
                print(f"{KEYS.get(column, column)} = {value}")


def rows_of(path):
    if not str(path).endswith(".xz"):
        return table.read(path)
    with lzma.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def medians(path, column):
    """{(shape, schedule): median over repetitions}; the file may be compressed by xz."""
    values = {}
    for row in rows_of(path):
        if row[column]:
            key = (table.cells(row, SHAPE), table.cells(row, SCHEDULE))
            values.setdefault(key, []).append(float(row[column]))
    return {key: statistics.median(of_key) for key, of_key in values.items()}


def judged(found, times, counters):
    time_us, reads = medians(times, "time_us"), medians(counters, "dram_read_sectors")
    for shape, rows in shapes(found).items():
        of_shape = {key[1]: value for key, value in time_us.items() if key[0] == shape}
        if not of_shape:
            continue
        best, thrifty = (table.cells(pick(rows), SCHEDULE) for pick in (chosen, frugal))
        least = min(of_shape.values())
        near = [key for key, value in of_shape.items() if value <= TIME_CONSTRAINT * least]
        if not all((shape, key) in reads for key in [*near, thrifty]):
            continue  # counters that were not measured
        fewest = min(reads[shape, key] for key in near)
        usual = next(table.cells(row, SCHEDULE) for row in rows if is_usual(row))
        yield dict(
            zip(
                RESULT,
                shape
                + (
                    len(of_shape),
                    " ".join(best),
                    of_shape[best],
                    least,
                    of_shape[best] / least - 1,
                    " ".join(thrifty),
                    of_shape[thrifty],
                    reads[shape, thrifty],
                    fewest,
                    reads[shape, thrifty] / fewest - 1,
                    of_shape[usual],
                ),
            )
        )


def quantile(values, share):
    values = sorted(values)
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


def report(results):
    regrets = [row["regret"] for row in results]
    excess = [row["dram_excess"] for row in results]
    late = [row["frugal_us"] / row["least_us"] - 1 for row in results]
    gains = [row["usual_us"] / row["chosen_us"] - 1 for row in results]
    fewest = min(int(row["schedules"]) for row in results)
    print(f"{len(results)} shapes, at least {fewest} measured schedules each")
    for name, values in (
        ("regret in time", regrets),
        ("DRAM reads of the frugal choice over the fewest within 1 % of the least time", excess),
        ("its time over the least", late),
        ("usual over chosen, time", gains),
    ):
        print(
            f"{name}: median {statistics.median(values):.2%}, 90 % {quantile(values, 0.9):.2%}, "
            f"worst {max(values):.2%}"
        )


def command_line(description, schedules):
    """A parser and its commands, of which draw is one: so many schedules a shape unless told otherwise."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("found")
    drawing.add_argument("--seed", type=int, required=True)
    drawing.add_argument("--schedules", type=int, default=schedules)
    return parser, commands


def main():
    parser, commands = command_line(__doc__, schedules=24)
    nearing = commands.add_parser("near")
    for name in ("found", "times"):
        nearing.add_argument(name)
    judging = commands.add_parser("judge")
    for name in ("found", "times", "counters"):
        judging.add_argument(name)
    judging.add_argument("result", nargs="?")
    arguments = parser.parse_args()
    if arguments.command == "draw":
        draw(arguments.found, arguments.seed, arguments.schedules)
        return
    if arguments.command == "near":
        near(arguments.found, arguments.times)
        return
    results = list(judged(arguments.found, arguments.times, arguments.counters))
    if arguments.result:
        with open(arguments.result, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, RESULT, lineterminator="\n")
            writer.writeheader()
            for row in results:
                writer.writerow(
                    {k: f"{v:.5g}" if isinstance(v, float) else v for k, v in row.items()}
                )
    report(results)


if __name__ == "__main__":
    main()
