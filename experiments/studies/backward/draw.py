"""Predicted: DRAM traffic of a backward pass over its compulsory reads, against the length, by scan."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "plots" / "lib"))
import figure  # noqa: E402  (the path above leads to it)
import table  # noqa: E402

SCANS = ("linear", "sawtooth", "shift")
PANELS = (("1", "none"), ("1", "causal"), ("16", "none"), ("16", "causal"))


def moved(row):
    reads, writes = table.integers([row], "dram_read_sectors"), [
        table.integer(row, "dram_write_sectors")
    ]
    return (reads[0] + writes[0]) / table.integer(row, "cold_read_sectors")


def panel(axes, rows, heads, mask):
    for scan in SCANS:
        chosen = table.ascending(
            table.where(
                rows,
                heads=heads,
                mask=mask,
                scan=scan,
                q_order="ascending",
                section="1",
                dq="atomic",
            ),
            "seq_kv",
        )
        lengths = table.integers(chosen, "seq_kv")
        axes.plot(lengths, [moved(row) for row in chosen], label=scan, **figure.look(scan))
    figure.doubling(axes, lengths)
    figure.axis(axes.yaxis, True)
    axes.set_title(
        f"{heads} head{'s' if heads != '1' else ''}, {mask}, predicted", loc="left", pad=2
    )


def draw(path):
    rows = table.read(path)
    fig, grid = figure.new_figure(figure.PAGE_INCHES, 3.6, nrows=2, ncols=2)
    for axes, (heads, mask) in zip(grid.flat, PANELS):
        panel(axes, rows, heads, mask)
    for axes in grid[:, 0]:
        axes.set_ylabel("DRAM sectors (x compulsory)")
    for axes in grid[-1]:
        axes.set_xlabel("sequence length")
    grid.flat[0].legend()
    return fig


if __name__ == "__main__":
    table_of_rows, stem = sys.argv[1:]
    figure.save(figure.refused(lambda: draw(table_of_rows)), stem, ("png",))
