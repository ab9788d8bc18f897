"""plots/report.py: what a page holds, how large it is, and what is refused."""

import base64
import contextlib
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

    def test_points_have_what_varies_and_their_numbers(self):
        data = data_of(self.page(4))
        self.assertEqual(data["keys"], ["seq_kv", "scan"])
        self.assertIn("gpu h200", data["same"])
        self.assertEqual(
            [(row["cells"], [n[0] for n in row["numbers"][:2]]) for row in data["rows"]],
            [
                (["S=1K", "linear"], [1000, 2]),
                (["S=1K", "sawtooth"], [750, 1.5]),
                (["S=2K", "linear"], [2000, 4]),
                (["S=2K", "sawtooth"], [1500, 3]),
            ],
        )
        self.assertEqual(data["curves"][3]["name"], "S=2K, sawtooth")
        self.assertEqual(data["curves"][3]["misses"], [103, 100])
        marks = [[30 << 20, "half of L2"], [60 << 20, "L2 of H200"]]
        self.assertEqual(data["curves"][3]["marks"], marks)
        self.assertEqual(data["waves"][0]["tiles"][3][15:17], [15, -1])

    def test_the_page_opens_with_the_schedule_to_take_what_it_saves_and_how_sure_that_is(self):
        report_tables.make_judged(self.folder)
        (answer,) = report.payload(str(self.folder))["answers"]
        # Measurements, where there are some, give 660 / 1100, from 650 / 1110 to 670 / 1090 at most; 90 / 110.
        self.assertEqual(
            (answer["best"], answer["surely"], answer["usual"]), ("sawtooth", True, "linear")
        )
        self.assertRegex(
            answer["text"], r"^DRAM reads −40.0 % \(−4\d.\d to −3\d.\d %\), time −18.2 % "
        )
        self.assertEqual(answer["sure"], "Measured on h200, medians of 3 launches.")
        header, *lines = (self.folder / "results.csv").read_text().splitlines()
        predicted = [line for line in lines if line.startswith("predicted")]
        (self.folder / "results.csv").write_text("\n".join([header, *predicted]) + "\n")
        (answer,) = report.payload(str(self.folder))["answers"]
        # 600 / 1000 with errors of 10 % each: exp(+-hypot of the halves of ln(11/9)) = 0.753 .. 1.328 of it.
        self.assertRegex(
            answer["text"], r"^DRAM reads −40.0 % \(−4[78].\d to −30.\d %\), time −10.0 % "
        )
        self.assertEqual(
            answer["sure"],
            "Predicted for h200 by timed, halves; judged there: 1.5 % (15 % at 90 %).",
        )

    def test_a_difference_within_the_intervals_is_not_called_better(self):
        report_tables.make_judged(self.folder)
        path = self.folder / "results.csv"
        wide = path.read_text().replace("600,540,660,90,89,91", "950,500,1800,100,90,112")
        path.write_text(
            "\n".join(line for line in wide.splitlines() if not line.startswith("measured"))
        )
        (answer,) = report.payload(str(self.folder))["answers"]
        self.assertEqual((answer["best"], answer["surely"]), ("sawtooth", False))
        self.assertIn("not sure", answer["text"])

    def test_numbers_without_an_interval_give_no_verdict(self):
        report_tables.make(self.folder, 4)  # sawtooth reads 3/4 of what linear does
        (answer,) = report.payload(str(self.folder))["answers"]
        self.assertEqual((answer["best"], answer["surely"]), ("sawtooth", False))
        self.assertEqual(answer["text"], "DRAM reads −25.0 % (no interval), medians of 2 problems.")

    def test_repetitions_are_one_point_and_a_measurement_stands_beside_its_prediction(self):
        report_tables.make_judged(self.folder)
        data = report.payload(str(self.folder))
        self.assertEqual(data["keys"], ["scan"])
        self.assertEqual(
            data["quantities"][:2],
            ["DRAM reads (sectors), predicted", "DRAM reads (sectors), measured"],
        )
        self.assertEqual(
            [(row["cells"], row["numbers"][:2]) for row in data["rows"]],
            [
                (["linear"], [[1000, 900, 1100], [1100, 1090, 1110]]),
                (["sawtooth"], [[600, 540, 660], [660, 650, 670]]),
            ],
        )

    def test_a_recorded_table_without_run_ids_is_a_report_too(self):
        report_tables.make_judged(self.folder)
        path = self.folder / "results.csv"
        path.write_text(
            "\n".join(line.rpartition(",")[0] for line in path.read_text().splitlines())
        )
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
