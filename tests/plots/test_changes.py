"""Pairs of points that differ in one thing, and the table of what each change wins. errors.csv has, of
one causal problem, the points ascending/section 8 (20000 measured), descending/section 8 (5000),
descending/section 2 (4000) and one that differs from them in scan and prefetch at once."""

import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).resolve().parent / "tables" / "errors.csv"
sys.path.insert(0, str(ROOT / "plots" / "lib"))
import change_pairs  # noqa: E402
import table  # noqa: E402


def timed(counter):
    return table.where(change_pairs.read(TABLE), group="timed", counter=counter)


class Pairs(unittest.TestCase):
    def test_only_points_that_differ_in_one_thing_are_paired(self):
        found = {(kind, before["mask"], change_pairs.ratio(before, after, "measured"))
                 for kind, before, after in change_pairs.pairs(timed("dram_read_sectors"))}
        self.assertEqual(found, {("sawtooth", "none", 0.5), ("longest first", "causal", 0.25),
                                 ("smaller sections", "causal", 0.8)})

    def test_the_predicted_ratio_is_that_of_the_predictions(self):
        # Predicted are 1.0 x 20000 and 1.2 x 5000, so 0.3.
        ratios = [change_pairs.ratio(before, after, "predicted") for kind, before, after
                  in change_pairs.pairs(timed("dram_read_sectors")) if kind == "longest first"]
        self.assertEqual(ratios, [0.3])


class Table(unittest.TestCase):
    def test_a_row_a_change_where_one_point_is_over_compulsory(self):
        done = subprocess.run([sys.executable, ROOT / "experiments/studies/validation/changes.py", TABLE],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        timed_rows = done.stdout.split("lockstep")[0]
        self.assertIn("| longest first | causal | 1 | 0.25 (0.25 to 0.25) | 0.30 (0.30 to 0.30) "
                      "| 0.25 (0.25 to 0.25) | 0.30 (0.30 to 0.30) |", timed_rows)
        self.assertIn("| smaller sections | causal | 1 | 0.80", timed_rows)
        # Both points of the pair without a mask are at most 1.5 x compulsory.
        self.assertNotIn("| sawtooth | none", timed_rows)

    def test_a_file_that_is_no_comparison_is_refused_by_name(self):
        done = subprocess.run([sys.executable, ROOT / "experiments/studies/validation/changes.py",
                               TABLE.with_name("wave.csv")], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("wave.csv: no column", done.stderr)


class Points(unittest.TestCase):
    def points(self, *arguments):
        return subprocess.run([sys.executable, ROOT / "experiments/studies/validation/points.py", *arguments],
                              capture_output=True, text=True, check=False)

    def test_every_point_is_a_row_and_the_close_ones_are_counted(self):
        done = self.points(f"timed={TABLE}")
        self.assertEqual(done.returncode, 0, done.stderr)
        # Errors of the seven points: 2, 10, 0, 20, 20, 0 and 5 %; 2.0, 1.6 and 3.0 x compulsory are
        # over 1.5, with errors 0, 20 and 5 %.
        self.assertIn("| timed | 5 of 7 | 2 of 3 | 5.0 % | 20 % |", done.stdout)
        self.assertEqual(len([line for line in done.stdout.splitlines() if line.endswith(" % |")]), 8)
        self.assertNotIn("baseline", done.stdout)

    def test_a_file_that_is_no_comparison_is_refused_by_name(self):
        done = self.points(TABLE.with_name("wave.csv"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("wave.csv: no column", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
