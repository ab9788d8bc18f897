"""Tables: sequences of rows, each a dict; pandas.DataFrame(table) takes them as they are."""

from __future__ import annotations

import array
import csv
import difflib
import html
import io
import os
from collections.abc import Iterable, Mapping
from typing import Any, Optional, Union

from .plots.lib.output import write_text

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


def row_of(columns: Iterable[str], cells: Iterable[str]) -> Row:
    """The values of a row's cells."""
    return {name: value_of(name, cell) for name, cell in zip(columns, cells)}


# What a notebook shows of a table: these, what differs, and so many rows.
_READ = {"gpu", "timing", "l2", "judged", "dram_read_sectors", "l2_read_miss_sectors", "time_us"}
_MOST_ROWS = 50


class Table(list[Row]):
    """Rows in the order of the sweep, a dict each with one value a column.

    Counters are sectors of 32 bytes, times microseconds; None is not known. `columns` are those of
    docs/reference/columns.md for simulate(), in the order of the program's CSV.
    """

    def __init__(self, columns: Iterable[str], rows: Iterable[Mapping[str, Value]]) -> None:
        super().__init__(dict(row) for row in rows)
        self.columns: list[str] = list(columns)

    def column(self, name: str) -> list[Value]:
        """The values of one column, a value a row. Raises KeyError that names the nearest one."""
        if name not in self.columns:
            near = difflib.get_close_matches(name, self.columns, 1)
            raise KeyError(f"no column {name}" + (f"; did you mean {near[0]}?" if near else ""))
        return [row[name] for row in self]

    def to_pandas(self) -> Any:
        """A pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(list(self), columns=self.columns)

    def _repr_html_(self) -> str:
        """For notebooks: what differs among rows, and the numbers that a row is read for."""
        shown = [
            name
            for name in self.columns
            if len({row[name] for row in self} - {None}) > (name not in _READ)
            and name not in ("run_id", "inputs")
        ]
        lines = ["".join(f"<th>{name}</th>" for name in shown)]
        for row in self[:_MOST_ROWS]:
            cells = ["" if row[name] is None else row[name] for name in shown]
            texts = [f"{cell:,}" if isinstance(cell, (int, float)) else cell for cell in cells]
            lines.append("".join(f"<td>{html.escape(text)}</td>" for text in texts))
        left = len(self) - _MOST_ROWS
        rest = f"<p>and {left} rows more</p>" if left > 0 else ""
        return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>" + rest

    def to_csv(self, path: Union[str, os.PathLike[str], None] = None) -> str:
        """The table as CSV text, and in the file `path` where one is named."""
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self)
        if path is not None:
            write_text(path, text.getvalue())
        return text.getvalue()


class Columns(dict[str, Column]):
    """Columns by their names, and the CSV that they are of, which has more."""

    csv = ""


def csv_of(table: Union[Iterable[Row], Columns]) -> str:
    """The CSV of a Table, of Columns or of rows."""
    if isinstance(table, (Table, Columns)):
        return table.csv if isinstance(table, Columns) else table.to_csv()
    rows = list(table)
    return Table(rows[0] if rows else (), rows).to_csv()


def read_csv(text: str) -> Table:
    """The table that CSV text holds."""
    rows = csv.DictReader(io.StringIO(text))
    return Table(rows.fieldnames or (), (row_of(row, row.values()) for row in rows))


def arrays_of(text: str, names: Iterable[str], missing: Optional[int] = None) -> Columns:
    """Columns of CSV text: array.array("q") (64-bit integers, numpy takes them without a copy), or
    lists of str. An empty number is `missing`."""
    rows = list(csv.DictReader(io.StringIO(text)))
    columns = Columns()
    columns.csv = text
    for name in names:
        cells = [row[name] for row in rows]
        if name in ("tensor", "access"):
            columns[name] = cells
        else:
            columns[name] = array.array("q", (int(cell) if cell else missing for cell in cells))
    return columns
