"""Reuse distances of all L2 accesses, point by point: how much data lies between two uses."""

import figure
import points as row_points
import table

MIB = 1 << 20
LINES_PER_MIB = MIB // 128
MOST = 8  # panels


def binned(rows):
    """Sectors by MiB of reuse distance, cold accesses left out."""
    sums = {}
    for row in rows:
        if row["distance_lines"] != "":
            place = table.integer(row, "distance_lines") // LINES_PER_MIB
            sums[place] = sums.get(place, 0) + table.integer(row, "sectors")
    return sums


def panel(axes, name, sums, capacities):
    """Stems from the bottom: a bar's length means nothing on a logarithmic axis."""
    colour = figure.SCAN_LOOK.get(name, (figure.BLUE,))[0]
    centres = [place + 0.5 for place in sums]
    axes.plot(centres, list(sums.values()), "o", color=colour, markersize=2.5)
    axes.vlines(centres, 1e-9, list(sums.values()), color=colour, linewidth=0.8)
    for capacity, _ in capacities:
        axes.axvline(capacity / MIB, color=figure.GREY, linewidth=0.8, linestyle=":")
    if capacities:
        far = sum(count for place, count in sums.items() if place * MIB >= capacities[-1][0])
        box = dict(facecolor="white", edgecolor="none", pad=1)
        place = dict(ha="right", va="top", fontsize=6.5, transform=axes.transAxes, bbox=box)
        axes.text(0.985, 0.95, f"{figure.scaled(far)} sectors beyond L2", **place)
    axes.set_title(name, loc="left", pad=2)


def draw(path, points=None):
    found = list(row_points.by_run(path, points, ("distance_lines", "sectors")))
    if len(found) > MOST:
        raise table.TableError(f"{path}: {len(found)} points; at most {MOST}")
    sums = [(name, binned(rows), row_points.capacities(rows[0])) for name, rows in found]
    sums = [entry for entry in sums if entry[1]]
    if not sums:
        raise table.TableError(f"{path}: no access is a reuse")
    shape = dict(nrows=len(sums), sharex=True, sharey=True, squeeze=False)
    fig, panels = figure.new_figure(height=0.5 + 1.1 * len(sums), **shape)
    panels = panels[:, 0]
    for axes, entry in zip(panels, sums):
        panel(axes, *entry)
    counts = [count for _, of_point, _ in sums for count in of_point.values()]
    panels[0].set_yscale("log")
    panels[0].set_ylim(min(counts) / 2, max(counts) * 2)
    for axes in panels:
        figure.plain_log(axes.yaxis)
    ends = [max(of_point) for _, of_point, _ in sums]
    ends += [capacity / MIB for _, _, found in sums for capacity, _ in found]
    panels[-1].set_xlim(-0.5, max(ends) * 1.05 + 1.5)
    for capacity, text in sums[0][2]:
        figure.on_top(panels[0], capacity / MIB, text)
    panels[-1].set_xlabel("reuse distance (MiB)")
    figure.caption(fig, row_points.caption(list(row_points.rows_by_run(path, points).values())))
    fig.supylabel("sectors a MiB of distance", fontsize=7.5)
    return fig
