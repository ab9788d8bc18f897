"""Predicted, not measured: DRAM reads and O writes of linear and of sawtooth on other GPUs, in multiples
of the compulsory ones, every launch and model of time. On a GPU with one L2 they are its misses, and
the sawtooth paper's numbers for GB10 are marked.
"""

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table

# arXiv 2601.16032: CuTile 64x64, batch 8, S = 128K, D = 64, no mask: misses in million sectors. With a
# causal mask the paper prints a share only (about -67 %).
PAPER = {("gb10", "none", "131072", "64"): {"linear": 370, "sawtooth": 120}}
MEGA = 1e6
ROW_INCHES = 0.17


def compulsory(row):
    return table.integer(row, "cold_read_sectors") + table.integer(row, "l2_write_sectors")


def sectors(row):
    return table.integer(row, "dram_read_sectors") + table.integer(row, "l2_write_miss_sectors")


def name(row):
    order = "" if row["mask"] == "none" else f", {row['q_order']}"
    return (f"{row['mask']} {int(row['seq_kv']) // 1024}K D={row['head_dim']}, {row['launch']}{order}, "
            f"{row['timing']}")


def panel(axes, rows):
    lines = list(dict.fromkeys(name(row) for row in rows))
    for row in rows:
        place = lines.index(name(row))
        value = sectors(row) / compulsory(row)
        axes.plot(value, place, **{**figure.look(row["scan"]), "linestyle": ""})
        printed = PAPER.get((row["gpu"], row["mask"], row["seq_kv"], row["head_dim"]))
        if printed:
            axes.plot(printed[row["scan"]] * MEGA / compulsory(row), place, color="black", marker="|",
                      markersize=8, linestyle="")
    for place, line in enumerate(lines):
        values = [sectors(row) / compulsory(row) for row in rows if name(row) == line]
        axes.plot([min(values), max(values)], [place, place], color=figure.GREY, linewidth=0.8,
                  zorder=1)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks(range(len(lines)), lines, fontsize=5.5)
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.set_title(f"{rows[0]['gpu']}, predicted", loc="left", pad=2)


def draw(path):
    rows = table.read(path, ("source", "gpu", "mask", "seq_kv", "head_dim", "launch", "q_order", "timing",
                             "scan", "cold_read_sectors", "dram_read_sectors", "l2_write_sectors",
                             "l2_write_miss_sectors"))
    gpus = table.values(rows, "gpu")
    heights = [len({name(row) for row in table.where(rows, gpu=gpu)}) for gpu in gpus]
    fig, panels = figure.new_figure(figure.PAGE_INCHES, 0.5 + ROW_INCHES * (sum(heights) + 3),
                                    nrows=len(gpus), height_ratios=heights, sharex=True,
                                    squeeze=False)
    for axes, gpu in zip(panels[:, 0], gpus):
        panel(axes, table.where(rows, gpu=gpu))
    for scan in table.values(rows, "scan"):
        panels[0][0].plot([], [], **{**figure.look(scan), "linestyle": ""}, label=scan)
    if "gb10" in gpus:
        panels[0][0].plot([], [], color="black", marker="|", markersize=8, linestyle="",
                          label="printed in the paper")
    panels[0][0].legend(loc="upper right")
    figure.plain_log(panels[-1][0].xaxis)
    panels[-1][0].set_xlabel("DRAM reads and O writes (x compulsory)")
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw, [("results", "CSV of `sawtooth simulate experiments/studies/validation/elsewhere.ini`")])
