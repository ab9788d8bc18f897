"""The wavefront made visible: which K/V tile each CTA visits at each step."""

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import numpy
import table

COLUMNS = 2  # panels side by side when there are more than two
PANEL_INCHES = 1.25


def grid(rows):
    """K/V tile by (worker, step); not-a-number where a worker has nothing to do."""
    workers, steps, visited = (table.integers(rows, c) for c in ("worker", "step", "kv_tile"))
    tiles = numpy.full([1 + max(workers), 1 + max(steps)], numpy.nan)
    tiles[workers, steps] = visited
    return tiles


def grids_of(wave):
    """(title, grid) of every point of [NAME=]PATH."""
    name, _, path = wave.rpartition("=")
    rows = table.read(path)
    points = {}
    for row in rows:
        points.setdefault((row["scan"], row.get("run_id", "")), []).append(row)
    for number, ((scan, _), found) in enumerate(points.items()):
        twice = sum(other == scan for other, _ in points) > 1
        title = f"{scan}, point {number + 1}" if twice else scan
        yield f"{name}, {title}" if name else title, grid(found)


def draw(waves):
    grids = [found for wave in waves for found in grids_of(wave)]
    columns = 1 if len(grids) <= COLUMNS else COLUMNS
    rows = -(-len(grids) // columns)
    width = figure.COLUMN_INCHES if columns == 1 else figure.PAGE_INCHES
    shape = dict(nrows=rows, ncols=columns, squeeze=False)
    fig, panels = figure.new_figure(width, 0.35 + PANEL_INCHES * rows, **shape)
    last_tile = max(numpy.nanmax(tiles) for _, tiles in grids)
    look = dict(aspect="auto", interpolation="nearest", origin="lower", cmap="cividis")
    for axes, (name, tiles) in zip(panels.T.flat, grids):
        picture = axes.imshow(tiles, vmin=0, vmax=last_tile, **look)
        axes.grid(visible=False)
        axes.set_title(name, loc="left", pad=2)
    for axes in panels[:, 0]:
        axes.set_ylabel("CTA")
    for axes in panels[-1]:
        axes.set_xlabel("step (one K/V tile)")
    bar = fig.colorbar(picture, ax=list(panels.flat), fraction=0.04, pad=0.02)
    bar.set_label("K/V tile visited")
    bar.outline.set_linewidth(0.4)
    return fig


if __name__ == "__main__":
    title = "[NAME=]CSV of `simulate --wavefront`, one panel a point"
    figure.run(__doc__, draw, [("waves+", title)])
