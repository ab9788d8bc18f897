#!/usr/bin/env python3
"""The project stays small enough to be read: prints its sizes, and fails where one exceeds its limit.

    python3 tests/docs/sizes_test.py

Lines are those of C++, CUDA, Python and shell, comments and blank lines included; a script is known by its ending or
by its first line. Words are those of Markdown. What git ignores does not count.
"""

import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = {".cpp", ".hpp", ".h", ".cu", ".cuh", ".inc", ".py", ".sh"}
EVIDENCE = ("experiments/data/", "experiments/studies/")
LIMITS = {
    "lines outside tests": 68_000,
    "lines in tests": 38_000,
    "words of pages": 34_000,
    "tracked files": 1_300,
    "bytes of data and studies": 12_000_000,
}
PAGE, README, STUDY, MODEL, NOTES = 1_500, 800, 900, 700, 300  # words


def tracked():
    """Paths of tracked files; none where this is no clone."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=False
    )
    return [path for path in listed.stdout.split("\0") if path and (ROOT / path).is_file()]


def is_code(path):
    if path.suffix in CODE:
        return True
    return not path.suffix and path.read_bytes()[:2] == b"#!"


def lines(paths):
    return sum((ROOT / path).read_bytes().count(b"\n") for path in paths)


def words(path):
    return len((ROOT / path).read_text(encoding="utf-8").split())


def sizes(paths):
    code = [path for path in paths if is_code(ROOT / path)]
    tests = [path for path in code if path.startswith("tests/")]
    return {
        "lines outside tests": lines(set(code) - set(tests)),
        "lines in tests": lines(tests),
        "words of pages": sum(words(path) for path in paths if path.endswith(".md")),
        "tracked files": len(paths),
        "bytes of data and studies": sum(
            (ROOT / path).stat().st_size for path in paths if path.startswith(EVIDENCE)
        ),
    }


def most_words(page):
    if page == "README.md":
        return README
    if page.endswith("notes.md"):
        return NOTES
    if page.startswith("experiments/studies/"):
        return STUDY
    if page.startswith("docs/models/"):
        return MODEL
    return PAGE


class Sizes(unittest.TestCase):
    def setUp(self):
        self.paths = tracked()
        if not self.paths:
            self.skipTest("no clone of the project: git lists no files")

    def test_the_project_stays_below_its_limits(self):
        for what, size in sizes(self.paths).items():
            print(f"{what}: {size:,} of {LIMITS[what]:,}")
            with self.subTest(what):
                self.assertLessEqual(size, LIMITS[what])

    def test_no_page_is_longer_than_its_kind_may_be(self):
        for page in self.paths:
            if page.endswith(".md"):
                with self.subTest(page):
                    self.assertLessEqual(words(page), most_words(page))

    def test_there_are_at_most_ten_studies(self):
        parts = [path.split("/") for path in self.paths if path.startswith(EVIDENCE[1])]
        self.assertLessEqual(len({part[2] for part in parts if len(part) > 3}), 10)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
