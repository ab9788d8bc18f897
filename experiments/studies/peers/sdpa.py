"""Times PyTorch's scaled_dot_product_attention beside this project's kernels on given shapes.

sdpa.py [--backends flash,cudnn] [--rounds 15] [--bench PROGRAM] [--csv FILE] [SHAPE...]
SHAPE is batch,heads,seq,head_dim,mask, for example 1,16,16384,64,causal; without shapes: 2K to 128K
keys, D = 64 and 128, none and causal (28 shapes).

With --bench the program `sawtooth bench` runs before and after PyTorch on the same shape, so that
clocks and temperature are the same for both; a schedule's time is the median of both runs, and the
best schedule counts. Prints a row of a Markdown table a shape and the geometric mean of the ratios;
the CSV has every launch of every side as rows of results.csv. Random inputs, bf16, CUDA events;
4 B H S^2 D FLOP, halved when causal.
"""

import argparse
import csv
import math
import os
import statistics
import subprocess
import sys
import tempfile

BACKENDS = {"flash": ("FLASH_ATTENTION", "flash-attention-2"),
            "cudnn": ("CUDNN_ATTENTION", "cudnn")}
COLUMNS = ["source", "system", "kernel", "pass", "batch", "heads", "kv_heads", "seq_q", "seq_kv",
           "head_dim", "dtype", "mask", "tile_q", "tile_kv", "q_order", "launch", "workers", "scan",
           "prefetch", "repetition", "time_us", "tflops", "status"]
SCHEDULE_COLUMNS = ["kernel", "tile_q", "tile_kv", "q_order", "launch", "workers", "scan",
                    "prefetch"]
WARM_UP_ROUNDS = 3
TILES = {64: ("128", "128"), 128: ("128", "64")}  # of our kernel, by head dim
# Our schedules that compete: the best one of each shape counts.
CONTENDERS = {"none": ["--launch", "grid,static", "--scan", "linear,sawtooth"],
              "causal": ["--launch", "grid,dynamic", "--q-order", "descending"]}
# Batch and heads by length: enough items for every SM, and at least a few launches a second.
HEADS = {2048: (8, 16), 4096: (4, 16), 8192: (2, 16), 16384: (1, 16), 32768: (1, 4), 65536: (1, 2),
         131072: (1, 1)}


def parse_shape(text):
    parts = text.split(",")
    if len(parts) != 5 or parts[4] not in CONTENDERS or not all(p.isdigit() for p in parts[:4]):
        raise argparse.ArgumentTypeError(
            f"'{text}' is no shape; allowed: batch,heads,seq,head_dim,none|causal")
    return [*map(int, parts[:4]), parts[4]]


def default_shapes():
    return [[batch, heads, seq, head_dim, mask] for head_dim in TILES for mask in CONTENDERS
            for seq, (batch, heads) in HEADS.items()]


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def teraflops(shape, time_us):
    batch, heads, seq, head_dim, mask = shape
    return 4.0 * batch * heads * seq * seq * head_dim / (2 if mask == "causal" else 1) / time_us / 1e6


def row_of(shape, system, cells, repetition, time_us):
    """A row of COLUMNS; `cells` are those of the schedule, by name."""
    batch, heads, seq, head_dim, mask = shape
    row = dict.fromkeys(COLUMNS, "")
    row.update(cells, source="measured", system=system, batch=batch, heads=heads, kv_heads=heads,
               seq_q=seq, seq_kv=seq, head_dim=head_dim, dtype="bf16", mask=mask, status="ok",
               repetition=repetition, time_us=f"{time_us:.2f}",
               tflops=f"{teraflops(shape, time_us):.2f}")
    row["pass"] = "forward"
    return row


def bench_ours(program, shape, rounds):
    """One run of `sawtooth bench`: its rows as dictionaries."""
    batch, heads, seq, head_dim, mask = shape
    tile_q, tile_kv = TILES[head_dim]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bench.csv")
        subprocess.run(
            [program, "bench", "--gpu", "h200", "--batch", str(batch), "--heads", str(heads),
             "--seq", str(seq), "--head-dim", str(head_dim), "--mask", mask, "--tile-q", tile_q,
             "--tile-kv", tile_kv, "--ctas-per-sm", "2", *CONTENDERS[mask], "--repetitions",
             str(rounds), "--csv", path], stdout=subprocess.DEVNULL, check=True)
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))


