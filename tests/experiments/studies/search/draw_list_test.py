#!/usr/bin/env python3
"""The list of shapes is what its seed says, and a sample of heads stays one of whole groups."""

import pathlib
import re
import subprocess
import sys
import unittest

STUDY = pathlib.Path(__file__).resolve().parents[4] / "experiments/studies/search"
sys.path.insert(0, str(STUDY))
import draw_list  # noqa: E402  (the path above leads to it)
import sampling  # noqa: E402


class DrawList(unittest.TestCase):
    def test_every_list_is_what_its_first_line_draws(self):
        for path in [STUDY / "proof.ini", *sorted((STUDY / "lists").glob("*.ini"))]:
            text = path.read_text(encoding="utf-8")
            arguments = re.search(r"draw_list\.py (.*)", text)[1].split()
            drawn = subprocess.run(
                [sys.executable, STUDY / "draw_list.py", *arguments],
                check=True,
                capture_output=True,
                text=True,
            )
            self.assertEqual(drawn.stdout, text, path.name)

    def test_steps_are_pairs_of_tiles_on_and_below_the_diagonal(self):
        self.assertEqual(draw_list.steps(2, 3, 512, "none"), 2 * 3 * 4 * 4)
        self.assertEqual(draw_list.steps(1, 1, 512, "causal"), 1 + 2 + 3 + 4)

    def test_a_sample_keeps_whole_groups_and_halves_batch_first(self):
        self.assertEqual(draw_list.sampled(4, 32, 8, 512, "none", 1e9), (4, 32, 8))
        self.assertEqual(draw_list.sampled(4, 32, 8, 512, "none", 600), (1, 32, 8))
        self.assertEqual(draw_list.sampled(4, 32, 8, 512, "none", 100), (1, 4, 1))

    def test_twice_a_sample_has_twice_the_heads_in_the_same_sections(self):
        best = {"heads": "8", "kv-heads": "2", "section": "8"}
        self.assertIsNone(sampling.twice("whole", best))
        self.assertIsNone(sampling.twice("sampled 2 of 8", best | {"order-file": "x"}))
        twice = sampling.twice("sampled 2 of 8", best)
        self.assertEqual(twice, {"heads": "16", "kv-heads": "4", "section": "8"})


if __name__ == "__main__":
    unittest.main()
