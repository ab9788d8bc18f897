"""Draws every figure of the paper's analysis from the CSVs in the folder given, into FOLDER/plots."""

import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "plots" / "lib"))
import figure  # noqa: E402  (the path above leads to them)
import hit_rate  # noqa: E402
import launches  # noqa: E402
import miss_curve  # noqa: E402
import misses_by_length  # noqa: E402
import predicted_published  # noqa: E402
import reuse_histogram  # noqa: E402
import scans  # noqa: E402
import sectors_by_length  # noqa: E402
import table  # noqa: E402
import wavefront  # noqa: E402


def figures(folder):
    """Name of a figure -> a call that draws it."""
    def csv(name):
        return os.path.join(folder, f"{name}.csv")

    waves = [f"no mask={csv('wave_none')}", f"causal={csv('wave_causal')}"]
    return {
        "sectors_by_length": lambda: sectors_by_length.draw(csv("closed_forms")),
        "misses_by_length": lambda: misses_by_length.draw(csv("misses")),
        "hit_rate": lambda: hit_rate.draw(csv("ctas")),
        "scans": lambda: scans.draw(csv("scans")),
        "launches_none": lambda: launches.draw(csv("launches")),
        "launches_causal": lambda: launches.draw(csv("causal")),
        "miss_curve": lambda: miss_curve.draw(csv("miss_curve")),
        "reuse_histogram": lambda: reuse_histogram.draw(csv("histogram")),
        "wavefront": lambda: wavefront.draw(waves),
        "predicted_published": lambda: predicted_published.draw(csv("claims")),
    }


def main(folder):
    for name, draw in figures(folder).items():
        figure.save(draw(), os.path.join(folder, "plots", name))
        print(f"  {folder}/plots/{name}.pdf, .png")


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except table.TableError as error:
        print(f"draw.py: {error}", file=sys.stderr)
        sys.exit(2)
