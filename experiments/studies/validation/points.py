#!/usr/bin/env python3
"""Every point of comparisons as Markdown: DRAM reads predicted and measured, and how many are within
15 %.

    experiments/studies/validation/points.py [NAME=]errors.csv ...
    experiments/studies/validation/points.py --record points.csv errors.csv    DRAM reads and duration as CSV
    experiments/studies/validation/points.py --same points.csv recorded.csv    exit 1 if predictions differ

Each table is what `sawtooth compare --csv` writes; of its models the first is taken, and no baseline.
Standard library only.
"""

import csv
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "plots", "lib"))
import errors  # noqa: E402  (the path above leads to it)
import table  # noqa: E402

COUNTER = "dram_read_sectors"
RECORDED = (COUNTER, "time_us")
SAME = 0.005  # compilers differ in the last digits of a time, and events in that order
CLOSE = 0.15  # what a prediction for another library's kernel is asked for
MEGA = 1e6
# Columns that name a point, where they differ between points of the table.
NAMES = ("batch", "heads", "seq_kv", "head_dim", "mask", "tile_q", "tile_kv", "section", "q_order",
         "launch", "ctas_per_sm", "scan", "prefetch", "kv_split")


def models_rows(path, counters):
    """Rows of the first model of a table that is no baseline."""
    rows = [row for row in table.read(path, (*errors.COLUMNS, *NAMES)) if row["counter"] in counters]
    groups = errors.models(rows)
    if not groups:
        raise table.TableError(f"{path}: no model with {', '.join(counters)}")
    return table.where(rows, group=groups[0])


def read(path):
    return models_rows(path, (COUNTER,))


def record(path, error_path):
    """Writes DRAM reads and duration of the model's points as a table of their own."""
    rows = models_rows(error_path, RECORDED)
    with open(f"{path}.tmp", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [name for name in rows[0] if not name.startswith("_")],
                                extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    os.replace(f"{path}.tmp", path)


def differences(path, recorded_path):
    """A sentence for each point and counter whose prediction is not the recorded one."""
    rows, recorded = (models_rows(name, RECORDED) for name in (path, recorded_path))
    places = [{tuple(row[name] for name in ("counter", *NAMES)): table.number(row, "predicted")
               for row in found} for found in (rows, recorded)]
    for key in dict.fromkeys((*places[0], *places[1])):
        now, then = (place.get(key) for place in places)
        if now is None or then is None or abs(now - then) > SAME * then:
            yield f"{' '.join(key)}: {now} predicted, {then} recorded"


def sizes(rows):
    return [abs(table.number(row, "counted_error")) for row in rows]


def summary(name, rows):
    """One Markdown row: points, how many close, median and worst error."""
    all_sizes = sizes(rows)
    over = [row for row in rows if errors.is_over(row)]
    close = sum(size <= CLOSE for size in all_sizes)
    hard = sizes(over)
    hard_text = f"{sum(size <= CLOSE for size in hard)} of {len(hard)}" if hard else "none"
    return (f"| {name} | {close} of {len(rows)} | {hard_text} | {100 * statistics.median(all_sizes):.1f} % "
            f"| {100 * max(all_sizes):.0f} % |")


def point_lines(rows):
    varying = [name for name in NAMES if len(table.values(rows, name)) > 1] or ["seq_kv"]
    yield f"| {' | '.join(varying)} | x compulsory | predicted, M | measured, M | error |"
    yield "|" + "---|" * (len(varying) + 4)
    for row in rows:
        cells = [row[name] for name in varying]
        cells += [f"{float(row['over_compulsory']):.2f}",
                  f"{table.number(row, 'predicted') / MEGA:.2f}",
                  f"{table.number(row, 'measured') / MEGA:.2f}",
                  f"{100 * table.number(row, 'relative_error'):+.1f} %"]
        yield f"| {' | '.join(cells)} |"


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        if arguments[0] == "--record" and len(arguments) == 3:
            record(*arguments[1:])
            return 0
        if arguments[0] == "--same" and len(arguments) == 3:
            found = list(differences(*arguments[1:]))
            if found:
                print("\n".join(found), file=sys.stderr)
                print("points.py: predictions have changed; run experiments/studies/validation/publish.sh",
                      file=sys.stderr)
            return 1 if found else 0
        tables = [(name or os.path.basename(path).split(".")[0], read(path))
                  for name, _, path in (given.rpartition("=") for given in arguments)]
    except table.TableError as error:
        print(f"points.py: {error}", file=sys.stderr)
        return 2
    print("| | points within 15 % | of those over 1.5 x compulsory | median | worst |")
    print("|---|---|---|---|---|")
    for name, rows in tables:
        print(summary(name, rows))
    for name, rows in tables:
        print(f"\n{name}:\n")
        print("\n".join(point_lines(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
