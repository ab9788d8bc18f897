"""The figure that draws anything against anything: lines for predictions, marks with intervals for
measurements; what varies besides the axes has a colour (a schedule) or a line style (a model)."""

import math
import textwrap

import figure
import measures
import points
import quantities
import table
import words

STYLES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))
MARKS = "osD^vPX*<>"
MOST_SERIES, MOST_PANELS = 16, 12
LABEL_WIDTH = 28  # of the y axis: characters that fit beside low panels
LOG_RANGE = 20  # numbers that differ by more are shown on a logarithmic axis unless asked otherwise
ELEMENT_BYTES = {"fp32": 4}
SPREAD = 0.7  # of a name's column: series in it stand side by side
MOST_TICKS = 6  # lengths that a panel can name
MARKED = [dict(color=figure.GREEN, linewidth=0.8, linestyle=s, zorder=1) for s in ("-.", ":", "--")]


def columns_of(text):
    return [column.strip() for column in text.split(",") if column.strip()] if text else []


def chosen(rows, conditions):
    for condition in conditions or ():
        column, equals, value = condition.partition("=")
        if not equals:
            raise table.TableError(f"--where {condition}: wanted COLUMN=VALUE")
        known = table.values(rows, column)
        rows = table.where(rows, **{column: value})
        if not rows:
            raise table.TableError(f"--where {condition}: no such row; {column} has {known}")
    return rows


def is_number(text):
    try:
        return math.isfinite(float(text))
    except (TypeError, ValueError):
        return False


class Layout:
    """Which column goes where, from what was asked for and from what varies."""

    def __init__(self, rows, x, y, hue, facet):
        self.x, self.y, self.facet = x, y, columns_of(facet)
        for column in (x, *self.facet, *columns_of(hue)):
            if column not in quantities.DERIVED:
                rows[0][column]  # a missing one is refused by name
        fixed = ["source"] if "source" in rows[0] else []
        known = fixed + ([x] if x in rows[0] else []) + self.facet
        same = ("seq_q", "seq_kv") if x in ("seq_q", "seq_kv") else (x,)
        free = [c for c in points.POINT + points.MODEL if c not in same]
        if hue:
            self.hue = columns_of(hue)
            left = points.varying(rows, known + self.hue, free)
            models = [column for column in left if column in points.MODEL]
            left = [column for column in left if column not in points.MODEL]
            if left:
                raise table.TableError(
                    f"{rows[0].path}: rows also differ in {', '.join(left)}; add it to --hue or "
                    f"--facet, or choose with --where {left[0]}={rows[0][left[0]]}"
                )
            self.style = models
        else:
            left = points.varying(rows, known, free)
            self.style = [column for column in left if column in points.MODEL]
            self.hue = [column for column in left if column not in points.MODEL]
        if not self.hue and "source" not in rows[0]:
            self.hue, self.style = self.style, []

    def series(self, rows):
        """{(hue cells, is measured, model cells): rows}, in the order of first rows."""
        found = {}
        for row in rows:
            measured = row.get("source") == "measured"
            key = table.cells(row, self.hue), measured, table.cells(row, self.style)
            found.setdefault(key, []).append(row)
        return found


def medians(rows, layout, place):
    """[(x, y, low, high)]: the median over repetitions with its interval, or a prediction's own."""
    groups = {}
    for row in rows:
        groups.setdefault(place(row), []).append(row)
    for x, found in sorted(groups.items()):
        values = [quantities.of(row, layout.y) for row in found]
        low, high = found[0].get(f"{layout.y}_low"), found[0].get(f"{layout.y}_high")
        if len(values) > 1:
            yield x, *measures.median_interval(values)
        elif low and high:
            yield x, values[0], float(low), float(high)
        else:
            yield x, values[0], values[0], values[0]


