#!/usr/bin/env python3
"""How well does the program predict what GPUs counted? Judges lists of measured points and fills README.md.

    prediction.py SAWTOOTH [LIST ...]     predicts and compares lists (all of LISTS: a quarter of an hour) and writes
                                          their rows of results/figures.csv; build/prediction/LIST keeps the tables
    prediction.py SAWTOOTH --unmeasured   the same of lists/unmeasured.ini: results/unmeasured.csv, ten minutes
    prediction.py SAWTOOTH --intervals    prints how wide intervals of predictions are ([intervals] of GPU profiles), by
                                          intervals.py on the opened lists: ten minutes
    prediction.py SAWTOOTH --check        seconds: does the program still give what is recorded of the list `calibration`,
                                          and has README.md the figures of results/?

Every list is predicted by a plain call of the best model (timed, halves; one launch, seed 0) and compared with the median
of each point's launches. Points are those of the measured rows, or of lists/LIST.ini. Errors are raw. Standard library only.
"""

import itertools
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
DATA = ROOT / "experiments" / "data"
BUILD = ROOT / "build" / "prediction"
TABLES = ("figures", "unmeasured", "held_out")
FIGURES, UNMEASURED, HELD_OUT = (HERE / "results" / f"{name}.csv" for name in TABLES)
sys.path[:0] = [str(ROOT / "plots" / "lib"), str(HERE), str(HERE.parent)]
import fill  # noqa: E402
import intervals  # noqa: E402
import judged  # noqa: E402
import measures  # noqa: E402
import table  # noqa: E402

# List: GPU, measured rows, kernels.
LISTS = {
    row["list"]: table.cells(row, ("gpu", "measured", "kernels"))
    for row in table.read(HERE / "lists" / "lists.csv")
}
# Those of the backward pass (studies/backward/lists), in whose time alone it has widths of its own.
BACKWARD = {
    "drawn_h100": ("h100-sxm", "h100/backward/drawn.csv", "h100/backward/drawn_mma.csv"),
    "drawn_h200": ("h200", "h200/backward/drawn.csv"),
    "drawn_again": ("h200", "h200/backward/drawn_again.csv"),
}
LIBRARY = "seq=16K,32K,64K,128K,256K head-dim=64,128 mask=none,causal".split()
POINT = "kernel heads kv_heads seq_kv head_dim mask tile_q tile_kv section q_order launch".split()
POINT += ["batch", "ctas_per_sm", "scan", "prefetch"]
DRAM, WRITES, TIME = "dram_read_sectors", "dram_write_sectors", "time_us"
# Counter: its name, and the goals that were set before any list was measured: median, 90 %.
COUNTERS = {
    DRAM: ("DRAM reads", 0.03, 0.10),
    "l2_read_miss_sectors": ("near misses", 0.04, 0.12),
    "fabric_read_sectors": ("fabric reads", 0.04, 0.12),
    "fabric_read_miss_sectors": ("fabric read misses", None, None),
    "l2_read_sectors": ("sectors let through by the coalescer", 0.08, 0.20),
    WRITES: ("DRAM writes", None, None),
    TIME: ("duration", 0.05, 0.12),
}
STATISTICS = "count median ninety worst covered half_width pairs order".split()
AGREE = 0.05  # launches of a point agree where their DRAM reads differ by less
JUDGES = "families_sixth"
SINCE = ("families_seventh", "families_eighth", "families_short")  # with today's kernels/hopper
LAST = {JUDGES: (JUDGES,), SINCE[1]: SINCE[:2], SINCE[2]: SINCE[2:]}  # judged together
MODEL, *SIMPLER = ("timed", "halves"), ("lockstep", "halves"), ("lockstep", "lru")
SAME = 0.005  # compilers differ in the last digits of a time, and events in that order


