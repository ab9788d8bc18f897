#!/usr/bin/env python3
"""The page of foreign kernels has the table that census.py prints from the recorded rows."""

import contextlib
import io
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
STUDY = ROOT / "experiments" / "studies" / "foreign"
sys.path.append(str(STUDY))

import census


class Census(unittest.TestCase):
    def test_a_line_has_shares_of_the_reads_and_multiples_of_the_tensors(self):
        self.assertEqual(
            census.line(
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

    def test_the_page_has_what_was_recorded(self):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            census.table(ROOT / "experiments" / "data" / "h200" / "foreign")
        self.assertIn(output.getvalue(), (STUDY / "README.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
