"""The figures of experiments/studies/hopper/README.md: what a scan, an order, a launch, prefetch, sections and
split K/V do to DRAM reads on an H200.

    python3 plots/figures/hopper.py MEASURED_FOLDER PREDICTED_FOLDER -o FOLDER

Coloured marks and bars are measured (medians); black dashes are predicted, lockstep LRU of half of
L2. DRAM reads are multiples of the compulsory ones (every byte read once).
"""

import argparse
import os
import sys

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table
from hopper_lists import Lists, short

MODEL = "half"
LONG = {64: "192K", 128: "128K"}  # of the lists that stay at one length, per head dim
BAR = 0.38
FLOOR = 0.9  # of every axis of multiples: nothing can be under 1
LEGEND_ROOM = 2.5
TICKET = dict(launch="dynamic", order="descending", mask="causal")


def times_compulsory(lists, name, point):
    cold = lists.compulsory(name, **point)
    return (lists.measured(name, "dram_read_sectors", **point) / cold,
            lists.predicted(MODEL, name, "dram_read_sectors", **point) / cold)


def level(panels, room=1.3):
    """One logarithmic range for all of `panels`, with `room` above the highest mark."""
    top = max(axes.dataLim.y1 for axes in panels) * room
    for axes in panels:
        axes.set_yscale("log")
        axes.set_ylim(FLOOR, top)
        figure.plain_log(axes.yaxis)


def draw_length(lists):
    panels = (("no mask", dict(mask="none")),
              ("causal, ascending, static", dict(mask="causal", order="ascending")),
              ("causal, longest first, tickets", TICKET))
    fig, grid = figure.new_figure(width=figure.PAGE_INCHES, height=3.9, nrows=2, ncols=3,
                                  sharex=True)
    for row, d in zip(grid, (64, 128)):
        for axes, (title, point) in zip(row, panels):
            for scan in ("linear", "sawtooth"):
                points = lists.points("length", d=d, scan=scan, **point)
                lengths = [int(p["s"]) for p in points]
                both = [times_compulsory(lists, "length", p) for p in points]
                colour = figure.look(scan)["color"]
                axes.plot(lengths, [m for m, _ in both], linestyle="", color=colour,
                          marker=figure.look(scan)["marker"], label=scan)
                axes.plot(lengths, [p for _, p in both], color=colour, linewidth=0.8,
                          linestyle=figure.look(scan)["linestyle"])
            axes.set_xscale("log", base=2)
            axes.set_xticks(lengths, [short(s) for s in lengths], rotation=60)
            axes.minorticks_off()
            axes.set_title(f"D={d}, {title}")
            level([axes])
        row[0].set_ylabel("DRAM reads / compulsory")
    grid[0][0].legend(loc="upper left", title="marks measured,\nlines predicted")
    return fig


def bars(axes, lists, name, places):
    """`places`: (text, {scan: point}); linear and sawtooth side by side, one bar where one scan."""
    for at, (_, scans) in enumerate(places):
        for number, (scan, point) in enumerate(scans.items()):
            wide = BAR if len(scans) == 2 else 2 * BAR
            x = at + (number - 0.5) * BAR if len(scans) == 2 else at
            measured, predicted = times_compulsory(lists, name, point)
            axes.bar(x, measured, wide, color=figure.look(scan)["color"])
            axes.plot([x - wide / 2.2, x + wide / 2.2], [predicted] * 2, color="black",
                      linewidth=1.2)
    axes.set_xticks(range(len(places)), [text for text, _ in places], rotation=90)
    axes.grid(axis="x", visible=False)


def legend(axes, **place):
    handles = [axes.bar(0, 0, color=figure.look(scan)["color"], label=scan)
               for scan in ("linear", "sawtooth")]
    handles += axes.plot([], [], color="black", linewidth=1.2, label="predicted")
    axes.legend(handles=handles, **place)


def both_scans(point):
    return {scan: dict(point, scan=scan) for scan in ("linear", "sawtooth")}


def draw_launches(lists):
    fig, row = figure.new_figure(width=figure.PAGE_INCHES, height=2.9, ncols=2, sharey=True)
    for axes, d in zip(row, (64, 128)):
        base = dict(d=d, s=LONG[d], ctas=2)
        places = [(f"none, {launch}", both_scans(dict(base, mask="none", launch=launch)))
                  for launch in ("grid", "static", "dynamic")]
        places += [(f"{order}, {launch}",
                    both_scans(dict(base, mask="causal", order=order, launch=launch)))
                   for order in ("ascending", "fold", "descending")
                   for launch in ("grid", "static", "dynamic")]
        bars(axes, lists, "launches", places)
        axes.set_title(f"D={d}, {LONG[d]}, two CTAs an SM; named orders are causal")
    level(row, LEGEND_ROOM)
    row[0].set_ylabel("DRAM reads / compulsory")
    legend(row[0], loc="upper left", ncols=3)
    return fig


