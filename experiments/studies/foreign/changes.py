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


class Table:
    """Medians over launches of one table."""

    def __init__(self, path, scan):
        self.rows = table.where(table.read(str(path)), scan=scan)

    def value(self, length, column):
        return statistics.median(table.numbers(table.where(self.rows, seq_q=length), column))

    def lengths(self):
        return {int(row["seq_q"]) for row in self.rows}


def change(before, after, length, column):
    return after.value(length, column) / before.value(length, column) - 1


def main(arguments):
    if len(arguments) != 3:
        sys.exit(__doc__)
    triton, sdpa, folder = arguments[0], arguments[1], pathlib.Path(arguments[2])
    programs = {
        "Triton kernel: linear to sawtooth": (
            (Table(triton, "linear"), Table(triton, "sawtooth")),
            (
                Table(folder / "triton-linear.csv", "linear"),
                Table(folder / "triton-sawtooth.csv", "sawtooth"),
            ),
        ),
        "PyTorch layer: FlashAttention-2 to that kernel in sawtooth": (
            (Table(sdpa, "linear"), Table(triton, "sawtooth")),
            (
                Table(folder / "pytorch-sdpa.csv", "linear"),
                Table(folder / "pytorch-sawtooth.csv", "sawtooth"),
            ),
        ),
    }
    failed = 0
    for program, (predicted, measured) in programs.items():
        print(f"\n{program}\n")
        print(
            "| keys | time before, ms: predicted, measured | after | time changes by | DRAM reads change by |"
        )
        print("|---" * 5 + "|")
        for length in sorted(predicted[0].lengths()):
            times = [
                [rows.value(length, "time_us") for rows in tables]
                for tables in (predicted, measured)
            ]
            by_time, by_reads = (
                [change(*tables, length, column) for tables in (predicted, measured)]
                for column in ("time_us", "dram_read_sectors")
            )
            print(
                f"| {length // 1024}K "
                + "".join(f"| {ours / 1000:.2f}, {real / 1000:.2f} " for ours, real in zip(*times))
                + f"| {by_time[0]:+.1%}, {by_time[1]:+.1%} | {by_reads[0]:+.1%}, {by_reads[1]:+.1%} |"
            )
            off = max(abs(ours / real - 1) for ours, real in zip(*times))
            failed += (
                off > TIME_OFF
                or abs(by_time[0] - by_time[1]) > TIME_CHANGE_OFF
                or abs(by_reads[0] - by_reads[1]) > READS_CHANGE_OFF
            )
    print("\nPyTorch's FlashAttention-2 itself in sawtooth order, predicted alone\n")
    print("| keys | time changes by | DRAM reads change by |\n|---|---|---|")
    orders = Table(sdpa, "linear"), Table(sdpa, "sawtooth")
    for length in sorted(orders[0].lengths()):
        print(
            f"| {length // 1024}K | {change(*orders, length, 'time_us'):+.1%} "
            f"| {change(*orders, length, 'dram_read_sectors'):+.1%} |"
        )
    if failed:
        print(f"\n{failed} predictions are off", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
