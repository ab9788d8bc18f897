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

    def judged_ways(self):
        """{words: (first way's name, second way's name, pairs)} of the lists that are judged."""
        packs_, cascades = ("packed", "not packed"), ("plain", "cascade")
        return {
            "first list, pack": (*packs_, self.ways("pack")),
            "second list, pack": (*packs_, self.ways("pack", "drawn_cascades")),
            "second list, cascade": (*cascades, self.ways("cascade", "drawn_cascades")),
            "the same, merged at once": (*cascades, self.ways("cascade", "drawn_cascades_at_once")),
        }

    def way_errors(self):
        """Amounts of errors of all drawn ways, raw."""
        kinds = {}
        for words, (first, second, pairs) in self.judged_ways().items():
            kinds[f"{words}: {first}"] = [pair[0] for pair in pairs]
            kinds[f"{words}: {second}"] = [pair[1] for pair in pairs]
        return amounts.lines("ways", kinds)

    def way_list_errors(self):
        """Of the second list as it was drawn, one figure each: points, medians and 90 % as in a row."""
        pairs = self.ways("pack", "drawn_cascades") + self.ways("cascade", "drawn_cascades_at_once")
        return amounts.lines("second list", {"all": [of for pair in pairs for of in pair]})

    def not_packed_errors(self, head_dim, of_list="drawn_cascades"):
        """Median and worst amount of errors of time of problems that are not packed."""
        pairs = [pair for pair in self.ways("pack", of_list) if pair[1][0]["head_dim"] == head_dim]
        errors = amounts.amounts([pair[1] for pair in pairs], "time_us")
        return statistics.median(errors), max(errors)

    def merged_at_once(self):
        """Times of cascades merged one by one over those merged at once: least, median, most."""
        before = self.ways("cascade", "drawn_cascades")
        after = self.ways("cascade", "drawn_cascades_at_once")
        ratios = [
            table.number(one[1][1], "time_us") / table.number(other[1][1], "time_us")
            for one, other in zip(before, after, strict=True)
        ]
        return min(ratios), statistics.median(ratios), max(ratios)
