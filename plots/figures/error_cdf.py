"""Share of the points whose error is at most so large: a panel a counter, a line a model; baselines are
grey. Points where the table has no error (0 measured) are counted in the title, not drawn."""

import errors
import figure
import table
import words

SMALLEST = 1e-4  # errors below it are drawn at it, as the axis says
STYLES = ("-", "--", "-.", ":")
BAND = errors.BAND


def draw(path):
    rows = [row for row in errors.read(path) if row["counter"]]
    counted = [row for row in rows if row["relative_error"] != ""]
    if not counted:
        raise table.TableError(f"{path}: no row has a relative_error")
    panels = table.grouped(counted, "counter")
    ncols = min(len(panels), 3)
    nrows = -(-len(panels) // ncols)
    shape = dict(nrows=nrows, ncols=ncols, sharey=True, squeeze=False)
    width = figure.COLUMN_INCHES * 1.4 if ncols == 1 else figure.PAGE_INCHES
    fig, grid = figure.new_figure(width, 0.9 + 1.9 * nrows, **shape)
    groups = table.values(counted, "group")
    for axes, (counter, found) in zip(grid.flat, panels.items()):
        for place, group in enumerate(groups):
            sizes = [
                abs(e) for e in table.numbers(table.where(found, group=group), "relative_error")
            ]
            if sizes:
                shown = sorted(max(size, SMALLEST) for size in sizes)
                shares = [100 * (i + 1) / len(shown) for i in range(len(shown))]
                look = dict(color=colour_of(groups, group), linestyle=STYLES[place % 4])
                label = f"{group} ({len(shown)})" if len(panels) == 1 else group
                axes.step([SMALLEST, *shown], [0, *shares], where="post", label=label, **look)
        axes.axvline(BAND, color=figure.RED, linewidth=0.6, linestyle=":")
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: percent(value))
        axes.minorticks_off()
        axes.set_xlim(left=SMALLEST)
        axes.set_ylim(0, 102)
        missing = sum(row["counter"] == counter for row in rows) - len(found)
        title = words.label(counter) + (f"; {missing} without an error" if missing else "")
        axes.set_title(title, loc="left", pad=2)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes in grid[-1]:
        axes.set_xlabel("size of the error, at most")
    for axes in grid[:, 0]:
        axes.set_ylabel("points (%)")
    handles = {}
    for axes in grid.flat:
        handles.update({text: h for h, text in zip(*axes.get_legend_handles_labels())})
    figure.legend(fig, grid[0][-1], list(handles.values()))
    return fig


def percent(value):
    text = f"{100 * value:g} %"
    return f"\N{LESS-THAN OR EQUAL TO} {text}" if value <= SMALLEST else text


def colour_of(groups, group):
    if group.startswith(errors.BASELINE):
        return figure.GREY
    models = [name for name in groups if not name.startswith(errors.BASELINE)]
    return figure.SERIES[models.index(group) % len(figure.SERIES)]
