"""The closed forms of experiments/studies/paper against sums by hand, and the check that uses them."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PAPER = Path(__file__).resolve().parents[4] / "experiments" / "studies" / "paper"
sys.path.append(str(PAPER))
import closed_forms  # noqa: E402  (the path above leads to it)

HEADER = "mask,tile_q,seq_kv,head_dim,dtype,l2_read_sectors,l2_write_sectors\n"


class ClosedForms(unittest.TestCase):
    def test_a_ragged_length_by_hand(self):
        # S = 5, T = 2: Q tiles end at rows 2, 4 and 5. 4 sectors a row. No mask: Q 4 x 5 = 20, and
        # K and V 2 x 4 x (5 + 5 + 5) = 120. Causal: K and V 2 x 4 x (2 + 4 + 5) = 88. O: 20.
        self.assertEqual(closed_forms.exact(5, 2, "none", 4), (140, 20))
        self.assertEqual(closed_forms.exact(5, 2, "causal", 4), (108, 20))

    def test_the_papers_formula_is_exact_where_the_tile_divides_the_length(self):
        # 8 S (1 + S/T) and 8 S (S/2T + 3/2) at D = 64, two bytes an element.
        for length, tile in ((4096, 64), (131072, 128)):
            for mask, passes in (("none", 1 + length / tile), ("causal", length / tile / 2 + 1.5)):
                with self.subTest(length=length, mask=mask):
                    total = sum(closed_forms.exact(length, tile, mask, 4))
                    self.assertEqual(total, 8 * length * passes)
                    self.assertEqual(closed_forms.paper(length, tile, mask, 4), total)

    def check(self, reads):
        with tempfile.TemporaryDirectory() as folder:
            results = os.path.join(folder, "results.csv")
            # 5 rows of 64 elements of 2 bytes: 4 sectors a row, the case by hand above.
            Path(results).write_text(HEADER + f"causal,2,5,64,bf16,{reads},20\n", encoding="utf-8")
            output = os.path.join(folder, "closed_forms.csv")
            return subprocess.run(
                [sys.executable, PAPER / "closed_forms.py", output, results],
                capture_output=True,
                text=True,
                check=False,
            )

    def test_the_check_passes_the_exact_count_and_fails_one_sector_more(self):
        self.assertEqual(self.check(108).returncode, 0)
        wrong = self.check(109)
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("mask causal, T 2, S 5: predicted (109, 20), exact (108, 20)", wrong.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
