#!/usr/bin/env python3
"""What do orders change, and when do they pay? Predicts pairs of schedules and fills README.md.

    orders.py SAWTOOTH             predicts the pairs of CHANGES and masks by blocks, and fills README.md, minutes
    orders.py SAWTOOTH --gains     also teaches each kernel of gains.csv from its linear scans, and predicts its launches
                                   beyond L2: half an hour of two cores
    orders.py SAWTOOTH --check     does the program still give the recorded pairs of AGAIN, and has README.md the figures
                                   of results/?

Measured are medians of points in experiments/data/h200/orders; results/ has what is predicted. Standard library only.
"""

import collections
import concurrent.futures
import csv
import itertools
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
DATA = ROOT / "experiments" / "data" / "h200" / "orders"
RESULTS = HERE / "results"
sys.path[:0] = [str(ROOT / "plots" / "lib"), str(HERE.parent)]
import fill  # noqa: E402  (the path above leads to it)
import judged  # noqa: E402
import measures  # noqa: E402
import table  # noqa: E402

KIB = 1024
MEGA = 1e6
SAME = 0.005  # compilers differ in the last digits of a time, and events in that order

POINT = "heads seq_kv head_dim mask tile_q tile_kv section q_order launch ctas_per_sm scan".split()
POINT += ["prefetch", "kv_split"]
BASE = dict(heads=1, head_dim=64, mask="none", tile_q=128, tile_kv=128, section=1, kv_split=1)
BASE |= dict(q_order="ascending", launch="static", ctas_per_sm=1, scan="linear", prefetch=0)
BOTH = ("before", "after")
# What changes; the point in words; what the point is beside BASE; what changes of it. Points of schedules.csv.
CHANGES = [
    (row["change"], row["point"], *(dict(w.split("=") for w in row[c].split()) for c in BOTH))
    for row in table.read(HERE / "lists" / "changes.csv")
]
AGAIN = 1  # so many of CHANGES take seconds

KERNEL = "kernel head_dim mask tile_q tile_kv".split()
LAUNCH = [*KERNEL, "ctas_per_sm", "launch", "seq_kv"]
HALF_OF_L2 = 30 << 20
TAUGHT_BEYOND = 2  # lengths beyond L2, of which at least one is left to be predicted
SHOWN = 0.05  # share of time from which on the sign of a change counts

BLOCKS = "kernel heads kv_heads seq_kv head_dim mask tile_kv launch scan q_order section".split()
SHORT = "hopper-short"  # what lists run at head dim 64
FLEX = "flex-attention"  # a system, whose launches have no keys of a schedule
BLOCK_MASKS = ("document:2048+16384+4096+512+32768+8192+1024+512", "window:16384+sink:128")
BLOCK_MASKS += ("blocks:random:0.2:1", "prefix-lm:16384")
DRAWN_BLOCKS = 0.2  # share of blocks that masks blocks:drawn_SEED_N.txt see

SHAPE = "batch heads kv_heads seq_kv mask".split()
SAME_TIME, SAME_READS = 1.005, 1.02  # as search has them
PREDICTED = ("predicted_us", "predicted_dram_read_sectors")


