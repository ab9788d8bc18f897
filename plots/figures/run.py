"""Draws all that a folder of `sawtooth run` allows, into FOLDER/plots: the scatter of predicted and
measured, DRAM reads against the length, and the wavefront, predicted beside the recorded one.

    python3 plots/figures/run.py runs/NAME
"""

import functools
import os
import sys

import lib_path  # noqa: F401  (makes plots/lib importable)
import error_by_regime
import figure
import reads_by_length
import validation
import wavefront

WAVES = {"predicted": "wavefront.csv", "measured": "wavefront_measured.csv"}


def figures(folder):
    """{name: call that draws it} of every table that is there."""
    there = {name: os.path.join(folder, name) for name in os.listdir(folder)}
    found = {}
    if compared := there.get("compare.csv"):
        found["scatter"] = functools.partial(validation.draw, compared)
        found["error_by_regime"] = functools.partial(error_by_regime.draw, compared)
    results = there.get("results.csv")
    if results and reads_by_length.has_lengths(reads_by_length.read(results)):
        found["reads_by_length"] = functools.partial(reads_by_length.draw, results)
    waves = [f"{name}={there[file]}" for name, file in WAVES.items() if file in there]
    if waves:
        found["wavefront"] = functools.partial(wavefront.draw, waves)
    return found


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = sys.argv[1]
    figure.refused(lambda: figure.save_all(figures(folder), os.path.join(folder, "plots")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
