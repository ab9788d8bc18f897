"""Every figure draws from a small table into a PDF with TrueType fonts and a PNG; a table that lacks
a column or a row is refused by name and leaves nothing behind."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PLOTS = Path(__file__).resolve().parents[2] / "plots" / "figures"
TABLES = Path(__file__).resolve().parent / "tables"
SKIPPED = 77  # the exit code that tests/CMakeLists.txt declares

FIGURES = {
    "misses_by_length": ["misses.csv"],
    "hit_rate": ["ctas.csv"],
    "launches": ["launches.csv"],
    "scans": ["scans.csv"],
    "miss_curve": ["miss_curve.csv"],
    "reuse_histogram": ["histogram.csv"],
    "wavefront": ["wave.csv", "again=wave.csv"],
    "sectors_by_length": ["closed_forms.csv"],
    "predicted_published": ["claims.csv"],
    "validation": ["errors.csv"],
    "error_by_regime": ["errors.csv"],
    "ablation": ["whole=errors.csv", "part=errors.csv"],
    "reads_by_length": ["lengths.csv"],
    "changes": ["errors.csv"],
    "elsewhere": ["elsewhere.csv"],
    "roofline": ["race.csv"],
}


def run(name, arguments, stem):
    return subprocess.run(
        [sys.executable, PLOTS / f"{name}.py", *arguments, "-o", stem],
        cwd=TABLES,
        capture_output=True,
        text=True,
        check=False,
    )


class Figures(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.stem = os.path.join(self.folder.name, "figure")

    def bytes_of(self, ending):
        return Path(f"{self.stem}.{ending}").read_bytes()

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

    def test_a_missing_column_is_named_and_nothing_is_written(self):
        done = run("hit_rate", ["wave.csv"], self.stem)
        self.assertEqual(done.returncode, 2)
        self.assertIn("wave.csv: no column workers", done.stderr)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_an_empty_cell_is_not_a_zero(self):
        table = Path(self.folder.name) / "ctas.csv"
        lines = (TABLES / "ctas.csv").read_text(encoding="utf-8").splitlines()
        table.write_text(
            "\n".join([lines[0], re.sub(r"\d+$", "", lines[1])]) + "\n", encoding="utf-8"
        )
        done = run("hit_rate", [str(table)], self.stem)
        self.assertEqual(done.returncode, 2)
        self.assertIn("l2_read_miss_sectors is '', wanted a whole number", done.stderr)

    def test_a_comparison_without_a_model_is_refused(self):
        text = (TABLES / "errors.csv").read_text(encoding="utf-8").splitlines()
        table = Path(self.folder.name) / "errors.csv"
        table.write_text(
            "\n".join([text[0], *(line for line in text if "baseline" in line)]) + "\n",
            encoding="utf-8",
        )
        done = run("validation", [str(table)], self.stem)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no model but baselines", done.stderr)

    def test_a_run_is_drawn_as_far_as_its_tables_go(self):
        folder = Path(self.folder.name)
        shutil.copy(TABLES / "lengths.csv", folder / "results.csv")
        shutil.copy(TABLES / "wave.csv", folder / "wavefront.csv")
        done = subprocess.run(
            [sys.executable, PLOTS / "run.py", folder], capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            sorted(path.name for path in (folder / "plots").iterdir()),
            ["reads_by_length.pdf", "reads_by_length.png", "wavefront.pdf", "wavefront.png"],
        )

    def test_a_table_without_rows_is_refused(self):
        table = Path(self.folder.name) / "empty.csv"
        header = (TABLES / "ctas.csv").read_text(encoding="utf-8").splitlines()[0]
        table.write_text(header + "\n", encoding="utf-8")
        done = run("hit_rate", [str(table)], self.stem)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no rows", done.stderr)


if __name__ == "__main__":
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print("skipped: this Python has no matplotlib")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
