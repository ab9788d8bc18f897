#!/usr/bin/env python3
"""experiments/studies/validation/intervals.py on tables whose widths can be had by hand."""

import contextlib
import io
import math
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, *[".."] * 4)
sys.path[:0] = [
    os.path.join(ROOT, "plots", "lib"),
    os.path.join(ROOT, "experiments", "studies", "validation"),
]
import intervals  # noqa: E402
import table  # noqa: E402


def rows(values):
    """{point: its one row}, a point a value, which all columns have."""
    return {
        (str(place),): [dict.fromkeys(intervals.COLUMNS, str(value))]
        for place, value in enumerate(values)
    }


class Widths(unittest.TestCase):
    def test_of_one_launch_is_the_mark_that_nine_of_ten_errors_keep(self):
        measured = rows(100 * math.exp(error / 100) for error in range(1, 11))
        files = [rows([100] * 10)] * 2
        one, floor, factor = intervals.width_of("time_us", measured, files)
        self.assertAlmostEqual(one, 0.09)
        # No spread: whatever the floor, factor x floor is that mark.
        self.assertAlmostEqual(factor * floor, 0.09)

    def test_errors_that_grow_with_the_spread_need_no_floor(self):
        # Each point is off by twice the standard deviation of its two launches.
        spreads = [0.01 * place for place in range(1, 11)]
        low, high = (
            rows(100 * math.exp(sign * spread / math.sqrt(2)) for spread in spreads)
            for sign in (-1, 1)
        )
        # The lower launch is the one that stands for both.
        measured = rows(100 * math.exp(-spread / math.sqrt(2) + 2 * spread) for spread in spreads)
        _, floor, factor = intervals.width_of("time_us", measured, [low, high])
        self.assertEqual(floor, min(intervals.FLOORS))
        self.assertAlmostEqual(factor, 2, delta=0.001)

    def test_a_point_without_a_value_says_nothing(self):
        found = list(intervals.forecasts("time_us", rows([5, 0, ""]), [rows([5, 5, 5])]))
        self.assertEqual(found, [(0, 0)])
        self.assertEqual(list(intervals.forecasts("time_us", rows([5]), [rows([0])])), [])

    def test_a_single_table_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            told = io.StringIO()
            path = os.path.join(folder, "rows.csv")
            with contextlib.redirect_stderr(told):
                self.assertEqual(intervals.main([path, path]), 2)
            self.assertIn("at least two tables", told.getvalue())


if __name__ == "__main__":
    unittest.main()
