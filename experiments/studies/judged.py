#!/usr/bin/env python3
"""Tables of a study's page: errors of predictions, and what a change of schedule is worth.

    judged.py errors ERRORS.csv --set NAME [--where COLUMN[!]=VALUE ...] --to FOLDER/results/judged.csv
    judged.py keep ROWS.csv --to FOLDER/results/NAME.csv
    judged.py page FOLDER [--check]
    judged.py before GPU FOLDER

errors adds lines to a table: of each counter in ERRORS.csv (of `sawtooth compare --csv`) the points, the
median, 90 % and worst of their errors, and how many pairs of schedules of one problem are in the right
order; of the sets in SAID they are also what the program says in its column `judged`: profiles/judged.csv.
keep copies predicted rows, less the columns that say the same in all of them. page fills the
README.md of a study, or says whether it is current; fields are the methods of Page. before prints
the file of a GPU where kernels/hopper is as it was when older rows were measured.
"""

import itertools
import re
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parents[1] / "plots" / "lib"), str(HERE / "prediction")]
import fill  # noqa: E402  (the path above leads to it)
import intervals  # noqa: E402
import measures  # noqa: E402
import table  # noqa: E402

DATA = HERE.parent / "data"
PROBLEM = (
    "batch heads kv_heads seq_q seq_kv head_dim dtype mask lengths keys prefix prefix_group page_table"
).split()
NAMES = {
    "sm_read_sectors": "SMs' reads",
    "l2_reduction_sectors": "reductions",
    "l2_read_sectors": "L2 reads",
    "l2_read_miss_sectors": "near misses",
    "dram_read_sectors": "DRAM reads",
    "dram_write_sectors": "DRAM writes",
    "time_us": "time",
}
DIFFERENT = 1.05  # measured values of two schedules that differ by more have an order
SECTOR_BYTES = 32
FEW_WRITES = 0.05  # of what the backward pass leaves: dQ in float, dK and dV; the rest stays in L2
# What the program says of a model, and where that stands.
JUDGED = "gpu model kernel points kind counter count median ninety list".split()
PROFILE = str(HERE.parent / "profiles" / "judged.csv")
SHOWN = ("dram_read_sectors", "time_us")
SAID = {
    "backward": [f"{g}, drawn, kernels/{f}" for g in ("H100", "H200") for f in ("mma", "hopper")],
    "serving": ["H200, drawn, K and V read again", "H100, drawn, all"],
    "ring": ["H100, drawn, each step"],
}
FEWEST = 10  # points of a kind, or pairs, that have a line of their own
# [pace] of kernels/hopper as it was until 2026-11-29, on cards of then.
PACE_BEFORE = {"h200": "1.005", "h100-sxm": "0.996"}
KEYS = "lengths kv_split dq pack_gqa prefix cascade ring ring_rank ring_step".split()
KEYS += intervals.POINT
COLUMNS = "set model counter points median ninety worst pairs right held".split()


def chosen(rows, conditions):
    """Rows that meet all of COLUMN=VALUE and COLUMN!=VALUE."""
    for condition in conditions:
        column, value = condition.split("=", 1)
        wanted = not column.endswith("!")
        rows = [row for row in rows if (row[column.removesuffix("!")] == value) == wanted]
    return rows


def writes_little(row):
    """Whether a backward launch writes so little to DRAM that relative errors of it say nothing."""
    if row.get("pass") != "backward" or row["counter"] != "dram_write_sectors":
        return False
    of = lambda column: table.integer(row, column)
    elements = of("heads") * of("seq_q") * 4 + 2 * of("kv_heads") * of("seq_kv") * 2
    left = of("batch") * elements * of("head_dim") / SECTOR_BYTES
    return table.number(row, "measured") <= FEW_WRITES * left


def pairs_in_order(rows):
    """(pairs of schedules of one problem whose measured values differ, those in the right order)."""
    differ = right = 0
    if "of" in rows[0]:  # parts of a ring, which are no schedules
        return "", ""
    known = [key for key in PROBLEM if key in rows[0]]
    for of_problem in table.grouped(rows, *known).values():
        values = [(table.number(r, "measured"), table.number(r, "predicted")) for r in of_problem]
        for (one, told), (other, told_of_other) in itertools.combinations(values, 2):
            if max(one, other) > DIFFERENT * min(one, other):
                differ += 1
                right += (told < told_of_other) == (one < other)
    return differ, right


def is_held(row):
    low, high = (float(row[f"predicted_{end}"]) for end in ("low", "high"))
    return low <= float(row["measured"]) <= high


