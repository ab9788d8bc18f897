#!/usr/bin/env python3
"""Draws a list of points at random, for judging a model that has not seen them.

    draw_list.py --seed N --problems 48 --step 512 --families mma hopper > LIST.ini
    draw_list.py --seed N --sealed > LIST.ini     both passes, 160 points, half of them from 64K on

Problems are drawn from the ranges that predictions are judged on (lengths 4K to 256K, of hopper-short 512 to 8K in
batches; 1 to 32 heads; no mask, causal, windows; --pass), schedules from all that the kernels can run; each problem has
three, so that changes of schedule can be judged. Two problems in three have K/V of more than half an L2 in front of a
wave, unless --span says the lengths. Lengths of the lists that were measured are not drawn. The same seed gives the same
list. Standard library only.
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
SPANS = {"hopper-short": (512, 8 * KIB)}  # lengths that a family is judged on,
SPAN = (4 * KIB, 256 * KIB)  # and all others, unless told otherwise
ELEMENT_BYTES = 2
SCHEDULES_A_PROBLEM = 3
MOST_TRIES = 100_000  # a problem; where lengths are left, thousands are enough
MOST_FLOP = 2e13  # a launch of at most 70 ms at 280 TFLOP/s, unless told otherwise
# Parts of a sealed list: pass, problems, lengths, most FLOP.
SEALED = [
    (of_pass, problems, span, flop)
    for of_pass, problems, flop in (("forward", 16, MOST_FLOP), ("backward", 11, 2 * MOST_FLOP))
    for span in ((64 * KIB, 256 * KIB), (4 * KIB, 64 * KIB - 512))
]

# (tile-q, tile-kv, CTAs an SM) that are drawn, by pass, family and head dim; a grid has as many CTAs an SM as fit
# (experiments/profiles/kernels).
TILES = {
    ("forward", "mma"): {
        64: ((128, 128, 1), (128, 128, 2), (128, 64, 1), (128, 64, 2)),
        128: ((128, 64, 1), (128, 64, 2), (128, 128, 1)),
    },
    ("forward", "hopper"): {
        64: ((192, 128, 1), (128, 128, 1)),
        128: ((128, 128, 1), (128, 176, 1)),
    },
    ("forward", "hopper-short"): {64: ((128, 64, 2),)}
    | {head_dim: ((128, 128, 1),) for head_dim in (96, 112, 128)}
    | {head_dim: ((128, 64, 1),) for head_dim in (160, 192, 256)},
    ("backward", "mma"): {
        64: ((64, 128, 1), (64, 128, 2), (64, 64, 2)),
        128: ((64, 128, 1), (64, 64, 2), (32, 64, 2)),
    },
    ("backward", "hopper"): {64: ((128, 128, 1),), 128: ((64, 128, 1),)},
}


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


def draw_problem(source, family, long_kv, known_lengths, options):
    mask = pick(source, {"none": 9, "causal": 9, "window": 4})
    head_dim = source.choice(list(TILES[options.of_pass, family]))
    row_bytes = 2 * head_dim * ELEMENT_BYTES  # of K and V
    shortest, longest = options.span or SPANS.get(family, SPAN)
    for _ in range(MOST_TRIES):
        heads = pick(source, {1: 6, 2: 1, 4: 1, 8: 1, 16: 1, 32: 1})
        kv_heads = heads // 4 if heads >= 4 and source.random() < 0.25 else heads
        batch = source.choice((1, 4, 8, 32)) if family in SPANS else 1
        # Evenly by factors.
        steps = shortest / options.step * (longest / shortest) ** source.random()
        length = round(steps) * options.step
        pairs = length**2 * (1 if mask == "none" else 0.5)
        flop = 4 * batch * heads * head_dim * pairs * (2.5 if options.of_pass == "backward" else 1)
        kv_bytes = batch * kv_heads * length * row_bytes
        if length in known_lengths or flop > options.most_flop:
            continue
        if not options.span and (kv_bytes > HALF_L2) != long_kv:
            continue
        if mask == "window":
            share = 0.25 + 0.5 * source.random()
            mask = f"window:{as_written(max(1, round(length / KIB * share * 4)) * KIB // 4)}"
        problem = {"mask": mask, "head-dim": head_dim, "heads": heads, "seq": as_written(length)}
        problem |= {"batch": batch} if batch > 1 else {}
        return problem if kv_heads == heads else problem | {"kv-heads": kv_heads}
    sys.exit(
        f"draw_list.py: no length is left for mask = {mask}, head-dim = {head_dim} with K/V "
        f"{'over' if long_kv else 'up to'} half an L2; take a smaller --step"
    )


def draw_schedule(source, problem, family, of_pass):
    tiles, heads = TILES[of_pass, family][problem["head-dim"]], problem["heads"]
    launch = pick(source, {"static": 4, "dynamic": 3, "grid": 3})
    tile_q, tile_kv, ctas = source.choice(tiles)
    if launch == "grid":
        ctas = max(most for *tile, most in tiles if tile == [tile_q, tile_kv])
    schedule = {"kernel": family, "tile-q": tile_q, "tile-kv": tile_kv, "launch": launch}
    schedule["ctas-per-sm"] = ctas
    forward = of_pass == "forward"
    scans = {"linear": 3, "sawtooth": 3, "reverse": 1}
    if launch != "grid" and forward:
        scans["attach"] = 1
    schedule["scan"] = pick(source, scans)
    if problem["mask"] != "none":
        schedule["q-order"] = pick(source, {"ascending": 1, "descending": 1})
    if launch != "grid" and forward:
        schedule["prefetch"] = pick(source, {0: 6, 2: 1, 8: 1})
    if heads > 1:
        sizes = [size for size in (1, 2, 4, 8, 16, 32) if size <= heads]
        schedule["section"] = source.choice(sizes)
    return schedule


def drawn(options):
    """(number of the problem, letter of the schedule, point) of one pass."""
    known, source = known_lengths(), random.Random(options.seed)
    printed = []
    for number in range(options.problems):
        family, schedules = options.families[number % len(options.families)], []
        problem = draw_problem(source, family, number % 3 < 2, known, options)
        while len(schedules) < SCHEDULES_A_PROBLEM:
            schedule = draw_schedule(source, problem, family, options.of_pass)
            if schedule not in schedules:
                schedules.append(schedule)
        for letter, schedule in zip("abc", schedules):
            point = {"pass": options.of_pass, **problem, **schedule}
            if point in printed:
                continue  # the same problem, drawn twice
            printed.append(point)
            yield number + 1, letter, point


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--sealed", action="store_true")
    parser.add_argument("--problems", type=int, default=44)
    parser.add_argument("--most-flop", type=float, default=MOST_FLOP, help="of a launch")
    parser.add_argument("--span", type=int, nargs=2, help="of lengths, in tokens")
    parser.add_argument("--step", type=int, default=KIB, help="between lengths, in tokens")
    parser.add_argument(
        "--families", nargs="*", default=["mma"], help="of the kernels, a problem each in turn"
    )
    passes = dict.fromkeys(of_pass for of_pass, _ in TILES)
    parser.add_argument("--pass", dest="of_pass", choices=passes, default="forward")
    options = parser.parse_args()
    parts = [(options.of_pass, options.problems, options.span, options.most_flop)]
    if options.sealed:
        parts, options.families, options.step = SEALED, ["mma", "hopper"], 256

    print(
        f"""# Points drawn by draw_list.py {" ".join(sys.argv[1:])}, before
# any of them was measured, to judge models that were frozen before. No parameter and no mechanism is set from them. No length
# is one of a list that was measured before.
experiment = judgement
gpu = h200"""
    )
    first = 0
    for options.of_pass, options.problems, options.span, options.most_flop in parts:
        for number, letter, point in drawn(options):
            print(f"\n[{first + number}{letter}]")
            for key, value in point.items():
                print(f"{key} = {value}")
        first += options.problems


if __name__ == "__main__":
    main()
