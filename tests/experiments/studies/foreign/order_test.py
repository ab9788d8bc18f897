"""`sawtooth order` finds the schedules behind steps that kernels wrote down on an H200."""

import collections
import csv
import lzma
import re
import unittest

from in_folder import ROOT, InFolder  # noqa: E402  (the path above leads to it)

RECORDED = ROOT / "experiments/data/h200/record/steps.csv.xz"
SCHEDULE = ("launch", "section", "q_order", "scan")
LAUNCH = ("kernel", "mask", *SCHEDULE, "q_tiles")
STAMPS = ("cta", "item", "tile", "sm", "time_ns")
ALL = 99.95  # per cent, as printed with one digit: another name describes the same order


class Order(InFolder):
    def found(self, q_tiles, steps):
        """launch, section, q_order, scan as printed; the shares of items and steps in their places."""
        with open(self.folder / "stamps.csv", "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([STAMPS, *steps])
        printed = self.program("order", "stamps.csv", "--q-tiles", q_tiles, code=0).stdout
        found = dict(re.findall(r"^([a-z-]+) = ([\w-]+)", printed, re.MULTILINE))
        shares = (
            float((re.findall(rf"{what}: ([\d.]+) %", printed) or ["0"])[0])
            for what in ("items in place", "steps in order")
        )
        return tuple(found.get(key.replace("_", "-"), "") for key in SCHEDULE), *shares

    def test_all_recorded_launches_are_found(self):
        launches = collections.defaultdict(list)
        with lzma.open(RECORDED, "rt", encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                key = tuple(row[column] for column in LAUNCH)
                launches[key].append([row[column] for column in STAMPS])
        self.assertEqual(len(launches), 58)
        renamed = 0
        for launch, steps in launches.items():
            with self.subTest(launch):
                wanted = launch[2:6]
                schedule, in_place, in_order = self.found(launch[-1], steps)
                self.assertTrue(schedule[:3] == wanted[:3] or in_place >= ALL, schedule)
                self.assertTrue(schedule[3] == wanted[3] or in_order >= ALL, schedule)
                renamed += schedule != wanted
        self.assertEqual(renamed, 8)

    def test_lost_order_is_not_found(self):
        steps = []
        for place, cta, tile in ((p, c, t) for p in range(4) for c in range(2) for t in range(6)):
            number = len(steps)  # 48 and 29 have no common factor
            steps.append((cta, 2 * place + cta, tile, cta, 1000 * (29 * number % 48) + number))
        _, _, in_order = self.found("8", steps)
        self.assertLess(in_order, ALL)


if __name__ == "__main__":
    unittest.main()
