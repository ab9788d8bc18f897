"""The wavefront made visible: which K/V tile each CTA visits at each step."""

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import numpy
import table

COLUMNS = 2  # panels side by side when there are more than two
PANEL_INCHES = 1.25


def grid(rows):
    """K/V tile by (worker, step); not-a-number where a worker has nothing to do."""
    cells = [tuple(table.integer(row, name) for name in ("worker", "step", "kv_tile"))
             for row in rows]
    tiles = numpy.full([1 + max(cell[axis] for cell in cells) for axis in (0, 1)], numpy.nan)
    for worker, step, tile in cells:
        tiles[worker, step] = tile
    return tiles


def draw(waves):
    grids = []
    for name, _, path in [wave.rpartition("=") for wave in waves]:
        rows = table.read(path, ("scan", "step", "worker", "kv_tile"))
        points = list(dict.fromkeys((row["scan"], row.get("run_id", "")) for row in rows))
        for number, (scan, run) in enumerate(points):
            twice = sum(other == scan for other, _ in points) > 1
            title = f"{scan}, point {number + 1}" if twice else scan
            found = [row for row in rows if (row["scan"], row.get("run_id", "")) == (scan, run)]
            grids.append((f"{name}, {title}" if name else title, grid(found)))
    columns = 1 if len(grids) <= COLUMNS else COLUMNS
    rows = -(-len(grids) // columns)
    width = figure.COLUMN_INCHES if columns == 1 else figure.PAGE_INCHES
    fig, panels = figure.new_figure(width, 0.35 + PANEL_INCHES * rows, nrows=rows, ncols=columns,
                                    squeeze=False)
    last_tile = max(numpy.nanmax(tiles) for _, tiles in grids)
    for axes, (name, tiles) in zip(panels.T.flat, grids):
        picture = axes.imshow(tiles, aspect="auto", interpolation="nearest", origin="lower",
                              cmap="cividis", vmin=0, vmax=last_tile)
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
    figure.run(__doc__, draw, [("waves+", "[NAME=]CSV of `simulate --wavefront`, one panel a point")])