def looks(layout, rows):
    """Colour and mark of every hue, line style of every model; a scan keeps its colour where it is
    all that varies."""
    names = list(dict.fromkeys(table.cells(row, layout.hue) for row in rows))
    if len(names) > MOST_SERIES:
        raise table.TableError(
            f"{rows[0].path}: {len(names)} series by {', '.join(layout.hue)}; at most "
            f"{MOST_SERIES}: choose with --where or spread with --facet"
        )
    found = {}
    for place, cells in enumerate(names):
        colour = figure.SERIES[place % len(figure.SERIES)]
        mark = MARKS[(place + place // len(figure.SERIES)) % len(MARKS)]
        if layout.hue == ["scan"] and cells[0] in figure.SCAN_LOOK:
            colour, _, mark = figure.SCAN_LOOK[cells[0]]
        found[cells] = colour, mark
    models = [row for row in rows if row.get("source") != "measured"]
    styles = list(dict.fromkeys(table.cells(row, layout.style) for row in models))
    return found, {cells: STYLES[i % len(STYLES)] for i, cells in enumerate(styles)}


def plot(axes, line, measured, colour, mark, style, joined, stack, steps):
    xs, ys, lows, highs = zip(*line)
    spread = any(low < y or high > y for y, low, high in zip(ys, lows, highs))
    if spread:
        below, above = zip(*((y - low, high - y) for y, low, high in zip(ys, lows, highs)))
        axes.errorbar(xs, ys, (below, above), fmt="none", ecolor=colour, elinewidth=0.8, capsize=2)
    line_style = style if joined and not measured else "none"
    filled = colour if measured or not joined else "white"
    look = dict(color=colour, linestyle=line_style, marker=mark, markerfacecolor=filled)
    look |= dict(marker="", drawstyle="steps-post") if steps else {}
    axes.plot(xs, ys, **look, **stack)


def lines_of_l2(axes, rows):
    """Where K and V of one head are as large as L2, by the capacity that the rows carry."""
    marked = {}
    for row in rows:
        if not all(row.get(c) for c in ("l2_bytes", "head_dim", "dtype")):
            continue
        token = 2 * table.integer(row, "head_dim") * ELEMENT_BYTES.get(row["dtype"], 2)
        for capacity, text in points.capacities(row):
            marked.setdefault(capacity / token, set()).add((text, row["head_dim"]))
    dims = {row.get("head_dim") for row in rows}
    low, high = axes.get_xlim()
    for length, found in marked.items():
        if not low <= length <= high:
            continue
        texts = {text if len(dims) == 1 else f"{text}, D={d}" for text, d in found}
        axes.axvline(length, color=figure.GREY, linewidth=0.8, linestyle=":", zorder=1)
        figure.on_top(axes, length, "K/V = " + "\n".join(sorted(texts)))


def compulsory_lines(axes, rows, layout, place, colours):
    """The least possible: one black line where it is the same for all, else one a colour."""
    by_hue = {}
    for row in rows:
        least = quantities.compulsory(row, layout.y)
        if least is not None:
            by_hue.setdefault(table.cells(row, layout.hue), {})[place(row)] = least
    together = {}
    for of_hue in by_hue.values():
        for x, least in of_hue.items():
            together.setdefault(x, set()).add(least)
    same = all(len(least) == 1 for least in together.values())
    drawn = {(): {x: min(v) for x, v in together.items()}} if same and together else by_hue
    for cells, found in drawn.items():
        colour = "black" if cells not in colours or same else colours[cells][0]
        xs = sorted(found)
        if len(xs) == 1 or len(set(found.values())) == 1:
            axes.axhline(found[xs[0]], color=colour, linewidth=0.8, zorder=1)
        else:
            axes.plot(xs, [found[x] for x in xs], color=colour, linewidth=0.8, zorder=1)
    return bool(drawn)


def log_axes(asked, xs, ys):
    """(x, y) logarithmic? `asked` is x, y, xy, none or None, which looks at the range."""

    def wide(values):
        return min(values) > 0 and max(values) > LOG_RANGE * min(values)

    if asked is None:
        return figure.are_doublings(xs) or (bool(xs) and wide(xs)), wide(ys)
    for name, values in (("x", xs), ("y", ys)):
        if name in asked.replace("none", "") and (not values or min(values) <= 0):
            raise table.TableError(f"--log {asked}: {name} has no positive numbers only")
    return "x" in asked, "y" in asked


def handles(layout, colours, styles, rows, joined, curves, steps):
    from matplotlib.lines import Line2D

    sources = {row.get("source") for row in rows}
    lines = joined and sources != {"measured"}
    for cells, (colour, mark) in colours.items():
        text = ", ".join(filter(None, map(words.value, layout.hue, cells)))
        if text:
            face = colour if "measured" in sources or not joined else "white"
            look = dict(marker=mark, markerfacecolor=face, linestyle="-" if lines else "none")
            look |= dict(marker="") if steps else {}
            yield Line2D([], [], color=colour, label=text, **look)
    for cells, style in styles.items():
        text = ", ".join(filter(None, map(words.value, layout.style, cells)))
        if joined and ("measured" in sources or len(styles) > 1):
            text = f"predicted{': ' if text else ''}{text}" if "measured" in sources else text
            yield Line2D([], [], color=figure.GREY, linestyle=style, label=text)
    if "measured" in sources and len(sources) > 1:
        yield Line2D([], [], color=figure.GREY, marker="o", linestyle="none", label="measured")
    for text, look in curves:
        yield Line2D([], [], label=text, **look)


def draw(paths, x, y, where=None, **options):
    tables = [table.read(path) for path in paths]
    several = {row["gpu"] for rows in tables for row in rows if "gpu" in row}
    # Readings of streams, then a model's; tables of several GPUs are all readings.
    if len(tables) > 1 and len(several) < 2 and "source" not in tables[0][0]:
        for rows, source in zip(tables, ("measured", *["predicted"] * len(tables))):
            for row in rows:
                row["source"] = source
    rows = [row for rows in tables for row in rows]
    return draw_rows(quantities.complete(chosen(rows, where)), x, y, **options)


def draw_rows(
    rows, x, y, hue=None, facet=None, log=None, kind=None, curve=None, marks=(), steps=False
):
    shown = [row for row in rows if quantities.is_there(row, y)]
    path = rows[0].path
    if not shown:
        raise table.TableError(f"{path}: no row has {y}")
    layout = Layout(shown, x, y, hue, facet)
    numeric = x in quantities.DERIVED or all(is_number(row[x]) for row in shown)
    names = [] if numeric else table.values(shown, x)

    joined = numeric if kind is None else kind == "lines"
    colours, styles = looks(layout, shown)
    hues = list(colours)

    def place(row):
        """Series stand side by side in a name's column."""
        if numeric:
            return quantities.of(row, x)
        side = hues.index(table.cells(row, layout.hue)) - (len(hues) - 1) / 2
        return names.index(row[x]) + SPREAD * side / len(hues)

    panels = table.grouped(shown, *layout.facet) if layout.facet else {"": shown}
    if len(panels) > MOST_PANELS:
        raise table.TableError(f"{path}: {len(panels)} panels; at most {MOST_PANELS}")
    ncols = min(len(panels), 3)
    nrows = -(-len(panels) // ncols)
    width = figure.COLUMN_INCHES * 1.3 if ncols == 1 else figure.PAGE_INCHES
    shape = dict(nrows=nrows, ncols=ncols, sharex=True, sharey=True, squeeze=False)
    fig, grid = figure.new_figure(width, 0.6 + 2.1 * nrows, **shape)
    ys = [quantities.of(row, y) for row in shown]
    xs = [place(row) for row in shown] if numeric else []
    if numeric and kind is None and len(set(xs)) == 1:
        raise table.TableError(f"{path}: one {x} alone is no line; for points: --kind points")
    log_x, log_y = log_axes(log, xs, ys)
    has_least = False
    for axes, (cells, found) in zip(grid.flat, panels.items()):
        for (of_hue, measured, model), line in layout.series(found).items():
            colour, mark = colours[of_hue]
            style = styles.get(model, "-")
            stack = figure.stacked(hues.index(of_hue), len(hues)) if joined else {}
            line = list(medians(line, layout, place))
            plot(axes, line, measured, colour, mark, style, joined, stack, steps)
        has_least |= compulsory_lines(axes, found, layout, place, colours)
        if curve:
            spread = [min(xs) * (max(xs) / min(xs)) ** (i / 99) for i in range(100)]
            axes.plot(spread, [curve[1](at) for at in spread], **figure.REFERENCE)
        if layout.facet:
            cells = cells if isinstance(cells, tuple) else (cells,)
            axes.set_title(", ".join(map(words.value, layout.facet, cells)) or "none", loc="left")
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    figure.axis(grid.flat[0].yaxis, log_y)
    for axes in grid.flat[: len(panels)]:
        x_axis(axes, x, xs, names, log_x)
    for axes, found in zip(grid.flat, panels.values()):
        if x in ("seq_q", "seq_kv"):
            lines_of_l2(axes, found)
        for (at, _), look in zip(marks, MARKED):
            axes.axvline(at, **look)
    for axes in grid.flat[max(len(panels) - ncols, 0) : len(panels)]:
        axes.set_xlabel(words.label(x))
        axes.tick_params(labelbottom=True)
    for axes in grid[:, 0]:
        axes.set_ylabel(textwrap.fill(words.label(y), LABEL_WIDTH))
    curves = [("compulsory", dict(color="black", linewidth=0.8))] if has_least else []
    curves += [(curve[0], figure.REFERENCE)] if curve else []
    curves += [(text, look) for (_, text), look in zip(marks, MARKED)]
    if found := list(handles(layout, colours, styles, shown, joined, curves, steps)):
        figure.legend(grid[0][-1], found)
    figure.caption(fig, points.caption(shown))
    return fig


def can_draw(path, x, y):
    """Whether some series has two places or more, and there are not too many."""
    rows = [row for row in table.read(path) if row.get(y)]
    if not rows:
        return False
    layout = Layout(rows, x, y, None, None)
    series = layout.series(rows)
    hues = {key[0] for key in series}
    return len(hues) <= MOST_SERIES and any(
        len(table.values(found, x)) > 1 for found in series.values()
    )


def x_axis(axes, x, xs, names, log_x):
    if names:
        texts = [words.value(x, name) or "none" for name in names]
        axes.set_xticks(range(len(names)), texts, rotation=90 if len(names) > 4 else 0)
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.grid(axis="x", visible=False)
    elif log_x and figure.are_doublings(xs):
        tokens = x in words.TOKENS
        ticks = sorted(set(figure.powers_within(xs)))
        ticks = ticks[:: -(-len(ticks) // MOST_TICKS)]
        plain = words.size if x.endswith("_bytes") else "{:g}".format
        texts = [measures.short(tick) if tokens else plain(tick) for tick in ticks]
        figure.doubling(axes, ticks, texts)
    else:
        figure.axis(axes.xaxis, log_x)
        if x in words.TOKENS:
            axes.xaxis.set_major_formatter(lambda tick, _: measures.short(round(tick)))
        elif x.endswith("_bytes"):
            axes.xaxis.set_major_formatter(lambda tick, _: words.size(tick))
