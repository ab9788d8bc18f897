"""Reuse distances of all L2 accesses, scan by scan: how much data lies between two uses."""

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table

MEGA = 1e6
LINES_PER_MIB = (1 << 20) // 128
GB10_L2_MIB = 24  # experiments/profiles/gpus/gb10.ini


def binned(rows):
    """Million sectors by MiB of reuse distance, cold accesses left out."""
    sums = {}
    for row in rows:
        if row["distance_lines"] != "":
            place = table.integer(row, "distance_lines") // LINES_PER_MIB
            sums[place] = sums.get(place, 0) + table.integer(row, "sectors") / MEGA
    return sums


def panel(axes, scan, sums, l2_mib):
    centres, colour = [place + 0.5 for place in sums], figure.look(scan)["color"]
    axes.bar(centres, list(sums.values()), 1, color=colour, edgecolor="white", linewidth=0.2)
    axes.axvline(l2_mib, color="black", linewidth=0.8, linestyle=":")
    far = sum(count for place, count in sums.items() if place >= l2_mib)
    place = dict(ha="right", va="top", fontsize=6.5, transform=axes.transAxes)
    axes.text(0.985, 0.95, f"{far:,.1f} M beyond", **place)
    axes.set_yscale("log")
    axes.set_title(scan, loc="left", pad=2)


def draw(path, l2_mib=GB10_L2_MIB):
    scans = {scan: binned(rows) for scan, rows in table.grouped(table.read(path), "scan").items()}
    shape = dict(nrows=len(scans), sharex=True, sharey=True, squeeze=False)
    fig, panels = figure.new_figure(height=0.4 + 1.1 * len(scans), **shape)
    panels = panels[:, 0]
    for axes, (scan, sums) in zip(panels, scans.items()):
        panel(axes, scan, sums, l2_mib)
    panels[0].set_ylim(bottom=min(min(sums.values()) for sums in scans.values()) / 2)
    for axes in panels:
        figure.plain_log(axes.yaxis)
    top = panels[0].get_xaxis_transform()
    panels[0].text(l2_mib, 1.01, "L2 of GB10", transform=top, ha="center", fontsize=6)
    panels[-1].set_xlim(-0.5, max(max(sums) for sums in scans.values()) + 1.5)
    panels[-1].set_xlabel("reuse distance (MiB)")
    fig.supylabel("million sectors a MiB", fontsize=7.5)
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw, [("histogram", "histogram CSV of one problem under several scans")])
