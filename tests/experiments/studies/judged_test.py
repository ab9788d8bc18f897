"""judged.py: errors of predictions, orders of schedules, what a choice changes; and pages that are current."""

import subprocess
import sys
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "support"))
from in_folder import ROOT, InFolder, write_table  # noqa: E402

STUDIES = ROOT / "experiments" / "studies"
sys.path.append(str(STUDIES))
import judged  # noqa: E402  (the path above leads to it)

PROBLEM = dict(batch=1, heads=1, kv_heads=1, seq_q=1024, seq_kv=1024, head_dim=64, mask="none")


def error(counter, predicted, measured, timing="timed", **others):
    cells = dict(group=f"{timing}, halves", counter=counter, predicted=predicted, measured=measured)
    cells |= {"pass": "forward", "relative_error": predicted / measured - 1}
    return {**PROBLEM, **cells, **others}


class Study(InFolder):
    """Tests work in the folder of a study that has results/."""

    def setUp(self):
        super().setUp()
        (self.folder / "results").mkdir()

    def run_tool(self, *arguments):
        command = [sys.executable, STUDIES / "judged.py", *map(str, arguments)]
        return subprocess.run(command, check=True, capture_output=True, text=True)

    def judge(self, rows, name="all", *where):
        write_table(self.folder / "errors.csv", rows)
        to = ["--to", self.folder / "results" / "judged.csv", "--set", name]
        self.run_tool("errors", self.folder / "errors.csv", *to, "--where", *where)
        return judged.Page(self.folder)


class Errors(Study):
    def test_sizes_have_a_median_a_ninety_percent_and_a_worst(self):
        page = self.judge(
            [error("time_us", 100 + e, 100) for e in (-9, 1, 2, 3, 4, 5, 6, 7, 8, -12)]
        )
        self.assertIn("| all | 10 | 5.5/9.0/12 |", page.errors("time_us"))

    def test_held_is_the_share_of_points_that_have_an_interval(self):
        ends = [(90, 110), (101, 110), (90, 100), ("", "")]
        rows = [error("time_us", 100, 100, predicted_low=a, predicted_high=b) for a, b in ends]
        self.assertEqual([r["held"] for r in self.judge(rows)._rows("judged")], ["0.6667"])

    def test_a_change_of_time_is_judged_within_a_problem_and_by_ten_pairs(self):
        # Both times of a problem are a tenth too long, or one of them alone.
        def lines(problems, alike):
            return [
                error(
                    "time_us", 110 if slow or alike else 100, 100, gpu="h200", kernel="mma", heads=n
                )
                for n in range(problems)
                for slow in (False, True)
            ]

        for rows, expected in (
            (lines(9, True), []),
            (lines(10, True), [("10", "0.0000")]),
            (lines(10, False), [("10", "0.1000")]),
        ):
            write_table(self.folder / "rows.csv", rows)
            found = judged.judgements(judged.table.read(self.folder / "rows.csv"), "forward", "x")
            changes = [line for line in found if line["counter"] == "time_change"]
            self.assertEqual([(str(l["count"]), l["ninety"]) for l in changes], expected)

    def test_models_and_counters_stand_apart_whatever_costs_a_group_names(self):
        rows = [
            error("time_us", 110, 100),
            error("time_us", 130, 100, group="timed, halves, costs x"),
        ]
        rows += [error("dram_read_sectors", 300, 100, "lockstep"), error("unknown", 1, 2)]
        page = self.judge(rows)
        self.assertIn("| all | 2 | 20/30/30 |", page.errors("time_us"))
        self.assertIn(
            "| all | 1 | 200/200/200 |", page.errors("dram_read_sectors", model="lockstep")
        )

    def test_conditions_choose_points_and_a_set_replaces_itself_alone(self):
        rows = [
            error("time_us", 110, 100, kernel="mma"),
            error("time_us", 120, 100, kernel="hopper"),
        ]
        self.judge(rows, "mma", "kernel=mma")
        self.judge(rows, "others", "kernel!=mma")
        page = self.judge(rows, "mma", "kernel=hopper")
        self.assertIn("| mma | 1 | 20/20/20 |", page.errors("time_us"))
        self.assertIn("| others | 1 | 20/20/20 |", page.errors("time_us"))

    def test_what_the_program_says_is_by_kernel_and_by_kinds_of_ten_points(self):
        # 300 of 100 compulsory sectors without a mask, a head at a time: in step; 120: within.
        point = dict(gpu="h200", kernel="", section="1", q_order="ascending")
        point |= dict(group="timed, halves, 60 MiB")
        rows = [
            error("dram_read_sectors", 330, 300, **point, heads=h, over_compulsory=3)
            for h in range(10)
        ]
        rows += [error("dram_read_sectors", 144, 120, **point, heads=99, over_compulsory=1.2)]
        found = {line["kind"]: line for line in judged.judgements(rows, "forward", "a list")}
        self.assertEqual(sorted(found), ["all", "in_step"])
        of = found["in_step"]
        self.assertEqual((of["model"], of["kernel"], of["count"]), ("timed-halves", "mma", 10))
        self.assertEqual((of["median"], found["all"]["ninety"]), ("0.1000", "0.1000"))
        self.assertEqual(found["all"]["count"], 11)

    def test_few_writes_of_a_backward_pass_do_not_count(self):
        # dQ in float, dK and dV: 1024 x 64 x 8 bytes are 16384 sectors, 5 % of which are 819.2.
        rows = [error("dram_write_sectors", n, n, **{"pass": "backward"}) for n in (819, 820)]
        self.assertIn("| all | 1 | 0.0/0.0/0.0 |", self.judge(rows).errors("dram_write_sectors"))

    def test_pairs_are_of_one_problem_and_differ_by_more_than_a_twentieth(self):
        rows = [
            error("time_us", predicted, measured)
            for predicted, measured in ((1, 100), (2, 104), (3, 90))
        ]
        rows += [error("time_us", 9, 50, heads=2)]
        self.assertEqual(self.judge(rows).order("all"), "0 of 2")
        rows[2]["predicted"] = 0.5
        self.assertEqual(self.judge(rows).order("all"), "2 of 2")


