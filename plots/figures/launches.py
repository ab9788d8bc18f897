"""Linear against sawtooth by launch, timing and Q order: how many misses there are, and the share
that sawtooth removes beside the one that the paper prints."""

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table

PAPER = {"none": (370 - 120) / 370, "causal": 0.67}  # arXiv 2601.16032, share of misses removed
LAUNCHES = ("grid", "static", "dynamic")
TIMINGS = ("lockstep", "lockstep-wave")
GROUPS = [(launch, timing) for timing in TIMINGS for launch in LAUNCHES]
ORDERS = {"ascending": (figure.SKY, "", "-"), "descending": (figure.BLUE, "////", ":")}
BAR = 0.38
MEGA = 1e6
LEGEND_ROOM = 0.15  # of the upper panel's height


def misses(rows, scan, order):
    """Million sectors of every group."""
    rows = table.where(rows, scan=scan, q_order=order)
    found = [table.only(rows, launch=launch, timing=timing) for launch, timing in GROUPS]
    return [table.misses(row) / MEGA for row in found]


def bars(levels, savings, rows, number, order):
    colour, hatch, style = ORDERS[order]
    at = [group + (number - 0.5) * BAR for group in range(len(GROUPS))]
    linear, sawtooth = misses(rows, "linear", order), misses(rows, "sawtooth", order)
    for x, high, low in zip(at, linear, sawtooth):
        line = dict(color=figure.GREY, linewidth=0.8, linestyle=style, zorder=1)
        levels.plot([x, x], [high, low], **line)
    for scan, counts in (("linear", linear), ("sawtooth", sawtooth)):
        label = None if number else scan
        levels.plot(at, counts, label=label, **figure.look(scan, linestyle=""))
    shares = [100 * (1 - low / high) for high, low in zip(linear, sawtooth)]
    look = dict(color=colour, hatch=hatch, edgecolor="white", linewidth=0.4)
    savings.bar(at, shares, BAR, label=f"{order} Q", **look)
    for x, share in zip(at, shares):
        savings.text(x, share + 1, f"{share:.0f}", ha="center", fontsize=6)


def draw(path):
    rows = table.read(path)
    shape = dict(nrows=2, sharex=True, height_ratios=(1, 1.1))
    fig, (levels, savings) = figure.new_figure(height=3.6, **shape)
    for number, order in enumerate(ORDERS):
        bars(levels, savings, rows, number, order)
    if (mask := rows[0]["mask"]) in PAPER:
        line = dict(color=figure.RED, linewidth=0.9, linestyle="--", label="paper")
        savings.axhline(100 * PAPER[mask], **line)
    levels.set_yscale("log")
    low, high = levels.get_ylim()
    levels.set_ylim(low, high * (high / low) ** LEGEND_ROOM)
    figure.plain_log(levels.yaxis)
    levels.set_ylabel("misses (million sectors)")
    place = dict(loc="upper right", bbox_to_anchor=(1, 1.08))
    levels.legend(ncols=2, columnspacing=1, handletextpad=0.2, **place)
    savings.set_xticks(range(len(GROUPS)), [launch for launch, _ in GROUPS])
    below = dict(ha="center", va="top", fontsize=7, transform=savings.get_xaxis_transform())
    for number, timing in enumerate(TIMINGS):
        savings.text(number * 3 + 1, -0.15, timing, **below)
    for axes in (levels, savings):
        axes.axvline(2.5, ymax=0.88, color=figure.GREY, linewidth=0.6)
        axes.grid(axis="x", visible=False)
    labels = dict(ylabel="removed by sawtooth (%)", xlabel=" ")
    savings.set(ylim=(0, 115), yticks=range(0, 101, 20), **labels)
    place = dict(loc="upper center", bbox_to_anchor=(0.5, 1.07))
    savings.legend(ncols=3, columnspacing=1, handlelength=1.5, **place)
    return fig


if __name__ == "__main__":
    title = "results CSV of a sweep over launch, timing, q-order and scan"
    figure.run(__doc__, draw, [("results", title)])
