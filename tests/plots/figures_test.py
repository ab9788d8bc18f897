"""Every figure draws from a small table into a PDF with TrueType fonts and a PNG; what cannot be drawn is
refused in one line that names it, and leaves nothing behind."""

import contextlib
import csv
import io
import os
import re
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

    def drawn(self, name, arguments):
        """The words of a figure."""
        done = run(name, [*arguments, "--format", "svg"], self.stem)
        self.assertEqual(done.returncode, 0, done.stderr)
        return re.findall(r"<!-- (.*?) -->", self.bytes_of("svg").decode(), re.DOTALL)

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
            drawn = self.drawn("miss_curve", [table])
            for text in words:
                self.assertIn(text, drawn)
            self.assertEqual(self.bytes_of("svg").count(b"L2 of"), 1)

    def test_points_that_differ_are_series_of_their_own(self):
        def doubled(rows):
            return [{**row, "launch": launch} for launch in ("static", "grid") for row in rows]

        table = self.changed("misses.csv", doubled)
        drawn = self.drawn("misses_by_length", [table])
        for name in ("linear, static", "linear, grid", "sawtooth, static", "sawtooth, grid"):
            self.assertIn(name, drawn)

    def test_a_run_is_drawn_as_far_as_its_tables_go(self):
        folder = Path(self.folder.name)
        shutil.copy(TABLES / "lengths.csv", folder / "results.csv")
        shutil.copy(TABLES / "wave.csv", folder / "wavefront.csv")
        shutil.copy(TABLES / "miss_curve.csv", folder / "miss_curve.csv")
        done = run("run", [folder], folder / "plots")
        self.assertEqual(done.returncode, 0, done.stderr)
        names = ("miss_curve", "reads_by_length", "wavefront")
        names = [f"{name}.{ending}" for name in names for ending in ("pdf", "png")]
        self.assertEqual(sorted(path.name for path in (folder / "plots").iterdir()), names)

    def test_a_figure_says_of_which_gpu_problem_tile_and_model_it_is(self):
        model = dict(timing="lockstep", l2="lru")
        known = dict(gpu="gb10", mask="none", batch="8", head_dim="64", tile_q="64", **model)

        def told(rows):
            return [{**row, **known} for row in rows]

        words = "gb10, no mask, batch 8, D=64, Q tile 64, lockstep, LRU"
        table = self.changed("misses.csv", told)
        self.assertIn(words, " ".join(self.drawn("misses_by_length", [table])).replace("\n", " "))
        titled = self.drawn("misses_by_length", [table, "--title", "Fig. 1"])
        self.assertIn("Fig. 1", " ".join(titled))

    def test_a_miss_curve_takes_a_sweep_and_names_its_points(self):
        folder = Path(self.folder.name)
        points = [
            (f"{i:012x}", 1024 << i, scan) for i in range(5) for scan in ("linear", "sawtooth")
        ]
        points = [(f"{i:012x}", seq, scan) for i, (_, seq, scan) in enumerate(points)]
        rows = "".join(f"predicted,{scan},{seq},{name}\n" for name, seq, scan in points)
        (folder / "results.csv").write_text("source,scan,seq_kv,run_id\n" + rows)
        steps = "".join(
            f"{n},{s},{at},{9 - at // 4096}\n" for n, _, s in points for at in (0, 4096, 8192)
        )
        (folder / "curve.csv").write_text("run_id,scan,capacity_bytes,miss_sectors\n" + steps)
        words = self.drawn("miss_curve", [folder / "curve.csv"])
        for text in ("S=1K", "S=2K", "S=4K", "S=8K", "S=16K", "linear", "sawtooth"):
            self.assertIn(text, words)
        self.assertNotIn("point", " ".join(words))

    def test_series_at_one_place_stand_side_by_side_and_lines_below_stick_out(self):
        import xy

        def alike(rows):
            return [
                {**row, "launch": n, "seq_kv": "1024", "seq_q": "1024"}
                for n in "ab"
                for row in rows
            ]

        table = self.changed("scans.csv", alike)
        figure = xy.draw([table], "scan", "misses", facet="mask")
        places = [
            tuple(line.get_xdata()) for line in figure.axes[0].lines if line.get_marker() in "os"
        ]
        self.assertEqual(len(set(places)), 2)
        figure = xy.draw([str(TABLES / "misses.csv")], "seq_kv", "misses")
        widths = [
            line.get_linewidth() for line in figure.axes[0].lines if line.get_marker() in "os"
        ]
        self.assertGreater(widths[0], widths[1])

    def test_no_legend_lies_over_data_and_ticks_do_not_collide(self):
        import xy

        lengths = [str(1024 << i) for i in range(10)]
        columns = "scan,seq_kv,mask,l2_read_miss_sectors,l2_write_miss_sectors"
        rows = [f"linear,{n},{m},{n}0,0" for m in ("none", "causal", "w") for n in lengths]
        path = Path(self.folder.name) / "many.csv"
        path.write_text("\n".join([columns, *rows]) + "\n")
        drawn = {"xy": xy.draw([str(path)], "seq_kv", "misses", facet="mask")}
        import validation

        drawn["validation"] = validation.draw(str(TABLES / "errors.csv"))
        for name, figure in drawn.items():
            figure.canvas.draw()
            legend = figure.axes[-1].get_legend() or figure.axes[0].get_legend()
            if legend:
                box = legend.get_window_extent()
                self.assertFalse(
                    any(box.overlaps(a.get_window_extent()) for a in figure.axes), name
                )
            for axes in figure.axes:
                boxes = [t.get_window_extent() for t in axes.get_xticklabels() if t.get_text()]
                pairs = zip(boxes, boxes[1:])
                self.assertFalse(any(a.overlaps(b) for a, b in pairs), name)

    def test_every_claim_of_the_paper_is_drawn_and_no_label_crosses_another(self):
        sys.path.append(str(ROOT / "experiments" / "studies" / "paper"))
        import draw

        claims = "claim,source,unit,published,predicted,low,high\n"
        claims += "misses,paper,sectors,370000000,372200000,,\n"
        claims += (
            "removed causal,paper,share,0.67,0.4,,\nthroughput,paper,TFLOP/s,2.4,1.44,1.3,2.36\n"
        )
        claims += "copy,independent profile,sectors,7,7,,\nan input,paper,TFLOP/s,1.3,,,\n"
        path = Path(self.folder.name) / "claims.csv"
        path.write_text(claims)
        figure = draw.predicted_published(str(path))
        figure.canvas.draw()
        left, right = (
            [t for t in a.get_yticklabels()] for a in (figure.axes[0], figure.axes[0].child_axes[0])
        )
        names = ["misses", "removed causal", "throughput", "copy"]
        self.assertEqual([t.get_text() for t in left], names)
        self.assertEqual(right[2].get_text(), "2.4 / 1.44 TFLOP/s")
        boxes = [text.get_window_extent() for text in [*left, *right]]
        crossing = [(a, b) for i, a in enumerate(boxes) for b in boxes[i + 1 :] if a.overlaps(b)]
        self.assertEqual(crossing, [])

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
