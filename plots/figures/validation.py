"""Predicted against measured, every point: y = x, the band of +-10 %, and the range of the launches.

Points whose measured DRAM reads are at most 1.5 x compulsory are hollow.
"""

import textwrap

import figure
import measures
import points
import table
import words
from matplotlib.lines import Line2D

COUNTERS = ("dram_read_sectors", "l2_read_miss_sectors", "time_us")
LAUNCH_MARKER = {"static": "s", "grid": "o", "dynamic": "^", "balanced": "D"}
MASK_COLOUR = {"none": figure.BLUE, "causal": figure.RED, "window": figure.GREEN}
PANEL_INCHES = 2.5
LABEL_WIDTH = 36  # characters, that a model's name is not cut off beside its panels
MARGIN = 1.6  # of the axes beyond the outermost points


def marker_of(launch):
    return {"marker": LAUNCH_MARKER.get(launch, "D"), "linestyle": "none"}


def mask_of(row):
    return row["mask"].split(":")[0]


def look_of(row):
    colour = MASK_COLOUR.get(mask_of(row), figure.GREY)
    return {"color": colour, "markerfacecolor": colour if measures.is_over(row) else "none"}


def is_positive(row):
    return min(table.number(row, "predicted"), table.number(row, "measured")) > 0


def panel(axes, rows, counter):
    for row in rows:
        look = look_of(row)
        x, y = table.number(row, "measured"), table.number(row, "predicted")
        ends = [table.number(row, "measured_low"), table.number(row, "measured_high")]
        axes.plot(ends, [y, y], color=look["color"], linewidth=0.8)
        axes.plot(x, y, markersize=3.5, markeredgewidth=0.7, **marker_of(row["launch"]), **look)
    numbers = table.numbers(rows, "predicted") + table.numbers(rows, "measured")
    figure.equality(axes, min(numbers) / MARGIN, max(numbers) * MARGIN)
    axes.set_title(words.label(counter), loc="left", pad=2)
    axes.set_xlabel("measured")


def legend_handles(rows):
    for mask in dict.fromkeys(mask_of(row) for row in rows):
        colour = MASK_COLOUR.get(mask, figure.GREY)
        yield Line2D([], [], color=colour, linewidth=3, label=words.value("mask", mask))
    for launch in table.values(rows, "launch"):
        yield Line2D([], [], color=figure.GREY, label=launch, **marker_of(launch))


def draw(path):
    rows = table.read(path, ("group", "counter", "predicted", "measured"))
    groups = table.values(rows, "group")
    shown = {
        (group, counter): [row for row in found if is_positive(row)]
        for (group, counter), found in table.grouped(rows, "group", "counter").items()
    }
    drawable = [c for c in COUNTERS if any(shown.get((group, c)) for group in groups)]
    if not drawable:
        raise table.TableError(f"{path}: no rows of {', '.join(COUNTERS)}")
    size = PANEL_INCHES * len(drawable), 0.3 + PANEL_INCHES * len(groups)
    shape = dict(nrows=len(groups), ncols=len(drawable), squeeze=False)
    fig, panels = figure.new_figure(*size, **shape)
    for row_of_panels, group in zip(panels, groups):
        for axes, counter in zip(row_of_panels, drawable):
            if shown.get((group, counter)):
                panel(axes, shown[group, counter], counter)
            else:
                axes.set_axis_off()
        row_of_panels[0].set_ylabel("predicted\n" + textwrap.fill(group, LABEL_WIDTH))
    figure.legend(panels[0][-1], list(legend_handles(rows)))
    figure.caption(fig, points.caption(rows))
    return fig
