#!/usr/bin/env python3
"""Draws a list of points at random, for judging a model: nobody chooses what it is asked.

    experiments/validation/draw_list.py --seed 20261121 > experiments/validation/drawn.ini
    experiments/validation/draw_list.py --seed 20261122 --problems 40 --most-flop 1e13 \
        --avoid drawn > experiments/validation/drawn_again.ini
    experiments/validation/draw_list.py --seed 20261123 --problems 40 --most-flop 1e13 \
        --avoid drawn drawn_again > experiments/validation/drawn_third.ini

Problems are drawn from the ranges that predictions are judged on (lengths 4K to 256K, 1 to 32 heads,
D = 64 and 128, no mask, causal, windows), schedules from all that kernels/mma can run; each problem
has three, so that changes of schedule can be judged. Two problems in three have K/V of more than half
an L2 in front of a wave. Lengths of the lists that are there are not drawn. The same seed gives the
same list.
"""

import argparse
import pathlib
import random
import re

HERE = pathlib.Path(__file__).resolve().parent
KIB = 1024
MIB = 1024 * KIB
HALF_L2 = 30 * MIB  # of an H200
ELEMENT_BYTES = 2
SCHEDULES_A_PROBLEM = 3
MOST_FLOP = 2e13  # a launch of at most 70 ms at 280 TFLOP/s, unless told otherwise

# (tile-kv, ctas-per-sm) of the kernels for tiles of 128 queries, and what an SM holds of each
# (experiments/program/resident_ctas.hpp).
KERNELS = {64: ((128, 1), (128, 2), (64, 1), (64, 2)), 128: ((64, 1), (64, 2), (128, 1))}
CTAS_UNDER_GRID = {(64, 128): 2, (64, 64): 2, (128, 64): 2, (128, 128): 1}


def lengths_of(lists):
    """Every length in KiB that a list names."""
    known = set()
    for path in lists:
        for line in path.read_text(encoding="utf-8").splitlines():
            if re.match(r"seq *=", line):
                known |= {int(number) for number in re.findall(r"(\d+)K", line)}
    return known


def pick(source, weighted):
    """One of the keys of `weighted`, by weight."""
    place = source.random() * sum(weighted.values())
    for key, weight in weighted.items():
        place -= weight
        if place < 0:
            return key
    return key


def draw_problem(source, long_kv, known_lengths, most_flop):
    mask = pick(source, {"none": 9, "causal": 9, "window": 4})
    head_dim = pick(source, {64: 1, 128: 1})
    row_bytes = 2 * head_dim * ELEMENT_BYTES  # of K and V
    while True:
        heads = pick(source, {1: 6, 2: 1, 4: 1, 8: 1, 16: 1, 32: 1})
        kv_heads = heads // 4 if heads >= 4 and source.random() < 0.25 else heads
        length = round(4 * 64 ** source.random())  # 4K to 256K, evenly by factors
        pairs = (length * KIB) ** 2 * (1 if mask == "none" else 0.5)
        kv_bytes = kv_heads * length * KIB * row_bytes
        if length in known_lengths or 4 * heads * head_dim * pairs > most_flop:
            continue
        if (kv_bytes > HALF_L2) != long_kv:
            continue
        problem = {"mask": mask, "head-dim": head_dim, "heads": heads, "seq": f"{length}K"}
        if kv_heads != heads:
            problem["kv-heads"] = kv_heads
        if mask == "window":
            problem["mask"] = f"window:{max(1, round(length * (0.25 + 0.5 * source.random())))}K"
        return problem


def draw_schedule(source, problem):
    head_dim, heads = problem["head-dim"], problem["heads"]
    launch = pick(source, {"static": 4, "dynamic": 3, "grid": 3})
    tile_kv, ctas = KERNELS[head_dim][int(source.random() * len(KERNELS[head_dim]))]
    schedule = {"tile-kv": tile_kv, "launch": launch}
    schedule["ctas-per-sm"] = CTAS_UNDER_GRID[head_dim, tile_kv] if launch == "grid" else ctas
    scans = {"linear": 3, "sawtooth": 3, "reverse": 1}
    if launch != "grid":
        scans["attach"] = 1
    schedule["scan"] = pick(source, scans)
    if problem["mask"] != "none":
        schedule["q-order"] = pick(source, {"ascending": 1, "descending": 1})
    if launch != "grid":
        schedule["prefetch"] = pick(source, {0: 6, 2: 1, 8: 1})
    if heads > 1:
        schedule["section"] = pick(source, {size: 1 for size in (1, 2, 4, 8, 16, 32)
                                            if size <= heads})
    return schedule


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--problems", type=int, default=44)
    parser.add_argument("--most-flop", type=float, default=MOST_FLOP, help="of a launch")
    parser.add_argument("--avoid", nargs="*", default=[], help="further lists whose lengths not to draw")
    options = parser.parse_args()
    looked_at = ["calibration", "grid", "holdout", *options.avoid]
    known = lengths_of(HERE / f"{name}.ini" for name in looked_at)
    source = random.Random(options.seed)

    print(f"""# Points drawn at random by draw_list.py --seed {options.seed} --problems {options.problems}, to judge models that
# were changed after {looked_at[-1]}.ini had been looked at. Drawn before any of them was measured; no parameter
# and no mechanism is set from them. No length is one of another list.
experiment = validation
gpu = h200
tile-q = 128""")
    for number in range(options.problems):
        problem = draw_problem(source, number % 3 < 2, known, options.most_flop)
        schedules = []
        while len(schedules) < SCHEDULES_A_PROBLEM:
            schedule = draw_schedule(source, problem)
            if schedule not in schedules:
                schedules.append(schedule)
        for letter, schedule in zip("abc", schedules):
            print(f"\n[{number + 1}{letter}]")
            for key, value in {**problem, **schedule}.items():
                print(f"{key} = {value}")


if __name__ == "__main__":
    main()
