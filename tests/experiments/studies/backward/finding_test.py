#!/usr/bin/env python3
"""The figures of experiments/studies/backward: derived by hand from a few rows, and the page has them."""

import csv
import lzma
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
STUDY = ROOT / "experiments" / "studies" / "backward"
sys.path.append(str(STUDY))
import finding  # noqa: E402  (the path above leads to it)

POINT = dict(seq_kv=16384, q_order="ascending", section=1, dq="atomic", mask="none", heads=1)
LINEAR = dict(
    POINT,
    scan="linear",
    sm_read_sectors=400,
    l2_read_sectors=200,
    dram_read_sectors=300,
    dram_write_sectors=1 << 25,
    cold_read_sectors=100,
)
SHIFT = dict(LINEAR, scan="shift", l2_read_sectors=400)


# Of a head of 1024 rows and 64 elements dQ, dK and dV are 16384 sectors, 5 % of which are 819.2.
DRAWN = dict(heads=1, kv_heads=1, batch=1, seq_q=1024, seq_kv=1024, head_dim=64, ctas_per_sm=1)


def drawn(timing, counter, measured, error, **others):
    group = f"{timing}, halves"
    return dict(
        DRAWN, group=group, counter=counter, measured=measured, relative_error=error, **others
    )


def duration(dq, launch, *times_us):
    point = dict(head_dim=64, mask="none", dq=dq, launch=launch, scan="linear")
    return [dict(point, time_us=time) for time in times_us]


def write(folder, name, rows):
    with open(os.path.join(folder, f"{name}.csv"), "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


class Sharing(unittest.TestCase):
    def test_items_are_told_beside_the_fastest_tenth(self):
        with tempfile.TemporaryDirectory() as name:
            shared = dict(
                run_id="a", mask="none", ctas_per_sm=2, head_dim=64, tile_q=64, tile_kv=64
            )
            alone = dict(shared, run_id="b", ctas_per_sm=1)
            write(name, "calibration", [shared, alone])
            with lzma.open(
                os.path.join(name, "calibration_items.csv.xz"), "wt", newline=""
            ) as file:
                writer = csv.writer(file)
                writer.writerow(["run_id", "repetition", "worker", "start_ns", "steps"])
                for worker in range(
                    20
                ):  # of ten steps: 1000 ns, but one of 1180 ns; last ends are unknown
                    end = 1180 if worker == 7 else 1000
                    writer.writerow(["a", 0, worker, end, 10])
                    writer.writerow(["a", 0, worker, 0, 10])
                    writer.writerow(["b", 0, worker, 0, 10])
                    writer.writerow(["b", 0, worker, 5000, 10])
            page = finding.Page.__new__(finding.Page)
            page._measured = Path(name)
            *_, row = page.sharing().splitlines()
        self.assertEqual(row, "| D = 64, 64 x 64 | 100 ns | +0.0 % | +18 % | 5 % of the items |")


class Finding(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as name:
            for table in ("orders", "dash", "presets"):
                write(name, table, [LINEAR, SHIFT])
            reads = [drawn("timed", "dram_read_sectors", 9, e) for e in (-0.3, 0.1, 0.02)]
            writes = [
                drawn("timed", "dram_write_sectors", sectors, error)
                for sectors, error in ((819, 5), (820, 0.04))
            ]
            lockstep = dict(reads[0], group="lockstep, halves")
            write(name, "drawn_errors", [*reads, *writes, lockstep])
            for other in finding.DRAWN[1:]:
                write(name, f"{other}_errors", [*reads[:2], lockstep])
            for again in finding.AGAIN:
                write(name, f"{again}_errors", [*reads[1:], drawn("timed", "time_us", 8, 0.5)])
            order = dict(counter="dram_read_sectors", statistic="order")
            groups = (("lockstep, halves", 0.5), ("timed, halves", 0.75))
            for drawn_list in finding.DRAWN:
                orders = [dict(order, group=g, value=v) for g, v in groups]
                write(name, f"{drawn_list}_summary", orders)
            write(name, "ordered", duration("atomic", "grid", 9) + duration("ordered", "grid", 18))
            measured = [*duration("atomic", "grid", 8, 12, 10), *duration("atomic", "static", 11)]
            write(name, "order", measured + duration("ordered", "grid", 13))
            self.page = finding.Page(Path(name), Path(name))

    def test_figures_are_quotients_of_the_counters(self):
        self.assertEqual(self.page.over("16K", scan="linear"), 3)
        self.assertEqual(self.page.written("16K", scan="linear"), 1)  # 2^25 sectors of 32 bytes
        self.assertEqual(self.page.passed("16K", scan="linear"), 50)
        self.assertEqual(self.page.share("l2_read_sectors", "16K"), 100)

    def test_errors_are_told_by_their_size(self):
        table = self.page.drawn()
        self.assertIn("| DRAM reads | 30 / 30 / 30 | 10 / 30 / 30 |", table)
        self.assertIn(
            "| DRAM writes, the 1 points that write over 5 % |  | 4.0 / 4.0 / 4.0 |", table
        )
        self.assertIn("| order of schedules, DRAM reads | 50 % | 75 % |", table)
        self.assertEqual(self.page.drawn_where("timed", ctas_per_sm=1), "10 / 30 / 30 % over 3")
        again = self.page.drawn_where("timed", drawn="drawn_families", ctas_per_sm=1)
        self.assertEqual(again, "20 / 30 / 30 % over 2")
        times = self.page.drawn_where("timed", "time_us", drawn="third_times_now")
        self.assertEqual(times, "50 / 50 / 50 % over 1")

    def test_order_costs_what_it_adds_to_the_best_median(self):
        times = self.page.times_of(64, "none")
        self.assertEqual(times, [(0.010, 0.013), (0.009, 0.018)])

    def test_the_page_is_current(self):
        done = subprocess.run([STUDY / "run.sh", "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
