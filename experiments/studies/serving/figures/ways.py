"""Problems in two ways each: which is named, and by how much predictions are off."""

import statistics

import table
from figures import amounts
from figures.drawn_points import PROBLEM, packs
from figures.rows import Rows


class Ways(Rows):
    """Of the drawn lists of two ways."""

    def ways(self, kind, of_list="drawn_ways"):
        """[(first way, second way)] of the problems in two ways, each (predicted, measured): cascade
        (without it, with it), pack (packed, not packed)."""
        keys = PROBLEM + ["lengths", "page_table"]
        measured = table.read(str(self._ways / f"{of_list}.csv"))
        launches = table.grouped(measured, *keys, "pack_gqa", "cascade")
        found = []
        for of in table.grouped(self._rows(of_list), *keys).values():
            if len(of) != 2 or (kind == "cascade") != bool(of[0]["prefix"]):
                continue
            second = lambda row: row["cascade"] == "on" or not packs(row)
            pair = []
            for row in sorted(of, key=second):
                (launch,) = launches[table.cells(row, keys + ["pack_gqa", "cascade"])]
                pair.append((row, launch))
            found.append(tuple(pair))
        return found

    def named(self, kind, column="time_us", least=5, of_list="drawn_ways"):
        """Of the problems whose measured ways differ by more than so many percent how many there are,
        and of how many the lower one is named."""
        differ = right = 0
        for (row, launch), (other_row, other) in self.ways(kind, of_list):
            values = table.number(launch, column), table.number(other, column)
            if max(values) / min(values) <= 1 + least / 100:
                continue
            differ += 1
            named = table.number(row, column) < table.number(other_row, column)
            right += named == (values[0] < values[1])
        return differ, right

    def gained(self, kind, of_list="drawn_ways"):
        """Measured times of the first way over those of the second, least, median, most."""
        ratios = [
            table.number(first, "time_us") / table.number(second, "time_us")
            for (_, first), (_, second) in self.ways(kind, of_list)
        ]
        return min(ratios), statistics.median(ratios), max(ratios)

    def way_errors(self, of_list="drawn_ways"):
        """Amounts of errors of all drawn ways, raw."""
        kinds = {}
        for kind, names in (("cascade", ("plain", "cascade")), ("pack", ("packed", "not packed"))):
            for place, name in enumerate(names):
                kinds[name] = [pair[place] for pair in self.ways(kind, of_list)]
        return amounts.lines("ways", kinds)
