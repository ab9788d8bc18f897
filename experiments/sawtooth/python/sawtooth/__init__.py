"""Sawtooth: the L2 locality of GPU attention, predicted.

    import sawtooth
    table = sawtooth.simulate(gpu="gb10", batch=8, seq="128K", scan=["linear", "sawtooth"])
    [row["l2_read_miss_sectors"] for row in table]

simulate() predicts, search(), advise() and trace() run the commands of the program, plot() draws,
compare() judges predictions by measurements, gpus() and systems() list what is known. In a build with
CUDA attention() and attention_backward() run the kernels, and bench() times them beside PyTorch's.
Mistakes raise UsageError. Nothing but these three needs a GPU; nothing but bench() needs PyTorch, and
nothing numpy or pandas.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Union

from . import _core
from .bench import bench
from .kernels import DeviceError, attention, attention_backward, free_workspaces
from .plots.lib.output import lines
from .program import advise, plot, search, trace, with_options
from .simulation import Predictions, UsageError, simulate, usage_error
from .table import Row, Table, Value, csv_of, read_csv, row_of

__all__ = ["Comparison", "DeviceError", "Predictions", "Row", "Table", "UsageError", "Value"]
__all__ += ["advise", "attention", "attention_backward", "bench", "compare", "free_workspaces"]
__all__ += ["gpus", "plot", "search", "simulate", "systems", "trace"]
__version__: str = _core.version

simulate = with_options("simulate")(simulate)
DeviceError.__module__ = UsageError.__module__ = __name__

_core.use_resources(str(pathlib.Path(__file__).parent / "experiments"))

_AnyTable = Union[str, os.PathLike[str], Iterable[Row]]


def _table(columns: tuple[str, ...], rows: Iterable[Iterable[str]]) -> Table:
    return Table(columns, (row_of(columns, row) for row in rows))


def gpus() -> Table:
    """The known GPUs: gpu, description, sms (their number), l2_bytes."""
    return _table(("gpu", "description", "sms", "l2_bytes"), _core.gpus())


def systems() -> Table:
    """The known systems: system, description, alias_of, limits (what is not modelled)."""
    return _table(("system", "description", "alias_of", "limits"), _core.systems())


@dataclass
class Comparison:
    """Errors of predictions: a row a model, counter and point, and the text for people."""

    errors: Table
    report: str


def compare(predicted: _AnyTable, measured: _AnyTable, counters: Iterable[str] = ()) -> Comparison:
    """Joins two tables as `sawtooth compare` does; each is a path of a CSV, a Table or rows.

    `counters` are column names, all that both sides have when empty. Raises UsageError where a
    table is broken or no two points join.
    """
    try:
        errors, report = _core.compare(
            *_csv(predicted, "predicted"), *_csv(measured, "measured"), ",".join(counters)
        )
    except UsageError as error:
        raise usage_error(error) from None
    return Comparison(read_csv(errors), report)


def _csv(table: _AnyTable, name: str) -> tuple[str, str]:
    if isinstance(table, (str, os.PathLike)):
        return "".join(lines(table, replaced=True)), os.fspath(table)
    return csv_of(table), name
