#!/usr/bin/env python3
"""The figures of README.md, from the predicted rows of this study.

    finding.py [--check]     fills README.md, or says whether it is current
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[2] / "plots" / "lib"))
import fill  # noqa: E402  (the path above leads to it)
import table  # noqa: E402

LENGTHS = {f"{kibi}K": kibi * 1024 for kibi in (1, 4, 8, 16, 32, 64, 128, 256)}
SECTOR_BYTES, GIBI = 32, 1 << 30


def gib(sectors):
    return sectors * SECTOR_BYTES / GIBI


def dram(row):
    return table.integer(row, "dram_read_sectors") + table.integer(row, "dram_write_sectors")


class Page:
    def __init__(self, folder):
        self._rows = {
            name: table.read(str(folder / f"{name}.csv")) for name in ("orders", "dash", "presets")
        }

    def _row(self, which, s, **wanted):
        usual = dict(q_order="ascending", section="1", dq="atomic") if which == "orders" else {}
        return table.only(self._rows[which], seq_kv=LENGTHS[s], **{**usual, **wanted})

    def over(self, s, **wanted):
        """DRAM reads over the compulsory ones."""
        row = self._row("orders", s, **wanted)
        return table.integer(row, "dram_read_sectors") / table.integer(row, "cold_read_sectors")

    def moved(self, s, **wanted):
        """DRAM reads and writes, GiB."""
        return gib(dram(self._row("orders", s, **wanted)))

    def written(self, s, **wanted):
        """DRAM writes, GiB."""
        return gib(table.integer(self._row("orders", s, **wanted), "dram_write_sectors"))

    def share(self, column, s, over="linear", which="orders", scan="shift", **wanted):
        """A column of `scan` over that of `over`, less 1, in percent."""
        one = table.number(self._row(which, s, scan=scan, **wanted), column)
        other = table.number(self._row(which, s, scan=over, **wanted), column)
        return 100 * (one / other - 1)

    def passed(self, s, which="dash", **wanted):
        """What the coalescer lets through of the SMs' reads, in percent."""
        row = self._row(which, s, **wanted)
        return 100 * table.number(row, "l2_read_sectors") / table.number(row, "sm_read_sectors")

    def dash_over(self, s, **wanted):
        row = self._row("dash", s, **wanted)
        return table.integer(row, "dram_read_sectors") / table.integer(row, "cold_read_sectors")

    def lengths(self, *lengths, mask, heads=1):
        """A row a length: DRAM reads over compulsory of each scan, then DRAM writes in GiB."""
        scans = ("linear", "sawtooth", "reverse", "shift")
        lines = [
            "| length | " + " | ".join(scans) + " | written back, linear | shift |",
            "|---" * (len(scans) + 3) + "|",
        ]
        for s in lengths:
            wanted = dict(mask=mask, heads=heads)
            cells = [f"{self.over(s, scan=scan, **wanted):.1f}" for scan in scans]
            cells += [
                f"{self.written(s, scan=scan, **wanted):.2f} GiB" for scan in ("linear", "shift")
            ]
            lines.append(f"| {s} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def causal_orders(self, *lengths):
        """A row a length: DRAM reads over compulsory of one causal head, by the order of its tiles."""
        orders = ("ascending", "descending")
        lines = [
            "| length | longest first (ascending) | shortest first (descending) |",
            "|---|---|---|",
        ]
        for s in lengths:
            wanted = dict(scan="linear", mask="causal", heads=1)
            cells = [f"{self.over(s, q_order=order, **wanted):.1f}" for order in orders]
            lines.append(f"| {s} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def sections(self, *lengths):
        """A row a length: sixteen causal heads by their sections; 40 MiB are one head from 32K on."""
        lines = [
            "| length | a head at a time | sections of 40 MiB | all heads at once |",
            "|---|---|---|---|",
        ]
        for s in lengths:
            wanted = dict(scan="linear", mask="causal", heads=16)
            bytes_a_head = 8 * LENGTHS[s] * 128
            fit = 1
            while 2 * fit * bytes_a_head <= 40 << 20:
                fit *= 2
            cells = [f"{self.over(s, section=n, **wanted):.2f}" for n in ("1", str(fit), "16")]
            lines.append(f"| {s} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def separate(self, s, what):
        """`separate` over `atomic`, less 1, in percent: linear, one head without a mask."""
        rows = [
            self._row("orders", s, dq=dq, scan="linear", mask="none", heads=1)
            for dq in ("separate", "atomic")
        ]
        one, other = (dram(row) if what == "dram" else table.number(row, what) for row in rows)
        return 100 * (one / other - 1)

    def dash(self, *lengths, mask):
        lines = [
            "| length | DRAM reads over compulsory, linear | shift | of the SMs' reads pass to L2, linear | shift |",
            "|---|---|---|---|---|",
        ]
        for s in lengths:
            cells = [
                f"{self.dash_over(s, scan=scan, mask=mask):.2f}" for scan in ("linear", "shift")
            ]
            cells += [
                f"{self.passed(s, scan=scan, mask=mask):.0f} %" for scan in ("linear", "shift")
            ]
            lines.append(f"| {s} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def presets(self, *lengths, d, mask):
        names = table.values(self._rows["presets"], "system")
        lines = [
            "| length | " + " | ".join(names) + " |",
            "|---" * (len(names) + 1) + "|",
        ]
        for s in lengths:
            cells = []
            for name in names:
                row = self._row("presets", s, system=name, head_dim=d, mask=mask)
                cold = table.integer(row, "cold_read_sectors")
                cells.append(f"{table.integer(row, 'dram_read_sectors') / cold:.1f}")
            lines.append(f"| {s} | " + " | ".join(cells) + " |")
        return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(fill.study(HERE, Page(HERE / "results")))
