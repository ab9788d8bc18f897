"""Predicted against measured, every point: y = x, the band of +-10 %, and the range of the launches.

Points whose measured DRAM reads are at most 1.5 x compulsory are hollow.
"""

import textwrap

import lib_path  # noqa: F401  (makes plots/lib importable)
import errors
import figure
import table
from matplotlib.lines import Line2D

COUNTERS = ("dram_read_sectors", "l2_read_miss_sectors", "time_us")
PANEL_INCHES = 2.5
LABEL_WIDTH = 36  # characters, that a model's name is not cut off beside its panels
MARGIN = 1.6  # of the axes beyond the outermost points


def panel(axes, rows, counter):
    rows = [row for row in rows if table.number(row, "predicted") > 0 and
            table.number(row, "measured") > 0]
    for row in rows:
        colour = errors.MASK_COLOUR.get(errors.mask_of(row), figure.GREY)
        x, y = table.number(row, "measured"), table.number(row, "predicted")
        axes.plot([table.number(row, "measured_low"), table.number(row, "measured_high")], [y, y],
                  color=colour, linewidth=0.8)
        axes.plot(x, y, color=colour, marker=errors.LAUNCH_MARKER.get(row["launch"], "D"),
                  markersize=3.5, markeredgewidth=0.7, linestyle="none",
                  markerfacecolor=colour if errors.is_over(row) else "none")
    numbers = [table.number(row, name) for row in rows for name in ("predicted", "measured")]
    ends = [min(numbers) / MARGIN, max(numbers) * MARGIN]
    axes.plot(ends, ends, color="black", linewidth=0.8)
    axes.fill_between(ends, [(1 - errors.BAND) * end for end in ends],
                      [(1 + errors.BAND) * end for end in ends], color="#DDDDDD", zorder=0)
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
    axes.set_title(errors.title(counter), loc="left", pad=2)
    axes.set_xlabel("measured")


def legend_handles(rows):
    marks = [Line2D([], [], color=errors.MASK_COLOUR.get(mask, figure.GREY), linewidth=3, label=mask)
             for mask in dict.fromkeys(errors.mask_of(row) for row in rows)]
    marks += [Line2D([], [], color=figure.GREY, marker=errors.LAUNCH_MARKER.get(launch, "D"),
                     linestyle="none", label=launch) for launch in table.values(rows, "launch")]
    return marks


def draw(path):
    rows = errors.read(path)
    groups = errors.models(rows)
    if not groups:
        raise table.TableError(f"{path}: no model but baselines")
    drawable = [counter for counter in COUNTERS
                if any(table.number(row, "measured") > 0 < table.number(row, "predicted")
                       for group in groups for row in table.where(rows, counter=counter, group=group))]
    if not drawable:
        raise table.TableError(f"{path}: no rows of {', '.join(COUNTERS)}")
    fig, panels = figure.new_figure(PANEL_INCHES * len(drawable), 0.3 + PANEL_INCHES * len(groups),
                                    nrows=len(groups), ncols=len(drawable), squeeze=False)
    for row_of_panels, group in zip(panels, groups):
        for axes, counter in zip(row_of_panels, drawable):
            found = table.where(rows, group=group, counter=counter)
            if found:
                panel(axes, found, counter)
            else:
                axes.set_axis_off()
        row_of_panels[0].set_ylabel("predicted\n" + textwrap.fill(group, LABEL_WIDTH))
    panels[0][0].legend(handles=legend_handles(rows), loc="upper left", handlelength=1)
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw, [("errors", "CSV of `sawtooth compare --csv`")])
