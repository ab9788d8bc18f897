"""Misses at every L2 capacity of LRU, with the capacities of the GPU that the table names: a cyclic scan
falls off a cliff, a reversed one slides down (Escalona, McKellips, Ding, "Symmetric Locality", arXiv
2407.19291). Rows of `--points` with l2 = opt at several capacities are Belady's marks."""

import figure
import points as row_points
import table
import words

MIB = 1 << 20
ROOM = 1.1  # to the right of the last step and of the largest capacity
MOST = 8  # curves of a panel
MOST_PANELS = 12
NARROW = 0.12  # of the axis: two capacities nearer than this are labelled on two lines


def belady(path, scan):
    """[(bytes, misses)] of the rows of a results.csv with l2 = opt."""
    rows = [row for row in table.read(path) if row["l2"] == "opt" and row["scan"] == scan]
    others = (
        row_points.varying(rows, ["l2_bytes"], row_points.POINT + row_points.MODEL) if rows else []
    )
    if others:
        raise table.TableError(f"{path}: rows of l2 = opt also differ in {', '.join(others)}")
    return sorted((table.integer(row, "l2_bytes"), table.misses(row)) for row in rows)


def capacities(rows):
    """{bytes: words}, of every GPU and capacity in the rows."""
    return dict(found for row in rows[:1] for found in row_points.capacities(row))


def label_capacities(axes, found, width):
    last = None
    for capacity, text in sorted(found.items()):
        near = last is not None and (capacity - last) / MIB < NARROW * width
        last = capacity
        axes.axvline(capacity / MIB, color=figure.GREY, linewidth=0.8, linestyle=":")
        figure.on_top(axes, capacity / MIB, text + ("\n" if near else ""))


def panels_of(path, points):
    """{what tells a panel from others: [(what tells a curve from others of it, rows)]}: a panel a
    problem, a curve a schedule."""
    curves = list(row_points.by_run(path, points, ("capacity_bytes", "miss_sectors")))
    known = row_points.rows_by_run(path, points)
    apart = row_points.varying(list(known.values()), [], row_points.POINT) if known else []
    problem = [column for column in apart if column not in row_points.SCHEDULE]
    schedule = [column for column in apart if column in row_points.SCHEDULE]
    panels = {}
    for name, rows in curves:
        row = known.get(rows[0].get("run_id"))
        of = words.name(row, problem) if row else ""
        panels.setdefault(of, []).append((row and words.name(row, schedule) or name, rows))
    return panels, list(known.values())


def panel(axes, curves, points, last):
    """Draws the curves of a problem; returns the least and most misses."""
    scans = [rows[0]["scan"] for _, rows in curves]
    lowest, highest = [], []
    for place, (name, rows) in enumerate(curves):
        rows = table.ascending(rows, "capacity_bytes")
        scan = rows[0]["scan"]
        look = figure.look(scan, marker=None) | figure.stacked(place, len(curves))
        if scans.count(scan) > 1:
            look["color"] = figure.SERIES[place % len(figure.SERIES)]
        capacity = [at / MIB for at in table.integers(rows, "capacity_bytes")]
        misses = table.integers(rows, "miss_sectors")
        axes.step([*capacity, last], [*misses, misses[-1]], where="post", label=name, **look)
        # Capacity 0, where every access misses, would hide all else.
        shown = [count for at, count in zip(capacity, misses) if at > 0] or misses
        lowest.append(min(shown))
        highest.append(max(shown))
        found = belady(points, scan) if points and scans.count(scan) == 1 else []
        if found:
            marks = dict(linestyle="none", marker="x", color=look["color"], markersize=4)
            xs, ys = zip(*((at / MIB, count) for at, count in found))
            axes.plot(xs, ys, label=f"{name}, Belady", **marks)
            lowest.append(min(ys))
    axes.axhline(min(lowest), color="black", linewidth=0.8, label="compulsory", zorder=1)
    return max(min(lowest), 1), max(highest)


def draw(path, points=None):
    panels, known = panels_of(path, points)
    if len(panels) > MOST_PANELS or max(map(len, panels.values())) > MOST:
        raise table.TableError(
            f"{path}: {len(panels)} problems of up to {max(map(len, panels.values()))} schedules; at "
            f"most {MOST_PANELS} panels of {MOST} curves"
        )
    marked = {
        at: text
        for of in panels.values()
        for _, rows in of
        for at, text in capacities(rows).items()
    }
    ncols = min(len(panels), 3)
    nrows = -(-len(panels) // ncols)
    width = figure.COLUMN_INCHES * 1.6 if ncols == 1 else figure.PAGE_INCHES
    shape = dict(nrows=nrows, ncols=ncols, squeeze=False, sharex=True, sharey=True)
    fig, grid = figure.new_figure(width, 0.5 + 2 * nrows, **shape)
    ends = [table.integer(rows[-1], "capacity_bytes") for of in panels.values() for _, rows in of]
    last = max([*ends, *marked]) / MIB * ROOM
    limits = []
    for axes, (name, curves) in zip(grid.flat, panels.items()):
        limits.append(panel(axes, curves, points, last))
        axes.set_title(name, loc="left")
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    low, high = min(low for low, _ in limits), max(high for _, high in limits)
    for axes in grid.flat[: len(panels)]:
        axes.set(xlim=(0, last), ylim=(low / 1.5, high * 1.5))
        figure.axis(axes.yaxis, high > 20 * low)
        if len(panels) > 1:  # the title's place is taken
            for capacity in marked:
                axes.axvline(capacity / MIB, color=figure.GREY, linewidth=0.8, linestyle=":")
        else:
            label_capacities(axes, marked, last)
    for axes in grid[-1]:
        axes.set_xlabel("L2 capacity (MiB)")
    for axes in grid[:, 0]:
        axes.set_ylabel("L2 misses (sectors)")
    figure.legend(grid[0][-1])
    texts = " and ".join(f"{text}, {at / MIB:.0f} MiB" for at, text in sorted(marked.items()))
    dotted = f"dotted: {texts}" if texts and len(panels) > 1 else ""
    figure.caption(fig, row_points.caption(known), dotted)
    return fig
