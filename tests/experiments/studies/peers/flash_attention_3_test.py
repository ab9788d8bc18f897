"""experiments/studies/peers/flash_attention_3.py with programs that only print what the real ones would."""

import csv
import os
import stat
import tempfile
import unittest
from unittest import mock

import support
import flash_attention_3

# Prints a line a launch: LAUNCHES, then SEQ HEAD_DIM MASK a shape; the time is 100 x launch + seq.
PROGRAM = """#!/usr/bin/env python3
import sys
launches, rest = int(sys.argv[1]), sys.argv[2:]
for at in range(0, len(rest), 3):
    for launch in range(launches):
        print(*rest[at:at + 3], 100 * launch + int(rest[at]))
"""
# Two kernels, as ncu --csv --page raw prints them: a header, the units, a row a kernel.
PROFILER = """#!/usr/bin/env python3
print("==PROF== not a part of the table")
print('"ID","Kernel Name","dram__sectors_read.sum"')
print('"","","sector"')
print('"0","{name}","1,024"')
print('"1","{name}","1,026"')
"""


class FlashAttention3(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def program(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, stat.S_IRWXU)
        return path

    def ran(self, *arguments):
        """Exit code, rows and standard error."""
        table = os.path.join(self.folder, "rows.csv")
        paths = self.folder + os.pathsep + os.environ["PATH"]
        with mock.patch.dict(os.environ, PATH=paths):
            words = (*arguments, "--csv", table)
            code, _, error = support.called(flash_attention_3.main, *words)
        if not os.path.exists(table):
            return code, [], error
        with open(table, newline="", encoding="utf-8") as file:
            return code, list(csv.DictReader(file)), error

    def test_a_row_a_launch_has_its_own_shape_and_time(self):
        code, rows, _ = self.ran(
            self.program("fa3", PROGRAM),
            "--seq",
            "1K,2K",
            "--head-dim",
            "64",
            "--mask",
            "causal",
            "--rounds",
            "2",
        )
        self.assertEqual(code, 0)
        self.assertEqual(
            [(row["seq_kv"], row["repetition"], row["time_us"]) for row in rows],
            [
                ("1024", "0", "1024.00"),
                ("1024", "1", "1124.00"),
                ("2048", "0", "2048.00"),
                ("2048", "1", "2148.00"),
            ],
        )
        self.assertEqual(
            {(row["system"], row["mask"]) for row in rows}, {("flash-attention-3", "causal")}
        )

    def test_counters_of_a_kernel_a_launch_become_rows(self):
        self.program("ncu", PROFILER.format(name="void cutlass::device_kernel<X>(X::Params)"))
        code, rows, _ = self.ran(
            self.program("fa3", PROGRAM),
            "--seq",
            "1K",
            "--head-dim",
            "64",
            "--mask",
            "none",
            "--rounds",
            "0",
            "--count",
            "--repetitions",
            "2",
        )
        self.assertEqual(code, 0)
        self.assertEqual([row["dram_read_sectors"] for row in rows], ["1024", "1026"])

    def test_kernels_of_somebody_else_are_no_counters(self):
        self.program("ncu", PROFILER.format(name="fill_kernel"))
        code, rows, error = self.ran(
            self.program("fa3", PROGRAM),
            "--seq",
            "1K",
            "--head-dim",
            "64",
            "--mask",
            "none",
            "--rounds",
            "0",
            "--count",
            "--repetitions",
            "2",
        )
        self.assertEqual((code, rows), (3, []))
        self.assertIn("instead of one a launch", error)

    def test_a_missing_program_is_wrong_usage(self):
        code, rows, error = self.ran("/no/program")
        self.assertEqual((code, rows), (2, []))
        self.assertIn("/no/program", error)


if __name__ == "__main__":
    unittest.main()
