#!/usr/bin/env python3
"""Times this project's schedules against kernels of others at full speed, in one run.

    experiments/studies/peers/race.py --sawtooth build/release/sawtooth --tokens 16K --heads 16 \\
        --seq 512,16K --head-dim 64,128 --mask none,causal --csv race.csv

Every shape runs in rounds: in each round every peer and every contender of `sawtooth bench` is
launched, in an order that is shuffled anew, so that clocks, heat and the neighbour before are the
same for all. Times are CUDA events around bursts of launches; L2 is as the launch before left it.
Rows have the columns of results.csv; clocks and power of every shape go to a file beside it.
Exit codes: 0 fine, 1 a check failed, 2 wrong usage, 3 PyTorch or a GPU is missing.
"""

import argparse
import os
import random
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gpu_state  # noqa: E402
import kernels  # noqa: E402
import paced_bench  # noqa: E402
import peers  # noqa: E402
import rows as results  # noqa: E402
import shapes as shaping  # noqa: E402

# As in experiments/sawtooth/measure/bench_command.cpp: a burst is long beside the resolution of events, and behind
# another launch, so that its own time on the CPU does not count.
BURST_US = 1000
LONG_LAUNCH_US = 5000
# Shapes of more FLOP than this run a third of the rounds: their launches vary less and last longer.
LARGE_SHAPE_FLOP = 1e13
CONTENDERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "race",
                          "d{head_dim}-{mask}.ini")


def parser():
    made = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    shaping.add_options(made)
    made.add_argument("--tokens", type=shaping.count, help="instead of --batch: as many sequences "
                      "as have so many rows together, at least one")
    made.add_argument("--peers", type=shaping.listed(shaping.one_of(*kernels.PEERS)),
                      default=["sdpa-cudnn"], help="default: sdpa-cudnn")
    made.add_argument("--rounds", type=shaping.count, default=15, help="bursts of every contender")
    made.add_argument("--sawtooth", required=True, help="the program")
    made.add_argument("--contenders", default=CONTENDERS, help="configuration of `sawtooth bench` "
                      "with the schedules to time; {head_dim} and {mask} in its name stand for those "
                      "of the shape (default: race/d{head_dim}-{mask}.ini)")
    made.add_argument("--gpu", default="h200", help="name of the gpu column and of the profile")
    made.add_argument("--csv", required=True)
    return made


def shapes(options):
    made = shaping.shapes(options)
    if not options.tokens:
        return made
    return [shaping.dataclasses.replace(shape, batch=max(1, options.tokens // shape.seq))
            for shape in made]


def time_us(torch, launch, launches=1, behind_another=False):
    """Mean duration of `launches` in a row."""
    begin = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    if behind_another:
        launch()
    begin.record()
    for _ in range(launches):
        launch()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1000 / launches


class Peer:
    """A peer's launches on one shape and the times of its bursts."""

    def __init__(self, torch, launch):
        self.torch_, self.launch_, self.times = torch, launch, []
        time_us(torch, launch)
        warm = time_us(torch, launch)
        self.burst_ = (max(1, int(BURST_US / warm)), warm < LONG_LAUNCH_US)

    def round(self):
        self.times.append(time_us(self.torch_, self.launch_, *self.burst_))


def rounds_of(options, shape):
    large = results.flop(shape) > LARGE_SHAPE_FLOP
    return -(-options.rounds // 3) if large else options.rounds


def raced(torch, options, shape, launches):
    """Times of every launch by name, and rows of `sawtooth bench`. Raises BenchFailed."""
    contestants = {name: Peer(torch, launch) for name, launch in launches.items()}
    bench = paced_bench.PacedBench(options, shape)
    turns = [*contestants.values(), bench]
    shuffled = random.Random(shape.text())
    try:
        for _ in range(rounds_of(options, shape)):
            shuffled.shuffle(turns)
            for contestant in turns:
                contestant.round()
        return {name: contestant.times for name, contestant in contestants.items()}, bench.rows()
    finally:
        bench.close()


def raced_shape(torch, options, shape, note):
    """All rows of one shape, and whether every check passed."""
    launches, reasons = peers.ready_launches(torch, shape, options.peers, note)
    try:
        times, rows = raced(torch, options, shape, launches)
    except paced_bench.BenchFailed as error:
        note(f"{shape.text()}: sawtooth bench: {error}")
        return [], False
    for place in best_of(rows)[:3]:
        note(f"{shape.text()}: ours: {place}")
    for name in options.peers:
        common = dict(kernel=name, system=kernels.PEERS[name].system, gpu=options.gpu)
        if name in reasons:
            rows.append(results.row(shape, status=reasons[name], **common))
            continue
        rows += [results.row(shape, repetition=turn, time_us=value, state="as-is", **common)
                 for turn, value in enumerate(times[name])]
        middle = statistics.median(times[name])
        note(f"{shape.text()}: {name}: {middle:.1f} us, {results.flop(shape) / middle / 1e6:.1f} "
             "TFLOP/s")
    return rows, not any("differs" in reason for reason in reasons.values())


def best_of(rows):
    """One line a contender of `sawtooth bench`, the fastest first."""
    times = {}
    for row in rows:
        shown = (row["kernel"], f"{row['tile_q']}x{row['tile_kv']}", row["launch"], row["scan"],
                 f"prefetch {row['prefetch']}", f"section {row['section']}", row["q_order"],
                 row["hints"])
        times.setdefault(" ".join(shown), []).append((float(row["time_us"]), float(row["tflops"])))
    ranked = sorted((statistics.median(time for time, _ in values),
                     statistics.median(rate for _, rate in values), name)
                    for name, values in times.items())
    return [f"{time:.1f} us, {rate:.1f} TFLOP/s, {name}" for time, rate, name in ranked]


def run(options, note):
    torch = kernels.torch_with_gpu()
    rows, correct, state = [], True, gpu_state.GpuState()
    for shape in shapes(options):
        state.begin()
        found, fine = raced_shape(torch, options, shape, note)
        state.end(shape.text())
        rows += found
        correct = correct and fine
        results.write(options.csv, rows)  # what is there stays, whatever comes next
        results.write(os.path.splitext(options.csv)[0] + "_gpu_state.csv", state.lines,
                      gpu_state.COLUMNS)
    return 0 if correct else 1


def main(arguments=None):
    options = parser().parse_args(arguments)

    def note(text):
        print(f"race: {text}", file=sys.stderr, flush=True)

    return kernels.exit_code(options.sawtooth, lambda: run(options, note), note)


if __name__ == "__main__":
    sys.exit(main())
