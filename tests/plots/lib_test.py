"""plots/lib: measures by hand; what tables are read, refused by name and written; only regular files are replaced, and whole."""

import os
import sys
import threading
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "plots" / "lib"))
import measures  # noqa: E402  (the path above leads to it)
import output  # noqa: E402
import table  # noqa: E402
from in_folder import InFolder  # noqa: E402


class Measures(unittest.TestCase):
    def test_a_quantile_is_the_smallest_value_that_the_share_does_not_exceed(self):
        # Nearest rank: of ten values 90 % have at most the ninth, 91 % at most the tenth.
        values = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
        self.assertEqual(
            [measures.quantile(values, share) for share in (0, 0.9, 0.91, 1)], [1, 9, 10, 10]
        )

    def test_the_geometric_mean_of_a_number_and_its_inverse_is_one(self):
        self.assertAlmostEqual(measures.geometric_mean([4.0, 0.25]), 1.0)

    def test_lengths_read_as_multiples_of_1024(self):
        self.assertEqual([measures.short(n) for n in (1024, 131072, 1000)], ["1K", "128K", "1000"])


class Tables(InFolder):
    def written(self, text):
        return table.read(str(self.folder / self.write("t.csv", text)))

    def test_a_column_that_a_table_lacks_is_named_with_those_it_has(self):
        rows = self.written("scan,seq\nlinear,1\n")
        with self.assertRaisesRegex(
            table.TableError, r"t.csv: no column mask \(it has scan, seq\)"
        ):
            table.where(rows, mask="none")

    def test_rows_are_found_grouped_and_sorted_by_their_cells(self):
        rows = self.written("scan,seq\nb,16\na,9\nb,2\n")
        self.assertEqual(table.integers(table.ascending(rows, "seq"), "seq"), [2, 9, 16])
        self.assertEqual(
            {k: len(v) for k, v in table.grouped(rows, "scan").items()}, {"b": 2, "a": 1}
        )
        self.assertEqual(list(table.grouped(rows, "scan", "seq"))[0], ("b", "16"))
        self.assertEqual(table.only(rows, scan="a")["seq"], "9")
        with self.assertRaisesRegex(table.TableError, "2 rows with"):
            table.only(rows, scan="b")

    def test_what_has_no_end_is_refused_and_a_message_is_one_line(self):
        with self.assertRaisesRegex(table.TableError, "^/dev/zero: cannot be read: .*too large"):
            table.read("/dev/zero")
        self.assertEqual(str(table.TableError("a\x1b\n\x9bb")), "a   b")

    def test_a_configuration_has_a_section_a_point_without_its_empty_cells(self):
        text = table.ini(("system", "seq_kv"), [("", "64"), ("cudnn", "128")])
        self.assertEqual(text, "\n[1]\nseq = 64\n\n[2]\nsystem = cudnn\nseq = 128\n")

    def test_an_empty_cell_is_no_number(self):
        (row,) = self.written("seq,scan\n,x\n")
        with self.assertRaisesRegex(table.TableError, "seq is '', wanted a whole number"):
            table.integer(row, "seq")

    def test_a_written_table_has_all_keys_and_leaves_no_other_file(self):
        table.write(str(self.folder / "t.csv"), [dict(a=1), dict(b="x,y")])
        self.assertEqual(self.read("t.csv"), 'a,b\n1,\n,"x,y"\n')
        self.assertEqual(os.listdir(self.folder), ["t.csv"])


class Outputs(InFolder):
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

        with self.assertRaises(OSError), output.opened(str(target)) as file:
            file.write(b"half")
            raise OSError("the disk is full")
        self.assertEqual((target.read_text(), os.listdir(self.folder)), ("old", ["page.html"]))

    def test_what_is_read_or_has_hard_links_is_not_replaced(self):
        names = ("t.csv", "a", "new.sawtooth-tmp")
        read, linked, beside = (self.folder / name for name in names)
        for path in (read, beside):
            path.write_text("a\n1\n")
            table.read(str(path))
        (self.folder / "to_t").symlink_to("t.csv")
        linked.write_text("old")
        os.link(linked, self.folder / "b")
        for name in ("t.csv", "to_t", "a", "new"):
            with self.assertRaises(FileExistsError):
                output.write_text(str(self.folder / name), "new")
        found = [path.read_text() for path in (read, linked, beside)]
        self.assertEqual(found, ["a\n1\n", "old", "a\n1\n"])

    def test_what_was_planted_beside_it_is_not_followed(self):
        (self.folder / "victim").write_text("mine")
        for plant in (lambda path: path.symlink_to("victim"), os.mkfifo, os.mkdir):
            planted = self.folder / "t.sawtooth-tmp"
            plant(planted)
            with self.assertRaises(OSError):
                output.write_text(str(self.folder / "t"), "new")
            (os.rmdir if planted.is_dir() else os.remove)(planted)
        self.assertEqual((self.folder / "victim").read_text(), "mine")

    def test_two_writers_do_not_meet_and_a_killed_ones_file_is_replaced(self):
        path = self.folder / "t"
        with output.opened(str(path)) as file:
            file.write(b"first")
            with self.assertRaises(BlockingIOError):
                output.write_text(str(path), "second")
        self.assertEqual(path.read_text(), "first")
        (self.folder / "t.sawtooth-tmp").write_text("left")
        path.chmod(0o440)
        output.write_text(str(path), "third")
        self.assertEqual((path.read_text(), os.listdir(self.folder)), ("third", ["t"]))
        self.assertEqual(path.stat().st_mode & 0o777, 0o440)


if __name__ == "__main__":
    unittest.main()
