"""Draws all that a folder of `sawtooth run` allows, the recorded wavefront beside the predicted one."""

import functools
import os

import miss_curve
import table
import validation
import wavefront
import xy

WAVES = {"predicted": "wavefront.csv", "measured": "wavefront_measured.csv"}
BY_LENGTH = {"reads_by_length": "dram_read_sectors", "time_by_length": "time_us"}


def figures(folder):
    """{name: call that draws it} of every table that is there."""
    if not os.path.isdir(folder):
        raise table.TableError(f"{folder}: is no folder of `sawtooth run`")
    there = {name: os.path.join(folder, name) for name in os.listdir(folder)}
    found = {}
    if compared := there.get("compare.csv"):
        found["scatter"] = functools.partial(validation.draw, compared)
    results = there.get("results.csv")
    for name, column in BY_LENGTH.items():
        if results and xy.can_draw(results, "seq_kv", column):
            found[name] = functools.partial(xy.draw, [results], "seq_kv", column)
    if curves := there.get("miss_curve.csv"):
        found["miss_curve"] = functools.partial(miss_curve.draw, curves, there.get("lockstep.csv"))
    waves = [f"{name}={there[file]}" for name, file in WAVES.items() if file in there]
    if waves:
        found["wavefront"] = functools.partial(wavefront.draw, waves, results)
    if not found:
        raise table.TableError(f"{folder}: holds no table that can be drawn")
    return found
