"""Pairs of points of one problem that differ in one thing, from the CSV of `sawtooth compare`."""

import errors
import table

COUNTERS = ("dram_read_sectors", "time_us")
# kind of change -> (column, before, after); None is any other value, and a number may grow only.
KINDS = {
    "longest first": ("q_order", "ascending", "descending"),
    "sawtooth": ("scan", "linear", "sawtooth"),
    "attach": ("scan", "linear", "attach"),
    "smaller sections": ("section", None, None),
    "wave prefetch": ("prefetch", "0", None),
    "tickets": ("launch", "static", "dynamic"),
    "hardware grid": ("launch", "static", "grid"),
    "split K/V": ("kv_split", "1", None),
}
SCHEDULE = (
    "tile_q tile_kv section q_order head_order launch workers ctas_per_sm scan prefetch kv_split "
    "loop lse"
).split()
PROBLEM = "gpu kernel batch heads kv_heads seq_q seq_kv head_dim dtype mask state".split()


def is_change(kind, before, after):
    column, first, second = KINDS[kind]
    if any(before[name] != after[name] for name in SCHEDULE if name != column):
        return False
    if before[column] == after[column]:
        return False
    if kind == "smaller sections":
        return int(after[column]) < int(before[column])
    return first in (None, before[column]) and second in (None, after[column])


def pairs(rows):
    """(kind, before, after) of rows of one group and counter."""
    for points in table.grouped(rows, *PROBLEM).values():
        for before in points:
            for after in points:
                for kind in KINDS:
                    if is_change(kind, before, after):
                        yield kind, before, after


def ratio(before, after, column):
    return table.number(after, column) / table.number(before, column)


def read(path):
    rows = [row for row in errors.read(path) if row["counter"] in COUNTERS]
    return [row for row in rows if errors.is_positive(row)]
