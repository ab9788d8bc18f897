#!/usr/bin/env python3
"""A roofline of attention kernels: how near they are to what the chip can do.

    plots/figures/roofline.py race.csv -o roofline

One point a shape and kernel, the fastest schedule of each kernel, from rows with times
(experiments/studies/peers/race.py, `sawtooth bench`). The x axis is FLOP a byte, at the two levels that
could bind: filled, of DRAM, with every tensor moved once (the fewest bytes possible); hollow, of L2,
with K and V read once for every Q tile (`tile_q` rows; without it, a library's, only DRAM is drawn).
Roofs as measured on one H200: a large copy, a large 16-bit matrix product on random data, and the
streams of `sawtooth calibrate` (experiments/data/h200).
"""

import statistics

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table

TERA = 1e12
DRAM_BYTES_A_SECOND = 4.3 * TERA  # device-to-device copy
L2_BYTES_A_SECOND = 7.35 * TERA  # reads that hit, all SMs
FLOP_A_SECOND = 800 * TERA  # bf16, 8192^3, the best of several
ELEMENT_BYTES = 2
NEEDED = ("kernel", "batch", "heads", "kv_heads", "seq_q", "seq_kv", "head_dim", "mask", "tile_q",
          "tflops", "status")
LOOKS = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#CC79A7", "D"))


def flop(row):
    full = 4 * number(row, "batch") * number(row, "heads") * number(row, "seq_q") \
        * number(row, "seq_kv") * number(row, "head_dim")
    return full / 2 if row["mask"] == "causal" else full


def number(row, column):
    return table.integer(row, column)


def dram_bytes(row):
    """Q, K and V read once, O written once."""
    q = number(row, "batch") * number(row, "heads") * number(row, "seq_q")
    kv = number(row, "batch") * number(row, "kv_heads") * number(row, "seq_kv")
    return 2 * (q + kv) * number(row, "head_dim") * ELEMENT_BYTES


def l2_bytes(row):
    """K and V once a Q tile, half of them when causal; None where the tile is not known."""
    if not row["tile_q"]:
        return None
    tiles = number(row, "batch") * number(row, "heads") * number(row, "seq_q") / number(row, "tile_q")
    return flop(row) / (4 * number(row, "batch") * number(row, "heads") * number(row, "seq_q")) \
        * 2 * tiles * ELEMENT_BYTES


def fastest(rows):
    """{(kernel, shape): (TFLOP/s, row)}: the median over repetitions of the best schedule."""
    times = {}
    for row in rows:
        if row["status"] != "ok" or not row["tflops"]:
            continue
        shape = tuple(row[c] for c in ("batch", "heads", "seq_q", "head_dim", "mask"))
        schedule = tuple(row.get(c, "") for c in ("tile_q", "tile_kv", "section", "q_order",
                                                  "launch", "scan", "prefetch", "kv_split", "hints"))
        times.setdefault((row["kernel"], shape), {}).setdefault(schedule, []).append(row)
    best = {}
    for where, schedules in times.items():
        ranked = [(statistics.median(table.number(r, "tflops") for r in group), group[0])
                  for group in schedules.values()]
        best[where] = max(ranked, key=lambda entry: entry[0])
    return best


def draw(path):
    rows = table.read(path, NEEDED)
    best = fastest(rows)
    if not best:
        raise table.TableError(f"{path}: no row has tflops")
    made, axes = figure.new_figure(width=figure.COLUMN_INCHES, height=2.6)
    low, high = 10.0, 1e5
    for rate, name, style in ((DRAM_BYTES_A_SECOND, "DRAM", "-"), (L2_BYTES_A_SECOND, "L2", "--")):
        ridge = FLOP_A_SECOND / rate
        axes.plot([low, ridge], [low * rate / TERA, FLOP_A_SECOND / TERA], style,
                  color=figure.GREY, label=f"{name}, {rate / TERA:g} TB/s")
    axes.plot([FLOP_A_SECOND / L2_BYTES_A_SECOND, high], [FLOP_A_SECOND / TERA] * 2, ":",
              color=figure.GREY, label=f"matrix product, {FLOP_A_SECOND / TERA:g} TFLOP/s")
    names = list(dict.fromkeys(kernel for kernel, _ in best))
    for name, (colour, marker) in zip(names, LOOKS):
        points = [(flop(row) / dram_bytes(row), rate) for (kernel, _), (rate, row) in best.items()
                  if kernel == name]
        hollow = [(flop(row) / l2_bytes(row), rate) for (kernel, _), (rate, row) in best.items()
                  if kernel == name and l2_bytes(row)]
        axes.plot(*zip(*points), marker, color=colour, markersize=2.6, label=name)
        if hollow:
            axes.plot(*zip(*hollow), marker, color=colour, markersize=2.6, fillstyle="none",
                      markeredgewidth=0.6)
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(100, 1000),
             xlabel="FLOP a byte (filled: of DRAM, hollow: of L2)", ylabel="TFLOP/s")
    figure.plain_log(axes.xaxis)
    figure.plain_log(axes.yaxis)
    axes.legend(loc="lower right", handlelength=1.2, borderaxespad=0.1)
    return made


if __name__ == "__main__":
    figure.run(__doc__.splitlines()[0], draw, [("race", "rows of results.csv with times")])
