"""Times PyTorch's scaled_dot_product_attention on given shapes, as rows of results.csv.

sdpa.py [--backends flash,cudnn] [--rounds 15] [--bench PROGRAM] [--csv FILE] SHAPE...
SHAPE is batch,heads,seq,head_dim,mask, for example 1,16,16384,64,causal.

With --bench the program `sawtooth bench` runs before and after PyTorch on the same shape, so that
clocks and temperature are the same for both; its lines are printed beside. Random normal inputs,
bf16, CUDA events, median; 4 B H S^2 D FLOP, halved when causal.
"""

import argparse
import csv
import statistics
import subprocess
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

BACKENDS = {"flash": (SDPBackend.FLASH_ATTENTION, "flash-attention-2"),
            "cudnn": (SDPBackend.CUDNN_ATTENTION, "cudnn")}
COLUMNS = ["source", "system", "pass", "batch", "heads", "kv_heads", "seq_q", "seq_kv", "head_dim",
           "dtype", "mask", "repetition", "time_us", "tflops", "status"]
WARM_UP_ROUNDS = 3
TILES = {64: ("128", "128"), 128: ("128", "64")}  # of our kernel, by head dim
# Our schedules that compete: the best one of each shape counts.
CONTENDERS = {"none": ["--launch", "grid,static", "--scan", "linear,sawtooth"],
              "causal": ["--launch", "grid,dynamic", "--q-order", "descending"]}


def parse_shape(text):
    parts = text.split(",")
    if len(parts) != 5 or parts[4] not in CONTENDERS or not all(p.isdigit() for p in parts[:4]):
        raise argparse.ArgumentTypeError(
            f"'{text}' is no shape; allowed: batch,heads,seq,head_dim,none|causal")
    return [*map(int, parts[:4]), parts[4]]


def time_once(run):
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    run()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop) * 1000.0


def bench_ours(program, shape):
    batch, heads, seq, head_dim, mask = shape
    tile_q, tile_kv = TILES[head_dim]
    done = subprocess.run(
        [program, "bench", "--gpu", "h200", "--batch", str(batch), "--heads", str(heads), "--seq",
         str(seq), "--head-dim", str(head_dim), "--mask", mask, "--tile-q", tile_q, "--tile-kv",
         tile_kv, "--ctas-per-sm", "2", *CONTENDERS[mask]], capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr
    lines = done.stdout.splitlines()
    return max(float(line.split()[0]) for line in lines), "\n".join(lines)


def time_shape(shape, backends, rounds, program, write):
    batch, heads, seq, head_dim, mask = shape
    causal = mask == "causal"
    torch.manual_seed(0)
    q, k, v = (torch.randn(batch, heads, seq, head_dim, device="cuda", dtype=torch.bfloat16)
               for _ in range(3))
    flop = 4.0 * batch * heads * seq * seq * head_dim / (2 if causal else 1)
    ours = [bench_ours(program, shape)] if program else []
    for name in backends:
        backend, system = BACKENDS[name]
        with sdpa_kernel(backend):
            run = lambda: scaled_dot_product_attention(q, k, v, is_causal=causal)
            times = [time_once(run) for _ in range(WARM_UP_ROUNDS + rounds)][WARM_UP_ROUNDS:]
        for repetition, time_us in enumerate(times):
            write([ "measured", system, "forward", batch, heads, heads, seq, seq, head_dim, "bf16",
                    mask, repetition, f"{time_us:.2f}", f"{flop / time_us / 1e6:.2f}", "ok"])
        print(f"{shape} {system}: {flop / statistics.median(times) / 1e6:.1f} TFLOP/s", flush=True)
    if program:
        ours.append(bench_ours(program, shape))
        for best, text in ours:
            print(f"{shape} ours, best: {best} TFLOP/s\n{text}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="+", type=parse_shape, metavar="SHAPE")
    parser.add_argument("--backends", default="flash")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--bench", metavar="PROGRAM")
    parser.add_argument("--csv", metavar="FILE")
    options = parser.parse_args()
    backends = options.backends.split(",")
    if unknown := [name for name in backends if name not in BACKENDS]:
        parser.error(f"unknown back end {unknown[0]}; allowed: {', '.join(BACKENDS)}")
    if not torch.cuda.is_available():
        print("sdpa.py: no CUDA device", file=sys.stderr)
        return 3
    rows = []
    for shape in options.shapes:
        time_shape(shape, backends, options.rounds, options.bench, rows.append)
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    return 0


if __name__ == "__main__":
    sys.exit(main())
