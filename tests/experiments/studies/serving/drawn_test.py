#!/usr/bin/env python3
"""The drawn lists of serving are what their scripts draw from the commits that they name."""

import re
import subprocess
import sys
import unittest
from pathlib import Path

STUDY = Path(__file__).resolve().parents[4] / "experiments/studies/serving"


class Drawn(unittest.TestCase):
    def test_lists_are_those_of_the_commits_that_they_name(self):
        for script, name in (
            ("draw_list.py", "drawn"),
            ("draw_reuse.py", "drawn_reuse"),
            ("draw_ways.py", "drawn_ways"),
            ("draw_cascades.py", "drawn_cascades"),
        ):
            text = (STUDY / "lists" / f"{name}.ini").read_text(encoding="utf-8")
            commit = re.search(rf"{re.escape(script)} ([0-9a-f]+)", text)[1]
            drawn = subprocess.run(
                [sys.executable, STUDY / script, commit], capture_output=True, text=True, check=True
            )
            self.assertEqual(drawn.stdout, text, name)

    def test_a_missing_commit_is_refused(self):
        ended = subprocess.run(
            [sys.executable, STUDY / "draw_list.py"], capture_output=True, text=True
        )
        self.assertEqual(ended.returncode, 1)
        self.assertIn("draw_list.py COMMIT", ended.stderr)


if __name__ == "__main__":
    unittest.main()