def options_of(name, gpu, measured, folder):
    """What `simulate` is told of a list: a file of points, or a library's shapes."""
    if name.startswith("families") and "short" not in name and name not in SINCE:
        gpu = judged.before(gpu, folder)
    if LISTS[name][2] == "library":
        return [f"--system={name}", f"--gpu={gpu}", *(f"--{option}" for option in LIBRARY)]
    kept = HERE / "lists" / f"{name}.ini"
    if kept.exists():
        return [str(kept), f"--gpu={gpu}"]
    rows = [row for row in table.read(measured) if row["experiment"] in (name, "")]
    path = folder / "points.ini"
    text = f"experiment = {name}\ngpu = {gpu}\n"
    path.write_text(text + table.ini(POINT, table.grouped(rows, *POINT)), encoding="utf-8")
    return [str(path)]


def run(words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def predict(program, name, folder, seed=0, model=MODEL):
    """The file of predictions of one list."""
    gpu, measured, _ = LISTS[name]
    folder.mkdir(parents=True, exist_ok=True)
    predicted = folder / "predicted.csv"
    said = options_of(name, gpu, DATA / measured, folder)
    timing, l2 = model
    said += [f"--timing={timing}", f"--l2={l2}", "--quiet", "--overwrite", f"--csv={predicted}"]
    run([program, "simulate", *said, f"--seed={seed}"])
    return predicted


def say_intervals(program, folder=BUILD / "intervals"):
    """The widths that two seeds of the opened lists of both kernel families, and of drawn ones, give; and which share of
    the points of each list those of the others hold: HELD_OUT."""
    names = [name for name in LISTS if name.startswith(("families", "drawn", "judgement"))]
    opened = [name for name in names if name != JUDGES]
    predicted = {}
    for seed, name in itertools.product((0, 1), names):
        rows = table.read(predict(program, name, folder / name / f"{seed}", seed))
        predicted[seed, name] = [{**row, "list": name} for row in rows]
    of = lambda seed, names: intervals.points([r for n in names for r in predicted[seed, n]])
    measured = lambda names: intervals.points(
        [r for path in sorted({LISTS[n][1] for n in names}) for r in table.read(DATA / path)]
    )
    known, lines = measured(names), []
    for name in names:
        differ = LISTS[name][0] == "h200"  # its lists are of several cards that differ in speed
        file = of(0, opened if name != JUDGES else [*opened, name])
        lines.append(intervals.held_out(name, differ, known, file))
    table.write(HELD_OUT, lines)
    backward = backward_points(program, folder)
    for title, widest_list in (("# h200", True), ("\n# h100-sxm", False)):
        print(title)
        intervals.print_widths(measured(opened), [of(seed, opened) for seed in (0, 1)], widest_list)
        intervals.print_widths(*backward, widest_list, [TIME])
    return 0


def backward_points(program, folder):
    """Measured points of BACKWARD, and those that two seeds predict; their families are a pass's own."""
    found = [[], [], []]
    for name, (gpu, *paths) in BACKWARD.items():
        found[0] += [row for path in paths for row in table.read(DATA / path)]
        for seed in (0, 1):
            predicted = folder / f"{name}-{seed}.csv"
            said = [HERE.parent / "backward" / "lists" / f"{name}.ini", f"--gpu={gpu}"]
            said += [f"--seed={seed}", "--timing=timed", "--quiet", "--overwrite"]
            run([program, "simulate", *said, f"--csv={predicted}"])
            found[1 + seed] += [{**row, "list": name} for row in table.read(predicted)]
    for row in itertools.chain(*found):
        row["kernel"] = (row["kernel"] or intervals.USUAL) + "-backward"
    measured, *files = map(intervals.points, found)
    return measured, files


def compare(program, name, folder, model=MODEL):
    """Summary and errors of one list."""
    predicted = predict(program, name, folder, model=model)
    compared, summary = (folder / found for found in ("errors.csv", "all.csv"))
    found = ["--csv", compared, "--summary", summary]
    run([program, "compare", predicted, DATA / LISTS[name][1], *found])
    return table.read(summary), table.read(compared)


def judge(program, name):
    """Rows of FIGURES of one list. What the program says of its models follows from the last lists of each GPU."""
    summary, errors = compare(program, name, BUILD / name)
    kernels = LISTS[name][2]
    if kernels == "library":
        judged.record(judged.judgements(errors, "forward", name, name))
    for model in (MODEL, *SIMPLER) if name in LAST else ():
        of = lambda last: compare(program, last, BUILD / last / "-".join(model), model)[1]
        rows = [row for last in LAST[name] for row in of(last)]
        one = None if "," in kernels else kernels
        judged.record(judged.judgements(rows, "forward", ", ".join(LAST[name]), one))
    return figures(name, summary, errors)


def figures(name, summary, compared):
    """A row a counter: statistics of `compare` over all points and over those beyond 1.5 x compulsory, and of the
    latter's points whose launches agree."""
    values = {}
    for row in summary:
        values[row["counter"], row["points"], row["statistic"]] = row["value"]
    agree = agreeing(compared)
    for counter in COUNTERS:
        if (counter, "all", "count") not in values:
            continue
        line = {"list": name, "counter": counter}
        for points in ("all", "over"):
            for statistic in STATISTICS:
                value = values.get((counter, points, statistic), "")
                line[f"{points}_{statistic}"] = value and f"{float(value):.5g}"
        sizes, held = [], []
        for row in table.where(compared, counter=counter):
            if not measures.is_over(row) or not row["relative_error"]:
                continue
            if point_of(row) in agree:
                sizes.append(abs(float(row["relative_error"])))
            elif row["predicted_low"]:
                held.append(judged.is_held(row))
        line |= {"agree_count": len(sizes), "differ_count": len(held), "differ_covered": sum(held)}
        line["agree_ninety"] = f"{measures.quantile(sizes, 0.9):.5g}" if sizes else ""
        line["agree_worst"] = f"{max(sizes):.5g}" if sizes else ""
        yield line


def point_of(row):
    return table.cells(row, [column for column in POINT if column in row])


def agreeing(compared):
    """Points whose launches differ by less than 5 % in DRAM reads."""
    found = set()
    for row in table.where(compared, counter=DRAM):
        low, high, middle = (float(row[f"measured{end}"]) for end in ("_low", "_high", ""))
        if high - low < AGREE * middle:
            found.add(point_of(row))
    return found


def recorded(path=FIGURES):
    return table.read(path, replaced=True) if path.exists() else []


def differences(now, before):
    """A sentence for each figure that is not the recorded one."""
    known = {(row["list"], row["counter"]): row for row in before}
    for row in now:
        for column, value in row.items():
            old = known.get((row["list"], row["counter"]), {}).get(column, "")
            try:
                same = abs(float(value) - float(old)) <= SAME * max(1, abs(float(old)))
            except ValueError:
                same = str(value) == old
            if not same:
                yield f"{row['list']} {row['counter']} {column}: {value}, recorded {old}"


def percent(text, digits=1):
    return f"{100 * float(text):.{digits}f}" if text else ""


class Page:
    """The vocabulary of README.md."""

    def __init__(self):
        self._rows = {(row["list"], row["counter"]): row for row in recorded()}
        self._elsewhere = recorded(UNMEASURED)

    def of(self, name, column, counter=DRAM):
        return float(self._rows[name, counter][column])

    def counters(self, name):
        """Errors of each counter beyond 1.5 x compulsory, goals in brackets; intervals and order of all points."""
        rows = []
        for counter, (said, *goals) in COUNTERS.items():
            row = self._rows[name, counter]
            wanted = [f" [{100 * goal:g}]" if goal else "" for goal in goals]
            cells = [percent(row[f"over_{s}"]) + w for s, w in zip(("median", "ninety"), wanted)]
            cells += [percent(row["agree_ninety"]), percent(row["agree_worst"], 0)]
            cells += [percent(row["all_covered"], 0), percent(row["all_half_width"])]
            cells += [f"{percent(row['all_order'])} of {row['all_pairs']}"]
            rows.append([said, *cells])
        head = "|median, %|90 %, %|launches agree: 90 %, %|worst, %"
        return fill.table(f"{head}|interval holds, %|half width, %|order right, %", rows)

    def lists(self):
        """Errors of DRAM reads beyond 1.5 x compulsory and of the duration of all points, a line a list."""
        rows = []
        for name, (gpu, _, kernels) in LISTS.items():
            reads, times = (self._rows[name, counter] for counter in (DRAM, TIME))
            cells = [gpu, kernels, f"{reads['over_count']} of {reads['all_count']}"]
            cells += [percent(reads[f"over_{s}"]) for s in ("median", "ninety")]
            cells += [percent(reads["all_median"])]
            cells += [percent(times[f"all_{s}"]) for s in ("median", "ninety")]
            if name != "calibration":
                rows.append([name, *cells, percent(reads["all_order"])])
        head = (
            "list|GPU|kernels|points over 1.5 x|DRAM reads over 1.5 x: median, %|90 %|all: median"
        )
        return fill.table(f"{head}|duration: median, %|90 %|order right, %", rows)

    def held_out(self, what, over=1):
        """The least and the most over the lists that are held out, in percent; `over` another column."""
        cell = lambda row, of: float(row[of]) if isinstance(of, str) else of
        shares = [100 * cell(row, what) / cell(row, over) for row in recorded(HELD_OUT)]
        return f"{min(shares):.0f} to {max(shares):.0f}"

    def elsewhere(self, gpu, scan, seq, mask="none", **wanted):
        """Least and most DRAM reads (million sectors) over the launches and timings of a GPU that is not measured."""
        rows = table.where(
            self._elsewhere, gpu=gpu, scan=scan, seq_kv=str(seq), mask=mask, **wanted
        )
        reads = [float(row[DRAM]) / 1e6 for row in rows]
        low, high = (f"{end(reads):.0f}" for end in (min, max))
        return low if low == high else f"{low} to {high}"


def main(words):
    parser = table.Parser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("lists", nargs="*", metavar="LIST", help=", ".join(LISTS))
    parser.add_argument("--unmeasured", action="store_true")
    parser.add_argument("--intervals", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(words)
    for name in options.lists:
        if name not in LISTS:
            raise table.TableError(f"no list {name}; allowed: {', '.join(LISTS)}")
    if options.check:
        found = list(differences(judge(options.program, "calibration"), recorded()))
        print("\n".join(found), end="\n" if found else "", file=sys.stderr)
        return 1 if found else fill.study(HERE, Page())
    if options.intervals:
        return say_intervals(options.program)
    if options.unmeasured:
        BUILD.mkdir(parents=True, exist_ok=True)
        path = BUILD / "unmeasured.csv"
        words = [HERE / "lists" / "unmeasured.ini", "--quiet", "--overwrite", f"--csv={path}"]
        run([options.program, "simulate", *words])
        kept = "gpu mask seq_kv head_dim launch q_order scan timing".split()
        columns = [*kept, DRAM, "cold_read_sectors"]
        table.write(str(UNMEASURED), [{c: row[c] for c in columns} for row in table.read(path)])
    for name in options.lists or ([] if options.unmeasured else LISTS):
        rows = list(judge(options.program, name))
        kept = [dict(row) for row in recorded() if row["list"] != name]
        order = list(LISTS)
        table.write(FIGURES, sorted(kept + rows, key=lambda row: order.index(row["list"])))
        print(f"{name}: build/prediction/{name}", flush=True)
    return fill.study(HERE, Page())


if __name__ == "__main__":
    sys.exit(table.exit_code(main, sys.argv[1:], "prediction.py"))
