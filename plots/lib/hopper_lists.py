"""The lists of experiments/studies/hopper, measured and predicted, as medians that can be asked for.

    lists = Lists("experiments/data/h200/hopper.csv", {"half": "runs/hopper/half"})
    lists.measured("length", "dram_read_sectors", d=64, s="192K", scan="sawtooth")

What a question does not name must be the same in all of its rows, but for the repetition: two points
are never mixed.
"""

import os
import statistics

import table
from measures import short  # noqa: F401  (for those who ask questions)

NAMES = ("length", "launches", "scans", "prefetch", "sections", "split")
KIBI = 1024
# Short words of a question and the columns they stand for.
COLUMNS = dict(d="head_dim", s="seq_kv", heads="heads", mask="mask", section="section")
COLUMNS |= dict(order="q_order", launch="launch", ctas="ctas_per_sm", scan="scan")
COLUMNS |= dict(prefetch="prefetch", parts="kv_split")


def length(text):
    """Tokens of "128K" or "1000"."""
    text = str(text)
    return int(text[:-1]) * KIBI if text.endswith("K") else int(text)


class Lists:
    """`measured` is a folder with NAME.csv of `sawtooth measure`, or one table of all lists, whose
    `experiment` is hopper-NAME; `predictions` maps a model's name to the same of `sawtooth simulate`.
    """

    def __init__(self, measured, predictions):
        self.rows = self._read(measured)
        self.models = {model: self._read(path) for model, path in predictions.items()}

    @staticmethod
    def _read(path):
        if os.path.isdir(path):
            return {name: table.read(os.path.join(path, f"{name}.csv")) for name in NAMES}
        rows = table.read(path)
        return {name: table.where(rows, experiment=f"hopper-{name}") for name in NAMES}

    def points(self, name, **question):
        """The different points of a list that fit the question, as short words, in its order."""
        found = table.where(self.rows[name], **self._columns(question))
        return [dict(zip(COLUMNS, point)) for point in table.grouped(found, *COLUMNS.values())]

    def measured(self, name, column, **question):
        return self._median(self.rows[name], column, question)

    def predicted(self, model, name, column, **question):
        return self._median(self.models[model][name], column, question)

    def compulsory(self, name, **question):
        """Sectors that must be read once: a count of the problem, that any model's row has."""
        first = next(iter(self.models))
        return self._median(self.models[first][name], "cold_read_sectors", question)

    @staticmethod
    def _columns(question):
        wanted = {COLUMNS[word]: value for word, value in question.items()}
        if "seq_kv" in wanted:
            wanted["seq_kv"] = length(wanted["seq_kv"])
        return wanted

    def _one(self, rows, question):
        found = table.where(rows, **self._columns(question))
        points = len(table.grouped(found, *COLUMNS.values()))
        if points != 1:
            path = rows[0].path
            raise table.TableError(f"{path}: {points} points fit {question}, wanted exactly one")
        return found

    def _median(self, rows, column, question):
        return statistics.median(table.numbers(self._one(rows, question), column))
