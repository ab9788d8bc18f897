#!/usr/bin/env python3
"""experiments/studies/validation: reports from tables of two points, and the page that is filled from results/."""

import csv
import os
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path[:0] = [os.path.join(ROOT, "plots", "lib"), os.path.join(ROOT, "experiments", "studies", "validation")]
import finding  # noqa: E402
import points  # noqa: E402
import report  # noqa: E402

COLUMNS = ("group", "counter", "points", "statistic", "against", "value")


def summary(*rows):
    return report.Summary([dict(zip(("variant", *COLUMNS[1:]), row)) for row in rows])


class Reports(unittest.TestCase):
    def test_a_variant_is_named_by_its_file_or_by_the_mechanism_that_is_off(self):
        self.assertEqual(report.variant_of("seed 3", "timed, x"), "seed 3")
        self.assertEqual(report.variant_of("", "timed, sawtooth 0.1.0 without age-bias"),
                         "without age-bias")
        self.assertEqual(report.variant_of("", "timed, sawtooth 0.1.0"), "all mechanisms")
        self.assertEqual(report.variant_of("model", "baseline: halves"), "baseline: halves")

    def test_the_range_of_seeds_is_that_of_their_medians(self):
        found = summary(("model", report.DRAM, "over", "median", "", "0.010"),
                        ("seed 1", report.DRAM, "over", "median", "", "0.013"),
                        ("seed 2", report.DRAM, "over", "median", "", "0.008"))
        self.assertAlmostEqual(report.seed_range(found), 0.005)

    def test_points_beyond_a_share_are_those_whose_launches_agree(self):
        row = dict(over_compulsory="2", counted_error="-0.3", measured="100", measured_low="99",
                   measured_high="101")
        noisy = dict(row, measured_low="90", measured_high="110")
        near = dict(row, counted_error="0.2")
        cold = dict(row, over_compulsory="1.4")
        self.assertEqual(report.beyond([near, noisy, row, cold], 0.25), [row])


class RecordedPoints(unittest.TestCase):
    def table(self, predicted):
        file = tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False, newline="",
                                           encoding="utf-8")
        self.addCleanup(os.remove, file.name)
        columns = dict.fromkeys((*points.errors.COLUMNS, *points.NAMES), "1")
        columns.update(group="timed", counter=points.COUNTER, predicted=str(predicted))
        with file:
            writer = csv.DictWriter(file, list(columns))
            writer.writeheader()
            writer.writerow(columns)
        return file.name

    def test_a_prediction_that_moves_by_more_than_half_a_percent_is_told(self):
        recorded = self.table(1000)
        self.assertEqual(list(points.differences(self.table(1004), recorded)), [])
        told = list(points.differences(self.table(1006), recorded))
        self.assertEqual(len(told), 1)
        self.assertIn("1006", told[0])


class Page(unittest.TestCase):
    def test_the_page_is_what_its_tables_and_template_give(self):
        self.assertEqual(finding.main(["--check"]), 0)


if __name__ == "__main__":
    unittest.main()
