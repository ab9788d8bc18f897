"""The figures of experiments/studies/hopper/README.md: what a scan, an order, a launch, prefetch,
sections and split K/V do to DRAM reads on an H200.

    python3 plots/figures/hopper.py MEASURED_FOLDER PREDICTED_FOLDER -o FOLDER

Coloured marks and bars are measured (medians); black dashes are predicted, lockstep LRU of half of
L2. DRAM reads are multiples of the compulsory ones (every byte read once).
"""

import functools

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
from hopper_lists import Lists, short

MODEL = "half"
DRAM = "dram_read_sectors"
LONG = {64: "192K", 128: "128K"}  # of the lists that stay at one length, per head dim
BAR = 0.38
FLOOR = 0.9  # of every axis of multiples: nothing can be under 1
LEGEND_ROOM = 2.5
SCANS = ("linear", "sawtooth")
LAUNCHES = ("grid", "static", "dynamic")
TILE_Q, TILE_KV, WORKERS = 128, {64: 128, 128: 64}, 132  # experiments/studies/hopper/lists/prefetch.ini
LENGTH_PANELS = {
    "no mask": dict(mask="none"),
    "causal, ascending, static": dict(mask="causal", order="ascending"),
    "causal, longest first, tickets": dict(launch="dynamic", order="descending", mask="causal"),
}
SECTION_PANELS = ((8, 64, "none"), (16, 64, "none"), (8, 64, "causal"), (16, 64, "causal"))
SECTION_PANELS += ((8, 128, "causal"), (16, 128, "causal"))


def mask_title(mask):
    return "no mask" if mask == "none" else mask


def times_compulsory(lists, name, point):
    """DRAM reads of a point, (measured, predicted)."""
    cold = lists.compulsory(name, **point)
    measured = lists.measured(name, DRAM, **point)
    return measured / cold, lists.predicted(MODEL, name, DRAM, **point) / cold


def level(panels, room):
    """One logarithmic range for all of `panels`, with `room` above the highest mark."""
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
            level([axes], 1.3)
        row[0].set_ylabel("DRAM reads / compulsory")
    grid[0][0].legend(loc="upper left", title="marks measured,\nlines predicted")
    return fig


def bars(axes, lists, name, places):
    """`places`: (text, {scan: point}); linear and sawtooth side by side, one bar where one scan."""
    for at, (_, scans) in enumerate(places):
        wide = BAR if len(scans) == 2 else 2 * BAR
        for number, (scan, point) in enumerate(scans.items()):
            x = at + (number - 0.5) * BAR if len(scans) == 2 else at
            measured, predicted = times_compulsory(lists, name, point)
            axes.bar(x, measured, wide, color=figure.look(scan)["color"])
            ends = [x - wide / 2.2, x + wide / 2.2]
            axes.plot(ends, [predicted] * 2, color="black", linewidth=1.2)
    axes.set_xticks(range(len(places)), [text for text, _ in places], rotation=90)
    axes.grid(axis="x", visible=False)


def bar_figure(lists, name, panels, height, room=LEGEND_ROOM, free=0):
    """(figure, its row of axes) of {title: places}, with `free` axes after them."""
    shape = dict(ncols=len(panels) + free, sharey=not free)
    fig, row = figure.new_figure(figure.PAGE_INCHES, height, **shape)
    for axes, (title, places) in zip(row, panels.items()):
        bars(axes, lists, name, places)
        axes.set_title(title)
    level(row[: len(panels)], room)
    row[0].set_ylabel("DRAM reads / compulsory")
    return fig, row


def legend(axes, **place):
    handles = [axes.bar(0, 0, color=figure.look(scan)["color"], label=scan) for scan in SCANS]
    handles += axes.plot([], [], color="black", linewidth=1.2, label="predicted")
    axes.legend(handles=handles, loc="upper left", **place)


def both_scans(text, **point):
    return text, {scan: dict(point, scan=scan) for scan in SCANS}


def draw_launches(lists):
    def places(d):
        base = dict(d=d, s=LONG[d], ctas=2)
        for launch in LAUNCHES:
            yield both_scans(f"none, {launch}", mask="none", launch=launch, **base)
        for order in ("ascending", "fold", "descending"):
            for launch in LAUNCHES:
                point = dict(base, mask="causal", order=order, launch=launch)
                yield both_scans(f"{order}, {launch}", **point)

    title = "two CTAs an SM; named orders are causal"
    panels = {f"D={d}, {LONG[d]}, {title}": list(places(d)) for d in (64, 128)}
    fig, row = bar_figure(lists, "launches", panels, 2.9)
    legend(row[0], ncols=3)
    return fig


def draw_scans(lists):
    panels = {}
    for d, mask in ((64, "none"), (128, "none"), (64, "causal"), (128, "causal")):
        points = lists.points("scans", d=d, mask=mask)
        places = [(point["scan"], {point["scan"]: point}) for point in points]
        panels[f"D={d}, {LONG[d]}, {mask_title(mask)}"] = places
    return bar_figure(lists, "scans", panels, 2.5, room=1.3)[0]


def draw_prefetch(lists):
    def places(d):
        for s in dict.fromkeys(p["s"] for p in lists.points("prefetch", d=d, mask="none")):
            for distance in (0, 2, 8):
                point = dict(d=d, mask="none", s=s, prefetch=distance)
                yield both_scans(f"{short(s)}, {distance}", **point)

    panels = {f"D={d}, no mask: length, distance": list(places(d)) for d in (64, 128)}
    fig, row = bar_figure(lists, "prefetch", panels, 2.5, free=1)
    legend(row[0])
    drift = row[2]
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


def draw_sections(lists):
    panels = {}
    for heads, d, mask in SECTION_PANELS:
        base = dict(heads=heads, d=d, mask=mask)
        found = dict.fromkeys(p["section"] for p in lists.points("sections", **base))
        places = [both_scans(section, section=section, **base) for section in found]
        panels[f"{heads} heads, D={d},\n{mask_title(mask)}"] = places
    fig, row = bar_figure(lists, "sections", panels, 2.3)
    for axes in row:
        axes.tick_params(axis="x", rotation=0)
        axes.set_xlabel("heads together")
    legend(row[-1])
    return fig


def draw_split(lists):
    panels = {}
    for d in (64, 128):
        points = lists.points("split", d=d, scan="linear")
        texts = [f"{short(p['s'])}, {p['parts']}" for p in points]
        places = [both_scans(t, d=d, s=p["s"], parts=p["parts"]) for t, p in zip(texts, points)]
        panels[f"D={d}, no mask: length, parts of K/V"] = places
    fig, row = bar_figure(lists, "split", panels, 2.4)
    legend(row[0])
    return fig


DRAWN = dict(length=draw_length, launches=draw_launches, scans=draw_scans)
DRAWN |= dict(prefetch=draw_prefetch, sections=draw_sections, split=draw_split)


def figures(measured, predicted):
    lists = Lists(measured, {MODEL: predicted})
    return {name: functools.partial(draw, lists) for name, draw in DRAWN.items()}


if __name__ == "__main__":
    inputs = [("measured", "folder with NAME.csv of sawtooth measure")]
    inputs.append(("predicted", "folder with NAME.csv of sawtooth simulate"))
    figure.run(__doc__, figures, inputs, write=figure.save_all, output="FOLDER")
