#!/usr/bin/env python3
"""What is said of a model on a list of points, as Markdown: errors beside the goals, skill over each
rule, seeds, mechanisms, changes of schedule, and every point.

    experiments/studies/validation/report.py errors.csv model=SUMMARY "seed 1"=SUMMARY =SUMMARY ... [--record FOLDER]

errors.csv and the summaries are what `sawtooth compare --csv` and `--summary` write. A summary with a
name is of one variant of the model; one without a name has a group a mechanism that is switched off.
--record writes what the page of the findings is made from: FOLDER/summary.csv, all summaries with a
column `variant`, and FOLDER/points.csv, DRAM reads and duration of every point. Standard library only.
"""

import argparse
import csv
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "..", "plots", "lib")]
import change_pairs  # noqa: E402  (the path above leads to it)
import changes  # noqa: E402
import errors  # noqa: E402
import points  # noqa: E402
import table  # noqa: E402

SUMMARY, POINTS = "summary.csv", "points.csv"
COLUMNS = ("group", "counter", "points", "statistic", "against", "value")
RECORDED = ("variant", *COLUMNS[1:])
MODEL = "model"
WITHOUT = re.compile(r" without ([a-z0-9-]+)(?: die \S+)?$")
DRAM = "dram_read_sectors"
NAMES = {DRAM: "DRAM reads", "l2_read_miss_sectors": "near misses", "fabric_read_sectors": "fabric reads",
         "l2_read_sectors": "sectors let through by the coalescer",
         "sm_read_sectors": "sectors that SMs read", "time_us": "duration"}
# Goals of the project, set before anything was measured: median, 90 %, worst where launches agree.
GOALS = {DRAM: (0.03, 0.10, 0.25), "l2_read_miss_sectors": (0.04, 0.12, None),
         "fabric_read_sectors": (0.04, 0.12, None), "l2_read_sectors": (0.08, 0.20, None),
         "sm_read_sectors": (0, 0, None), "time_us": (0.05, 0.12, None)}


class Summary:
    """The figures of one list: value(statistic, counter, points, variant, against)."""

    def __init__(self, rows):
        self.rows = rows
        self.values = {(row["variant"], row["counter"], row["points"], row["statistic"],
                        row["against"]): float(row["value"]) for row in rows}

    def value(self, statistic, counter=DRAM, points="over", variant=MODEL, against=""):
        """A KeyError names what is not there."""
        return self.values[variant, counter, points, statistic, against]

    def get(self, statistic, counter=DRAM, **which):
        try:
            return self.value(statistic, counter, **which)
        except KeyError:
            return None

    def variants(self, beginning):
        return [name for name in dict.fromkeys(row["variant"] for row in self.rows)
                if name.startswith(beginning)]

    def rules(self):
        """Baselines, as their variants are named."""
        return self.variants(errors.BASELINE)


def variant_of(name, group):
    """The variant that a group of a summary is."""
    if group.startswith(errors.BASELINE):
        return group
    if name:
        return name
    without = WITHOUT.search(group)
    return f"without {without.group(1)}" if without else "all mechanisms"


def read_summaries(given):
    rows = []
    for name, _, path in (text.rpartition("=") for text in given):
        rows += [dict(row, variant=variant_of(name, row["group"])) for row in table.read(path, COLUMNS)]
    return rows


def recorded(folder):
    """The Summary that record() wrote."""
    return Summary(table.read(os.path.join(folder, SUMMARY), RECORDED))


