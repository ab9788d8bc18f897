#!/usr/bin/env python3
"""The first recorded launches of kernels/mma/backward against the simulator, and README.md's figures of them.

usage: first_launches_test.py SAWTOOTH
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
STUDY = ROOT / "experiments" / "studies" / "backward"
MEASURED = ROOT / "experiments" / "data" / "h200" / "backward" / "first.csv"
POINTS = (
    "--pass backward --gpu h200 --seq 8K,24K,48K --head-dim 64,128 --tile-q 64 --tile-kv 128 "
    "--scan linear,sawtooth,shift --mask none,causal"
).split()
ROWS = {  # of README.md, by counter
    "dram_read_sectors": "DRAM reads",
    "l2_read_miss_sectors": "near misses",
    "fabric_read_sectors": "fabric reads",
}
PROGRAM = ""


class FirstLaunches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            predicted = f"{folder}/predicted.csv"
            run = dict(check=True, capture_output=True, text=True)
            subprocess.run([PROGRAM, "simulate", *POINTS, "--csv", predicted], **run)
            report = subprocess.run([PROGRAM, "compare", predicted, MEASURED], **run).stdout
        of_all = report.split("over 1.5 x compulsory")[0]
        # counter, points, then median, 90 % and worst in percent
        lines = re.findall(r"^ +(\w+) +(\d+) +([\d.]+) % +([\d.]+) % +([\d.]+) %", of_all, re.M)
        cls.errors = {name: tuple(map(float, figures)) for name, _, *figures in lines}
        cls.points = {name: int(points) for name, points, *_ in lines}

    def test_what_sms_read_and_add_is_exact(self):
        self.assertEqual(self.points["sm_read_sectors"], 36)
        self.assertEqual(self.errors["sm_read_sectors"], (0, 0, 0))
        self.assertEqual(self.errors["l2_reduction_sectors"], (0, 0, 0))

    def test_the_page_has_the_errors_of_the_others(self):
        page = (STUDY / "README.md").read_text(encoding="utf-8")
        for counter, name in ROWS.items():
            row = re.search(
                rf"^\| {name} \| ([\d.]+) % \| ([\d.]+) % \| ([\d.]+) % \|$", page, re.M
            )
            for figure, error in zip(row.groups(), self.errors[counter], strict=True):
                digits = len(figure.partition(".")[2])
                self.assertLessEqual(abs(float(figure) - error), 0.51 * 10**-digits, counter)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
