#!/usr/bin/env python3
"""experiments/studies/validation/goals.py on points whose figures can be had by hand."""

import os
import sys
import unittest
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, *[".."] * 4)
sys.path[:0] = [
    os.path.join(ROOT, "plots", "lib"),
    os.path.join(ROOT, "experiments", "studies", "validation"),
]
import goals  # noqa: E402
import intervals  # noqa: E402


def predicted(reads, half_width, kernel="mma", prefetch="0"):
    row = {"kernel": kernel, "prefetch": prefetch, "cold_read_sectors": "10", "gpu": "none"}
    for column in intervals.COLUMNS:
        low, high = reads * (1 - half_width), reads * (1 + half_width)
        row |= {column: str(reads), f"{column}_low": str(low), f"{column}_high": str(high)}
    return row


def measured(reads, near=0, fabric=0, misses=0):
    row = dict.fromkeys(intervals.COLUMNS, str(reads))
    return row | {goals.NEAR: str(near), goals.FABRIC: str(fabric), goals.MISSES: str(misses)}


class Goals(unittest.TestCase):
    def test_a_point_is_covered_by_its_median_launch(self):
        found = [
            (predicted(100, 0.1), [measured(90), measured(109), measured(300)], True, False),
            (predicted(100, 0.1), [measured(111)] * 3, True, True),
        ]
        reads = next(one for one in goals.coverage(found) if one[0] == intervals.CHOSEN)
        self.assertEqual(reads[1:3], (2, 0.5))
        self.assertAlmostEqual(reads[3], 0.1)
        self.assertEqual(reads[4:], (1, 1))

    def test_errors_are_of_points_whose_launches_agree(self):
        found = [(predicted(90, 0), [measured(100)], True, True)]
        found.append((predicted(50, 0), [measured(100)], True, False))
        found.append((predicted(50, 0), [measured(100)], False, True))
        column, points, median, ninety, worst = next(goals.agreeing(found))
        self.assertEqual((column, points), (intervals.CHOSEN, 1))
        for error in (median, ninety, worst):
            self.assertAlmostEqual(error, 0.1)

    def test_a_fabric_miss_counts_twice_where_tiles_come_by_tma(self):
        rows = [measured(100, near=120, fabric=80, misses=30)]
        twice = [(predicted(1, 0, kernel="hopper"), rows, True, True)]
        once = [(predicted(1, 0), rows, True, True)]
        self.assertEqual(goals.identity(twice), (1, 1, 0))
        points, held, error = goals.identity(once)
        self.assertEqual((points, held), (1, 0))
        self.assertAlmostEqual(error, 0.3)

    def test_what_a_launch_reads_beside_its_tensors_is_left_out(self):
        reads = {"launch-dram-read-sectors": "30", "launch-fabric-read-sectors": "20"}
        rows = [measured(130, near=120, fabric=70, misses=30)]
        row = predicted(1, 0)
        self.assertEqual(goals.identity([(row, rows, True, True)])[1], 0)
        with unittest.mock.patch.object(goals.points, "profile", return_value=reads):
            self.assertEqual(goals.identity([(row, rows, True, True)]), (1, 1, 0))


if __name__ == "__main__":
    unittest.main()
