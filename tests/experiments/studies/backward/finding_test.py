#!/usr/bin/env python3
"""The figures of experiments/studies/backward: derived by hand from two rows, and the page has them."""

import csv
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
STUDY = ROOT / "experiments" / "studies" / "backward"
sys.path.append(str(STUDY))
import finding  # noqa: E402  (the path above leads to it)

POINT = dict(seq_kv=16384, q_order="ascending", section=1, dq="atomic", mask="none", heads=1)
LINEAR = dict(
    POINT,
    scan="linear",
    sm_read_sectors=400,
    l2_read_sectors=200,
    dram_read_sectors=300,
    dram_write_sectors=1 << 25,
    cold_read_sectors=100,
)
SHIFT = dict(LINEAR, scan="shift", l2_read_sectors=400)


class Finding(unittest.TestCase):
    def test_figures_are_quotients_of_the_counters(self):
        with tempfile.TemporaryDirectory() as name:
            for table in ("orders", "dash", "presets"):
                with open(os.path.join(name, f"{table}.csv"), "w", newline="") as file:
                    writer = csv.DictWriter(file, LINEAR)
                    writer.writeheader()
                    writer.writerows([LINEAR, SHIFT])
            page = finding.Page(Path(name))
            self.assertEqual(page.over("16K", scan="linear"), 3)
            self.assertEqual(page.written("16K", scan="linear"), 1)  # 2^25 sectors of 32 bytes
            self.assertEqual(page.passed("16K", scan="linear"), 50)
            self.assertEqual(page.share("l2_read_sectors", "16K"), 100)

    def test_the_page_is_current(self):
        done = subprocess.run([STUDY / "run.sh", "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
