#!/usr/bin/env python3
"""The judgement of calls that name no schedule, on made-up times by hand, and the draw of those beside them."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
STUDY = ROOT / "experiments/studies/search"
sys.path.insert(0, str(STUDY))
import automatic  # noqa: E402  (the path above leads to it)
import table  # noqa: E402

POINT = dict(zip(automatic.SHAPE, ("h200", "1", "2", "2", "512", "128", "none")))
KERNEL = {"kernel": "hopper", "tile_q": "128", "tile_kv": "176", "scan": "linear"}
# Rounds at three clocks: the second takes twice and the third four times as long as the first.
TIMES = {
    "plain": (101, 202, 404),
    "plain-again": (101, 202, 408.04),
    "search": (100, 200, 400),
    "former": (151.5, 303, 606),
    "former-schedule": (101, 202, 404),
    "drawn-01": (95, 190, 404),
}


class Automatic(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def printed(self, *arguments):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            code = automatic.main(list(map(str, arguments)))
        return code, output.getvalue()

    def judged(self, times, **more):
        """Exit code, text and rows of a judgement of one shape."""
        rows = [
            POINT | {"entry": entry, "time_us": str(value), "status": "ok"}
            for entry, values in times.items()
            for value in values
        ]
        rows += [
            POINT | {"entry": name, "time_us": "", "status": why} for name, why in more.items()
        ]
        table.write(f"{self.folder}/times.csv", rows)
        result = f"{self.folder}/result.csv"
        code, text = self.printed("judge", f"{self.folder}/times.csv", result)
        return code, text, list(table.read(result)) if times.keys() >= automatic.NEEDED else []

    def test_ratios_are_medians_of_those_within_rounds(self):
        code, text, (row,) = self.judged(TIMES)
        # 101 / 100 in every round; against drawn-01 101 / 95 twice, then 1.
        self.assertEqual(float(row["loss_to_search"]), 0.01)
        self.assertEqual((row["best"], row["loss_to_best"]), ("drawn-01", "0.063158"))
        self.assertEqual(float(row["former_over_plain"]), 1.5)
        self.assertEqual(float(row["former_schedule_over_plain"]), 1)
        self.assertEqual(float(row["noise"]), 0)
        self.assertEqual((row["rounds"], float(row["plain_us"])), ("3", 202))
        # 5 % at worst are allowed, 6.3 % are not.
        self.assertEqual(code, 1)
        self.assertEqual(text.count("missed:"), 1)
        self.assertIn("missed: its loss against the fastest of all that were timed", text)

    def test_where_nothing_is_faster_the_plain_call_itself_is_best_and_all_goals_are_met(self):
        slower = {"search": (102, 204, 408), "drawn-01": (103, 206, 412)}
        code, text, (row,) = self.judged(TIMES | slower)
        self.assertEqual((row["best"], float(row["loss_to_best"])), ("plain", 0))
        self.assertEqual(code, 0)
        self.assertNotIn("missed", text)

    def test_a_former_default_may_be_faster_by_the_noise_and_no_more(self):
        near = TIMES | {"plain-again": (100, 200, 400), "drawn-01": (101, 202, 404)}  # noise 1 %
        code, text, _ = self.judged(near | {"former": (100.5, 201, 402)})
        self.assertEqual(code, 0)
        self.assertIn("least 0.995; below 1 in 1 shapes, by more than the noise in 0", text)
        code, text, _ = self.judged(near | {"former": (99, 198, 396)})  # 99 / 101 = 0.980
        self.assertEqual(code, 1)
        self.assertIn("least 0.980; below 1 in 1 shapes, by more than the noise in 1", text)
        self.assertIn("missed: former default over the plain call", text)

    def test_search_may_be_faster_by_2_percent_in_the_median_and_5_at_worst(self):
        self.assertEqual(self.judged(TIMES | {"drawn-01": (101, 202, 404)})[0], 0)
        three = {"search": (98, 196, 392), "drawn-01": (101, 202, 404)}  # 101 / 98: 3.1 %
        code, text, _ = self.judged(TIMES | three)
        self.assertEqual(code, 1)
        self.assertIn("missed: its loss against search", text)
        self.assertEqual(text.count("missed:"), 1)  # against the fastest only the worst counts

    def test_a_shape_without_a_needed_call_is_named_and_not_judged(self):
        times = {entry: values for entry, values in TIMES.items() if entry != "search"}
        code, text, _ = self.judged(times, search="output differs")
        self.assertEqual(code, 1)
        self.assertIn("not judged: h200 1 2 2 512 128 none", text)
        self.assertIn("failed: search: output differs", text)

    def found(self):
        """What search writes of one shape with six schedules, the fourth of which is best."""
        rows = [
            POINT | KERNEL | {"launch": launch, "q_order": order, "section": "1", "rank": ""}
            for launch in ("grid", "static", "dynamic")
            for order in ("ascending", "descending")
        ]
        rows[3]["rank"] = "1"
        table.write(f"{self.folder}/found.csv", rows)
        return f"{self.folder}/found.csv", rows

    def drawn(self, seed, count):
        found, _ = self.found()
        code, text = self.printed("draw", found, "--seed", seed, "--schedules", count)
        self.assertEqual(code, 0)
        path = pathlib.Path(self.folder) / "schedules.csv"
        path.write_text(text, encoding="utf-8")
        return table.read(path)

    def test_drawn_are_the_first_of_search_and_others_without_repeats(self):
        _, rows = self.found()
        drawn = self.drawn(seed=26, count=3)
        self.assertEqual(
            [row["entry"] for row in drawn], ["search", "drawn-01", "drawn-02", "drawn-03"]
        )
        schedules = [table.cells(row, automatic.SCHEDULE) for row in drawn]
        self.assertEqual(schedules[0], tuple(rows[3][name] for name in automatic.SCHEDULE))
        self.assertEqual(len(set(schedules)), 4)
        self.assertEqual(len(self.drawn(seed=26, count=12)), 6)  # there are no more

    def test_a_seed_draws_the_same_again_and_others_draw_others(self):
        draws = [tuple(map(str, self.drawn(seed, 3))) for seed in (1, 1, 2, 3, 4)]
        self.assertEqual(draws[0], draws[1])
        self.assertGreater(len(set(draws)), 1)


if __name__ == "__main__":
    unittest.main()
