#!/usr/bin/env python3
"""Other people's kernels, each learnt by `sawtooth learn` from ten launches, and predicted where it was not taught.

    gallery.py record FOLDER SAWTOOTH    records LAUNCHES of each kernel into FOLDER/gallery.csv; a GPU, PyTorch, Triton
    gallery.py learn SAWTOOTH [KERNEL]   learns them from the recorded rows and fills README.md; half an hour of a core
    gallery.py unknown SAWTOOTH          what share of launches lies in the range of --kernel unknown, and how wide it is
    gallery.py check                     is README.md what results/gallery.csv gives?

Standard library only; a further kernel is a line of LAUNCHES.
"""

import collections
import concurrent.futures
import csv
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROWS = HERE.parents[1] / "data" / "h200" / "foreign" / "gallery.csv"
CENSUS = ROWS.with_name("census.csv")  # recorded in 2026; its programs are not kept
RESULTS = HERE / "results" / "gallery.csv"
sys.path.append(str(HERE.parents[2] / "plots" / "lib"))
import fill  # noqa: E402  (the path above leads to it)
import measures  # noqa: E402
import table  # noqa: E402

# what -> the names of its launches (a regular expression), and arguments of program.py
LAUNCHES = {
    row["what"]: (row["kernel"], row["arguments"]) for row in table.read(HERE / "launches.csv")
}
BUDGET, SHORT, FEW = 12, 8, 20  # two less teach; of fewer launches than the last one SHORT
POINT = ("seq_q", "heads", "mask", "scan")
COUNTERS = ("dram_read_sectors", "time_us")
LAUNCH = ("kernel_name", "grid", "block", "shared_bytes", "registers")
COLUMNS = ("what", "gpu", "head_dim", "dtype", *POINT, *LAUNCH, "sm_read_sectors", *COUNTERS)
SHOWN = 0.05  # of time, from which on the sign of a gain counts
METRICS = "dram__sectors_read.sum,l1tex__m_xbar2l1tex_read_sectors.sum"


def median_behind_first(rows, column):
    """Of the launches of one problem; the first one loads the kernel."""
    return statistics.median(float(row[column]) for row in rows[1:] or rows)


def points_of(words):
    """(seq, heads, mask, scan) in the order in which program.py launches them."""
    given = dict(zip(words[::2], words[1::2]))
    values = lambda key, usual: given.get(key, usual).split(",")
    axes = (values("--seq", ""), values("--heads", "1"), values("--causal", "0"))
    for seq, heads, causal, scan in itertools.product(*axes, values("--scan", "linear")):
        mask = "causal" if causal == "1" else "none"
        yield int(seq[:-1]) * 1024, heads, mask, "" if scan == "linear" else scan


def record(folder, program):
    kept = []
    for what, (name, words) in LAUNCHES.items():
        words = words.split()
        with tempfile.TemporaryDirectory() as work:
            rows = Path(work) / "rows.csv"
            options = f"--gpu h200 --flush --kernel {name} --metrics {METRICS} --csv {rows}"
            command = [program, "record", *options.split(), "--", sys.executable]
            command += [HERE / "program.py", what.split(",")[0]]
            subprocess.run([*command, *words], check=True)
            recorded = table.read(str(rows))
        points = list(points_of(words))
        launches = len(recorded) // len(points)
        width = dict(zip(words[::2], words[1::2])).get("--head-dim", "128")
        for i, point in enumerate(points):
            rows = recorded[i * launches : (i + 1) * launches]
            row = dict(rows[-1], what=what, head_dim=width, dtype="bf16", **dict(zip(POINT, point)))
            for column in ("sm_read_sectors", *COUNTERS):
                row[column] = f"{median_behind_first(rows, column):.0f}"
            kept.append({column: row[column] for column in COLUMNS})
    table.write(f"{folder}/gallery.csv", kept)


def learn(program, what):
    """Rows of results/gallery.csv of one kernel: what `simulate --system` says of every launch."""
    rows = table.where(table.read(str(ROWS)), what=what)
    with tempfile.TemporaryDirectory() as work:
        given, system, points = (
            str(Path(work) / name) for name in ("rows.csv", "mine.ini", "points.ini")
        )
        table.write(given, [{c: row[c] for c in COLUMNS if c != "what"} for row in rows])
        command = [program, "learn", "--rows", given, "--output", system]
        command += ["--threads=2", f"--budget={BUDGET if len(rows) > FEW else SHORT}"]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        description = said.splitlines()[1].strip()
        usual = description.split("scan = ")[1]
        of_rows = ((r["seq_q"], r["heads"], r["mask"], r["scan"] or usual) for r in rows)
        head = f"gpu = h200\nhead-dim = {rows[0]['head_dim']}\nsystem = {system}\n"
        sections = table.ini(("seq_kv", "heads", "mask", "scan"), of_rows)
        Path(points).write_text(head + sections, encoding="utf-8")
        command = [program, "simulate", points, "--quiet", "--threads=2", "--csv=-"]
        said_rows = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    is_taught = lambda row: described(row) in said.split("launches held back:\n")[0]
    made = []
    for row, predicted in zip(rows, csv.DictReader(said_rows.splitlines()), strict=True):
        cells = {column: row[column] for column in ("what", *POINT, *COUNTERS)}
        cells |= {f"predicted_{column}": predicted[column] for column in COUNTERS}
        made.append(cells | {"taught": int(is_taught(row)), "description": description})
    return made


def described(row):
    """As learn prints a launch."""
    scan = f", {row['scan']}" if row["scan"] else ""
    return f"seq {row['seq_q']}, heads {row['heads']}, {row['mask']}{scan}:"


