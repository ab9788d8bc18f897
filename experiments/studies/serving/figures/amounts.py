"""Amounts of errors of predictions, raw, in percent."""

import math
import statistics

import table

HEADS = ("points", "DRAM reads, median", "90 %", "worst", "time, median", "90 %", "worst")


def amounts(points, column):
    """Of [(predicted, measured)]."""
    return [
        abs(100 * (table.number(row, column) / table.number(launch, column) - 1))
        for row, launch in points
    ]


def median_tenth_worst(values):
    values = sorted(values)
    return statistics.median(values), values[math.ceil(0.9 * len(values)) - 1], values[-1]


def cells(points):
    """Of a row under HEADS."""
    shown = [str(len(points))]
    for column in ("dram_read_sectors", "time_us"):
        figures = median_tenth_worst(amounts(points, column))
        shown += [f"{figure:.1f} %" for figure in figures]
    return shown


def lines(first, kinds):
    """A Markdown table of {kind: points}, whose first column has a name."""
    made = [f"| {first} | " + " | ".join(HEADS) + " |", "|---" * (len(HEADS) + 1) + "|"]
    made += [f"| {kind} | " + " | ".join(cells(points)) + " |" for kind, points in kinds.items()]
    return "\n".join(made)
