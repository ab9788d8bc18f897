"""plots/lib/output.py: only regular files are replaced, and whole."""

import os
import sys
import tempfile
import threading
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "plots" / "lib"))
import output  # noqa: E402  (the path above leads to it)


class Outputs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_a_link_stays_and_its_file_is_replaced(self):
        (self.folder / "deep").mkdir()
        target = self.folder / "deep" / "page.html"
        target.write_text("old")
        first, second = self.folder / "first", self.folder / "second.html"
        first.symlink_to("deep/page.html")
        second.symlink_to(first)
        output.write_text(str(second), "new")
        self.assertTrue(first.is_symlink() and second.is_symlink())
        self.assertEqual(target.read_text(), "new")
        self.assertEqual(os.listdir(target.parent), ["page.html"])

    def test_a_pipe_is_written_to(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        found = []
        reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
        reader.start()
        output.write_text(str(pipe), "a page")
        reader.join()
        self.assertEqual(found, ["a page"])
        self.assertTrue(pipe.is_fifo())

    def test_what_others_have_open_is_written_to(self):
        target = self.folder / "open.csv"
        with open(target, "w", encoding="utf-8") as file:
            link = self.folder / "out"
            link.symlink_to(f"/proc/self/fd/{file.fileno()}")
            before = target.stat().st_ino
            output.write_text(str(link), "rows")
        self.assertEqual((target.read_text(), target.stat().st_ino), ("rows", before))

    def test_what_fails_leaves_the_file_as_it_was(self):
        target = self.folder / "page.html"
        target.write_text("old")

        def save(name):
            Path(name).write_text("half")
            raise OSError("the disk is full")

        with self.assertRaises(OSError):
            output.write_file(str(target), save)
        self.assertEqual((target.read_text(), os.listdir(self.folder)), ("old", ["page.html"]))


if __name__ == "__main__":
    unittest.main()
