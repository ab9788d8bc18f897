"""Costs of the backward kernels from records of their items."""

import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
STUDY = ROOT / "experiments" / "studies" / "backward"
sys.path.insert(0, str(STUDY))
import costs  # noqa: E402  (the path above leads to it)


def launch(paces, steps=100, mask="none", item_ns=50):
    """A launch whose CTAs take `paces` ns a step in their items."""
    row = dict(gpu="h200", mask=mask, head_dim="64", tile_q="64", tile_kv="64", ctas_per_sm="2")
    workers = {}
    for worker, of_cta in enumerate(paces):
        start, items = 0, []
        for pace in (*of_cta, 0):
            items.append((start, steps))
            start += round(pace * steps) + item_ns
        workers[worker] = items
    return costs.Launch(row, workers)


class SmSpread(unittest.TestCase):
    def test_it_is_what_ctas_differ_by_beyond_the_jitter_of_their_steps(self):
        steady = [[990] * 4, [1010] * 4]
        self.assertAlmostEqual(costs.sm_spread(launch(steady), 50), 0.01)
        # Means differ by 0.005, and items of a CTA by 0.021: two of them make 0.015 of a mean.
        restless = [[1020, 990], [980, 1010]]
        self.assertEqual(costs.sm_spread(launch(restless), 50), 0)


class WrongPhase(unittest.TestCase):
    def test_slow_items_tell_how_slow_it_is_and_locked_ctas_how_many_stay(self):
        paces = [[1000] * 4] * 6 + [[1000, 1060, 1000, 1120]] * 2 + [[1200] * 4] * 2
        right, slowness, slip, between, locked = costs.wrong_phase(launch(paces), 50)
        self.assertEqual(right, 1000)
        self.assertAlmostEqual(slowness, 0.2)
        self.assertEqual(locked, 0.2)
        # Of the other 32 items the mean share of time in the wrong phase.
        shares = 2 * sum((1 - 1000 / pace) * 1.2 / 0.2 for pace in (1060, 1120)) / 32
        self.assertAlmostEqual(slip / (slip + between), shares)

    def test_items_that_are_alike_have_none(self):
        self.assertIsNone(costs.wrong_phase(launch([[1000, 1010], [1005, 995]]), 50))


class MetShare(unittest.TestCase):
    def test_it_is_what_the_mean_pace_of_items_beside_others_tells(self):
        # Of the five items that end in the first 0.7 of the launch one takes 1200 a step; the wrong phase 0.2 longer. A
        # tenth of the time is in it anyway.
        paces = [[1000, 1200, 1000, 1000, 1000, 1000, 1000, 1000]]
        found = costs.met_share([launch(paces, mask="causal")], 50, 1000, 0.2, 0.1)
        self.assertAlmostEqual(found, (200 / 5 / 1000 / 0.2 - 0.1) / 0.9)


class ItemTime(unittest.TestCase):
    def test_it_is_what_items_of_all_lengths_take_beyond_their_steps(self):
        one = launch([[10]], mask="causal")
        one.ctas_per_sm = 1
        one.ctas = {0: [(0, 200), (2300, 400), (6600, 300), (9900, 1)]}  # 10 a step and 300
        self.assertAlmostEqual(costs.item_ns_of([one]), 300)


class Files(unittest.TestCase):
    def test_the_recorded_costs_are_what_the_records_give(self):
        files = (
            ("mma", "h100", "h100-sxm", ("calibration", "pairs")),
            ("mma", "h200", "h200", ("calibration", "pairs")),
            ("hopper", "h200", "h200", ("calibration_hopper",)),
        )
        for family, folder, gpu, names in files:
            data = ROOT / "experiments" / "data" / folder / "backward"
            command = [sys.executable, STUDY / "costs.py", family]
            for name in names:
                command += [data / f"{name}.csv", data / f"{name}_items.csv.xz"]
            text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            path = ROOT / "experiments" / "profiles" / "kernels" / f"{family}-backward-{gpu}.ini"
            self.assertEqual(text, path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
