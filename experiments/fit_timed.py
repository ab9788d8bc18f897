#!/usr/bin/env python3
"""Fits the timed wavefront's parameters of a GPU profile to the calibration set, and to it alone.

    python3 experiments/fit_timed.py --gpu experiments/gpus/h200.ini \\
        --measured experiments/measured/h200/validation/calibration.csv \\
        --die experiments/measured/h200/validation/die.ini --write

Coordinate search: each parameter in turn is moved up and down by its step while that lowers the
loss, then the steps are halved. The loss is the mean over the points of the squared relative errors
of duration, DRAM reads, near misses and fabric reads (medians of the measured launches). Durations
decide the cost of a step. How unequally SMs and CTAs run, and what prefetch costs, is read from records
of items (experiments/read_items.py), the speeds of the GPU that was measured from its file. Of what L2 keeps
only the reserved share is fitted, where reads in lockstep leave it open; the rest is theirs. --write
puts the values into the profile; without it they are printed. Nothing else is read: not the points
that predictions are judged on.
"""
import argparse
import csv
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

# Parameter: first step, as a factor.
PARAMETERS = {
    "step-tensor-tflops": 1.02,
    "step-exp-tera-per-s": 1.04,
    "step-fixed-ns": 1.2,
    "step-exposed-ns": 1.06,
    "step-exposed-ns d128-128x128": 1.06,
    "l2-reserved-share": 1.3,
}
# Reads in lockstep allow no more (docs/two-half-l2.md).
MOST = {"l2-reserved-share": 0.01}
COUNTERS = ("time_us", "dram_read_sectors", "l2_read_miss_sectors", "fabric_read_sectors")
KEYS = ("heads", "seq_q", "seq_kv", "head_dim", "mask", "tile_q", "tile_kv", "section", "q_order",
        "launch", "workers", "scan", "prefetch")


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def medians(rows):
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in KEYS), []).append(row)
    return {key: {c: statistics.median(float(row[c]) for row in group if row[c]) for c in COUNTERS}
            for key, group in groups.items()}


def section(key, text):
    match = re.search(rf"\[{key}\]\nvalue = (\S+)", text)
    if not match:
        sys.exit(f"fit_timed.py: the profile has no [{key}]; give it a first value")
    return match


def with_values(text, values):
    for key, value in values.items():
        match = section(key, text)
        text = text[:match.start(1)] + f"{value:.5g}" + text[match.end(1):]
    return text


class Fit:
    def __init__(self, arguments):
        self.program = arguments.sawtooth
        self.config = arguments.config
        self.die = arguments.die
        self.text = open(arguments.gpu).read()
        self.measured = medians(rows_of(arguments.measured))
        # The profile's name is the file's stem, and stays what it was.
        self.folder = tempfile.TemporaryDirectory()
        self.profile = os.path.join(self.folder.name, os.path.basename(arguments.gpu))
        self.known = {}

    def errors(self, values):
        with open(self.profile, "w") as file:
            file.write(with_values(self.text, values))
        table = os.path.join(self.folder.name, "predicted.csv")
        subprocess.run([self.program, "simulate", self.config, "--gpu", self.profile, "--timing",
                        "timed", "--die", self.die, "--quiet", "--csv", table], check=True)
        predicted = medians(rows_of(table))
        if predicted.keys() != self.measured.keys():
            sys.exit("fit_timed.py: predicted and measured points differ")
        return {key: {c: predicted[key][c] / point[c] - 1 for c in COUNTERS}
                for key, point in self.measured.items()}

    def loss(self, values):
        key = tuple(f"{values[k]:.5g}" for k in PARAMETERS)
        if key not in self.known:
            errors = self.errors(values)
            self.known[key] = sum(e * e for point in errors.values() for e in point.values()) / len(errors)
        return self.known[key]

    def search(self, rounds):
        values = {key: float(section(key, self.text).group(1)) for key in PARAMETERS}
        best = self.loss(values)
        steps = dict(PARAMETERS)
        for turn in range(rounds):
            for key in PARAMETERS:
                for factor in (steps[key], 1 / steps[key]):
                    while True:
                        trial = {**values, key: min(values[key] * factor, MOST.get(key, math.inf))}
                        loss = self.loss(trial)
                        if loss >= best:
                            break
                        values, best = trial, loss
            print(f"round {turn + 1}: loss {best:.6f} " +
                  " ".join(f"{k}={v:.5g}" for k, v in values.items()), flush=True)
            steps = {key: math.sqrt(step) for key, step in steps.items()}
        return values


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sawtooth", default=os.path.join(here, "../build/release/sawtooth"))
    parser.add_argument("--config", default=os.path.join(here, "validation/calibration.ini"))
    parser.add_argument("--gpu", default=os.path.join(here, "gpus/h200.ini"))
    parser.add_argument("--measured", default=os.path.join(
        here, "measured/h200/validation/calibration.csv"))
    parser.add_argument("--die", default=os.path.join(here, "measured/h200/validation/die.ini"))
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    fit = Fit(arguments)
    values = fit.search(arguments.rounds)
    for key, point in fit.errors(values).items():
        print(" ".join(key), " ".join(f"{c} {100 * e:+.1f}%" for c, e in point.items()))
    if arguments.write:
        with open(arguments.gpu, "w") as file:
            file.write(with_values(fit.text, values))


if __name__ == "__main__":
    main()
