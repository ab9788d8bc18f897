"""Lists of a million points start at once, in the memory of a short one; shards of a list have every point once, and
a point's shard follows from the point alone."""

import os
import re
import subprocess
import time
import unittest

from in_folder import PROGRAM, InFolder, rows, run  # noqa: E402  (the path above leads to it)

POINT = ["--l2-bytes", "1MiB", "--seq", "64", "--quiet"]
SMALL = ["--l2-bytes", "1MiB", "--workers", "4", "--quiet", "--csv", "-"]
MILLION = ["--workers", "1..1000", "--seed", "1..1000"]


def peak_kib(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmHWM:\s+(\d+) kB", file.read()).group(1))


class LongList(InFolder):
    def peak_at(self, rows, *axes, file=False):
        """Peak of memory when so many rows are there, and after how long the first one was."""
        csv = os.path.join(self.folder, "r.csv") if file else "-"
        begin = time.monotonic()
        process = subprocess.Popen(
            [PROGRAM, "simulate", *POINT, *axes, "--overwrite", "--csv", csv],
            stdout=subprocess.PIPE,
        )
        try:
            seen, first, peak = 0, None, 0
            while seen < rows:
                if file:
                    self.assertLess(time.monotonic() - begin, 90)
                    time.sleep(0.01)
                    if os.path.exists(csv + ".partial"):
                        with open(csv + ".partial", "rb") as table:
                            seen = table.read().count(b"\n") - 1
                else:
                    self.assertTrue(process.stdout.readline())
                    seen += 1
                first = first or (seen and time.monotonic() - begin)
            peak = peak_kib(process)
        finally:
            process.kill()
            process.communicate()
        return peak, first

    def test_a_million_points_start_at_once_in_the_memory_of_fewer(self):
        for file in (False, True):
            short, _ = self.peak_at(8000, "--workers", "1..100", "--seed", "1..1000", file=file)
            long, first = self.peak_at(8000, *MILLION, file=file)
            self.assertLess(first, 20)
            self.assertLess(long, 1.2 * short + 4096)

    def test_memory_does_not_grow_with_the_rows_that_were_written(self):
        some, _ = self.peak_at(8000, *MILLION)
        more, _ = self.peak_at(40000, *MILLION)
        self.assertLess(more, 1.1 * some + 2048)


def simulated(*options):
    return rows("simulate", *SMALL, *options)


def ids(*options):
    return [row["run_id"] for row in simulated(*options)]


class Shards(unittest.TestCase):
    SWEEP = ["--seq", "64..640:64", "--scan", "linear,reverse,sawtooth", "--seed", "1,2"]

    def test_shards_are_a_partition_for_any_number(self):
        whole = simulated(*self.SWEEP)
        self.assertEqual(len(whole), 60)
        for count in (1, 2, 3, 7, 64):
            shards = [f"{i}/{count}" for i in range(1, count + 1)]
            parts = [simulated(*self.SWEEP, "--shard", shard) for shard in shards]
            self.assertCountEqual(sum(parts, []), whole)
            for part in parts:  # each in the order of the sweep
                self.assertEqual(part, [row for row in whole if row in part])

    def test_a_point_stays_in_its_shard_whatever_else_the_list_has(self):
        backwards = ["--seq", ",".join(str(64 * i) for i in range(12, 0, -1))]
        backwards += ["--scan", "sawtooth,linear,reverse", "--seed", "2,1,3"]
        whole = set(ids(*self.SWEEP))
        for shard in ("1/3", "2/3", "3/3"):
            self.assertEqual(
                set(ids(*self.SWEEP, "--shard", shard)),
                whole & set(ids(*backwards, "--shard", shard)),
            )

    def test_shards_are_of_about_one_size(self):
        # 1,000 points in 8 shards: 125 in the mean, with a standard deviation of 10.5.
        for i in range(1, 9):
            size = len(simulated("--seq", "64", "--seed", "1..1000", "--shard", f"{i}/8"))
            self.assertLess(abs(size - 125), 5 * 10.5)

    def test_what_is_no_shard_is_named(self):
        for shard in ("0/3", "4/3", "1", "a/b", "1/0", "-1/3"):
            ended = run("simulate", *SMALL, *self.SWEEP, "--shard", shard)
            self.assertEqual(ended.returncode, 2)
            self.assertIn(f"--shard: '{shard}' is not allowed; allowed: I/N", ended.stderr)


if __name__ == "__main__":
    unittest.main()
