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

    def test_speeds_are_quotients_of_the_same_shape(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            shape = dict(part="shapes", batch=2, keys=8192, options="")
            ours = dict(shape, kernel="sawtooth")
            write(
                folder,
                "decode",
                [
                    dict(shape, kernel="cudnn", gb_s=3000),
                    dict(shape, kernel="flash", gb_s=2500),
                    dict(ours, options="family=mma-tma", gb_s=3600),
                    dict(ours, options="family=mma", gb_s=1000),
                ],
            )
            page = finding.Page(folder, folder)
            # 2 x 8192 keys of 8 heads of 128 elements of 2 bytes, of K and of V: 64 MiB.
            row = "| 2 x 8K | 64 MiB | 3,600 | 1,000 | 3,000 | 2,500 | 1.200 |"
            self.assertEqual(page.speeds().split("\n")[-1], row)
            self.assertEqual(page.of_cudnn(), [1.2])
            self.assertEqual(page.least(64, 64), 3600)

    def test_drawn_points_are_judged_one_by_one(self):
        with tempfile.TemporaryDirectory() as name:
            results, data = Path(name) / "results", Path(name) / "data"
            results.mkdir()
            data.mkdir()
            point = dict.fromkeys(finding.POINT, "")
            launches = [dict(point, seq_kv=n, dram_read_sectors=100, time_us=10) for n in range(10)]
            write(data, "drawn", launches)
            for file, step in (("drawn", 1), ("drawn_costs", 0), ("drawn_pages", 0)):
                rows = [
                    dict(launch, dram_read_sectors=100 + n, time_us=10 - step * n)
                    for n, launch in enumerate(launches)
                ]
                write(results, file, rows)
            page = finding.Page(results, data)
            self.assertAlmostEqual(page.judged("drawn", "dram_read_sectors")[3], 3)
            # 0 to 9 %: the median is 4.5, the ninth of ten 8.
            words = "4.50 % | 8.00 % | 9.00 % | 45.00 % | 80.00 % | 90.00 % |"
            self.assertIn(words, page.drawn())

    def test_the_page_is_current(self):
        done = subprocess.run([STUDY / "run.sh", "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
