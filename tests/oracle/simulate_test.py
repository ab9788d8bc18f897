"""300 random points, and 100 of two halves: `sawtooth simulate` gives every counter of the oracle,
tensor by tensor.

simulate_test.py SAWTOOTH [FIRST [COUNT]]. The oracle (schedule.py, cache.py, counters.py, halves.py
and what they import) is written from docs/ and shares no code with the simulator. A difference
prints the point as options.
"""

import csv
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import counters
import halves
from halves_points import PROFILE, any_halves_point
from layout import TENSORS
from points import VALUES, any_point


def section(number, point, folder):
    lines = [f"[point-{number}]"]
    for name, value in point.items():
        longest_of = {"seq_q": "q_lengths", "seq_kv": "lengths"}
        if longest_of.get(name) in point:
            continue
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


def profile(number, point, folder):
    """A GPU whose halves have the ways of one set."""
    path = folder / f"{number}.ini"
    ways = point["l2_bytes"] // 2 // 128
    path.write_text(PROFILE.format(ways=ways, **point))
    return path


class Oracle(unittest.TestCase):
    sawtooth = ""
    first, points = 0, 300

    def differences(self, folder, points, oracle, gpu):
        """Points of which some counter is another one, as text. `gpu(number, point)` is a profile."""
        sections = [section(n, dict(p, gpu=gpu(n, p)), folder) for n, p in points.items()]
        (folder / "points.ini").write_text("".join(sections))
        command = [self.sawtooth, "simulate", folder / "points.ini", "--quiet"]
        command += ["--csv", folder / "rows.csv", "--by-tensor", folder / "tensors.csv"]
        subprocess.run(command, check=True)
        rows = table(folder / "rows.csv")
        self.assertEqual(len(rows), len(points))
        by_run = {(row["run_id"], row["tensor"]): row for row in table(folder / "tensors.csv")}
        different = []
        for row, (number, point) in zip(rows, points.items()):
            self.assertEqual(row["seed"], str(number))
            counts = oracle.count(point)
            for counter in oracle.COUNTERS:
                expected = {tensor: counts[tensor][counter] for tensor in counts}
                found = {
                    t: int(by_run.get((row["run_id"], t), {}).get(counter) or 0) for t in TENSORS
                }
                other = by_run.get((row["run_id"], "other"), {})  # only where there are words
                found["other"] = int(other.get(counter) or 0)
                if found != expected or row[counter] != str(sum(expected.values())):
                    different.append(f"{counter}: {found}, oracle {expected}, of {point}")
                    break
        return different

    def agree(self, points, oracle, gpu=lambda number, point: "gb10"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            different = self.differences(folder, points, oracle, gpu)
        self.assertFalse(different, f"{len(different)} points differ:\n" + "\n".join(different))

    def test_simulate_gives_every_counter_of_the_oracle(self):
        numbers = range(self.first, self.first + self.points)
        points = {number: any_point(number) for number in numbers}
        if self.points >= 300:
            for name, values in VALUES.items():
                drawn = {point[name] for point in points.values() if name in point}
                self.assertEqual(drawn, set(values))
            self.assertEqual({"order" in point for point in points.values()}, {True, False})
        self.agree(points, counters)

    def test_lines_of_two_halves_have_the_homes_of_the_oracle(self):
        numbers = range(self.first, self.first + self.points // 3)
        points = {number: any_halves_point(number) for number in numbers}
        with tempfile.TemporaryDirectory() as name:
            self.agree(points, halves, lambda n, point: profile(n, point, Path(name)))


if __name__ == "__main__":
    Oracle.sawtooth = sys.argv[1]
    Oracle.first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    Oracle.points = int(sys.argv[3]) if len(sys.argv) > 3 else 300
    unittest.main(argv=sys.argv[:1])
