"""Sectors that reach L2 against the length, for several tiles: predicted points on closed forms."""

import figure
import table

GIGA = 1e9
MARKERS = "osD^v"


def predicted(row):
    columns = ("predicted_read_sectors", "predicted_write_sectors")
    return sum(table.integer(row, column) for column in columns) / GIGA


def panel(axes, rows, mask):
    tiles = sorted(table.grouped(rows, "tile").items(), key=lambda entry: int(entry[0]))
    for (tile, line), colour, marker in zip(tiles, figure.SERIES, MARKERS):
        lengths = table.integers(line, "seq")
        closed = [sectors / GIGA for sectors in table.numbers(line, "paper_sectors")]
        axes.plot(lengths, closed, color=colour, linewidth=0.8)
        marks = dict(color=colour, marker=marker, linestyle="", label=f"T = {tile}")
        axes.plot(lengths, [predicted(row) for row in line], **marks)
    figure.doubling(axes, lengths)
    axes.set_yscale("log")
    axes.set_title("no mask" if mask == "none" else mask)
    axes.set_xlabel("sequence length (tokens)")


def draw(path):
    rows = table.ascending(table.read(path), "seq")
    masks = sorted(table.values(rows, "mask"), reverse=True)
    shape = dict(ncols=len(masks), sharey=True, squeeze=False)
    fig, panels = figure.new_figure(figure.PAGE_INCHES, 2.3, **shape)
    for axes, mask in zip(panels[0], masks):
        panel(axes, table.where(rows, mask=mask), mask)
    first = panels[0][0]
    figure.plain_log(first.yaxis)
    first.set_ylabel("sectors at L2 (billions)")
    first.plot([], [], color="black", linewidth=0.8, label="closed form")
    first.legend(loc="upper left")
    return fig
