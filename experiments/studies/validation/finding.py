#!/usr/bin/env python3
"""Fills the numbers of the page: every {{ ... }} of finding.md is computed from the tables of results/
(judge.sh, judge_systems.sh and teach.sh write them); the result is README.md beside it.

    experiments/studies/validation/finding.py [--check]

--check writes nothing and exits 1 if README.md is not what would be written. Standard library only.
"""

import argparse
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "..", "plots", "lib")]
import change_pairs  # noqa: E402  (the path above leads to it)
import changes  # noqa: E402
import errors  # noqa: E402
import fill  # noqa: E402
import points  # noqa: E402
import report  # noqa: E402
import table  # noqa: E402

LISTS = ("calibration", "drawn_fifth", "drawn_fourth", "drawn_third", "drawn_again", "drawn", "holdout",
         "drawn_fourth-now", "drawn_third-now",
         "drawn_again-now", "drawn-now", "holdout-now", "grid-now")
SYSTEMS = ("flash-attention-2", "flash-attention-3", "cudnn", "triton-tutorial")
MEGA = 1e6
KIBI = 1024
CLOSE = 0.15  # asked of other libraries' kernels
SHORT = {"d": "head_dim", "s": "seq_kv", "order": "q_order", "ctas": "ctas_per_sm"}
# arXiv 2601.16032, section 5: misses of reads and O writes in million sectors; causal as a share only.
PAPER = {"none": "370 to 120", "causal": "-67 %"}


