"""Pairs of points that differ in one thing, and the table of what each change wins. errors.csv has, of
one causal problem, the points ascending/section 8 (20000 measured), descending/section 8 (5000),
descending/section 2 (4000) and one that differs from them in scan and prefetch at once."""

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TABLE = ROOT / "tests" / "plots" / "tables" / "errors.csv"
sys.path.insert(0, str(ROOT / "plots" / "lib"))
import change_pairs  # noqa: E402
import table  # noqa: E402


def timed(counter):
    return table.where(change_pairs.read(TABLE), group="timed", counter=counter)


class Pairs(unittest.TestCase):
    def test_only_points_that_differ_in_one_thing_are_paired(self):
        found = {
            (kind, before["mask"], change_pairs.ratio(before, after, "measured"))
            for kind, before, after in change_pairs.pairs(timed("dram_read_sectors"))
        }
        self.assertEqual(
            found,
            {
                ("sawtooth", "none", 0.5),
                ("longest first", "causal", 0.25),
                ("smaller sections", "causal", 0.8),
            },
        )

    def test_the_predicted_ratio_is_that_of_the_predictions(self):
        # Predicted are 1.0 x 20000 and 1.2 x 5000, so 0.3.
        ratios = [
            change_pairs.ratio(before, after, "predicted")
            for kind, before, after in change_pairs.pairs(timed("dram_read_sectors"))
            if kind == "longest first"
        ]
        self.assertEqual(ratios, [0.3])


if __name__ == "__main__":
    unittest.main(verbosity=2)
