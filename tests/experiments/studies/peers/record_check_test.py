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
        self.assertEqual(compared(self.table("a"), other, 2)[0], 0)

    def test_a_counter_that_a_table_lacks_is_an_error(self):
        other = self.table("b", fabric_read_sectors=("", "", "", ""))
        self.assertEqual(compared(self.table("a"), other, 2)[0], 1)

    def test_tables_of_different_launches_are_refused(self):
        other = self.table("b")
        other.write_text("\n".join(other.read_text().splitlines()[:3]) + "\n")
        with self.assertRaises(ValueError):
            compared(self.table("a"), other, 2)

    def test_the_page_has_the_dram_reads_of_the_recorded_tables(self):
        page = (pathlib.Path(support.PEERS) / "README.md").read_text(encoding="utf-8")
        for gpu in ("h200", "h100"):
            for name, repetitions in (("", record_check.REPETITIONS), ("own_", 2)):
                folder = DATA / gpu / "record"
                _, text = compared(
                    folder / f"{name}record.csv", folder / f"{name}ncu.csv", repetitions
                )
                median, worst = map(
                    float, re.search(r"dram_read.*median ([\d.]+)%, worst ([\d.]+)%", text).groups()
                )
                row = rf"\| {gpu.upper()}: .*\({repetitions} repetitions\) \| \d+ \| equal \| (\S+), (\S+) %"
                shown = [float(figure) for figure in re.search(row, page).groups()]
                self.assertAlmostEqual(shown[0], median, delta=0.051)
                self.assertAlmostEqual(shown[1], worst, delta=0.051)


if __name__ == "__main__":
    unittest.main()
