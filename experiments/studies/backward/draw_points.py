#!/usr/bin/env python3
"""Draws backward points at random, for judging a model that has not seen them.

    draw_points.py --seed SEED [--problems 22] > lists/drawn.ini
    draw_points.py --seed SEED --families mma hopper --avoid drawn calibration calibration_hopper --most-flop 1e13 \
      > lists/drawn_families.ini

The seed is the hash of the commit that froze the model, read as a number. Lengths are 4K to 128K in steps of 512,
without those of first.csv and of the lists to avoid; heads, masks, tiles and schedules are those that the kernels of a
family run, and families take turns from problem to problem. Each problem has three schedules, so that changes of
schedule can be judged. Of three problems two have more than half of an H200's L2 of Q, dO and fp32 sums of dQ in front
of a wave.
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
    lengths_of,
    pick,
    print_points,
    problem_of,
)

STEP = 512
SHORTEST, LONGEST = 4 * KIB, 128 * KIB
SEEN = {8 * KIB, 24 * KIB, 48 * KIB}  # lengths of experiments/data/h200/backward/first.csv
MOST_FLOP = 2e13  # a launch of some 80 ms, unless told otherwise
SCANNED_BYTES = 8  # a row and element of Q, dO (two each) and of the sums of dQ (four)
# (tile-q, tile-kv, ctas-per-sm) of the kernels of a family, by head dim.
KERNELS = {
    "mma": {
        64: ((64, 128, 2), (64, 128, 1), (64, 64, 2)),
        128: ((64, 128, 1), (64, 64, 2), (32, 64, 2)),
    },
    "hopper": {64: ((128, 128, 1),), 128: ((64, 128, 1),)},
}
CTAS_UNDER_GRID = {"mma": {64: 2}}  # what an SM holds, where a kernel may be launched with fewer


def draw_problem(source, long, known_lengths, most_flop):
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
        if length in known_lengths or flop > most_flop or (scanned > HALF_L2) != long:
            continue
        told = f"window:{window}K" if mask == "window" else mask
        return problem_of(told, head_dim, heads, kv_heads, length)
    sys.exit(f"draw_points.py: no length is left for mask = {mask}, head-dim = {head_dim}")


def draw_schedule(source, problem, family):
    kernels = KERNELS[family][problem["head-dim"]]
    tile_q, tile_kv, ctas = kernels[int(source.random() * len(kernels))]
    launch = pick(source, {"static": 4, "dynamic": 3, "grid": 3})
    if launch == "grid":
        ctas = CTAS_UNDER_GRID.get(family, {}).get(problem["head-dim"], ctas)
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
    parser.add_argument("--families", nargs="+", choices=sorted(KERNELS), default=["mma"])
    parser.add_argument("--avoid", nargs="*", default=[], metavar="LIST", help="names in lists/")
    parser.add_argument("--most-flop", type=float, default=MOST_FLOP)
    options = parser.parse_args()
    source = random.Random(options.seed)
    known = SEEN | lengths_of(HERE / "lists" / f"{name}.ini" for name in options.avoid)
    families = options.families

    def draw_of_family(problem, number):
        family = families[number % len(families)]
        drawn = draw_schedule(source, problem, family)
        return drawn if len(families) == 1 else {"kernel": family, **drawn}

    told = " ".join(
        f"--{name} {' '.join(value)}"
        for name, value in (("families", families), ("avoid", options.avoid))
        if value not in (["mma"], [])
    )
    told += f" --most-flop {options.most_flop:g}" if options.most_flop != MOST_FLOP else ""
    print(
        f"""# Points drawn by draw_points.py --seed {options.seed} --problems {options.problems}{' ' * bool(told)}{told}, before any of them was
# measured, to judge a model that was frozen before. No number and no rule is set from them.
experiment = backward-drawn
gpu = h200
pass = backward"""
    )
    if len(families) == 1:
        print(f"kernel = {families[0]}")
    print_points(
        options.problems,
        lambda long: draw_problem(source, long, known, options.most_flop),
        draw_of_family,
    )


if __name__ == "__main__":
    main()
