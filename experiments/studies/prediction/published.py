#!/usr/bin/env python3
"""Counters that others published, and what the program says of them by its defaults.

    published.py SAWTOOTH             predicts lists/published.csv: results/published.csv, published.md and its picture
    published.py SAWTOOTH --row FILE  prints the row of the list that a file of `key = value` lines describes

`given` rows were known while models were made; `found` ones were entered before anything predicted them; `sent` ones come by
--row (docs/guide/your-kernel.md). Standard library only, but for the picture.
"""

import csv
import io
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIST, RESULTS = HERE / "lists/published.csv", HERE / "results/published.csv"
PAGE = HERE / "published.md"
sys.path.insert(0, str(HERE.parents[2] / "plots" / "lib"))
import fill  # noqa: E402
import table  # noqa: E402

SECTOR = 32  # bytes
OVER = 1.5  # x compulsory: reuse matters
KEPT = "name set gpu counter published_sectors compulsory_sectors".split()
MADE = "predicted_sectors error model".split()
# What was counted, in columns of results.csv with their share.
COUNTED = {
    "dram_read": {"dram_read_sectors": 1},
    "dram_read_write": {"dram_read_sectors": 1, "dram_write_sectors": 1},
    "l2_read_miss": {"l2_read_miss_sectors": 1},
    "l2_read_miss_half_write": {"l2_read_miss_sectors": 1, "l2_write_miss_sectors": 0.5},
    "l2_miss": {"l2_read_miss_sectors": 1, "l2_write_miss_sectors": 1},
}


def predicted(program, row):
    """What the program says of a row's options; ends with a message where it says nothing."""
    words = [program, "simulate", *row["options"].split(), "--quiet", "--csv=-"]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    rows = list(csv.DictReader(io.StringIO(run.stdout)))
    if not rows or rows[0]["status"] != "ok":
        sys.exit(f"{row['name']}: {rows[0]['message'] if rows else run.stderr.strip()}")
    made, counted = rows[0], COUNTED[row["counter"]]
    written, cold = (int(made[column]) for column in ("l2_write_sectors", "cold_read_sectors"))
    # Lockstep leaves DRAM writes open. O is written evenly over the launch, and what L2 has last stays there.
    leaves = written * max(0, 1 - int(made["l2_bytes"]) / SECTOR / (written + cold))
    count = lambda column: float(made[column] or (leaves if "dram_write" in column else 0))
    sectors = round(sum(count(column) * share for column, share in counted.items()))
    writes = sum(share for column, share in counted.items() if "write" in column)
    return {
        "predicted_sectors": sectors,
        "error": f"{sectors / float(row['published_sectors']) - 1:.4f}",
        "model": f"{made['timing']}, {made['l2']}",
        "gpu": made["gpu"],
        "compulsory_sectors": round(cold + writes * written),
    }


def over_compulsory(row):
    """Published and predicted."""
    ends = (row["published_sectors"], row["predicted_sectors"])
    return [float(end) / float(row["compulsory_sectors"]) for end in ends]


class Page:
    """The vocabulary of published.md."""

    def __init__(self):
        self._rows = table.read(RESULTS)

    def errors(self, over=False, bound=float("inf")):
        """Those up to `bound` of rows that were found, without signs; `over`: beyond 1.5 x compulsory."""
        found = [row for row in self._rows if row["set"] == "found"]
        chosen = [row for row in found if not over or over_compulsory(row)[0] > OVER]
        return [error for row in chosen if (error := abs(float(row["error"]))) <= bound]

    def within(self, bound, over=False):
        return 100 * len(self.errors(over, bound)) / len(self.errors(over))

    def table(self):
        lines = []
        for row in self._rows:
            name = row["name"] + (" (given)" if row["set"] == "given" else "")
            ends = [f"{end:.2f}" for end in over_compulsory(row)]
            cells = (row["gpu"], name, row["counter"], *ends, f"{100 * float(row['error']):+.1f}")
            lines.append(cells)
        return fill.table("GPU|launch|counted|x compulsory|predicted|error, %", lines)


def draw():
    import figure

    fig, axes = figure.new_figure(height=figure.COLUMN_INCHES)
    for colour, (gpu, rows) in zip(figure.SERIES, table.grouped(Page()._rows, "gpu").items()):
        for row in rows:
            face = colour if row["set"] == "found" else "none"
            axes.plot(*over_compulsory(row), "o", color=colour, markerfacecolor=face)
        axes.plot([], [], "o", color=colour, label=gpu)
    figure.equality(axes, 0.5, 400)
    axes.set(xlabel="published, x compulsory", ylabel="predicted, x compulsory")
    axes.legend()
    figure.save(fig, str(HERE / "pictures/published.png"))


def sent(program, path):
    """The row of the list that a file of `key = value` lines describes, and what is predicted."""
    lines = [line.partition("=") for line in Path(path).read_text().splitlines() if "=" in line]
    row = {"set": "sent"} | {key.strip(): value.strip() for key, _, value in lines}
    columns = list(table.read(LIST)[0])
    missing = [key for key in columns if key not in {*row, "gpu", "compulsory_sectors"}]
    if missing or row["counter"] not in COUNTED:
        sys.exit(f"{path}: needs {', '.join(missing) or 'a counter of ' + ', '.join(COUNTED)}")
    made = predicted(program, row)
    return {column: (row | made)[column] for column in columns}, made


def main(program, path=None):
    if path is not None:
        row, made = sent(program, path)
        print(f"predicted: {made['predicted_sectors']} sectors, {made['error']}", file=sys.stderr)
        return table.print_rows(sys.stdout, [row], list(row))
    rows = [predicted(program, row) | row for row in table.read(LIST)]
    table.write(RESULTS, [{key: row[key] for key in KEPT + MADE} for row in rows])
    draw()
    return fill.write_or_check(PAGE, Page(), False, "published.py")


if __name__ == "__main__":
    if len(sys.argv) != 2 and sys.argv[2:3] != ["--row"]:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], *sys.argv[3:]))
