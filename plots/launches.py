"""What sawtooth saves, by launch, timing and Q order, beside what the paper prints."""

import figure
import table

PAPER = {"none": (370 - 120) / 370, "causal": 0.67}  # arXiv 2601.16032, share of misses removed
LAUNCHES = ("grid", "static", "dynamic")
TIMINGS = ("lockstep", "lockstep-wave")
ORDERS = {"ascending": ("#56B4E9", ""), "descending": ("#0072B2", "////")}
BAR = 0.38


def saving(rows, **point):
    linear = table.misses(table.only(rows, scan="linear", **point))
    return 1 - table.misses(table.only(rows, scan="sawtooth", **point)) / linear


def draw(path):
    rows = table.read(path, ("mask", "launch", "timing", "q_order", "scan", *table.MISSES))
    fig, axes = figure.new_figure(height=2.6)
    groups = [(launch, timing) for timing in TIMINGS for launch in LAUNCHES]
    mask = rows[0]["mask"]
    for number, (order, (colour, hatch)) in enumerate(ORDERS.items()):
        at = [group + (number - 0.5) * BAR for group in range(len(groups))]
        shares = [100 * saving(rows, launch=launch, timing=timing, q_order=order)
                  for launch, timing in groups]
        axes.bar(at, shares, BAR, color=colour, hatch=hatch, edgecolor="white", linewidth=0.4,
                 label=f"{order} Q")
        for x, share in zip(at, shares):
            axes.text(x, share + 1, f"{share:.0f}", ha="center", fontsize=6)
    if mask in PAPER:
        axes.axhline(100 * PAPER[mask], color="#D55E00", linewidth=0.9, linestyle="--",
                     label=f"paper, {mask}")
    axes.set_xticks(range(len(groups)), [launch for launch, _ in groups])
    for number, timing in enumerate(TIMINGS):
        axes.text(number * 3 + 1, -0.13, timing, ha="center", va="top", fontsize=7,
                  transform=axes.get_xaxis_transform())
    axes.axvline(2.5, color=figure.GREY, linewidth=0.6)
    axes.grid(axis="x", visible=False)
    axes.set_ylim(0, 100)
    axes.set_ylabel("misses that sawtooth removes (%)")
    axes.set_xlabel(" ")
    axes.legend(loc="upper center", ncols=3, bbox_to_anchor=(0.48, 1.16), columnspacing=1,
                handlelength=1.5)
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw,
               [("results", "results CSV of a sweep over launch, timing, q-order and scan")])
