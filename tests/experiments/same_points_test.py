#!/usr/bin/env python3
"""Sixty points over all models, features and GPUs have the counts that they had.

    same_points_test.py PROGRAM

same_points.csv has a point a line: the digest of its counters and times, and all its keys, so that defaults do
not matter. A row changes only together with a reason: the fault that is mended, or the model that is changed, and
the error before and after against a measurement or a closed form.
"""

import hashlib
import unittest
from pathlib import Path

from in_folder import rows, rows_of  # noqa: E402  (the path above leads to it)

POINTS = Path(__file__).with_name("same_points.csv")
COUNTED = (
    "sm_read_sectors l2_read_sectors l2_read_miss_sectors l2_write_sectors l2_write_miss_sectors "
    "fabric_read_sectors fabric_read_miss_sectors l2_reduction_sectors dram_read_sectors "
    "dram_write_sectors incoming_write_sectors outgoing_read_sectors cold_read_sectors time_us "
    "tflops transfer_us exposed_us of_ideal status"
).split()


def digest(table):
    """The first 16 digits of the SHA-256 of `name=value` lines of all counted columns, row after row."""
    lines = [f"{name}={row[name]}\n" for row in table for name in COUNTED]
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


class SamePoints(unittest.TestCase):
    def test_each_point_has_the_digest_that_is_recorded(self):
        points = rows_of(POINTS.read_text(encoding="utf-8"))
        self.assertEqual(len(points), 60)
        for point in points:
            with self.subTest(options=point["options"]):
                table = rows("simulate --quiet --csv - " + point["options"])
                self.assertEqual(digest(table), point["digest"])


if __name__ == "__main__":
    unittest.main()