def best_schedule(rows):
    """(name, median time) of the schedule with the smallest median."""
    times = {}
    for row in rows:
        key = tuple(row[name] for name in SCHEDULE_COLUMNS)
        times.setdefault(key, []).append(float(row["time_us"]))
    best = min(times, key=lambda key: statistics.median(times[key]))
    cells = dict(zip(SCHEDULE_COLUMNS, best))
    return f"{cells['launch']} {cells['scan']} {cells['q_order']}", statistics.median(times[best])


def time_peer(shape, backend, rounds):
    """Times of `rounds` launches, us, after a few that warm up."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention
    batch, heads, seq, head_dim, mask = shape
    torch.manual_seed(0)
    q, k, v = (torch.randn(batch, heads, seq, head_dim, device="cuda", dtype=torch.bfloat16)
               for _ in range(3))
    times = []
    with sdpa_kernel(getattr(SDPBackend, backend)):
        for _ in range(WARM_UP_ROUNDS + rounds):
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            scaled_dot_product_attention(q, k, v, is_causal=mask == "causal")
            stop.record()
            stop.synchronize()
            times.append(start.elapsed_time(stop) * 1000.0)
    return times[WARM_UP_ROUNDS:]


def time_shape(shape, backends, rounds, program):
    """(rows, {system: median us}, (name, median us) of our best schedule or None)."""
    rows, medians = [], {}
    ours = bench_ours(program, shape, rounds) if program else []
    for name in backends:
        backend, system = BACKENDS[name]
        times = time_peer(shape, backend, rounds)
        medians[system] = statistics.median(times)
        rows += [row_of(shape, system, {}, i, time_us) for i, time_us in enumerate(times)]
    if program:
        ours += bench_ours(program, shape, rounds)
    rows += [row_of(shape, "sawtooth", {name: row[name] for name in SCHEDULE_COLUMNS}, i,
                    float(row["time_us"])) for i, row in enumerate(ours)]
    return rows, medians, best_schedule(ours) if ours else None


def table_line(shape, medians, ours):
    """A row of the Markdown table, and the ratio to each peer."""
    batch, heads, seq, head_dim, mask = shape
    cells = [f"B{batch} H{heads} S{seq // 1024}K", str(head_dim), mask]
    cells += [f"{teraflops(shape, time_us):.0f}" for time_us in medians.values()]
    ratios = []
    if ours:
        name, time_us = ours
        ratios = [peer / time_us for peer in medians.values()]
        cells += [f"{teraflops(shape, time_us):.0f}", name, *(f"{r:.2f}" for r in ratios)]
    return "| " + " | ".join(cells) + " |", ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", type=parse_shape, metavar="SHAPE")
    parser.add_argument("--backends", default="flash")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--bench", metavar="PROGRAM")
    parser.add_argument("--csv", metavar="FILE")
    options = parser.parse_args()
    backends = options.backends.split(",")
    if unknown := [name for name in backends if name not in BACKENDS]:
        parser.error(f"unknown back end {unknown[0]}; allowed: {', '.join(BACKENDS)}")
    try:
        import torch
        if not torch.cuda.is_available():
            raise ImportError("no CUDA device")
    except ImportError as reason:
        print(f"sdpa.py: {reason}", file=sys.stderr)
        return 3
    systems = [BACKENDS[name][1] for name in backends]
    head = ["shape", "D", "mask", *systems]
    if options.bench:
        head += ["ours", "our schedule", *(f"ours / {system}" for system in systems)]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head), flush=True)
    rows, ratios = [], []
    for shape in options.shapes or default_shapes():
        new_rows, medians, ours = time_shape(shape, backends, options.rounds, options.bench)
        line, new_ratios = table_line(shape, medians, ours)
        print(line, flush=True)
        rows += new_rows
        ratios.append(new_ratios)
    if options.bench:
        for system, of_system in zip(systems, zip(*ratios)):
            print(f"\nours / {system}: geometric mean {geometric_mean(of_system):.3f}, least "
                  f"{min(of_system):.3f}, most {max(of_system):.3f}, {len(of_system)} shapes")
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
