"""The error of every point by what the point is about: mask, order of Q tiles and launch.

One row a regime, one mark a point, a bar at the median; the scale is logarithmic beyond +-10 %.
Points whose measured DRAM reads are at most 1.5 x compulsory are hollow.
"""

import statistics
import textwrap

import errors
import figure
import table

COUNTER = "dram_read_sectors"
LINEAR_PART = 0.1
TICKS = (-0.5, -0.2, -0.1, 0, 0.1, 0.2, 0.5, 2, 10, 50)
TITLE_WIDTH = 50  # characters


def panel(axes, rows, regimes, group):
    for place, regime in enumerate(regimes):
        found = [row for row in rows if errors.regime(row) == regime]
        for row in found:
            error = table.number(row, "relative_error")
            axes.plot(error, place, "o", markersize=3.5, alpha=0.8, **figure.compared_look(row))
        if found:
            middle = statistics.median(table.numbers(found, "relative_error"))
            axes.plot([middle, middle], [place - 0.35, place + 0.35], color="black")
    axes.axvspan(-errors.BAND, errors.BAND, color="#EEEEEE", zorder=0)
    axes.axvline(0, color="black", linewidth=0.6)
    axes.set_xscale("symlog", linthresh=LINEAR_PART)
    axes.margins(x=0.08)
    low, high = axes.get_xlim()
    shown = [tick for tick in TICKS if low <= tick <= high]
    names = [f"{100 * tick:+,.0f}" if tick else "0" for tick in shown]
    axes.set_xticks(shown, names, fontsize=5.5)
    axes.minorticks_off()
    axes.set_title(textwrap.fill(group, TITLE_WIDTH), loc="right", pad=2, fontsize=6.5)
    axes.set_xlabel(f"error of {errors.title(COUNTER)}, %")


def draw(path):
    rows = errors.read(path, COUNTER)
    groups = errors.models_of(rows, path)
    regimes = sorted({errors.regime(row) for row in rows}, reverse=True)
    width = max(figure.COLUMN_INCHES, figure.PAGE_INCHES / 2 * len(groups))
    shape = dict(ncols=len(groups), sharey=True, squeeze=False)
    fig, panels = figure.new_figure(width, 0.6 + 0.28 * len(regimes), **shape)
    for axes, group in zip(panels[0], groups):
        counted = [row for row in table.where(rows, group=group) if row["relative_error"] != ""]
        panel(axes, counted, regimes, group)
    panels[0][0].set_yticks(
        range(len(regimes)), [regime.replace("none", "no mask") for regime in regimes]
    )
    return fig
