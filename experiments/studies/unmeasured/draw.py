"""Predicted, not measured: DRAM reads and O writes of linear and of sawtooth on other GPUs, in multiples
of the compulsory ones, every launch and model of time. On a GPU with one L2 they are its misses, and
the sawtooth paper's numbers for GB10 are marked.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "plots" / "lib"))
import figure  # noqa: E402  (the path above leads to it)
import table  # noqa: E402

# arXiv 2601.16032: CuTile 64x64, batch 8, S = 128K, D = 64, no mask: misses in million sectors. With a
# causal mask the paper prints a share only (about -67 %).
PAPER = {("gb10", "none", "131072", "64"): {"linear": 370, "sawtooth": 120}}
PAPER_LOOK = dict(color="black", marker="|", markersize=8, linestyle="")
MEGA = 1e6
ROW_INCHES = 0.17


def multiple(row):
    moved = table.integer(row, "dram_read_sectors") + table.integer(row, "l2_write_miss_sectors")
    return moved / table.compulsory(row)


def name(row):
    order = "" if row["mask"] == "none" else f", {row['q_order']}"
    problem = f"{row['mask']} {int(row['seq_kv']) // 1024}K D={row['head_dim']}"
    return f"{problem}, {row['launch']}{order}, {row['timing']}"


def by_name(rows):
    lines = {}
    for row in rows:
        lines.setdefault(name(row), []).append(row)
    return lines


def panel(axes, gpu, lines):
    for place, rows in enumerate(lines.values()):
        for row in rows:
            axes.plot(multiple(row), place, **figure.look(row["scan"], linestyle=""))
            printed = PAPER.get(table.cells(row, ("gpu", "mask", "seq_kv", "head_dim")))
            if printed:
                paper = printed[row["scan"]] * MEGA / table.compulsory(row)
                axes.plot(paper, place, **PAPER_LOOK)
        values = [multiple(row) for row in rows]
        ends = [min(values), max(values)]
        axes.plot(ends, [place, place], color=figure.GREY, linewidth=0.8, zorder=1)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks(range(len(lines)), lines, fontsize=5.5)
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.set_title(f"{gpu}, predicted", loc="left", pad=2)


def draw(path):
    rows = table.read(path)
    gpus = {gpu: by_name(found) for gpu, found in table.grouped(rows, "gpu").items()}
    heights = [len(lines) for lines in gpus.values()]
    size = figure.PAGE_INCHES, 0.5 + ROW_INCHES * (sum(heights) + 3)
    shape = dict(nrows=len(gpus), height_ratios=heights, sharex=True, squeeze=False)
    fig, panels = figure.new_figure(*size, **shape)
    panels = panels[:, 0]
    for axes, (gpu, lines) in zip(panels, gpus.items()):
        panel(axes, gpu, lines)
    for scan in table.values(rows, "scan"):
        panels[0].plot([], [], label=scan, **figure.look(scan, linestyle=""))
    if "gb10" in gpus:
        panels[0].plot([], [], label="printed in the paper", **PAPER_LOOK)
    panels[0].legend(loc="upper right")
    figure.plain_log(panels[-1].xaxis)
    panels[-1].set_xlabel("DRAM reads and O writes (x compulsory)")
    return fig


if __name__ == "__main__":
    figure.refused(lambda: figure.save(draw(sys.argv[1]), sys.argv[2]))
