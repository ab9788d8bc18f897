"""Drawn points, and those where K and V are read again: predicted and measured."""

import statistics

import table
from figures import amounts
from figures.rows import Rows

LATER = ("costs with pages, made later", "drawn_pages")
POINT = "batch heads kv_heads seq_q seq_kv head_dim mask lengths page_rows page_table".split()

PROBLEM = "batch heads kv_heads seq_q seq_kv head_dim mask prefix prefix_group".split()
WAY = "kernel pack_gqa page_rows page_table".split()


def packs(row):
    return row["pack_gqa"] == "on"


class DrawnPoints(Rows):
    """Errors of predictions of drawn points."""

    def judged(self, name, column):
        """Errors of the predictions `name` of the drawn points, in percent, raw."""
        measured = table.grouped(self._measured("drawn"), *POINT)
        errors = []
        for row in self._rows(name):
            (launch,) = measured[table.cells(row, POINT)]
            errors.append(100 * (table.number(row, column) / table.number(launch, column) - 1))
        return errors

    def off(self, column, with_pages):
        """Median amount of errors with the first costs of its own, of points with or without pages."""
        points = self._rows("drawn_costs")
        errors = self.judged("drawn_costs", column)
        return statistics.median(
            abs(error)
            for error, row in zip(errors, points)
            if (row["page_rows"] != "") == with_pages
        )

    def drawn(self):
        lines = [
            "| predicted with | DRAM reads, median | 90 % | worst | time, median | 90 % | worst |",
            "|---" * 7 + "|",
        ]
        for words, name in (
            ("steps of kernels/mma", "drawn"),
            ("costs of its own", "drawn_costs"),
            LATER,
        ):
            cells = []
            for column in ("dram_read_sectors", "time_us"):
                cells += amounts.median_tenth_worst(map(abs, self.judged(name, column)))
            lines.append(f"| {words} | " + " | ".join(f"{cell:.2f} %" for cell in cells) + " |")
        return "\n".join(lines)

    def reuse(self):
        """{kind: [(predicted, measured)]} of the points where K and V are read again."""
        launches = table.grouped(self._measured("drawn_reuse"), *PROBLEM, *WAY)
        kinds = {"tokens": [], "prefix": [], "pairs": []}
        alone = {table.cells(row, PROBLEM) for row in self._rows("drawn_reuse") if not packs(row)}
        for row in self._rows("drawn_reuse"):
            found = launches.get(table.cells(row, PROBLEM + WAY))
            if found is None:
                continue
            paired = table.cells(row, PROBLEM) in alone
            kind = "prefix" if row["prefix"] else "pairs" if paired else "tokens"
            kinds[kind].append((row, found[0]))
        return kinds

    def reuse_errors(self):
        kinds = self.reuse()
        kinds["all"] = sum(kinds.values(), [])
        return amounts.lines("kind", kinds)

    def better(self, column="time_us", least=5):
        """Pairs whose measured values differ by more than so many percent, and of how many of them the
        lower one is named."""
        pairs = {}
        for row, launch in self.reuse()["pairs"]:
            values = table.number(row, column), table.number(launch, column)
            pairs.setdefault(table.cells(row, PROBLEM), {})[packs(row)] = values
        differ = right = 0
        for of in pairs.values():
            if len(of) < 2:
                continue
            (named, packed), (other, alone) = of[True], of[False]
            if max(packed, alone) / min(packed, alone) <= 1 + least / 100:
                continue
            differ += 1
            right += (named < other) == (packed < alone)
        return differ, right
