"""Random rings: each step of each GPU counts what the oracle (ring.py) says of it.

ring_test.py SAWTOOTH [FIRST [COUNT]]
"""

import unittest
from random import Random

from agreement import main
from in_folder import rows

from ring import COUNTERS, SUMS, Rank


def any_point(number):
    random = Random(number)
    pick = random.choice
    ranks, kv_heads = pick((2, 2, 3, 4)), pick((1, 1, 2))
    order, tile_q, tile_kv = pick(("plain", "zigzag")), pick((16, 32, 64)), pick((16, 32, 64))
    chunks = ranks * (2 if order == "zigzag" else 1)
    return {
        "ring": ranks,
        "ring_order": order,
        "ring_mover": pick(("copy", "nccl")),
        "batch": pick((1, 1, 2)),
        "heads": kv_heads * pick((1, 2, 3)),
        "kv_heads": kv_heads,
        "head_dim": pick((64, 128)),
        "dtype": pick(("bf16", "fp16")),
        "tile_q": tile_q,
        "tile_kv": tile_kv,
        "seq": chunks * max(tile_q, tile_kv) * random.randint(1, 4),
        "mask": pick(("none", "causal")),
        "launch": pick(("static", "dynamic", "grid")),
        "scan": pick(("linear", "reverse", "sawtooth", "random")),
        "workers": random.randint(1, 20),
        "l2_bytes": 128 * random.randint(1, 4000),
        "seed": number,
    }


def rows_of_point(point):
    words = [f"--{name.replace('_', '-')}={value}" for name, value in point.items()]
    return rows(
        "simulate", *words, *"--gpu=h200 --timing=lockstep --l2=lru --csv=- --quiet".split()
    )


class Rings(unittest.TestCase):
    def test_simulate_gives_every_step_of_every_gpu_the_counts_of_the_oracle(self):
        for number in range(self.first, self.first + self.points):
            point = any_point(number)
            by_step = {(row["ring_rank"], row["ring_step"]): row for row in rows_of_point(point)}
            for rank in range(point["ring"]):
                steps, sums = Rank(point, rank).count()
                found = [by_step[str(rank), str(step)] for step in range(point["ring"])]
                for step, expected in enumerate(steps):
                    ours = {name: int(found[step][name] or 0) for name in COUNTERS}
                    self.assertEqual(ours, expected, f"rank {rank}, step {step} of {point}")
                for name in SUMS[: 2 if point["ring_mover"] == "nccl" else 3]:
                    self.assertEqual(
                        sum(int(row[name] or 0) for row in found),
                        sums[name],
                        f"{name} of rank {rank} of {point}",
                    )


if __name__ == "__main__":
    main(Rings, 60)
