"""What each mechanism of a model is worth: the errors of DRAM reads of several models beside each
other, every point over 1.5 x compulsory, with the median and the 90 % mark.

Each table is one comparison; its models carry the name that is given with it or, where a single
table has none, their own. Baselines of the first table stand below.
"""

import math
import os
import statistics

import lib_path  # noqa: F401  (makes plots/lib importable)
import errors
import figure
import table

COUNTER = "dram_read_sectors"
SMALLEST = 1e-3  # errors below it are drawn at it
NINETY = 0.9


def sizes(rows):
    """|error| of points over 1.5 x compulsory, sorted."""
    return sorted(abs(table.number(row, "counted_error")) for row in rows
                  if errors.is_over(row) and row["counted_error"] != "")


def series(paths):
    """(name, sizes) of every model, then of the baselines of the first table."""
    found = []
    for name, _, path in [given.rpartition("=") for given in paths]:
        rows = errors.read(path, COUNTER)
        groups = errors.models(rows)
        for group in groups:
            title = name or os.path.splitext(os.path.basename(path))[0]
            if len(groups) > 1:
                title = f"{title}: {group}" if name or len(paths) > 1 else group
            found.append((title, sizes(table.where(rows, group=group))))
    first = errors.read(paths[0].rpartition("=")[2], COUNTER)
    found += [(group, sizes(table.where(first, group=group))) for group in
              table.values(first, "group") if group.startswith(errors.BASELINE)]
    return [(name, values) for name, values in found if values]


def draw(paths):
    found = series(paths)
    if not found:
        raise table.TableError(f"{paths[0]}: no point over {errors.OVER} x compulsory")
    fig, axes = figure.new_figure(figure.PAGE_INCHES, 0.6 + 0.3 * len(found))
    for place, (name, values) in enumerate(found):
        colour = figure.GREY if name.startswith(errors.BASELINE) else "#0072B2"
        axes.plot([max(value, SMALLEST) for value in values], [place] * len(values), "o",
                  color=colour, markersize=3, alpha=0.6)
        ninety = values[math.ceil(NINETY * len(values)) - 1]
        for value, style in ((statistics.median(values), "-"), (ninety, ":")):
            value = max(value, SMALLEST)
            axes.plot([value, value], [place - 0.4, place + 0.4], color="black", linestyle=style)
    axes.axvline(errors.BAND, color="#D55E00", linewidth=0.8, linestyle="--")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    axes.set_yticks(range(len(found)), [name for name, _ in found])
    axes.invert_yaxis()
    axes.set_xlabel(f"size of the error of {errors.title(COUNTER)}; bar: median, dots: 90 %")
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw,
               [("errors+", "[NAME=]CSV of `sawtooth compare --csv`, one a variant of the model")])
