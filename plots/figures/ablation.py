"""What each mechanism of a model is worth: the errors of DRAM reads of several models beside each
other, every point over 1.5 x compulsory, with the median and the 90 % mark.

Each table is one comparison; its models carry the name that is given with it or, where a single
table has none, their own. Baselines of the first table stand below.
"""

import os
import statistics

import errors
import figure
import measures
import table

COUNTER = "dram_read_sectors"
SMALLEST = 1e-3  # errors below it are drawn at it
NINETY = 0.9


def sizes(rows):
    """|error| of points over 1.5 x compulsory."""
    counted = [row for row in rows if errors.is_over(row) and row["relative_error"] != ""]
    return [abs(error) for error in table.numbers(counted, "relative_error")]


def series(paths):
    """(name, sizes) of every model, then of the baselines of the first table."""
    baselines = []
    for number, given in enumerate(paths):
        name, _, path = given.rpartition("=")
        groups = table.grouped(errors.read(path, COUNTER), "group")
        models = [group for group in groups if not group.startswith(errors.BASELINE)]
        title = name or os.path.splitext(os.path.basename(path))[0]
        for group in models:
            alone = len(models) == 1
            own = f"{title}: {group}" if name or len(paths) > 1 else group
            yield title if alone else own, sizes(groups[group])
        if number == 0:
            baselines = [(name, sizes(groups[name])) for name in groups if name not in models]
    yield from baselines


def without_common_words(names):
    """Each name without the words that all begin and end with; what is left empty is "as it is"."""
    words = [name.split(" ") for name in names]
    for _ in range(2):
        while len(words) > 1 and all(words) and len({each[0] for each in words}) == 1:
            words = [each[1:] for each in words]
        words = [each[::-1] for each in words]
    return [" ".join(each) or "as it is" for each in words]


def percent(value):
    at_most = "\N{LESS-THAN OR EQUAL TO} " if value <= SMALLEST else ""
    return f"{at_most}{100 * value:g} %"


def draw(paths):
    found = [(name, values) for name, values in series(paths) if values]
    if not found:
        raise table.TableError(f"{paths[0]}: no point over {errors.OVER} x compulsory")
    fig, axes = figure.new_figure(figure.PAGE_INCHES, 0.6 + 0.3 * len(found))
    for place, (name, values) in enumerate(found):
        colour = figure.GREY if name.startswith(errors.BASELINE) else figure.BLUE
        shown = sorted(max(value, SMALLEST) for value in values)
        axes.plot(shown, [place] * len(shown), "o", color=colour, markersize=3, alpha=0.6)
        ends = [place - 0.4, place + 0.4]
        for value, style in zip((statistics.median(shown), measures.quantile(shown, NINETY)), "-:"):
            axes.plot([value, value], ends, color="black", linestyle=style)
    axes.axvline(errors.BAND, color=figure.RED, linewidth=0.8, linestyle="--")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: percent(value))
    models = [name for name, _ in found if not name.startswith(errors.BASELINE)]
    labels = dict(zip(models, without_common_words(models)))
    axes.set_yticks(range(len(found)), [labels.get(name, name) for name, _ in found])
    axes.invert_yaxis()
    axes.set_xlabel(f"size of the error of {errors.title(COUNTER)};\nbar: median, dots: 90 %")
    return fig
