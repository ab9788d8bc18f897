#!/usr/bin/env python3
"""experiments/studies/validation/prefetch_bias.py on CTAs whose times are known."""

import contextlib
import csv
import io
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, *[".."] * 4, "experiments", "studies", "validation"))
import prefetch_bias  # noqa: E402

CTAS = 264
STEPS = 100


def items(run, ns_of):
    """Two items a CTA; the second one, whose end is not recorded, does not count."""
    for cta in range(CTAS):
        yield [run, 0, cta, 1, cta + CTAS, STEPS, 7 + STEPS * ns_of(cta)]
        yield [run, 0, cta, 0, cta, STEPS, 7]


class PrefetchBias(unittest.TestCase):
    def written(self, header, rows):
        file = tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False, newline="")
        self.addCleanup(os.remove, file.name)
        with file:
            csv.writer(file).writerows([header.split(), *rows])
        return file.name

    def said(self, rows, recorded):
        rows = self.written("run_id repetition head_dim tile_q tile_kv ctas_per_sm prefetch", rows)
        recorded = self.written(
            "run_id repetition worker items_before item steps start_ns", recorded
        )
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = prefetch_bias.main([rows, recorded])
        return code, out.getvalue()

    def test_lines_of_single_ctas_do_not_count(self):
        rows = [["a", 0, 128, 128, 64, 2, 0], ["b", 0, 128, 128, 64, 2, 8]]
        rows.append(["c", 0, 64, 128, 64, 1, 8])
        usual = lambda cta: 1050 if prefetch_bias.is_younger(cta) else 950  # noqa: E731
        half = lambda cta: (1025 if prefetch_bias.is_younger(cta) else 975) + 80 * (
            cta % 2
        )  # noqa: E731
        code, said = self.said(rows, [*items("a", usual), *items("b", half), *items("c", usual)])
        self.assertEqual(code, 0)
        self.assertEqual(said, "[d128-128x64] 10.00 % without, 4.81 % with, quotient 0.481\n")

    def test_launches_without_items_are_refused(self):
        code, said = self.said([["a", 0, 128, 128, 64, 2, 0]], [])
        self.assertEqual(code, 1)
        self.assertIn("no launch with two CTAs", said)


if __name__ == "__main__":
    unittest.main()
