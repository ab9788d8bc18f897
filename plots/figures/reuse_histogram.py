"""Reuse distances of all L2 accesses, scan by scan: how much data lies between two uses."""

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table

MEGA = 1e6
MIB = 1 << 20
LINE_BYTES = 128
BIN_MIB = 1
GB10_L2_MIB = 24  # experiments/profiles/gpus/gb10.ini


def binned(rows):
    """Million sectors by MiB of reuse distance, cold accesses left out; and the widest distance."""
    sums = {}
    for row in rows:
        if row["distance_lines"] == "":
            continue
        place = table.integer(row, "distance_lines") * LINE_BYTES // (BIN_MIB * MIB)
        sums[place] = sums.get(place, 0) + table.integer(row, "sectors") / MEGA
    return sums


def draw(path, l2_mib=GB10_L2_MIB):
    rows = table.read(path, ("scan", "distance_lines", "sectors"))
    scans = {scan: binned(table.where(rows, scan=scan)) for scan in table.values(rows, "scan")}
    last = 1 + max(max(sums) for sums in scans.values())
    fig, panels = figure.new_figure(height=0.4 + 1.1 * len(scans), nrows=len(scans), sharex=True,
                                    sharey=True, squeeze=False)
    panels = panels[:, 0]
    for axes, (scan, sums) in zip(panels, scans.items()):
        axes.bar([(place + 0.5) * BIN_MIB for place in sums], list(sums.values()), BIN_MIB,
                 color=figure.look(scan)["color"], edgecolor="white", linewidth=0.2)
        axes.axvline(l2_mib, color="black", linewidth=0.8, linestyle=":")
        far = sum(count for place, count in sums.items() if place * BIN_MIB >= l2_mib)
        axes.text(0.985, 0.95, f"{far:,.1f} M beyond", ha="right", va="top", fontsize=6.5,
                  transform=axes.transAxes)
        axes.set_yscale("log")
        axes.set_ylim(bottom=min(count for sums in scans.values() for count in sums.values()) / 2)
        figure.plain_log(axes.yaxis)
        axes.set_title(scan, loc="left", pad=2)
    panels[0].text(l2_mib, 1.01, "L2 of GB10", transform=panels[0].get_xaxis_transform(),
                   ha="center", fontsize=6)
    panels[-1].set_xlim(-0.5, last * BIN_MIB + 0.5)
    panels[-1].set_xlabel("reuse distance (MiB)")
    fig.supylabel("million sectors a MiB", fontsize=7.5)
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw, [("histogram", "histogram CSV of one problem under several scans")])
