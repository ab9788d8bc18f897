#!/usr/bin/env python3
"""Times this project's schedules against kernels of others at full speed, in one run.

    experiments/studies/peers/race.py --sawtooth build/release/sawtooth --tokens 16K --heads 16 \\
        --seq 512,16K --head-dim 64,128 --mask none,causal --csv race.csv

Every shape runs in rounds: in each round every peer and every contender of `sawtooth bench` is
launched, in an order that is shuffled anew, so that clocks, heat and the neighbour before are the
same for all. With --pass backward launches are whole backward passes, small kernels included. Times are CUDA
events around bursts of launches that are queued before the GPU begins (burst.py); L2 is as the launch before left it.
Rows have the columns of results.csv; clocks and power of every shape go to a file beside it.
Exit codes: 0 fine, 1 a check failed, 2 wrong usage, 3 PyTorch or a GPU is missing.
"""

import dataclasses
import os
import random
import statistics
import sys

import bench
import burst
import gpu_state
import lib_path  # noqa: F401  (makes plots/lib importable)
import rows as results
import session
import shapes as shaping
import table

# As in experiments/sawtooth/measure/bench_command.cpp: a burst is long beside the resolution of
# events, and behind another launch.
BURST_US = 1000
LONG_LAUNCH_US = 5000
# Shapes of more FLOP than this run a third of the rounds: their launches vary less and last longer.
LARGE_SHAPE_FLOP = 1e13
LISTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lists")
CONTENDERS = {
    "forward": os.path.join(LISTS, "race-d{head_dim}-{mask}.ini"),
    "backward": os.path.join(LISTS, "race-backward-d{head_dim}-{mask}.ini"),
}
CONTENDERS_HELP = (
    "configuration of `sawtooth bench` with the schedules to time; {head_dim} and {mask} in its name "
    "stand for those of the shape (default: lists/race-d{head_dim}-{mask}.ini, and with --pass backward "
    "lists/race-backward-d{head_dim}-{mask}.ini)"
)


def parser():
    tokens = "instead of --batch: as many sequences as have so many rows together, at least one"
    return session.parser(
        __doc__,
        ["sdpa-cudnn"],
        tokens=dict(type=shaping.count, help=tokens),
        rounds=dict(type=shaping.count, default=15, help="bursts of every contender"),
        sawtooth=dict(required=True, help="the program"),
        contenders=dict(help=CONTENDERS_HELP),
        **{"pass": dict(choices=CONTENDERS, default="forward")},
        csv=dict(required=True),
    )


def shapes(options):
    of_pass = vars(options)["pass"]
    made = [dataclasses.replace(shape, of_pass=of_pass) for shape in shaping.shapes(options)]
    if not options.tokens:
        return made
    batches = [max(1, options.tokens // shape.seq) for shape in made]
    return [dataclasses.replace(shape, batch=batch) for shape, batch in zip(made, batches)]


class Contestant:
    """A peer's launches on one shape and the times of its bursts."""

    def __init__(self, torch, launch):
        self.times = []
        session.time_us(torch, launch)
        warm = session.time_us(torch, launch)
        launches, is_short = max(1, int(BURST_US / warm)), warm < LONG_LAUNCH_US
        self.burst_ = burst.Burst(torch, launch, launches, behind_another=is_short)

    def round(self):
        self.times.append(self.burst_.time_us())


def rounds_of(options, shape):
    return -(-options.rounds // 3) if shape.flop() > LARGE_SHAPE_FLOP else options.rounds


def raced(torch, options, shape, launches):
    """Times of every launch by name, and rows of `sawtooth bench`. Raises BenchFailed."""
    contestants = {name: Contestant(torch, launch) for name, launch in launches.items()}
    contenders = options.contenders or CONTENDERS[shape.of_pass]
    contenders = contenders.format(head_dim=shape.head_dim, mask=shape.mask)
    ours = bench.PacedBench(options.sawtooth, options.gpu, shape, contenders)
    turns = [*contestants.values(), ours]
    shuffled = random.Random(shape.text())
    try:
        for _ in range(rounds_of(options, shape)):
            shuffled.shuffle(turns)
            for contestant in turns:
                contestant.round()
        return {name: contestant.times for name, contestant in contestants.items()}, ours.rows()
    finally:
        ours.close()


def raced_shape(torch, options, shape, note):
    """All rows of one shape, and whether every check passed."""
    launches, reasons = session.ready_launches(torch, shape, options.peers, note)
    try:
        times, rows = raced(torch, options, shape, launches)
    except bench.BenchFailed as error:
        note(f"{shape.text()}: sawtooth bench: {error}")
        return [], False
    for place in best_of(rows)[:3]:
        note(f"{shape.text()}: ours: {place}")
    rows += session.peer_rows(options, shape, times, reasons, "as-is", note)
    return rows, session.all_correct(reasons)


def best_of(rows):
    """One line a contender of `sawtooth bench`, the fastest first."""
    shown = "{kernel} {tile_q}x{tile_kv} {launch} {scan} prefetch {prefetch} section {section} "
    times = {}
    for row in rows:
        name = (shown + "{q_order} {hints} {dq}").format(**{"dq": "", **row}).strip()
        times.setdefault(name, []).append((float(row["time_us"]), float(row["tflops"])))
    ranked = sorted((*map(statistics.median, zip(*pairs)), name) for name, pairs in times.items())
    return [f"{time:.1f} us, {rate:.1f} TFLOP/s, {name}" for time, rate, name in ranked]


def work(options, note):
    torch = session.torch_with_gpu()
    rows, correct, state = [], True, gpu_state.GpuState()
    for shape in shapes(options):
        state.begin()
        found, fine = raced_shape(torch, options, shape, note)
        state.end(shape.text())
        rows += found
        correct = correct and fine
        results.write(options.csv, rows, options.sawtooth)  # stays, whatever comes next
        beside = os.path.splitext(options.csv)[0] + "_gpu_state.csv"
        table.write(beside, state.lines, gpu_state.COLUMNS)
    return 0 if correct else 1


def main(arguments=None):
    return session.run("race", parser().parse_args(arguments), work)


if __name__ == "__main__":
    sys.exit(main())
