"""The figures of experiments/studies/hopper/README.md: what a scan, an order, a launch, prefetch,
sections and split K/V do to DRAM reads on an H200.

    python3 draw.py MEASURED_FOLDER PREDICTED_FOLDER FOLDER

Coloured marks and bars are measured (medians); black dashes are predicted, lockstep LRU of half of
L2. DRAM reads are multiples of the compulsory ones (every byte read once).
"""

import functools
import sys
import typing
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "plots" / "lib"))
import figure  # noqa: E402  (the path above leads to it)
from hopper_lists import Lists, short  # noqa: E402

MODEL = "half"
DRAM = "dram_read_sectors"
BAR = 0.38
FLOOR = 0.9  # of every axis of multiples: nothing can be under 1
ROOM, LEGEND_ROOM = 1.3, 2.5  # above the highest mark
SCANS = ("linear", "sawtooth")
TILE_Q, TILE_KV, WORKERS = 128, {64: 128, 128: 64}, 132  # studies/hopper/lists/prefetch.ini
LENGTH_PANELS = {
    "no mask": dict(mask="none"),
    "causal, ascending, static": dict(mask="causal", order="ascending"),
    "causal, longest first, tickets": dict(launch="dynamic", order="descending", mask="causal"),
}


class Bars(typing.NamedTuple):
    """A figure of bars: the words that make a panel, and those that make a place in it."""

    height: float
    panels: tuple
    places: tuple
    only: dict = {}


BARS = {
    "launches": Bars(2.9, ("d", "s", "mask"), ("order", "launch"), dict(ctas=2)),
    "scans": Bars(2.5, ("d", "s", "mask"), ("scan",)),
    "prefetch": Bars(2.6, ("d", "mask"), ("s", "prefetch"), dict(mask="none")),
    "sections": Bars(2.4, ("heads", "d", "mask"), ("section",)),
    "split": Bars(2.5, ("d", "mask"), ("s", "parts")),
}
TITLES = dict(s="length", parts="parts of K/V", section="heads together", prefetch="distance")


def shown(word, value):
    if word == "s":
        return short(value)
    if (word, value) == ("mask", "none"):
        return "no mask"
    return {"d": f"D={value}", "heads": f"{value} heads"}.get(word, value)


def times_compulsory(lists, name, point):
    """DRAM reads of a point, (measured, predicted)."""
    cold = lists.compulsory(name, **point)
    measured = lists.measured(name, DRAM, **point)
    return measured / cold, lists.predicted(MODEL, name, DRAM, **point) / cold


def level(panels, room):
    """One logarithmic range for all of `panels`."""
    top = max(axes.dataLim.y1 for axes in panels) * room
    for axes in panels:
        axes.set_yscale("log")
        axes.set_ylim(FLOOR, top)
        figure.plain_log(axes.yaxis)


def draw_length(lists):
    shape = dict(nrows=2, ncols=3, sharex=True)
    fig, grid = figure.new_figure(figure.PAGE_INCHES, 3.9, **shape)
    for row, d in zip(grid, (64, 128)):
        for axes, (title, point) in zip(row, LENGTH_PANELS.items()):
            for scan in SCANS:
                points = lists.points("length", d=d, scan=scan, **point)
                lengths = [int(p["s"]) for p in points]
                measured, predicted = zip(*(times_compulsory(lists, "length", p) for p in points))
                axes.plot(lengths, measured, label=scan, **figure.look(scan, linestyle=""))
                axes.plot(lengths, predicted, linewidth=0.8, **figure.look(scan, marker=""))
            figure.doubling(axes, lengths, rotation=60)
            axes.set_title(f"D={d}, {title}")
            level([axes], ROOM)
        row[0].set_ylabel("DRAM reads / compulsory")
    grid[0][0].legend(loc="upper left", title="marks measured,\nlines predicted")
    return fig


