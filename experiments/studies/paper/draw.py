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
CROWDED = 1.5  # neighbours nearer than this factor write to different sides


def predicted_published(path):
    """Every claim of claims.csv that has both numbers as sector counts."""
    rows = [r for r in table.where(table.read(path), unit="sectors") if r["predicted"]]
    fig, axes = figure.new_figure(height=figure.COLUMN_INCHES * 0.8)
    for source, points in table.grouped(rows, "source").items():
        colour, marker = LOOKS[source]
        both = table.numbers(points, "published"), table.numbers(points, "predicted")
        axes.scatter(*both, s=16, color=colour, marker=marker, label=source, zorder=3)
    numbers = table.numbers(rows, "published") + table.numbers(rows, "predicted")
    low, high = min(numbers) / 2, max(numbers) * 3
    figure.equality(axes, low, high, label="\N{PLUS-MINUS SIGN}10 %")
    rows = sorted(rows, key=lambda row: table.number(row, "published"))
    places = table.numbers(rows, "published")
    for row, place, after in zip(rows, places, [*places[1:], float("inf")]):
        right = place < (low * high) ** 0.5 or after < CROWDED * place
        side = dict(ha="left", xytext=(6, -6)) if right else dict(ha="right", xytext=(-6, 3))
        at = place, table.number(row, "predicted")
        text = axes.annotate(row["claim"], at, textcoords="offset points", fontsize=5.5, **side)
        text.set_in_layout(False)
    axes.set(xlabel="published (sectors)", ylabel="predicted (sectors)")
    axes.legend(loc="upper left")
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
    folder = sys.argv[1]
    figure.refused(lambda: figure.save_all(figures(folder), os.path.join(folder, "plots")))
