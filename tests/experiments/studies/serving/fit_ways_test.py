#!/usr/bin/env python3
"""The fit of costs finds those that made the times, and replaces sections of a file of costs."""

import math
import sys
import unittest
from pathlib import Path

STUDY = Path(__file__).resolve().parents[4] / "experiments/studies/serving"
sys.path.append(str(STUDY))
import fit_ways  # noqa: E402  (the path above leads to it)


class Launches:
    """Times of steps and ends in us: STEPS[i] of the one and ENDS[i] of the other."""

    STEPS, ENDS = (10, 40, 200), (3, 2, 1)

    def __init__(self, step_ns, end_ns):
        self.us = self.times(step_ns, end_ns)

    def times(self, step_ns, end_ns):
        return [(s * step_ns + e * end_ns) / 1000 for s, e in zip(self.STEPS, self.ENDS)]

    def residuals(self, _, values):
        return [math.log(p / us) for p, us in zip(self.times(*values), self.us)]


class FitWays(unittest.TestCase):
    def test_the_costs_that_made_the_times_are_found(self):
        values, left = fit_ways.fit(Launches(620, 3500), [fit_ways.STEP, fit_ways.END])
        self.assertAlmostEqual(values[0], 620, delta=1)
        self.assertAlmostEqual(values[1], 3500, delta=20)
        self.assertLess(max(map(abs, left)), 1e-3)

    def test_costs_stay_within_their_bounds(self):
        values, _ = fit_ways.fit(Launches(620, -500), [fit_ways.STEP, fit_ways.END])
        self.assertEqual(values[1], fit_ways.END.least)

    def test_linear_equations_are_solved_with_a_zero_on_the_diagonal(self):
        x = fit_ways.solve([[0.0, 2.0], [3.0, 1.0]], [4.0, 9.0])
        self.assertAlmostEqual(x[0], 7 / 3)
        self.assertAlmostEqual(x[1], 2)

    def test_the_model_that_is_left_the_least_is_taken(self):
        class Doubled(Launches):  # no costs give times that do not grow with the steps
            def times(self, step_ns, end_ns):
                return [2 * s * step_ns / 1000 for s in (40, 10, 40)]

        wrong, right = Doubled(620, 3500), Launches(620, 3500)
        wrong.us = right.us
        model, values, _ = fit_ways.fit_best([wrong, right], [fit_ways.STEP, fit_ways.END])
        self.assertIs(model, right)
        self.assertAlmostEqual(values[0], 620, delta=1)

    def test_a_cascade_steps_as_decode_in_its_tile(self):
        text = (
            "[kernel]\na = 1\n\n[d64-16x64]\nstep-ns = 600; m\nitem-end-ns = 700; m\n"
            "page-step-ns = 50; m\ndram-share = 0.9; m\n\n[d64-32x64]\nstep-ns = 1000; m\n"
        )
        many = fit_ways.of_decode(text, ("cascade", "mma", 64, 32, 64))
        self.assertEqual(many, "step-ns = 1000; m\npage-step-ns = 50; m\n")
        few = fit_ways.of_decode(text, ("cascade", "mma", 64, 16, 64))
        self.assertEqual(few, "step-ns = 600; m\npage-step-ns = 50; m\n")

    def test_a_section_is_left_out_of_a_file_of_costs(self):
        text = "[kernel]\na = 1\n\n[d64-64x64]\nb = 2\n\n[d64-64x640]\nc = 3\n"
        self.assertEqual(
            fit_ways.without_section(text, "d64-64x64"), "[kernel]\na = 1\n\n[d64-64x640]\nc = 3\n"
        )


if __name__ == "__main__":
    unittest.main()
