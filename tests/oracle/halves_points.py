"""Random points of two halves that are one set each. Their tiles are whole lines, and a tile has one
reader at a time: one worker, or two with a head each."""

from random import Random

from points import VALUES, choose_serving, touched_lines

PROFILE = """[gpu]
description = two halves of one set each
sms = {workers}; assumed; drawn
l2-bytes = 64KiB; assumed; each point has its own
l2-halves = 2; assumed; drawn
l2-ways = {ways}; assumed; drawn
l2-reserved-share = 0; assumed; drawn
"""
MOST_LINES = 20_000


def any_halves_point(number):
    random = Random(number)
    while True:
        point = drawn(random, number)
        if touched_lines(point) <= MOST_LINES:
            return point


def drawn(random, number):
    pick = random.choice
    workers = pick((1, 2))
    alone = workers == 1
    heads = pick((1, 2, 3)) if alone else 2
    kv_heads = pick((1, heads)) if alone else 2
    outer = random.random() < 0.2
    tile_q, tile_kv = pick((32, 64)), pick((16, 32, 64))
    point = {
        "batch": pick((1, 2)) if alone else 1,
        "heads": heads,
        "kv_heads": kv_heads,
        "head_dim": 64,
        "dtype": pick(("bf16", "fp32")),
        "tile_q": tile_q,
        "tile_kv": tile_kv,
        "seq_q": 32 * random.randint(1, 8),
        "seq_kv": random.randint(1, 250),
        "mask": pick(("none", "causal", f"window:{random.randint(1, 200)}")),
        "q_order": pick(VALUES["q_order"]),
        "head_order": pick(VALUES["head_order"]),
        "launch": pick(VALUES["launch"]) if alone else "static",
        "workers": workers,
        "scan": pick(VALUES["scan"]),
        "loop": "kv-outer" if outer else "kv-inner",
        "prefetch": 0 if outer else pick((0, 0, 1, 2)),
        "kv_split": 1,
        "section": pick((1, heads)) if alone else 2,
        "lse": pick(VALUES["lse"]),
        "timing": pick(VALUES["timing"]),
        "l2": "halves",
        "l2_bytes": 2 * 128 * random.randint(1, 256),
        "pack_gqa": pick(VALUES["pack_gqa"]),
        "seed": number,
    }
    if alone and random.random() < 0.3:  # queries in whole lines of log-sum-exp
        queries = [32 * random.randint(0, 8), 32 * random.randint(1, 8)]
        keys = [random.randint(1, 250), random.randint(0, 250)]
        point.update(batch=2, loop="kv-inner", prefetch=0)
        point.update(lengths="{}+{}".format(*keys), q_lengths="{}+{}".format(*queries))
        point.update(seq_kv=max(keys), seq_q=max(queries))
        point["launch"] = pick(("static", "dynamic", "grid"))
        point["sequence_order"] = pick(VALUES["sequence_order"])
    if point["launch"] == "balanced":
        point["loop"] = "kv-inner"
    if alone:
        choose_serving(random, point)
    return point
