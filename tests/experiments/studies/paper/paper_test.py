"""experiments/studies/paper: closed forms against sums by hand, and throughput.py against a program of which the times are known."""

import stat
import subprocess
import sys
import unittest

from in_folder import ROOT, InFolder

PAPER = ROOT / "experiments" / "studies" / "paper"
sys.path.append(str(PAPER))
import closed_forms  # noqa: E402  (the path above leads to it)
import throughput  # noqa: E402

HEADER = "mask,tile_q,seq_kv,head_dim,dtype,l2_read_sectors,l2_write_sectors\n"


class ClosedForms(InFolder):
    def test_a_ragged_length_by_hand(self):
        # S = 5, T = 2: Q tiles end at rows 2, 4 and 5. 4 sectors a row. No mask: Q 4 x 5 = 20, and
        # K and V 2 x 4 x (5 + 5 + 5) = 120. Causal: K and V 2 x 4 x (2 + 4 + 5) = 88. O: 20.
        self.assertEqual(closed_forms.exact(5, 2, "none", 4), (140, 20))
        self.assertEqual(closed_forms.exact(5, 2, "causal", 4), (108, 20))

    def test_the_papers_formula_is_exact_where_the_tile_divides_the_length(self):
        # 8 S (1 + S/T) and 8 S (S/2T + 3/2) at D = 64, two bytes an element.
        for length, tile in ((4096, 64), (131072, 128)):
            for mask, passes in (("none", 1 + length / tile), ("causal", length / tile / 2 + 1.5)):
                with self.subTest(length=length, mask=mask):
                    total = sum(closed_forms.exact(length, tile, mask, 4))
                    self.assertEqual(total, 8 * length * passes)
                    self.assertEqual(closed_forms.paper(length, tile, mask, 4), total)

    def check(self, reads):
        # 5 rows of 64 elements of 2 bytes: 4 sectors a row, the case by hand above.
        self.write("results.csv", HEADER + f"causal,2,5,64,bf16,{reads},20\n")
        command = [sys.executable, PAPER / "closed_forms.py", "closed_forms.csv", "results.csv"]
        return subprocess.run(command, capture_output=True, text=True, cwd=self.folder)

    def test_the_check_passes_the_exact_count_and_fails_one_sector_more(self):
        self.assertEqual(self.check(108).returncode, 0)
        wrong = self.check(109)
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("mask causal, T 2, S 5: predicted (109, 20), exact (108, 20)", wrong.stderr)


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
# The kernel with tiles of 64 at 61 TFLOP/s.
STEP_AND_LATENCY_NS = 4 * 64 * 64**2 * 48 / 61 / 1e3


class Throughput(InFolder):
    def rows(self, **changes):
        point = throughput.KERNELS["cutile-gb10"] | dict(leads=(0,)) | changes
        program = self.folder / self.write("program", PROGRAM)
        program.chmod(stat.S_IRWXU)
        wanted = throughput.cases({"cutile-gb10": point}, [("static", "ascending")])
        return [throughput.completed(str(program), row, point) for row in wanted]

    def test_the_step_is_what_the_linear_throughput_leaves_and_sawtooth_follows_from_it(self):
        row = next(row for row in self.rows() if row["latency_dram_ns"] == "360")
        step_ns = STEP_AND_LATENCY_NS - 360
        self.assertAlmostEqual(float(row["step_ns"]), step_ns, delta=0.01 * STEP_AND_LATENCY_NS)
        gain = float(row["sawtooth"]) / 61
        self.assertAlmostEqual(gain, STEP_AND_LATENCY_NS / step_ns, delta=0.02 * gain)

    def test_a_case_that_cannot_reach_the_linear_throughput_stays_empty(self):
        for row in self.rows(waits=(3,)):  # 3 x 360 ns are more than the 825 ns of a step
            self.assertEqual((row["step_ns"], row["sawtooth"]), ("", ""))


if __name__ == "__main__":
    unittest.main()
