#!/usr/bin/env python3
"""experiments/studies/validation/loaded.py on paces that are known, and the shipped costs against what it prints."""

import contextlib
import io
import os
import re
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4)
sys.path.insert(0, os.path.join(ROOT, "experiments", "studies", "validation"))
import loaded  # noqa: E402


class Loaded(unittest.TestCase):
    def test_gpcs_that_are_one_percent_off_each_way_have_that_spread(self):
        gpcs = [gpc for gpc, sms in enumerate(loaded.GPC_SMS) for _ in range(sms)]
        pace = {sm: 1000 * (1.01 if gpc % 2 else 0.99) for sm, gpc in enumerate(gpcs)}
        self.assertAlmostEqual(loaded.sm_spread(pace), 0.01, places=6)

    def test_slowness_is_counted_from_the_full_clock_and_a_tb_per_s(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            loaded.report("here", [("one", 1000, 0.1), ("one", 1100, 2.0), ("other", 1000, 0.5)])
        self.assertIn("here, one: dram-slowness 0.050", out.getvalue())
        self.assertNotIn("other", out.getvalue(), "no launch of it has the full clock")

    def test_the_shipped_slowness_is_the_mean_of_what_two_gpus_say(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            loaded.main()
        said = [
            float(value)
            for value in re.findall(r"D = 128.*dram-slowness (\d\.\d+)", out.getvalue())
        ]
        self.assertEqual(len(said), 2, out.getvalue())
        with open(os.path.join(ROOT, "experiments/profiles/kernels/hopper-h200.ini")) as file:
            shipped = [
                float(value) for value in re.findall(r"dram-slowness = ([\d.]+)", file.read())
            ]
        self.assertEqual(len(shipped), 2)
        for value in shipped:
            self.assertAlmostEqual(value, sum(said) / 2, places=3)


if __name__ == "__main__":
    unittest.main()
