"""Draws all that a folder of `sawtooth run` allows, into FOLDER/plots: the scatter of predicted and
measured, DRAM reads against the length, and the wavefront, predicted beside the recorded one.

    python3 plots/figures/run.py runs/NAME
"""

import os
import sys

import lib_path  # noqa: F401  (makes plots/lib importable)
import error_by_regime
import figure
import reads_by_length
import table
import validation
import wavefront


def figures(folder):
    """(name, call that draws it) of every table that is there."""
    def path(name):
        return os.path.join(folder, name)

    if os.path.exists(path("compare.csv")):
        yield "scatter", lambda: validation.draw(path("compare.csv"))
        yield "error_by_regime", lambda: error_by_regime.draw(path("compare.csv"))
    if os.path.exists(path("results.csv")) and \
            reads_by_length.has_lengths(reads_by_length.read(path("results.csv"))):
        yield "reads_by_length", lambda: reads_by_length.draw(path("results.csv"))
    waves = [f"{name}={path(file)}" for name, file in
             (("predicted", "wavefront.csv"), ("measured", "wavefront_measured.csv"))
             if os.path.exists(path(file))]
    if waves:
        yield "wavefront", lambda: wavefront.draw(waves)


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        for name, draw in figures(arguments[0]):
            figure.save(draw(), os.path.join(arguments[0], "plots", name))
            print(f"  {arguments[0]}/plots/{name}.pdf, .png")
    except table.TableError as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
