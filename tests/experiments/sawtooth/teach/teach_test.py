"""`teach` finds the costs again from which durations were simulated, and refuses by name what it
cannot learn from; `advise` says what an order changes with them."""

import unittest

from in_folder import SMALL_GPU, InFolder, rows_of, write_table

COSTS = """[kernel]
description = a kernel
[every]
tensor-tflops = 4; assumed; test
exp-tera-per-s = 1; assumed; test
step-ns = {step}; assumed; test
fixed-ns = 0; assumed; test
exposed-ns = 0; assumed; test
age-bias = 0; assumed; test
item-begin-ns = 0; assumed; test
item-end-ns = 20000; assumed; test
lead-k-steps = {lead}; assumed; test
lead-v-steps = {lead}; assumed; test
waits-a-tile = {waits}; assumed; test
"""
POINT = ["--gpu=gpu.ini", "--head-dim=64", "--tile-q=64", "--tile-kv=64", "--launch=static"]
POINT += ["--timing=timed", "--l2=halves", "--quiet"]
# Inside L2 are up to 3K keys, beyond it 5K and more.
BOTH = "2K,3K,5K,6K"


class Teach(InFolder):
    def setUp(self):
        super().setUp()
        self.write("gpu.ini", SMALL_GPU)

    def simulated(self, costs, *options):
        """Rows that `costs` give."""
        words = ["simulate", *POINT, f"--kernel-costs={costs}", "--csv=-", *options]
        return rows_of(self.program(*words, code=0).stdout)

    def kernel(self, step, lead, waits):
        return self.write("truth.ini", COSTS.format(step=step, lead=lead, waits=waits))

    def measured(self, rows, **cells):
        """Predicted rows as if they had been measured."""
        for row in rows:
            row.update({"source": "measured", "gpu": "gpu.ini", "kernel": "mine", **cells})
        return rows

    def teach(self, rows):
        write_table(self.folder / "rows.csv", rows)
        return self.program("teach", "rows.csv", "--output", "taught.ini")

    def refused(self, rows, *words):
        done = self.teach(rows)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse((self.folder / "taught.ini").exists())

    def test_costs_taught_from_linear_rows_give_the_time_of_sawtooth(self):
        for lead, waits, says in ((0.12, 1, "steps ahead"), (0, 2, "times a tile"), (2, 1, "hide")):
            with self.subTest(lead=lead, waits=waits):
                truth = self.kernel(2000, lead, waits)
                rows = self.simulated(truth, f"--seq={BOTH}", "--scan=linear")
                done = self.teach(self.measured(rows))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(says, done.stdout)
                for scan in ("linear", "sawtooth"):
                    wanted, found = (
                        float(self.simulated(costs, "--seq=8K", f"--scan={scan}")[0]["time_us"])
                        for costs in (truth, "taught.ini")
                    )
                    self.assertAlmostEqual(found / wanted, 1, delta=0.015)

    def test_refusals_name_what_is_missing_or_contradicts(self):
        truth = self.kernel(2000, 0, 1)
        rows = self.measured(self.simulated(truth, f"--seq={BOTH}", "--scan=linear,sawtooth"))
        linear = [row for row in rows if row["scan"] == "linear"]
        sawtooth = [row for row in rows if row["scan"] == "sawtooth"]
        self.refused(linear[:2], "at least 3 rows of linear scans", "there are 2")
        self.refused(linear[:2] * 2, "beyond L2")
        self.refused(linear[2:] * 2, "inside L2")
        self.refused(linear + sawtooth[3:], "scan = sawtooth with K/V beyond L2", "allowed: linear")
        self.refused(linear + sawtooth[:2], "a second sawtooth row")
        self.refused(linear + [{**linear[0], "kernel": "other"}], "kernel = mine and of other")
        self.refused(linear + [{**linear[0], "time_us": "-1"}], "time_us: '-1'", "above 0")
        self.refused(linear + [{**linear[0], "time_us": "9000"}], "contradicts the other rows")
        self.refused([{**row, "gpu": ""} for row in linear], "has no gpu")
        self.refused(
            [{k: v for k, v in row.items() if k != "launch"} for row in linear], "'launch'"
        )
        self.refused([{**row, "workers": ""} for row in linear], "workers: is empty")

    def test_advise_says_what_an_order_changes_and_why(self):
        truth = self.kernel(1000, 0, 2)
        words = ["advise", *POINT, "--seq=8K", "--scan=linear,sawtooth", "--csv=-"]
        late = self.program(*words, f"--kernel-costs={truth}")
        self.assertEqual(late.returncode, 0, late.stderr)
        today, other = rows_of(late.stdout)
        self.assertEqual((today["scan"], today["time_change_percent"]), ("linear", "0.00"))
        self.assertIn("less exposed latency", other["why"])
        self.assertLess(float(other["time_change_percent"]), -1)
        # No change of a taught kernel was judged on this GPU.
        self.assertEqual((other["time_change_percent_high"], other["verdict"]), ("", "unknown"))
        # The change is that of the predictions themselves.
        linear, sawtooth = (
            float(self.simulated(truth, "--seq=8K", f"--scan={scan}")[0]["dram_read_sectors"])
            for scan in ("linear", "sawtooth")
        )
        change = 100 * (sawtooth / linear - 1)
        self.assertAlmostEqual(float(other["dram_change_percent"]), change, delta=2)

        early = self.program(*words, f"--kernel-costs={self.kernel(1000, 2, 1)}")
        other = rows_of(early.stdout)[1]
        self.assertEqual(other["why"], "misses are hidden behind computing")


if __name__ == "__main__":
    unittest.main()
