#!/usr/bin/env python3
"""The figures of README.md, from the predicted rows of this study.

    finding.py [--check]     fills README.md, or says whether it is current
"""

import functools
import math
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[2] / "plots" / "lib"))
sys.path.append(str(HERE))
import fill  # noqa: E402  (the paths above lead to them)
import table  # noqa: E402
import varlen  # noqa: E402

MEASURED = HERE.parents[1] / "data" / "h200" / "serving"
WAYS = HERE.parents[1] / "data" / "h100" / "serving"  # of the problems in two ways
SEQUENCES = ("16", "128")
ORDERS = ("batch-major", "head-major")
MIB = (32, 64, 128, 256, 512, 1024)
SPLITS = ("1", "2", "4", "8", "16", "32", "auto")
PREFIXES = ("4096", "16384", "65536")
PAGES = ("", "16", "64", "256")
TRIED = (
    ("1 x 32K", 1, 32768),
    ("16 x 8K", 16, 8192),
    ("8 x 32K", 8, 32768),
    ("32 x 16K", 32, 16384),
)
TRIED += (("128 x 8K", 128, 8192),)
ONE = dict(ctas_per_sm=1)
BUILDS = (
    (
        "before: 64 keys, 6 stages, misses of 256 bytes",
        dict(ONE, kernel="mma-tma before", key_blocks=1, stages=6, miss_bytes=256),
    ),
    ("the same with misses of 128", dict(ONE, key_blocks=1, stages=6)),
    ("4 stages", dict(ONE, key_blocks=1, stages=4)),
    ("3 stages", dict(ONE, key_blocks=1, stages=3)),
    ("2 stages", dict(ONE, key_blocks=1, stages=2)),
    ("2 stages, two CTAs an SM", dict(key_blocks=1, stages=2, ctas_per_sm=2)),
    ("128 keys, 2 stages", dict(ONE, key_blocks=2, stages=2)),
    ("the same, evicted first", dict(ONE, key_blocks=2, stages=2, kv_eviction="first")),
)
LATER = ("costs with pages, made later", "drawn_pages")
POINT = "batch heads kv_heads seq_q seq_kv head_dim mask lengths page_rows page_table".split()


PROBLEM = "batch heads kv_heads seq_q seq_kv head_dim mask prefix prefix_group".split()
WAY = "kernel pack_gqa page_rows page_table".split()


def packs(row):
    return row["pack_gqa"] == "on"


def kv_mib(row):
    """Bytes of K and V of all sequences, 2 x 2 bytes an element."""
    of = lambda column: table.integer(row, column)
    return of("batch") * of("kv_heads") * of("seq_kv") * of("head_dim") * 4 >> 20


def kv_of_shape(row):
    """Of 8 K/V heads and D = 128, in order of size, then of batches."""
    return table.integer(row, "batch") * table.integer(row, "keys"), table.integer(row, "batch")


def mib_of_shape(shape):
    """K and V of 8 heads of 128 elements of 2 bytes."""
    return int(shape[0]) * int(shape[1]) >> 8


def gain(rows, column, **wanted):
    """A column without packing over that with it."""
    off = table.only(rows, pack_gqa="", **wanted)
    on = table.only(rows, pack_gqa="on", **wanted)
    return table.number(off, column) / table.number(on, column)


