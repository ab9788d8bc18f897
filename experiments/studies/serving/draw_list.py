#!/usr/bin/env python3
"""Draws the points of decode that are to judge predictions of serving.

    draw_list.py COMMIT > lists/drawn.ini

The seed is the hash of the commit at which the simulator was frozen, so that the points are not chosen by hand. They are what
kernels/decode's family mma runs: packed groups, tiles of 16 rows of Q, or 32 where a K/V head has more, 64 keys, equal
shares. K and V are 64 MiB to 4 GiB.
"""

import drawn

POINTS = 64
HEADS = ((32, 8), (32, 4), (64, 8), (16, 16), (8, 1))
GIB = 1 << 30


def any_point(draw):
    heads, kv_heads = draw.choice(HEADS)
    dim = draw.choice((64, 128))
    positions = draw.choice((1, 1, 1, 2, 4))
    batch = 2 ** draw.randint(0, 7)
    kv_bytes = 2 ** draw.uniform(26, 32)  # 64 MiB to 4 GiB
    keys = int(kv_bytes / (batch * kv_heads * dim * 4)) // 64 * 64
    if not 256 <= keys <= 1 << 19:
        return None
    rows = heads // kv_heads * positions
    few = rows <= 16
    point = {
        "batch": batch,
        "heads": heads,
        "kv-heads": kv_heads,
        "head-dim": dim,
        "tile-q": 16 if few else 32,
        "ctas-per-sm": 2 if few else 1,
        "mask": "causal" if positions > 1 else "none",
    }
    if draw.random() < 0.4 and batch > 1:
        point["lengths"] = f"uniform:{keys // 32}..{2 * keys - keys // 32}:{draw.randint(0, 999)}"
    else:
        point["seq-kv"] = keys
    point["seq-q"] = positions
    page_rows = draw.choice((0, 0, 16, 64, 256))
    if page_rows:
        point["page-rows"] = page_rows
        point["page-table"] = f"shuffle:{draw.randint(0, 999)}"
    return point


def main(commit):
    draw = drawn.generator(commit)
    print(f"# Decode by kernels/decode (mma), drawn by draw_list.py {commit}.")
    print("experiment = serving-drawn\ngpu = h200\ntiming = timed\nl2 = halves")
    print("pack-gqa = on\nkv-split = auto\nlaunch = static\ntile-kv = 64")
    number = 0
    while number < POINTS:
        point = any_point(draw)
        if point is None:
            continue
        drawn.print_point(number, point)
        number += 1


if __name__ == "__main__":
    drawn.run(main, __doc__)
