#!/usr/bin/env python3
"""The figures of README.md, from the predicted rows of this study.

    finding.py [--check]     fills README.md, or says whether it is current
"""

import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[2] / "plots" / "lib"))
import fill  # noqa: E402  (the path above leads to it)
import table  # noqa: E402

SEQUENCES = ("16", "128")
ORDERS = ("batch-major", "head-major")
MIB = (32, 64, 128, 256, 512, 1024)


def kv_mib(row):
    """Bytes of K and V of all sequences, 2 x 2 bytes an element."""
    of = lambda column: table.integer(row, column)
    return of("batch") * of("kv_heads") * of("seq_kv") * of("head_dim") * 4 >> 20


def gain(rows, column, **wanted):
    """A column without packing over that with it."""
    off = table.only(rows, pack_gqa="", **wanted)
    on = table.only(rows, pack_gqa="on", **wanted)
    return table.number(off, column) / table.number(on, column)


class Page:
    def __init__(self, folder):
        self._decode = table.read(str(folder / "decode.csv"))
        self._lengths = table.read(str(folder / "lengths.csv"))

    def gain(self, mib, column, timing="lockstep", **wanted):
        rows = [row for row in self._decode if kv_mib(row) == mib]
        return gain(rows, column, timing=timing, **wanted)

    def gains(self, column, timing):
        """A row a size of K and V: without packing over packed."""
        heads = [f"{n} sequences, {order}" for n in SEQUENCES for order in ORDERS]
        lines = ["| K and V | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
        for mib in MIB:
            cells = [
                f"{self.gain(mib, column, timing, batch=n, head_order=order):.2f}"
                for n in SEQUENCES
                for order in ORDERS
            ]
            lines.append(f"| {mib} MiB | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def longest(self, column, launch):
        """Of five batches, `longest` over `given`, less 1, in percent: least, median, most."""
        changes = []
        for lengths in table.values(self._lengths, "lengths"):
            one, other = (
                table.only(self._lengths, lengths=lengths, launch=launch, sequence_order=order)
                for order in ("longest", "given")
            )
            changes.append(100 * (table.number(one, column) / table.number(other, column) - 1))
        return min(changes), statistics.median(changes), max(changes)

    def orders(self):
        lines = ["| launch | time | DRAM reads |", "|---|---|---|"]
        for launch in ("grid", "static"):
            cells = [
                "{:+.1f} % ({:+.1f} to {:+.1f})".format(middle, low, high)
                for low, middle, high in (
                    self.longest(column, launch) for column in ("time_us", "dram_read_sectors")
                )
            ]
            lines.append(f"| {launch} | " + " | ".join(cells) + " |")
        return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(fill.study(HERE, Page(HERE / "results")))
