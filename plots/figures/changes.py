"""What one change of schedule does: the ratio after / before, predicted against measured, of all pairs
of points of one problem that differ in one thing. Left DRAM reads, right time.

A mark left of 1 is a change that wins, on the line one whose size was predicted. A model without time
has no right panel.
"""

import change_pairs
import errors
import figure
import table

MARKERS = dict(zip(change_pairs.KINDS, zip(figure.SERIES, "^sPDvox*")))
MARGIN = 1.15  # of the axes beyond the outermost points


def mark(axes, kind, x, y, **changes):
    colour, marker = MARKERS[kind]
    axes.plot(x, y, color=colour, marker=marker, linestyle="none", **changes)


def panel(axes, pairs, counter):
    ratios = [1.0]
    for kind, before, after in pairs:
        x, y = (change_pairs.ratio(before, after, side) for side in ("measured", "predicted"))
        ratios += [x, y]
        mark(axes, kind, x, y, markersize=4, alpha=0.8)
    figure.equality(axes, min(ratios) / MARGIN, max(ratios) * MARGIN)
    axes.axvline(1, color=figure.GREY, linewidth=0.6)
    axes.axhline(1, color=figure.GREY, linewidth=0.6)
    figure.plain_log(axes.xaxis)
    figure.plain_log(axes.yaxis)
    axes.set_title(errors.NAMES[counter].split(" (")[0], loc="left", pad=2)
    axes.set_xlabel("measured, after / before")


def draw(path):
    rows = change_pairs.read(path)
    group = errors.models_of(rows, path)[0]
    chosen = {
        counter: list(change_pairs.pairs(table.where(rows, group=group, counter=counter)))
        for counter in change_pairs.COUNTERS
    }
    chosen = {counter: pairs for counter, pairs in chosen.items() if pairs}
    if not chosen:
        raise table.TableError(f"{path}: no two points that differ in one thing")
    width = figure.COLUMN_INCHES * len(chosen)
    fig, panels = figure.new_figure(width, 3.4, ncols=len(chosen), squeeze=False)
    for axes, (counter, pairs) in zip(panels[0], chosen.items()):
        panel(axes, pairs, counter)
    panels[0][0].set_ylabel("predicted, after / before")
    found = {kind for pairs in chosen.values() for kind, _, _ in pairs}
    for kind in (kind for kind in MARKERS if kind in found):
        mark(panels[0][0], kind, [], [], label=kind)
    panels[0][0].legend(loc="upper left", handletextpad=0.2)
    return fig
