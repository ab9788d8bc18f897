"""Every figure draws from a small table into a PDF with TrueType fonts and a PNG; what cannot be drawn is
refused in one line that names it, and leaves nothing behind."""

import contextlib
import csv
import io
import os
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLOT = ROOT / "plots" / "plot.py"
sys.path.append(str(PLOT.parent))
TEXT = Path(__file__).resolve().parent / "tables.txt"  # a line "# name" before each table
SCRATCH = tempfile.TemporaryDirectory()
TABLES = Path(SCRATCH.name)
SKIPPED = 77  # the exit code that tests/CMakeLists.txt declares

FIGURES = {
    "xy": ["scans.csv", "--x", "scan", "--y", "misses", "--facet", "mask"],
    "misses_by_length": ["misses.csv"],
    "reads_by_length": ["lengths.csv"],
    "time_by_length": ["times.csv"],
    "speed_by_length": ["times.csv"],
    "hit_rate": ["ctas.csv"],
    "scans": ["scans.csv"],
    "miss_curve": ["miss_curve.csv"],
    "reuse_histogram": ["histogram.csv"],
    "wavefront": ["wave.csv", "again=wave.csv"],
    "validation": ["errors.csv"],
}
# figure and tables that it cannot draw -> words of the one line
REFUSED = {
    ("hit_rate", "wave.csv"): "wave.csv: no column l2_read_sectors",
    ("validation", "scans.csv"): "scans.csv: no column group",
    ("misses_by_length", "nothing.csv"): "nothing.csv: cannot be read",
    ("no_figure", "scans.csv"): "'no_figure' is no figure; allowed: xy,",
    ("xy", "scans.csv"): "needs --",
    ("xy", "scans.csv", "--x", "scan", "--y", "masks"): "no column masks",
    ("xy", "scans.csv", "--x", "scan", "--y", "misses", "--hue", "scan"): "differ in mask",
    ("xy", "misses.csv", "--x", "seq_kv", "--y", "misses", "--log", "z"): "choose from",
    ("scans", "scans.csv", "--where", "mask=window"): "mask has ['none', 'causal']",
    ("scans", "scans.csv", "--size", "3"): "--size 3: wanted WIDTHxHEIGHT",
    ("scans", "scans.csv", "--format", "bmp"): "allowed: pdf, png, svg",
    ("miss_curve", "miss_curve.csv", "scans.csv"): "takes one table",
    ("run", "scans.csv"): "is no folder",
}


def run(name, arguments, stem):
    """As the program runs it, but for the time that loading matplotlib takes."""
    import plot

    output, errors = io.StringIO(), io.StringIO()
    words = [name, *map(str, arguments), "-o", str(stem)]
    with contextlib.chdir(TABLES), contextlib.redirect_stdout(output):
        with contextlib.redirect_stderr(errors):
            code = plot.exit_code(words)
    return types.SimpleNamespace(
        returncode=code, stdout=output.getvalue(), stderr=errors.getvalue()
    )


class Figures(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.stem = os.path.join(self.folder.name, "figure")

    def bytes_of(self, ending):
        return Path(f"{self.stem}.{ending}").read_bytes()

    def refused(self, name, arguments, *words):
        done = run(name, arguments, self.stem)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual([n for n in os.listdir(self.folder.name) if "figure" in n], [])

    def changed(self, name, change):
        """A copy of a table with its rows changed."""
        path = Path(self.folder.name) / name
        with open(TABLES / name, newline="", encoding="utf-8") as file:
            rows = change(list(csv.DictReader(file)))
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        return str(path)

    def test_each_figure_is_a_png_and_a_pdf_with_truetype_fonts(self):
        for name, arguments in FIGURES.items():
            with self.subTest(name):
                done = run(name, arguments, self.stem)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(self.bytes_of("png").startswith(b"\x89PNG\r\n\x1a\n"))
                pdf = self.bytes_of("pdf")
                self.assertIn(b"/FontFile2", pdf)  # TrueType; Type 3 has no font file
                self.assertNotIn(b"/Type3", pdf)

    def test_equal_tables_give_equal_bytes(self):
        files = []
        for _ in range(2):
            self.assertEqual(run("hit_rate", ["ctas.csv"], self.stem).returncode, 0)
            files.append((self.bytes_of("pdf"), self.bytes_of("png")))
        self.assertEqual(files[0], files[1])

    def test_what_cannot_be_drawn_is_refused_in_one_line(self):
        for (name, *arguments), words in REFUSED.items():
            with self.subTest(f"{name} {arguments}"):
                self.refused(name, arguments, words)

    def test_the_program_refuses_without_a_traceback(self):
        words = [sys.executable, PLOT, "scans", TABLES / "ctas.csv", "-o", self.stem]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)

    def test_an_empty_cell_is_not_a_zero(self):
        def empty(rows):
            return [{**row, "l2_read_miss_sectors": ""} for row in rows]

        self.refused("hit_rate", [self.changed("ctas.csv", empty)], "no row has hit_rate")

    def test_the_capacity_comes_from_the_table(self):
        def of_gpu(gpu, capacity):
            return lambda rows: [{**row, "gpu": gpu, "l2_bytes": capacity} for row in rows]

        for change, words in {
            of_gpu("h200", 60 << 20): ("half of L2", "L2 of H200"),
            of_gpu("h200", 16 << 20): ("L2 of 16 MiB",),  # not the profile's: its own size
            of_gpu("gb10", 24 << 20): ("L2 of GB10",),
        }.items():
            table = self.changed("miss_curve.csv", change)
            done = run("miss_curve", [table, "--format", "svg"], self.stem)
            self.assertEqual(done.returncode, 0, done.stderr)
            drawn = self.bytes_of("svg").decode()
            for text in words:
                self.assertIn(f"<!-- {text} -->", drawn)
            self.assertEqual(drawn.count("L2 of"), 1)

    def test_points_that_differ_are_series_of_their_own(self):
        def doubled(rows):
            return [{**row, "launch": launch} for launch in ("static", "grid") for row in rows]

        table = self.changed("misses.csv", doubled)
        done = run("misses_by_length", [table, "--format", "svg"], self.stem)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("linear, static", "linear, grid", "sawtooth, static", "sawtooth, grid"):
            self.assertIn(f"<!-- {name} -->", self.bytes_of("svg").decode())

    def test_a_run_is_drawn_as_far_as_its_tables_go(self):
        folder = Path(self.folder.name)
        shutil.copy(TABLES / "lengths.csv", folder / "results.csv")
        shutil.copy(TABLES / "wave.csv", folder / "wavefront.csv")
        done = run("run", [folder], folder / "plots")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            sorted(path.name for path in (folder / "plots").iterdir()),
            ["reads_by_length.pdf", "reads_by_length.png", "wavefront.pdf", "wavefront.png"],
        )

    def test_a_table_without_rows_is_refused(self):
        table = Path(self.folder.name) / "empty.csv"
        header = (TABLES / "ctas.csv").read_text(encoding="utf-8").splitlines()[0]
        table.write_text(header + "\n", encoding="utf-8")
        self.refused("hit_rate", [str(table)], "no rows")


if __name__ == "__main__":
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print("skipped: this Python has no matplotlib")
        sys.exit(SKIPPED)
    for block in TEXT.read_text(encoding="utf-8").split("# ")[1:]:
        name, table = block.split("\n", 1)
        (TABLES / name).write_text(table, encoding="utf-8")
    unittest.main(verbosity=2)
