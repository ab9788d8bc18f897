"""throughput.py against a program of which the times are known."""

import os
import stat
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
sys.path.append(str(ROOT / "experiments" / "studies" / "paper"))
import throughput  # noqa: E402  (the path above leads to it)

# Linear takes the step and one latency more, sawtooth the step alone: TFLOP/s of 48 SMs.
PROGRAM = """#!/usr/bin/env python3
import re, sys
option = lambda name: sys.argv[sys.argv.index("--" + name) + 1]
value = lambda path, key: float(re.search(f"(?m)^{key} = ([^;]*);", open(path).read())[1])
ns = value(option("kernel-costs"), "step-ns")
if option("scan") == "linear":
    ns += value(option("gpu"), "latency-dram-ns") * value(option("kernel-costs"), "waits-a-tile")
with open(option("csv"), "w") as rows:
    print("tflops", 4 * 64 * int(option("tile-q")) ** 2 * 48 / ns / 1e3, sep="\\n", file=rows)
"""
STEP_AND_LATENCY_NS = (
    4 * 64 * 64**2 * 48 / 61 / 1e3
)  # of the kernel with tiles of 64 at 61 TFLOP/s


class Throughput(unittest.TestCase):
    def rows(self, **changes):
        point = throughput.KERNELS["cutile-gb10"] | dict(leads=(0,)) | changes
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "program")
            Path(program).write_text(PROGRAM)
            os.chmod(program, stat.S_IRWXU)
            wanted = throughput.cases({"cutile-gb10": point}, [("static", "ascending")])
            return [throughput.completed(program, row, point) for row in wanted]

    def test_the_step_is_what_the_linear_throughput_leaves_and_sawtooth_follows_from_it(self):
        row = next(row for row in self.rows() if row["latency_dram_ns"] == "360")
        step_ns = STEP_AND_LATENCY_NS - 360
        self.assertAlmostEqual(float(row["step_ns"]), step_ns, delta=0.01 * STEP_AND_LATENCY_NS)
        gain = float(row["sawtooth"]) / 61
        self.assertAlmostEqual(gain, STEP_AND_LATENCY_NS / step_ns, delta=0.02 * gain)

    def test_a_case_that_cannot_reach_the_linear_throughput_stays_empty(self):
        for row in self.rows(waits=(3,)):  # 3 x 360 ns are more than the 825 ns of a step
            self.assertEqual((row["step_ns"], row["sawtooth"]), ("", ""))

    def test_a_key_that_a_profile_lacks_is_named(self):
        with self.assertRaisesRegex(ValueError, "step-ns: stands 0 times"):
            throughput.with_values("lead-k-steps = 1; assumed; n\n", step_ns=5)


if __name__ == "__main__":
    unittest.main()
