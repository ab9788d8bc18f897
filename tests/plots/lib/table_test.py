"""plots/lib/table.py: what is read, what is refused by name, and what is written."""

import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "plots" / "lib"))
import table  # noqa: E402  (the path above leads to it)


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "t.csv")

    def written(self, text):
        Path(self.path).write_text(text, encoding="utf-8")
        return table.read(self.path)

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

    def test_an_empty_cell_is_no_number(self):
        (row,) = self.written("seq,scan\n,x\n")
        with self.assertRaisesRegex(table.TableError, "seq is '', wanted a whole number"):
            table.integer(row, "seq")

    def test_a_written_table_has_all_keys_and_leaves_no_other_file(self):
        table.write(self.path, [dict(a=1), dict(b="x,y")])
        self.assertEqual(Path(self.path).read_text(encoding="utf-8"), 'a,b\n1,\n,"x,y"\n')
        self.assertEqual(os.listdir(os.path.dirname(self.path)), ["t.csv"])


if __name__ == "__main__":
    unittest.main()
