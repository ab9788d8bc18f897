#!/usr/bin/env python3
"""Fills the figures of README.md from the recorded and the simulated tables.

    experiments/studies/hopper/finding.py MEASURED PREDICTED [--check]

--check writes nothing and exits 1 if README.md is not what would be written.
"""

import argparse
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PLOTS = os.path.join(HERE, "..", "..", "..", "plots")
sys.path[:0] = [os.path.join(PLOTS, name) for name in ("lib", "figures")] + [HERE]
import fill  # noqa: E402
import draw  # noqa: E402
import table  # noqa: E402
from hopper_lists import Lists, short  # noqa: E402

MEGA = 1e6
SECTOR_BYTES = 32
CLOSE = 0.03  # of a measured count: what "within 3 %" means below
SCANS = ("linear", "sawtooth")


class Finding:
    """The vocabulary of README.md. Counts are million sectors of medians over repetitions."""

    def __init__(self, lists):
        self.lists = lists

    def dram(self, name, **question):
        return self.lists.measured(name, "dram_read_sectors", **question) / MEGA

    def time(self, name, **question):
        """Microseconds of unprofiled launches."""
        return self.lists.measured(name, "time_us", **question)

    def speed(self, name, **question):
        """TFLOP/s."""
        return self.lists.measured(name, "tflops", **question)

    def guess(self, name, **question):
        return self.lists.predicted(draw.MODEL, name, "dram_read_sectors", **question) / MEGA

    def times(self, name, **question):
        """DRAM reads as a multiple of the compulsory ones."""
        return self.dram(name, **question) * MEGA / self.lists.compulsory(name, **question)

    def saved(self, name, column="dram_read_sectors", **question):
        """Share of linear's count that sawtooth removes, in percent."""
        linear, sawtooth = (self.lists.measured(name, column, scan=s, **question) for s in SCANS)
        return 100 * (1 - sawtooth / linear)

    def slower(self, name, of, than):
        """Percent of time that the point `of` takes more than the point `than`."""
        return 100 * (self.time(name, **of) / self.time(name, **than) - 1)

    def rate(self, name, **question):
        """GB/s that DRAM reads come to over the launch, the most of the points that fit."""
        return max(
            self.dram(name, **p) * MEGA * SECTOR_BYTES / self.time(name, **p) / 1000
            for p in self.lists.points(name, **question)
        )

    def saved_a_wave(self, s, d, waves):
        """MiB that sawtooth saves each time the wave turns round: one time less than there are waves."""
        linear, sawtooth = (self.dram("length", d=d, s=s, mask="none", scan=scan) for scan in SCANS)
        return (linear - sawtooth) * MEGA * SECTOR_BYTES / (waves - 1) / 2**20

    def time_range(self, name, **question):
        """Least and most percent of time of sawtooth over linear, over the points that fit."""
        points = self.lists.points(name, scan="linear", **question)
        changes = [self.slower(name, dict(point, scan="sawtooth"), point) for point in points]
        return f"{min(changes):+.1f} to {max(changes):+.1f} %"

    def agreement(self, name, **question):
        """How well the model meets the points that fit the question."""
        points = self.lists.points(name, **question)
        errors = [abs(self.guess(name, **p) / self.dram(name, **p) - 1) for p in points]
        close = sum(error <= CLOSE for error in errors)
        return (
            f"{close} of {len(errors)} points within {100 * CLOSE:.0f} %, median "
            f"{100 * statistics.median(errors):.1f} %, worst {100 * max(errors):.0f} %"
        )

    def growth(self, d, s):
        """DRAM reads with prefetch 2 as a multiple of those without."""
        question = dict(d=d, s=s, mask="none", scan="linear")
        with_it, without = (self.dram("prefetch", prefetch=p, **question) for p in (2, 0))
        return with_it / without

    def lengths(self, *lengths, **question):
        """A table: DRAM reads, measured and predicted, of both scans at these lengths."""
        rows = []
        for point in self.lists.points("length", scan="linear", **question):
            if short(point["s"]) not in lengths:
                continue
            both = [point, dict(point, scan="sawtooth")]
            cells = [
                f"{self.dram('length', **p):.2f} ({self.times('length', **p):.1f})" for p in both
            ]
            cells += [f"{self.guess('length', **p):.2f}" for p in both]
            rows.append([point["d"], short(point["s"]), *cells])
        head = [
            "D",
            "length",
            "linear, M (x compulsory)",
            "sawtooth",
            "predicted linear",
            "sawtooth",
        ]
        lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
        return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])

    def fill(self, text):
        return fill.filled(text, fill.words_of(self))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "measured", help="hopper.csv, or a folder with NAME.csv of sawtooth measure"
    )
    parser.add_argument("predicted", help="folder with NAME.csv of sawtooth simulate")
    parser.add_argument(
        "--check", action="store_true", help="compare with README.md, write nothing"
    )
    options = parser.parse_args()
    path, command = os.path.join(HERE, "README.md"), "experiments/studies/hopper/run.sh"
    try:
        page = Finding(Lists(options.measured, {draw.MODEL: options.predicted}))
        return fill.write_or_check(path, page, options.check, command)
    except table.TableError as error:
        print(f"finding.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
