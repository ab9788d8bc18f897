#!/usr/bin/env python3
"""The table of the two ladders, from numbers that are written down here."""

import contextlib
import csv
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.append(
    str(pathlib.Path(__file__).resolve().parents[4] / "experiments" / "studies" / "ladder")
)

import cute_ladder


class CuteLadder(unittest.TestCase):
    def test_the_last_launch_of_each_level_counts(self):
        columns = cute_ladder.METRICS
        launches = [{name: str(i) for name in columns.values()} for i in range(8)]
        rows = list(cute_ladder.counter_rows("cute", 1024, launches))
        self.assertEqual([row["kernel"] for row in rows], [f"cute-{i}" for i in (1, 2, 3, 4)])
        self.assertEqual([row["dram_read_sectors"] for row in rows], ["4", "5", "6", "7"])

    def test_a_line_has_speed_conflicts_and_traffic_of_both(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            times, counters = [], []
            for length in cute_ladder.LENGTHS:
                flop = 4 * 2 * 8 * length**2 * 128
                for level in cute_ladder.LEVELS:
                    for family, speed in (("cute", 40e12), ("ladder", 50e12)):
                        kernel = {"kernel": f"{family}-{level}", "seq": length}
                        times.append({**kernel, "time_us": 1e6 * flop / (speed * level)})
                        read = 1000 if family == "ladder" else 1500
                        counted = {column: read for column in cute_ladder.METRICS}
                        counted.update(
                            bank_conflicts=read // level, dram_read_sectors=32768 * level
                        )
                        counters.append({**kernel, **counted})
                times.append(
                    {"kernel": "flash-attention-2", "seq": length, "time_us": 1e6 * flop / 300e12}
                )
            cute_ladder.write(folder / "times.csv", times)
            cute_ladder.write(folder / "counters.csv", counters)
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                cute_ladder.table(folder)
        lines = output.getvalue().splitlines()
        line = "| 2 pipelined | 100 | 80 | 50.00 % | 50.00 % | 1.500 | 1.500 | 2 | 2 |"
        self.assertEqual(lines.count(line), len(cute_ladder.LENGTHS))
        self.assertIn("FlashAttention-2 (PyTorch): 300 TFLOP/s", lines)
        self.assertIn("| 4 ldmatrix | 1.55 | 4.00 | 4.00 |", lines)  # 32.0 / 20.6

    def test_the_page_has_what_was_recorded(self):
        root = pathlib.Path(__file__).resolve().parents[4] / "experiments"
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            cute_ladder.table(root / "data" / "h200" / "cute")
        page = (root / "studies" / "ladder" / "README.md").read_text(encoding="utf-8")
        lines = [line for line in output.getvalue().splitlines() if line.startswith("| ")]
        self.assertEqual(len(lines), 10)  # two tables of four levels
        for line in lines[:5]:
            self.assertIn(line, page)
        for line in lines[6:]:
            level, _, cute, raw = line.strip("| ").split(" | ")
            self.assertRegex(page, rf"\| {level} \|.* {cute} \| {raw} \|")


if __name__ == "__main__":
    unittest.main()
