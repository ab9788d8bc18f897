"""Compares stream counters with Nsight Compute's on the same kernels.

compare_ncu.py STREAM_COUNTERS.csv MIB ACCESS SHAPE ORDER NCU.csv...
NCU.csv: ncu --csv --page raw of stream_once; the streams are its read_chunks or bulk_read_chunks
launches, p1 then p2. Medians over repetitions (ours) and files (ncu's) are compared, because what
a reversed pass finds depends on the physical pages of the process. Prints a line a counter and range; exit 1 when one differs by more than 1 %
(of the larger of the count and 1 % of the buffer).
"""

import csv
import statistics
import sys

METRICS = {
    "dram_read": "dram__sectors_read.sum",
    "tex_read": "lts__t_sectors_srcunit_tex_op_read.sum",
    "tex_miss": "lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum",
    "fab_read": "lts__t_sectors_srcunit_ltcfabric_op_read.sum",
    "fab_miss": "lts__t_sectors_srcunit_ltcfabric_op_read_lookup_miss.sum",
    "l1_xbar": "l1tex__m_xbar2l1tex_read_sectors.sum",
}
TOLERANCE = 0.01
KERNELS = ("read_chunks", "bulk_read_chunks", "write_chunks")


def ncu_rows(path):
    """Rows of ncu's raw page: the lines from its header on, without the units line."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = [line for line in file if line.startswith('"')]
    rows = list(csv.DictReader(lines))
    return [row for row in rows if any(name in row.get("Kernel Name", "") for name in KERNELS)]


def number(text):
    return float(text.replace(",", ""))


def main(arguments):
    if len(arguments) < 6:
        sys.exit(__doc__)
    table, mib, access, shape, order, *files = arguments
    pattern = {"linear": "linear", "reversed": "sawtooth"}[order]
    with open(table, newline="", encoding="utf-8") as file:
        ours = [
            row
            for row in csv.DictReader(file)
            if (row["n_mib"], row["kind"], row["map"], row["pattern"]) == (mib, access, shape, pattern)
        ]
    runs = [ncu_rows(path) for path in files]
    if any(len(run) != 2 for run in runs) or not ours:
        sys.exit(f"compare_ncu: {[len(run) for run in runs]} launches by ncu (2 each), {len(ours)} rows of ours")
    buffer_sectors = int(mib) * 2**20 / 32
    worst = 0.0
    for index, name in enumerate(("p1", "p2")):
        rows = [row for row in ours if row["range"] == name]
        for column, metric in METRICS.items():
            counts = [int(row[column]) for row in rows if row[column]]
            if not counts or not all(run[index].get(metric) for run in runs):
                continue
            mine = statistics.median(counts)
            theirs = statistics.median(number(run[index][metric]) for run in runs)
            off = abs(mine - theirs) / max(theirs, 0.01 * buffer_sectors)
            worst = max(worst, off)
            ratio = mine / theirs if theirs else float("nan")
            print(f"{access} {shape} {mib} {order} {name} {column}: ours {mine:.0f} ncu {theirs:.0f} ratio {ratio:.5f} off {off:.5f}")
    print(f"{'PASS' if worst <= TOLERANCE else 'FAIL'} ncu {access} {shape} {mib} MiB {order}: worst {worst:.5f} of {TOLERANCE}")
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
