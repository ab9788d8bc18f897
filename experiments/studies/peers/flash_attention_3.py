#!/usr/bin/env python3
"""Times FlashAttention-3 and reads its counters, by the program that flash_attention_3.cu makes.

    experiments/studies/peers/flash_attention_3.py ./flash_attention_3 --rounds 5 --csv times.csv
    experiments/studies/peers/flash_attention_3.py ./flash_attention_3 --rounds 0 --count --csv counters.csv

One head, batch 1, bf16, from a cold L2. Counters are read by Nsight Compute, a run of the program for
each pass (count.py). Rows have the columns of results.csv, system flash-attention-3. Exit codes: 0
fine, 1 a check failed, 2 wrong usage, 3 no GPU or no counters.
"""

import argparse
import itertools
import shutil
import subprocess
import sys

import count as counting
import rows as results
import shapes as shaping

NAME = "flash-attention-3"  # of the kernel and of the preset
OWN_KERNEL = "device_kernel"  # CUTLASS's name for every kernel; nothing else is launched
LENGTHS = [1024 * k for k in (16, 32, 64, 128, 256)]
MASKS = ["none", "causal"]


class Failed(RuntimeError):
    """What the program said, and its exit code."""


def parser():
    form = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    numbers = shaping.listed(shaping.count)
    made.add_argument("program")
    made.add_argument("--seq", type=numbers, default=LENGTHS)
    made.add_argument("--head-dim", type=numbers, default=[64, 128])
    made.add_argument("--mask", type=shaping.listed(shaping.mask), default=MASKS)
    rounds = "timed launches of a shape; 0: counters only"
    made.add_argument("--rounds", type=shaping.count_or_none, default=5, help=rounds)
    made.add_argument("--count", action="store_true", help="also read counters")
    counted = "counted launches of a shape"
    made.add_argument("--repetitions", type=shaping.count, default=5, help=counted)
    made.add_argument("--gpu", default="h200", help="name of the gpu column")
    made.add_argument("--csv", required=True)
    return made


def ran(options, launches, profiler=()):
    """The finished program, `launches` times on every shape."""
    words = [*profiler, options.program, str(launches)]
    for shape in options.shapes:
        words += [str(shape.seq), str(shape.head_dim), shape.mask]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def rows_of(options, launches, cells):
    """A row a launch; `cells` are those of each launch, shape after shape."""
    turns = itertools.product(options.shapes, range(launches))
    for (shape, turn), known in zip(turns, cells):
        yield results.row(shape, NAME, NAME, options.gpu, turn, state="cold", **known)


def timed_rows(options):
    done = ran(options, options.rounds)
    if done.returncode:
        raise Failed(done.stderr.strip(), done.returncode)
    times = [float(line.split()[3]) for line in done.stdout.splitlines()]
    return list(rows_of(options, options.rounds, [dict(time_us=time) for time in times]))


def counted_rows(options):
    """Raises Failed where Nsight Compute gave no table, or not one kernel a launch."""
    ncu = shutil.which("ncu")
    if not ncu:
        raise Failed("no counters: ncu is not on the PATH", 3)
    try:
        done = ran(options, options.repetitions, counting.profiler(ncu))
        kernels = counting.table(done.stdout)
    except ValueError as error:
        raise Failed(f"no counters: {error}", 3) from None
    wanted = len(options.shapes) * options.repetitions
    own = all(OWN_KERNEL in kernel["Kernel Name"] for kernel in kernels)
    if len(kernels) != wanted or not own:
        seen = f"ncu saw {len(kernels)} kernels instead of one a launch ({wanted})"
        raise Failed(f"no counters: {seen}", 3)
    for shape, kernel in zip(options.shapes, kernels[:: options.repetitions]):
        print(f"{shape.text()}: {counting.description([kernel])}", file=sys.stderr)
    counters = [dict(counters=counting.totals([kernel])) for kernel in kernels]
    return list(rows_of(options, options.repetitions, counters))


def main(arguments=None):
    options = parser().parse_args(arguments)
    options.batch, options.heads, options.dtype = [1], [1], ["bf16"]
    options.shapes = shaping.shapes(options)
    if not shutil.which(options.program):
        mend = "flash_attention_3.cu says how to build it"
        print(f"flash_attention_3: {options.program} is no program; {mend}", file=sys.stderr)
        return 2
    try:
        rows = timed_rows(options) if options.rounds else []
        rows += counted_rows(options) if options.count else []
    except Failed as error:
        print(f"flash_attention_3: {error.args[0]}", file=sys.stderr)
        return error.args[1]
    results.write(options.csv, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
