"""item_paces.py: which items are staggered, and what a file of kernel costs gets of it."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
PROGRAM = ROOT / "experiments/studies/ring/item_paces.py"
WORKERS, ITEMS, USUAL_NS, STAGGERED_NS = 100, 42, 1000, 960


def starts(staggered):
    """Of a worker whose items `staggered` names are the faster ones."""
    now, found = 0, []
    for item in range(ITEMS):
        found.append(now)
        now += STAGGERED_NS if item in staggered else USUAL_NS
    return found


def run(workers, finishes):
    lines = ["tile,problem,mode,launch,finishes,worker,start_ns"]
    for worker, of_worker in enumerate(workers):
        lines += [f"d64-128x128,p,m,1,{finishes},{worker},{ns}" for ns in of_worker]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "items.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        found = subprocess.run(
            [sys.executable, PROGRAM, path], capture_output=True, text=True, check=True
        )
    return dict(line.split(" = ") for line in found.stdout.split("[d64-128x128]\n")[1].splitlines())


class ItemPaces(unittest.TestCase):
    # Items 1 to 40 are compared, each with the one before: of 100 workers ten have items 11, 12 and
    # 21 staggered. Of the 3 x 10 two kinds follow a usual one (11 and 21), and of those behind a
    # staggered one (12, 13, 22) one in three is staggered. 39 pairs a worker.
    def test_shares_are_by_what_the_item_before_was(self):
        workers = [starts({11, 12, 21} if worker < 10 else set()) for worker in range(WORKERS)]
        section = run(workers, 1)
        pairs = WORKERS * 39
        self.assertAlmostEqual(
            float(section["staggered-finish-share"]), 20 / (pairs - 30), delta=0.0005
        )
        self.assertEqual(section["staggered-share"], "0.000")
        self.assertAlmostEqual(float(section["staggered-kept-share"]), 1 / 3, delta=0.005)
        self.assertAlmostEqual(float(section["staggered-gain"]), 0.04, delta=1e-9)
        self.assertAlmostEqual(float(section["staggered-gain-spread"]), 0, delta=1e-9)

    def test_launches_that_do_not_finish_have_a_share_of_their_own(self):
        workers = [starts({11} if worker < 10 else set()) for worker in range(WORKERS)]
        section = run(workers, 0)
        self.assertEqual(section["staggered-finish-share"], "0.000")
        self.assertGreater(float(section["staggered-share"]), 0)


if __name__ == "__main__":
    unittest.main()
