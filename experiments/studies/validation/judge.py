#!/usr/bin/env python3
"""What is said of a model on a list of points, from what run.sh left in a folder.

    judge.py report FOLDER [--record LIST]    tables: goals, rules, seeds, mechanisms, kinds of points
    judge.py same FOLDER LIST                 exit 1 if predictions are not those recorded of LIST
    judge.py page [--check]                   fills README.md from results/; --check: exit 1 if it is not so

FOLDER holds errors.csv and VARIANT.summary of `sawtooth compare --csv` and `--summary`: model, seed-N, and
without, which has a group a mechanism that is switched off. --record writes LIST's rows of results/points.csv
(DRAM reads and duration of every point) and results/summary.csv. Standard library only.
"""

import argparse
import csv
import functools
import glob
import os
import re
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "plots", "lib"))
import errors  # noqa: E402  (the path above leads to it)
import fill  # noqa: E402
import table  # noqa: E402

RESULTS = os.path.join(HERE, "results")
MODEL = "model"
WITHOUT = re.compile(r"\bwithout[ =]([a-z0-9-]+)")
DRAM, TIME = "dram_read_sectors", "time_us"
NAMES = {
    DRAM: "DRAM reads",
    "l2_read_miss_sectors": "near misses",
    "fabric_read_sectors": "fabric reads",
    "l2_read_sectors": "sectors let through by the coalescer",
    "sm_read_sectors": "sectors that SMs read",
    TIME: "duration",
}
# Goals of the project, set before anything was measured: median, 90 %, worst where launches agree.
GOALS = {
    DRAM: (0.03, 0.10, 0.25),
    "l2_read_miss_sectors": (0.04, 0.12, None),
    "fabric_read_sectors": (0.04, 0.12, None),
    "l2_read_sectors": (0.08, 0.20, None),
    "sm_read_sectors": (0, 0, None),
    TIME: (0.05, 0.12, None),
}
CLOSE = 0.15  # what a prediction for another library's kernel is asked for
SAME = 0.005  # compilers differ in the last digits of a time, and events in that order
STATISTICS = ("variant", "counter", "points", "statistic", "against", "value")
POINT = (
    "heads",
    "kv_heads",
    "seq_kv",
    "head_dim",
    "mask",
    "tile_q",
    "tile_kv",
    "section",
    "q_order",
)
POINT += ("launch", "ctas_per_sm", "scan", "prefetch")
FIGURES = (
    "predicted",
    "measured",
    "relative_error",
    "counted_error",
    "measured_low",
    "measured_high",
)
FIGURES += ("over_compulsory",)
RECORDED = {"points.csv": ("counter", *POINT, *FIGURES), "summary.csv": STATISTICS}


def percent(share, digits=1):
    return "" if share is None else f"{100 * share:.{digits}f} %"


def signed(share):
    return f"{100 * share:+.1f} %"


def table_of(head, rows):
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def variant_of(name, group):
    """The variant that a group of the summary `name` is."""
    if group.startswith(errors.BASELINE) or name != "without":
        return group if group.startswith(errors.BASELINE) else name.replace("-", " ")
    without = WITHOUT.search(group)
    return f"without {without[1]}" if without else "all mechanisms"


