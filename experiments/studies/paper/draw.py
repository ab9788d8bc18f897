"""Draws every figure of the paper's analysis from the CSVs in the folder given, into FOLDER/plots."""

import functools
import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "plots" / "figures"))
import hit_rate  # noqa: E402  (the path above leads to it; it leads to plots/lib)
import figure  # noqa: E402
import launches  # noqa: E402
import miss_curve  # noqa: E402
import misses_by_length  # noqa: E402
import predicted_published  # noqa: E402
import reuse_histogram  # noqa: E402
import scans  # noqa: E402
import sectors_by_length  # noqa: E402
import wavefront  # noqa: E402

# name of a figure -> (module that draws it, CSV)
FIGURES = {
    "sectors_by_length": (sectors_by_length, "closed_forms.csv"),
    "misses_by_length": (misses_by_length, "misses.csv"),
    "hit_rate": (hit_rate, "ctas.csv"),
    "scans": (scans, "scans.csv"),
    "launches_none": (launches, "launches.csv"),
    "launches_causal": (launches, "causal.csv"),
    "miss_curve": (miss_curve, "miss_curve.csv"),
    "reuse_histogram": (reuse_histogram, "histogram.csv"),
    "predicted_published": (predicted_published, "claims.csv"),
}
WAVES = {"no mask": "wave_none.csv", "causal": "wave_causal.csv"}


def figures(folder):
    """{name: call that draws it}"""
    found = {
        name: functools.partial(module.draw, os.path.join(folder, path))
        for name, (module, path) in FIGURES.items()
    }
    waves = [f"{name}={os.path.join(folder, path)}" for name, path in WAVES.items()]
    return {**found, "wavefront": functools.partial(wavefront.draw, waves)}


if __name__ == "__main__":
    folder = sys.argv[1]
    figure.refused(lambda: figure.save_all(figures(folder), os.path.join(folder, "plots")))
