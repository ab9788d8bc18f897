"""What each schedule gains: base / other, for pairs of points that differ in one column alone; marks at
the median, intervals over the repetitions, which are paired by their numbers."""

import figure
import measures
import points
import quantities
import table
import words
from matplotlib.lines import Line2D
from xy import chosen

MOST_ROWS = 40
ROW_INCHES = 0.22
HIGHER_IS_BETTER = ("tflops", "hit_rate")


def samples(rows, y):
    """{repetition: number}; one without repetitions has the name ""."""
    return {row.get("repetition", ""): quantities.of(row, y) for row in rows}


def gain(base, other, y):
    """(median, low, high) of base / other, or of its inverse where more is better."""
    if base.keys() == other.keys():
        pairs = [(base[name], other[name]) for name in base]
        ratios = [b / o if y not in HIGHER_IS_BETTER else o / b for b, o in pairs]
        return measures.median_interval(ratios)
    both = [measures.median_interval(list(values.values()))[0] for values in (base, other)]
    ratio = both[0] / both[1] if y not in HIGHER_IS_BETTER else both[1] / both[0]
    return ratio, ratio, ratio


def draw(paths, y=None, column="scan", base="linear", where=None):
    rows = chosen([row for path in paths for row in table.read(path)], where)
    if y is None:
        timed = any(row.get("time_us") for row in rows)
        y = "time_us" if timed else "dram_read_sectors"
    shown = [row for row in rows if quantities.is_there(row, y) and quantities.of(row, y) > 0]
    if not shown:
        raise table.TableError(f"{paths[0]}: no row has {y}")
    if base not in table.values(shown, column):
        has = ", ".join(table.values(shown, column))
        raise table.TableError(f"{paths[0]}: --base {base}: {column} has {has}")
    free = [c for c in ["source"] + points.POINT + points.MODEL if c != column]
    problem = points.varying(shown, [column], free)
    lines = []
    for cells, found in table.grouped(shown, *problem).items() if problem else [((), shown)]:
        of_value = table.grouped(found, column)
        others = [value for value in of_value if value != base and base in of_value]
        if others:
            row = found[0]
            measured = row.get("source") == "measured"
            name = words.name(row, [c for c in problem if c != "source"]) or "all"
            if "source" in problem:
                name += ", measured" if measured else ", predicted"
            start = samples(of_value[base], y)
            marks = {value: gain(start, samples(of_value[value], y), y) for value in others}
            lines.append((name, measured, marks))
    if not lines:
        raise table.TableError(f"{paths[0]}: no two points differ in {column} alone")
    if len(lines) > MOST_ROWS:
        raise table.TableError(
            f"{paths[0]}: {len(lines)} problems; at most {MOST_ROWS}: choose with --where"
        )
    return picture(lines, column, base, y)


def look(column, value, number):
    """(colour, mark)"""
    if column == "scan" and value in figure.SCAN_LOOK:
        return figure.SCAN_LOOK[value][::2]
    return figure.SERIES[number % len(figure.SERIES)], "osD^vP*X"[number % 8]


def picture(lines, column, base, y):
    values = list(dict.fromkeys(value for _, _, marks in lines for value in marks))
    fig, axes = figure.new_figure(figure.PAGE_INCHES, 0.8 + ROW_INCHES * len(lines))
    ends = [1.0]
    for place, (_, measured, marks) in enumerate(lines):
        for value, (middle, low, high) in marks.items():
            colour, mark = look(column, value, values.index(value))
            axes.plot([low, high], [place, place], color=colour, linewidth=1)
            face = colour if measured else "white"
            axes.plot(middle, place, mark, color=colour, markerfacecolor=face, markersize=4)
            ends += [low, high]
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks(range(len(lines)), [name for name, _, _ in lines], fontsize=6)
    axes.set_ylim(len(lines) - 0.5, -0.5)
    logarithmic = max(ends) > 5 * min(ends)
    axes.set_xlim(min(ends) / 1.05, max(ends) * 1.05)
    figure.axis(axes.xaxis, logarithmic)
    ratio = "other / base" if y in HIGHER_IS_BETTER else "base / other"
    title = words.label(y)
    axes.set_xlabel(
        f"{title}, {ratio}; base: {words.value(column, base)}; right of 1 is better; 95 % intervals"
    )
    handles = []
    for number, value in enumerate(values):
        colour, mark = look(column, value, number)
        name = words.value(column, value)
        handles.append(Line2D([], [], label=name, color=colour, marker=mark, linestyle="none"))
    place = dict(loc="lower right", bbox_to_anchor=(1, 1), ncols=len(handles))
    axes.legend(handles=handles, **place)
    return fig
