#!/usr/bin/env python3
"""Changes that were predicted beside changes that were measured, as guide.sh calls it.

    changes.py TRITON_PREDICTED.csv SDPA_PREDICTED.csv FOLDER

FOLDER has the measured rows: triton-linear, triton-sawtooth, pytorch-sdpa, pytorch-sawtooth. Exit code 1 where a time
is off by over 10 %, a change of time by over 5 points, or a change of DRAM reads by over 10 points; the study of latency
says how well such predictions do on many kernels.
"""

import pathlib
import statistics
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "plots" / "lib"))
import table  # noqa: E402  (the path above leads to it)

TIME_OFF, TIME_CHANGE_OFF, READS_CHANGE_OFF = 0.10, 0.05, 0.10


def median(rows, length, column):
    """Over the launches of one length."""
    return statistics.median(table.numbers(table.where(rows, seq_q=length), column))


def change(tables, length, column):
    before, after = (median(rows, length, column) for rows in tables)
    return after / before - 1


def lengths(tables):
    return sorted({int(row["seq_q"]) for row in tables[0]})


def print_table(title, *columns):
    print(f"\n{title}\n\n| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")


def main(arguments):
    if len(arguments) != 3:
        sys.exit(__doc__)
    triton, sdpa, folder = arguments
    read = lambda path, scan: table.where(table.read(str(path)), scan=scan)
    measured_in = lambda name, scan: read(pathlib.Path(folder) / f"{name}-{scan}.csv", scan)
    changed = read(triton, "sawtooth")
    layer = table.where(table.read(f"{folder}/pytorch-sdpa.csv"), scan="linear")
    programs = {
        "Triton kernel: linear to sawtooth": (
            (read(triton, "linear"), changed),
            (measured_in("triton", "linear"), measured_in("triton", "sawtooth")),
        ),
        "PyTorch layer: FlashAttention-2 to that kernel in sawtooth": (
            (read(sdpa, "linear"), changed),
            (layer, measured_in("pytorch", "sawtooth")),
        ),
    }
    both = ("time changes by", "DRAM reads change by")
    counters = ("time_us", "dram_read_sectors")
    failed = 0
    for program, sides in programs.items():
        print_table(program, "keys", "time before, ms: predicted, measured", "after", *both)
        for length in lengths(sides[0]):
            times = [[median(rows, length, "time_us") for rows in side] for side in zip(*sides)]
            moved = [[change(side, length, counter) for side in sides] for counter in counters]
            cells = [f"{ours / 1000:.2f}, {real / 1000:.2f}" for ours, real in times]
            cells += [f"{ours:+.1%}, {real:+.1%}" for ours, real in moved]
            print(f"| {length // 1024}K | " + " | ".join(cells) + " |")
            (time, real_time), (reads, real_reads) = moved
            failed += (
                max(abs(ours / real - 1) for ours, real in times) > TIME_OFF
                or abs(time - real_time) > TIME_CHANGE_OFF
                or abs(reads - real_reads) > READS_CHANGE_OFF
            )
    title = "PyTorch's FlashAttention-2 itself in sawtooth order, predicted alone"
    print_table(title, "keys", *both)
    orders = read(sdpa, "linear"), read(sdpa, "sawtooth")
    for length in lengths(orders):
        cells = [f"{change(orders, length, counter):+.1%}" for counter in counters]
        print(f"| {length // 1024}K | " + " | ".join(cells) + " |")
    if failed:
        print(f"\n{failed} predictions are off", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
