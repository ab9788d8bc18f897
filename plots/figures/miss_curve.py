"""Misses at every L2 capacity, linear and sawtooth: a cyclic scan falls off a cliff, a reversed one
slides down (Escalona, McKellips, Ding, "Symmetric Locality", arXiv 2407.19291)."""

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table

MEGA = 1e6
MIB = 1 << 20
L2_MIB = {"GB10": 24, "H200 half": 30, "A100": 40, "H100": 50}  # experiments/profiles/gpus/
SHOWN_FROM_MIB = 1  # below, even the tiles in flight do not fit


def points(rows, scan):
    rows = table.where(rows, scan=scan)
    rows.sort(key=lambda row: table.integer(row, "capacity_bytes"))
    return ([table.integer(row, "capacity_bytes") / MIB for row in rows],
            [table.integer(row, "miss_sectors") / MEGA for row in rows])


def draw(path):
    rows = table.read(path, ("scan", "capacity_bytes", "miss_sectors"))
    fig, axes = figure.new_figure(height=2.3)
    last, shown = 0, []
    for scan in table.values(rows, "scan"):
        capacities, misses = points(rows, scan)
        style = figure.look(scan)
        axes.step([*capacities, capacities[-1] * 2], [*misses, misses[-1]], where="post", label=scan, color=style["color"],
                  linestyle=style["linestyle"])
        last = max(last, max(capacities))
        shown += [miss for capacity, miss in zip(capacities, misses) if capacity >= SHOWN_FROM_MIB]
    axes.set_yscale("log")
    for name, mib in L2_MIB.items():
        if mib > last * 1.06:
            continue
        axes.axvline(mib, color=figure.GREY, linewidth=0.7, linestyle=":")
        axes.text(mib, 1.01, name, transform=axes.get_xaxis_transform(), ha="center", fontsize=6,
                  color=figure.GREY)
    axes.set_xlim(0, last * 1.06)
    axes.set_ylim(min(shown) / 1.5, max(shown) * 1.5)
    figure.plain_log(axes.yaxis)
    axes.set_xlabel("L2 capacity (MiB)")
    axes.set_ylabel("L2 misses (million sectors)")
    axes.legend(loc="lower left")
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw, [("miss_curve", "miss curve CSV of one problem under several scans")])
