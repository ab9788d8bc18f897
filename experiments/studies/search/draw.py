"""Predicted time and DRAM reads of the best named and of the best found schedule, over the usual one's,
and what no schedule can beat, a row a shape."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "plots" / "lib"))
import figure  # noqa: E402  (the path above leads to it)
import table  # noqa: E402

ROW_INCHES = 0.17
LOOKS = {
    "named": dict(label="best named", color=figure.BLUE, marker="s", linestyle=""),
    "found": dict(label="best found", color=figure.RED, marker="x", linestyle=""),
}
BOUND = dict(label="no schedule below", color=figure.BLACK, marker="|", linestyle="", markersize=7)


def panel(axes, rows, what, bound):
    for place, row in enumerate(rows):
        usual = table.number(row, f"usual_{what}")
        for which, look in LOOKS.items():
            axes.plot(table.number(row, f"{which}_{what}") / usual, place, **look)
        axes.plot(table.number(row, bound) / usual, place, **BOUND)
    axes.axvline(1, color="black", linewidth=0.8)


def draw(path):
    rows = table.read(path)
    fig, (left, right) = figure.new_figure(
        figure.PAGE_INCHES, 0.9 + ROW_INCHES * len(rows), ncols=2, sharey=True
    )
    panel(left, rows, "time_us", "time_bound_us")
    panel(right, rows, "dram_read_sectors", "dram_bound_sectors")
    left.set_yticks(
        range(len(rows)), [f"{row['gpu']}: {row['shape']}" for row in rows], fontsize=5.5
    )
    left.set_ylim(len(rows) - 0.5, -0.5)
    left.set_xlabel("time, predicted (x usual)")
    right.set_xlabel("DRAM reads, predicted (x usual)")
    right.set_xscale("log")
    figure.plain_log(right.xaxis)
    handles, labels = left.get_legend_handles_labels()
    unique = dict(zip(labels, handles))
    left.legend(unique.values(), unique.keys(), loc="upper left")
    return fig


if __name__ == "__main__":
    figure.refused(lambda: figure.save(draw(sys.argv[1]), sys.argv[2]))
