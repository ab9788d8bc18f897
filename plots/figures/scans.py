"""Misses of every scan policy, without and with a causal mask."""

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table

MEGA = 1e6


def draw(path):
    rows = table.read(path, ("mask", "scan", "cold_read_sectors", "l2_write_sectors",
                             *table.MISSES))
    masks = table.values(rows, "mask")
    scans = table.values(rows, "scan")
    fig, panels = figure.new_figure(width=figure.PAGE_INCHES, height=1.9, ncols=len(masks),
                                    sharey=True, squeeze=False)
    for axes, mask in zip(panels[0], masks):
        for place, scan in enumerate(scans):
            count = table.misses(table.only(rows, mask=mask, scan=scan)) / MEGA
            axes.barh(place, count, 0.7, color=figure.look(scan)["color"])
            axes.text(count, place, f" {count:,.0f}", va="center", fontsize=6.5)
        row = table.where(rows, mask=mask)[0]
        cold = table.integer(row, "cold_read_sectors") + table.integer(row, "l2_write_sectors")
        axes.axvline(cold / MEGA, color="black", linewidth=0.8)
        axes.text(cold / MEGA, 1.01, "compulsory", transform=axes.get_xaxis_transform(),
                  ha="center", fontsize=6)
        axes.set_xscale("log")
        axes.set_xlim(cold / MEGA / 2, axes.get_xlim()[1] * 3)
        figure.plain_log(axes.xaxis)
        axes.grid(axis="y", visible=False)
        axes.set_title("no mask" if mask == "none" else mask)
        axes.set_xlabel("L2 misses (million sectors)")
    panels[0][0].set_yticks(range(len(scans)), scans)
    panels[0][0].invert_yaxis()
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw, [("results", "results CSV of a sweep over mask and scan")])
