#!/usr/bin/env python3
"""The first recorded launches of kernels/mma/backward against the simulator, and the errors that the study has of them.
"""

import subprocess
import sys
import unittest

from in_folder import ROOT, InFolder, rows_of  # noqa: E402  (the path above leads to it)

STUDY = ROOT / "experiments" / "studies" / "backward"
MEASURED = ROOT / "experiments" / "data" / "h200" / "backward" / "first.csv"


class FirstLaunches(InFolder):
    def test_errors_are_those_of_the_study_and_what_sms_read_and_add_is_exact(self):
        self.program("simulate", STUDY / "lists/first.ini", "--csv", "rows.csv", code=0)
        self.program("compare", "rows.csv", MEASURED, "--csv", "errors.csv", code=0)
        name = "H200, first launches"
        command = [sys.executable, STUDY.parent / "judged.py", "errors", "errors.csv"]
        command += ["--set", name, "--to", "judged.csv"]
        subprocess.run(command, check=True, cwd=self.folder, capture_output=True)
        found = rows_of(self.read("judged.csv"))
        recorded = rows_of((STUDY / "results/judged.csv").read_text(encoding="utf-8"))
        self.assertEqual(found, [row for row in recorded if row["set"] == name])
        for row in found:
            self.assertLessEqual(int(row["points"]), 36)
            if row["counter"] in ("sm_read_sectors", "l2_reduction_sectors"):
                self.assertLess(float(row["worst"]), 1e-5)


if __name__ == "__main__":
    unittest.main()
