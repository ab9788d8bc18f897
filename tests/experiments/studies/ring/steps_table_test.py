"""steps_table.py: which steps are compared, how those of a GPU are summed, and what is said of them."""

import csv
import hashlib
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
PROGRAM = ROOT / "experiments/studies/ring/steps_table.py"
RING = {
    "ring": "2",
    "head_dim": "128",
    "seq_q": "65536",
    "mask": "none",
    "ring_order": "plain",
    "ring_mover": "copy",
    "scan": "linear",
    "launch": "static",
    "tile_q": "128",
    "tile_kv": "128",
    "heads": "8",
    "kv_heads": "8",
    "q_order": "ascending",
    "section": "1",
    "status": "ok",
}


def step(rank, number, reads, time_us, **others):
    return {
        **RING,
        "ring_rank": str(rank),
        "ring_step": str(number),
        "sm_read_sectors": "1000",
        "cold_read_sectors": "100",
        "dram_read_sectors": str(reads),
        "time_us": str(time_us),
        **others,
    }


def printed(predicted, measured, *options):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, rows in (("predicted", predicted), ("measured", measured)):
            paths.append(f"{folder}/{name}.csv")
            with open(paths[-1], "w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
        done = subprocess.run(
            [sys.executable, PROGRAM, *paths, *options], capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()


class Steps(unittest.TestCase):
    def test_steps_of_a_gpu_are_summed_and_each_is_compared_with_the_median_of_its_launches(self):
        predicted = [step(0, 0, 100, 10), step(0, 1, 300, 20)]
        measured = [
            step(0, 0, reads, time_us) for reads, time_us in ((199, 11), (200, 8), (900, 8))
        ]
        measured.append(step(0, 1, 300, 25))
        lines = printed(predicted, measured)
        # 100 + 300 beside 200 + 300.
        self.assertIn("| dram_read a GPU | 1 | 20.0 | 20.0 | 20.0 | -20.0 |", lines)
        # -50 and 0 %; beyond 1.5 x compulsory is the second step alone.
        self.assertIn("| dram_read a step | 2 | 25.0 | 50.0 | 50.0 | -25.0 |", lines)
        self.assertIn(
            "| dram_read a step, over 1.5 x compulsory | 1 | 0.0 | 0.0 | 0.0 | +0.0 |", lines
        )
        # 10 beside 8, 20 beside 25.
        self.assertIn("| time a step | 2 | 22.5 | 25.0 | 25.0 | +2.5 |", lines)

    def test_whole_rings_and_steps_that_failed_or_were_not_predicted_are_left_out(self):
        predicted = [step(0, 0, 100, 10), step("all", "all", 100, 10)]
        measured = [
            step(0, 0, 100, 10),
            step(0, 0, 900, 90, status="failed"),
            step("all", "all", 900, 90),
            step(1, 0, 900, 90),
        ]
        self.assertIn(
            "| dram_read a step | 1 | 0.0 | 0.0 | 0.0 | +0.0 |", printed(predicted, measured)
        )

    def test_a_table_for_each_value_of_a_column_and_a_line_a_step(self):
        predicted = [step(0, 0, 100, 10), step(0, 0, 200, 10, scan="sawtooth")]
        lines = printed(predicted, predicted, "--by", "scan")
        self.assertEqual(
            [line for line in lines if line.startswith("scan")], ["scan linear", "scan sawtooth"]
        )
        self.assertEqual(len(printed(predicted, predicted, "--lines", "dram_read")), 2)

    def test_the_recorded_rings_of_two_h100_have_the_errors_that_the_study_says(self):
        study = ROOT / "experiments/studies/ring"
        said = (study / "README.md").read_text(encoding="utf-8")
        for passes in ("judged", "backward", "drawn"):
            recorded = ROOT / f"experiments/data/h100/ring/{passes}"
            done = subprocess.run(
                [
                    sys.executable,
                    PROGRAM,
                    study / f"results/{passes}_h100.csv",
                    f"{recorded}_counters.csv",
                    f"{recorded}_times.csv",
                ],
                capture_output=True,
                text=True,
                check=True,
            )
            for name, of in (
                ("dram_read a GPU", "DRAM reads of a GPU"),
                ("dram_write a GPU", "DRAM writes of a GPU"),
                ("time a step", "time of a step"),
            ):
                row = next(
                    line for line in done.stdout.splitlines() if line.startswith(f"| {name} |")
                )
                figures = row.split("|")[2:6]
                self.assertIn(f"| {of} |" + "|".join(figures) + "|", said)

    def test_the_drawn_rings_are_those_that_were_sealed(self):
        said = (ROOT / "experiments/studies/ring/README.md").read_text(encoding="utf-8")
        for what in ("counters", "times"):
            rows = (ROOT / f"experiments/data/h100/ring/drawn_{what}.csv").read_bytes()
            rows = rows.replace(b",h100-sxm,", b",h200,")  # as the program was told
            self.assertIn(hashlib.sha256(rows).hexdigest()[:16], said)


if __name__ == "__main__":
    unittest.main()
