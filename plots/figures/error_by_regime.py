"""The error of every point by what the point is about: mask, order of Q tiles and launch.

One row a regime, one mark a point, a bar at the median; the scale is logarithmic beyond +-10 %.
Points whose measured DRAM reads are at most 1.5 x compulsory are hollow.
"""

import statistics

import lib_path  # noqa: F401  (makes plots/lib importable)
import errors
import figure
import table

COUNTER = "dram_read_sectors"
LINEAR_PART = 0.1
TICKS = (-0.5, -0.1, 0, 0.1, 0.5, 2, 10, 50)


def draw(path):
    rows = errors.read(path, COUNTER)
    groups = errors.models(rows)
    regimes = sorted({errors.regime(row) for row in rows}, reverse=True)
    fig, panels = figure.new_figure(max(figure.COLUMN_INCHES, figure.PAGE_INCHES / 2 * len(groups)),
                                    0.6 + 0.28 * len(regimes), ncols=len(groups), sharey=True,
                                    squeeze=False)
    for axes, group in zip(panels[0], groups):
        for place, regime in enumerate(regimes):
            found = [row for row in table.where(rows, group=group) if errors.regime(row) == regime
                     and row["counted_error"] != ""]
            for row in found:
                colour = errors.MASK_COLOUR.get(errors.mask_of(row), figure.GREY)
                axes.plot(table.number(row, "counted_error"), place, "o", color=colour,
                          markersize=3.5, alpha=0.8,
                          markerfacecolor=colour if errors.is_over(row) else "none")
            if found:
                middle = statistics.median(table.number(row, "counted_error") for row in found)
                axes.plot([middle, middle], [place - 0.35, place + 0.35], color="black")
        axes.axvspan(-errors.BAND, errors.BAND, color="#EEEEEE", zorder=0)
        axes.axvline(0, color="black", linewidth=0.6)
        axes.set_xscale("symlog", linthresh=LINEAR_PART)
        low, high = axes.get_xlim()
        shown = [tick for tick in TICKS if low <= tick <= high]
        axes.set_xticks(shown, [f"{100 * tick:+,.0f}" if tick else "0" for tick in shown])
        axes.minorticks_off()
        axes.set_title(group, loc="right", pad=2, fontsize=6.5)
        axes.set_xlabel(f"error of {errors.title(COUNTER)}, %")
    panels[0][0].set_yticks(range(len(regimes)), regimes)
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw, [("errors", "CSV of `sawtooth compare --csv`")])
