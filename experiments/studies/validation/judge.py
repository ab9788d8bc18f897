#!/usr/bin/env python3
"""What is said of a model on a list of points, from what run.sh left in a folder.

    judge.py report FOLDER [--record LIST]    tables: goals, rules, seeds, mechanisms, kinds of points
    judge.py same FOLDER LIST                 exit 1 if predictions are not those recorded of LIST
    judge.py page [--check]                   fills README.md from results/; --check: exit 1 if it is not so

FOLDER holds errors.csv and VARIANT.summary of `sawtooth compare --csv` and `--summary`: model, seed-N,
no-die-seed-N (without what is known of the die, one launch), and without,
which has a group a mechanism that is switched off. Errors are raw; figures are medians over the seeds with their range. --record writes LIST's rows of results/points.csv
(DRAM reads, DRAM writes and duration of every point) and results/summary.csv. Standard library only.
"""

import argparse
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
import measures  # noqa: E402
import table  # noqa: E402

RESULTS = os.path.join(HERE, "results")
MODEL = "model"
NO_DIE = "no die"
WITHOUT = re.compile(r"\bwithout[ =]([a-z0-9-]+)")
(
    DRAM,
    NEAR,
    COALESCER,
    TIME,
    WRITES,
) = "dram_read_sectors l2_read_miss_sectors l2_read_sectors time_us dram_write_sectors".split()
OF_POINTS = (DRAM, WRITES, TIME)  # counters that are recorded point by point
# Counter: its name and the project's goals, set before anything was measured: median, 90 %, worst where
# launches agree.
COUNTERS = {
    DRAM: ("DRAM reads", 0.03, 0.10, 0.25),
    NEAR: ("near misses", 0.04, 0.12, None),
    "fabric_read_sectors": ("fabric reads", 0.04, 0.12, None),
    COALESCER: ("sectors let through by the coalescer", 0.08, 0.20, None),
    "sm_read_sectors": ("sectors that SMs read", 0, 0, None),
    TIME: ("duration", 0.05, 0.12, None),
    "fabric_read_miss_sectors": ("fabric read misses", None, None, None),
    WRITES: ("DRAM writes", None, None, None),
    "l2_write_sectors": ("L2 writes", None, None, None),
}
BEYOND = COUNTERS[DRAM][3]
CLOSE = 0.15  # what a prediction for another library's kernel is asked for
SAME = 0.005  # compilers differ in the last digits of a time, and events in that order
WRITES_MUCH = 0.05  # of O
ELEMENT_BYTES, SECTOR_BYTES = 2, 32
SIZES = ("median", "ninety", "worst")
STATISTICS = ("variant", "counter", "points", "statistic", "against", "value")
POINT = (
    "heads kv_heads seq_kv head_dim mask tile_q tile_kv section q_order launch ctas_per_sm".split()
)
POINT += ["scan", "prefetch"]
FIGURES = "predicted measured relative_error noise measured_low measured_high".split()
FIGURES += ["over_compulsory"]
RECORDED = {"points.csv": ["counter", *POINT, *FIGURES], "summary.csv": [*STATISTICS]}


def percent(share, digits=1):
    return "" if share is None else f"{100 * share:.{digits}f} %"


def signed(share):
    return f"{100 * share:+.1f} %"


def name_of(counter):
    return COUNTERS[counter][0]


def table_of(head, rows):
    """A Markdown table; `head` is one text with its cells between bars."""
    lines = [f"| {head} |", "|---" * len(head.split(" | ")) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(cells)} |" for cells in rows)])


def sizes(rows):
    """Sizes of errors, the smallest first."""
    return sorted(abs(float(row["relative_error"])) for row in rows)


def launches_agree(row):
    """Whether the launches of a point differ by less than 5 %."""
    low, high = (table.number(row, f"measured_{end}") for end in ("low", "high"))
    return high - low < 0.05 * table.number(row, "measured")


def with_range(values, digits):
    """The median in percent, and in brackets the range where the values differ."""
    low, high = (f"{100 * end(values):.{digits}f}" for end in (min, max))
    middle = f"{100 * statistics.median(values):.{digits}f}"
    return middle if low == high else f"{middle} ({low} to {high})"


