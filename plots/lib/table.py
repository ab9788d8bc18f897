"""CSV tables as lists of rows; standard library only. Columns are those that a table has."""

import argparse
import csv
import difflib
import io
import re
import sys

import output


def one_line(text):
    """Control characters become blanks, as in one_line() of the program: terminals would obey them."""
    return re.sub(r"[\0-\x1f\x7f-\x9f\u2028\u2029]", " ", text)


class TableError(Exception):
    """A table that cannot be used; the message names the file and says what is wrong, on one line."""

    def __init__(self, what):
        super().__init__(one_line(what))


class Parser(argparse.ArgumentParser):
    """Of options; what is wrong with them is a TableError."""

    def __init__(self, **how):
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **how)

    def error(self, message):
        raise TableError(f"{message}; see {self.prog} --help")


def exit_code(main, words, program, failed=""):
    """Of main(words); what goes wrong is one line on standard error and 2."""
    try:
        return main(words)
    except TableError as error:
        print(f"{program}: {error}", file=sys.stderr)
    except Exception as error:  # a table with unforeseen cells; never a traceback
        what = one_line(f"{type(error).__name__}: {error}")
        print(f"{program}{failed}: {what}", file=sys.stderr)
    return 2


class MissingColumn(TableError):
    """A table without a column that is needed."""


class Row(dict):
    """Cells by column, as text; a column that the table lacks is a TableError that names it."""

    path = "table"

    def __missing__(self, column):
        near = difflib.get_close_matches(column, map(str, self), 1)
        nearest = f"; did you mean {near[0]}?" if near else ""
        has = ", ".join(map(str, self))
        raise MissingColumn(f"{self.path}: no column {column}{nearest} (it has {has})")


def header(path):
    """The columns of the CSV at `path`."""
    try:
        return next(output.lines(path), "").rstrip("\r\n").split(",")
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f"{path}: cannot be read: {error}") from None


def read(path, columns=(), replaced=False):
    """Rows of the CSV at `path`, at least one; `columns` must be there. Only a table that is read to
    be `replaced` may be written again."""
    try:
        rows = [Row(row) for row in csv.DictReader(output.lines(path, replaced))]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise TableError(f"{path}: cannot be read: {error}") from None
    if not rows:
        raise TableError(f"{path}: no rows")
    for row in rows:
        row.path = path
    cells(rows[0], columns)
    return rows


def write(path, rows, columns=None):
    """Writes dictionaries, whole or not at all. Columns are those given, else all keys in the order
    of their first rows; a cell that a row lacks is empty."""
    columns = columns or list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    print_rows(text, rows, columns)
    output.write_text(path, text.getvalue())


def print_rows(file, rows, columns):
    writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def cells(row, columns):
    """The cells of several columns, in their order."""
    return tuple(row[column] for column in columns)


def where(rows, **wanted):
    """Rows whose columns equal `wanted`; values are compared as text."""
    return [row for row in rows if all(row[k] == str(v) for k, v in wanted.items())]


def only(rows, **wanted):
    """The one row whose columns equal `wanted`."""
    found = where(rows, **wanted)
    if len(found) != 1:
        path = rows[0].path if rows else "table"
        raise TableError(f"{path}: {len(found)} rows with {wanted}, wanted exactly one")
    return found[0]


def values(rows, column):
    """The different values of a column, in the order of their first rows."""
    return list(dict.fromkeys(row[column] for row in rows))


def grouped(rows, *columns):
    """{values of the columns: rows}, in the order of first rows; of one column, {value: rows}."""
    groups = {}
    for row in rows:
        key = row[columns[0]] if len(columns) == 1 else cells(row, columns)
        groups.setdefault(key, []).append(row)
    return groups


def ini(columns, points):
    """Sections of a configuration, a point each, with its values of these columns of results.csv that it has."""
    keys = [column.replace("_", "-").replace("seq-kv", "seq") for column in columns]
    lines = lambda point: "".join(f"{key} = {v}\n" for key, v in zip(keys, point) if v != "")
    return "".join(f"\n[{number}]\n{lines(point)}" for number, point in enumerate(points, 1))


def ascending(rows, column):
    return sorted(rows, key=lambda row: integer(row, column))


def converted(row, column, kind, name):
    try:
        return kind(row[column])
    except (TypeError, ValueError):
        path = getattr(row, "path", "table")
        raise TableError(f"{path}: {column} is '{row[column]}', wanted {name}") from None


def integer(row, column):
    """A count; an empty cell means that the model has no such counter and is an error here."""
    return converted(row, column, int, "a whole number")


def number(row, column):
    return converted(row, column, float, "a number")


def integers(rows, column):
    return [integer(row, column) for row in rows]


def numbers(rows, column):
    return [number(row, column) for row in rows]


MOST_CELLS = 1 << 22  # of a wavefront: workers x steps


def wavefront(rows):
    """Columns worker, step and kv_tile as integers, and (workers, steps)."""
    columns = [integers(rows, column) for column in ("worker", "step", "kv_tile")]
    shape = tuple(1 + max(column) for column in columns[:2])
    if min(map(min, columns)) < 0 or shape[0] * shape[1] > MOST_CELLS:
        raise TableError(
            f"{rows[0].path}: {shape[0]} workers x {shape[1]} steps; at most {MOST_CELLS} together, from 0 on"
        )
    return columns, shape


MISSES = ("l2_read_miss_sectors", "l2_write_miss_sectors")


def misses(row):
    """Misses as the sawtooth paper counts them: of reads and of writes, in sectors."""
    return sum(integer(row, column) for column in MISSES)


def compulsory(row):
    """Sectors that must move: every byte that is read or written, once."""
    return integer(row, "cold_read_sectors") + integer(row, "l2_write_sectors")
