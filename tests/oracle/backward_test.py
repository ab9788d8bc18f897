"""Random points of the backward pass: `sawtooth simulate` gives every counter of the oracle (backward.py), tensor
by tensor.

backward_test.py SAWTOOTH [FIRST [COUNT]]
"""

from random import Random

from agreement import Agreement, main

import backward
from points import VALUES, choose_listed_mask


def any_point(number):
    random = Random(number)
    pick = random.choice
    kv_heads, group = pick((1, 1, 2)), pick((1, 1, 2, 3, 4))
    point = {
        "batch": pick((1, 1, 2)),
        "heads": kv_heads * group,
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
        "kv_split": pick([parts for parts in range(1, group + 1) if group % parts == 0]),
        "seed": number,
    }
    if random.random() < 0.4:
        point["head_dim_v"] = pick((32, 64, 96, 192))
    if random.random() < 0.25:
        choose_listed_mask(random, point)
    point["section"] = random.randint(1, point["batch"] * kv_heads * point["kv_split"])
    row = point["head_dim"] * (4 if point["dtype"] == "fp32" else 2)
    rows = point["batch"] * (4 * point["heads"] * point["seq_q"] + 2 * kv_heads * point["seq_kv"])
    point["l2_bytes"] = max(1, int(rows * row * random.uniform(0.01, 1.2)) // 128) * 128
    point.update({"pass": "backward", "gpu": "gb10", "l2": "lru"})
    return {**point, "loop": "kv-inner", "prefetch": 0, "lse": "off"}


class Backward(Agreement):
    def test_simulate_gives_every_counter_of_the_oracle(self):
        numbers = range(self.first, self.first + self.points)
        self.agree({number: any_point(number) for number in numbers}, backward, missing="0")


if __name__ == "__main__":
    main(Backward, 100)
