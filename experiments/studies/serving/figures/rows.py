"""Rows of the study's tables, of which the parts of its page are made."""

import functools
import statistics

import table


class Rows:
    """Predicted rows of a folder, measured ones of another, and those of the problems in two ways."""

    def __init__(self, folder, measured, ways):
        self._folder = folder
        self._data = measured
        self._ways = ways

    @functools.cache
    def _rows(self, name):
        return table.read(str(self._folder / f"{name}.csv"))

    @functools.cache
    def _measured(self, name):
        return table.read(str(self._data / f"{name}.csv"))

    mean = staticmethod(statistics.mean)
    median = staticmethod(statistics.median)
