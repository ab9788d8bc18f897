"""Rings by the program: rows of the whole and of its parts, and the command without a GPU."""

import os
import unittest

from in_folder import rows, run  # noqa: E402  (the path above leads to it)

POINT = ["--gpu", "h200", "--seq", "4K", "--heads", "2", "--head-dim", "128", "--mask", "causal"]


def of_point(command, *options):
    return run(command, *POINT, *options)


def simulated(*options):
    return rows("simulate", *POINT, *options, "--quiet", "--csv", "-")


class Rings(unittest.TestCase):
    def test_the_whole_is_the_sum_of_its_parts_and_its_longest_gpu(self):
        whole, *parts = simulated("--ring", "2", "--kernel", "hopper", "--timing", "timed")
        self.assertEqual((whole["ring_rank"], whole["ring_step"]), ("all", "all"))
        self.assertEqual(
            [(row["ring_rank"], row["ring_step"]) for row in parts],
            [("0", "0"), ("0", "1"), ("1", "0"), ("1", "1")],
        )
        for counter in ("dram_read_sectors", "sm_read_sectors", "l2_write_sectors"):
            self.assertEqual(int(whole[counter]), sum(int(row[counter]) for row in parts), counter)
        gpus = [
            sum(float(row["time_us"]) + float(row["exposed_us"]) for row in parts[i : i + 2])
            for i in (0, 2)
        ]
        self.assertAlmostEqual(float(whole["time_us"]), max(gpus), delta=0.05)
        alone = simulated("--kernel", "hopper", "--timing", "timed")[0]
        share = float(alone["time_us"]) / (2 * float(whole["time_us"]))
        self.assertAlmostEqual(float(whole["of_ideal"]), share, delta=1e-3)
        # K and V of half of the rows come to each GPU.
        incoming = 2 * 2 * 2 * 2048 * 256 // 32
        self.assertEqual(int(whole["incoming_write_sectors"]), incoming)
        self.assertEqual(int(whole["outgoing_read_sectors"]), incoming)

    def test_a_backward_pass_sends_gradients_back(self):
        whole, *parts = simulated(
            "--ring", "2", "--pass", "backward", "--kernel", "hopper", "--timing", "timed"
        )
        self.assertEqual(len(parts), 4)
        # K and V of half of the rows come to each GPU; of GPU 0's keys one chunk is seen by GPU 1,
        # of GPU 1's both by the second rows of GPU 0.
        keys = 2 * 2 * 2048 * 256 // 32
        self.assertEqual(int(whole["incoming_write_sectors"]), 2 * keys + keys // 2 + keys)
        last = [row for row in parts if row["ring_step"] == "1"]
        for row in last:
            self.assertGreater(float(row["exposed_us"]), 0)
        self.assertLess(float(whole["of_ideal"]), 1)

    def test_shards_and_one_process_have_the_same_rows(self):
        options = ("--ring", "2", "--l2", "lru", "--timing", "lockstep")
        whole = simulated(*options)
        parts = [row for i in (1, 2) for row in simulated(*options, "--shard", f"{i}/2")]
        self.assertEqual(
            sorted(row["run_id"] for row in parts), sorted(row["run_id"] for row in whole)
        )
        by_id = {row["run_id"]: row for row in whole}
        for row in parts:
            self.assertEqual(row, by_id[row["run_id"]])

    def test_one_gpu_counts_as_without_a_ring(self):
        alone = simulated()[0]
        ring = simulated("--ring", "1")[0]
        for counter in ("dram_read_sectors", "l2_read_sectors", "l2_write_sectors", "time_us"):
            self.assertEqual(ring[counter], alone[counter], counter)

    def test_tables_of_one_launch_are_refused(self):
        ended = of_point("simulate", "--ring", "2", "--timeline", "t.json")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("timeline: a ring has none", ended.stderr)

    def test_a_dry_run_says_what_meets_what(self):
        ended = of_point("ring", "--ring", "2", "--dry-run")
        if "built without a CUDA compiler" in ended.stderr:
            self.assertEqual(ended.returncode, 3)
            return
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("2097152 bytes of K and V a step and GPU by copy", ended.stdout)
        self.assertIn(
            "rank 0 step 1: rows 1024 to 2047 meet keys 0 to 2047 of rank 1, all of them",
            ended.stdout,
        )
        self.assertIn("rank 1 step 1: rows 0 to 2047 meet keys 0 to 1023 of rank 0", ended.stdout)
        ended = of_point("ring", "--ring", "2", "--dry-run", "--pass", "backward")
        self.assertIn("up to as many of dK and dV back", ended.stdout)

    def test_it_names_what_is_missing(self):
        built = "built without" not in of_point("ring", "--ring", "2", "--dry-run").stderr
        if not built:
            return
        ended = of_point("ring")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("--ring N", ended.stderr)
        ended = of_point("ring", "--ring", "2", "--devices", "0,x")
        self.assertIn("2 numbers of CUDA devices", ended.stderr)
        if not os.path.exists("/dev/nvidia0"):
            ended = of_point("ring", "--ring", "2", "--csv", os.devnull)
            self.assertEqual(ended.returncode, 3)
            self.assertEqual(len(ended.stderr.strip().splitlines()), 1, ended.stderr)


if __name__ == "__main__":
    unittest.main()
