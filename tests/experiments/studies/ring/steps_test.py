"""steps.py: which steps of rings are compared, how those of a GPU are summed, and times of whole rings."""

import subprocess
import sys
import unittest

from in_folder import ROOT, InFolder, rows_of, write_table

RING = dict(ring=2, head_dim=128, seq_q=65536, mask="none", ring_order="plain", ring_mover="copy")
SCHEDULE = dict(scan="linear", launch="static", tile_q=128, tile_kv=128, q_order="ascending")
OTHERS = dict(heads=8, kv_heads=8, section=1, status="ok", timing="timed")
OTHERS |= dict(l2="halves", gpu="h100-sxm", kernel="hopper")


def step(rank, number, reads, time_us, **others):
    counts = dict(sm_read_sectors=1000, dram_read_sectors=reads, time_us=time_us, exposed_us=0)
    return RING | SCHEDULE | OTHERS | dict(ring_rank=rank, ring_step=number) | counts | others


class Steps(InFolder):
    def errors(self, *tables):
        """{(of, counter): errors} of a predicted and of measured tables."""
        paths = [write_table(self.folder / f"{i}.csv", rows) for i, rows in enumerate(tables)]
        program = ROOT / "experiments/studies/ring/steps.py"
        command = [sys.executable, program, *paths, "--csv", self.folder / "errors.csv"]
        subprocess.run(command, check=True)
        found = {}
        for row in rows_of(self.read("errors.csv")):
            key = row["of"], row["counter"]
            found.setdefault(key, []).append(round(float(row["relative_error"]), 6))
        return found

    def test_steps_of_a_gpu_are_summed_and_each_is_compared_with_the_median_of_its_launches(self):
        predicted = [step(0, 0, 100, 10), step(0, 1, 300, 20)]
        measured = [step(0, 0, reads, us) for reads, us in ((199, 11), (200, 8), (900, 8))]
        found = self.errors(predicted, [*measured, step(0, 1, 300, 25)])
        self.assertEqual(found["GPU", "dram_read_sectors"], [-0.2])  # 100 + 300 beside 200 + 300
        self.assertEqual(found["step", "dram_read_sectors"], [-0.5, 0])
        self.assertEqual(found["step", "time_us"], [0.25, -0.2])  # 10 beside 8, 20 beside 25

    def test_times_are_those_of_the_last_file(self):
        predicted = [step(0, 0, 100, 10)]
        found = self.errors(predicted, [step(0, 0, 100, 99)], [step(0, 0, "", 20)])
        self.assertEqual(found["step", "time_us"], [-0.5])
        self.assertEqual(found["step", "dram_read_sectors"], [0])

    def test_whole_rings_and_steps_that_failed_or_were_not_predicted_are_left_out(self):
        predicted = [step(0, 0, 100, 10), step("all", "all", 100, 10)]
        measured = [
            step(0, 0, 100, 10),
            step(0, 0, 900, 90, status="failed"),
            step("all", "all", 900, 90),
            step(1, 0, 900, 90),
        ]
        self.assertEqual(self.errors(predicted, measured)["step", "dram_read_sectors"], [0])

    def test_a_ring_takes_as_long_as_the_steps_and_waits_of_its_slowest_gpu(self):
        predicted = [
            step(0, 0, 1, 1000),
            step(0, 1, 1, 1000, scan="reverse"),
            step(1, 0, 1, 900, exposed_us=1200),
        ]
        found = self.errors(predicted, [dict(RING, ring_ms=2)])
        self.assertEqual(found, {("ring", "time_us"): [0.05]})


if __name__ == "__main__":
    unittest.main()