def share_within(found, share):
    return f"{sum(size <= share for size in found)} of {len(found)}"


def variant_of(name, group):
    """The variant that a group of the summary `name` is."""
    if group.startswith(errors.BASELINE):
        return group
    if name != "without":
        return name.replace("-", " ")
    without = WITHOUT.search(group)
    return f"without {without[1]}" if without else "all mechanisms"


class Judgement:
    """One list: `points` are rows of one counter and point each, `summary` rows of one statistic."""

    def __init__(self, points, summary):
        self.points = points
        self.values = {table.cells(row, STATISTICS[:-1]): float(row["value"]) for row in summary}
        self.summary = summary

    def value(self, statistic, counter=DRAM, points="over", variant=MODEL, against=""):
        """A share, a count or a correlation; None where there is none."""
        return self.values.get((variant, counter, points, statistic, against))

    def triple(self, counter=DRAM, variant=MODEL):
        """median/90 %/worst in percent."""
        found = [self.value(size, counter, variant=variant) for size in SIZES]
        return "" if None in found else "{:.1f}/{:.1f}/{:.0f}".format(*(100 * x for x in found))

    def order(self, variant=MODEL, counter=DRAM):
        return percent(self.value("order", counter, "all", variant))

    def variants(self, beginning):
        found = dict.fromkeys(row["variant"] for row in self.summary)
        return [name for name in found if name.startswith(beginning)]

    def rows(self, counter=DRAM, over=False):
        found = table.where(self.points, counter=counter)
        return [row for row in found if errors.is_over(row) or not over]

    def beyond(self, share):
        """Points whose DRAM reads are off by more than `share` although launches differ by less than 5 %."""
        found = self.rows(over=True)
        found = [row for row in found if row["relative_error"] and launches_agree(row)]
        return [row for row in found if abs(float(row["relative_error"])) > share]

    def agreeing(self):
        """DRAM reads over 1.5 x compulsory where launches agree within 5 %: points, median/90 %/worst."""
        rows = self.rows(over=True)
        found = sizes([row for row in rows if row["relative_error"] and launches_agree(row)])
        errors_of = [statistics.median(found), measures.quantile(found, 0.9), found[-1]]
        told = "{:.1f}/{:.1f}/{:.0f} %".format(*(100 * error for error in errors_of))
        return f"{told} over {len(found)} of {len(rows)} points"

    def dram_writes(self):
        """Errors of DRAM writes at 90 % of the points, in shares of O and of themselves."""
        of_o, of_themselves = [], []
        for row in self.rows(WRITES):
            length, heads, dim = (
                table.integer(row, key) for key in ("seq_kv", "heads", "head_dim")
            )
            output = length * heads * dim * ELEMENT_BYTES / SECTOR_BYTES
            predicted, measured = (table.number(row, key) for key in ("predicted", "measured"))
            of_o.append(abs(predicted - measured) / output)
            if measured > WRITES_MUCH * output:
                of_themselves.append(abs(predicted / measured - 1))
        told = f"{percent(measures.quantile(of_o, 0.9))} of O over {len(of_o)} points"
        if not of_themselves:
            return told
        return (
            f"{told}, and {percent(measures.quantile(of_themselves, 0.9))} of themselves over the "
            f"{len(of_themselves)} that write over {percent(WRITES_MUCH, 0)} of O"
        )

    def over_seeds(self, statistic, counter, points, variant):
        """A statistic of `variant` under every seed that was simulated."""
        seeds = [MODEL, *self.variants("seed")] if variant == MODEL else self.variants(variant)
        found = [self.value(statistic, counter, points, seed) for seed in seeds]
        return [value for value in found if value is not None]

    def errors(self, points="over", variant=MODEL):
        """Every counter: median over seeds (range over seeds), goals in square brackets."""
        rows = []
        for counter, (name, *goals) in COUNTERS.items():
            found = {
                name: self.over_seeds(name, counter, points, variant)
                for name in (*SIZES, "steady", "signed", "rank", "noise")
            }
            if not found["median"]:
                continue
            median, ninety, steady = (
                "" if goal is None or points == "all" else f" [{100 * goal:g}]" for goal in goals
            )
            low, high = (
                statistics.median(self.over_seeds(f"median_{end}", counter, points, variant))
                for end in ("low", "high")
            )
            noise, rank = found["noise"], found["rank"]
            rows.append(
                [
                    name,
                    with_range(found["median"], 1) + median,
                    f"{100 * low:.1f} to {100 * high:.1f}",
                    with_range(found["ninety"], 1) + ninety,
                    with_range(found["worst"], 0),
                    with_range(found["steady"], 0) + steady,
                    signed(statistics.median(found["signed"])),
                    f"{100 * statistics.median(noise):.1f}" if noise else "",
                    f"{statistics.median(rank):.3f}" if rank else "",
                ]
            )
        head = " | median, % | 95 % interval | 90 %, % | worst, % | worst where launches agree, %"
        return table_of(f"{head} | signed median | noise, % | rank correlation", rows)

    def intervals(self, variant=MODEL):
        """Of predictions of one launch: how many points lie in their 90 % intervals, and how wide these are."""
        rows = []
        for counter in COUNTERS:
            cells = [
                with_range(found, 1) if found else ""
                for name in ("covered", "half_width")
                for found in [self.over_seeds(name, counter, "all", variant)]
            ]
            if any(cells):
                rows.append([name_of(counter), *cells])
        return table_of(" | covered, % | half width, %", rows)

    def changes(self, variant=MODEL):
        """Pairs of schedules of one problem: whether the better one is predicted, and by how much."""
        rows = []
        for counter in COUNTERS:
            pairs, order, size = (
                self.over_seeds(name, counter, "all", variant)
                for name in ("pairs", "order", "size")
            )
            if pairs:
                rows.append(
                    [name_of(counter), f"{pairs[0]:.0f}", with_range(order, 1), with_range(size, 1)]
                )
        return table_of(
            "pairs of schedules that differ by over 10 % | pairs | order right, % | size within 10 %, %",
            rows,
        )

    def rules(self):
        """Rules that cost nothing, and the skill of the model over each."""
        rows = []
        for rule in self.variants(errors.BASELINE):
            cells = [percent(self.value(s, variant=rule), d) for s, d in zip(SIZES, (1, 0, 0))]
            skills = [f"{self.value('skill', points=p, against=rule):.2f}" for p in ("over", "all")]
            rows.append([rule.removeprefix(errors.BASELINE), *cells, self.order(rule), *skills])
        head = "rule | median | 90 % | worst | order of changes | skill over it | skill, all points"
        return table_of(head, rows)

    def mechanisms(self):
        """median/90 %/worst in percent with one mechanism switched off at a time."""
        counters = (DRAM, NEAR, COALESCER, TIME)
        rows = [
            [name, *(self.triple(counter, name) for counter in counters), self.order(name)]
            for name in ["all mechanisms", *self.variants("without")]
        ]
        head = " | ".join(["mechanisms", *map(name_of, counters), "order of changes"])
        return table_of(head, rows)

    def regimes(self):
        """Errors of DRAM reads by what a point is about."""
        found = {}
        for row in self.rows(over=True):
            found.setdefault(errors.regime(row), []).append(row)
        rows = []
        for regime, group in sorted(found.items()):
            lean = statistics.median(table.numbers(group, "relative_error"))
            size = sizes(group)
            cells = [percent(statistics.median(size)), percent(size[-1], 0), signed(lean)]
            rows.append([regime, share_within(size, errors.BAND), *cells])
        return table_of("mask, order, launch | within 10 % | median | worst | signed median", rows)


