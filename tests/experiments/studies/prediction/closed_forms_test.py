"""Counts that follow from the problem, of points of the prediction study: every digit of them is derived here."""

import sys
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "support"))
from in_folder import InFolder, rows_of  # noqa: E402  (the path above leads to it)

# A causal problem of the list judgement with its three schedules: the launches, one and two CTAs an SM, both scans.
LIST = """gpu = h200
mask = causal
head-dim = 128
heads = 32
seq = 4608
tile-q = 128
tile-kv = 64

[one CTA after another, two on an SM]
launch = grid
ctas-per-sm = 2
section = 16

[shares]
launch = static
tile-kv = 128
q-order = descending
scan = sawtooth
section = 16

[tickets]
launch = dynamic
q-order = descending
section = 32
"""
SECTOR = 32
LAUNCH_DRAM_READ_SECTORS = 3008  # launch-... of the GPU's profile
LAUNCH_FABRIC_READ_SECTORS = 2928
TILE_Q = 128


class ClosedForms(InFolder):
    def test_counts_of_every_launch_follow_from_the_problem(self):
        self.write("list.ini", LIST)
        words = "simulate list.ini --timing=timed --l2=halves --quiet --csv=-"
        rows = rows_of(self.program(words, code=0).stdout)
        self.assertEqual([row["launch"] for row in rows], ["grid", "static", "dynamic"])
        for cells in rows:
            section = cells["launch"]
            row = {
                name: int(value)
                for name, value in cells.items()
                if name.endswith("_sectors") or name in ("heads", "seq_q", "head_dim", "tile_kv")
                if value
            }
            row_sectors = row["head_dim"] * 2 // SECTOR
            tensor = row["heads"] * row["seq_q"] * row_sectors
            # Q tile i sees the K/V tiles up to its last row.
            seen = sum(
                -((i + 1) * -TILE_Q // row["tile_kv"]) for i in range(row["seq_q"] // TILE_Q)
            )
            scanned = row["heads"] * seen * row["tile_kv"] * row_sectors
            self.assertEqual(row["sm_read_sectors"], tensor + 2 * scanned, section)
            self.assertEqual(row["cold_read_sectors"], 3 * tensor, section)
            self.assertEqual(row["l2_write_sectors"], tensor, section)
            self.assertEqual(row["l2_write_miss_sectors"], tensor, section)
            # What a launch reads beside its tensors is no near miss.
            from_dram = row["dram_read_sectors"] - LAUNCH_DRAM_READ_SECTORS
            over_fabric = row["fabric_read_sectors"] - LAUNCH_FABRIC_READ_SECTORS
            crossed = over_fabric - row["fabric_read_miss_sectors"]
            self.assertEqual(row["l2_read_miss_sectors"], from_dram + crossed)


if __name__ == "__main__":
    unittest.main()
