#!/usr/bin/env python3
"""The lists of experiments/studies/hopper and the page that is filled from them, on tables of two points."""

import os
import sys
import tempfile
import unittest

try:
    import matplotlib  # noqa: F401
except ImportError:
    print("skipped: matplotlib is missing")
    sys.exit(77)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4)
sys.path[:0] = [
    os.path.join(ROOT, "plots", "lib"),
    os.path.join(ROOT, "experiments", "studies", "hopper"),
]
import finding  # noqa: E402
import hopper_lists  # noqa: E402
import table  # noqa: E402

HEADER = (
    "head_dim,seq_kv,heads,mask,section,q_order,launch,ctas_per_sm,scan,prefetch,kv_split,"
    "dram_read_sectors,l2_read_miss_sectors,fabric_read_sectors,cold_read_sectors,time_us,"
    "tflops\n"
)


def row(scan, dram, time, cold=1_000_000):
    return f"64,131072,1,none,1,ascending,static,1,{scan},0,1,{dram},9,9,{cold},{time},100\n"


class FindingOfTwoPoints(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for side in ("measured", "predicted"):
            os.mkdir(os.path.join(self.folder.name, side))
            for name in hopper_lists.NAMES:
                with open(self.path(side, f"{name}.csv"), "w", encoding="utf-8") as file:
                    file.write(HEADER)
                    if side == "measured":  # three launches of linear: the median is 8 M
                        file.write(
                            row("linear", 9_000_000, 210)
                            + row("linear", 8_000_000, 200)
                            + row("linear", 7_000_000, 190)
                            + row("sawtooth", 2_000_000, 220)
                        )
                    else:
                        file.write(row("linear", 8_400_000, "") + row("sawtooth", 2_000_000, ""))
        self.lists = hopper_lists.Lists(self.path("measured"), {"half": self.path("predicted")})
        self.page = finding.Finding(self.lists)

    def path(self, *parts):
        return os.path.join(self.folder.name, *parts)

    def filled(self, field):
        """What stands between the two comments."""
        text = self.page.fill(f"<!-- {field} -->x<!-- end -->")
        return text.removeprefix(f"<!-- {field} -->").removesuffix("<!-- end -->")

    def test_fills_medians_shares_and_multiples(self):
        self.assertEqual(self.filled('dram("length", scan="linear") | .1f'), "8.0")
        self.assertEqual(self.filled('saved("length") | .0f'), "75")
        self.assertEqual(self.filled('times("length", s="128K", scan="linear") | .2f'), "8.00")
        self.assertEqual(self.filled('time_range("length")'), "+10.0 to +10.0 %")

    def test_judges_the_model_point_by_point(self):
        self.assertEqual(
            self.page.agreement("length"),
            "1 of 2 points within 3 %, median 2.5 %, worst 5 %",
        )

    def test_gives_the_rate_of_dram_in_gigabytes_a_second(self):
        # 8 M sectors of 32 bytes in 200 us; sawtooth's 2 M in 220 us are less.
        self.assertAlmostEqual(self.page.rate("length"), 8e6 * 32 / 200e-6 / 1e9)

    def test_never_mixes_two_points(self):
        with self.assertRaisesRegex(table.TableError, "2 points fit"):
            self.page.dram("length", d=64)

    def test_refuses_a_point_that_is_not_there(self):
        with self.assertRaisesRegex(table.TableError, "0 points fit"):
            self.page.dram("length", d=128, scan="linear")


if __name__ == "__main__":
    unittest.main()
