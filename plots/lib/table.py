"""CSV tables as lists of dictionaries; standard library only."""

import csv


class TableError(Exception):
    """A table that cannot be used; the message names the file and says what is wrong."""


def read(path, columns):
    """Rows of the CSV at `path`, which must have `columns` and at least one row."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            rows = list(reader)
            header = reader.fieldnames or []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise TableError(f"{path}: cannot be read: {error}") from None
    missing = [column for column in columns if column not in header]
    if missing:
        raise TableError(f"{path}: no column {', '.join(missing)} (it has {', '.join(header)})")
    if not rows:
        raise TableError(f"{path}: no rows")
    for row in rows:
        row["_path"] = path
    return rows


def where(rows, **wanted):
    """Rows whose columns equal `wanted`; values are compared as text."""
    return [row for row in rows if all(row.get(k) == str(v) for k, v in wanted.items())]


def only(rows, **wanted):
    """The one row whose columns equal `wanted`."""
    found = where(rows, **wanted)
    if len(found) != 1:
        path = rows[0]["_path"] if rows else "table"
        raise TableError(f"{path}: {len(found)} rows with {wanted}, wanted exactly one")
    return found[0]


def values(rows, column):
    """The different values of a column, in the order of their first rows."""
    return list(dict.fromkeys(row[column] for row in rows))


def integer(row, column):
    """A count; an empty cell means that the model has no such counter and is an error here."""
    try:
        return int(row[column])
    except (KeyError, TypeError, ValueError):
        text = row.get(column)
        raise TableError(f"{row.get('_path')}: {column} is '{text}', wanted a whole number") from None


def number(row, column):
    try:
        return float(row[column])
    except (KeyError, TypeError, ValueError):
        text = row.get(column)
        raise TableError(f"{row.get('_path')}: {column} is '{text}', wanted a number") from None


def misses(row):
    """Misses as the sawtooth paper counts them: of reads and of writes, in sectors."""
    return integer(row, "l2_read_miss_sectors") + integer(row, "l2_write_miss_sectors")


MISSES = ("l2_read_miss_sectors", "l2_write_miss_sectors")