def write(path, columns, rows):
    with open(f"{path}.tmp", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    os.replace(f"{path}.tmp", path)


def record(folder, error_path, summaries):
    os.makedirs(folder, exist_ok=True)
    write(os.path.join(folder, SUMMARY), RECORDED,
          [dict(row, value=f"{float(row['value']):.6g}") for row in summaries
           if row["counter"] in NAMES])
    points.record(os.path.join(folder, POINTS), error_path)


def percent(share, digits=1):
    return "" if share is None else f"{100 * share:.{digits}f} %"


def with_goal(value, goal, digits=1):
    return percent(value, digits) + ("" if goal is None else f" ({100 * goal:g})")


def table_of(head, rows):
    return "\n".join([f"| {' | '.join(head)} |", "|" + "---|" * len(head),
                      *(f"| {' | '.join(row)} |" for row in rows)])


def goals(summary, points="over"):
    """Errors beside the goals."""
    rows = []
    for counter, (median, ninety, worst) in GOALS.items():
        if summary.get("median", counter, points=points) is None:
            continue
        at = {name: summary.get(name, counter, points=points)
              for name in ("median", "ninety", "worst", "steady", "signed", "rank")}
        rows.append([NAMES[counter], with_goal(at["median"], median), with_goal(at["ninety"], ninety),
                     percent(at["worst"], 0), with_goal(at["steady"], worst, 0),
                     f"{100 * at['signed']:+.1f} %",
                     "" if at["rank"] is None else f"{at['rank']:.3f}"])
    return table_of(["", "median (goal)", "90 % (goal)", "worst", "worst where launches agree (goal)",
                     "signed median", "rank correlation"], rows)


def schedule_changes(summary):
    rows = []
    for counter, name in NAMES.items():
        pairs = summary.get("pairs", counter, points="all")
        if pairs:
            rows.append([name, f"{pairs:.0f}", percent(summary.value("order", counter, "all")),
                         percent(summary.value("size", counter, "all"))])
    return table_of(["pairs of schedules that differ by over 10 %", "pairs", "order right",
                     "size within 10 %"], rows)


def rules(summary):
    """Rules that cost nothing, and the skill of the model over each."""
    rows = []
    for rule in summary.rules():
        name = rule.removeprefix(errors.BASELINE)
        rows.append([name, *(percent(summary.get(s, variant=rule), d)
                             for s, d in (("median", 1), ("ninety", 0), ("worst", 0))),
                     percent(summary.get("order", variant=rule, points="all")),
                     *(f"{summary.value('skill', points=p, against=rule):.2f}" for p in ("over", "all"))])
    return table_of(["rule", "median", "90 %", "worst", "order of changes", "skill over it",
                     "skill, all points"], rows)


def seeds(summary):
    rows = [[name.replace(MODEL, "seed 0"), *(percent(summary.get(s, variant=name), 2)
                                              for s in ("median", "ninety", "worst")),
             percent(summary.get("order", variant=name, points="all"))]
            for name in [MODEL, *summary.variants("seed")]]
    return table_of(["", "median", "90 %", "worst", "order of changes"], rows)


def seed_range(summary):
    """How far medians of DRAM reads lie apart over the seeds, as a share."""
    medians = [summary.value("median", variant=name) for name in [MODEL, *summary.variants("seed")]]
    return max(medians) - min(medians)


def mechanisms(summary):
    """median / 90 % / worst in percent with one mechanism switched off at a time."""
    counters = (DRAM, "l2_read_miss_sectors", "l2_read_sectors", "time_us")
    rows = []
    for name in ["all mechanisms", *summary.variants("without")]:
        cells = []
        for counter in counters:
            found = [summary.get(s, counter, variant=name) for s in ("median", "ninety", "worst")]
            cells.append("" if None in found else
                         "{:.1f} / {:.1f} / {:.0f}".format(*(100 * value for value in found)))
        order = summary.get("order", variant=name, points="all")
        rows.append([name, *cells, percent(order)])
    return table_of(["mechanisms", *(NAMES[c] for c in counters), "order of changes"], rows)


def beyond(rows, share):
    """Points of DRAM reads beyond `share` whose launches differ by less than 5 %, worst first."""
    found = [row for row in rows if errors.is_over(row) and row["counted_error"]
             and abs(float(row["counted_error"])) > share
             and (float(row["measured_high"]) - float(row["measured_low"])) < 0.05 * float(row["measured"])]
    return sorted(found, key=lambda row: -abs(float(row["counted_error"])))


def report(error_path, summary):
    rows = points.read(error_path)
    over = sum(errors.is_over(row) for row in rows)
    missed = beyond(rows, GOALS[DRAM][2])
    yield f"{len(rows)} points, {over} of them over {errors.OVER} x compulsory. DRAM reads where no counter is named.\n"
    yield "## Over 1.5 x compulsory\n\n" + goals(summary) + "\n"
    yield f"Beyond 25 % though launches agree within 5 %: {len(missed)} points.\n"
    yield "## All points\n\n" + goals(summary, "all") + "\n"
    yield "## Changes of schedule\n\n" + schedule_changes(summary) + "\n"
    yield "\n".join(changes.lines(table.where(change_pairs.read(error_path), group=rows[0]["group"]))) + "\n"
    if summary.rules():
        yield "## Rules that cost nothing\n\n" + rules(summary) + "\n"
    if summary.variants("seed"):
        yield "## Seeds\n\n" + seeds(summary) + "\n"
        yield (f"Medians differ by {100 * seed_range(summary):.2f} points; the same seed gave the same "
               "bytes twice.\n")
    if summary.variants("without"):
        yield "## Mechanisms\n\n" + mechanisms(summary) + "\n"
    yield "## Every point\n\n" + "\n".join(points.point_lines(rows))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("errors")
    parser.add_argument("summaries", nargs="+", metavar="[VARIANT]=SUMMARY")
    parser.add_argument("--record", metavar="FOLDER", help="also write summary.csv and points.csv")
    options = parser.parse_args(arguments)
    try:
        rows = read_summaries(options.summaries)
        print("\n".join(report(options.errors, Summary(rows))))
        if options.record:
            record(options.record, options.errors, rows)
    except (table.TableError, KeyError) as error:
        print(f"report.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
