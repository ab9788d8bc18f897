"""300 random points: `sawtooth simulate` gives every counter of the oracle, tensor by tensor.

simulate_test.py SAWTOOTH [FIRST [COUNT]]. The oracle (schedule.py, cache.py, counters.py) is written
from docs/ and shares no code with the simulator. A difference prints the point as options.
"""

import csv
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from counters import COUNTERS, count
from points import VALUES, any_point
from schedule import TENSORS


def section(number, point, folder):
    lines = [f"[point-{number}]"]
    for name, value in point.items():
        if name == "order":
            path = folder / f"{number}.order"
            path.write_text("".join(" ".join(map(str, item)) + "\n" for item in value))
            lines.append(f"order-file = {path}")
        else:
            lines.append(f"{name.replace('_', '-')} = {value}")
    return "\n".join(lines) + "\n"


def table(path):
    with path.open() as file:
        return list(csv.DictReader(file))


class Oracle(unittest.TestCase):
    sawtooth = ""
    first, points = 0, 300

    def test_simulate_gives_every_counter_of_the_oracle(self):
        numbers = range(self.first, self.first + self.points)
        points = {number: any_point(number) for number in numbers}
        if self.points >= 300:
            for name, values in VALUES.items():
                drawn = {point[name] for point in points.values() if name in point}
                self.assertEqual(drawn, set(values))
            self.assertEqual({"order" in point for point in points.values()}, {True, False})
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            sections = [section(n, p, folder) for n, p in points.items()]
            (folder / "points.ini").write_text("gpu = gb10\n" + "".join(sections))
            command = [self.sawtooth, "simulate", folder / "points.ini", "--quiet"]
            command += ["--csv", folder / "rows.csv", "--by-tensor", folder / "tensors.csv"]
            subprocess.run(command, check=True)
            rows = table(folder / "rows.csv")
            tensors = table(folder / "tensors.csv")
        self.assertEqual(len(rows), len(points))
        by_run = {(row["run_id"], row["tensor"]): row for row in tensors}
        different = []
        for row, (number, point) in zip(rows, points.items()):
            self.assertEqual(row["seed"], str(number))
            counts = count(point)
            for counter in COUNTERS:
                expected = {tensor: counts[tensor][counter] for tensor in counts}
                found = {t: int(by_run[row["run_id"], t][counter]) for t in TENSORS}
                other = by_run.get((row["run_id"], "other"), {})  # only where there are words
                found["other"] = int(other.get(counter) or 0)
                if found != expected or row[counter] != str(sum(expected.values())):
                    different.append(f"{counter}: {found}, oracle {expected}, of {point}")
                    break
        self.assertFalse(different, f"{len(different)} points differ:\n" + "\n".join(different))


if __name__ == "__main__":
    Oracle.sawtooth = sys.argv[1]
    Oracle.first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    Oracle.points = int(sys.argv[3]) if len(sys.argv) > 3 else 300
    unittest.main(argv=sys.argv[:1])
