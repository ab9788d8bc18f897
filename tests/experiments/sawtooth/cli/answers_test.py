#!/usr/bin/env python3
"""What the program says around its answers.

answers_test.py PROGRAM
"""

import csv
import io
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))


def run(words, **options):
    words = [PROGRAM, *shlex.split(words)]
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def rows(words):
    done = run(f"{words} --csv -")
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def shown(words):
    """What a terminal shows, both streams."""
    if shutil.which("script") is None:
        raise unittest.SkipTest("no script(1) here")
    command = ["script", "-qec", shlex.join([PROGRAM, *shlex.split(words)]), "/dev/null"]
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return done.stdout.replace("\r", "")


class Comparing(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.rows = rows("simulate --gpu gb10 --seq 1K,2K --scan linear")

    def file(self, name, kept, **cells):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(self.rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows([{**row, **cells} for row in kept])
        return path

    def test_predictions_are_not_held_against_themselves(self):
        path = self.file("p.csv", self.rows)
        done = run(f"compare {path} {path}")
        self.assertEqual(done.returncode, 2)
        self.assertIn("p.csv: its rows are predictions (column source); allowed: ", done.stderr)

    def test_a_file_of_another_kind_is_not_replaced_and_a_table_not_without_a_word(self):
        other = pathlib.Path(self.folder.name, "mine.csv")
        other.write_text("name,die\nx,7\n", encoding="utf-8")
        done = run(f"simulate --gpu gb10 --seq 1K --csv {other}")
        self.assertEqual(done.returncode, 2)
        self.assertIn("mine.csv: is not replaced: its columns are not those of", done.stderr)
        self.assertIn("which has no name", done.stderr)
        self.assertEqual(other.read_text(encoding="utf-8"), "name,die\nx,7\n")
        table = self.file("p.csv", self.rows)
        said = shown(f"simulate --gpu gb10 --seq 1K --csv {table}")
        self.assertIn("p.csv: its 2 rows are replaced", said)
        self.assertEqual(
            run(f"simulate --gpu gb10 --seq 1K --overwrite --csv {other}").returncode, 0
        )

    def test_one_point_has_a_line_a_counter(self):
        predicted = self.file("p.csv", self.rows[:1])
        reads = int(self.rows[0]["dram_read_sectors"])
        measured = self.file(
            "m.csv", self.rows[:1], source="measured", dram_read_sectors=reads // 2
        )
        said = run(f"compare {predicted} {measured} --tolerance 5%")
        self.assertRegex(
            said.stdout,
            rf"dram_read_sectors +{reads} +{reads // 2} +\+100\.\d\d % .*beyond 5\.00 %",
        )
        self.assertNotIn("worst", said.stdout)
        self.assertEqual(said.returncode, 1)

    def test_points_that_are_few_are_told_apart_by_what_differs(self):
        predicted = self.file("p.csv", self.rows)
        measured = self.file("m.csv", self.rows, source="measured")
        said = run(f"compare {predicted} {measured}").stdout
        for seq in ("1024", "2048"):
            self.assertIn(f"gb10, batch 1, heads 1, seq {seq} x {seq}, head dim 64", said)

    def test_one_line_says_why_rows_do_not_join(self):
        predicted = self.file("p.csv", self.rows)
        measured = self.file("m.csv", self.rows, source="measured", scan="sawtooth", heads="")
        done = run(f"compare {predicted} {measured}")
        (line,) = [line for line in done.stdout.splitlines() if "kept apart" in line]
        self.assertIn("scan (2 points): linear, not sawtooth", line)
        self.assertIn("heads (2 points): is empty in ", line)


if __name__ == "__main__":
    unittest.main()
