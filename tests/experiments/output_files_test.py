#!/usr/bin/env python3
"""Only the helpers for output files rename: what goes around them would replace links and devices."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HELPERS = {"experiments/sawtooth/support/files.cpp", "plots/lib/output.py"}
SOURCES = (".cpp", ".hpp", ".cu", ".cuh", ".py")
FOLDERS = ("scheduler", "sim", "kernels", "cupti", "experiments", "plots")
RENAMES = re.compile(r"\brename\(|\bos\.replace\(|\bos\.renames\(|\bshutil\.move\(")


class OutputFiles(unittest.TestCase):
    def test_only_the_helpers_rename(self):
        found = {
            path.relative_to(ROOT).as_posix()
            for folder in FOLDERS
            for path in (ROOT / folder).rglob("*")
            if path.suffix in SOURCES and RENAMES.search(path.read_text(encoding="utf-8"))
        }
        self.assertEqual(found, HELPERS)


if __name__ == "__main__":
    unittest.main()