def errors_of(rows, name):
    """A line of judged.csv for each model and counter of some rows of errors."""
    timing = lambda row: row["group"].split(",")[0]
    keys = dict.fromkeys((timing(row), row["counter"]) for row in rows)
    for model, counter in keys:
        points = [row for row in rows if (timing(row), row["counter"]) == (model, counter)]
        points = [row for row in points if row["relative_error"] and not writes_little(row)]
        if counter not in NAMES or not points:
            continue
        sizes = [abs(table.number(row, "relative_error")) for row in points]
        found = statistics.median(sizes), measures.quantile(sizes, 0.9), max(sizes)
        cells = (name, model, counter, len(points), *(f"{e:.6f}" for e in found))
        inside = [is_held(row) for row in points if row.get("predicted_low")]
        held = f"{statistics.fmean(inside):.4f}" if inside else ""
        yield dict(zip(COLUMNS, (*cells, *pairs_in_order(points), held)))


def kind_of(row):
    """The kind of a point by its row of errors of DRAM reads; nothing where compulsory reads are not known."""
    if not row.get("over_compulsory"):
        return None
    cold = table.number(row, "measured") / table.number(row, "over_compulsory")
    return intervals.kind_of({**row, SHOWN[0]: row["predicted"], "cold_read_sectors": cold})


def line_of(cells, sizes, name):
    """A line of profiles/judged.csv: the first of JUDGED, errors and whose."""
    errors = (f"{e:.4f}" for e in (statistics.median(sizes), measures.quantile(sizes, 0.9)))
    return dict(zip(JUDGED, (*cells, len(sizes), *errors, name)))


def judgements(rows, points, name, kernel=None):
    """Lines of profiles/judged.csv for rows of errors: of each GPU, model and kernel, over all points and by kind."""
    point = lambda row: (row["group"], *(v for k, v in row.items() if k in KEYS))
    kinds = {point(row): kind_of(row) for row in table.where(rows, counter=SHOWN[0])}
    found, timed = {}, {}
    for row in rows:
        if row["counter"] not in SHOWN or not row["relative_error"]:
            continue
        model = "-".join(row["group"].split(", ")[:2])
        of = (row["gpu"], model, kernel or row["kernel"] or "mma", points)
        for kind in ("all", kinds.get(point(row))):
            error = abs(table.number(row, "relative_error"))
            found.setdefault((*of, kind, row["counter"]), []).append(error)
        if row["counter"] == "time_us" and "of" not in row:  # parts of a ring are no schedules
            timed.setdefault((*of, "all", "time_change"), []).append(row)
    for key, rows_of in timed.items():
        problem = [column for column in PROBLEM if column in rows_of[0]]
        found[key] = [abs(error) for error, *_ in intervals.change_errors(rows_of, problem)]
    for key, sizes in found.items():
        if key[4] and len(sizes) >= (1 if key[4] == "all" and key[5] in SHOWN else FEWEST):
            yield line_of(key, sizes, name)


def record(lines):
    """Puts lines into profiles/judged.csv, in the place of those of the same GPU, model, kernel and points."""
    lines = list(lines)
    same = lambda line: tuple(line[column] for column in JUDGED[:4])
    replaced = {same(line) for line in lines}
    lines += [line for line in table.read(PROFILE, replaced=True) if same(line) not in replaced]
    lines.sort(key=lambda line: [line[column] for column in JUDGED[:6]])
    table.write(PROFILE, lines, JUDGED)


def add_errors(options):
    rows = chosen(table.read(options.table), options.where)
    for points in (kind for kind, sets in SAID.items() if options.set in sets):
        record(judgements(rows, points, options.set))
    path = Path(options.to)
    lines = table.read(options.to, replaced=True) if path.exists() else []
    lines = [line for line in lines if line["set"] != options.set]
    table.write(options.to, [*lines, *errors_of(rows, options.set)], COLUMNS)


def keep(options):
    rows = table.read(options.table)
    spread = ("_low", "_high", "_id", "tflops", "inputs")
    columns = [
        name for name in rows[0] if len(table.values(rows, name)) > 1 and not name.endswith(spread)
    ]
    table.write(options.to, [{name: row[name] for name in columns} for row in rows], columns)