class Page:
    """The vocabulary of finding.md. Questions name columns of points.csv (d, s, order and ctas are
    short for head_dim, seq_kv, q_order and ctas_per_sm; lengths like "128K")."""

    def __init__(self, results):
        self._results = results
        self._rows = {name: table.read(os.path.join(results, name, report.POINTS), points.NAMES)
                      for name in LISTS if os.path.isdir(os.path.join(results, name))}
        self._summaries = {name: report.recorded(os.path.join(results, name)) for name in self._rows}
        self._systems = {name: table.read(os.path.join(results, "systems", f"{name}.csv"), points.NAMES)
                         for name in SYSTEMS
                         if os.path.exists(os.path.join(results, "systems", f"{name}.csv"))}
        self._elsewhere = table.read(os.path.join(HERE, "elsewhere.csv"),
                                     ("gpu", "timing", "scan", "dram_read_sectors"))

    # --- one point ---

    def _one(self, rows, counter, question):
        wanted = {SHORT.get(word, word): value for word, value in question.items()}
        if "seq_kv" in wanted:
            wanted["seq_kv"] = int(str(wanted["seq_kv"]).rstrip("K")) * KIBI
        return table.only(rows, counter=counter, **wanted)

    def row(self, name, counter=report.DRAM, **question):
        return self._one(self._rows[name], counter, question)

    def measured(self, name, counter=report.DRAM, **question):
        """Of DRAM reads: million sectors."""
        value = float(self.row(name, counter, **question)["measured"])
        return value / MEGA if counter == report.DRAM else value

    def times(self, name, **question):
        """Measured DRAM reads as a multiple of the compulsory ones."""
        return float(self.row(name, **question)["over_compulsory"])

    def both(self, name, **question):
        """The same, measured (predicted)."""
        row = self.row(name, **question)
        over = float(row["over_compulsory"])
        guess = over * float(row["predicted"]) / float(row["measured"])
        digits = 0 if over >= 10 else 1
        return f"{over:.{digits}f} ({guess:.{digits}f})"

    def saved(self, name, side="measured", counter=report.DRAM, **question):
        """Percent of linear's count that sawtooth removes."""
        linear, sawtooth = (float(self.row(name, counter, scan=scan, **question)[side])
                            for scan in ("linear", "sawtooth"))
        return 100 * (1 - sawtooth / linear)

    def saved_both(self, name, **question):
        return " (".join(f"{self.saved(name, side, **question):.0f} %"
                         for side in ("measured", "predicted")) + ")"

    def library(self, system, **question):
        row = self._one(self._systems[system], report.DRAM, question)
        return float(row["over_compulsory"])

    def library_both(self, system, **question):
        row = self._one(self._systems[system], report.DRAM, question)
        over = float(row["over_compulsory"])
        guess = over * float(row["predicted"]) / float(row["measured"])
        digits = 0 if over >= 10 else 1
        return f"{over:.{digits}f} ({guess:.{digits}f})"

    # --- whole lists ---

    def value(self, name, statistic, counter=report.DRAM, points="over", variant=report.MODEL):
        """A share, or a number."""
        return self._summaries[name].value(statistic, counter, points, variant)

    def skill(self, name, rule, points="over"):
        return self._summaries[name].value("skill", points=points, against=errors.BASELINE + rule)

    def percent(self, name, statistic, counter=report.DRAM, digits=1, points="over",
                variant=report.MODEL):
        return f"{100 * self.value(name, statistic, counter, points, variant):.{digits}f} %"

    def count(self, name):
        return len(table.where(self._rows[name], counter=report.DRAM))

    def over(self, name):
        return sum(map(errors.is_over, table.where(self._rows[name], counter=report.DRAM)))

    def beyond(self, name, share=0.25):
        return len(report.beyond(table.where(self._rows[name], counter=report.DRAM), share))

    def goals(self, name):
        return report.goals(self._summaries[name])

    def schedules(self, name):
        return report.schedule_changes(self._summaries[name])

    def rules(self, name):
        return report.rules(self._summaries[name])

    def seeds(self, name):
        return report.seeds(self._summaries[name])

    def seed_range(self, name):
        return 100 * report.seed_range(self._summaries[name])

    def mechanisms(self, name):
        return report.mechanisms(self._summaries[name])

    def changes(self, name):
        rows = [row for row in self._rows[name] if row["counter"] in change_pairs.COUNTERS]
        return "\n".join(changes.lines(rows))

    def regimes(self, name):
        """Errors of DRAM reads by what a point is about."""
        found = {}
        for row in table.where(self._rows[name], counter=report.DRAM):
            if errors.is_over(row):
                found.setdefault(errors.regime(row), []).append(row)
        rows = []
        for regime, group in sorted(found.items()):
            sizes = sorted(abs(float(row["counted_error"])) for row in group)
            signed = statistics.median(float(row["relative_error"]) for row in group)
            close = sum(size <= errors.BAND for size in sizes)
            rows.append([regime, str(len(group)), f"{close} of {len(group)}",
                         f"{100 * statistics.median(sizes):.1f} %", f"{100 * sizes[-1]:.0f} %",
                         f"{100 * signed:+.1f} %"])
        return report.table_of(["mask, order, launch", "points", "within 10 %", "median", "worst",
                                "signed median"], rows)

    # --- other libraries, other GPUs ---

    def systems(self):
        rows = []
        for name, found in self._systems.items():
            dram = table.where(found, counter=report.DRAM)
            time = table.where(found, counter="time_us")
            sizes = [abs(float(row["counted_error"])) for row in dram]
            hard = [abs(float(row["counted_error"])) for row in dram if errors.is_over(row)]
            times = [abs(float(row["counted_error"])) for row in time]
            rows.append([name, f"{sum(size <= CLOSE for size in sizes)} of {len(sizes)}",
                         f"{sum(size <= CLOSE for size in hard)} of {len(hard)}",
                         f"{100 * statistics.median(sizes):.1f} %", f"{100 * max(sizes):.0f} %",
                         f"{100 * statistics.median(times):.0f} %" if times else ""])
        return report.table_of(["preset", "DRAM reads within 15 %", "of those over 1.5 x compulsory",
                                "median", "worst", "duration, median"], rows)

    def missed_systems(self):
        """The points of other libraries' kernels that are off by more than 15 %, with their errors."""
        found = []
        for name, rows in self._systems.items():
            missed = [row for row in table.where(rows, counter=report.DRAM)
                      if abs(float(row["counted_error"])) > CLOSE]
            if missed:
                found.append(f"{name} " + ", ".join(
                    f"{int(row['seq_kv']) // KIBI}K D={row['head_dim']} {row['mask']} "
                    f"({100 * float(row['relative_error']):+.0f} %)" for row in missed))
        return "; ".join(found)

    def _misses(self, row):
        """Million sectors of reads and O writes, as the sawtooth paper counts."""
        return (int(row["dram_read_sectors"]) + int(row["l2_write_miss_sectors"])) / MEGA

    def _elsewhere_pair(self, **question):
        wanted = {SHORT.get(word, word): value for word, value in question.items()}
        if "seq_kv" in wanted:
            wanted["seq_kv"] = int(str(wanted["seq_kv"]).rstrip("K")) * KIBI
        return [table.only(self._elsewhere, scan=scan, **wanted) for scan in ("linear", "sawtooth")]

    def elsewhere(self, **question):
        """Predicted DRAM reads of linear to sawtooth in multiples of the compulsory ones."""
        cells = [int(row["dram_read_sectors"]) / int(row["cold_read_sectors"])
                 for row in self._elsewhere_pair(**question)]
        return " to ".join(f"{cell:.0f}" if cell >= 10 else f"{cell:.1f}" for cell in cells)

    def gb10(self):
        timings = ("lockstep", "lockstep-wave", "timed")
        rows = []
        seen = dict.fromkeys((row["mask"], row["q_order"], row["launch"])
                             for row in table.where(self._elsewhere, gpu="gb10"))
        for mask, order, launch in seen:
            cells = []
            for timing in timings:
                linear, sawtooth = map(self._misses, self._elsewhere_pair(
                    gpu="gb10", mask=mask, order=order, launch=launch, timing=timing))
                cells.append(f"{linear:,.0f} to {sawtooth:,.0f} ({100 * (sawtooth / linear - 1):+.0f} %)")
            speeds = [f"{float(row['tflops']):.0f}" for row in self._elsewhere_pair(
                gpu="gb10", mask=mask, order=order, launch=launch, timing="timed")]
            name = f"none, {launch}" if mask == "none" else f"{mask}, {order}, {launch}"
            rows.append([name, PAPER[mask], *cells, " to ".join(speeds)])
        return report.table_of(["mask, Q order, launch", "printed", *timings, "TFLOP/s, timed"], rows)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with README.md, write nothing")
    options = parser.parse_args(arguments)
    try:
        with open(os.path.join(HERE, "finding.md"), encoding="utf-8") as file:
            text = fill.filled(file.read(), fill.words_of(Page(os.path.join(HERE, "results"))))
    except (table.TableError, KeyError) as error:
        print(f"finding.py: {error}", file=sys.stderr)
        return 2
    return fill.write_or_check(os.path.join(HERE, "README.md"), text, options.check,
                               "experiments/studies/validation/finding.py")


if __name__ == "__main__":
    sys.exit(main())
