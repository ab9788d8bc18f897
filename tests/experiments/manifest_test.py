"""experiments/data holds what something reads: MANIFEST.csv lists each file, its origin and its readers. And only
the helpers for output files rename: what goes around them would replace links and devices."""

import csv
import lzma
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "experiments/data"
HELPERS = {"experiments/sawtooth/support/files.cpp", "plots/lib/output.py"}
FOLDERS = ("scheduler", "sim", "kernels", "cupti", "experiments", "plots")
RENAMES = re.compile(r"\brename\(|\bos\.replace\(|\bos\.renames\(|\bshutil\.move\(")


def tracked():
    """Files that git tracks; all files, where the tree is no clone."""
    git = ["git", "-C", ROOT, "ls-files", "-z"]
    try:
        found = subprocess.run(git, capture_output=True, check=True).stdout.decode().split("\0")
        return {name for name in found if name and (ROOT / name).is_file()}
    except (OSError, subprocess.CalledProcessError):
        return {str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()}


def names(text, file):
    """Whether `text` contains the file's name without suffixes, as a word, or the folder that it is in."""
    stem = re.escape(file.name.split(".")[0])
    folder = str(file.parent)
    return bool(re.search(rf"(?<!\w){stem}(?!\w)", text)) or (folder != "." and folder in text)


class Manifest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(DATA / "MANIFEST.csv", encoding="utf-8", newline="") as file:
            cls.rows = list(csv.DictReader(file))
        cls.tracked = tracked()

    def test_files_are_listed_once_in_order(self):
        listed = [row["file"] for row in self.rows]
        self.assertEqual(listed, sorted(set(listed)), "sort lines by file, one a file")

    def test_what_is_listed_is_what_is_there(self):
        there = {
            name.removeprefix("experiments/data/")
            for name in self.tracked
            if name.startswith("experiments/data/") and not name.endswith("/MANIFEST.csv")
        }
        listed = {row["file"] for row in self.rows}
        self.assertEqual(sorted(there - listed), [], "not listed")
        self.assertEqual(sorted(listed - there), [], "not there")

    def test_readers_are_tracked_and_name_the_file(self):
        for row in self.rows:
            for reader in row["read_by"].split(";"):
                with self.subTest(file=row["file"], reader=reader):
                    self.assertTrue(reader in self.tracked, "no tracked file")
                    text = (ROOT / reader).read_text(encoding="utf-8")
                    self.assertTrue(names(text, Path(row["file"])), "does not name the file")

    def test_rows_say_which_gpu_made_them(self):
        for row in self.rows:
            if ".csv" not in row["file"]:
                continue
            opened = lzma.open if row["file"].endswith(".xz") else open
            with opened(DATA / row["file"], "rt", encoding="utf-8") as file:
                gpus = {measured.get("gpu") or row["gpu"] for measured in csv.DictReader(file)}
            for gpu in gpus:
                with self.subTest(file=row["file"], gpu=gpu):
                    self.assertTrue(gpu == row["gpu"] or row["card"].startswith(gpu))


class OutputFiles(unittest.TestCase):
    def test_only_the_helpers_rename(self):
        found = {
            path.relative_to(ROOT).as_posix()
            for folder in FOLDERS
            for path in (ROOT / folder).rglob("*")
            if path.suffix in (".cpp", ".hpp", ".cu", ".cuh", ".py")
            and RENAMES.search(path.read_text(encoding="utf-8"))
        }
        self.assertEqual(found, HELPERS)


if __name__ == "__main__":
    unittest.main()