def read_judgement(folder):
    """What run.sh left in `folder`; of errors.csv the model that is no baseline."""
    points = table.read(os.path.join(folder, "errors.csv"), ["group", *RECORDED["points.csv"]])
    points = table.where(points, group=errors.models(points)[0])
    summary = []
    for path in sorted(glob.glob(os.path.join(folder, "*.summary"))):
        name = os.path.basename(path).removesuffix(".summary")
        for row in table.read(path, ("group", *STATISTICS[1:])):
            if row["counter"] in COUNTERS:
                row["variant"] = variant_of(name, row["group"])
                row["value"] = f"{float(row['value']):.6g}"
                summary.append(row)
    return Judgement([row for row in points if row["counter"] in OF_POINTS], summary)


@functools.lru_cache(maxsize=None)
def results():
    """Rows of each table of results/, by list."""
    paths = (os.path.join(RESULTS, name) for name in RECORDED)
    return [table.grouped(table.read(path), "list") for path in paths]


def recorded(name):
    """The judgement of the list `name` that results/ holds."""
    points, summary = (lists.get(name, []) for lists in results())
    if not points and not summary:
        raise table.TableError(f"{RESULTS}: no list {name}")
    return Judgement(points, summary)


def record(name, judgement):
    """Replaces the rows of the list `name` in results/."""
    new = (judgement.points, judgement.summary)
    for (path, columns), lists, rows in zip(RECORDED.items(), results(), new):
        lists[name] = [
            dict(zip(["list", *columns], [name, *table.cells(row, columns)])) for row in rows
        ]
        together = [row for rows in lists.values() for row in rows]
        table.write(os.path.join(RESULTS, path), together, ["list", *columns])


