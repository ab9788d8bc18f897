#!/usr/bin/env python3
"""Fills the numbers of the finding: every {{ ... }} of finding.md is computed from the recorded and
the simulated tables; the result is README.md beside it.

    experiments/studies/hopper/finding.py MEASURED_FOLDER PREDICTED_FOLDER [--check]

`{{ expression | format }}` is Python over the functions of this file, printed by Python's format
specification. --check writes nothing and exits 1 if README.md is not what would be written.
"""

import argparse
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "..", "plots", name) for name in ("lib", "figures")]
import fill  # noqa: E402
import hopper  # noqa: E402
import table  # noqa: E402
from hopper_lists import Lists, short  # noqa: E402

MEGA = 1e6
SECTOR_BYTES = 32
CLOSE = 0.03  # of a measured count: what "within 3 %" means below
# One head of several lengths under kernels/hopper, 9 rounds in an order shuffled every round.
FULL_SPEED = os.path.join(HERE, "..", "..", "data", "h200", "race", "one_head.csv")


class Finding:
    """The vocabulary of finding.md. Counts are million sectors of medians over repetitions."""

    def __init__(self, lists):
        self.lists = lists

    def dram(self, name, **question):
        return self.lists.measured(name, "dram_read_sectors", **question) / MEGA

    def near(self, name, **question):
        return self.lists.measured(name, "l2_read_miss_sectors", **question) / MEGA

    def time(self, name, **question):
        """Microseconds of unprofiled launches."""
        return self.lists.measured(name, "time_us", **question)

    def speed(self, name, **question):
        """TFLOP/s."""
        return self.lists.measured(name, "tflops", **question)

    def guess(self, name, **question):
        return self.lists.predicted(hopper.MODEL, name, "dram_read_sectors", **question) / MEGA

    def times(self, name, **question):
        """DRAM reads as a multiple of the compulsory ones."""
        return self.dram(name, **question) * MEGA / self.lists.compulsory(name, **question)

    def saved(self, name, column="dram_read_sectors", **question):
        """Share of linear's count that sawtooth removes, in percent."""
        linear, sawtooth = (self.lists.measured(name, column, scan=scan, **question)
                            for scan in ("linear", "sawtooth"))
        return 100 * (1 - sawtooth / linear)

    def slower(self, name, of, than):
        """Percent of time that the point `of` takes more than the point `than`."""
        return 100 * (self.time(name, **of) / self.time(name, **than) - 1)

    def rate(self, name, **question):
        """GB/s that DRAM reads come to over the launch, the most of the points that fit."""
        return max(self.dram(name, **p) * MEGA * SECTOR_BYTES / self.time(name, **p) / 1000
                   for p in self.lists.points(name, **question))

    def saved_a_wave(self, s, d, waves):
        """MiB that sawtooth saves each time the wave turns round: one time less than there are
        waves."""
        linear, sawtooth = (self.dram("length", d=d, s=s, mask="none", scan=scan)
                            for scan in ("linear", "sawtooth"))
        return (linear - sawtooth) * MEGA * SECTOR_BYTES / (waves - 1) / 2**20

    def time_range(self, name, scans=("linear", "sawtooth"), **question):
        """Least and most percent of time of scans[1] over scans[0], over the points that fit."""
        changes = []
        for point in self.lists.points(name, scan=scans[0], **question):
            changes.append(self.slower(name, dict(point, scan=scans[1]), point))
        return f"{min(changes):+.1f} to {max(changes):+.1f} %"

    def agreement(self, name, **question):
        """How well the model meets the points that fit the question."""
        errors = [abs(self.guess(name, **p) / self.dram(name, **p) - 1)
                  for p in self.lists.points(name, **question)]
        close = sum(error <= CLOSE for error in errors)
        return (f"{close} of {len(errors)} points within {100 * CLOSE:.0f} %, median "
                f"{100 * statistics.median(errors):.1f} %, worst {100 * max(errors):.0f} %")

    def gain_at_full_speed(self, d, tile_kv):
        """Percent of TFLOP/s that sawtooth gains over linear with kernels/hopper, one head of 128K,
        medians."""
        rows = table.where(table.read(FULL_SPEED, ("seq_q", "head_dim", "tile_kv", "scan", "tflops")),
                           kernel="hopper", seq_q=131072, head_dim=d, tile_kv=tile_kv,
                           launch="static", kv_split=1, prefetch=0)
        linear, sawtooth = (
            statistics.median(table.number(row, "tflops") for row in table.where(rows, scan=scan))
            for scan in ("linear", "sawtooth"))
        return 100 * (sawtooth / linear - 1)

    def growth(self, d, s):
        point = next(p for p in self.lists.points("prefetch", d=d, s=s, mask="none", scan="linear",
                                                  prefetch=2))
        return hopper.growth(self.lists, point)

    def pairs(self, name, columns, **question):
        """A table: what `columns` say of a point; DRAM reads, near misses and time of both scans."""
        heads = {"s": "length", "order": "Q order", "parts": "parts", "mask": "mask",
                 "launch": "launch", "section": "heads together", "prefetch": "distance",
                 "heads": "heads", "d": "D"}
        lines = ["| " + " | ".join(heads[c] for c in columns) +
                 " | DRAM reads, linear | sawtooth | predicted | near misses | time, ms |",
                 "|---" * (len(columns) + 5) + "|"]
        for point in self.lists.points(name, scan="linear", **question):
            both = [point, dict(point, scan="sawtooth")]
            cells = [short(point[c]) if c == "s" else point[c] for c in columns]
            cells += [f"{self.dram(name, **p):.2f} M ({self.times(name, **p):.1f} x)" for p in both]
            cells.append(" / ".join(f"{self.guess(name, **p):.2f}" for p in both))
            cells.append(" / ".join(f"{self.near(name, **p):.2f} M" for p in both))
            cells.append(" / ".join(f"{self.time(name, **p) / 1000:.2f}" for p in both))
            lines.append("| " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def fill(self, text):
        return fill.filled(text, fill.words_of(self))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", help="folder with NAME.csv of sawtooth measure")
    parser.add_argument("predicted", help="folder with NAME.csv of sawtooth simulate")
    parser.add_argument("--check", action="store_true", help="compare with README.md, write nothing")
    options = parser.parse_args()
    try:
        lists = Lists(options.measured, {hopper.MODEL: options.predicted})
        with open(os.path.join(HERE, "finding.md"), encoding="utf-8") as file:
            text = Finding(lists).fill(file.read())
    except table.TableError as error:
        print(f"finding.py: {error}", file=sys.stderr)
        return 2
    return fill.write_or_check(os.path.join(HERE, "README.md"), text, options.check,
                               "experiments/studies/hopper/finding.sh")


if __name__ == "__main__":
    sys.exit(main())
