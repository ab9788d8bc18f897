"""Lists of a million points start at once, in the memory of a short one."""

import os
import re
import subprocess
import time
import unittest

from in_folder import PROGRAM, InFolder  # noqa: E402  (the path above leads to it)

POINT = ["--l2-bytes", "1MiB", "--seq", "64", "--quiet"]
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


if __name__ == "__main__":
    unittest.main()
