"""Sectors that reach L2 against the length, for several tiles: predicted points on closed forms."""

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table

GIGA = 1e9
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
MARKERS = "osD^v"


def total(row, kind):
    return (table.integer(row, f"{kind}_read_sectors") +
            table.integer(row, f"{kind}_write_sectors")) / GIGA


def draw(path):
    rows = table.read(path, ("mask", "tile", "seq", "predicted_read_sectors",
                             "predicted_write_sectors", "paper_sectors"))
    masks = sorted(table.values(rows, "mask"), reverse=True)
    tiles = sorted(table.values(rows, "tile"), key=int)
    fig, panels = figure.new_figure(width=figure.PAGE_INCHES, height=2.3, ncols=len(masks),
                                    sharey=True, squeeze=False)
    for axes, mask in zip(panels[0], masks):
        for tile, colour, marker in zip(tiles, COLOURS, MARKERS):
            line = sorted(table.where(rows, mask=mask, tile=tile),
                          key=lambda row: table.integer(row, "seq"))
            lengths = [table.integer(row, "seq") for row in line]
            axes.plot(lengths, [table.number(row, "paper_sectors") / GIGA for row in line],
                      color=colour, linewidth=0.8)
            axes.plot(lengths, [total(row, "predicted") for row in line], color=colour,
                      marker=marker, linestyle="", label=f"T = {tile}")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(lengths, [f"{length // 1024}K" for length in lengths])
        axes.minorticks_off()
        axes.set_title("no mask" if mask == "none" else mask)
        axes.set_xlabel("sequence length (tokens)")
    figure.plain_log(panels[0][0].yaxis)
    panels[0][0].set_ylabel("sectors at L2 (billions)")
    panels[0][0].plot([], [], color="black", linewidth=0.8, label="closed form")
    panels[0][0].legend(loc="upper left")
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw, [("closed_forms", "closed_forms.csv")])
