"""The page of foreign kernels: its table, and what the guide's last steps do with rows that are written down here."""

import contextlib
import io
import sys
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "support"))
from in_folder import ROOT, InFolder, rows_of, write_table  # noqa: E402

STUDY = ROOT / "experiments" / "studies" / "foreign"
sys.path.append(str(STUDY))
import census  # noqa: E402  (the path above leads to it)
import changes  # noqa: E402
import label  # noqa: E402


class Census(unittest.TestCase):
    def test_a_line_has_shares_of_the_reads_and_multiples_of_the_tensors(self):
        self.assertEqual(
            census.line(
                {
                    **{"what": "mine", "head_dim": "64", "mask": "causal", "time_us": "1500"},
                    **{"sm_read_sectors": "1000", "l2_read_sectors": "800"},
                    **{"l2_read_miss_sectors": "8", "dram_read_sectors": "300"},
                    **{"cold_read_sectors": "150", "l2_write_sectors": "60"},
                    "written_sectors": "50",
                }
            ),
            "| mine | D 64, causal | 1.50 | 80% | 99.0% | 2.00 | 1.20 |",
        )

    def test_the_page_has_what_was_recorded(self):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            census.print_table(ROOT / "experiments" / "data" / "h200" / "foreign")
        self.assertIn(output.getvalue(), (STUDY / "README.md").read_text(encoding="utf-8"))


class Guide(InFolder):
    def changed(self, measured_after_us):
        """Exit code and text where 1,000 us become 800 as predicted, and this as measured."""

        def table(name, **times):
            rows = [
                {"scan": scan, "seq_q": 131072, "time_us": us, "dram_read_sectors": 100 * us}
                for scan, us in times.items()
            ]
            return write_table(self.folder / name, rows)

        predicted = table("predicted.csv", linear=1000, sawtooth=800)
        for name in ("triton-linear.csv", "pytorch-sdpa.csv"):
            table(name, linear=1000)
        for name in ("triton-sawtooth.csv", "pytorch-sawtooth.csv"):
            table(name, sawtooth=measured_after_us)
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            code = changes.main([predicted, predicted, str(self.folder)])
        return code, output.getvalue()

    def test_a_change_as_predicted_is_fine(self):
        code, said = self.changed(810)
        self.assertEqual(code, 0, said)
        self.assertIn("| 128K | 1.00, 1.00 | 0.80, 0.81 | -20.0%, -19.0% | -20.0%, -19.0% |", said)

    def test_a_change_that_was_not_predicted_is_an_error(self):
        code, said = self.changed(860)  # six points less
        self.assertEqual(code, 1, said)

    def test_launches_get_what_record_cannot_know_but_for_the_first_of_each_problem(self):
        recorded = [{"seq_q": "", "scan": "", "lse": "", "time_us": us} for us in (9, 5, 6, 9, 7)]
        said = [{"seq_q": length, "scan": "linear"} for length in (64, 64, 64, 128, 128)]
        paths = [str(self.folder / name) for name in ("recorded", "said", "rows")]
        write_table(paths[0], recorded)
        write_table(paths[1], said)
        label.main(paths)
        rows = rows_of(self.read("rows"))
        self.assertEqual([row["seq_q"] for row in rows], ["64", "64", "128"])
        self.assertEqual([row["time_us"] for row in rows], ["5", "6", "7"])
        self.assertEqual({row["lse"] for row in rows}, {"off"})

    def test_launches_that_are_too_few_are_refused_with_both_numbers(self):
        recorded = write_table(self.folder / "recorded", [{"seq_q": "", "time_us": 1}] * 2)
        said = write_table(self.folder / "said", [{"seq_q": 64}])
        with self.assertRaises(SystemExit) as refused:
            label.main([recorded, said, str(self.folder / "rows")])
        self.assertIn("has 2 launches", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
