"""What one change of schedule does: the ratio after / before, predicted against measured, of all pairs
of points of one problem that differ in one thing. Left DRAM reads, right time.

A mark left of 1 is a change that wins, on the line one whose size was predicted. A model without time
has no right panel.
"""

import lib_path  # noqa: F401  (makes plots/lib importable)
import change_pairs
import errors
import figure
import table
from change_pairs import KINDS, pairs, ratio

LOOKS = {
    "longest first": ("#D55E00", "^"), "sawtooth": ("#0072B2", "s"), "attach": ("#CC79A7", "P"),
    "smaller sections": ("#009E73", "D"), "wave prefetch": ("#E69F00", "v"),
    "tickets": ("#56B4E9", "o"), "hardware grid": ("#000000", "x"), "split K/V": (figure.GREY, "*"),
}


def panel(axes, rows, counter):
    ends = [1.0, 1.0]
    for kind, before, after in pairs(rows):
        colour, marker = LOOKS[kind]
        x, y = (ratio(before, after, column) for column in ("measured", "predicted"))
        ends = [min(ends[0], x, y), max(ends[1], x, y)]
        axes.plot(x, y, color=colour, marker=marker, linestyle="none", markersize=4, alpha=0.8)
    ends = [ends[0] / 1.15, ends[1] * 1.15]
    axes.plot(ends, ends, color="black", linewidth=0.8)
    axes.fill_between(ends, [(1 - errors.BAND) * end for end in ends],
                      [(1 + errors.BAND) * end for end in ends], color="#DDDDDD", zorder=0)
    axes.axvline(1, color=figure.GREY, linewidth=0.6)
    axes.axhline(1, color=figure.GREY, linewidth=0.6)
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
    figure.plain_log(axes.xaxis)
    figure.plain_log(axes.yaxis)
    axes.set_title(errors.NAMES[counter].split(" (")[0], loc="left", pad=2)
    axes.set_xlabel("measured, after / before")


def draw(path):
    rows = change_pairs.read(path)
    groups = errors.models(rows)
    if not groups:
        raise table.TableError(f"{path}: no model but baselines")
    group = groups[0]
    counters = [counter for counter in change_pairs.COUNTERS
                if any(pairs(table.where(rows, group=group, counter=counter)))]
    if not counters:
        raise table.TableError(f"{path}: no two points that differ in one thing")
    fig, panels = figure.new_figure(figure.COLUMN_INCHES * len(counters), 3.4, ncols=len(counters),
                                    squeeze=False)
    found = set()
    for axes, counter in zip(panels[0], counters):
        chosen = table.where(rows, group=group, counter=counter)
        panel(axes, chosen, counter)
        found |= {kind for kind, _, _ in pairs(chosen)}
    panels[0][0].set_ylabel("predicted, after / before")
    for kind in KINDS:
        if kind in found:
            colour, marker = LOOKS[kind]
            panels[0][0].plot([], [], color=colour, marker=marker, linestyle="none", label=kind)
    panels[0][0].legend(loc="upper left", handletextpad=0.2)
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw, [("errors", "CSV of `sawtooth compare --csv`")])
