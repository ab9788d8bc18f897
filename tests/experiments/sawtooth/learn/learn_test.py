"""`learn` finds the description and the costs again from which rows were simulated, predicts launches that it held
back, and refuses by name what it cannot learn from."""

import os
import re
import unittest

from in_folder import SMALL_GPU, InFolder, rows_of, write_table

SYSTEM = """launch = {launch}
{workers}
ctas-per-sm = 1
tile-q = 64
tile-kv = 64
q-order = {q_order}
scan = {scan}
[system]
description = the truth
[costs]
tensor-tflops = 4
exp-tera-per-s = 1
step-ns = 2000
exposed-ns = 0
item-end-ns = 20000
lead-k-steps = 0
lead-v-steps = 0
waits-a-tile = 2
age-bias = 0
[costs mask=causal]
step-ns = 2600
"""
POINTS = ["--gpu=gpu.ini", "--head-dim=64", "--heads=1,2", "--quiet"]
POINTS += ["--timing=timed", "--l2=halves"]
LEARN = ["learn", "--gpu=h200", "--head-dim=64", "--kernel=x", "--output", "mine.ini"]


class Learn(InFolder):
    def setUp(self):
        super().setUp()
        self.write("gpu.ini", SMALL_GPU)

    def truth(self, launch="static", workers="workers = 4", q_order="ascending", scan="linear"):
        text = SYSTEM.format(launch=launch, workers=workers, q_order=q_order, scan=scan)
        return self.write("truth.ini", text)

    def simulated(self, system, *options, mask="none,causal"):
        words = ["simulate", *POINTS, f"--mask={mask}", f"--system=./{system}", "--csv=-", *options]
        return rows_of(self.program(*words, code=0).stdout)

    def recorded(self, rows):
        """Predicted rows as `record` and the program that it ran would have them."""
        for row in rows:
            items = -(-int(row["seq_q"]) // 64) * int(row["heads"])
            ctas = items if row["launch"] == "grid" else min(4, items)
            row.update(source="measured", gpu="gpu.ini", kernel_name="theirs", scan="", tile_q="")
            row.update(grid=f"{ctas}x1x1", block="256x1x1", shared_bytes="200000", registers="255")
        return sorted(rows, key=lambda row: (row["mask"], row["heads"], int(row["seq_q"])))

    def learn(self, rows, *words):
        write_table(self.folder / "rows.csv", rows)
        return self.program("learn", "--rows", "rows.csv", "--output", "mine.ini", *words)

    def test_order_and_costs_a_mask_are_found_again(self):
        for mask, schedule in (
            ("none,causal", dict(q_order="descending", scan="linear")),
            ("none", dict(scan="sawtooth")),
            ("none,causal", dict(launch="grid", workers="", q_order="ascending", scan="reverse")),
        ):
            with self.subTest(**schedule):
                self.truth(**schedule)
                lengths = "--seq=2K,3K,5K,6K,7K,8K"
                rows = self.recorded(self.simulated("truth.ini", lengths, mask=mask))
                done = self.learn(rows, "--budget=12")
                self.assertEqual(done.returncode, 0, done.stderr)
                learnt = self.read("mine.ini")
                for key, value in schedule.items():
                    if value:
                        self.assertIn(f"{key.replace('_', '-')} = {value}\n", learnt)
                self.assertIn("tile-q = 64\n", learnt)
                self.assertIn("launches held back:", done.stdout)
                wanted, found = (
                    self.simulated(system, "--seq=6K", mask=mask)
                    for system in ("truth.ini", "mine.ini")
                )
                for real, ours in zip(wanted, found, strict=True):
                    for column, delta in (("time_us", 0.03), ("dram_read_sectors", 0.03)):
                        ratio = float(ours[column]) / float(real[column])
                        self.assertAlmostEqual(ratio, 1, delta=delta, msg=(column, real["mask"]))

    def test_reads_tell_what_durations_do_not(self):
        """Latencies are hidden, and spilled registers take an eighth of L2. Launches beyond L2 take longer, as if they
        waited for misses; then CTAs would keep together and read less."""
        taken = 2**20 // 8 // 4  # of a CTA, of four
        text = SYSTEM.format(launch="grid", workers="", q_order="ascending", scan="reverse")
        text = text.replace("-steps = 0", "-steps = 1")
        text = text.replace("waits-a-tile = 2", f"waits-a-tile = 1\nspill-bytes = {taken}")
        self.write("truth.ini", text)
        rows = self.recorded(self.simulated("truth.ini", "--seq=2K,3K,5K,6K,8K"))
        for row in rows:
            bent = 1.08 if int(row["seq_q"]) > 4096 else 1
            row["time_us"] = str(float(row["time_us"]) * bent)
        done = self.learn(rows, "--budget=12")
        self.assertEqual(done.returncode, 0, done.stderr)
        learnt = self.read("mine.ini")
        self.assertIn("lead-k-steps = 1.0000", learnt)
        self.assertIn(f"spill-bytes = {taken} ", learnt)
        wanted, found = (self.simulated(s, "--seq=7K") for s in ("truth.ini", "mine.ini"))
        for real, ours in zip(wanted, found, strict=True):
            ratio = float(ours["dram_read_sectors"]) / float(real["dram_read_sectors"])
            self.assertAlmostEqual(ratio, 1, delta=0.05, msg=(real["mask"], real["heads"]))

    def test_held_back_launches_are_printed_with_their_errors(self):
        self.truth()
        rows = self.recorded(self.simulated("truth.ini", "--seq=2K,5K,7K,8K"))
        done = self.learn(rows)
        held = done.stdout.split("launches held back:\n")[1]
        errors = r"seq \d+, heads \d, (none|causal): .*predicted (\S+) %; .*predicted (\S+) %"
        lines = re.findall(errors, held)
        self.assertEqual(len(lines), len(rows) - 6)
        for _, time, reads in lines:  # 5K keys stand at the edge of L2
            self.assertLess(abs(float(time)), 8)
            self.assertLess(abs(float(reads)), 12)

    def test_refusals_name_what_is_missing(self):
        self.truth()
        rows = self.recorded(self.simulated("truth.ini", "--seq=2K,5K,7K"))
        for change, words in (
            (lambda row: {**row, "grid": ""}, ("rows.csv:2", "grid is missing")),
            (lambda row: {**row, "grid": "4x1"}, ("grid: '4x1'", "128x4x1")),
            (lambda row: {**row, "time_us": "-1"}, ("time_us: '-1'", "above 0")),
            (lambda row: {**row, "grid": f"{int(row['seq_q']) // 8 + 1}x1x1"}, ("--tile-q",)),
        ):
            done = self.learn([change(row) for row in rows])
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
            for word in words:
                self.assertIn(word, done.stderr)
            self.assertFalse((self.folder / "mine.ini").exists())
        mixed = [{**row, "kernel_name": str(i)} for i, row in enumerate(rows + rows)]
        mixed.sort(key=lambda row: (row["mask"], row["heads"], int(row["seq_q"])))
        self.assertIn("several kernels ran", self.learn(mixed).stderr)
        self.write("rows.csv", "gpu,seq_q\n")
        done = self.program("learn", "--rows", "rows.csv", "--output", "mine.ini")
        self.assertEqual(
            (done.returncode, done.stderr), (2, "sawtooth: rows.csv: has no launches\n")
        )
        self.assertEqual(self.learn(rows, "--csv", "mine.ini").returncode, 2)
        self.assertFalse((self.folder / "mine.ini").exists())
        inside = [row for row in rows if row["seq_q"] == "2048"]
        self.assertIn("one beyond", self.learn(inside).stderr)

    def test_a_command_needs_what_stands_for_its_length(self):
        for given, said in (
            (LEARN[:2] + LEARN[3:] + ["--", "true", "{seq}"], "--head-dim is missing"),
            (LEARN + ["--", "true"], "the command has no {seq}"),
            (LEARN, "give either --rows RECORDED.csv or a command"),
            (LEARN + ["--dtype=x", "--", "true", "{seq}"], "dtype: 'x' is not allowed"),
        ):
            done = self.program(*given)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)

    @unittest.skipIf(os.path.exists("/dev/nvidia0"), "there is a GPU")
    def test_without_a_gpu_it_ends_with_3_and_leaves_nothing(self):
        done = self.program(*LEARN, "--", "touch", "ran-{seq}")
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (3, 1), done.stderr)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["gpu.ini"])


if __name__ == "__main__":
    unittest.main()