class Judgement:
    """One list: `points` are rows of one counter and point each, `summary` rows of one statistic."""

    def __init__(self, points, summary):
        self.points = points
        self.summary = summary
        self.values = {
            tuple(row[name] for name in STATISTICS[:-1]): float(row["value"]) for row in summary
        }

    def value(self, statistic, counter=DRAM, points="over", variant=MODEL, against=""):
        """A share, a count or a correlation; None where there is none."""
        return self.values.get((variant, counter, points, statistic, against))

    def variants(self, beginning):
        return [
            name
            for name in dict.fromkeys(row["variant"] for row in self.summary)
            if name.startswith(beginning)
        ]

    def rows(self, counter=DRAM, over=False):
        return [
            r for r in table.where(self.points, counter=counter) if errors.is_over(r) or not over
        ]

    def beyond(self, share):
        """Points whose DRAM reads are off by more than `share` although launches differ by less than 5 %."""
        return [
            row
            for row in self.rows(over=True)
            if row["counted_error"]
            and abs(float(row["counted_error"])) > share
            and float(row["measured_high"]) - float(row["measured_low"])
            < 0.05 * float(row["measured"])
        ]

    def goals(self):
        """Errors over 1.5 x compulsory beside the goals."""

        def cell(statistic, counter, goal, digits=1):
            return percent(self.value(statistic, counter), digits) + (
                "" if goal is None else f" ({100 * goal:g})"
            )

        rows = []
        for counter, (median, ninety, worst) in GOALS.items():
            if self.value("median", counter) is None:
                continue
            rank = self.value("rank", counter)
            rows.append(
                [
                    NAMES[counter],
                    cell("median", counter, median),
                    cell("ninety", counter, ninety),
                    cell("worst", counter, None, 0),
                    cell("steady", counter, worst, 0),
                    signed(self.value("signed", counter)),
                    "" if rank is None else f"{rank:.3f}",
                ]
            )
        head = ["", "median (goal)", "90 % (goal)", "worst", "worst where launches agree (goal)"]
        return table_of([*head, "signed median", "rank correlation"], rows)

    def changes(self):
        """Pairs of schedules of one problem: whether the better one is predicted, and by how much."""
        rows = [
            [
                name,
                f"{pairs:.0f}",
                percent(self.value("order", counter, "all")),
                percent(self.value("size", counter, "all")),
            ]
            for counter, name in NAMES.items()
            if (pairs := self.value("pairs", counter, "all"))
        ]
        head = [
            "pairs of schedules that differ by over 10 %",
            "pairs",
            "order right",
            "size within 10 %",
        ]
        return table_of(head, rows)

    def rules(self):
        """Rules that cost nothing, and the skill of the model over each."""
        rows = [
            [
                rule.removeprefix(errors.BASELINE),
                *(
                    percent(self.value(s, variant=rule), d)
                    for s, d in (("median", 1), ("ninety", 0), ("worst", 0))
                ),
                percent(self.value("order", variant=rule, points="all")),
                *(f"{self.value('skill', points=p, against=rule):.2f}" for p in ("over", "all")),
            ]
            for rule in self.variants(errors.BASELINE)
        ]
        head = [
            "rule",
            "median",
            "90 %",
            "worst",
            "order of changes",
            "skill over it",
            "skill, all points",
        ]
        return table_of(head, rows)

    def seeds(self):
        rows = [
            [
                name.replace(MODEL, "seed 0"),
                *(percent(self.value(s, variant=name), 2) for s in ("median", "ninety", "worst")),
                percent(self.value("order", variant=name, points="all")),
            ]
            for name in [MODEL, *self.variants("seed")]
        ]
        return table_of(["", "median", "90 %", "worst", "order of changes"], rows)

    def seed_range(self):
        """How far medians of DRAM reads lie apart over the seeds, as a share."""
        medians = [self.value("median", variant=name) for name in [MODEL, *self.variants("seed")]]
        return max(medians) - min(medians)

    def mechanisms(self):
        """median / 90 % / worst in percent with one mechanism switched off at a time."""
        counters = (DRAM, "l2_read_miss_sectors", "l2_read_sectors", TIME)

        def cell(name, counter):
            found = [self.value(s, counter, variant=name) for s in ("median", "ninety", "worst")]
            if None in found:
                return ""
            return "{:.1f}/{:.1f}/{:.0f}".format(*(100 * value for value in found))

        rows = [
            [
                name,
                *(cell(name, c) for c in counters),
                percent(self.value("order", variant=name, points="all")),
            ]
            for name in ["all mechanisms", *self.variants("without")]
        ]
        return table_of(["mechanisms", *(NAMES[c] for c in counters), "order of changes"], rows)

    def regimes(self):
        """Errors of DRAM reads by what a point is about."""
        found = {}
        for row in self.rows(over=True):
            found.setdefault(errors.regime(row), []).append(row)
        rows = []
        for regime, group in sorted(found.items()):
            sizes = sorted(abs(float(row["counted_error"])) for row in group)
            close = sum(size <= errors.BAND for size in sizes)
            lean = statistics.median(float(row["relative_error"]) for row in group)
            rows.append(
                [
                    regime,
                    f"{close} of {len(group)}",
                    percent(statistics.median(sizes)),
                    percent(sizes[-1], 0),
                    signed(lean),
                ]
            )
        return table_of(
            ["mask, order, launch", "within 10 %", "median", "worst", "signed median"], rows
        )


def read_judgement(folder):
    """What run.sh left in `folder`; of errors.csv the model that is no baseline."""
    points = [row for row in table.read(os.path.join(folder, "errors.csv"), RECORDED["points.csv"])]
    group = errors.models(points)[0]
    points = [row for row in table.where(points, group=group) if row["counter"] in (DRAM, TIME)]
    summary = []
    for path in sorted(glob.glob(os.path.join(folder, "*.summary"))):
        name = os.path.basename(path).removesuffix(".summary")
        for row in table.read(path, ("group", *STATISTICS[1:])):
            if row["counter"] in NAMES:
                value = f"{float(row['value']):.6g}"
                summary.append(dict(row, variant=variant_of(name, row["group"]), value=value))
    return Judgement(points, summary)


@functools.lru_cache(maxsize=None)
def results():
    """Rows of each table of results/, by list."""
    found = []
    for path, columns in RECORDED.items():
        lists = {}
        for row in table.read(os.path.join(RESULTS, path), ("list", *columns)):
            lists.setdefault(row["list"], []).append(row)
        found.append(lists)
    return found


def recorded(name):
    """The judgement of the list `name` that results/ holds."""
    points, summary = (lists.get(name, []) for lists in results())
    if not points and not summary:
        raise table.TableError(f"{RESULTS}: no list {name}")
    return Judgement(points, summary)


