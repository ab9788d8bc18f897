#!/usr/bin/env python3
"""experiments/studies/orders: what is taught and judged, on rows by hand, and that the page has the recorded figures."""

import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[4]
STUDY = ROOT / "experiments/studies/orders"
sys.path.insert(0, str(STUDY))
import orders  # noqa: E402  (the path above leads to it)
import table  # noqa: E402

KERNEL = dict(kernel="mma", head_dim="64", mask="none", tile_q="64", tile_kv="64", ctas_per_sm="1")
KERNEL |= dict(experiment="held_out", launch="static")
SHAPE = dict(batch="1", heads="2", kv_heads="2", seq_kv="512", mask="none")


class Folders(unittest.TestCase):
    """Tables of a case stand in the place of the recorded ones."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.data, self.results = (pathlib.Path(folder.name, n) for n in ("data", "results"))
        for name, path in (("DATA", self.data), ("RESULTS", self.results)):
            path.mkdir()
            patched = mock.patch.object(orders, name, path)
            patched.start()
            self.addCleanup(patched.stop)


class Gains(Folders):
    def row(self, scan, time, reads, seq="196608"):
        return KERNEL | dict(scan=scan, seq_kv=seq, time_us=time, dram_read_sectors=reads)

    def test_a_gain_is_the_change_of_time_and_errors_are_those_of_both_scans(self):
        measured = [self.row("linear", "100", "1000"), self.row("sawtooth", "80", "")]
        predicted = [self.row("linear", "110", "900"), self.row("sawtooth", "99", "500")]
        table.write(str(self.data / "gains.csv"), measured)
        table.write(str(self.results / "gains.csv"), predicted)
        (gain,) = orders.gains()
        self.assertAlmostEqual(gain["measured"], -0.2)
        self.assertAlmostEqual(gain["predicted"], -0.1)
        self.assertAlmostEqual(gain["times"][0], 0.1)
        self.assertAlmostEqual(gain["times"][1], 99 / 80 - 1)
        self.assertEqual(len(gain["reads"]), 1)  # what was not counted is no error
        self.assertAlmostEqual(gain["reads"][0], 0.1)

    def test_a_launch_without_its_other_scan_is_no_pair(self):
        rows = [self.row("linear", "100", "1000")]
        for folder in (self.data, self.results):
            table.write(str(folder / "gains.csv"), rows)
        self.assertEqual(list(orders.gains()), [])

    def test_taught_are_linear_scans_that_leave_a_length_and_one_sawtooth_within_l2(self):
        # Half of L2 holds 122,880 keys of D = 64.
        lengths = ("32768", "65536", "131072", "196608", "262144")
        rows = [self.row(scan, "1", "1", seq) for seq in lengths for scan in ("linear", "sawtooth")]
        taught = [(row["scan"], row["seq_kv"]) for row in orders.taught_rows(rows)]
        linear = [("linear", seq) for seq in lengths[:4]]
        self.assertEqual(sorted(taught), sorted([*linear, ("sawtooth", "65536")]))
        taught = orders.taught_rows([row for row in rows if int(row["seq_kv"]) <= 196608])
        self.assertEqual(max(int(row["seq_kv"]) for row in taught), 131072)


class Proof(Folders):
    """Search takes the dynamic schedule: attach is not searched, and the static one, 0.4 % later, reads 1 % less."""

    def judged(self, *measured):
        schedules = ("grid linear 1", "dynamic sawtooth 2", "static linear 2", "dynamic attach 2")
        predicted = (("110", "400"), ("100", "100"), ("100.4", "99"), ("99", "50"))
        lines = []
        for words, of, cells in zip(schedules, predicted, measured, strict=True):
            launch, scan, section = words.split()
            row = SHAPE | dict(list="one", launch=launch, scan=scan, section=section)
            columns = (*orders.PREDICTED, "time_us", "dram_read_sectors")
            lines.append(row | dict(zip(columns, (*of, *cells))))
        table.write(str(self.data / "proof.csv"), lines)
        return list(orders.proof("one"))

    def test_regret_and_excess_are_those_of_the_choice_against_the_best_measured(self):
        rows = (("108", "300"), ("102", "90"), ("100", "120"), ("100.2", "60"))
        (row,) = self.judged(*rows)
        self.assertAlmostEqual(row["regret"], 0.02)
        self.assertAlmostEqual(row["excess"], 0.5)  # attach is as fast as the fastest one
        self.assertAlmostEqual(row["usual"], 108 / 102 - 1)

    def test_a_shape_without_all_its_counters_has_no_excess(self):
        (row,) = self.judged(("108", ""), ("100", "120"), ("100.2", ""), ("103", ""))
        self.assertEqual(set(row), {"regret", "usual"})


class Blocks(Folders):
    def test_errors_are_relative_and_flex_attention_has_none_of_time(self):
        rows = []
        for kernel, reads, time in (("mma", "100", "200"), (orders.FLEX, "100", "200")):
            row = dict.fromkeys(orders.BLOCKS, "") | dict(kernel=kernel, mask="prefix-lm:9")
            rows.append(row | dict(dram_read_sectors=reads, time_us=time))
        table.write(str(self.data / "blocks.csv"), rows)
        made = [row | dict(dram_read_sectors="90", time_us="210") for row in rows]
        table.write(str(self.results / "blocks.csv"), made)
        (_, _, ours), (_, _, theirs) = orders.judged_blocks()
        self.assertAlmostEqual(ours["dram_read_sectors"], 0.1)
        self.assertAlmostEqual(ours["time_us"], 0.05)
        self.assertEqual(set(theirs), {"dram_read_sectors"})

    def test_a_drawn_file_sees_a_fifth_of_the_blocks_and_is_the_same_every_time(self):
        orders.write_drawn(self.data, "blocks:drawn_5_100.txt")
        first = (self.data / "drawn_5_100.txt").read_text()
        orders.write_drawn(self.data, "blocks:drawn_5_100.txt")
        self.assertEqual((self.data / "drawn_5_100.txt").read_text(), first)
        self.assertEqual(first.count("\n"), 100)
        self.assertAlmostEqual(len(first.split()) / 100**2, orders.DRAWN_BLOCKS, delta=0.02)


class Pages(unittest.TestCase):
    def test_the_page_has_the_figures_of_the_recorded_rows(self):
        sys.argv = ["orders.py", "--check"]
        self.assertEqual(orders.fill.study(str(STUDY), orders.Page()), 0)

    def test_a_change_is_of_one_point_of_the_measured_lists(self):
        measured = {
            table.cells(row, orders.POINT) for row in table.read(orders.DATA / "schedules.csv")
        }
        for what, point, base, change in orders.CHANGES:
            for cells in orders.pair_of(base, change):
                self.assertIn(cells, measured, (what, point))


if __name__ == "__main__":
    unittest.main()
