"""Prints the table of experiments/studies/matching/lists/latency.ini as Markdown, without the profiler's own rows.

    python3 experiments/studies/matching/latency_table.py FOLDER

FOLDER holds times.csv (bench), counters.csv (measure) and stalls.csv
(counters dump). A stall is the share of a warp's time: warps stalled for the reason per issue over
warps active per issue.
"""

import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "plots", "lib"))
import table  # noqa: E402  (the path above leads to it)

STALL = "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio"
ACTIVE = "smsp__average_warps_active_per_issue_active.ratio"
TENSOR = "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active"
COLUMNS = (
    "D | tile | CTAs an SM | K/V, MiB | scan | prefetch | TFLOP/s | DRAM reads, M | near misses, M | "
    "waits for memory, % | for the other warps, % | tensor pipe, %"
)
MIB = 1 << 20
EXPERIMENT = "matching-latency"


def rows_of(folder, name):
    return table.where(table.read(os.path.join(folder, name)), experiment=EXPERIMENT)


def key(row):
    """What tells the points apart; K/V bytes of one head in 16 bits."""
    kv_heads, seq, d, ctas, prefetch = map(
        int, table.cells(row, ("kv_heads", "seq_kv", "head_dim", "ctas_per_sm", "prefetch"))
    )
    kv_mib = kv_heads * seq * d * 4 // MIB
    return d, f"{row['tile_q']}x{row['tile_kv']}", ctas, kv_mib, row["scan"], prefetch


def millions(text):
    return f"{int(text) / 1e6:.2f}" if text else ""


def lines(folder):
    times, stalls = {}, {}
    for row in rows_of(folder, "times.csv"):
        times.setdefault(key(row), []).append(table.number(row, "tflops"))
    counters = {key(row): row for row in rows_of(folder, "counters.csv")}
    for row in rows_of(folder, "stalls.csv"):
        value = table.number(row, "value") if row["value"] else None
        stalls.setdefault(key(row), {})[row["metric"]] = value
    for point, values in sorted(times.items()):
        if point not in counters:
            continue
        counts, of_point = counters[point], stalls.get(point, {})
        cells = [
            *map(str, point),
            f"{statistics.median(values):.0f}",
            millions(counts["dram_read_sectors"]),
            millions(counts["l2_read_miss_sectors"]),
        ]
        for reason in ("long_scoreboard", "barrier"):
            share = of_point.get(STALL % reason)
            cells.append("" if share is None else f"{100 * share / of_point[ACTIVE]:.1f}")
        tensor = of_point.get(TENSOR)
        cells.append("" if tensor is None else f"{tensor:.1f}")
        yield cells


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    print(f"| {COLUMNS} |\n|" + "---|" * len(COLUMNS.split(" | ")))
    for cells in lines(arguments[0]):
        print("| " + " | ".join(cells) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
