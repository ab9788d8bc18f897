"""A roofline of attention kernels: how near they are to what the GPU can do, by its profile.

One point a shape and kernel, the fastest schedule of each kernel, from rows with times
(experiments/studies/peers/race.py, `sawtooth bench`). The x axis is FLOP a byte, at the two levels that
could bind: filled, of DRAM, with every tensor moved once (the fewest bytes possible); hollow, of L2,
with K and V read once for every Q tile (`tile_q` rows; without it, a library's, only DRAM is drawn).
"""

import math
import statistics

import figure
import points
import table
from measures import flop

TERA, GIGA = 1e12, 1e9
# keys of experiments/profiles/gpus
ROOFS = (("dram-gb-per-s", "DRAM", "-"), ("l2-gb-per-s", "L2", "--"))
PEAK = "bf16-tflops"
ROOM = 1.5  # of the axes beyond the outermost points
MARK = "os^DvP*X"
ELEMENT_BYTES = 2
SHAPE = ("kernel", "batch", "heads", "seq_q", "head_dim", "mask")
SCHEDULE = "tile_q tile_kv section q_order launch scan prefetch kv_split hints".split()


def product(row, *columns):
    return math.prod(table.integer(row, column) for column in columns)


def dram_bytes(row):
    """Q, K and V read once, O written once."""
    rows = product(row, "batch", "heads", "seq_q") + product(row, "batch", "kv_heads", "seq_kv")
    return 2 * rows * product(row, "head_dim") * ELEMENT_BYTES


def l2_bytes(row):
    """K and V once a Q tile, half of them when causal."""
    return flop(row) * ELEMENT_BYTES / 2 / product(row, "tile_q")


def fastest(rows):
    """[(TFLOP/s, row)] of every kernel and shape: the median over repetitions of the best schedule."""
    timed = [row for row in table.where(rows, status="ok") if row["tflops"]]
    for of_shape in table.grouped(timed, *SHAPE).values():
        schedules = {}
        for row in of_shape:
            schedules.setdefault(tuple(row.get(c, "") for c in SCHEDULE), []).append(row)
        rates = [(statistics.median(table.numbers(r, "tflops")), r[0]) for r in schedules.values()]
        yield max(rates, key=lambda entry: entry[0])


def roofs(axes, known, low, high):
    top = float(known[PEAK])
    for key, name, style in ROOFS:
        if key in known:
            rate = float(known[key]) * GIGA
            ends = [low, top * TERA / rate], [low * rate / TERA, top]
            axes.plot(*ends, style, color=figure.GREY, label=f"{name}, {rate / TERA:.3g} TB/s")
    axes.plot([low, high], [top] * 2, ":", color=figure.GREY, label=f"peak, {top:g} TFLOP/s")


def gpu_of(path, rows, asked):
    """The profile of the one GPU that the rows name, or that --gpu does."""
    gpus = [asked] if asked else [gpu for gpu in table.values(rows, "gpu") if gpu]
    if len(gpus) != 1:
        raise table.TableError(f"{path}: rows of {len(gpus)} GPUs; choose with --gpu NAME")
    known = points.profile(gpus[0])
    if PEAK not in known:
        raise table.TableError(f"{path}: the profile of gpu {gpus[0]} has no {PEAK}")
    return known


def draw(path, gpu=None):
    rows = table.read(path)
    best = list(fastest(rows))
    if not best:
        raise table.TableError(f"{path}: no row has tflops")
    known = gpu_of(path, rows, gpu)
    made, axes = figure.new_figure(figure.COLUMN_INCHES * 1.5, height=2.6)
    names = list(dict.fromkeys(row["kernel"] for _, row in best))
    xs, ys = [], [float(known[PEAK])]
    for place, name in enumerate(names):
        colour, mark = figure.SERIES[place % len(figure.SERIES)], MARK[place % len(MARK)]
        found = [(rate, row) for rate, row in best if row["kernel"] == name]
        dram = [(flop(row) / dram_bytes(row), rate) for rate, row in found]
        l2 = [(flop(row) / l2_bytes(row), rate) for rate, row in found if row["tile_q"]]
        axes.plot(*zip(*dram), mark, color=colour, markersize=2.6, label=name or "kernel")
        if l2:
            hollow = dict(fillstyle="none", markeredgewidth=0.6)
            axes.plot(*zip(*l2), mark, color=colour, markersize=2.6, **hollow)
        xs += [x for x, _ in dram + l2]
        ys += [y for _, y in dram + l2]
    low, high = min(xs) / ROOM, max(xs) * ROOM
    roofs(axes, known, low, high)
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(min(ys) / ROOM, max(ys) * ROOM))
    axes.set(xlabel="FLOP a byte (filled: of DRAM, hollow: of L2)", ylabel="TFLOP/s")
    figure.plain_log(axes.xaxis)
    figure.plain_log(axes.yaxis)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), handlelength=1.2)
    return made
