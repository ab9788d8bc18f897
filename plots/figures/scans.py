"""Misses of every scan policy, without and with a causal mask."""

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table

MEGA = 1e6


def panel(axes, rows, mask):
    for place, row in enumerate(rows):
        count = table.misses(row) / MEGA
        axes.barh(place, count, 0.7, color=figure.look(row["scan"])["color"])
        axes.text(count, place, f" {count:,.0f}", va="center", fontsize=6.5)
    cold = table.compulsory(rows[0]) / MEGA
    axes.axvline(cold, color="black", linewidth=0.8)
    top = axes.get_xaxis_transform()
    axes.text(cold, 1.01, "compulsory", transform=top, ha="center", fontsize=6)
    axes.set_xscale("log")
    axes.set_xlim(cold / 2, axes.get_xlim()[1] * 3)
    figure.plain_log(axes.xaxis)
    axes.grid(axis="y", visible=False)
    axes.set_title("no mask" if mask == "none" else mask)
    axes.set_xlabel("L2 misses (million sectors)")


def draw(path):
    rows = table.read(path)
    masks, scans = table.values(rows, "mask"), table.values(rows, "scan")
    shape = dict(ncols=len(masks), sharey=True, squeeze=False)
    fig, panels = figure.new_figure(figure.PAGE_INCHES, 1.9, **shape)
    for axes, mask in zip(panels[0], masks):
        panel(axes, [table.only(rows, mask=mask, scan=scan) for scan in scans], mask)
    panels[0][0].set_yticks(range(len(scans)), scans)
    panels[0][0].invert_yaxis()
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw, [("results", "results CSV of a sweep over mask and scan")])
