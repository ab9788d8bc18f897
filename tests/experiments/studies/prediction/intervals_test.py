#!/usr/bin/env python3
"""experiments/studies/prediction/intervals.py on tables whose widths can be had by hand."""

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
    os.path.join(ROOT, "experiments", "studies", "prediction"),
]
import intervals  # noqa: E402
import table  # noqa: E402


def row(value, mask="none", q_order="ascending", section="1", cold=None):
    """All columns have `value`; it is all compulsory unless `cold` says less."""
    known = dict.fromkeys(intervals.COLUMNS, str(value))
    cold = value if cold is None else cold
    return known | {
        "mask": mask,
        "q_order": q_order,
        "section": section,
        "cold_read_sectors": str(cold),
    }


def rows(values, **keys):
    """{point: its one row}, a point a value."""
    return {(str(place),): [row(value, **keys)] for place, value in enumerate(values)}


class Kinds(unittest.TestCase):
    def test_are_by_reads_beyond_compulsory_mask_and_order(self):
        for kind, made in (
            ("within", row(150, cold=100, mask="causal")),
            ("in_step", row(151, cold=100)),
            ("apart", row(151, cold=100, section="2")),
            ("apart", row(151, cold=100, mask="causal", q_order="descending")),
            ("drifting", row(151, cold=100, mask="window:64")),
        ):
            self.assertEqual(intervals.kind_of(made), kind)

    def test_of_durations_are_by_their_length(self):
        for kind, duration in (
            ("brief", 199),
            ("usual", 200),
            ("usual", 9_999),
            ("sustained", 10_000),
            ("limited", 30_000),
        ):
            self.assertEqual(intervals.duration_kind_of(row(duration)), kind)
        measured = rows([220, 11_000])
        files = [rows([200, 10_000])] * 2
        widths, _, _ = intervals.width_of("time_us", measured, files)
        self.assertEqual(widths[0], 0)
        self.assertAlmostEqual(widths[1], math.log(1.1))
        self.assertAlmostEqual(widths[2], math.log(1.1))

    def test_launches_that_differ_by_a_twentieth_disagree(self):
        self.assertTrue(intervals.launches_agree([row(100), row(104)]))
        self.assertFalse(intervals.launches_agree([row(100), row(106)]))


class Widths(unittest.TestCase):
    def test_of_one_launch_is_the_mark_that_nine_of_ten_errors_of_a_kind_keep(self):
        errors = range(1, 11)
        measured = rows(100 * math.exp(error / 100) for error in errors)
        for kind, keys in (("within", {}), ("in_step", {"cold": 10})):
            files = [rows([100] * 10, **keys)] * 2
            kinds, floor, factor = intervals.width_of("dram_write_sectors", measured, files)
            one = kinds[intervals.KINDS.index(kind)]
            self.assertAlmostEqual(one, 0.09)
            # No spread: whatever the floor, factor x floor is that mark.
            self.assertAlmostEqual(factor * floor, 0.09)

    def test_of_drifting_points_is_that_of_launches_that_disagree(self):
        agree = [[row(100 * math.exp(0.01))] for _ in range(50)]
        disagree = [[row(150), row(200), row(300)] for _ in range(2)]
        measured = {(str(place),): found for place, found in enumerate(agree + disagree)}
        files = [rows([100] * 52, mask="causal", cold=10)] * 2
        kinds, _, _ = intervals.width_of("dram_write_sectors", measured, files)
        self.assertAlmostEqual(kinds[intervals.KINDS.index("drifting")], math.log(2))

    def test_errors_that_grow_with_the_spread_need_no_floor(self):
        # Each point is off by twice the standard deviation of its two launches.
        spreads = [0.01 * place for place in range(1, 11)]
        low, high = (
            rows(100 * math.exp(sign * spread / math.sqrt(2)) for spread in spreads)
            for sign in (-1, 1)
        )
        # The lower launch is the one that stands for both.
        measured = rows(100 * math.exp(-spread / math.sqrt(2) + 2 * spread) for spread in spreads)
        _, floor, factor = intervals.width_of("dram_write_sectors", measured, [low, high])
        self.assertEqual(floor, min(intervals.FLOORS))
        self.assertAlmostEqual(factor, 2, delta=0.001)

    def test_a_point_without_a_value_says_nothing(self):
        found = list(intervals.forecasts("time_us", rows([5, 0, ""], cold=5), [rows([5, 5, 5])]))
        self.assertEqual(found, [("brief", True, 0, 0)])
        self.assertEqual(list(intervals.forecasts("time_us", rows([5]), [rows([0])])), [])

    def test_a_single_table_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            told = io.StringIO()
            path = os.path.join(folder, "rows.csv")
            with contextlib.redirect_stderr(told):
                self.assertEqual(intervals.main(["--measured", path, "--predicted", path]), 2)
            self.assertIn("at least two tables", told.getvalue())


if __name__ == "__main__":
    unittest.main()