class Changes(Study):
    def setUp(self):
        super().setUp()
        times = ("linear", "none", 10), ("shift", "none", 11)
        times += ("linear", "causal", 4), ("shift", "causal", 12)
        rows = [{**PROBLEM, "scan": s, "mask": m, "time_us": t, "same": 1} for s, m, t in times]
        write_table(self.folder / "rows.csv", rows)
        self.run_tool(
            "keep", self.folder / "rows.csv", "--to", self.folder / "results" / "kept.csv"
        )
        self.page = judged.Page(self.folder)

    def test_only_columns_that_differ_are_kept(self):
        kept = self.read("results/kept.csv")
        self.assertEqual(kept.splitlines()[0], "mask,scan,time_us")

    def test_a_choice_is_compared_with_another_at_the_same_problem(self):
        of = "kept", "time_us", dict(scan="shift"), dict(scan="linear")
        for found, expected in zip(self.page.changes(*of), (1.1, 2.05, 3)):
            self.assertAlmostEqual(found, expected)
        self.assertEqual(self.page.ratios(*of), "1.10 to 3.00 (median 2.05)")

    def test_choices_have_a_line_each(self):
        table = self.page.choices("kept", "time_us", "mask", dict(scan="linear"))
        self.assertEqual(table.splitlines()[-1], "| `scan = linear`: `shift` | +10 % | 3 times |")


class Pages(unittest.TestCase):
    def test_pages_have_the_figures_of_their_results(self):
        for study in ("backward", "serving", "ring"):
            with self.subTest(study):
                done = subprocess.run(
                    [STUDIES / study / "run.sh", "--check"], capture_output=True, text=True
                )
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
