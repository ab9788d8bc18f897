#!/usr/bin/env python3
"""experiments/studies/validation/launch.py on launches whose costs can be had by hand."""

import contextlib
import csv
import io
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, *[".."] * 4, "experiments", "studies", "validation"))
import launch  # noqa: E402

COLUMNS = [*launch.POINT, "time_us", *launch.READS.values()]


def row(kernel, heads, rows, how, time, dram=0, fabric=0):
    return [kernel, heads, rows, 64, 128, 64, how, time, dram, fabric]


class Launch(unittest.TestCase):
    def written(self, *rows):
        file = tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False, newline="")
        self.addCleanup(os.remove, file.name)
        with file:
            csv.writer(file).writerows([COLUMNS, *rows])
        return file.name

    def said(self, *tables):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = launch.main([self.written(*rows) for rows in tables])
        return code, out.getvalue()

    def test_a_launch_costs_what_it_takes_longer_than_predicted(self):
        predicted = [row("", 1, 4096, "static", 50, 1000, 500)]
        predicted.append(row("hopper", 1, 4096, "grid", 30, 1000, 500))
        counted = [row("", 1, 4096, "static", 53, dram, 700) for dram in (1200, 1300, 9999)]
        counted += [row("hopper", 1, 4096, "grid", 36.5, 1300, 700)]
        code, said = self.said(predicted, counted, counted)
        self.assertEqual(code, 0)
        self.assertIn("[mma] launch-ns = 3000 (1 points", said)
        self.assertIn("[hopper] launch-ns = 6500 (1 points", said)
        self.assertIn("launch-dram-read-sectors = 300 (2 points, 300 to 300)", said)
        self.assertIn("launch-fabric-read-sectors = 200 (2 points", said)

    def test_what_one_gpc_reads_says_nothing_of_sectors(self):
        points = [row("mma", 1, 2048, "static", 50, 1000, 500)]
        points.append(row("mma", 1, 4096, "static", 50, 1000, 500))
        counted = [row("mma", 1, 2048, "static", 50, 9000, 900)]
        counted.append(row("mma", 1, 4096, "static", 50, 1001, 502))
        _, said = self.said(points, counted, counted)
        self.assertIn("launch-dram-read-sectors = 1 (1 points", said)

    def test_a_successor_costs_what_grid_takes_longer(self):
        short = [row("mma", 1, 4096, "static", 50)]
        timed = [
            *short,
            row("hopper", 16, 7168, "static", 100),
            row("hopper", 16, 7168, "grid", 124),
        ]
        _, said = self.said(short, short, timed)  # 16 x 56 CTAs on 132 SMs: 6 have one behind them
        self.assertIn("[hopper] refill-ns = 4000 (1 points", said)

    def test_tables_without_a_common_point_are_refused(self):
        code, said = self.said(
            [row("mma", 1, 4096, "static", 5)], [], [row("mma", 1, 8192, "static", 5)]
        )
        self.assertEqual(code, 1)
        self.assertIn("no point of one head", said)


if __name__ == "__main__":
    unittest.main()