def run(words, folder=None):
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode != 0:
        raise table.TableError(f"{' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


# Pairs of schedules.


def pair_of(base, change):
    """The two points of a row of CHANGES, as cells of POINT."""
    before = {**BASE, **base, "seq_kv": int(base["seq_kv"]) * KIB}
    return [tuple(str(point[key]) for key in POINT) for point in (before, {**before, **change})]


def predict_pairs(program, changes):
    """A row a point of these pairs."""
    points = dict.fromkeys(cells for *_, base, change in changes for cells in pair_of(base, change))
    with tempfile.TemporaryDirectory() as folder:
        path, gpu = Path(folder, "points.ini"), judged.before("h200", folder)
        path.write_text(f"gpu = {gpu}\nseed = 1\n" + table.ini(POINT, points), encoding="utf-8")
        said = run([program, "simulate", path, "--quiet", "--csv=-"])
    columns = [*POINT, "dram_read_sectors", "cold_read_sectors", "time_us"]
    return [{c: row[c] for c in columns} for row in csv.DictReader(said.splitlines())]


# Masks by blocks.


def write_drawn(folder, mask):
    """The file of a mask blocks:drawn_SEED_N.txt, of N rows of N blocks, as FlexAttention ran it."""
    name = mask.removeprefix("blocks:")
    seed, blocks = map(int, name.removesuffix(".txt").split("_")[1:])
    rng = random.Random(seed)
    seen = [[rng.random() < DRAWN_BLOCKS for _ in range(blocks)] for _ in range(blocks)]
    lines = (" ".join(str(i) for i, one in enumerate(row) if one) for row in seen)
    Path(folder, name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def predict_blocks(program):
    rows, text = table.read(DATA / "blocks.csv"), "gpu = h200\ntiming = timed\nseed = 1\n"
    counters = ("dram_read_sectors", "time_us")
    with tempfile.TemporaryDirectory() as folder:
        for number, row in enumerate(rows):
            if row["mask"].startswith("blocks:drawn"):
                write_drawn(folder, row["mask"])
            ctas = 2 if row["kernel"] == SHORT else 1
            ours = f"tile-q = 128\nctas-per-sm = {ctas}\nkernel"
            ours = "system" if row["kernel"] == FLEX else ours
            text += f"[{number}]\n{ours} = {row['kernel']}\nseq = {row['seq_kv']}\n"
            keys = (key for key in BLOCKS if key not in ("kernel", "seq_kv") and row[key])
            text += "".join(f"{key.replace('_', '-')} = {row[key]}\n" for key in keys)
        Path(folder, "points.ini").write_text(text, encoding="utf-8")
        said = run([program, "simulate", "points.ini", "--quiet", "--csv=-"], folder)
    found = zip(rows, csv.DictReader(said.splitlines()), strict=True)
    made = [{key: row[key] for key in BLOCKS} | {c: of[c] for c in counters} for row, of in found]
    table.write(str(RESULTS / "blocks.csv"), made)
    lines = []
    for kernel, counter in itertools.product(("hopper", SHORT, "mma"), counters):
        off = [errors[counter] for row, _, errors in judged_blocks() if row["kernel"] == kernel]
        of = ("h200", "timed-halves", kernel, "masks", "all", counter)
        lines.append(judged.line_of(of, off, "masks by blocks"))
    judged.record(lines)


def judged_blocks():
    """(measured row, predicted one, errors by counter) of masks by blocks; no times of FlexAttention."""
    predicted = {table.cells(row, BLOCKS): row for row in table.read(RESULTS / "blocks.csv")}
    found = []
    for row in table.read(DATA / "blocks.csv"):
        counters = ("dram_read_sectors", "time_us")[: 1 if row["kernel"] == FLEX else 2]
        of = predicted[table.cells(row, BLOCKS)]
        found.append((row, of, {c: abs(float(of[c]) / float(row[c]) - 1) for c in counters}))
    return found


# Gains in time, taught from linear scans.


def taught_rows(rows):
    """Linear rows of the first lengths, of which one at least is beyond L2, and one sawtooth row within it."""
    rows = [row for row in rows if row["launch"] == "static"]
    lengths = sorted({int(row["seq_kv"]) for row in rows})
    beyond = [n for n in lengths if 4 * n * int(rows[0]["head_dim"]) > HALF_OF_L2]
    if not beyond or len(lengths) < 2:
        raise table.TableError("lengths within and beyond L2 are needed")
    last = beyond[: min(TAUGHT_BEYOND, max(1, len(beyond) - 1))][-1]
    alone = min(row["ctas_per_sm"] for row in rows)
    return [
        row
        for row in rows
        if row["scan"] == "linear"
        and int(row["seq_kv"]) <= last
        or row["scan"] == "sawtooth"
        and int(row["seq_kv"]) == lengths[1]
        and row["ctas_per_sm"] == alone
    ]


def predict_kernel(program, rows):
    """Rows of results/gains.csv for one kernel."""
    with tempfile.TemporaryDirectory() as folder:
        learnt, costs = Path(folder, "rows.csv"), Path(folder, "taught.ini")
        table.write(learnt, taught_rows(rows), list(rows[0]))
        run([program, "teach", learnt, "--output", costs, "--threads=1"])
        made = []
        for row in rows:
            beyond = 4 * int(row["seq_kv"]) * int(row["head_dim"]) > HALF_OF_L2
            if not beyond or row["scan"] not in ("linear", "sawtooth"):
                continue
            names = [*KERNEL[1:], "ctas_per_sm", "launch", "scan", "workers", "seq_q", "seq_kv"]
            words = [f"--{n.replace('_', '-')}={row[n]}" for n in (*names, "q_order", "lse")]
            words += ["--gpu=h200", f"--kernel-costs={costs}", "--threads=1", "--quiet"]
            said = run([program, "simulate", *words, "--timing=timed", "--l2=halves", "--csv=-"])
            found = next(csv.DictReader(said.splitlines()))
            kept = {column: row[column] for column in ("experiment", *LAUNCH, "scan")}
            made.append(kept | {c: found[c] for c in ("dram_read_sectors", "time_us")})
    return made


def predict_gains(program):
    """Kernels of one name that are compiled for one and for two CTAs an SM (Triton's) are taught apart."""
    kernels = {}
    for row in table.read(DATA / "gains.csv"):
        if row["experiment"] != "triton":
            apart = row["ctas_per_sm"] if row["kernel"].startswith("triton") else ""
            names = table.cells(row, ("experiment", *KERNEL))
            kernels.setdefault((*names, apart), []).append(row)
    made = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        running = {pool.submit(predict_kernel, program, rows): key for key, rows in kernels.items()}
        for job in concurrent.futures.as_completed(running):
            try:
                made += job.result()
            except table.TableError as error:
                print(*running[job], "refused:", error, file=sys.stderr)
    table.write(
        str(RESULTS / "gains.csv"), sorted(made, key=lambda row: [c.zfill(8) for c in row.values()])
    )


def gains():
    """A dictionary a pair linear, sawtooth: its kernel, measured and predicted change of time, and errors."""
    rows = table.read(RESULTS / "gains.csv")
    names = ("experiment", *LAUNCH, "scan")
    measured = {table.cells(row, names): row for row in table.read(DATA / "gains.csv")}
    pairs = table.grouped(rows, *names[:-1])
    for cells, found in pairs.items():
        if len(found) != 2:
            continue
        both = {row["scan"]: (measured[table.cells(row, names)], row) for row in found}
        line = {"kernel": found[0]["kernel"], "experiment": cells[0], "times": [], "reads": []}
        for real, made in both.values():
            line["times"].append(abs(float(made["time_us"]) / float(real["time_us"]) - 1))
            if real["dram_read_sectors"]:
                ratio = float(made["dram_read_sectors"]) / float(real["dram_read_sectors"])
                line["reads"].append(abs(ratio - 1))
        for which, name in enumerate(("measured", "predicted")):
            linear, sawtooth = (float(both[s][which]["time_us"]) for s in ("linear", "sawtooth"))
            line[name] = sawtooth / linear - 1
        yield line


def record_changes():
    """What the program says of a taught kernel's change of time: profiles/judged.csv."""
    sizes = [abs((1 + gain["predicted"]) / (1 + gain["measured"]) - 1) for gain in gains()]
    of = ("h200", "timed-halves", "taught", "forward", "all", "time_change")
    judged.record([judged.line_of(of, sizes, "gains")])


# The schedule that search chooses, against measured ones.


def choice(rows):
    """What search takes of measured rows by their predictions (experiments/sawtooth/search/ranking.cpp)."""
    rows = [row for row in rows if row["scan"] != "attach"]
    time, reads = (lambda row, n=n: float(row[n]) for n in PREDICTED)
    near = [row for row in rows if time(row) <= SAME_TIME * min(map(time, rows))]
    return min((row for row in near if reads(row) <= SAME_READS * min(map(reads, near))), key=time)


def proof(which):
    """Of each shape of a list: regret, excess of DRAM reads where all near ones are counted, gain over usual."""
    rows = table.where(table.read(DATA / "proof.csv"), list=which)
    for shape in table.grouped(rows, *SHAPE).values():
        chosen = choice(shape)
        least = min(float(row["time_us"]) for row in shape)
        found = {"regret": float(chosen["time_us"]) / least - 1}
        near = [row for row in shape if float(row["time_us"]) <= SAME_TIME * least]
        usual = table.where(shape, launch="grid", scan="linear", section="1")
        if usual:
            fastest = min(float(row["time_us"]) for row in usual)
            found["usual"] = fastest / float(chosen["time_us"]) - 1
        if all(row["dram_read_sectors"] for row in (*near, chosen)):
            fewest = min(float(row["dram_read_sectors"]) for row in (*near, chosen))
            found["excess"] = float(chosen["dram_read_sectors"]) / fewest - 1
        yield found


class Page:
    """The vocabulary of README.md."""

    def __init__(self):
        tables = (DATA / "schedules.csv", RESULTS / "changes.csv")
        self._measured, self._predicted = (
            {table.cells(row, POINT): row for row in table.read(path)} for path in tables
        )
        self._gains, self._blocks = list(gains()), judged_blocks()

    def _change(self, rows, base, change, column):
        before, after = (float(rows[cells][column]) for cells in pair_of(base, change))
        return 100 * (after / before - 1)

    def changes(self):
        """A line a pair of schedules of kernels/mma: what changes in DRAM reads and in time."""
        lines = []
        for what, point, base, change in CHANGES:
            both = [self._measured[cells]["dram_read_sectors"] for cells in pair_of(base, change)]
            cells = [what, point, " to ".join(f"{float(count) / MEGA:.1f}" for count in both)]
            for column, digits in (("dram_read_sectors", 0), ("time_us", 1)):
                for rows in (self._measured, self._predicted):
                    cells.append(f"{self._change(rows, base, change, column):+.{digits}f}")
            lines.append(cells)
        return fill.table("change|point|DRAM reads, M|%|predicted|time, %|predicted", lines)

    def blocks(self):
        """A line a kernel: errors of DRAM reads and of times under masks by blocks, median and 90 %."""
        lines = []
        for kernel in ("hopper", SHORT, "mma", FLEX):
            found = [errors for row, _, errors in self._blocks if row["kernel"] == kernel]
            lines.append([kernel, len(found)])
            for counter in ("dram_read_sectors", "time_us"):
                off = [errors[counter] for errors in found if counter in errors]
                lines[-1].append(measures.middle_and_ninety(off) if off else "")
        return fill.table("kernel|launches|DRAM reads, %|time, %", lines)

    def block_orders(self):
        """A line a mask: DRAM reads of a grid by scan and section, in M, measured/predicted."""
        scans = [(scan, section) for section in "14" for scan in ("linear", "sawtooth", "attach")]
        reads = lambda row: f"{float(row['dram_read_sectors']) / MEGA:.1f}"
        found = {
            table.cells(row, ("mask", "scan", "section", "launch")): f"{reads(row)}/{reads(of)}"
            for row, of, _ in self._blocks
        }
        lines = ((mask, *(found[mask, *of, "grid"] for of in scans)) for mask in BLOCK_MASKS)
        return fill.table("|".join(("mask", *map(",".join, scans))), lines)

    def kernels(self):
        """A line a kernel: what sawtooth changes in time beyond L2, as measured and as predicted from linear scans."""
        lines = []
        groups = {}
        for gain in self._gains:
            name = gain["kernel"]
            if name.startswith("triton"):
                name = f"Triton, stages: {name.split('-')[1]}"
            elif name not in ("mma-1-stage", "mma-half-step"):
                name = "hopper, mma, mma-3-stages, mma-tma"
            groups.setdefault(name, []).append(gain)
        for name, found in [*sorted(groups.items()), ("all", self._gains)]:
            measured = [100 * gain["measured"] for gain in found]
            off = [abs(gain["predicted"] - gain["measured"]) for gain in found]
            big = [gain for gain in found if abs(gain["measured"]) > SHOWN]
            right = sum(gain["measured"] * gain["predicted"] > 0 for gain in big)
            cells = [name, len(found), f"{min(measured):+.1f} to {max(measured):+.1f}"]
            cells += [measures.middle_and_ninety(off, ", "), f"{right} of {len(big)}"]
            lines.append(cells)
        head = "kernel|pairs|change of time, %|off by, points: median, 90 %|sign right"
        return fill.table(head, lines)

    def taught(self, what):
        """Errors (`times`, `reads`) of taught kernels' predictions: median and 90 % in percent."""
        found = [error for gain in self._gains for error in gain[what]]
        return measures.middle_and_ninety(found, " and ") + " %"

    def of_shapes(self, which, what):
        """Median, 90 % and worst in percent, and of how many shapes."""
        values = [100 * found[what] for found in proof(which) if what in found]
        figures = (statistics.median(values), measures.quantile(values, 0.9), max(values))
        return " / ".join(f"{value:.2f}" for value in figures) + f" of {len(values)}"

    def slowest_sawtooth(self):
        """The most and the least that sawtooth changes in the time of kernels/mma, in percent, without a mask."""
        scan, found = POINT.index("scan"), []
        for cells, row in self._measured.items():
            other = (*cells[:scan], "sawtooth", *cells[scan + 1 :])
            if cells[scan] == "linear" and row["mask"] == "none" and other in self._measured:
                found.append(float(self._measured[other]["time_us"]) / float(row["time_us"]) - 1)
        return f"{100 * min(found):+.1f} to {100 * max(found):+.1f} % over {len(found)} pairs"


def main(words):
    parser = table.Parser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--gains", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(words)
    program = os.path.abspath(options.program)
    if options.check:
        known = {table.cells(row, POINT): row for row in table.read(RESULTS / "changes.csv")}
        for row in predict_pairs(program, CHANGES[:AGAIN]):
            before = known[table.cells(row, POINT)]
            for column in ("dram_read_sectors", "time_us"):
                if abs(float(row[column]) / float(before[column]) - 1) > SAME:
                    raise table.TableError(f"{column} is {row[column]}, was {before[column]}")
        return fill.study(HERE, Page())
    table.write(RESULTS / "changes.csv", predict_pairs(program, CHANGES))
    predict_blocks(program)
    if options.gains:
        predict_gains(program)
        record_changes()
    return fill.study(HERE, Page())


if __name__ == "__main__":
    sys.exit(table.exit_code(main, sys.argv[1:], "orders.py"))
