"""Predicted: DRAM reads and time of decode without packing over packed, against the bytes of K and V."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE))
sys.path.append(str(HERE.parents[2] / "plots" / "lib"))
import figure  # noqa: E402  (the paths above lead to them)
import finding  # noqa: E402
import table  # noqa: E402

PANELS = (
    ("lockstep", "dram_read_sectors", "DRAM reads"),
    ("timed", "dram_read_sectors", "DRAM reads, timed"),
    ("timed", "time_us", "time"),
)
LOOKS = {
    ("16", "batch-major"): dict(color=figure.BLUE, linestyle="-", marker="o"),
    ("16", "head-major"): dict(color=figure.SKY, linestyle="--", marker="s"),
    ("128", "batch-major"): dict(color=figure.ORANGE, linestyle="-", marker="v"),
    ("128", "head-major"): dict(color=figure.RED, linestyle="--", marker="D"),
}


def panel(axes, rows, timing, column, title):
    for (batch, order), look in LOOKS.items():
        of_batch = table.where(rows, timing=timing, batch=batch, head_order=order)
        gains = [
            finding.gain([row for row in of_batch if finding.kv_mib(row) == mib], column)
            for mib in finding.MIB
        ]
        axes.plot(finding.MIB, gains, label=f"{batch} sequences, {order}", **look)
    figure.doubling(axes, finding.MIB, [str(mib) for mib in finding.MIB])
    figure.axis(axes.yaxis, False)
    axes.set_title(f"{title}, predicted", loc="left", pad=2)
    axes.set_xlabel("K and V (MiB)")


def draw(path):
    rows = table.read(path)
    fig, grid = figure.new_figure(figure.PAGE_INCHES, 2.1, ncols=3)
    for axes, (timing, column, title) in zip(grid, PANELS):
        panel(axes, rows, timing, column, title)
    grid[0].set_ylabel("without packing / packed")
    grid[2].legend(loc="lower right")
    return fig


if __name__ == "__main__":
    table_of_rows, stem = sys.argv[1:]
    figure.save(figure.refused(lambda: draw(table_of_rows)), stem, ("png",))