def bar_panels(lists, name):
    """{title of a panel: {text of a place: {scan: point}}}"""
    panels = {}
    for point in lists.points(name, **BARS[name].only):
        words = {word: shown(word, value) for word, value in point.items()}
        title = ", ".join(words[word] for word in BARS[name].panels)
        text = ", ".join(words[word] for word in BARS[name].places)
        panels.setdefault(title, {}).setdefault(text, {})[point["scan"]] = point
    return panels


def bars(axes, lists, name, places):
    """Linear and sawtooth side by side, one bar where one scan."""
    for at, scans in enumerate(places.values()):
        wide = BAR if len(scans) == 2 else 2 * BAR
        for number, (scan, point) in enumerate(scans.items()):
            x = at + (number - 0.5) * BAR if len(scans) == 2 else at
            measured, predicted = times_compulsory(lists, name, point)
            axes.bar(x, measured, wide, color=figure.look(scan)["color"])
            ends = [x - wide / 2.2, x + wide / 2.2]
            axes.plot(ends, [predicted] * 2, color="black", linewidth=1.2)
    axes.set_xticks(range(len(places)), places, rotation=90)
    axes.grid(axis="x", visible=False)


def legend(axes, ncols):
    handles = [axes.bar(0, 0, color=figure.look(scan)["color"], label=scan) for scan in SCANS]
    handles += axes.plot([], [], color="black", linewidth=1.2, label="predicted")
    axes.legend(handles=handles, loc="upper left", ncols=ncols, columnspacing=1)


def draw_bars(name, lists, free=0):
    """The figure; with `free`, (figure, so many axes to the right of its panels)."""
    panels = bar_panels(lists, name)
    shape = dict(ncols=len(panels) + free, sharey=not free)
    fig, row = figure.new_figure(figure.PAGE_INCHES, BARS[name].height, **shape)
    for axes, (title, places) in zip(row, panels.items()):
        bars(axes, lists, name, places)
        axes.set_title(title.replace(" heads, ", " heads,\n"))
        axes.set_xlabel(", ".join(TITLES.get(word, word) for word in BARS[name].places))
    level(row[: len(panels)], LEGEND_ROOM)
    row[0].set_ylabel("DRAM reads / compulsory")
    lowest = min(row[: len(panels)], key=lambda axes: axes.dataLim.y1)
    legend(lowest, ncols=3 if len(panels) == 2 else 1)
    return (fig, row[len(panels) :]) if free else fig


def draw_prefetch(lists):
    fig, (drift,) = draw_bars("prefetch", lists, free=1)
    for d, marker in ((64, "o"), (128, "s")):
        points = lists.points("prefetch", d=d, mask="none", scan="linear", prefetch=2)
        thousands = [steps(p) / 1000 for p in points]
        look = figure.look("linear", marker=marker, linestyle="")
        drift.plot(thousands, [growth(lists, p) for p in points], label=f"D={d}", **look)
    drift.set_xlabel("K/V tiles a CTA walks (thousands)")
    drift.set_ylabel("DRAM reads, prefetch 2 / 0")
    drift.set_title("linear: the wave drifts apart")
    drift.legend()
    return fig


def steps(point):
    """K/V tiles that one CTA walks in a launch: its items times the tiles of one."""
    s = int(point["s"])
    return -(-s // TILE_Q // WORKERS) * (s // TILE_KV[int(point["d"])])


def growth(lists, point):
    without = lists.measured("prefetch", DRAM, **dict(point, prefetch=0))
    return lists.measured("prefetch", DRAM, **point) / without


def figures(measured, predicted):
    lists = Lists(measured, {MODEL: predicted})
    drawn = {name: functools.partial(draw_bars, name, lists) for name in BARS}
    drawn["prefetch"] = functools.partial(draw_prefetch, lists)
    return {"length": functools.partial(draw_length, lists), **drawn}


if __name__ == "__main__":
    figure.refused(lambda: figure.save_all(figures(*sys.argv[1:3]), sys.argv[3]))
