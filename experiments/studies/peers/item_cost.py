#!/usr/bin/env python3
"""What an item and a tile cost, from times at several lengths: races of race.py, read again.

    experiments/studies/peers/item_cost.py race.csv [--fixed-us 3.5] [--cudnn-tile 128x128]

For every kernel, tile, mask and head dim with at least four lengths of 512 to 16K rows: the least
squares of relative errors in  time = fixed + makespan(items, each item_us + its K/V tiles * tile_us).
The makespan is played out: items go to the SMs as these become free, the longest first. The time of
an empty launch is given (it cannot be told from items, whose number hardly depends on the length):
132 items of one tile take 6.9 us at head dim 64. A kernel without a tile in its rows (cuDNN) is taken
to have --cudnn-tile. Times are medians over repetitions, of the best launch and scan that does not
cut items. Exit 2 when no kernel has enough lengths or the table is none of race.py.
"""

import argparse
import heapq
import statistics
import sys

import lib_path  # noqa: F401  (makes plots/lib importable)
import race_rows
import table

LENGTHS = range(
    512, 16384 + 1
)  # longer launches run at the power limit, shorter ones are all launch
FEWEST_LENGTHS = 4
SMS = 132
ROUNDS = 12  # of playing out and solving
TITLES = ("head dim, mask", "kernel", "tile", "an item, us", "a tile, us", "worst misfit")


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
    longest_first = sorted(tiles, reverse=True)
    costs = [item_us + tile_us * count for count in longest_first for _ in range(heads)]
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


def points_of(rows, cudnn_tile):
    """{(head_dim, mask, kernel, tile): [(time_us, tiles, heads)], a point a length}."""
    # A balanced launch cuts items.
    rows = [r for r in rows if int(r["seq_q"]) in LENGTHS and r["launch"] != "balanced"]
    columns = ("head_dim", "mask", "kernel", "tile_q", "tile_kv")
    found = {}
    for (*kernel, tile_q, tile_kv), of_kernel in table.grouped(rows, *columns).items():
        tile = (int(tile_q), int(tile_kv)) if tile_q else cudnn_tile
        shapes = table.grouped(of_kernel, "seq_q", "batch", "heads").values()
        if len(shapes) >= FEWEST_LENGTHS:
            points = [(best_time(shape), *tiles_of_items(shape[0], tile)) for shape in shapes]
            found[(*kernel, tile)] = points
    return found


def best_time(rows):
    schedules = table.grouped(rows, "launch", "scan", "section", "q_order").values()
    return min(statistics.median(table.numbers(found, "time_us")) for found in schedules)


def tile_of(text):
    try:
        q_rows, kv_rows = (int(part) for part in text.split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no tile, such as 128x128") from None
    return q_rows, kv_rows


def work(options):
    kernels = points_of(race_rows.timed(options.race), options.cudnn_tile)
    if not kernels:
        wanted = f"times of {FEWEST_LENGTHS} lengths from {LENGTHS[0]} to {LENGTHS[-1]} rows"
        raise table.TableError(f"no kernel in {options.race} has {wanted}")
    print(race_rows.markdown_head(TITLES))
    fixed_us = options.fixed_us
    for (head_dim, mask, kernel, tile), points in sorted(kernels.items()):
        costs = solved(points, fixed_us)
        misfits = [fixed_us + makespan(*items, *costs)[0] - time_us for time_us, *items in points]
        worst = max(abs(misfit) / point[0] for misfit, point in zip(misfits, points))
        cells = [f"{head_dim} {mask}", kernel, "x".join(map(str, tile))]
        cells += [*(f"{cost:.2f}" for cost in costs), f"{worst * 100:.1f} %"]
        print(race_rows.markdown(cells))
    return 0


def main(arguments=None):
    parser = race_rows.parser(__doc__)
    parser.add_argument("--fixed-us", type=float, default=3.5)
    parser.add_argument("--cudnn-tile", type=tile_of, default=(128, 128))
    return race_rows.run("item_cost", work, parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
