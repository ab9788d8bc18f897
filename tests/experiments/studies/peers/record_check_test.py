#!/usr/bin/env python3
"""What counts as agreement of two tables of counters, and the recorded tables."""

import contextlib
import io
import pathlib
import re
import tempfile
import unittest

import support  # the folder of this file comes first on the path

import record_check

ROOT = pathlib.Path(support.ROOT)
DATA = ROOT / "experiments" / "data"


def compared(ours, theirs, repetitions):
    """How many counters fail, and what is printed."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        failed = record_check.compare_tables(ours, theirs, repetitions)
    return failed, output.getvalue()


class RecordCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def table(self, name, **changed):
        """Two launches of two repetitions; `changed` gives a counter its four values."""
        columns = {counter: (1000, 1000, 2000, 2000) for counter in record_check.SHOWN} | changed
        lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values()))]
        path = self.folder / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def test_equal_tables_agree(self):
        self.assertEqual(compared(self.table("a"), self.table("b"), 2)[0], 0)

    def test_a_sector_more_that_sms_read_is_an_error(self):
        other = self.table("b", sm_read_sectors=(1001, 1001, 2000, 2000))
        self.assertEqual(compared(self.table("a"), other, 2)[0], 1)

    def test_dram_reads_may_differ_by_a_hundredth_where_launches_repeat(self):
        for values, failed in (((1009, 1009, 2000, 2000), 0), ((1012, 1012, 2000, 2000), 1)):
            other = self.table("b", dram_read_sectors=values)
            self.assertEqual(compared(self.table("a"), other, 2)[0], failed, values)

    def test_launches_that_do_not_repeat_judge_nothing(self):
        other = self.table("b", dram_read_sectors=(900, 1200, 2000, 2000))
        failed, said = compared(self.table("a"), other, 2)
        self.assertEqual(failed, 0)
        # means 1000 and 1050; variances 0 and 45,000, so an error of sqrt(22,500) = 150
        self.assertRegex(said, r"dram_read.* others up to 0\.3 standard errors")

    def test_a_counter_that_a_table_lacks_is_an_error(self):
        other = self.table("b", fabric_read_sectors=("", "", "", ""))
        self.assertEqual(compared(self.table("a"), other, 2)[0], 1)

    def test_tables_of_different_launches_are_refused(self):
        other = self.table("b")
        other.write_text("\n".join(other.read_text().splitlines()[:3]) + "\n")
        with self.assertRaises(ValueError):
            compared(self.table("a"), other, 2)

    def test_repetitions_on_other_pages_stand_together(self):
        for seed, add in ((0, 0), (2, 100)):
            rows = [
                [add + launch * 10 + i] * len(record_check.KEPT)
                for launch in (1, 2)
                for i in range(5)
            ]
            path = self.folder / f"record-{seed}.csv"
            record_check.write(path, record_check.KEPT, rows)
        (self.folder / "record-0.csv.metrics.csv").write_text("metrics of another table\n")
        record_check.join(self.folder)
        joined = self.folder / "record.csv"
        self.assertEqual(record_check.repetitions_of(joined, 5), 10)
        first, second = record_check.launches(joined, 10)
        self.assertEqual(
            [row["dram_read_sectors"] for row in first],
            ["10", "11", "12", "13", "14", "110", "111", "112", "113", "114"],
        )
        self.assertEqual([row["pages"] for row in second], ["0"] * 5 + ["2"] * 5)
        self.assertFalse((self.folder / "ncu.csv").exists())

    def test_means_over_places_may_differ_by_three_standard_errors(self):
        # Ten values with a variance of 25,000 / 9 each: an error of sqrt(2 x 2,500 / 9) = 23.57.
        for more, wrong in ((70, False), (71, True)):
            for name, add in (("record", 0), ("ncu", more)):
                rows = [[add + 1000 + 100 * (i % 2)] for i in range(10)]
                path = self.folder / f"places_{name}.csv"
                record_check.write(path, ["dram_read_sectors"], rows)
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(record_check.compare_places(self.folder), wrong, more)

    def test_a_pass_may_take_1_3_of_the_program_and_changes_no_result(self):
        def wrong(counted, result="a"):
            rows = [("alone", 0, 5, "a"), ("timed", 0, 5.1, "a"), ("alone", 1, 5.2, "a")]
            rows += [("alone", 2, 5, "a"), ("counted", 0, counted, result)]
            lines = ["how,round,seconds,hash", *(",".join(map(str, row)) for row in rows)]
            (self.folder / "overhead.csv").write_text("\n".join(lines) + "\n")
            with contextlib.redirect_stdout(io.StringIO()):
                return record_check.compare_times(self.folder)

        self.assertFalse(wrong(6.49))
        self.assertTrue(wrong(6.51))
        self.assertTrue(wrong(5.5, result="b"))

    def test_an_h200_agreed_over_places_and_in_the_cost_of_a_pass(self):
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertFalse(record_check.compare_places(DATA / "h200" / "record"))
            self.assertFalse(record_check.compare_times(DATA / "h200" / "record"))

    def test_the_page_has_the_dram_reads_of_the_recorded_tables(self):
        page = (pathlib.Path(support.PEERS) / "README.md").read_text(encoding="utf-8")
        for gpu in ("h200", "h100"):
            for name, of_a_seed in (("", 5), ("own_", 2)):
                ours, theirs = (
                    DATA / gpu / "record" / f"{name}{tool}.csv" for tool in ("record", "ncu")
                )
                repetitions = record_check.repetitions_of(ours, of_a_seed)
                failed, text = compared(ours, theirs, repetitions)
                if gpu == "h200":
                    self.assertEqual(failed, 0, text)
                median, worst = map(
                    float, re.search(r"dram_read.*median ([\d.]+)%, worst ([\d.]+)%", text).groups()
                )
                row = rf"\| {gpu.upper()}: .*\({repetitions} repetitions\) \| \d+ \| equal \| (\S+), (\S+) %"
                shown = [float(figure) for figure in re.search(row, page).groups()]
                self.assertAlmostEqual(shown[0], median, delta=0.051)
                self.assertAlmostEqual(shown[1], worst, delta=0.051)


if __name__ == "__main__":
    unittest.main()
