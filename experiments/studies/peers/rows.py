"""Rows of results.csv (docs/reference/columns.md) for kernels that are not this project's."""

import glob
import os
import shutil
import subprocess
from pathlib import Path

import lib_path  # noqa: F401  (makes plots/lib importable)
import count
import measures
import table

ROOT = Path(__file__).resolve().parents[3]
RESULTS = (*count.METRICS, "time_us", "tflops")


def row(shape, kernel, system, gpu, repetition="", time_us=None, counters=None, **cells):
    """What is known of a launch by name; results that were not measured are empty."""
    made = {"experiment": "peers", "source": "measured", "gpu": gpu, "system": system}
    made.update({"kernel": kernel, **shape.cells()}, repetition=repetition)
    made.update(dict.fromkeys(RESULTS, ""), state="", status="ok")
    made.update(counters or {}, **cells)
    if time_us is not None:
        made["time_us"] = f"{time_us:.2f}"
        made["tflops"] = f"{measures.tflops(shape.flop(), time_us):.2f}"
    return made


def program(given):
    """`sawtooth` as given, else on the PATH or in build/; None where it is not at hand."""
    built = sorted(glob.glob(str(ROOT / "build" / "*" / "sawtooth")), key=os.path.getmtime)
    return shutil.which(given or "sawtooth") or (built[-1] if built else None)


def header(sawtooth):
    """The columns of results.csv in their order, as the program says; none without one."""
    try:
        done = subprocess.run(
            [sawtooth, "--csv-header"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return []
    return done.stdout.strip().split(",")


def columns(rows, sawtooth=None):
    """The program's columns, then those of the rows that it does not have."""
    known = program(sawtooth)
    ordered = header(known) if known else []
    return list(dict.fromkeys([*ordered, *(key for row in rows for key in row)]))


def write(path, rows, sawtooth=None):
    """A table in the program's order of columns; `sawtooth` names the program."""
    table.write(path, rows, columns(rows, sawtooth))
