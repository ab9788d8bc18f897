"""Misses at every L2 capacity of LRU, with the capacities of the GPU that the table names: a cyclic scan
falls off a cliff, a reversed one slides down (Escalona, McKellips, Ding, "Symmetric Locality", arXiv
2407.19291). Rows of `--points` with l2 = opt at several capacities are Belady's marks."""

import figure
import points as row_points
import table
import words

MIB = 1 << 20
ROOM = 1.1  # to the right of the last step and of the largest capacity
MOST = 8  # curves
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


def draw(path, points=None):
    curves = list(row_points.by_run(path, points, ("capacity_bytes", "miss_sectors")))
    if len(curves) > MOST:
        raise table.TableError(f"{path}: {len(curves)} points; at most {MOST} curves")
    marked = {at: text for _, rows in curves for at, text in capacities(rows).items()}
    fig, axes = figure.new_figure(figure.COLUMN_INCHES * 1.6, 2.5)
    scans = [rows[0]["scan"] for _, rows in curves]
    last = max([table.integer(rows[-1], "capacity_bytes") for _, rows in curves] + [*marked])
    last = last / MIB * ROOM
    lowest, highest = [], []
    for place, (name, rows) in enumerate(curves):
        rows = table.ascending(rows, "capacity_bytes")
        scan = rows[0]["scan"]
        look = figure.look(scan, marker=None)
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
    low = max(min(lowest), 1)
    axes.set(xlim=(0, last), ylim=(low / 1.5, max(highest) * 1.5))
    figure.axis(axes.yaxis, max(highest) > 20 * low)
    label_capacities(axes, marked, last)
    axes.set(xlabel="L2 capacity (MiB)", ylabel=words.label("misses"))
    place = dict(loc="upper left", bbox_to_anchor=(1.01, 1.02))
    axes.legend(**place)
    return fig
