"""Parquet files have the rows of their tables, with typed columns."""

import csv
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = os.path.abspath(sys.argv.pop(1))
SCRIPT = Path(__file__).resolve().parents[2] / "plots/parquet.py"


class Parquet(unittest.TestCase):
    def test_every_row_is_there_and_numbers_are_numbers(self):
        import pyarrow.parquet

        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            tables = []
            for seed in ("1", "2"):
                tables.append(str(folder / f"{seed}.csv"))
                words = ["--gpu", "gb10", "--seq", "512,1K", "--seed", seed, "--csv", tables[-1]]
                subprocess.run([PROGRAM, "simulate", "--quiet", *words], check=True, timeout=60)
            out = str(folder / "out.parquet")
            os.symlink("linked.parquet", out)  # stays, and what it leads to is written
            subprocess.run([sys.executable, SCRIPT, *tables, "-o", out], check=True, timeout=60)
            self.assertTrue(os.path.islink(out))
            read = pyarrow.parquet.read_table(out)
            self.assertEqual(str(read.schema.field("dram_read_sectors").type), "int64")
            self.assertEqual(str(read.schema.field("time_us").type), "double")
            self.assertEqual(str(read.schema.field("scan").type), "string")
            rows = []
            for table in tables:
                with open(table, encoding="utf-8") as file:
                    rows += list(csv.DictReader(file))
            self.assertEqual(read.num_rows, 4)
            for row, written in zip(rows, read.to_pylist()):
                for column, cell in row.items():
                    value = written[column]
                    self.assertEqual("" if value is None else str(value), cell, column)
            (folder / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
            words = [sys.executable, SCRIPT, tables[0], folder / "other.csv", "-o", out]
            ended = subprocess.run(words, capture_output=True, text=True, timeout=60)
            self.assertNotEqual(ended.returncode, 0)
            self.assertIn("other.csv: its columns are not those of", ended.stderr)


if __name__ == "__main__":
    if importlib.util.find_spec("pyarrow") is None:
        print("skipped: no pyarrow")
        sys.exit(77)
    unittest.main()
