"""experiments/studies/peers/sdpa.py without a GPU: shapes, the choice of a schedule, the table."""

import sys
import unittest
from unittest import mock

import support
import measures
import sdpa


def bench_rows(times):
    """Rows of `sawtooth bench` for {(launch, scan): [us, ...]}."""
    base = {
        "kernel": "mma",
        "tile_q": "128",
        "tile_kv": "64",
        "q_order": "ascending",
        "workers": "264",
        "prefetch": "0",
    }
    return [
        dict(base, launch=launch, scan=scan, time_us=str(time))
        for (launch, scan), list_ in times.items()
        for time in list_
    ]


class Sdpa(unittest.TestCase):
    def test_the_usual_shapes_are_two_head_dims_two_masks_and_2k_to_128k(self):
        shapes = sdpa.default_shapes()
        self.assertEqual(len(shapes), 28)
        self.assertEqual({shape.seq for shape in shapes}, {2048 << i for i in range(7)})
        self.assertEqual(
            {(shape.head_dim, shape.mask) for shape in shapes},
            {(64, "none"), (64, "causal"), (128, "none"), (128, "causal")},
        )

    def test_a_shape_that_is_none_is_named_and_exits_with_2(self):
        code, _, error = support.called(sdpa.main, "1,16,2048,64,window")
        self.assertEqual(code, 2)
        self.assertIn("1,16,2048,64,window", error)

    def test_without_torch_it_says_so_and_exits_with_3(self):
        with mock.patch.dict(sys.modules, {"torch": None}):
            code, _, error = support.called(sdpa.main)
        self.assertEqual(code, 3)
        self.assertEqual(len(error.splitlines()), 1)

    def test_the_best_schedule_is_that_of_the_smallest_median(self):
        # Medians 20 and 15; the single fastest launch, 9, belongs to the slower schedule.
        rows = bench_rows({("grid", "linear"): [9, 20, 30], ("static", "sawtooth"): [16, 15, 14]})
        self.assertEqual(sdpa.best_schedule(rows), ("static sawtooth ascending", 15))

    def test_flop_are_four_b_h_s_squared_d_and_half_of_that_when_causal(self):
        # 4 x 2 x 3 x 1000^2 x 64 = 1.536e9 FLOP in 1536 us is one TFLOP/s.
        six = support.shape(batch=2, heads=3, seq=1000)
        self.assertAlmostEqual(sdpa.teraflops(six, 1536), 1.0)
        half = support.shape(batch=2, heads=3, seq=1000, mask="causal")
        self.assertAlmostEqual(sdpa.teraflops(half, 1536), 0.5)

    def test_a_line_of_the_table_has_the_ratio_of_the_times(self):
        line, ratios = sdpa.table_line(support.shape(seq=2048), {"peer": 300.0}, ("grid", 200.0))
        self.assertEqual(ratios, [1.5])
        self.assertTrue(line.endswith("| grid | 1.50 |"), line)
        self.assertAlmostEqual(measures.geometric_mean([2.0, 0.5]), 1.0)


if __name__ == "__main__":
    unittest.main()
