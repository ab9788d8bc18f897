"""The second pass of calibration streams: DRAM share against the size of the buffer.

One panel a map (same: each line from the same SM, all: every SM reads every line), linear and
reversed second passes, over all repetitions. A second table of the same columns, when given, is
drawn as a line: a model, or another die.
"""

import os
import statistics

import figure
import table

SECTORS_PER_MIB = 2**20 / 32
PANELS = {"same": "each line from the same SM", "all": "every SM reads every line"}
PATTERNS = {"linear": "linear again", "sawtooth": "reversed"}


def shares(rows, stream_map, pattern):
    """{MiB: [DRAM sectors / sectors of the buffer]} of the second passes."""
    found = {}
    for row in table.where(rows, kind="ld", map=stream_map, pattern=pattern, range="p2"):
        if row["dram_read"]:
            size = table.number(row, "n_mib")
            share = table.number(row, "dram_read") / (size * SECTORS_PER_MIB)
            found.setdefault(size, []).append(share)
    return dict(sorted(found.items()))


def draw(paths):
    measured = table.read(paths[0])
    model = table.read(paths[1]) if len(paths) > 1 else []
    fig, panels = figure.new_figure(figure.PAGE_INCHES, ncols=2, sharey=True)
    for axes, (stream_map, title) in zip(panels, PANELS.items()):
        for pattern, label in PATTERNS.items():
            points = shares(measured, stream_map, pattern)
            if not points:
                raise table.TableError(f"{paths[0]}: no {stream_map} {pattern} second passes")
            marks = [(size, share) for size, found in points.items() for share in sorted(found)]
            axes.plot(*zip(*marks), label=label, **figure.look(pattern, linestyle="none"))
            over = shares(model, stream_map, pattern)
            line = {size: statistics.fmean(found) for size, found in (over or points).items()}
            label = f"{label}, {os.path.basename(paths[1])}" if over else None
            axes.plot(*zip(*line.items()), label=label, **figure.look(pattern, marker=None))
        axes.set(title=title, xlabel="buffer (MiB)", ylim=(-0.03, 1.05))
    panels[0].set_ylabel("DRAM share of the second pass")
    figure.legend(panels[-1])
    return fig
