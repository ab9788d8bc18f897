#!/usr/bin/env python3
"""order_check.py finds the schedule of steps that are written down here, and says where it is another one."""

import contextlib
import csv
import io
import lzma
import pathlib
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)

import support  # the folder of this file comes first on the path

import order_check


def steps_of(scan, turns):
    """Two CTAs, static, on one head of 8 Q tiles and 6 K/V tiles; each odd item backwards if it `turns`."""
    for cta in range(2):
        for place, item in enumerate(range(cta, 8, 2)):
            tiles = range(6) if not turns or place % 2 == 0 else reversed(range(6))
            for step, tile in enumerate(tiles):
                launch = ("mine", "none", "static", 1, "ascending", scan, 8)
                yield (*launch, cta, item, tile, cta, 1000 * (6 * place + step))


class OrderCheck(unittest.TestCase):
    def checked(self, steps):
        """How many are not found, and what is printed."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "steps.csv.xz"
            with lzma.open(path, "wt", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([order_check.KEYS + order_check.STAMPS, *steps])
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                failed = order_check.check(path, PROGRAM)
        return failed, output.getvalue()

    def test_two_schedules_are_found_launch_by_launch(self):
        failed, said = self.checked([*steps_of("linear", False), *steps_of("sawtooth", True)])
        self.assertEqual(failed, 0, said)
        self.assertIn("2 launches: 2 found", said)

    def test_all_recorded_launches_of_an_h200_are_found(self):
        recorded = pathlib.Path(support.ROOT) / "experiments/data/h200/record/steps.csv.xz"
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            failed = order_check.check(recorded, PROGRAM)
        self.assertEqual(failed, 0, output.getvalue())
        self.assertIn("58 launches: 58 found", output.getvalue())

    def test_lost_order_is_not_found(self):
        steps = [list(step) for step in steps_of("linear", False)]
        times = [step[-1] for step in steps]
        for number, step in enumerate(steps):  # 48 and 29 have no common factor
            step[-1] = times[29 * number % 48] + number
        failed, said = self.checked(steps)
        self.assertEqual(failed, 1, said)
        self.assertIn("NOT FOUND mine none static 1 ascending linear", said)


if __name__ == "__main__":
    unittest.main()
