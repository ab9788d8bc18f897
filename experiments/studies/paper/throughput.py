"""The paper's gains in time: what latency explains, from its linear throughputs.

    throughput.py SAWTOOTH OUT.csv [--causal]

A kernel file of GB10 (experiments/profiles/kernels) has one free cost, step-ns. For every lead, number
of waits and DRAM latency in the ranges below, step-ns is set so that `simulate --timing timed` gives
the printed throughput of the *linear* order; the same costs then predict sawtooth. A row a case.
Where no step is short enough to reach the printed linear throughput, the case contradicts it and its
cells stay empty. Without a mask one batch entry stands for the paper's eight, as all waves are alike.
With --causal also the causal point at batch 8, under launches and orders. Minutes; rows that OUT.csv
has are kept.
"""

import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROFILES = ROOT / "experiments" / "profiles"
sys.path.append(str(ROOT / "plots" / "lib"))
import table  # noqa: E402  (the path above leads to it)

# arXiv 2601.16032, TFLOP/s. leads, in steps: 0 asks for a tile when it is needed, from 1 on a miss is
# hidden. waits: latencies in a row until a tile is there; 1 where all its loads are under way together.
# latencies_ns: of a miss in L2. GB10's is not published; 360 is an H200's.
LATENCIES_NS = (360, 450, 600)
RAW = dict(tile=80, mask="none", linear=1.3, sawtooth=2.4)
CUTILE = dict(tile=64, mask="none", linear=61, sawtooth=69)
CUTILE_CAUSAL = dict(tile=64, mask="causal", linear=41, sawtooth=66)
KERNELS = {
    "raw-cuda-gb10": dict(RAW, leads=(0,), waits=(1, 16, 64), latencies_ns=LATENCIES_NS),
    "cutile-gb10": dict(CUTILE, leads=(0, 0.5, 1), waits=(1,), latencies_ns=LATENCIES_NS),
}
CAUSAL = {"cutile-gb10": dict(CUTILE_CAUSAL, leads=(0, 1), waits=(1,), latencies_ns=(360,))}
AXES = ("leads", "waits", "latencies_ns")
COLUMNS = ("lead_steps", "waits_a_tile", "latency_dram_ns")
LEAST_STEP_NS = 20
CLOSE = 0.005  # share of the throughput within which step-ns is set
HEAD_DIM = 64
SMS = 48
NS_A_SECOND = 1e9
TERA = 1e12


class Case:
    """One kernel, lead, number of waits and latency: TFLOP/s of a step's length and a scan."""

    def __init__(self, program, folder, kernel, point, costs, schedule):
        self.program, self.folder, self.point, self.schedule = program, folder, point, schedule
        lead, waits, latency = costs
        self.gpu, self.kernel = folder / "gpu.ini", folder / "kernel.ini"
        gpu = f"[gpu]\nbase = {PROFILES}/gpus/gb10\n"
        self.gpu.write_text(f"{gpu}latency-dram-ns = {latency:g}; assumed; a case\n")
        self.text = f"[kernel]\nbase = {PROFILES}/kernels/{kernel}\n"
        self.text += f"[d{HEAD_DIM}-{point['tile']}x{point['tile']}]\n"
        for key, value in (("lead-k-steps", lead), ("lead-v-steps", lead), ("waits-a-tile", waits)):
            self.text += f"{key} = {value:g}; assumed; a case\n"

    def tflops(self, step_ns, scan):
        self.kernel.write_text(f"{self.text}step-ns = {step_ns:g}; assumed; a case\n")
        tile = str(self.point["tile"])
        options = ["--gpu", self.gpu, "--kernel-costs", self.kernel, "--timing", "timed"]
        options += ["--l2", "halves", "--tile-q", tile, "--tile-kv", tile, "--seq", "128K"]
        options += ["--workers", str(SMS), "--mask", self.point["mask"], "--scan", scan]
        options += self.schedule
        rows = self.folder / "rows.csv"
        command = [self.program, "simulate", *options, "--quiet", "--overwrite", "--csv", rows]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        return table.number(table.read(rows)[0], "tflops")

    def step_of(self, wanted):
        """step-ns with which the linear order has `wanted` TFLOP/s, by bisection; none where it is
        slower even with the shortest step."""
        flop = 4 * self.point["tile"] ** 2 * HEAD_DIM
        low, high = LEAST_STEP_NS, flop * SMS / (wanted * TERA) * NS_A_SECOND
        if self.tflops(low, "linear") < wanted * (1 - CLOSE):
            return None
        while high > (1 + CLOSE) * low:
            step = (low + high) / 2
            low, high = (step, high) if self.tflops(step, "linear") > wanted else (low, step)
        return high


def cases(kernels, schedules):
    """A row for each case, without what is to be found."""
    for kernel, point in kernels.items():
        for values in product(*(point[key] for key in AXES)):
            for launch, order in schedules:
                row = dict(kernel=kernel, mask=point["mask"], launch=launch, q_order=order)
                yield row | dict(zip(COLUMNS, map(str, values)))


def completed(program, row, point):
    """`row` with the step's length and sawtooth's TFLOP/s, empty where no step is short enough."""
    schedule = ["--launch", row["launch"], "--q-order", row["q_order"]]
    schedule += ["--batch", "8" if row["mask"] == "causal" else "1"]
    with tempfile.TemporaryDirectory() as folder:
        costs = [float(row[column]) for column in COLUMNS]
        case = Case(program, Path(folder), row["kernel"], point, costs, schedule)
        step = case.step_of(point["linear"])
        row = row | dict(published_linear=point["linear"], step_ns="")
        row |= dict(published_sawtooth=point["sawtooth"], sawtooth="")
        if step is not None:
            row["step_ns"] = f"{step:.0f}"
            row["sawtooth"] = f"{case.tflops(step, 'sawtooth'):.4g}"
    return row


def main(words):
    parser = table.Parser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("sawtooth", help="the program")
    parser.add_argument("out", help="the table")
    parser.add_argument("--causal", action="store_true", help="also the causal point")
    arguments = parser.parse_args(words)
    wanted = list(cases(KERNELS, [("static", "ascending")]))
    if arguments.causal:
        schedules = product(("static", "dynamic"), ("ascending", "descending"))
        wanted += cases(CAUSAL, list(schedules))
    made = table.read(arguments.out, replaced=True) if Path(arguments.out).exists() else []
    for row in wanted:
        if table.where(made, **row):
            continue
        kernels = CAUSAL if row["mask"] == "causal" else KERNELS
        made.append(completed(arguments.sawtooth, row, kernels[row["kernel"]]))
        table.write(arguments.out, made)
        print(*made[-1].values(), file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(table.exit_code(main, sys.argv[1:], "throughput.py"))
