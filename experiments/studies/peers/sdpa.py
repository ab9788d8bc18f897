#!/usr/bin/env python3
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
import statistics
import sys

import bench
import kernels
import lib_path  # noqa: F401  (makes plots/lib importable)
import measures
import race_rows
import rows as results
import session
import shapes as shaping

BACKENDS = {"flash": "sdpa-flash", "cudnn": "sdpa-cudnn"}
SCHEDULE = "kernel tile_q tile_kv q_order launch workers scan prefetch".split()
WARM_UP_ROUNDS = 3
TILES = {64: ("128", "128"), 128: ("128", "64")}  # of our kernel, by head dim
# Our schedules that compete: the best one of each shape counts.
CONTENDERS = {
    "none": "--launch grid,static --scan linear,sawtooth",
    "causal": "--launch grid,dynamic --q-order descending",
}
# Batch and heads by length: enough items for every SM, and at least a few launches a second.
HEADS = {2048: (8, 16), 4096: (4, 16), 8192: (2, 16), 16384: (1, 16)}
HEADS |= {32768: (1, 4), 65536: (1, 2), 131072: (1, 1)}


def parse_shape(text):
    *numbers, mask = text.split(",")
    if len(numbers) != 4 or mask not in CONTENDERS or not all(n.isdigit() for n in numbers):
        allowed = "batch,heads,seq,head_dim,none|causal"
        raise argparse.ArgumentTypeError(f"'{text}' is no shape; allowed: {allowed}")
    return shaping.Shape(*map(int, numbers), mask)


def default_shapes():
    return [
        shaping.Shape(batch, heads, seq, head_dim, mask)
        for head_dim in TILES
        for mask in CONTENDERS
        for seq, (batch, heads) in HEADS.items()
    ]


def teraflops(shape, time_us):
    return measures.tflops(shape.flop(), time_us)


def bench_ours(program, shape, rounds):
    """Rows of one run of `sawtooth bench`."""
    tile_q, tile_kv = TILES[shape.head_dim]
    options = ["--tile-q", tile_q, "--tile-kv", tile_kv, "--ctas-per-sm", "2"]
    options += [*CONTENDERS[shape.mask].split(), "--repetitions", str(rounds)]
    return bench.rows(program, "h200", shape, options)


def best_schedule(rows):
    """(name, median time) of the schedule with the smallest median."""
    times = {}
    for row in rows:
        times.setdefault(tuple(row[name] for name in SCHEDULE), []).append(float(row["time_us"]))
    time_us, best = min((statistics.median(found), key) for key, found in times.items())
    return "{launch} {scan} {q_order}".format(**dict(zip(SCHEDULE, best))), time_us


def time_shape(torch, shape, systems, rounds, program):
    """(rows, {system: median us}, (name, median us) of our best schedule or None)."""
    rows, medians = [], {}
    ours = bench_ours(program, shape, rounds) if program else []
    for system, name in systems.items():
        launch = session.prepared(torch, shape, name)
        times = [session.time_us(torch, launch) for _ in range(WARM_UP_ROUNDS + rounds)]
        times = times[WARM_UP_ROUNDS:]
        medians[system] = statistics.median(times)
        rows += [results.row(shape, "", system, "", i, time_us) for i, time_us in enumerate(times)]
    if program:
        ours += bench_ours(program, shape, rounds)
    for i, row in enumerate(ours):
        cells = {name: row[name] for name in SCHEDULE}
        rows.append({**results.row(shape, "", "sawtooth", "", i, float(row["time_us"])), **cells})
    return rows, medians, best_schedule(ours) if ours else None


def table_line(shape, medians, ours):
    """A row of the Markdown table, and the ratio to each peer."""
    size = f"B{shape.batch} H{shape.heads} S{shape.seq // 1024}K"
    cells = [size, shape.head_dim, shape.mask]
    cells += [f"{teraflops(shape, time_us):.0f}" for time_us in medians.values()]
    ratios = []
    if ours:
        name, time_us = ours
        ratios = [peer / time_us for peer in medians.values()]
        cells += [f"{teraflops(shape, time_us):.0f}", name, *(f"{r:.2f}" for r in ratios)]
    return race_rows.markdown(cells), ratios


def work(options, note):
    torch = session.torch_with_gpu()
    names = [BACKENDS[name] for name in options.backends]
    systems = {kernels.PEERS[name].system: name for name in names}
    head = ["shape", "D", "mask", *systems]
    if options.sawtooth:
        head += ["ours", "our schedule", *(f"ours / {system}" for system in systems)]
    print(race_rows.markdown_head(head), flush=True)
    rows, ratios = [], []
    for shape in options.shapes or default_shapes():
        try:
            found = time_shape(torch, shape, systems, options.rounds, options.sawtooth)
        except bench.BenchFailed as error:
            note(f"{shape.text()}: sawtooth bench: {error}")
            return 1
        line, new_ratios = table_line(shape, *found[1:])
        print(line, flush=True)
        rows += found[0]
        ratios.append(new_ratios)
    for system, values in zip(systems, zip(*ratios)):
        mean = f"geometric mean {measures.geometric_mean(values):.3f}"
        ends = f"least {min(values):.3f}, most {max(values):.3f}"
        print(f"\nours / {system}: {mean}, {ends}, {len(values)} shapes")
    if options.csv:
        results.write(options.csv, rows, options.sawtooth)
    return 0


def main(arguments=None):
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("shapes", nargs="*", type=parse_shape, metavar="SHAPE")
    back_end = shaping.listed(shaping.one_of(*BACKENDS))
    parser.add_argument("--backends", type=back_end, default=["flash"])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--bench", metavar="PROGRAM", dest="sawtooth")
    parser.add_argument("--csv", metavar="FILE")
    return session.run("sdpa", parser.parse_args(arguments), work)


if __name__ == "__main__":
    sys.exit(main())
