#!/usr/bin/env python3
"""experiments/studies/prediction: figures of a table of a few points, what counts as changed, and the sealed rows."""

import csv
import hashlib
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
STUDY = ROOT / "experiments/studies/prediction"
sys.path.insert(0, str(STUDY))
import prediction  # noqa: E402  (the path above leads to it)
import table  # noqa: E402

SEALED = "5c466e0df070954be90d55161a0e87f5f55634cee2e5a0bce20fa679fcf1a458"


def point(scan, error, low, high, over="2", bounds=("", "")):
    """Of 100 measured in the median: a row of `compare --csv`."""
    columns = dict.fromkeys(prediction.POINT, "1") | {"scan": scan, "counter": prediction.DRAM}
    columns |= {"measured": "100", "measured_low": low, "measured_high": high}
    columns |= {"relative_error": error, "over_compulsory": over}
    return table.Row(columns | {"predicted_low": bounds[0], "predicted_high": bounds[1]})


class Figures(unittest.TestCase):
    def row(self, *points, **statistics):
        summary = [
            {"counter": prediction.DRAM, "points": "all", "statistic": name, "value": value}
            for name, value in {"count": "4", **statistics}.items()
        ]
        (found,) = prediction.figures("calibration", summary, points)
        return found

    def test_points_whose_launches_agree_have_errors_of_their_own(self):
        steady, near = point("linear", "-0.3", "99", "101"), point("reverse", "0.1", "99", "101")
        noisy = point("sawtooth", "0.9", "90", "110")
        cold = point("attach", "0.8", "99", "101", over="1.4")
        row = self.row(steady, near, noisy, cold)
        self.assertEqual((row["agree_count"], row["agree_worst"]), (2, "0.3"))
        self.assertEqual(row["agree_ninety"], "0.3")  # what 90 % of two do not exceed

    def test_of_the_others_it_counts_how_many_intervals_hold_the_median_launch(self):
        held = point("linear", "0.9", "90", "110", bounds=("50", "200"))
        missed = point("sawtooth", "0.9", "90", "110", bounds=("150", "200"))
        row = self.row(held, missed)
        self.assertEqual((row["differ_count"], row["differ_covered"]), (2, 1))

    def test_statistics_are_those_of_compare_by_points(self):
        row = self.row(median="0.012345678")
        self.assertEqual((row["all_median"], row["over_median"]), ("0.012346", ""))


class Recorded(unittest.TestCase):
    def test_a_figure_that_moves_by_more_than_half_a_point_is_told(self):
        old = {"list": "calibration", "counter": prediction.DRAM, "all_median": "0.010"}
        self.assertEqual(list(prediction.differences([dict(old, all_median="0.012")], [old])), [])
        (told,) = prediction.differences([dict(old, all_median="0.016")], [old])
        self.assertIn("0.016, recorded 0.010", told)

    def test_every_list_is_recorded_and_the_page_has_its_figures(self):
        self.assertLessEqual(set(prediction.LISTS), {row["list"] for row in prediction.recorded()})
        sys.argv = ["prediction.py", "--check"]
        self.assertEqual(prediction.fill.study(str(STUDY), prediction.Page()), 0)

    def test_points_of_measured_rows_are_a_list(self):
        with tempfile.TemporaryDirectory() as folder:
            measured = Path(folder, "measured.csv")
            row = dict.fromkeys(prediction.POINT, "1") | {
                "experiment": "judgement",
                "kv_heads": "2",
            }
            rows = [row, row, row | {"seq_kv": "512"}, row | {"experiment": "families"}]
            table.write(str(measured), rows)
            (path,) = prediction.options_of("judgement", "h200", str(measured), Path(folder))
            text = Path(path).read_text(encoding="utf-8")
        self.assertEqual(text.count("["), 2)  # repetitions are one point
        self.assertIn("gpu = h200\n", text)
        self.assertIn("seq = 512\n", text)
        self.assertIn("kv-heads = 2\n", text)

    def test_the_rows_that_judge_are_those_that_were_sealed(self):
        rows = (prediction.DATA / "h100/validation/families_sixth.csv").read_bytes()
        rows = rows.replace(b",h100-sxm,", b",h200,")  # as the program was told
        self.assertEqual(hashlib.sha256(rows).hexdigest(), SEALED)

    def test_no_length_of_the_list_that_judges_is_one_that_was_looked_at(self):
        def lengths(file):
            with open(prediction.DATA / file, encoding="utf-8") as rows:
                return {row["seq_kv"] for row in csv.DictReader(rows)}

        judged = lengths("h100/validation/families_sixth.csv")
        for gpu in ("h100", "h200"):
            for name in ("development", "calibration", "calibration_hopper"):
                self.assertFalse(judged & lengths(f"{gpu}/validation/{name}.csv"), (gpu, name))


if __name__ == "__main__":
    unittest.main()