class Page:
    """What the fields of a README.md are computed from: results/ of its study, and experiments/data."""

    def __init__(self, folder):
        self._folder = Path(folder)

    def _rows(self, name):
        """A table of results/, or of experiments/data where the name has a folder."""
        folder = DATA if "/" in name else self._folder / "results"
        return table.read(folder / f"{name}.csv")

    def errors(self, *counters, model="timed", sets=None):
        """A Markdown table: a line for each set of points that the model was judged on, and a column
        for each counter with the median, 90 % and worst of the errors in percent."""
        judged = table.where(self._rows("judged"), model=model)
        heads = ["points", *(f"{NAMES[counter]}, %" for counter in counters)]
        lines = [f"| {model} | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
        for name in sets or table.values(judged, "set"):
            of = {row["counter"]: row for row in table.where(judged, set=name)}
            cells = [max((row["points"] for row in of.values()), key=int)]
            for counter in counters:
                found = (
                    [float(of[counter][c]) for c in ("median", "ninety", "worst")]
                    if counter in of
                    else []
                )
                cells.append("/".join(f"{100 * e:.{1 if e < 0.0995 else 0}f}" for e in found))
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def order(self, name, counter="time_us", model="timed"):
        """How many pairs of schedules are in the right order, of how many that differ."""
        row = table.only(self._rows("judged"), set=name, counter=counter, model=model)
        return f"{row['right']} of {row['pairs']}"

    def changes(self, name, column, of, over, **wanted):
        """(least, median, most) of a column of rows with the cells `of` over those with the cells
        `over` that are about the same problem and agree in all other cells that are wanted."""
        rows = table.where(self._rows(name), **wanted)
        known = [key for key in PROBLEM if key in rows[0] and key not in over]
        pick = lambda cells: table.grouped(table.where(rows, **cells), *known)
        ours, others = pick(of), pick(over)
        middle = lambda group: statistics.median(table.numbers(group, column))
        found = [middle(ours[key]) / middle(others[key]) for key in ours if key in others]
        return min(found), statistics.median(found), max(found)

    def ratios(self, *names, **wanted):
        """changes() in words."""
        least, middle, most = self.changes(*names, **wanted)
        return f"{least:.2f} to {most:.2f} (median {middle:.2f})"

    def choices(self, name, column, across, usual, **wanted):
        """A Markdown table of what each other cell than the usual ones changes in a column, by `across`."""
        rows = table.where(self._rows(name), **wanted)
        places = table.values(rows, across)
        lines = ["| instead of | " + " | ".join(places) + " |", "|---" * (len(places) + 1) + "|"]
        for key in usual:
            for cell in table.values(rows, key):
                if cell == usual[key]:
                    continue
                cells = []
                for place in places:
                    of = {**usual, across: place, **wanted}
                    try:
                        ratio = self.changes(name, column, {**of, key: cell}, of)[1]
                        cells.append(
                            f"{ratio:.0f} times" if ratio > 2.5 else f"{100 * (ratio - 1):+.0f} %"
                        )
                    except ValueError:
                        cells.append("")
                lines.append(f"| `{key} = {usual[key]}`: `{cell}` | " + " | ".join(cells) + " |")
        return "\n".join(lines)


def before(gpu, folder):
    """The profile of a GPU with what kernels/hopper cost until 2026-11-29 (profiles/kernels/hopper-before.ini),
    written to `folder`: for rows that were measured until then."""
    text = (Path(PROFILE).parent / "gpus" / f"{gpu}.ini").read_text(encoding="utf-8")
    text = re.sub(r"(?m)^hopper-h200 = [0-9.]+", f"hopper-before = {PACE_BEFORE[gpu]}", text)
    if base := re.search(r"(?m)^base = (\S+)", text):
        before(base[1], folder)  # found beside it
    path = Path(folder) / f"{gpu}.ini"
    path.write_text(text.replace("hopper-h200", "hopper-before"), encoding="utf-8")
    return path


def main(words):
    parser = table.Parser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("errors", "keep"):
        command = commands.add_parser(name)
        command.add_argument("table")
        command.add_argument("--to", required=True)
        if name == "errors":
            command.add_argument("--set", required=True)
            command.add_argument("--where", nargs="*", default=[], metavar="COLUMN[!]=VALUE")
    command = commands.add_parser("page")
    command.add_argument("folder")
    command.add_argument("--check", action="store_true")
    command = commands.add_parser("before")
    command.add_argument("gpu", choices=PACE_BEFORE)
    command.add_argument("folder")
    options = parser.parse_args(words)
    if options.command == "before":
        print(before(options.gpu, options.folder))
    elif options.command == "errors":
        add_errors(options)
    elif options.command == "keep":
        keep(options)
    else:
        folder = Path(options.folder).resolve()
        return fill.study(folder, Page(folder))
    return 0


if __name__ == "__main__":
    sys.exit(table.exit_code(main, sys.argv[1:], "judged.py"))
