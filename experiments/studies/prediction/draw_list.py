#!/usr/bin/env python3
"""Draws a list of points at random, for judging a model that has not seen them.

    draw_list.py --seed N --problems 48 --step 512 --families mma hopper > LIST.ini

Problems are drawn from the ranges that predictions are judged on (lengths 4K to 256K, 1 to 32 heads, D = 64 and
128, no mask, causal, windows), schedules from all that the kernels can run; each problem has three, so that changes
of schedule can be judged. Two problems in three have K/V of more than half an L2 in front of a wave. Lengths of the
lists that were measured are not drawn. The same seed gives the same list. Standard library only.
"""

import argparse
import csv
import pathlib
import random
import sys

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
KIB = 1024
MIB = 1024 * KIB
HALF_L2 = 30 * MIB  # of an H200
SHORTEST = 4 * KIB  # of the lengths that predictions are judged on
LONGEST = 256 * KIB
ELEMENT_BYTES = 2
SCHEDULES_A_PROBLEM = 3
MOST_TRIES = 100_000  # a problem; where lengths are left, thousands are enough
MOST_FLOP = 2e13  # a launch of at most 70 ms at 280 TFLOP/s, unless told otherwise

# (tile-kv, ctas-per-sm) of kernels/mma for tiles of 128 queries, and what an SM holds of each
# (experiments/profiles/kernels).
KERNELS = {64: ((128, 1), (128, 2), (64, 1), (64, 2)), 128: ((64, 1), (64, 2), (128, 1))}
CTAS_UNDER_GRID = {(64, 128): 2, (64, 64): 2, (128, 64): 2, (128, 128): 1}

# (tile-q, tile-kv) of kernels/hopper, of which an SM holds one CTA.
HOPPER = {64: ((192, 128), (128, 128)), 128: ((128, 128), (128, 176))}


def known_lengths():
    """Every length in tokens of a list that was measured."""
    known = set()
    for path in DATA.glob("*/validation/*.csv"):
        with open(path, encoding="utf-8") as file:
            known |= {int(row.get("seq_kv") or row["seq"]) for row in csv.DictReader(file)}
    return known


def as_written(tokens):
    return f"{tokens // KIB}K" if tokens % KIB == 0 else str(tokens)


def pick(source, weighted):
    """One of the keys of `weighted`, by weight."""
    return source.choices(list(weighted), list(weighted.values()))[0]


def draw_problem(source, long_kv, known_lengths, options):
    mask = pick(source, {"none": 9, "causal": 9, "window": 4})
    head_dim = pick(source, {64: 1, 128: 1})
    row_bytes = 2 * head_dim * ELEMENT_BYTES  # of K and V
    for _ in range(MOST_TRIES):
        heads = pick(source, {1: 6, 2: 1, 4: 1, 8: 1, 16: 1, 32: 1})
        kv_heads = heads // 4 if heads >= 4 and source.random() < 0.25 else heads
        # Evenly by factors.
        steps = SHORTEST / options.step * (LONGEST / SHORTEST) ** source.random()
        length = round(steps) * options.step
        pairs = length**2 * (1 if mask == "none" else 0.5)
        kv_bytes = kv_heads * length * row_bytes
        if length in known_lengths or 4 * heads * head_dim * pairs > options.most_flop:
            continue
        if (kv_bytes > HALF_L2) != long_kv:
            continue
        if mask == "window":
            share = 0.25 + 0.5 * source.random()
            mask = f"window:{max(1, round(length / KIB * share))}K"
        problem = {"mask": mask, "head-dim": head_dim, "heads": heads, "seq": as_written(length)}
        return problem if kv_heads == heads else problem | {"kv-heads": kv_heads}
    sys.exit(
        f"draw_list.py: no length is left for mask = {mask}, head-dim = {head_dim} with K/V "
        f"{'over' if long_kv else 'up to'} half an L2; take a smaller --step"
    )


def draw_schedule(source, problem, family):
    head_dim, heads = problem["head-dim"], problem["heads"]
    launch = pick(source, {"static": 4, "dynamic": 3, "grid": 3})
    if family == "hopper":
        tile_q, tile_kv = source.choices(HOPPER[head_dim])[0]
        schedule = {"kernel": family, "tile-q": tile_q, "tile-kv": tile_kv, "launch": launch}
    else:
        tile_kv, ctas = source.choices(KERNELS[head_dim])[0]
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
        sizes = [size for size in (1, 2, 4, 8, 16, 32) if size <= heads]
        schedule["section"] = source.choices(sizes)[0]
    return schedule


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--problems", type=int, default=44)
    parser.add_argument("--most-flop", type=float, default=MOST_FLOP, help="of a launch")
    parser.add_argument("--step", type=int, default=KIB, help="between lengths, in tokens")
    parser.add_argument(
        "--families", nargs="*", default=["mma"], help="of the kernels, a problem each in turn"
    )
    options = parser.parse_args()
    known = known_lengths()
    source = random.Random(options.seed)

    print(
        f"""# Points drawn by draw_list.py --seed {options.seed} --problems {options.problems}, before any of them was
# measured, to judge models that were frozen before. No parameter and no mechanism is set from them. No length
# is one of a list that was measured before.
experiment = judgement
gpu = h200
tile-q = 128"""
    )
    printed = []
    for number in range(options.problems):
        problem = draw_problem(source, number % 3 < 2, known, options)
        family, schedules = options.families[number % len(options.families)], []
        while len(schedules) < SCHEDULES_A_PROBLEM:
            schedule = draw_schedule(source, problem, family)
            if schedule not in schedules:
                schedules.append(schedule)
        for letter, schedule in zip("abc", schedules):
            point = {**problem, **schedule}
            if point in printed:
                continue  # the same problem, drawn twice
            printed.append(point)
            print(f"\n[{number + 1}{letter}]")
            for key, value in point.items():
                print(f"{key} = {value}")


if __name__ == "__main__":
    main()
