#!/usr/bin/env python3
"""The judgement of measured schedules: on made-up rows by hand, and README.md's of the recorded ones."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
STUDY = ROOT / "experiments/studies/search"
sys.path.insert(0, str(STUDY))
import proof  # noqa: E402  (the path above leads to it)

SHAPE = "gpu,head_dim,batch,heads,kv_heads,seq_kv,mask"
POINT = "h200,128,1,2,2,512,none"
SCHEDULES = ("grid,linear,ascending,1", "static,linear,ascending,2", "dynamic,sawtooth,ascending,2")


def printed(*arguments):
    output, before = io.StringIO(), sys.argv
    sys.argv = ["proof.py", *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(output):
            proof.main()
    finally:
        sys.argv = before
    return output.getvalue()


class Proof(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def table(self, name, columns, values):
        """A row a schedule of SCHEDULES; one without values is left out."""
        lines = [f"{SHAPE},launch,scan,q_order,section,{columns}"]
        lines += [f"{POINT},{s},{v}" for s, v in zip(SCHEDULES, values) if v]
        path = self.folder / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def test_regret_and_excess_are_those_of_the_choices_against_the_best_measured(self):
        # Search takes the dynamic one; the static one, 0.5 % later, has the fewest predicted reads.
        found = self.table(
            "found.csv",
            "rank,time_us,dram_read_sectors",
            ("3,110,400", "2,100.5,100", "1,100,200"),
        )
        times = self.table("times.csv", "time_us", ("108", "100", "102"))
        counters = self.table("counters.csv", "dram_read_sectors", ("300", "120", "90"))
        (row,) = proof.judged(found, times, counters)
        self.assertEqual(row["chosen"], "dynamic sawtooth ascending 2")
        self.assertAlmostEqual(row["regret"], 0.02)
        self.assertEqual(row["frugal"], "static linear ascending 2")
        # The dynamic one reads less, but is not within 1 % of the least time.
        self.assertAlmostEqual(row["dram_excess"], 0)
        self.assertEqual(row["usual_us"], 108)

    def test_a_shape_without_all_its_counters_is_left_out(self):
        found = self.table(
            "found.csv", "rank,time_us,dram_read_sectors", ("3,110,400", "2,100.5,100", "1,100,200")
        )
        times = self.table("times.csv", "time_us", ("108", "100", "100.2"))
        counters = self.table("counters.csv", "dram_read_sectors", ("300", "120", ""))
        self.assertEqual(list(proof.judged(found, times, counters)), [])

    def test_drawn_are_the_choices_and_the_usual_schedule_first(self):
        found = self.table(
            "found.csv", "rank,time_us,dram_read_sectors", ("3,110,400", "2,100.5,100", "1,100,200")
        )
        text = printed("draw", found, "--seed", 1, "--schedules", 0)
        self.assertEqual(text.count("["), 3)
        self.assertLess(text.index("dynamic"), text.index("static"))
        self.assertLess(text.index("static"), text.index("grid"))

    def test_the_page_has_the_figures_of_the_recorded_rows(self):
        data = ROOT / "experiments/data/h200/search"
        text = printed(
            "judge",
            STUDY / "results/proof_found.csv",
            data / "times.csv.xz",
            data / "counters.csv",
        )
        page = (STUDY / "README.md").read_text(encoding="utf-8")
        self.assertIn(text.split(",")[0], page)  # how many shapes
        for line in text.splitlines()[1:]:
            figures = [part.split()[-1].rstrip("%") for part in line.split(": ")[1].split(", ")]
            row = " | ".join(f"{float(figure):.2f} %" for figure in figures)
            self.assertIn(row, page, line)


if __name__ == "__main__":
    unittest.main()
