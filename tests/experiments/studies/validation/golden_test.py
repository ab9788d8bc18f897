"""The shipped profile, die and kernel give the counts that were published when the model was judged.

DRAM reads and times are those of experiments/studies/validation/results/points.csv, as predicted for
points that judged the model: they are no measurement and no formula, so that a change in any of them
is a change of what was published, and needs a higher model_version and new results. All other counts
follow from the problem: every digit of them is derived here.
"""

import csv
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = os.path.abspath(sys.argv.pop(1))
ROOT = Path(__file__).resolve().parents[4]
STUDY = ROOT / "experiments/studies/validation"

# Sections of lists/judgement.ini: the launches, one and two CTAs an SM, three scans, and what is
# recorded of them.
POINTS = {
    "38a": {"launch": "grid", "scan": "linear", "dram_read_sectors": 4365632},
    "38b": {"launch": "static", "scan": "sawtooth", "dram_read_sectors": 6414400},
    "38c": {"launch": "dynamic", "scan": "linear", "dram_read_sectors": 11927424},
}
SECTOR = 32
LAUNCH_DRAM_READ_SECTORS = 3008  # launch-... of the GPU's profile
LAUNCH_FABRIC_READ_SECTORS = 2928
TILE_Q = 128


def judged(name):
    with open(STUDY / "lists.csv", encoding="utf-8") as file:
        return next(row for row in csv.DictReader(file) if row["list"] == name)


def list_of(sections):
    blocks = (STUDY / "lists/judgement.ini").read_text(encoding="utf-8").split("\n\n")
    wanted = tuple(f"[{section}]" for section in sections)
    return "\n\n".join([blocks[0], *(block for block in blocks if block.startswith(wanted))])


def recorded():
    with open(STUDY / "results/points.csv", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["list"] == "judgement"]


class Golden(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        about = judged("judgement")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "list.ini")
            Path(path).write_text(list_of(POINTS), encoding="utf-8")
            words = [
                "simulate",
                path,
                "--timing",
                "timed",
                "--l2",
                "halves",
                "--quiet",
                "--csv",
                "-",
            ]
            words += ["--launches", about["launches"]]
            words += ["--die", str(ROOT / "experiments" / about["die"])]
            ended = subprocess.run(
                [PROGRAM, *words], capture_output=True, text=True, timeout=100, check=True
            )
        cls.rows = list(csv.DictReader(ended.stdout.splitlines()))

    def row_of(self, point):
        same = [row for row in self.rows if all(row[k] == point[k] for k in ("launch", "scan"))]
        self.assertEqual(len(same), 1)
        return same[0]

    def test_dram_reads_and_times_are_those_that_were_published(self):
        self.assertEqual(len(self.rows), len(POINTS))
        for section, point in POINTS.items():
            row = self.row_of(point)
            keys = ("heads", "seq_kv", "mask", "tile_kv", "section", "q_order", "launch", "scan")
            published = {
                old["counter"]: old["predicted"]
                for old in recorded()
                if all(old[key] == row[key] for key in keys)
            }
            self.assertEqual(int(published["dram_read_sectors"]), point["dram_read_sectors"])
            self.assertEqual(int(row["dram_read_sectors"]), point["dram_read_sectors"], section)
            time = float(published["time_us"])
            self.assertAlmostEqual(float(row["time_us"]) / time, 1, delta=1e-6, msg=section)

    def test_all_other_counts_follow_from_the_problem(self):
        for section, point in POINTS.items():
            row = {
                name: int(value)
                for name, value in self.row_of(point).items()
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
