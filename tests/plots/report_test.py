"""plots/report.py: what a page holds, how large it is, and what is refused."""

import base64
import contextlib
import io
import json
import re
import tempfile
import unittest
import zlib
from pathlib import Path

import report_tables
import report  # plots/, by the path of report_tables
import table

MOST_BYTES = 5_000_000


def data_of(page):
    packed = re.search(r'<script id="data" type="text/plain">([^<]*)</script>', page)[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))


class Report(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = Path(self.scratch.name)

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

    def test_the_page_names_no_address(self):
        page = self.page(4)
        self.assertIn("default-src 'none'", page)  # the browser refuses all that is not in the page
        self.assertEqual(set(re.findall(r"https?://[^\"]*", page)), {"http://www.w3.org/2000/svg"})
        self.assertEqual(re.findall(r'(?:src|href)="(?!#)[^"]*"', page), [])

    def test_points_have_what_varies_and_their_numbers(self):
        data = data_of(self.page(4))
        self.assertEqual(data["keys"], ["seq_kv", "scan"])
        self.assertEqual(data["same"]["gpu"], "h200")
        self.assertEqual(
            [(row["cells"], row["numbers"][:2]) for row in data["rows"]],
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
