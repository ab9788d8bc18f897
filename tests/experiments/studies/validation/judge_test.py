#!/usr/bin/env python3
"""experiments/studies/validation: reports from tables of a few points, and the page that is filled from results/."""

import contextlib
import csv
import io
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, *[".."] * 4)
sys.path[:0] = [
    os.path.join(ROOT, "plots", "lib"),
    os.path.join(ROOT, "experiments", "studies", "validation"),
]
import fill  # noqa: E402
import judge  # noqa: E402
import table  # noqa: E402

TABLE = os.path.join(ROOT, "tests", "plots", "tables", "errors.csv")


def summary(*rows):
    return judge.Judgement([], [dict(zip(judge.STATISTICS, row)) for row in rows])


class Reports(unittest.TestCase):
    def test_a_variant_is_named_by_its_file_or_by_the_mechanism_that_is_off(self):
        self.assertEqual(judge.variant_of("seed-3", "timed, x"), "seed 3")
        self.assertEqual(
            judge.variant_of("without", "timed, sawtooth 0.1.0 without age-bias"),
            "without age-bias",
        )
        self.assertEqual(judge.variant_of("without", "timed, sawtooth 0.1.0"), "all mechanisms")
        self.assertEqual(judge.variant_of("model", "baseline: halves"), "baseline: halves")

    def test_a_figure_is_the_median_over_seeds_with_their_range(self):
        found = summary(
            ("model", judge.DRAM, "over", "median", "", "0.010"),
            ("seed 1", judge.DRAM, "over", "median", "", "0.013"),
            ("seed 2", judge.DRAM, "over", "median", "", "0.008"),
            ("no die seed 0", judge.DRAM, "over", "median", "", "0.5"),
        )
        values = found.over_seeds("median", judge.DRAM, "over", judge.MODEL)
        self.assertEqual(judge.with_range(values, 1), "1.0 (0.8 to 1.3)")
        values = found.over_seeds("median", judge.DRAM, "over", judge.NO_DIE)
        self.assertEqual(judge.with_range(values, 1), "50.0")

    def test_intervals_are_told_by_counter_of_one_launch(self):
        found = summary(
            ("no die seed 0", judge.TIME, "all", "covered", "", "0.8"),
            ("no die seed 1", judge.TIME, "all", "covered", "", "0.9"),
            ("no die seed 0", judge.TIME, "all", "half_width", "", "0.02"),
            ("model", judge.DRAM, "all", "covered", "", "1"),
        )
        self.assertEqual(
            found.intervals(judge.NO_DIE).splitlines()[2:],
            ["| duration | 85.0 (80.0 to 90.0) | 2.0 |"],
        )

    def test_dram_writes_are_judged_by_o_and_where_they_are_many_by_themselves(self):
        # O of 1,024 rows of 64 elements of two bytes: 4,096 sectors.
        shape = dict(counter=judge.WRITES, heads="1", seq_kv="1024", head_dim="64")
        shape["over_compulsory"] = "2"
        rows = [
            dict(shape, measured="4000", predicted="3600"),  # a tenth less
            dict(shape, measured="0", predicted="41"),  # a hundredth of O
        ]
        found = judge.Judgement([table.Row(row) for row in rows], [])
        self.assertEqual(
            found.dram_writes(),
            "9.8 % of O over 2 points, and 10.0 % of themselves over the 1 that write over 5 % of O",
        )

    def test_points_beyond_a_share_are_those_whose_launches_agree(self):
        row = dict(
            counter=judge.DRAM,
            over_compulsory="2",
            relative_error="-0.3",
            measured="100",
            measured_low="99",
            measured_high="101",
        )
        noisy = dict(row, measured_low="90", measured_high="110")
        near = dict(row, relative_error="0.2")
        cold = dict(row, over_compulsory="1.4")
        self.assertEqual(judge.Judgement([near, noisy, row, cold], []).beyond(0.25), [row])
        # 20, 20 and 30 % off.
        self.assertEqual(
            judge.Judgement([near, noisy, row, near, cold], []).agreeing(),
            "20.0/30.0/30 % over 3 of 4 points",
        )


class Folders(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, rows):
        with open(os.path.join(self.folder.name, "errors.csv"), "w", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)

    def test_every_point_of_the_model_is_read_and_no_baseline(self):
        self.write(table.read(TABLE, judge.POINT))
        found = judge.read_judgement(self.folder.name)
        self.assertEqual(len(found.rows()), 7)
        # 2.0, 1.6 and 3.0 x compulsory are over 1.5.
        self.assertEqual(len(found.rows(over=True)), 3)
        # Errors of the seven points: 2, 10, 0, 20, 20, 0 and 5 %.
        close = [row for row in found.rows() if abs(float(row["relative_error"])) <= judge.CLOSE]
        self.assertEqual(len(close), 5)

    def test_a_prediction_that_moves_by_more_than_half_a_percent_is_told(self):
        columns = dict.fromkeys((*judge.RECORDED["points.csv"], "group"), "1")
        row = dict(columns, group="timed", counter=judge.DRAM, predicted="1000")
        near, far = dict(row, predicted="1004"), dict(row, predicted="1006")
        self.assertEqual(list(judge.differences([near], [row])), [])
        told = list(judge.differences([far], [row]))
        self.assertEqual(len(told), 1)
        self.assertIn("1006", told[0])

    def test_a_file_that_is_no_comparison_is_refused_by_name(self):
        self.write([{"step": "1"}])
        told = io.StringIO()
        with contextlib.redirect_stderr(told):
            self.assertEqual(judge.main(["report", self.folder.name]), 2)
        self.assertIn("errors.csv: no column", told.getvalue())


class Page(unittest.TestCase):
    def test_a_field_is_filled_with_its_format_and_a_table_on_lines_of_its_own(self):
        text = "a <!-- half * 3 | .1f -->x<!-- end --> b\n<!-- rows -->\nold\n<!-- end -->\n"
        wanted = "a <!-- half * 3 | .1f -->1.5<!-- end --> b\n<!-- rows -->\n| 1 |\n<!-- end -->\n"
        self.assertEqual(fill.filled(text, {"half": 0.5, "rows": "| 1 |"}), wanted)

    def test_the_page_is_what_its_tables_give(self):
        self.assertEqual(judge.main(["page", "--check"]), 0)


if __name__ == "__main__":
    unittest.main()
