#!/usr/bin/env python3
"""Draws shapes of real models for `sawtooth search`, by seed.

    draw_list.py --gpu h200 --seed 26 --shapes 8 > lists/h200.ini

Heads are those of public configurations. Lengths go from 2K to 1M, batches from 1 to 8, and a batch
has at most 1M tokens. Three shapes in four are causal. Where a schedule of all heads would take more
than --most-steps K/V tile steps, only so many K/V heads with their query heads are searched; their
section is called `sampled k of n`. Shapes of which one K/V head would take eight times as many are
not drawn, nor two that come to the same sample. The same seed gives the same list.
"""

import argparse
import random

KIB = 1024
HEAD_DIM = 128
TILE = 128  # about the kernels' own; only to count steps
MODELS = {  # query heads, K/V heads (the models' config.json)
    "llama3-8b": (32, 8),
    "llama3-70b": (64, 8),
    "qwen2.5-7b": (28, 4),
    "qwen2.5-14b": (40, 8),
    "deepseek-like": (128, 128),  # of MLA without compression, head dim 128 instead of 192 and 128
}
LENGTHS = [2 * KIB << i for i in range(10)]
BATCHES = (1, 2, 4, 8)
MOST_TOKENS = 1024 * KIB
LARGEST_SAMPLE = 8
MOST_STEPS = 7.5e5

HEADER = """# Shapes of models on {gpu}, drawn by draw_list.py --gpu {gpu} --seed {seed} --shapes {shapes}{more}
gpu = {gpu}
head-dim = 128
tiles = kernel
launch = grid, static, dynamic
scan = linear, reverse, sawtooth
q-order = ascending, descending
section = 1, 4, all
"""


def steps(batch, heads, length, mask):
    tiles = length // TILE
    pairs = tiles * (tiles + 1) // 2 if mask == "causal" else tiles * tiles
    return batch * heads * pairs


def sampled(batch, heads, kv_heads, length, mask, most):
    """Batch, heads and K/V heads that keep a schedule below `most` steps, at least one group."""
    group = heads // kv_heads
    while batch > 1 and steps(batch, heads, length, mask) > most:
        batch //= 2
    while kv_heads > 1 and steps(batch, kv_heads * group, length, mask) > most:
        kv_heads //= 2
    return batch, kv_heads * group, kv_heads


def draw(arguments):
    chance = random.Random(f"{arguments.seed} {arguments.gpu}")
    shapes = {}  # by what is searched
    while len(shapes) < arguments.shapes:
        model = chance.choice(sorted(MODELS))
        length, batch = chance.choice(LENGTHS), chance.choice(BATCHES)
        mask = chance.choice(("causal", "causal", "causal", "none"))
        kept = sampled(batch, *MODELS[model], length, mask, arguments.most_steps)
        too_long = steps(*kept[:2], length, mask) > LARGEST_SAMPLE * arguments.most_steps
        if length * batch <= MOST_TOKENS and not too_long:
            shapes.setdefault((length, kept, mask), (length, batch, model, mask, kept))
    return sorted(shapes.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpu", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--shapes", type=int, required=True)
    parser.add_argument("--most-steps", type=float, default=MOST_STEPS)
    arguments = parser.parse_args()
    most = arguments.most_steps
    more = "" if most == MOST_STEPS else f" --most-steps {most:g}"
    print(HEADER.format(**vars(arguments), more=more), end="")
    for length, batch, model, mask, kept in draw(arguments):
        of_all = batch * MODELS[model][1]
        name = f"{model} {length // KIB}K batch {batch} {mask}"
        if kept[0] * kept[2] < of_all:
            name += f" sampled {kept[0] * kept[2]} of {of_all}"
        print(f"\n[{name}]\nbatch = {kept[0]}\nheads = {kept[1]}\nkv-heads = {kept[2]}")
        print(f"seq = {length // KIB}K\nmask = {mask}")


if __name__ == "__main__":
    main()
