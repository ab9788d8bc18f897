#!/usr/bin/env python3
"""What an item and a tile cost, from times at several lengths: races of race.py, read again.

    experiments/studies/peers/item_cost.py race.csv [--fixed-us 3.5] [--cudnn-tile 128x128]

For every kernel, tile, mask and head dim with at least four lengths of 512 to 16K rows: the least
squares of relative errors in  time = fixed + makespan(items, each item_us + its K/V tiles * tile_us).
The makespan is played out: items go to the SMs as these become free, the longest first. The time of
an empty launch is given (it cannot be told from items, whose number hardly depends on the length):
132 items of one tile take 6.9 us at head dim 64. A kernel without a tile in its rows (cuDNN) is taken
to have --cudnn-tile. Times are medians over repetitions, of the best launch and scan that does not
cut items. Exit 2 when no kernel has enough lengths
or the table is none of race.py.
"""

import argparse
import heapq
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "plots", "lib"))
import table as csv_table  # noqa: E402  (the path above leads to it)

LENGTHS = range(512, 16384 + 1)  # longer launches run at the power limit, shorter ones are all launch
FEWEST_LENGTHS = 4
SMS = 132
COLUMNS = ("kernel", "batch", "heads", "seq_q", "head_dim", "mask", "tile_q", "tile_kv", "launch",
           "scan", "section", "q_order", "time_us", "status")
ROUNDS = 12  # of playing out and solving


def ceil_div(a, b):
    return -(-a // b)


def tiles_of_items(row, tile):
    """K/V tiles of every item of a head, and how many heads there are."""
    q_rows, kv_rows = tile
    length = int(row["seq_q"])
    ends = [min(length, end) for end in range(q_rows, length + q_rows, q_rows)]
    if row["mask"] == "none":
        ends = [length] * len(ends)
    return [ceil_div(end, kv_rows) for end in ends], int(row["batch"]) * int(row["heads"])


def makespan(tiles, heads, item_us, tile_us):
    """Time of the SM that ends last, and the mean of all."""
    costs = [item_us + tile_us * count for count in sorted(tiles, reverse=True) for _ in range(heads)]
    ends = [0.0] * SMS
    for cost in costs:
        heapq.heapreplace(ends, ends[0] + cost)
    return max(ends), sum(costs) / SMS


def solved(points, fixed_us):
    """(item_us, tile_us) of [(time_us, tiles of a head's items, heads)]: linear but for the last
    wave, whose idle time is played out with the costs of the round before."""
    item_us, tile_us = 1.0, 1.0
    for _ in range(ROUNDS):
        aa = ab = bb = ay = by = 0.0
        for time_us, tiles, heads in points:
            last, mean = makespan(tiles, heads, item_us, tile_us)
            a = len(tiles) * heads / SMS / time_us
            b = sum(tiles) * heads / SMS / time_us
            y = (time_us - fixed_us - (last - mean)) / time_us
            aa, ab, bb, ay, by = aa + a * a, ab + a * b, bb + b * b, ay + a * y, by + b * y
        determinant = aa * bb - ab * ab
        item_us, tile_us = (ay * bb - by * ab) / determinant, (by * aa - ay * ab) / determinant
    return item_us, tile_us


def best_times(rows, cudnn_tile):
    """{(head_dim, mask, kernel, tile): {length: (time_us, tiles, heads)}}."""
    times = {}
    for row in rows:
        if row["status"] != "ok" or not row["time_us"] or int(row["seq_q"]) not in LENGTHS:
            continue
        if row["launch"] == "balanced":  # cuts items
            continue
        tile = (int(row["tile_q"]), int(row["tile_kv"])) if row["tile_q"] else cudnn_tile
        kernel = (row["head_dim"], row["mask"], row["kernel"], tile)
        shape = (int(row["seq_q"]), row["batch"], row["heads"])
        schedule = (row["launch"], row["scan"], row["section"], row["q_order"])
        entry = times.setdefault(kernel, {}).setdefault(shape, (row, {}))
        entry[1].setdefault(schedule, []).append(float(row["time_us"]))
    return {kernel: [(min(statistics.median(cells) for cells in schedules.values()),
                      *tiles_of_items(row, kernel[3]))
                     for row, schedules in shapes.values()]
            for kernel, shapes in times.items() if len(shapes) >= FEWEST_LENGTHS}


def tile(text):
    try:
        q_rows, kv_rows = (int(part) for part in text.split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no tile, such as 128x128") from None
    return q_rows, kv_rows


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("race")
    parser.add_argument("--fixed-us", type=float, default=3.5)
    parser.add_argument("--cudnn-tile", type=tile, default=(128, 128))
    options = parser.parse_args(arguments)
    try:
        rows = csv_table.read(options.race, COLUMNS)
    except csv_table.TableError as error:
        print(f"item_cost.py: {error}", file=sys.stderr)
        return 2
    kernels = best_times(rows, options.cudnn_tile)
    if not kernels:
        print(f"item_cost.py: no kernel in {options.race} has times of {FEWEST_LENGTHS} lengths from "
              f"{LENGTHS[0]} to {LENGTHS[-1]} rows", file=sys.stderr)
        return 2
    print("| head dim, mask | kernel | tile | an item, us | a tile, us | worst misfit |\n"
          "|---|---|---|---|---|---|")
    for (head_dim, mask, kernel, shape), points in sorted(kernels.items()):
        item_us, tile_us = solved(points, options.fixed_us)
        worst = max(abs(options.fixed_us + makespan(tiles, heads, item_us, tile_us)[0] - time_us)
                    / time_us for time_us, tiles, heads in points)
        print(f"| {head_dim} {mask} | {kernel} | {shape[0]}x{shape[1]} | {item_us:.2f} | "
              f"{tile_us:.2f} | {worst * 100:.1f} % |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
