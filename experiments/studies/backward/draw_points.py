#!/usr/bin/env python3
"""Draws backward points at random, for judging a model that has not seen them.

    draw_points.py --seed SEED [--problems 22] > lists/drawn.ini

The seed is the hash of the commit that froze the model, read as a number. Lengths are 4K to 128K in steps of 512,
without those of first.csv; heads, masks, tiles and schedules are those that kernels/mma runs. Each problem has three
schedules, so that changes of schedule can be judged. Of three problems two have more than half of an H200's L2 of Q,
dO and fp32 sums of dQ in front of a wave.
"""

import argparse
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "validation"))
from draw_list import (  # noqa: E402  (the path above leads to it)
    HALF_L2,
    KIB,
    MOST_TRIES,
    pick,
    print_points,
    problem_of,
)

STEP = 512
SHORTEST, LONGEST = 4 * KIB, 128 * KIB
SEEN = {8 * KIB, 24 * KIB, 48 * KIB}  # lengths of experiments/data/h200/backward/first.csv
MOST_FLOP = 2e13  # a launch of some 80 ms
SCANNED_BYTES = 8  # a row and element of Q, dO (two each) and of the sums of dQ (four)
# (tile-q, tile-kv, ctas-per-sm) of kernels/mma/backward.
KERNELS = {
    64: ((64, 128, 2), (64, 128, 1), (64, 64, 2)),
    128: ((64, 128, 1), (64, 64, 2), (32, 64, 2)),
}


def draw_problem(source, long):
    mask = pick(source, {"none": 9, "causal": 9, "window": 4})
    head_dim = pick(source, {64: 1, 128: 1})
    for _ in range(MOST_TRIES):
        heads = pick(source, {1: 6, 2: 2, 4: 2, 8: 1, 16: 1})
        kv_heads = heads // 2 if heads >= 2 and source.random() < 0.25 else heads
        length = STEP * round(SHORTEST / STEP * (LONGEST / SHORTEST) ** source.random())
        window = max(1, round(length / KIB * (0.25 + 0.5 * source.random())))
        pairs = length**2 * (1 if mask == "none" else 0.5)
        # Of a head: with a mask half of it on average, as other items see other rows.
        scanned = SCANNED_BYTES * head_dim * length * (1 if mask == "none" else 0.5)
        flop = 10 * heads * head_dim * pairs
        if length in SEEN or flop > MOST_FLOP or (scanned > HALF_L2) != long:
            continue
        told = f"window:{window}K" if mask == "window" else mask
        return problem_of(told, head_dim, heads, kv_heads, length)
    sys.exit(f"draw_points.py: no length is left for mask = {mask}, head-dim = {head_dim}")


def draw_schedule(source, problem):
    tile_q, tile_kv, ctas = KERNELS[problem["head-dim"]][int(source.random() * 3)]
    launch = pick(source, {"static": 4, "dynamic": 3, "grid": 3})
    if launch == "grid" and problem["head-dim"] == 64:
        ctas = 2  # what an SM holds
    schedule = {"tile-q": tile_q, "tile-kv": tile_kv, "ctas-per-sm": ctas, "launch": launch}
    schedule["scan"] = pick(source, {"linear": 3, "sawtooth": 3, "reverse": 1, "shift": 2})
    if problem["mask"] != "none":
        schedule["q-order"] = pick(source, {"ascending": 3, "descending": 1})
    sections = [n for n in (1, 2, 4, 8, 16) if n <= problem.get("kv-heads", problem["heads"])]
    if len(sections) > 1:
        schedule["section"] = pick(source, dict.fromkeys(sections, 1))
    return schedule


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--problems", type=int, default=22)
    options = parser.parse_args()
    source = random.Random(options.seed)
    print(
        f"""# Points drawn by draw_points.py --seed {options.seed} --problems {options.problems}, before any of them was
# measured, to judge a model that was frozen before. No number and no rule is set from them.
experiment = backward-drawn
gpu = h200
pass = backward
kernel = mma"""
    )
    print_points(
        options.problems,
        lambda long: draw_problem(source, long),
        lambda problem, _: draw_schedule(source, problem),
    )


if __name__ == "__main__":
    main()
