#!/usr/bin/env python3
"""The first recorded launches of kernels/mma/backward against the simulator, and the errors that the study has of them.

usage: first_launches_test.py SAWTOOTH
"""

import csv
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
STUDY = ROOT / "experiments" / "studies" / "backward"
MEASURED = ROOT / "experiments" / "data" / "h200" / "backward" / "first.csv"
PROGRAM = ""


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class FirstLaunches(unittest.TestCase):
    def test_errors_are_those_of_the_study_and_what_sms_read_and_add_is_exact(self):
        with tempfile.TemporaryDirectory() as folder:
            predicted, errors, judged = (f"{folder}/{n}.csv" for n in ("rows", "errors", "judged"))
            run = dict(check=True, capture_output=True, text=True)
            subprocess.run(
                [PROGRAM, "simulate", STUDY / "lists/first.ini", "--csv", predicted], **run
            )
            subprocess.run([PROGRAM, "compare", predicted, MEASURED, "--csv", errors], **run)
            command = [sys.executable, STUDY.parent / "judged.py", "errors", errors]
            name = "H200, first launches"
            subprocess.run([*command, "--set", name, "--to", judged], **run)
            found = rows_of(judged)
        self.assertEqual(
            found, [r for r in rows_of(STUDY / "results/judged.csv") if r["set"] == name]
        )
        for row in found:
            self.assertLessEqual(int(row["points"]), 36)
            if row["counter"] in ("sm_read_sectors", "l2_reduction_sectors"):
                self.assertLess(float(row["worst"]), 1e-5)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