def census_line(row):
    value = {
        column: float(row[column] or "nan")
        for column in row
        if column.endswith("_sectors") or column == "time_us"
    }
    shape = f"D {row['head_dim']}, {row['mask']}" if row["head_dim"] else "16K x 8K"
    return (
        f"| {row['what']} | {shape} | {value['time_us'] / 1000:.2f} "
        f"| {value['l2_read_sectors'] / value['sm_read_sectors']:.0%} "
        f"| {1 - value['l2_read_miss_sectors'] / value['l2_read_sectors']:.1%} "
        f"| {value['dram_read_sectors'] / value['cold_read_sectors']:.2f} "
        f"| {value['l2_write_sectors'] / value['written_sectors']:.2f} |"
    )


UNKNOWN = (
    "system heads kv_heads seq_q seq_kv head_dim mask tile_q tile_kv q_order launch workers ctas_per_sm scan"
).split()


def print_range_of_unknown(program):
    """Of Triton's kernels, and of those of libraries, whose schedule is their system's; minutes."""
    data = ROWS.parents[1]
    rows = [r for r in table.read(f"{data}/orders/gains.csv") if r["kernel"].startswith("triton")]
    for row in rows:
        row.update(system="", heads="1", kv_heads="1")
    measured = collections.defaultdict(list)
    for row in rows + table.read(f"{data}/peers/peers.csv") + table.read(f"{data}/peers/gqa.csv"):
        measured[tuple(row[key] for key in UNKNOWN)].append(row)
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "unknown.ini"
        text = "gpu = h200\nkernel = unknown\n" + table.ini(UNKNOWN, measured)
        given.write_text(text, encoding="utf-8")
        command = [program, "simulate", given, "--quiet", "--csv", given.with_suffix(".csv")]
        subprocess.run(command, check=True)
        predicted = table.read(str(given.with_suffix(".csv")))
    for column in COUNTERS:
        inside, widths = [], []
        for row, real in zip(predicted, measured.values(), strict=True):
            low, high = float(row[column + "_low"]), float(row[column + "_high"])
            widths.append(high / low)
            inside += [low <= float(one[column]) <= high for one in real if one[column]]
        share = statistics.mean(inside)
        print(f"{column}: {share:.1%} of {len(inside)}, width {statistics.median(widths):.2f}")


class Page:
    """What README.md may ask."""

    def __init__(self, rows):
        self._rows = rows

    def _errors(self, rows, column):
        return [abs(float(row[f"predicted_{column}"]) / float(row[column]) - 1) for row in rows]

    def _held(self, what=None):
        return [r for r in self._rows if r["taught"] == "0" and what in (None, r["what"])]

    def _gains(self, what=None):
        """(measured, predicted) change of time by sawtooth, of launches held back in both orders or one."""
        places = {tuple(row[c] for c in ("what", *POINT)): row for row in self._rows}
        for (name, seq, heads, mask, scan), row in places.items():
            before = places.get((name, seq, heads, mask, ""))
            if scan and what in (None, name):
                yield tuple(
                    float(row[c]) / float(before[c]) - 1 for c in ("time_us", "predicted_time_us")
                )

    def off(self, column, what=None):
        """Median and 90 % of errors of launches held back, in percent."""
        return measures.middle_and_ninety(self._errors(self._held(what), column))

    def gains(self, what=None):
        """Points that gains are off by, median and 90 %."""
        off = [abs(a - b) for a, b in self._gains(what)]
        return measures.middle_and_ninety(off) if off else ""

    def census(self):
        """One launch each of many libraries' kernels at 64K keys, and of PyTorch's other kernels."""
        head = "| kernel | shape | time, ms | reads reach L2 | in the own half | DRAM reads | L2 writes |"
        rows = [row for row in table.read(str(CENSUS)) if row["head_dim"] != "64"]
        return "\n".join((head, "|---" * 7 + "|", *map(census_line, rows)))

    def signs(self):
        shown = [(a, b) for a, b in self._gains() if abs(a) > SHOWN]
        return f"{sum(a * b > 0 for a, b in shown)} of {len(shown)}"

    def pairs(self):
        return len(list(self._gains()))

    def held(self):
        return len(self._held())

    def kernels(self):
        lines = []
        for what in dict.fromkeys(row["what"] for row in self._rows):
            one = next(row for row in self._rows if row["what"] == what)
            keys = dict(word.split(" = ") for word in one["description"].split(", "))
            order = "/".join(keys[key] for key in ("launch", "q-order", "scan"))
            off = (self.off(column, what) for column in COUNTERS)
            lines.append((what, order, len(self._held(what)), *off, self.gains(what)))
        return fill.table("kernel|order|held|DRAM, %|time, %|gain", lines)


def main(arguments):
    match arguments:
        case ["record", folder, program]:
            record(folder, program)
            return 0
        case ["learn", program, *chosen]:
            made = []
            if chosen:
                kept = table.read(str(RESULTS), replaced=True)
                made = [row for row in kept if row["what"] not in chosen]
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as crew:
                for rows in crew.map(lambda what: learn(program, what), chosen or LAUNCHES):
                    made += rows
            order = list(LAUNCHES)
            table.write(str(RESULTS), sorted(made, key=lambda row: order.index(row["what"])))
            check = False
        case ["unknown", program]:
            print_range_of_unknown(program)
            return 0
        case ["check"]:
            check = True
        case _:
            sys.exit(__doc__)
    page = Page(table.read(str(RESULTS)))
    return fill.write_or_check(str(HERE / "README.md"), page, check, "gallery.py learn SAWTOOTH")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
