"""Linear against sawtooth by launch, timing and Q order: how many misses there are, and the share
that sawtooth removes beside the one that the paper prints."""

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table

PAPER = {"none": (370 - 120) / 370, "causal": 0.67}  # arXiv 2601.16032, share of misses removed
LAUNCHES = ("grid", "static", "dynamic")
TIMINGS = ("lockstep", "lockstep-wave")
ORDERS = {"ascending": ("#56B4E9", ""), "descending": ("#0072B2", "////")}
BAR = 0.38
MEGA = 1e6
LEGEND_ROOM = 0.15  # of the upper panel's height


def misses(rows, scan, launch, timing, order):
    return table.misses(table.only(rows, scan=scan, launch=launch, timing=timing, q_order=order))


def draw(path):
    rows = table.read(path, ("mask", "launch", "timing", "q_order", "scan", *table.MISSES))
    fig, (levels, savings) = figure.new_figure(height=3.6, nrows=2, sharex=True,
                                               height_ratios=(1, 1.1))
    groups = [(launch, timing) for timing in TIMINGS for launch in LAUNCHES]
    for number, (order, (colour, hatch)) in enumerate(ORDERS.items()):
        at = [group + (number - 0.5) * BAR for group in range(len(groups))]
        linear = [misses(rows, "linear", *group, order) for group in groups]
        sawtooth = [misses(rows, "sawtooth", *group, order) for group in groups]
        for x, high, low in zip(at, linear, sawtooth):
            levels.plot([x, x], [high / MEGA, low / MEGA], color=figure.GREY, linewidth=0.8,
                        linestyle="-" if order == "ascending" else ":", zorder=1)
        for scan, counts in (("linear", linear), ("sawtooth", sawtooth)):
            levels.plot(at, [count / MEGA for count in counts],
                        **{**figure.look(scan), "linestyle": ""},
                        label=scan if number == 0 else None)
        shares = [100 * (1 - low / high) for high, low in zip(linear, sawtooth)]
        savings.bar(at, shares, BAR, color=colour, hatch=hatch, edgecolor="white", linewidth=0.4,
                    label=f"{order} Q")
        for x, share in zip(at, shares):
            savings.text(x, share + 1, f"{share:.0f}", ha="center", fontsize=6)
    if rows[0]["mask"] in PAPER:
        savings.axhline(100 * PAPER[rows[0]["mask"]], color="#D55E00", linewidth=0.9,
                        linestyle="--", label="paper")
    levels.set_yscale("log")
    low, high = levels.get_ylim()
    levels.set_ylim(low, high * (high / low) ** LEGEND_ROOM)
    figure.plain_log(levels.yaxis)
    levels.set_ylabel("misses (million sectors)")
    levels.legend(loc="upper right", ncols=2, columnspacing=1, handletextpad=0.2,
                  bbox_to_anchor=(1, 1.08))
    savings.set_xticks(range(len(groups)), [launch for launch, _ in groups])
    for number, timing in enumerate(TIMINGS):
        savings.text(number * 3 + 1, -0.15, timing, ha="center", va="top", fontsize=7,
                     transform=savings.get_xaxis_transform())
    for axes in (levels, savings):
        axes.axvline(2.5, ymax=0.88, color=figure.GREY, linewidth=0.6)
        axes.grid(axis="x", visible=False)
    savings.set_ylim(0, 115)
    savings.set_yticks(range(0, 101, 20))
    savings.set_ylabel("removed by sawtooth (%)")
    savings.set_xlabel(" ")
    savings.legend(loc="upper center", ncols=3, columnspacing=1, handlelength=1.5,
                   bbox_to_anchor=(0.5, 1.07))
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw,
               [("results", "results CSV of a sweep over launch, timing, q-order and scan")])
