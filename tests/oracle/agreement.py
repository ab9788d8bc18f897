"""What the tests of the oracles share: the points that they take, and the program's tables beside an oracle's."""

import sys
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
from in_folder import InFolder, rows_of  # noqa: E402  (the path above leads to it)


class Agreement(InFolder):
    first, points = 0, 0

    def section(self, number, point):
        lines = [f"[point-{number}]"]
        for name, value in point.items():
            longest_of = {"seq_q": "q_lengths", "seq_kv": "lengths"}
            if longest_of.get(name) in point:
                continue
            if name == "order":
                items = "".join(" ".join(map(str, item)) + "\n" for item in value)
                lines.append(f"order-file = {self.write(f'{number}.order', items)}")
            else:
                lines.append(f"{name.replace('_', '-')} = {value}")
        return "\n".join(lines) + "\n"

    def agree(self, points, oracle, missing=""):
        """Each counter of each point is that of `oracle.count`, tensor by tensor; a point has its number as seed.
        `missing` stands for an empty cell of a total."""
        self.write("points.ini", "".join(self.section(*one) for one in points.items()))
        words = "--quiet --csv rows.csv --by-tensor tensors.csv".split()
        self.program("simulate", "points.ini", *words, code=0, timeout=3600)
        rows, tensors = rows_of(self.read("rows.csv")), rows_of(self.read("tensors.csv"))
        self.assertEqual(len(rows), len(points))
        by_run = {(row["run_id"], row["tensor"]): row for row in tensors}
        different = []
        for row, (number, point) in zip(rows, points.items()):
            self.assertEqual(row["seed"], str(number))
            counts = oracle.count(point)
            for counter in oracle.COUNTERS:
                expected = {tensor: counts[tensor][counter] for tensor in counts}
                found = {
                    tensor: int(by_run.get((row["run_id"], tensor), {}).get(counter) or 0)
                    for tensor in counts
                }
                if found != expected or (row[counter] or missing) != str(sum(expected.values())):
                    different.append(f"{counter}: {found}, oracle {expected}, of {point}")
                    break
        self.assertFalse(different, f"{len(different)} points differ:\n" + "\n".join(different))


def main(case, points):
    """Runs NAME_test.py SAWTOOTH [FIRST [COUNT]]; `points` is the usual COUNT."""
    case.first = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    case.points = int(sys.argv[2]) if len(sys.argv) > 2 else points
    unittest.main(argv=sys.argv[:1])
