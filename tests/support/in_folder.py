"""What Python tests share: a folder a case, the program run in it, and tables as lists of rows."""

import csv
import io
import os
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.path.abspath(sys.argv.pop(1)) if sys.argv[1:] else ""  # of tests that are given one

# K and V of a head of 64: 256 bytes a key, so that 1 MiB has 4K keys.
SMALL_GPU = """[gpu]
description = a small GPU
sms = 4; assumed; test
l2-bytes = 1MiB; assumed; test
l2-gb-per-s = 1000; assumed; test
dram-gb-per-s = 1000; assumed; test
latency-near-ns = 150; assumed; test
latency-dram-ns = 400; assumed; test
launch-ns = 8000; assumed; test
bf16-tflops = 4; assumed; test
sm-clock-mhz = 1000; assumed; test
"""


def run(*words, **more):
    """Runs the program; a single argument is a list of its words, or a line of them."""
    if len(words) == 1:
        words = shlex.split(words[0]) if isinstance(words[0], str) else words[0]
    more = {"capture_output": True, "text": True, "timeout": 600, **more}
    return subprocess.run([PROGRAM, *words], check=False, **more)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def rows(*words):
    """The table that the program writes to its standard output."""
    done = run(*words)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return rows_of(done.stdout)


def write_table(path, table):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    return str(path)


class InFolder(unittest.TestCase):
    suffix = ""  # of the folder's name

    def setUp(self):
        folder = tempfile.TemporaryDirectory(suffix=self.suffix)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def read(self, name):
        return (self.folder / name).read_bytes().decode("utf-8")

    def program(self, *words, code=None, **more):
        """Runs the program in the folder; it must end with `code` where one is given."""
        done = run(*words, cwd=self.folder, **more)
        if code is not None:
            self.assertEqual(done.returncode, code, f"{words}: {done.stdout}{done.stderr}")
        return done
