"""Draws every figure of the paper's analysis from the CSVs in the folder given, into FOLDER/plots."""

import functools
import os
import sys
from pathlib import Path

PLOTS = Path(__file__).resolve().parents[3] / "plots"
sys.path += [str(PLOTS), str(PLOTS / "lib"), str(PLOTS / "figures")]
import figure  # noqa: E402  (the path above leads to it)
import miss_curve  # noqa: E402
import predicted_published  # noqa: E402
import reuse_histogram  # noqa: E402
import sectors_by_length  # noqa: E402
import table  # noqa: E402
import wavefront  # noqa: E402
import xy  # noqa: E402
from plot import FIGURES  # noqa: E402

# name of a figure -> (module that draws it, CSV)
OWN = {
    "sectors_by_length": (sectors_by_length, "closed_forms.csv"),
    "miss_curve": (miss_curve, "miss_curve.csv"),
    "reuse_histogram": (reuse_histogram, "histogram.csv"),
    "predicted_published": (predicted_published, "claims.csv"),
}
LAUNCHES = dict(x="launch", y="misses", hue="scan,q_order", facet="timing", log="y")
# name of a figure -> (CSV, what it shows)
GENERIC = {
    "misses_by_length": ("misses.csv", FIGURES["misses_by_length"].defaults),
    "hit_rate": ("ctas.csv", FIGURES["hit_rate"].defaults),
    "scans": ("scans.csv", FIGURES["scans"].defaults),
    "launches_none": ("launches.csv", LAUNCHES),
    "launches_causal": ("causal.csv", LAUNCHES),
}
WAVES = {"no mask": "wave_none.csv", "causal": "wave_causal.csv"}
DEPARTURE = "longest sequence on the compulsory line"  # a row of claims.csv


def figures(folder):
    """{name: call that draws it}"""

    def path(name):
        return os.path.join(folder, name)

    claims = table.read(path("claims.csv"))
    paper = table.number(table.only(claims, claim=DEPARTURE), "published")
    marks = {"misses_by_length": [(paper, "paper's first departure")]}
    found = {name: functools.partial(module.draw, path(csv)) for name, (module, csv) in OWN.items()}
    for name, (csv, shows) in GENERIC.items():
        found[name] = functools.partial(xy.draw, [path(csv)], **shows, marks=marks.get(name, ()))
    waves = [f"{name}={path(csv)}" for name, csv in WAVES.items()]
    return {**found, "wavefront": functools.partial(wavefront.draw, waves)}


if __name__ == "__main__":
    folder = sys.argv[1]
    figure.refused(lambda: figure.save_all(figures(folder), os.path.join(folder, "plots")))
