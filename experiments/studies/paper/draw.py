"""Draws every figure of the paper's analysis from the CSVs in the folder given, into FOLDER/plots."""

import functools
import os
import sys
from pathlib import Path

PLOTS = Path(__file__).resolve().parents[3] / "plots"
sys.path += [str(PLOTS), str(PLOTS / "lib"), str(PLOTS / "figures")]
import figure  # noqa: E402  (the path above leads to it)
import miss_curve  # noqa: E402
import reuse_histogram  # noqa: E402
import table  # noqa: E402
import wavefront  # noqa: E402
import xy  # noqa: E402
from plot import FIGURES  # noqa: E402

LAUNCHES = dict(x="launch", y="misses", hue="scan,q_order", facet="timing", log="y")
# name of a figure -> (CSV, what it shows)
GENERIC = {
    "sectors_by_length": (
        "sectors.csv",
        dict(x="seq_kv", y="l2_read_sectors", hue="tile_q", facet="mask", log="xy"),
    ),
    "misses_by_length": ("misses.csv", FIGURES["misses_by_length"].defaults),
    "hit_rate": ("ctas.csv", FIGURES["hit_rate"].defaults),
    "scans": ("scans.csv", FIGURES["scans"].defaults),
    "launches_none": ("launches.csv", LAUNCHES),
    "launches_causal": ("causal.csv", LAUNCHES),
}
WAVES = {"no mask": "wave_none.csv", "causal": "wave_causal.csv"}
DEPARTURE = "longest sequence on the compulsory line"  # a row of claims.csv
LOOKS = {"paper": (figure.BLUE, "o"), "independent profile": (figure.GREEN, "s")}
LINE_INCHES = 0.15  # of a claim


def rounded(row, column):
    return float(f"{table.number(row, column):.4g}")


def predicted_published(path):
    """Every claim of claims.csv that has both numbers, a line each: predicted / published."""
    rows = [row for row in table.read(path) if row["predicted"]]
    fig, axes = figure.new_figure(figure.PAGE_INCHES, 0.8 + LINE_INCHES * len(rows))
    axes.axvspan(0.9, 1.1, color=figure.PALE, zorder=0, label="\N{PLUS-MINUS SIGN}10 %")
    axes.axvline(1, color="black", linewidth=0.8)
    for source, of_source in table.grouped(rows, "source").items():
        colour, marker = LOOKS[source]
        places = [rows.index(row) for row in of_source]
        ratios = [
            table.number(row, "predicted") / table.number(row, "published") for row in of_source
        ]
        axes.plot(ratios, places, marker, color=colour, label=source)
        for row, place in zip(of_source, places):
            if row["low"]:
                ends = [float(row[end]) / table.number(row, "published") for end in ("low", "high")]
                axes.plot(ends, [place, place], color=colour, linewidth=0.8)
    both = [
        [figure.scaled(rounded(row, side)) for side in ("published", "predicted")] for row in rows
    ]
    numbers = [f"{' / '.join(pair)} {row['unit']}" for pair, row in zip(both, rows)]
    axes.set_yticks(range(len(rows)), [row["claim"] for row in rows])
    axes.set(xlabel="predicted / published", ylim=(len(rows) - 0.5, -0.5))
    right = axes.secondary_yaxis("right")
    right.set_yticks(range(len(rows)), numbers)
    right.tick_params(length=0, labelsize=6)
    axes.tick_params(axis="y", length=0, labelsize=6)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3)
    figure.caption(fig, "right: published / predicted; lines: over what is not known of the kernel")
    return fig


def figures(folder):
    """{name: call that draws it}"""

    def path(name):
        return os.path.join(folder, name)

    claims = table.read(path("claims.csv"))
    paper = table.number(table.only(claims, claim=DEPARTURE), "published")
    marks = {"misses_by_length": [(paper, "paper's first departure")]}
    found = {
        "miss_curve": functools.partial(miss_curve.draw, path("miss_curve.csv")),
        "reuse_histogram": functools.partial(reuse_histogram.draw, path("histogram.csv")),
        "predicted_published": functools.partial(predicted_published, path("claims.csv")),
    }
    for name, (csv, shows) in GENERIC.items():
        found[name] = functools.partial(xy.draw, [path(csv)], **shows, marks=marks.get(name, ()))
    waves = [f"{name}={path(csv)}" for name, csv in WAVES.items()]
    return {**found, "wavefront": functools.partial(wavefront.draw, waves)}


if __name__ == "__main__":
    draw = lambda folder: figure.save_all(
        figures(folder), os.path.join(folder, "plots")
    )  # noqa: E731
    sys.exit(table.exit_code(draw, sys.argv[1], "draw.py"))
