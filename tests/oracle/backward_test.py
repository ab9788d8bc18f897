"""Random points of the backward pass: `sawtooth simulate` gives every counter of the oracle (backward.py), tensor
by tensor.

backward_test.py SAWTOOTH [FIRST [COUNT]]
"""

import sys
import tempfile
import unittest
from pathlib import Path
from random import Random
from subprocess import run

from backward import COUNTERS, TENSORS, count
from points import VALUES, choose_listed_mask
from simulate_test import section, table


def any_point(number):
    random = Random(number)
    pick = random.choice
    kv_heads = pick((1, 1, 2))
    point = {
        "batch": pick((1, 1, 2)),
        "heads": kv_heads * pick((1, 1, 2, 3)),
        "kv_heads": kv_heads,
        "head_dim": pick((64, 64, 128)),
        "dtype": pick(("bf16", "bf16", "fp32")),
        "tile_q": pick((16, 32, 64)),
        "tile_kv": pick((16, 32, 64)),
        "seq_q": random.randint(1, 250),
        "seq_kv": random.randint(1, 250),
        "mask": pick(("none", "causal", f"window:{random.randint(1, 200)}")),
        "q_order": pick(VALUES["q_order"]),
        "head_order": pick(VALUES["head_order"]),
        "launch": pick(("static", "dynamic", "grid")),
        "workers": random.randint(1, 12),
        "scan": pick(VALUES["scan"]),
        "timing": pick(VALUES["timing"]),
        "dq": pick(("atomic", "atomic", "separate")),
        "small_kernels": pick(("off", "on")),
        "seed": number,
    }
    if random.random() < 0.4:
        point["head_dim_v"] = pick((32, 64, 96, 192))
    if random.random() < 0.25:
        choose_listed_mask(random, point)
    point["section"] = random.randint(1, point["batch"] * kv_heads)
    row = point["head_dim"] * (4 if point["dtype"] == "fp32" else 2)
    rows = point["batch"] * (4 * point["heads"] * point["seq_q"] + 2 * kv_heads * point["seq_kv"])
    point["l2_bytes"] = max(1, int(rows * row * random.uniform(0.01, 1.2)) // 128) * 128
    return {**point, "loop": "kv-inner", "kv_split": 1, "prefetch": 0, "lse": "off"}


class Backward(unittest.TestCase):
    sawtooth = ""
    first, points = 0, 100

    def test_simulate_gives_every_counter_of_the_oracle(self):
        points = {n: any_point(n) for n in range(self.first, self.first + self.points)}
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            sections = [section(n, point, folder) for n, point in points.items()]
            head = "gpu = gb10\npass = backward\nl2 = lru\n"
            (folder / "points.ini").write_text(head + "".join(sections))
            command = [self.sawtooth, "simulate", folder / "points.ini", "--quiet"]
            command += ["--csv", folder / "rows.csv", "--by-tensor", folder / "tensors.csv"]
            run(command, check=True)
            rows, tensors = table(folder / "rows.csv"), table(folder / "tensors.csv")
        self.assertEqual(len(rows), len(points))
        by_run = {(row["run_id"], row["tensor"]): row for row in tensors}
        for row, (number, point) in zip(rows, points.items()):
            self.assertEqual(row["seed"], str(number))
            counts = count(point)
            for counter in COUNTERS:
                expected = {tensor: counts[tensor][counter] for tensor in TENSORS}
                found = {
                    t: int(by_run.get((row["run_id"], t), {}).get(counter) or 0) for t in TENSORS
                }
                self.assertEqual(found, expected, f"{counter} of {point}")
                self.assertEqual(int(row[counter] or 0), sum(expected.values()), f"{point}")


if __name__ == "__main__":
    Backward.sawtooth = sys.argv[1]
    Backward.first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    Backward.points = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    unittest.main(argv=sys.argv[:1])
