#!/usr/bin/env python3
"""experiments/studies/validation/pace.py, and that the shipped profile has what it prints."""

import os
import re
import statistics
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
EXPERIMENTS = os.path.join(HERE, *[".."] * 4, "experiments")
sys.path.insert(0, os.path.join(EXPERIMENTS, "studies", "validation"))
import pace  # noqa: E402


class Pace(unittest.TestCase):
    def test_is_of_points_that_both_have(self):
        self.assertEqual(pace.ratios({"a": 9, "b": 4, "c": 1}, {"a": 10, "b": 5}), [0.8, 0.9])

    def test_the_shipped_pace_of_mma_is_that_of_its_calibration(self):
        with open(
            os.path.join(EXPERIMENTS, "profiles/gpus/h100-sxm.ini"), encoding="utf-8"
        ) as file:
            shipped = float(re.search(r"^mma-h200 = ([0-9.]+);", file.read(), re.M).group(1))
        h100, h200 = (
            pace.durations(os.path.join(pace.DATA, gpu, "validation/calibration.csv"))
            for gpu in ("h100", "h200")
        )
        found = pace.ratios(h100, h200)
        self.assertEqual(len(found), 12)
        self.assertAlmostEqual(statistics.median(found), shipped, delta=0.0005)


if __name__ == "__main__":
    unittest.main()