def record(name, judgement):
    """Replaces the rows of the list `name` in results/."""
    for (path, columns), new in zip(RECORDED.items(), (judgement.points, judgement.summary)):
        path = os.path.join(RESULTS, path)
        rows = [row for row in table.read(path, ("list", *columns)) if row["list"] != name]
        with open(f"{path}.tmp", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(
                file, ("list", *columns), extrasaction="ignore", lineterminator="\n"
            )
            writer.writeheader()
            writer.writerows(rows + [dict(row, list=name) for row in new])
        os.replace(f"{path}.tmp", path)


def differences(rows, recorded_rows):
    """A sentence for each point and counter whose prediction is not the recorded one."""
    places = [
        {
            tuple(row[name] for name in ("counter", *POINT)): table.number(row, "predicted")
            for row in found
        }
        for found in (rows, recorded_rows)
    ]
    for key in dict.fromkeys((*places[0], *places[1])):
        now, before = (place.get(key) for place in places)
        if now is None or before is None or abs(now - before) > SAME * abs(before):
            yield f"{' '.join(key)}: predicted {now}, recorded {before}"


class Page:
    """The vocabulary of README.md."""

    def __init__(self):
        self._lists = table.read(os.path.join(HERE, "lists.csv"), ("list", "role"))
        for name in ("calibration", "judgement"):
            setattr(self, name, recorded(name))

    def _of(self, role):
        return {row["list"]: recorded(row["list"]) for row in table.where(self._lists, role=role)}

    def development(self):
        rows = []
        for name, found in self._of("development").items():
            over, points = (found.value("count", points=which) for which in ("over", "all"))
            cells = [
                "{:.1f}/{:.1f}/{:.0f}".format(
                    *(100 * found.value(s, c) for s in ("median", "ninety", "worst"))
                )
                for c in (DRAM, "l2_read_miss_sectors", TIME)
            ]
            rows.append(
                [
                    name,
                    f"{over:.0f} of {points:.0f}",
                    *cells,
                    percent(found.value("order", points="all")),
                ]
            )
        head = [
            "list",
            "points over 1.5 x",
            *(NAMES[c] for c in (DRAM, "l2_read_miss_sectors", TIME)),
            "order of changes",
        ]
        return table_of(head, rows)

    def libraries(self):
        rows = []
        for name, found in self._of("library").items():
            every, over, times = (
                [abs(float(row["counted_error"])) for row in found.rows(counter, only)]
                for counter, only in ((DRAM, False), (DRAM, True), (TIME, False))
            )
            close = (
                f"{sum(size <= CLOSE for size in sizes)} of {len(sizes)}" for sizes in (every, over)
            )
            rows.append(
                [
                    name,
                    *close,
                    percent(statistics.median(every)),
                    percent(max(every), 0),
                    percent(statistics.median(times), 0),
                ]
            )
        head = [
            "preset",
            "DRAM reads within 15 %",
            "of those over 1.5 x compulsory",
            "median",
            "worst",
            "duration, median",
        ]
        return table_of(head, rows)

    def missed_libraries(self):
        """The points of other libraries' kernels that are off by more than 15 %, with their errors."""
        return "; ".join(
            f"{name} {int(row['seq_kv']) // 1024}K D={row['head_dim']} {row['mask']} ({100 * float(row['relative_error']):+.0f} %)"
            for name, found in self._of("library").items()
            for row in found.rows()
            if abs(float(row["counted_error"])) > CLOSE
        )


def report(found):
    over = found.rows(over=True)
    yield f"{len(found.rows())} points, {len(over)} over {errors.OVER} x compulsory, of which these are errors of DRAM reads."
    yield f"Beyond 25 % although launches agree within 5 %: {len(found.beyond(GOALS[DRAM][2]))} points."
    yield from (found.goals(), found.changes(), found.regimes())
    if found.variants(errors.BASELINE):
        yield found.rules()
    if found.variants("seed"):
        yield found.seeds()
    if found.variants("without"):
        yield found.mechanisms()


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("report", "same"):
        commands.add_parser(name).add_argument("folder")
    commands.choices["report"].add_argument("--record", metavar="LIST")
    commands.choices["same"].add_argument("list")
    commands.add_parser("page").add_argument("--check", action="store_true")
    options = parser.parse_args(arguments)
    try:
        if options.command == "page":
            path = os.path.join(HERE, "README.md")
            return fill.write_or_check(
                path, Page(), options.check, "experiments/studies/validation/run.sh --page"
            )
        found = read_judgement(options.folder)
        if options.command == "same":
            told = list(differences(found.points, recorded(options.list).points))
            print("\n".join(told), end="\n" if told else "", file=sys.stderr)
            return 1 if told else 0
        print("\n\n".join(report(found)))
        if options.record:
            record(options.record, found)
    except (table.TableError, KeyError) as error:
        print(f"judge.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