def draw_scans(lists):
    fig, row = figure.new_figure(width=figure.PAGE_INCHES, height=2.5, ncols=4, sharey=True)
    for axes, (d, mask) in zip(row, ((64, "none"), (128, "none"), (64, "causal"), (128, "causal"))):
        places = [(point["scan"], {point["scan"]: point})
                  for point in lists.points("scans", d=d, mask=mask)]
        bars(axes, lists, "scans", places)
        axes.set_title(f"D={d}, {LONG[d]}, " + ("no mask" if mask == "none" else "causal"))
    level(row)
    row[0].set_ylabel("DRAM reads / compulsory")
    return fig


def draw_prefetch(lists):
    fig, row = figure.new_figure(width=figure.PAGE_INCHES, height=2.5, ncols=3)
    for axes, d in zip(row, (64, 128)):
        lengths = dict.fromkeys(p["s"] for p in lists.points("prefetch", d=d, mask="none"))
        places = [(f"{short(s)}, {distance}",
                   both_scans(dict(d=d, mask="none", s=s, prefetch=distance)))
                  for s in lengths for distance in (0, 2, 8)]
        bars(axes, lists, "prefetch", places)
        axes.set_title(f"D={d}, no mask: length, distance")
    level(row[:2], LEGEND_ROOM)
    row[0].set_ylabel("DRAM reads / compulsory")
    legend(row[0], loc="upper left")
    drift = row[2]
    for d, marker in ((64, "o"), (128, "s")):
        points = lists.points("prefetch", d=d, mask="none", scan="linear", prefetch=2)
        drift.plot([steps(p) / 1000 for p in points], [growth(lists, p) for p in points],
                   marker=marker, linestyle="", color=figure.look("linear")["color"],
                   label=f"D={d}")
    drift.set_xlabel("K/V tiles a CTA walks (thousands)")
    drift.set_ylabel("DRAM reads, prefetch 2 / 0")
    drift.set_title("linear: the wave drifts apart")
    drift.legend()
    return fig


TILE_Q, TILE_KV, WORKERS = 128, {64: 128, 128: 64}, 132  # experiments/studies/hopper/prefetch.ini


def steps(point):
    """K/V tiles that one CTA walks in a launch: its items times the tiles of one."""
    s = int(point["s"])
    return -(-s // TILE_Q // WORKERS) * (s // TILE_KV[int(point["d"])])


def growth(lists, point):
    return (lists.measured("prefetch", "dram_read_sectors", **point) /
            lists.measured("prefetch", "dram_read_sectors", **dict(point, prefetch=0)))


def draw_sections(lists):
    panels = ((8, 64, "none"), (16, 64, "none"), (8, 64, "causal"), (16, 64, "causal"),
              (8, 128, "causal"), (16, 128, "causal"))
    fig, row = figure.new_figure(width=figure.PAGE_INCHES, height=2.3, ncols=len(panels),
                                 sharey=True)
    for axes, (heads, d, mask) in zip(row, panels):
        base = dict(heads=heads, d=d, mask=mask)
        found = dict.fromkeys(p["section"] for p in lists.points("sections", **base))
        bars(axes, lists, "sections",
             [(section, both_scans(dict(base, section=section))) for section in found])
        axes.set_title(f"{heads} heads, D={d},\n" + ("no mask" if mask == "none" else "causal"))
        axes.tick_params(axis="x", rotation=0)
        axes.set_xlabel("heads together")
    level(row, LEGEND_ROOM)
    row[0].set_ylabel("DRAM reads / compulsory")
    legend(row[-1], loc="upper left")
    return fig


def draw_split(lists):
    fig, row = figure.new_figure(width=figure.PAGE_INCHES, height=2.4, ncols=2, sharey=True)
    for axes, d in zip(row, (64, 128)):
        points = lists.points("split", d=d, scan="linear")
        places = [(f"{short(p['s'])}, {p['parts']}",
                   both_scans(dict(d=d, s=p["s"], parts=p["parts"]))) for p in points]
        bars(axes, lists, "split", places)
        axes.set_title(f"D={d}, no mask: length, parts of K/V")
    level(row, LEGEND_ROOM)
    row[0].set_ylabel("DRAM reads / compulsory")
    legend(row[0], loc="upper left")
    return fig


FIGURES = {"length": draw_length, "launches": draw_launches, "scans": draw_scans,
           "prefetch": draw_prefetch, "sections": draw_sections, "split": draw_split}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", help="folder with NAME.csv of sawtooth measure")
    parser.add_argument("predicted", help="folder with NAME.csv of sawtooth simulate")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER")
    options = parser.parse_args()
    try:
        lists = Lists(options.measured, {MODEL: options.predicted})
        for name, draw in FIGURES.items():
            figure.save(draw(lists), os.path.join(options.output, name))
    except table.TableError as error:
        print(f"hopper.py: {error}", file=sys.stderr)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
