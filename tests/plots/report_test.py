"""plots/report.py: what a page holds, how large it is, and what is refused."""

import base64
import contextlib
import html
import io
import json
import random
import re
import resource
import unittest
import zlib

import report_tables
import report  # plots/, by the path of report_tables
import table
from in_folder import InFolder

MOST_BYTES = 5_000_000
SCANS = report_tables.SCANS


def data_of(page):
    packed = re.search(r'<script id="data" type="text/plain">([^<]*)</script>', page)[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))


class Report(InFolder):
    def page(self, points):
        report_tables.make(self.folder, points)
        with contextlib.redirect_stdout(io.StringIO()):
            report.main([str(self.folder), "-o", str(self.folder / "r.html")])
        return (self.folder / "r.html").read_text(encoding="utf-8")

    def test_a_sweep_of_500_points_is_under_5_mb(self):
        page = self.page(500)
        self.assertLess(len(page), MOST_BYTES)
        data = data_of(page)
        self.assertEqual([len(data["rows"]), len(data["curves"])], [500, 500])

    def test_damaged_tables_end_in_a_page_or_in_an_error_with_little_memory(self):
        limit = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, limit[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_AS, limit)
        pages = 0
        for seed in range(300):
            chance = random.Random(seed)
            report_tables.make(self.folder, 3)
            path = chance.choice(sorted(self.folder.glob("*.csv")))
            text = path.read_text(encoding="utf-8")
            at = chance.randrange(len(text))
            odd = ["", ",", '"', "\n", "-1", "9" * chance.randrange(1, 40), "nan", "\0", "x", "1e9"]
            path.write_text(text[:at] + chance.choice(odd) + text[at + chance.randrange(3) :])
            out = str(self.folder / "r.html")
            with contextlib.redirect_stdout(io.StringIO()):
                try:
                    pages += report.main([str(self.folder), "-o", out]) == 0
                except MemoryError:
                    self.fail(f"seed {seed}: {path.name}")
                except Exception as error:  # the program says it in a line
                    self.assertTrue(str(error) or repr(error))
        self.assertGreater(pages, 30)  # damage in columns that the page does not show

    def test_the_page_names_no_address(self):
        page = self.page(4)
        self.assertIn("default-src 'none'", page)  # the browser refuses all that is not in the page
        self.assertEqual(set(re.findall(r"https?://[^\"]*", page)), {"http://www.w3.org/2000/svg"})
        self.assertEqual(re.findall(r'(?:src|href)="(?!#)[^"]*"', page), [])

    def test_the_answer_stands_in_the_page_for_who_has_no_javascript(self):
        page = self.page(4)
        (said,) = re.findall(r"<noscript><p>([^<]*)</p>", page)
        for each in data_of(page)["answers"]:
            self.assertIn(f"{each['gpu']}: {each['lead']}{each['best']}", html.unescape(said))
        self.assertIn(f'<meta name="description" content="{said}">', page)
        # A name is text there, whatever is in it.
        data = data_of(page)
        data["answers"][0]["best"] = 'a"><b>'
        self.assertIn("a&quot;&gt;&lt;b&gt;", report.page(data))

    def test_points_have_what_varies_and_their_numbers(self):
        data = data_of(self.page(4))
        self.assertEqual(data["keys"], ["seq_kv", "scan"])
        self.assertIn("gpu h200", data["same"])
        self.assertIn("kernel mma", data["same"])
        rows = [(*row["cells"], *(n[0] for n in row["numbers"][:2])) for row in data["rows"]]
        short = [("S=1K", "linear", 1000, 2), ("S=1K", "sawtooth", 750, 1.5)]
        self.assertEqual(rows[:2], short)
        self.assertEqual(rows[2:], [("S=2K", "linear", 2000, 4), ("S=2K", "sawtooth", 1500, 3)])
        self.assertEqual(data["curves"][3]["name"], "S=2K, sawtooth")
        self.assertEqual(data["curves"][3]["misses"], [103, 100])
        marks = [[30 << 20, "half of L2"], [60 << 20, "L2 of H200"]]
        self.assertEqual(data["curves"][3]["marks"], marks)
        self.assertEqual(data["waves"][0]["tiles"][3][15:17], [15, -1])

    def answers(self, *points, **same):
        """The answers, and their sentences, of predictions (scan, reads, time, further cells) that are
        exact to 1 % of reads and 0.1 % of time."""
        columns = "source gpu timing l2 judged seq_kv scan dram_read_sectors dram_read_sectors_low "
        columns = (columns + "dram_read_sectors_high time_us time_us_low time_us_high").split()
        rows = []
        for scan, reads, time, more in points:
            row = ["predicted", "h200", "timed", "halves", "0.2 / 3.4 %", 1024, scan]
            row += [reads, 0.99 * reads, 1.01 * reads, time, 0.999 * time, 1.001 * time]
            rows.append(dict(zip(columns, row)) | same | more)
        cells = [row.values() for row in rows]
        report_tables.write(self.folder / "t.csv", " ".join(rows[0]), cells)
        found = report.payload(str(self.folder / "t.csv"))["answers"]
        return found, [a["lead"] + a["best"] + a["text"] for a in found]

    def test_the_page_opens_with_the_schedule_to_take_what_it_saves_and_how_sure_that_is(self):
        report_tables.make_judged(self.folder)
        (answer,) = report.payload(str(self.folder))["answers"]
        # Measurements, where there are some, give 660 / 1100, from 650 / 1110 to 670 / 1090 at most; 90 / 110.
        self.assertEqual([answer[k] for k in ("lead", "best", "usual")], ["Take ", *SCANS[::-1]])
        numbers = r"DRAM reads −40.0 % \(−4\d.\d to −3\d.\d %\), time −18.2 % "
        self.assertRegex(answer["text"], numbers)
        self.assertEqual(answer["sure"], "Measured on h200, medians of 3 launches.")
        path = self.folder / "results.csv"
        path.write_text("".join(s for s in path.read_text().splitlines(True) if s[0] != "m"))
        (answer,) = report.payload(str(self.folder))["answers"]
        # 600 / 1000 with errors of 10 % each: exp(+-hypot of the halves of ln(11/9)) = 0.753 .. 1.328 of it.
        numbers = r"DRAM reads −40.0 % \(−4[78].\d to −30.\d %\), time −10.0 % "
        self.assertRegex(answer["text"], numbers)
        sure = "Predicted for h200 by timed, halves; judged there: 1.5 % (15 % at 90 %)."
        self.assertEqual(answer["sure"], sure)

    def test_only_what_is_better_by_more_than_its_errors_is_to_be_taken(self):
        linear = ("linear", 1000, 100, {})
        wide = ("dram_read_sectors_low", 500), ("dram_read_sectors_high", 1800)
        none = ("dram_read_sectors_low", ""), ("time_us_low", "")
        for (reads, time, more), words in {
            (600, 100, ()): "Take sawtooth instead of linear (fewer reads, the same time): ",
            (600, 90, ()): "Take sawtooth instead of linear (faster, fewer reads): ",
            (1500, 90, ()): "Take sawtooth instead of linear (faster, more reads): ",
            (960, 99.5, ()): "Nothing here reads 5 % less or is 1 % faster than linear.",
            (1500, 100, ()): "Nothing here reads 5 % less or is 1 % faster than linear.",
            (600, 110, ()): "better than linear. Fewer reads, but slower, has sawtooth: DRAM",
            (
                900,
                100,
                wide,
            ): "The nearest is sawtooth: DRAM reads −10.0 % (−52.6 to +70.8 %, not sure",
            (900, 90, none): "DRAM reads −10.0 % (no interval), time −10.0 % (no interval).",
        }.items():
            (text,) = self.answers(linear, ("sawtooth", reads, time, dict(more)))[1]
            self.assertIn(words, text)

    def test_a_range_over_models_that_were_not_judged_is_no_error(self):
        points = [("linear", 1000, 100, {}), ("sawtooth", 600, 90, {})]
        ((answer,), (text,)) = self.answers(*points, judged="none")
        start = "A hypothesis worth a measurement: sawtooth instead of linear: DRAM reads −40.0 %, "
        end = "`--timing lockstep,timed` compares models."
        self.assertEqual(text, f"{start}time −10.0 % by the default model; {end}")
        self.assertEqual([line["reads"][1:] for line in answer["lines"]], [[None, None]] * 2)
        ((answer,), (text,)) = self.answers(*points, judged="borrowed: costs of mma-h200")
        self.assertIn("by a model that was not judged with this kernel there.", text)
        self.assertIn("; not judged there; costs borrowed from mma-h200.", answer["sure"])
        (text,) = self.answers(points[0], ("sawtooth", 1300, 100, {}), judged="none")[1]
        self.assertIn("Nothing here reads 5 % less or is 1 % faster than linear by the def", text)

    def test_lengths_have_a_true_median_and_masks_and_head_dims_an_answer_each(self):
        points = [
            (scan, reads, 100, dict(seq_kv=seq, mask=mask, head_dim=dim, tile_kv=8192 // dim))
            for mask, dim in (("none", 64), ("causal", 64), ("none", 128))
            for seq, less, worse in ((1024, 1000, 930), (2048, 400, 1000))
            for scan, reads in (("linear", 1000), ("sawtooth", less if mask == "none" else worse))
        ]
        found, texts = self.answers(*points)
        names = ["h200, no mask, D=64", "h200, causal, D=64", "h200, no mask, D=128"]
        self.assertEqual([each["gpu"] for each in found], names)
        for text in texts[::2]:
            self.assertIn("−30.0 % (median; −60.0 to 0.0 % over 2 lengths), time 0.0 %.", text)
        words = "faster than linear in the median; at one sawtooth does: DRAM reads −3.5 % (median; −7.0"
        self.assertIn(words, texts[1])

    def test_systems_and_kernels_are_compared_and_each_has_its_judgement(self):
        for column in ("system", "kernel"):
            points = [
                ("linear", 1000, t, {column: n, "launch": n, "tile_q": t, "judged": f"{t} %"})
                for n, t in (("old", 100), ("new", 90))
            ]
            ((answer,), (text,)) = self.answers(*points)
            self.assertIn("Take new instead of old (faster, the same reads): ", text)
            self.assertIn("; old judged there: 100 %; new judged there: 90 %.", answer["sure"])

    def test_of_a_search_the_answer_is_what_it_chose_against_its_usual_schedule(self):
        def row(scan, launch, reads, time, rank, why=""):
            return scan, reads, time, dict(launch=launch, rank=rank, why=why, section=1)

        chosen, usual = row("reverse", "dynamic", 700, 99.8, 1), row("linear", "grid", 1000, 101, 3)
        others = row("shift", "static", 10, 99.7, 2), row("linear", "static", 10, 10, 4)
        bound = row("attach", "static", 1, 1, "", "takes at least 200 us, the usual schedule 101")
        same = dict(q_order="descending", mask="causal", evaluated_by="timed", judged="none")
        ((answer,), (text,)) = self.answers(chosen, *others, usual, bound, **same)
        self.assertEqual([answer["best"], answer["usual"]], ["reverse, dynamic", "linear, grid"])
        self.assertIn("`sawtooth search` chose reverse, dynamic instead of linear, grid: ", text)

    def test_repetitions_are_one_point_and_a_measurement_stands_beside_its_prediction(self):
        report_tables.make_judged(self.folder)
        data = report.payload(str(self.folder))
        self.assertEqual(data["keys"], ["scan"])
        quantities = [f"DRAM reads (sectors), {source}" for source in ("predicted", "measured")]
        self.assertEqual(data["quantities"][:2], quantities)
        linear = ["linear"], [[1000, 900, 1100], [1100, 1090, 1110]]
        sawtooth = ["sawtooth"], [[600, 540, 660], [660, 650, 670]]
        rows = [(row["cells"], row["numbers"][:2]) for row in data["rows"]]
        self.assertEqual(rows, [linear, sawtooth])

    def test_a_recorded_table_without_run_ids_is_a_report_too(self):
        report_tables.make_judged(self.folder)
        path = self.folder / "results.csv"
        lines = path.read_text().splitlines()
        path.write_text("\n".join(line.rpartition(",")[0] for line in lines))
        self.assertEqual([row["id"] for row in report.payload(str(path))["rows"]], ["0", "1"])

    def test_small_steps_of_a_curve_are_left_out_and_its_ends_stay(self):
        path = self.folder / "curve.csv"
        steps = [["p", "linear", 4096 * (i + 1), 100_000 - i] for i in range(1001)]
        report_tables.write(path, "run_id scan capacity_bytes miss_sectors", steps)
        curve = next(report.curves([str(path)], {}))
        self.assertEqual([curve["misses"][0], curve["misses"][-1]], [100_000, 99_000])
        # 0.2 % of the range of 1000 are 2: every second step stays, and the last.
        self.assertEqual(curve["misses"], list(range(100_000, 98_999, -2)))

    def test_a_folder_without_results_is_refused(self):
        with self.assertRaisesRegex(table.TableError, "no table of results"):
            report.payload(str(self.folder))
        with self.assertRaisesRegex(table.TableError, "is not there"):
            report.payload(str(self.folder / "nothing"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