class Page:
    def __init__(self, folder, measured=MEASURED, ways=WAYS):
        self._folder = folder
        self._data = measured
        self._ways = ways

    @functools.cache
    def _rows(self, name):
        return table.read(str(self._folder / f"{name}.csv"))

    @functools.cache
    def _measured(self, name):
        return table.read(str(self._data / f"{name}.csv"))

    def gain(self, mib, column, timing="lockstep", **wanted):
        rows = [row for row in self._rows("decode") if kv_mib(row) == mib]
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

    def splits(self):
        """A row a batch: time of each number of parts over that of equal shares."""
        lines = ["| K and V | " + " | ".join(SPLITS[:-1]) + " |", "|---" * len(SPLITS) + "|"]
        seen = []
        for row in self._rows("splits"):
            of = (row["batch"], row["lengths"])
            if of in seen:
                continue
            seen.append(of)
            times = {
                split: table.number(
                    table.only(self._rows("splits"), batch=of[0], lengths=of[1], kv_split=split),
                    "time_us",
                )
                for split in SPLITS
            }
            name = f"{of[0]} x 32K" if not of[1] else f"{of[0]}, drawn, seed {of[1][-1]}"
            cells = [f"{times[split] / times['auto']:.2f}" for split in SPLITS[:-1]]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def cascade_of(self, column, timing, split, batch, prefix):
        """Without cascade, and with it, in units of compulsory reads (or as they are)."""
        rows = [
            table.only(
                self._rows("cascade"),
                timing=timing,
                kv_split=split,
                batch=batch,
                prefix=prefix,
                cascade=cascade,
            )
            for cascade in ("", "on")
        ]
        if column == "time_us":
            return [table.number(row, column) for row in rows]
        return [table.number(row, column) / table.number(row, "cold_read_sectors") for row in rows]

    def cascades(self):
        """DRAM reads over compulsory ones, and time, plain and cascade."""
        lines = [
            "| sequences, prefix | items: DRAM plain | cascade | time ratio | shares: DRAM plain "
            "| cascade | time ratio |",
            "|---" * 7 + "|",
        ]
        for batch in ("16", "64"):
            for prefix in PREFIXES:
                cells = []
                for split in ("1", "auto"):
                    reads = self.cascade_of("dram_read_sectors", "timed", split, batch, prefix)
                    plain, cascade = self.cascade_of("time_us", "timed", split, batch, prefix)
                    cells += [f"{read:.2f}" for read in reads] + [f"{plain / cascade:.2f}"]
                lines.append(f"| {batch}, {int(prefix) >> 10}K | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def pages(self):
        """A row a length that is read again, eight heads of D = 128: change of DRAM reads."""
        heads = [f"{rows} {order}" for rows in PAGES[1:] for order in ("in order", "shuffled")]
        lines = ["| K and V | contiguous, over compulsory | " + " | ".join(heads) + " |"]
        lines.append("|---" * (len(heads) + 2) + "|")
        reused = [row for row in self._rows("pages") if row["seq_q"] == "4096"]
        for row in table.where(reused, page_rows=""):
            base = table.number(row, "dram_read_sectors") / table.number(row, "cold_read_sectors")
            cells = []
            for rows in PAGES[1:]:
                for order in ("identity", "shuffle:1"):
                    other = table.only(
                        reused, seq_kv=row["seq_kv"], page_rows=rows, page_table=order
                    )
                    change = table.number(other, "dram_read_sectors") / table.number(
                        row, "dram_read_sectors"
                    )
                    cells.append(f"{100 * (change - 1):+.1f} %")
            lines.append(f"| {kv_mib(row)} MiB | {base:.2f} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def rate(self, kernel, batch, keys, options=""):
        """GB of K and V a second."""
        shape = dict(part="shapes", kernel=kernel, options=options, batch=batch, keys=keys)
        return table.number(table.only(self._measured("decode_ahead"), **shape), "gb_s")

    def shapes(self):
        rows = table.where(self._measured("decode_ahead"), part="shapes", kernel="cudnn")
        return [(row["batch"], row["keys"]) for row in sorted(rows, key=kv_of_shape)]

    def of_cudnn(self, family="mma-tma"):
        """Speed over that of cuDNN, of each shape."""
        return [
            self.rate("sawtooth", *shape, f"family={family}") / self.rate("cudnn", *shape)
            for shape in self.shapes()
        ]

    def ahead(self, tiles, run="launch after launch", peer="cudnn", low=0, high=1 << 20):
        """Speed over a peer's of mma-tma whose CTAs ask for so many tiles ahead (None: as before that),
        at each shape with so many MiB of K and V."""
        rows = table.where(self._measured("ahead"), run=run, part="shapes")
        build = dict(build="before") if tiles is None else dict(build="after", tiles_ahead=tiles)
        shapes = table.grouped(rows, "batch", "keys")
        return [
            statistics.median(table.numbers(table.where(of, **build), "gb_s"))
            / table.number(table.only(of, kernel=peer), "gb_s")
            for shape, of in shapes.items()
            if low <= mib_of_shape(shape) <= high
        ]

    def of_copy(self, low, high=1 << 20):
        """Bytes of K and V a second over those of the copy, of shapes with so many MiB."""
        return [
            self.rate("sawtooth", *shape, "family=mma-tma") / self.rate("copy", *shape)
            for shape in self.shapes()
            if low <= mib_of_shape(shape) <= high
        ]

    def mixed_of_copy(self):
        rows = table.where(self._measured("decode_ahead"), part="lengths", kernel="copy")
        return self.mixed() / table.number(table.only(rows), "gb_s")

    def at_once(self):
        """Speed over cuDNN's in the second run of mma-tma that adds up all columns at once."""
        return self.of_build("all columns at once", first_ahead=0, tiles_ahead=3)

    def of_build(self, name, **shape):
        rows = table.where(
            self._measured("ahead"), run="launch after launch, second run", part="shapes"
        )
        own = dict(shape, build=name, options="family=mma-tma")
        return [
            table.number(table.only(of, **own), "gb_s")
            / table.number(table.only(of, kernel="cudnn"), "gb_s")
            for of in table.grouped(rows, "batch", "keys").values()
        ]

    def speeds(self):
        """A row a shape of 32 query and 8 K/V heads, D = 128."""
        heads = ("mma-tma", "mma", "cuDNN", "FlashAttention-2", "mma-tma / cuDNN")
        lines = ["| batch x keys | K and V | " + " | ".join(heads) + " |", "|---" * 7 + "|"]
        for shape in self.shapes():
            families = ("mma-tma", "mma")
            rates = [self.rate("sawtooth", *shape, f"family={name}") for name in families]
            rates += [self.rate(peer, *shape) for peer in ("cudnn", "flash")]
            cells = [f"{shape[0]} x {int(shape[1]) >> 10}K", f"{mib_of_shape(shape):,} MiB"]
            cells += [f"{rate:,.0f}" for rate in rates] + [f"{rates[0] / rates[2]:.3f}"]
            lines.append("| " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def paged(self, rows, family="mma-tma"):
        """Time with pages of so many rows over that without, less 1, in percent: least and most."""
        tried = table.where(
            self._measured("decode_ahead"),
            part="pages",
            kernel="sawtooth",
            options=f"family={family}",
        )
        (plain,) = table.numbers(table.where(tried, page_rows=""), "us")
        times = table.numbers(table.where(tried, page_rows=rows), "us")
        return [100 * (time / plain - 1) for time in (min(times), max(times))]

    def mixed(self):
        """GB of K and V a second with lengths of 1K to 64K."""
        rows = table.where(self._measured("decode_ahead"), part="lengths", options="family=mma-tma")
        return table.number(rows[0], "gb_s")

    def packed_rate(self, family, layout, **case):
        """TFLOP/s over packed sequences of mixed or equal lengths, or of equal ones not packed."""
        rows = table.where(self._measured("varlen"), family=family, layout=layout, **case)
        return table.number(table.only(rows), "tflop_s")

    def packed_errors(self):
        """Predicted over measured quotients of the times of mixed and equal lengths, less 1, in
        percent, amounts."""
        errors = []
        for case in self.packed_cases():
            for family in ("hopper", "mma"):
                of = dict(kernel=family, mask=case["mask"], head_dim=case["head_dim"])
                rows = self._rows("varlen")
                at = [i for i, row in enumerate(rows) if self._is_case(row, of, case)]
                mixed, equal = (table.number(rows[i], "time_us") for i in (at[0], at[0] + 1))
                times = [
                    table.number(
                        table.only(self._measured("varlen"), family=family, layout=layout, **case),
                        "us",
                    )
                    for layout in ("mixed", "equal")
                ]
                errors.append(abs(100 * (mixed / equal * times[1] / times[0] - 1)))
        return errors

    @staticmethod
    def _is_case(row, of, case):
        return all(row[key] == value for key, value in of.items()) and (
            row["lengths"] == "+".join(map(str, varlen.lengths_of(case["lengths"])))
        )

    def packed_counted(self, column):
        """Amounts of errors of single launches over packed sequences, raw, in percent."""
        keys = ("kernel", "mask", "head_dim", "lengths")
        predicted = {table.cells(row, keys): row for row in self._rows("varlen")}
        return self.amounts(
            [(predicted[table.cells(row, keys)], row) for row in self._measured("varlen_counted")],
            column,
        )

    def packed_cases(self):
        keys = ("lengths", "mask", "head_dim")
        rows = table.where(self._measured("varlen"), family="hopper", layout="mixed")
        return [{key: row[key] for key in keys} for row in rows]

    def of_equal(self, family, layout="fixed"):
        """Speed a FLOP with mixed lengths over that with equal ones, of each case."""
        return [
            self.packed_rate(family, "mixed", **case) / self.packed_rate(family, layout, **case)
            for case in self.packed_cases()
        ]

    def packed_speeds(self):
        heads = ("lengths", "mask", "D", "hopper", "over equal", "mma", "over equal")
        heads += ("FlashAttention-2",)
        lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
        shares = zip(self.of_equal("hopper"), self.of_equal("mma"))
        for case, (hopper, mma) in zip(self.packed_cases(), shares):
            rates = [
                f"{self.packed_rate(family, 'mixed', **case):.0f}"
                for family in ("hopper", "mma", "flash")
            ]
            cells = [*case.values(), rates[0], f"{hopper:.3f}", rates[1], f"{mma:.3f}", rates[2]]
            lines.append("| " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def variant(self, batch, keys, **shape):
        """Speed of a build of mma-tma at head dim 128 over cuDNN's in the same run."""
        rows = table.where(self._measured("variants"), run=1, head_dim=128, batch=batch, keys=keys)
        plain = dict(miss_bytes=128, kv_eviction="normal", workers="", drawn_percent="")
        own = table.only(rows, **{"kernel": "mma-tma", **plain, **shape})
        return table.number(own, "gb_s") / table.number(table.only(rows, kernel="cudnn"), "gb_s")

    def variants(self):
        lines = ["| build | " + " | ".join(words for words, _, _ in TRIED) + " |"]
        lines.append("|---" * (len(TRIED) + 1) + "|")
        for words, shape in BUILDS:
            cells = [f"{self.variant(batch, keys, **shape):.3f}" for _, batch, keys in TRIED]
            lines.append(f"| {words} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def reading(self, by, miss_bytes, stages):
        """GB a second of 132 SMs that read 1 GiB in two streams each."""
        wanted = dict(by=by, chunk_bytes=16384, stages=stages, ctas_per_sm=1, mib=1023)
        wanted.update(pattern="two shares in turn", kv_eviction="normal", miss_bytes=miss_bytes)
        return table.number(table.only(self._measured("reading"), **wanted), "gb_s")

    def judged(self, name, column):
        """Errors of the predictions `name` of the drawn points, in percent, raw."""
        measured = table.grouped(self._measured("drawn"), *POINT)
        errors = []
        for row in self._rows(name):
            (launch,) = measured[table.cells(row, POINT)]
            errors.append(100 * (table.number(row, column) / table.number(launch, column) - 1))
        return errors

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
        heads = ("points", "DRAM reads, median", "90 %", "worst", "time, median", "90 %", "worst")
        lines = ["| kind | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
        kinds = self.reuse()
        kinds["all"] = sum(kinds.values(), [])
        for kind, points in kinds.items():
            lines.append(f"| {kind} | " + " | ".join(self._error_cells(points)) + " |")
        return "\n".join(lines)

    @staticmethod
    def amounts(points, column):
        """Of errors, raw, in percent."""
        return [
            abs(100 * (table.number(row, column) / table.number(launch, column) - 1))
            for row, launch in points
        ]

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

    def ways(self, kind):
        """[(first way, second way)] of the problems in two ways, each (predicted, measured): cascade
        (without it, with it), pack (packed, not packed)."""
        keys = PROBLEM + ["page_table"]
        measured = table.read(str(self._ways / "drawn_ways.csv"))
        launches = table.grouped(measured, *keys, "pack_gqa", "cascade")
        found = []
        for of in table.grouped(self._rows("drawn_ways"), *keys).values():
            if len(of) != 2 or (kind == "cascade") != bool(of[0]["prefix"]):
                continue
            second = lambda row: row["cascade"] == "on" or not packs(row)
            pair = []
            for row in sorted(of, key=second):
                (launch,) = launches[table.cells(row, keys + ["pack_gqa", "cascade"])]
                pair.append((row, launch))
            found.append(tuple(pair))
        return found

    def named(self, kind, column="time_us", least=5):
        """Of the problems whose measured ways differ by more than so many percent how many there are,
        and of how many the lower one is named."""
        differ = right = 0
        for (row, launch), (other_row, other) in self.ways(kind):
            values = table.number(launch, column), table.number(other, column)
            if max(values) / min(values) <= 1 + least / 100:
                continue
            differ += 1
            named = table.number(row, column) < table.number(other_row, column)
            right += named == (values[0] < values[1])
        return differ, right

    def gained(self, kind):
        """Measured times of the first way over those of the second, least, median, most."""
        ratios = [
            table.number(first, "time_us") / table.number(second, "time_us")
            for (_, first), (_, second) in self.ways(kind)
        ]
        return min(ratios), statistics.median(ratios), max(ratios)

    def way_errors(self):
        """Amounts of errors of all drawn ways, raw."""
        heads = ("points", "DRAM reads, median", "90 %", "worst", "time, median", "90 %", "worst")
        lines = ["| ways | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
        for kind, names in (("cascade", ("plain", "cascade")), ("pack", ("packed", "not packed"))):
            for place, name in enumerate(names):
                points = [pair[place] for pair in self.ways(kind)]
                lines.append(f"| {name} | " + " | ".join(self._error_cells(points)) + " |")
        return "\n".join(lines)

    def _error_cells(self, points):
        cells = [str(len(points))]
        for column in ("dram_read_sectors", "time_us"):
            amounts = sorted(self.amounts(points, column))
            tenth = amounts[math.ceil(0.9 * len(amounts)) - 1]
            figures = (statistics.median(amounts), tenth, amounts[-1])
            cells += [f"{figure:.1f} %" for figure in figures]
        return cells

    def off(self, column, with_pages):
        """Median amount of errors with the first costs of its own, of points with or without pages."""
        points = self._rows("drawn_costs")
        errors = self.judged("drawn_costs", column)
        return statistics.median(
            abs(error)
            for error, row in zip(errors, points)
            if (row["page_rows"] != "") == with_pages
        )

    mean = staticmethod(statistics.mean)
    median = staticmethod(statistics.median)

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
                amounts = sorted(map(abs, self.judged(name, column)))
                tenth = amounts[math.ceil(0.9 * len(amounts)) - 1]
                cells += [statistics.median(amounts), tenth, amounts[-1]]
            lines.append(f"| {words} | " + " | ".join(f"{cell:.2f} %" for cell in cells) + " |")
        return "\n".join(lines)

    def longest(self, column, launch):
        """Of five batches, `longest` over `given`, less 1, in percent: least, median, most."""
        changes = []
        for lengths in table.values(self._rows("lengths"), "lengths"):
            one, other = (
                table.only(
                    self._rows("lengths"), lengths=lengths, launch=launch, sequence_order=order
                )
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
