"""A roofline of attention kernels: how near they are to what the chip can do.

    plots/figures/roofline.py race.csv -o roofline

One point a shape and kernel, the fastest schedule of each kernel, from rows with times
(experiments/studies/peers/race.py, `sawtooth bench`). The x axis is FLOP a byte, at the two levels that
could bind: filled, of DRAM, with every tensor moved once (the fewest bytes possible); hollow, of L2,
with K and V read once for every Q tile (`tile_q` rows; without it, a library's, only DRAM is drawn).
Roofs as measured on one H200: a large copy, a large 16-bit matrix product on random data, and the
streams of `sawtooth calibrate` (experiments/data/h200).
"""

import math
import statistics

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table
from measures import flop

TERA = 1e12
DRAM_BYTES_A_SECOND = 4.3 * TERA  # device-to-device copy
L2_BYTES_A_SECOND = 7.35 * TERA  # reads that hit, all SMs
FLOP_A_SECOND = 800 * TERA  # bf16, 8192^3, the best of several
ELEMENT_BYTES = 2
SHAPE = ("kernel", "batch", "heads", "seq_q", "head_dim", "mask")
SCHEDULE = "tile_q tile_kv section q_order launch scan prefetch kv_split hints".split()
MARKERS = dict(zip((figure.BLUE, figure.RED, figure.GREEN, figure.PINK), "os^D"))


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


def roofs(axes, low, high):
    top = FLOP_A_SECOND / TERA
    for rate, name, style in ((DRAM_BYTES_A_SECOND, "DRAM", "-"), (L2_BYTES_A_SECOND, "L2", "--")):
        ends = [low, FLOP_A_SECOND / rate], [low * rate / TERA, top]
        axes.plot(*ends, style, color=figure.GREY, label=f"{name}, {rate / TERA:g} TB/s")
    label = f"matrix product, {top:g} TFLOP/s"
    axes.plot([ends[0][1], high], [top] * 2, ":", color=figure.GREY, label=label)


def draw(path):
    best = list(fastest(table.read(path)))
    if not best:
        raise table.TableError(f"{path}: no row has tflops")
    made, axes = figure.new_figure(height=2.6)
    low, high = 10.0, 1e5
    roofs(axes, low, high)
    names = dict.fromkeys(row["kernel"] for _, row in best)
    for name, (colour, marker) in zip(names, MARKERS.items()):
        found = [(rate, row) for rate, row in best if row["kernel"] == name]
        dram = [(flop(row) / dram_bytes(row), rate) for rate, row in found]
        l2 = [(flop(row) / l2_bytes(row), rate) for rate, row in found if row["tile_q"]]
        axes.plot(*zip(*dram), marker, color=colour, markersize=2.6, label=name)
        if l2:
            hollow = dict(fillstyle="none", markeredgewidth=0.6)
            axes.plot(*zip(*l2), marker, color=colour, markersize=2.6, **hollow)
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(100, 1000))
    axes.set(xlabel="FLOP a byte (filled: of DRAM, hollow: of L2)", ylabel="TFLOP/s")
    figure.plain_log(axes.xaxis)
    figure.plain_log(axes.yaxis)
    axes.legend(loc="lower right", handlelength=1.2, borderaxespad=0.1)
    return made


if __name__ == "__main__":
    figure.run(__doc__, draw, [("race", "rows of results.csv with times")])
