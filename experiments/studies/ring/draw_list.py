#!/usr/bin/env python3
"""Draws rings at random, for judging a model that has not seen them:
`draw_list.py --seed HASH > lists/NAME.ini`.

HASH is that of the commit that froze the model. Rings of four and two GPUs in turn, a copy engine
moves K and V; the rest from what the ring kernels can run, lengths of 32K to 512K in all, evenly by
factors. Lengths of lists/judged.ini, whose rows are open, are not drawn. The same hash gives the
same list.
"""

import argparse
import random

KIB = 1024
SHORTEST, LONGEST = 32 * KIB, 512 * KIB  # of the goal's range
STEP = 8 * KIB
OPEN = {length * KIB for length in (64, 128, 256, 512)}  # of lists/judged.ini
HEADS = 8
MOST_FLOP = 3e14  # of a ring: half a second on one GPU
TILES = {64: ((192, 128), (128, 128)), 128: ((128, 176), (128, 128))}  # of kernels/hopper
ZIGZAG, NO_MASK, PLAIN = ("causal", "zigzag"), ("none", "plain"), ("causal", "plain")
PROBLEMS = (ZIGZAG, ZIGZAG, NO_MASK, NO_MASK, PLAIN)


def draw_problem(source):
    """A mask, layout, head dim and length whose ring takes no longer than is allowed."""
    while True:
        mask, layout = source.choice(PROBLEMS)
        head_dim = source.choice((64, 128))
        length = round(SHORTEST / STEP * (LONGEST / SHORTEST) ** source.random()) * STEP
        flop = 4 * HEADS * head_dim * length**2 * (0.5 if mask == "causal" else 1)
        if length not in OPEN and flop <= MOST_FLOP:
            seq = f"{length // KIB}K"
            return {"head-dim": head_dim, "seq": seq, "mask": mask, "ring-order": layout}


def draw_ring(source, ranks):
    ring = {"ring": ranks, **draw_problem(source)}
    ring["tile-q"], ring["tile-kv"] = source.choice(TILES[ring["head-dim"]])
    ring["launch"] = source.choice(("static", "dynamic"))
    ring["scan"] = source.choice(("linear", "sawtooth", "reverse"))
    if ring["mask"] == "causal":
        ring["q-order"] = source.choice(("ascending", "descending"))
    ring["ring-rank"] = ring["ring-step"] = ", ".join(str(i) for i in range(ranks))
    return ring


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seed", required=True, help="hash of a commit")
    parser.add_argument("--rings", type=int, default=24)
    options = parser.parse_args()
    source = random.Random(int(options.seed, 16))
    print(
        f"""# Rings drawn by draw_list.py --seed {options.seed} --rings {options.rings}, by the hash of the commit that
# froze the model, before any was measured. No parameter and no mechanism is set from them.
gpu = h200
heads = {HEADS}
kernel = hopper
timing = timed
l2 = halves
seed = 1"""
    )
    drawn = []
    while len(drawn) < options.rings:
        ring = draw_ring(source, 4 if len(drawn) % 2 == 0 else 2)
        if ring in drawn:
            continue
        drawn.append(ring)
        print(f"\n[{len(drawn)}]")
        for key, value in ring.items():
            print(f"{key} = {value}")


if __name__ == "__main__":
    main()
