"""Tables: sequences of rows, each a dict; pandas.DataFrame(table) takes them as they are."""

from __future__ import annotations

import array
import csv
import io
import os
from collections.abc import Iterable, Mapping
from typing import Optional, Union

Value = Union[int, float, str, None]
Row = dict[str, Value]
Column = Union["array.array[int]", list[str]]

# Texts, even where their characters are digits.
_TEXTS = {"run_id", "version", "gpu", "system", "kernel", "experiment", "costs", "message"}


def value_of(column: str, text: str) -> Value:
    """The number that a cell says, else its text; None for an empty cell (not known)."""
    if not text:
        return None
    if column in _TEXTS:
        return text
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text


class Table(list[Row]):
    """Rows in the order of the sweep, a dict each with one value a column.

    Counters are sectors of 32 bytes, times microseconds; None is not known. `columns` are those of
    docs/reference/columns.md for simulate(), in the order of the program's CSV.
    """

    def __init__(self, columns: Iterable[str], rows: Iterable[Mapping[str, Value]]) -> None:
        super().__init__(dict(row) for row in rows)
        self.columns: list[str] = list(columns)

    def column(self, name: str) -> list[Value]:
        """The values of one column, a value a row."""
        return [row[name] for row in self]

    def to_csv(self, path: Union[str, os.PathLike[str], None] = None) -> str:
        """The table as CSV text, and in the file `path` where one is named."""
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self)
        if path is not None:
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text.getvalue())
        return text.getvalue()


def read_csv(text: str) -> Table:
    """The table that CSV text holds."""
    rows = csv.DictReader(io.StringIO(text))
    return Table(
        rows.fieldnames or (),
        ({name: value_of(name, cell) for name, cell in row.items()} for row in rows),
    )


def arrays_of(text: str, names: Iterable[str], missing: Optional[int] = None) -> dict[str, Column]:
    """Columns of CSV text: array.array("q") (64-bit integers, numpy takes them without a copy), or
    lists of str. An empty number is `missing`."""
    rows = list(csv.DictReader(io.StringIO(text)))
    columns: dict[str, Column] = {}
    for name in names:
        cells = [row[name] for row in rows]
        if name in ("tensor", "access"):
            columns[name] = cells
        else:
            columns[name] = array.array("q", (int(cell) if cell else missing for cell in cells))
    return columns