def differences(rows, recorded_rows):
    """A sentence for each point and counter whose prediction is not the recorded one."""
    now, before = (
        {table.cells(row, ["counter", *POINT]): table.number(row, "predicted") for row in found}
        for found in (rows, recorded_rows)
    )
    for key in dict.fromkeys((*now, *before)):
        found, known = now.get(key), before.get(key)
        if found is None or known is None or abs(found - known) > SAME * abs(known):
            yield f"{' '.join(key)}: predicted {found}, recorded {known}"


class Page:
    """The vocabulary of README.md."""

    def __init__(self):
        self._lists = table.read(os.path.join(HERE, "lists.csv"), ("list", "role"))
        self.judgement = recorded("judgement")
        self.families_sixth = recorded("families_sixth")

    def _of(self, role):
        return {row["list"]: recorded(row["list"]) for row in table.where(self._lists, role=role)}

    def development(self):
        counters = (DRAM, NEAR, TIME)
        rows = []
        for name, found in self._of("development").items():
            over, points = (found.value("count", points=which) for which in ("over", "all"))
            cells = [found.triple(counter) for counter in counters]
            rows.append([name, f"{over:.0f} of {points:.0f}", *cells, found.order()])
        head = ["list", "points over 1.5 x", *map(name_of, counters), "order of changes"]
        return table_of(" | ".join(head), rows)

    def libraries(self):
        rows = []
        for name, found in self._of("library").items():
            every, over, times = map(sizes, (found.rows(), found.rows(over=True), found.rows(TIME)))
            cells = [percent(statistics.median(every)), percent(every[-1], 0)]
            cells.append(percent(statistics.median(times), 0))
            rows.append([name, share_within(every, CLOSE), share_within(over, CLOSE), *cells])
        head = "preset | DRAM reads within 15 % | of those over 1.5 x compulsory | median | worst"
        return table_of(f"{head} | duration, median", rows)

    def missed_libraries(self):
        """The points of other libraries' kernels that are off by more than 15 %, with their errors."""
        found = []
        for name, judgement in self._of("library").items():
            for row in judgement.rows():
                if abs(float(row["relative_error"])) > CLOSE:
                    shape = f"{int(row['seq_kv']) // 1024}K D={row['head_dim']} {row['mask']}"
                    found.append(f"{name} {shape} ({100 * float(row['relative_error']):+.0f} %)")
        return "; ".join(found)


def report(found):
    over = found.rows(over=True)
    yield f"{len(found.rows())} points, {len(over)} over {errors.OVER} x compulsory, of which these are errors of DRAM reads."
    yield f"Beyond 25 % although launches agree within 5 %: {len(found.beyond(BEYOND))} points."
    if found.rows(WRITES):
        yield f"DRAM writes are off, at 90 % of the points, by {found.dram_writes()}."
    yield from (found.errors(), found.errors("all"))
    if found.variants(NO_DIE):
        yield "Without the die's file:"
        yield from (
            found.errors("over", NO_DIE),
            found.errors("all", NO_DIE),
            found.intervals(NO_DIE),
        )
    yield from (found.changes(), found.regimes())
    if found.variants(errors.BASELINE):
        yield found.rules()
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
            known = recorded(options.list).points
            counters = {row["counter"] for row in known}
            now = [row for row in found.points if row["counter"] in counters]
            told = list(differences(now, known))
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
