#!/usr/bin/env python3
"""Times FlashAttention-3 and reads its counters, by the program that flash_attention_3.cu makes.

    experiments/studies/peers/flash_attention_3.py ./flash_attention_3 --rounds 5 --csv times.csv
    experiments/studies/peers/flash_attention_3.py ./flash_attention_3 --rounds 0 --count --csv counters.csv

One head, batch 1, bf16, from a cold L2. Counters are read by Nsight Compute, a run of the program for
each pass (count.py). Rows have the columns of results.csv, system flash-attention-3. Exit codes: 0
fine, 1 a check failed, 2 wrong usage, 3 no GPU or no counters.
"""

import argparse
import shutil
import subprocess
import sys

import count as counting
import rows as results
import shapes as shaping

KERNEL, SYSTEM = "flash-attention-3", "flash-attention-3"
OWN_KERNEL = "device_kernel"  # CUTLASS's name for every kernel; nothing else is launched


def parser():
    made = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("program")
    made.add_argument("--seq", type=shaping.listed(shaping.count),
                      default=[shaping.count(f"{k}K") for k in (16, 32, 64, 128, 256)])
    made.add_argument("--head-dim", type=shaping.listed(shaping.count), default=[64, 128])
    made.add_argument("--mask", type=shaping.listed(shaping.one_of("none", "causal")),
                      default=["none", "causal"])
    made.add_argument("--rounds", type=shaping.count_or_none, default=5,
                      help="timed launches of a shape; 0: counters only")
    made.add_argument("--count", action="store_true", help="also read counters")
    made.add_argument("--repetitions", type=shaping.count, default=5,
                      help="counted launches of a shape")
    made.add_argument("--gpu", default="h200", help="name of the gpu column")
    made.add_argument("--csv", required=True)
    return made


def command(options, launches):
    made = [options.program, str(launches)]
    for shape in shaping.shapes(options):
        made += [str(shape.seq), str(shape.head_dim), shape.mask]
    return made


def timed_rows(options):
    done = subprocess.run(command(options, options.rounds), capture_output=True, text=True,
                          check=False)
    if done.returncode:
        return [], done
    lines = [line.split() for line in done.stdout.splitlines()]
    return [results.row(shape, KERNEL, SYSTEM, options.gpu, turn,
                        time_us=float(lines[at * options.rounds + turn][3]), state="cold")
            for at, shape in enumerate(shaping.shapes(options))
            for turn in range(options.rounds)], done


def counted_rows(options, ncu):
    """Raises ValueError where Nsight Compute gave no table, or not one kernel a launch."""
    # The command of count.py up to its program, with this one in its place.
    profiler = counting.command(ncu, [], [], 1)
    profiler = profiler[:profiler.index(sys.executable)]
    done = subprocess.run(profiler + command(options, options.repetitions), capture_output=True,
                          text=True, check=False)
    kernels = counting.table(done.stdout)
    shapes = shaping.shapes(options)
    if len(kernels) != len(shapes) * options.repetitions or any(
            OWN_KERNEL not in kernel["Kernel Name"] for kernel in kernels):
        raise ValueError(f"ncu saw {len(kernels)} kernels instead of one a launch "
                         f"({len(shapes) * options.repetitions})")
    made = []
    for at, shape in enumerate(shapes):
        first = at * options.repetitions
        print(f"{shape.text()}: {counting.description([kernels[first]])}", file=sys.stderr)
        made += [results.row(shape, KERNEL, SYSTEM, options.gpu, turn,
                             counters=counting.totals([kernels[first + turn]]), state="cold")
                 for turn in range(options.repetitions)]
    return made


def main(arguments=None):
    options = parser().parse_args(arguments)
    options.batch, options.heads, options.dtype = [1], [1], ["bf16"]
    if not shutil.which(options.program):
        print(f"flash_attention_3: {options.program} is no program; flash_attention_3.cu says how to "
              "build it", file=sys.stderr)
        return 2
    rows = []
    if options.rounds:
        rows, done = timed_rows(options)
        if done.returncode:
            print(f"flash_attention_3: {done.stderr.strip()}", file=sys.stderr)
            return done.returncode
    if options.count:
        ncu = shutil.which("ncu")
        try:
            if not ncu:
                raise ValueError("ncu is not on the PATH")
            rows += counted_rows(options, ncu)
        except ValueError as error:
            print(f"flash_attention_3: no counters: {error}", file=sys.stderr)
            return 3
    results.write(options.csv, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
