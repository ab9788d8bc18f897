#!/usr/bin/env python3
"""The figures of experiments/studies/serving: derived by hand from rows, and the page has them."""

import csv
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
STUDY = ROOT / "experiments" / "studies" / "serving"
sys.path.append(str(STUDY))
import finding  # noqa: E402  (the path above leads to it)

POINT = dict(batch=16, kv_heads=8, seq_kv=512, head_dim=128, timing="lockstep", launch="grid")
OFF = dict(POINT, pack_gqa="", lengths="a", sequence_order="given", dram_read_sectors=600)
ON = dict(POINT, pack_gqa="on", lengths="a", sequence_order="longest", dram_read_sectors=150)


def write(folder, name, rows):
    with open(folder / f"{name}.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


class Finding(unittest.TestCase):
    def test_figures_are_quotients_of_the_counters(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(folder, "decode", [OFF, ON])
            other = [dict(row, lengths="b") for row in (OFF, OFF)]
            other[1].update(sequence_order="longest", dram_read_sectors=660)
            write(folder, "lengths", [OFF, ON, *other])
            page = finding.Page(folder)
            # 16 x 8 x 512 rows of 128 elements, of K and of V: 2^16 x 128 x 4 bytes.
            self.assertEqual(page.gain(32, "dram_read_sectors"), 4)
            low, middle, high = page.longest("dram_read_sectors", "grid")
            self.assertAlmostEqual(low, -75)
            self.assertAlmostEqual(middle, -32.5)
            self.assertAlmostEqual(high, 10)

    def test_the_page_is_current(self):
        done = subprocess.run([STUDY / "run.sh", "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
