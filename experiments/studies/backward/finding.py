#!/usr/bin/env python3
"""The figures of README.md, from the predicted rows of this study.

    finding.py [--check]     fills README.md, or says whether it is current
"""

import csv
import lzma
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[2] / "plots" / "lib"))
import fill  # noqa: E402  (the path above leads to it)
import measures  # noqa: E402
import table  # noqa: E402

DATA = HERE.parents[1] / "data" / "h200" / "backward"
LENGTHS = {f"{kibi}K": kibi * 1024 for kibi in (1, 4, 8, 16, 32, 64, 128, 256)}
SECTOR_BYTES, GIBI = 32, 1 << 30
ELEMENT_BYTES, SUM_BYTES = 2, 4  # of dK and dV, of dQ
WRITES_MUCH = 0.05  # of dQ, dK and dV
TIMINGS = ("lockstep", "timed")
AGAIN = [  # points of kernels/mma, with its costs of then and of now
    f"{drawn}_{part}_{costs}"
    for drawn in ("third", "fourth")
    for part in ("again", "times")
    for costs in ("then", "now")
]
DRAWN = ("drawn", "drawn_families", "drawn_third", "drawn_fourth")  # the lists that were drawn
JUDGED = {
    "sm_read_sectors": "sectors that SMs read",
    "l2_reduction_sectors": "reductions",
    "l2_write_sectors": "L2 writes",
    "l2_read_sectors": "L2 reads",
    "dram_read_sectors": "DRAM reads",
    "l2_read_miss_sectors": "near misses",
    "fabric_read_sectors": "fabric reads",
    "dram_write_sectors": "DRAM writes",
    "time_us": "time",
}


def gib(sectors):
    return sectors * SECTOR_BYTES / GIBI


def dram(row):
    return table.integer(row, "dram_read_sectors") + table.integer(row, "dram_write_sectors")


def three(errors):
    """Median / 90 % / worst, in percent."""
    if not errors:
        return ""
    found = statistics.median(errors), measures.quantile(errors, 0.9), max(errors)
    return " / ".join(f"{100 * error:.{1 if error < 0.0995 else 0}f}" for error in found)


def writes_much(row):
    """Whether a point writes over 5 % of dQ, dK and dV."""
    of = lambda column: table.integer(row, column)
    queries = of("heads") * of("seq_q") * SUM_BYTES
    keys = 2 * of("kv_heads") * of("seq_kv") * ELEMENT_BYTES
    results = of("batch") * (queries + keys) * of("head_dim") / SECTOR_BYTES
    return table.number(row, "measured") > WRITES_MUCH * results


