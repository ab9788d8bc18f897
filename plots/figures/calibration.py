"""The second pass of calibration streams: DRAM share against the size of the buffer.

One panel a map (same: each line from the same SM, all: every SM reads every line), linear and
reversed second passes, over all repetitions. A second table of the same columns, when given, is
drawn as a line: a model, or another die.
"""

import os

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table

COLUMNS = ["kind", "n_mib", "pattern", "map", "range", "dram_read"]
SECTORS_PER_MIB = 2**20 / 32
PANELS = (("same", "each line from the same SM"), ("all", "every SM reads every line"))


def shares(rows, stream_map, pattern):
    """(MiB, DRAM sectors / sectors of the buffer) of every second pass."""
    found = table.where(rows, kind="ld", map=stream_map, pattern=pattern, range="p2")
    found = [row for row in found if row["dram_read"]]
    return sorted(
        (
            table.number(row, "n_mib"),
            table.number(row, "dram_read") / (table.number(row, "n_mib") * SECTORS_PER_MIB),
        )
        for row in found
    )


def curve(points):
    """Means by size."""
    by_size = {}
    for size, share in points:
        by_size.setdefault(size, []).append(share)
    return zip(*((size, sum(values) / len(values)) for size, values in sorted(by_size.items())))


def draw(paths):
    measured = table.read(paths[0], COLUMNS)
    model = table.read(paths[1], COLUMNS) if len(paths) > 1 else []
    fig, axes = figure.new_figure(width=figure.PAGE_INCHES, ncols=2, sharey=True)
    for axis, (stream_map, title) in zip(axes, PANELS):
        for pattern in ("linear", "sawtooth"):
            points = shares(measured, stream_map, pattern)
            if not points:
                raise table.TableError(f"{paths[0]}: no {stream_map} {pattern} second passes")
            look = figure.look(pattern)
            label = {"linear": "linear again", "sawtooth": "reversed"}[pattern]
            axis.plot(*zip(*points), **{**look, "linestyle": "none"}, label=label)
            over = shares(model, stream_map, pattern)
            if over:
                axis.plot(*curve(over), color=look["color"], linestyle=look["linestyle"],
                          label=f"{label}, {os.path.basename(paths[1])}")
            else:
                axis.plot(*curve(points), color=look["color"], linestyle=look["linestyle"])
        axis.set_title(title)
        axis.set_xlabel("buffer (MiB)")
        axis.set_ylim(-0.03, 1.05)
    axes[0].set_ylabel("DRAM share of the second pass")
    axes[-1].legend(loc="lower right")
    return fig


if __name__ == "__main__":
    figure.run(
        __doc__,
        draw,
        [("tables+", "stream_counters.csv of `sawtooth calibrate`, then optionally one more")],
    )
