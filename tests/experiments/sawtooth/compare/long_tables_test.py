"""Long tables are compared in time and memory that grow with their rows."""

import importlib.util
import io
import os
import sys
import unittest
from contextlib import redirect_stdout
from pathlib import Path

PROGRAM = os.path.abspath(sys.argv.pop(1))
STUDY = Path(__file__).parents[4] / "experiments/studies/cluster/long_tables.py"


def study():
    spec = importlib.util.spec_from_file_location("long_tables", STUDY)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class LongTables(unittest.TestCase):
    ROWS = 20000

    def test_take_time_and_memory_by_the_row(self):
        words = [PROGRAM, "--rows", str(self.ROWS), "--schedules", "100"]
        sys.argv[1:] = [*words, "--steps", "compare,apart"]
        printed = io.StringIO()
        with redirect_stdout(printed):
            study().main()
        header, *steps = printed.getvalue().split()
        self.assertEqual(len(steps), 2)
        for step in steps:
            cells = dict(zip(header.split(","), step.split(",")))
            # All with all are 4 * 10^8 pairs, which takes minutes.
            self.assertLess(float(cells["cpu_seconds"]), 20, step)
            # 2 GiB for 10^6 rows of either table.
            self.assertLess(int(cells["peak_mib"]), 2048 * self.ROWS / 10**6, step)


if __name__ == "__main__":
    unittest.main()