class Page:
    def __init__(self, folder, measured=DATA):
        names = ["orders", "dash", "presets", "ordered"]
        names += [f"{drawn}_{part}" for drawn in DRAWN for part in ("errors", "summary")]
        names += [f"{again}_errors" for again in AGAIN]
        self._rows = {name: table.read(str(folder / f"{name}.csv")) for name in names}
        self._measured = measured
        self._ordered = table.read(str(measured / "order.csv"))

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

    def _errors(self, counter, timing, wanted=lambda row: True, drawn="drawn"):
        """Sizes of the raw errors of drawn points."""
        rows = table.where(self._rows[f"{drawn}_errors"], counter=counter)
        return [
            abs(table.number(row, "relative_error"))
            for row in rows
            if row["group"].startswith(timing + ",") and row["relative_error"] and wanted(row)
        ]

    def drawn(self, drawn="drawn"):
        """A row a counter: errors of both models at all drawn points that were measured."""
        lines = ["| | " + " | ".join(TIMINGS) + " |", "|---" * (len(TIMINGS) + 1) + "|"]

        def add(name, cells):
            lines.append(f"| {name} | " + " | ".join(cells) + " |")

        for counter, name in JUDGED.items():
            add(name, [three(self._errors(counter, timing, drawn=drawn)) for timing in TIMINGS])
            if counter == "dram_write_sectors":
                cells = [self._errors(counter, timing, writes_much, drawn) for timing in TIMINGS]
                points = max(map(len, cells))
                add(f"DRAM writes, the {points} points that write over 5 %", map(three, cells))
        orders = [f"{self.order(timing, drawn=drawn):.0f} %" for timing in TIMINGS]
        add("order of schedules, DRAM reads", orders)
        return "\n".join(lines)

    def drawn_where(self, timing, counter="dram_read_sectors", drawn="drawn", **wanted):
        """Median / 90 % / worst of the drawn points of one kind, and how many these are."""
        of_kind = lambda row: all(row[key].split(":")[0] == str(v) for key, v in wanted.items())
        errors = self._errors(counter, timing, of_kind, drawn)
        return f"{three(errors)} % over {len(errors)}"

    def order(self, timing, counter="dram_read_sectors", drawn="drawn"):
        """Pairs of schedules whose order is right, in percent."""
        rows = table.where(self._rows[f"{drawn}_summary"], counter=counter, statistic="order")
        (row,) = (row for row in rows if row["group"].startswith(timing + ","))
        return 100 * table.number(row, "value")

    def _item_paces(self):
        """By kernel, ns a step of each recorded item of two CTAs an SM without a mask."""
        points = {
            row["run_id"]: row
            for row in table.read(str(self._measured / "calibration.csv"))
            if row["mask"] == "none" and row["ctas_per_sm"] == "2"
        }
        with lzma.open(self._measured / "calibration_items.csv.xz", "rt") as file:
            items = [row for row in csv.DictReader(file) if row["run_id"] in points]
        paces = {}
        for key, of_cta in table.grouped(items, "run_id", "repetition", "worker").items():
            row = points[key[0]]
            starts = sorted((int(item["start_ns"]), int(item["steps"])) for item in of_cta)
            kernel = int(row["head_dim"]), int(row["tile_q"]), int(row["tile_kv"])
            paces.setdefault(kernel, []).extend(
                (after - at) / steps for (at, steps), (after, _) in zip(starts, starts[1:])
            )
        return paces

    def sharing(self):
        """A row a kernel with two CTAs an SM: how much longer than the fastest tenth items take."""
        lines = [
            "| kernel | a step of the fastest tenth | median item | slowest | over 2 % longer |",
            "|---|---|---|---|---|",
        ]
        for (d, q, kv), paces in sorted(self._item_paces().items()):
            fast = measures.quantile(paces, 0.1)
            longer = [100 * (pace / fast - 1) for pace in paces]
            much = 100 * sum(percent > 2 for percent in longer) / len(longer)
            lines.append(
                f"| D = {d}, {q} x {kv} | {fast:.0f} ns | +{statistics.median(longer):.1f} % | "
                f"+{max(longer):.0f} % | {much:.0f} % of the items |"
            )
        return "\n".join(lines)

    def _time(self, source, **wanted):
        """The shortest median duration of the schedules, ms."""
        groups = table.grouped(table.where(source, **wanted), "launch", "scan")
        return min(
            statistics.median(table.numbers(rows, "time_us")) / 1000 for rows in groups.values()
        )

    def times_of(self, d, mask):
        """Atomic and ordered, ms: measured, then predicted."""
        return [
            tuple(self._time(source, head_dim=d, mask=mask, dq=dq) for dq in ("atomic", "ordered"))
            for source in (self._ordered, self._rows["ordered"])
        ]

    def price_of_order(self):
        """A row a kernel and mask: atomic and ordered, measured and predicted, and the price of order."""
        lines = [
            "| | atomic, measured | predicted | ordered, measured | predicted | price, measured | predicted |",
            "|---" * 7 + "|",
        ]
        for d in (128, 64):
            for mask in ("causal", "none"):
                times = self.times_of(d, mask)
                cells = [f"{ms:.2f} ms" for pair in zip(*times) for ms in pair]
                cells += [f"{100 * (ordered / atomic - 1):.0f} %" for atomic, ordered in times]
                lines.append(f"| D = {d}, {mask} | " + " | ".join(cells) + " |")
        return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(fill.study(HERE, Page(HERE / "results")))
