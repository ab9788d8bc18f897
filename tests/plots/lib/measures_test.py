"""plots/lib/measures.py by hand."""

import sys
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "plots" / "lib"))
import measures  # noqa: E402  (the path above leads to it)


class Measures(unittest.TestCase):
    def test_a_quantile_is_the_smallest_value_that_the_share_does_not_exceed(self):
        # Nearest rank: of ten values 90 % have at most the ninth, 91 % at most the tenth.
        values = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
        self.assertEqual(
            [measures.quantile(values, share) for share in (0, 0.9, 0.91, 1)], [1, 9, 10, 10]
        )

    def test_the_geometric_mean_of_a_number_and_its_inverse_is_one(self):
        self.assertAlmostEqual(measures.geometric_mean([4.0, 0.25]), 1.0)

    def test_flop_are_two_products_of_every_visible_pair(self):
        # 2 products x 2 operations x 2 x 3 heads x 5 elements = 120 a pair. Of 10 queries and 20
        # keys 200 pairs; causal 11 + 12 .. + 20 = 155 less half a key a row; a window of 4 keys leaves each row 4.
        row = dict(batch="2", heads="3", seq_q="10", seq_kv="20", head_dim="5", mask="none")
        for mask, pairs in (("none", 200), ("causal", 150), ("window:4", 40)):
            self.assertEqual(measures.flop({**row, "mask": mask}), 120 * pairs)
        # Of 20 queries and 10 keys the last 10 see 1 + 2 .. + 10 = 55, less 5; window 4: 6 + 7 x 4 = 34.
        row.update(seq_q="20", seq_kv="10")
        for mask, pairs in (("causal", 50), ("window:4", 34)):
            self.assertEqual(measures.flop({**row, "mask": mask}), 120 * pairs)

    def test_tflops_are_operations_over_time(self):
        self.assertAlmostEqual(measures.tflops(24e12, 1e6), 24)

    def test_lengths_read_as_multiples_of_1024(self):
        self.assertEqual([measures.short(n) for n in (1024, 131072, 1000)], ["1K", "128K", "1000"])


if __name__ == "__main__":
    unittest.main()
