"""What the lists of this study predict: packing, parts, prefixes, pages and orders."""

import statistics

import table
from figures.rows import Rows

SEQUENCES = ("16", "128")
ORDERS = ("batch-major", "head-major")
MIB = (32, 64, 128, 256, 512, 1024)
SPLITS = ("1", "2", "4", "8", "16", "32", "auto")
PREFIXES = ("4096", "16384", "65536")
PAGES = ("", "16", "64", "256")


def kv_mib(row):
    """Bytes of K and V of all sequences, 2 x 2 bytes an element."""
    of = lambda column: table.integer(row, column)
    return of("batch") * of("kv_heads") * of("seq_kv") * of("head_dim") * 4 >> 20


def gain(rows, column, **wanted):
    """A column without packing over that with it."""
    off = table.only(rows, pack_gqa="", **wanted)
    on = table.only(rows, pack_gqa="on", **wanted)
    return table.number(off, column) / table.number(on, column)


class Predicted(Rows):
    """Figures of predictions alone."""

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
