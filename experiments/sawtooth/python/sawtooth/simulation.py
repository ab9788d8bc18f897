"""simulate(), with axes as lists, and scans and orders written in Python."""

from __future__ import annotations

import inspect
import operator
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Optional, Union

from . import _core
from .table import Columns, Table, arrays_of, read_csv, row_of

# A ValueError: a mistake in what was asked for; the message names the key and what is allowed.
UsageError = _core.UsageError
Scan = Callable[..., Any]
Item = Union[tuple[int, int, int], tuple[int, int, int, int]]


class Predictions(Table):
    """What simulate() returns: a Table, and what stands behind each row (by its index)."""

    def __init__(self, points: Sequence[Any]) -> None:
        columns = _core.columns()
        super().__init__(columns, (row_of(columns, point.cells) for point in points))
        self._points = points

    def miss_curve(self, row: int) -> Columns:
        """Misses at every L2 capacity, for l2 = lru: arrays of equal length `capacity_bytes`,
        `read_miss_sectors`, `write_miss_sectors`, `miss_sectors`. A value holds from its capacity
        up to the next one; prefetches count as reads."""
        names = ("capacity_bytes", "read_miss_sectors", "write_miss_sectors", "miss_sectors")
        return arrays_of(self._points[row].side_table("miss-curve"), names)

    def histogram(self, row: int) -> Columns:
        """Reuse distances, for l2 = lru: `tensor` and `access` (lists of str), `distance_lines` (of
        128 bytes; -1 is a first touch) and `sectors` (arrays), all of equal length."""
        names = ("tensor", "access", "distance_lines", "sectors")
        return arrays_of(self._points[row].side_table("histogram"), names, missing=-1)

    def by_tensor(self, row: int) -> Table:
        """The counters of each tensor, a row each."""
        return read_csv(self._points[row].side_table("by-tensor"))


def simulate(
    config: Union[str, os.PathLike[str], None] = None,
    *,
    order: Optional[Iterable[Item]] = None,
    threads: int = 0,
    **options: Any,
) -> Predictions:
    """Predicts the counters of every point of a sweep, as `sawtooth simulate` does.

    `options` are those of docs/reference/options.md with _ for -: numbers, texts or booleans, and a
    list of them makes an axis (seq=["64K", 131072]); `pass_` is the option pass. `config` is the path
    of an INI, which they override.

    A scan may be a function. It takes what it looks at by name: `tiles` (n, the item's visible K/V
    tiles), `step`, `item`, `items_before` (this worker's own counter), `q_tile` (of the backward
    pass the item's K/V tile), `workers`, `attach_position`, `seed`. With `step` it returns the
    position in [0, n) that this step visits, without it the positions of all steps. Over the steps each position occurs once. It is asked
    once for each set of values of what it takes, and the row's scan is "python:NAME".

    timing and l2 are "auto": the model that was judged on the GPU of the row. The columns timing, l2
    and judged say which.

    `order` is a list of the items (batch, head, q_tile[, part]), each once.

    `threads` points are simulated at once, 0 means all cores; without the GIL.

    Raises UsageError, a ValueError that names the key and what is allowed, and KeyboardInterrupt
    within a step of the simulation.
    """
    scans: dict[str, Any] = {}
    texts = option_texts(options, scans)
    items = [] if order is None else [_item(i, item) for i, item in enumerate(order)]
    if order is not None and not items:
        raise UsageError("order: has no items; each item must be there once")
    try:
        points = _core.simulate(
            "" if config is None else os.fspath(config), texts, list(scans.items()), items, threads
        )
    except UsageError as error:
        raise usage_error(error) from None
    return Predictions(points)


def usage_error(error: Exception) -> Exception:
    """The program's message with the key as Python writes it."""
    text = str(error)
    if text.startswith("--"):
        key, colon, rest = text[2:].partition(":")
        text = key.replace("-", "_") + colon + rest
    return UsageError(text)


def option_texts(
    options: dict[str, Any], scans: Optional[dict[str, Any]] = None
) -> list[tuple[str, list[str]]]:
    """Keys and values as the command line has them; functions are scans, which it has not."""
    return [
        (key.rstrip("_").replace("_", "-"), [_text(value, scans) for value in values_of(given)])
        for key, given in options.items()
        if given is not None
    ]


def values_of(value: Any) -> list[Any]:
    """Of an axis, or of one value."""
    return list(value) if isinstance(value, (list, tuple, range)) else [value]


def _text(value: Any, scans: Optional[dict[str, Any]]) -> str:
    if callable(value):
        if scans is None:
            raise UsageError("scan: a function is for simulate() alone")
        name = "python:" + getattr(value, "__name__", type(value).__name__)
        if name in scans:
            raise UsageError(f"scan: two functions are called {name[7:]}; rename one of them")
        scans[name] = _scan(value)
        return name
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def _item(index: int, item: Item) -> tuple[int, int, int, int]:
    if len(item) not in (3, 4):
        raise UsageError(f"order[{index}]: an item is (batch, head, q_tile) or with a part")
    batch, head, q_tile, part = (*item, 0)[:4]
    return int(batch), int(head), int(q_tile), int(part)


def _scan(function: Scan) -> Any:
    names = [name for name in inspect.signature(function).parameters]
    stepwise = "step" in names
    looked_at = [name for name in names if name != "step"]

    def positions(tiles: int, values: list[int]) -> list[int]:
        known = dict(zip(looked_at, values))
        if stepwise:
            found = [function(step=step, **known) for step in range(tiles)]
        else:
            found = function(**known)
        try:
            return [operator.index(position) for position in found]
        except TypeError as error:  # no return, a fraction
            raise UsageError(f"scan: the function: {error}; allowed: whole numbers") from None

    try:
        return _core.Scan(positions, looked_at)
    except UsageError as error:
        raise usage_error(error) from None
