"""Every figure draws from a small table into a PDF with TrueType fonts and a PNG; what cannot be drawn is
refused in one line that names it, and leaves nothing behind."""

import contextlib
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
sys.path += [str(PLOT.parent), str(PLOT.parent / "lib")]
import table  # noqa: E402  (the path above leads to it)

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
    ("reads_by_lenght", "lengths.csv"): "is no figure; did you mean reads_by_length?; allowed: xy,",
    ("reads_by_length", "lengths.csv", "--where", "seq_kv=1024"): "one seq_kv alone is no line",
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
    said = dict(stdout=output.getvalue(), stderr=errors.getvalue())
    return types.SimpleNamespace(returncode=code, **said)


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

    def changed(self, name, *changes):
        """A table with the rows of another one once for each of several changes of cells."""
        path = os.path.join(self.folder.name, f"{len(os.listdir(self.folder.name))}_{name}")
        rows = table.read(str(TABLES / name))
        table.write(path, [{**row, **cells} for cells in changes for row in rows])
        return path

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
        Path(self.folder.name, "matplotlibrc").write_text(
            "no.key: 1\n"
        )  # read, it would be told of
        words = [sys.executable, PLOT, "scans", TABLES / "ctas.csv", "-o", self.stem]
        done = subprocess.run(words, capture_output=True, text=True, cwd=self.folder.name)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)

    def test_an_empty_cell_is_not_a_zero(self):
        path = self.changed("ctas.csv", dict(l2_read_miss_sectors=""))
        self.refused("hit_rate", [path], "no row has hit_rate")

    def test_the_capacity_comes_from_the_table(self):
        for (gpu, capacity), words in {
            ("h200", 60 << 20): ("half of L2", "L2 of H200"),
            ("h200", 16 << 20): ("L2 of 16 MiB",),  # not the profile's: its own size
            ("gb10", 24 << 20): ("L2 of GB10",),
        }.items():
            path = self.changed("miss_curve.csv", dict(gpu=gpu, l2_bytes=capacity))
            drawn = self.drawn("miss_curve", [path])
            for text in words:
                self.assertIn(text, drawn)
            self.assertEqual(self.bytes_of("svg").count(b"L2 of"), 1)

    def test_points_that_differ_are_series_of_their_own(self):
        path = self.changed("misses.csv", dict(launch="static"), dict(launch="grid"))
        drawn = self.drawn("misses_by_length", [path])
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
        words = "gb10, no mask, batch 8, D=64, Q tile 64, lockstep, LRU"
        path = self.changed("misses.csv", known)
        self.assertIn(words, " ".join(self.drawn("misses_by_length", [path])).replace("\n", " "))
        titled = self.drawn("misses_by_length", [path, "--title", "Fig. 1"])
        self.assertIn("Fig. 1", " ".join(titled))

    def test_tables_of_several_gpus_are_all_readings(self):
        folder = Path(self.folder.name)
        for gpu in ("h100-sxm", "h200"):
            rows = [f"{gpu},{1024 << i},1.{i}" for i in range(3)]
            (folder / f"{gpu}.csv").write_text("\n".join(["gpu,seq_kv,ratio", *rows]) + "\n")
        paths = [folder / "h100-sxm.csv", folder / "h200.csv"]
        options = ["--x", "seq_kv", "--y", "ratio", "--facet", "gpu"]
        self.assertNotIn("predicted", self.drawn("xy", [*paths, *options]))

    def test_a_miss_curve_takes_a_sweep_and_names_its_points(self):
        folder = Path(self.folder.name)
        points = [(1024 << i, scan) for i in range(5) for scan in ("linear", "sawtooth")]
        points = [f"predicted,{scan},{seq},{i:012x}" for i, (seq, scan) in enumerate(points)]
        columns = "source,scan,seq_kv,run_id"
        (folder / "results.csv").write_text("\n".join([columns, *points]) + "\n")
        steps = [f"{p},{at},{9 - at // 4096}" for p in points for at in (0, 4096, 8192)]
        steps = "\n".join([columns + ",capacity_bytes,miss_sectors", *steps]) + "\n"
        (folder / "deep").mkdir()
        (folder / "deep" / "both.csv").write_text(steps)  # no other table tells what its points are
        (folder / "curve.csv").write_text(re.sub("(?m)^[^,]*,(.*?),.*?,", r"\1,", steps))
        for path in (folder / "curve.csv", folder / "deep" / "both.csv"):
            words = self.drawn("miss_curve", [path])
            for text in ("S=1K", "S=2K", "S=4K", "S=8K", "S=16K", "linear", "sawtooth"):
                self.assertIn(text, words)
            self.assertNotIn("point", " ".join(words))
        import miss_curve

        figure = miss_curve.draw(str(folder / "deep" / "both.csv"))
        self.assertEqual(list(figure.axes[0].lines[0].get_ydata()), [8, 7, 7])

    def test_panels_that_share_an_axis_show_all_their_points_and_bytes_have_units(self):
        import xy

        few = dict(l2_read_miss_sectors=9 << 20, cold_read_sectors=9 << 20, mask="none")
        path = self.changed("misses.csv", few, few | dict(l2_read_miss_sectors=45613056, mask="w"))
        figure = xy.draw([path], "seq_kv", "misses", facet="mask", log="none")
        low, high = figure.axes[0].get_ylim()
        self.assertTrue(low == 0 and high > 45613056, (low, high))  # of the second panel
        for sizes in ((8, 16, 32), (9, 12, 15)):
            path = Path(self.folder.name) / f"{sizes[0]}.csv"
            rows = "".join(f"{size << 20},1\n" for size in sizes)
            path.write_text("l2_bytes,dram_read_sectors\n" + rows)
            figure = xy.draw([str(path)], "l2_bytes", "dram_read_sectors")
            figure.canvas.draw()
            texts = [text.get_text() for text in figure.axes[0].get_xticklabels()]
            self.assertTrue(all(text.endswith(" MiB") for text in texts), texts)

    def test_series_at_one_place_stand_side_by_side_and_lines_below_stick_out(self):
        import xy

        path = self.changed("scans.csv", dict(seq_kv=1, launch="a"), dict(seq_kv=1, launch="b"))
        figure = xy.draw([path], "scan", "misses", facet="mask")
        lines = [line for line in figure.axes[0].lines if line.get_marker() in "os"]
        self.assertEqual(len({tuple(line.get_xdata()) for line in lines}), 2)
        figure = xy.draw([str(TABLES / "misses.csv")], "seq_kv", "misses")
        lines = [line for line in figure.axes[0].lines if line.get_marker() in "os"]
        widths = [line.get_linewidth() for line in lines]
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
        decade = [dict(predicted=n, measured=n) for n in range(300, 601, 50)]
        drawn["decade"] = validation.draw(self.changed("errors.csv", *decade))
        for name, figure in drawn.items():
            figure.canvas.draw()
            legend = figure.axes[-1].get_legend() or figure.axes[0].get_legend()
            if legend:
                box = legend.get_window_extent()
                self.assertFalse(
                    any(box.overlaps(a.get_window_extent()) for a in figure.axes), name
                )
            for axes in figure.axes:
                ticks = [*axes.get_xticklabels(), *axes.get_xticklabels(minor=True)]
                low, high = axes.get_xlim()
                ticks = [t for t in ticks if t.get_text() and low <= t.get_position()[0] <= high]
                boxes = [t.get_window_extent() for t in ticks]
                boxes.sort(key=lambda box: box.x0)
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
        both = figure.axes[0], figure.axes[0].child_axes[0]
        left, right = (list(axes.get_yticklabels()) for axes in both)
        names = ["misses", "removed causal", "throughput", "copy"]
        self.assertEqual([t.get_text() for t in left], names)
        self.assertEqual(right[2].get_text(), "2.4 / 1.44 TFLOP/s")
        boxes = [text.get_window_extent() for text in [*left, *right]]
        crossing = [(a, b) for i, a in enumerate(boxes) for b in boxes[i + 1 :] if a.overlaps(b)]
        self.assertEqual(crossing, [])

    def test_a_table_without_rows_is_refused(self):
        path = Path(self.folder.name) / "empty.csv"
        path.write_text((TABLES / "ctas.csv").read_text().partition("\n")[0] + "\n")
        self.refused("hit_rate", [str(path)], "no rows")


if __name__ == "__main__":
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print("skipped: this Python has no matplotlib")
        sys.exit(SKIPPED)
    for block in TEXT.read_text(encoding="utf-8").split("# ")[1:]:
        name, rows = block.split("\n", 1)
        (TABLES / name).write_text(rows, encoding="utf-8")
    unittest.main(verbosity=2)
