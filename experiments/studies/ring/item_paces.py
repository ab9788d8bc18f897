#!/usr/bin/env python3
"""How fast items of a ring's later steps are: `item_paces.py experiments/data/h100/ring/later_items.csv.xz`.

Rows are items of launches of one GPU that add to earlier results (second_steps.cpp). An item's pace is its time over the
median of those that begin next to it in time, a worker's first and last item left out. One that is over 1 % faster is
staggered. Prints, for each tile, the launches and what its section of a file of kernel costs has.
"""

import collections
import csv
import lzma
import statistics
import sys

STAGGERED = -0.01  # without adding the paces of a launch at D = 64 are within 0.5 %
NEIGHBOURS = 66  # to each side: one item of each SM
LEAST_PACE = -0.1  # items of void tiles and of a launch's end


def launches(path):
    """{(tile, problem, mode, launch, finishes): {worker: sorted starts}}."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    opened = lzma.open(path, "rt") if path.endswith(".xz") else open(path, encoding="utf-8")
    with opened as file:
        for row in csv.DictReader(file):
            key = (row["tile"], row["problem"], row["mode"], row["launch"], row["finishes"])
            found[key][int(row["worker"])].append(int(row["start_ns"]))
    for workers in found.values():
        for starts in workers.values():
            starts.sort()
    return found


def paces(workers):
    """{(worker, number of its item): share by which it is slower than the items beside it}."""
    items = sorted(
        (starts[i], starts[i + 1] - starts[i], worker, i)
        for worker, starts in workers.items()
        for i in range(1, len(starts) - 1)
    )
    found = {}
    for at, (_, time_ns, worker, i) in enumerate(items):
        beside = [item[1] for item in items[max(0, at - NEIGHBOURS) : at + NEIGHBOURS + 1]]
        pace = time_ns / statistics.median(beside) - 1
        if pace > LEAST_PACE:
            found[worker, i] = pace
    return found


class Counts:
    """Staggered items behind such that are not, and behind such that are; and their gains."""

    def __init__(self):
        self.behind = {False: [0, 0], True: [0, 0]}  # not staggered, staggered
        self.gains = []

    def add(self, found):
        for (worker, i), pace in found.items():
            if pace < STAGGERED:
                self.gains.append(-pace)
            if (worker, i - 1) in found:
                self.behind[found[worker, i - 1] < STAGGERED][pace < STAGGERED] += 1

    def share(self, before):
        other, staggered = self.behind[before]
        return staggered / (other + staggered) if other + staggered else 0

    def text(self):
        return (
            f"{self.share(False):.3f} kept {self.share(True):.3f} gain {statistics.mean(self.gains):.4f} "
            f"spread {statistics.pstdev(self.gains):.4f}"
        )


def main():
    tiles = collections.defaultdict(Counts)
    finishing = collections.defaultdict(Counts)
    adding = collections.defaultdict(Counts)
    for key, workers in launches(sys.argv[1]).items():
        tile, *_, finishes = key
        found = paces(workers)
        one = Counts()
        one.add(found)
        print(" ".join(key), one.text())
        for counts in (tiles[tile], (finishing if finishes == "1" else adding)[tile]):
            counts.add(found)
    for tile, counts in tiles.items():
        print(
            f"\n[{tile}]\nstaggered-share = {adding[tile].share(False):.3f}\n"
            f"staggered-finish-share = {finishing[tile].share(False):.3f}\n"
            f"staggered-kept-share = {counts.share(True):.2f}\n"
            f"staggered-gain = {statistics.mean(counts.gains):.4f}\n"
            f"staggered-gain-spread = {statistics.pstdev(counts.gains):.4f}"
        )


if __name__ == "__main__":
    main()
