"""The page of foreign kernels: its tables, from rows that are written down here."""

import sys
import unittest

from in_folder import ROOT

STUDY = ROOT / "experiments" / "studies" / "foreign"
sys.path.append(str(STUDY))
import gallery  # noqa: E402  (the path above leads to it)


class Census(unittest.TestCase):
    def test_a_line_has_shares_of_the_reads_and_multiples_of_the_tensors(self):
        self.assertEqual(
            gallery.census_line(
                {
                    **{"what": "mine", "head_dim": "64", "mask": "causal", "time_us": "1500"},
                    **{"sm_read_sectors": "1000", "l2_read_sectors": "800"},
                    **{"l2_read_miss_sectors": "8", "dram_read_sectors": "300"},
                    **{"cold_read_sectors": "150", "l2_write_sectors": "60"},
                    "written_sectors": "50",
                }
            ),
            "| mine | D 64, causal | 1.50 | 80% | 99.0% | 2.00 | 1.20 |",
        )


class Gallery(unittest.TestCase):
    def test_points_are_in_the_order_in_which_the_program_launches_them(self):
        words = "--seq 16K,32K --heads 1,4 --causal 0,1".split()
        points = list(gallery.points_of(words))
        self.assertEqual(len(points), 8)
        self.assertEqual(points[0], (16384, "1", "none", ""))
        self.assertEqual(points[3], (16384, "4", "causal", ""))

    def test_errors_are_of_launches_that_did_not_teach(self):
        row = dict(seq_q="1", heads="1", mask="none", what="mine", description="launch = grid")
        row |= dict(dram_read_sectors="100", predicted_dram_read_sectors="103")
        launch = lambda taught, scan, time, ours: dict(
            row, taught=taught, scan=scan, time_us=time, predicted_time_us=ours
        )
        page = gallery.Page([launch("1", "", "100", "150"), launch("0", "sawtooth", "80", "120")])
        self.assertEqual(page.off("time_us"), "50.0/50.0")
        self.assertEqual(page.off("dram_read_sectors"), "3.0/3.0")
        self.assertEqual((page.pairs(), page.signs()), (1, "1 of 1"))
        self.assertEqual(page.gains(), "0.0/0.0")  # -20 % both


if __name__ == "__main__":
    unittest.main()
