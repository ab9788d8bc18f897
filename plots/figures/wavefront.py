"""The wavefront made visible: which K/V tile each CTA visits at each step."""

import figure
import numpy
import points as row_points
import table

COLUMNS = 2  # panels side by side when there are more than two
PANEL_INCHES = 1.25
MOST = 16  # panels


def grid(rows):
    """K/V tile by (worker, step); not-a-number where a worker has nothing to do."""
    (workers, steps, visited), shape = table.wavefront(rows)
    tiles = numpy.full(shape, numpy.nan)
    tiles[workers, steps] = visited
    return tiles


def grids_of(wave, points):
    """(title, grid) of every point of [NAME=]PATH."""
    name, _, path = wave.rpartition("=")
    needed = ("worker", "step", "kv_tile")
    for title, found in row_points.by_run(path, points, needed):
        yield f"{name}, {title}" if name else title, grid(found)


def draw(waves, points=None):
    grids = [found for wave in waves for found in grids_of(wave, points)]
    if len(grids) > MOST:
        raise table.TableError(f"{waves[0]}: {len(grids)} points; at most {MOST} panels")
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
    paths = [wave.rpartition("=")[2] for wave in waves]
    known = [row for path in paths for row in row_points.rows_by_run(path, points).values()]
    figure.caption(fig, row_points.caption(known))
    return fig
