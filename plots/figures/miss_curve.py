"""Misses at every L2 capacity, linear and sawtooth: a cyclic scan falls off a cliff, a reversed one
slides down (Escalona, McKellips, Ding, "Symmetric Locality", arXiv 2407.19291)."""

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table

MEGA = 1e6
MIB = 1 << 20
L2_MIB = {"GB10": 24, "H200 half": 30, "A100": 40, "H100": 50}  # experiments/profiles/gpus/
SHOWN_FROM_MIB = 1  # below, even the tiles in flight do not fit
ROOM = 1.06  # to the right of the last step


def draw(path):
    rows = table.ascending(table.read(path), "capacity_bytes")
    fig, axes = figure.new_figure(height=2.3)
    for scan, line in table.grouped(rows, "scan").items():
        capacities = [capacity / MIB for capacity in table.integers(line, "capacity_bytes")]
        misses = [sectors / MEGA for sectors in table.integers(line, "miss_sectors")]
        steps = [*capacities, capacities[-1] * 2], [*misses, misses[-1]]
        axes.step(*steps, where="post", label=scan, **figure.look(scan, marker=None))
    last = table.integer(rows[-1], "capacity_bytes") / MIB * ROOM
    shown = [row for row in rows if table.integer(row, "capacity_bytes") >= SHOWN_FROM_MIB * MIB]
    ends = [sectors / MEGA for sectors in table.integers(shown, "miss_sectors")]
    top = dict(transform=axes.get_xaxis_transform(), ha="center", fontsize=6, color=figure.GREY)
    for name, mib in L2_MIB.items():
        if mib <= last:
            axes.axvline(mib, color=figure.GREY, linewidth=0.7, linestyle=":")
            axes.text(mib, 1.01, name, **top)
    axes.set(yscale="log", xlim=(0, last), ylim=(min(ends) / 1.5, max(ends) * 1.5))
    figure.plain_log(axes.yaxis)
    axes.set(xlabel="L2 capacity (MiB)", ylabel="L2 misses (million sectors)")
    axes.legend(loc="lower left")
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw, [("miss_curve", "miss curve CSV of one problem under several scans")])
