"""experiments/studies/validation/estimate_time.py against sums done by hand."""

import os
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "experiments", "studies", "validation"))
import estimate_time  # noqa: E402


def row(**changes):
    values = dict.fromkeys(estimate_time.PROBLEM + estimate_time.SCHEDULE, "")
    values.update(batch="1", heads="2", seq_q="8", seq_kv="8", head_dim="4", mask="none")
    return dict(values, **changes)


class EstimateTime(unittest.TestCase):
    def test_flop_are_four_times_head_dim_a_visible_pair(self):
        # 2 heads x 4 D x 4 = 32 FLOP a pair; 64 pairs, or half of them.
        self.assertEqual(estimate_time.flop(row()), 32 * 64)
        self.assertEqual(estimate_time.flop(row(mask="causal")), 32 * 32)
        # Rows see 1, 2, 3, 3, 3, 3, 3, 3 keys: 21 pairs.
        self.assertEqual(estimate_time.flop(row(mask="window:3")), 32 * 21)

    def test_a_point_costs_its_launches_and_a_constant_a_repetition(self):
        # 2048 FLOP at 2048e-12 TFLOP/s: one second a launch; 1 + 2 x (5 + 3) launches, 2 x 0.3 s.
        self.assertAlmostEqual(estimate_time.seconds(row(), 2048e-12, 2), 17.6)

    def test_a_point_that_occurs_twice_is_measured_once(self):
        self.assertEqual(len(estimate_time.unique([row(), row(scan="linear"), row()])), 2)


if __name__ == "__main__":
    unittest.main()
