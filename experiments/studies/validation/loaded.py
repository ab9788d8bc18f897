#!/usr/bin/env python3
"""How far GPCs are apart under kernels/hopper, and what its steps take longer while DRAM reads: sm-spread of another
die than the calibration's, and dram-slowness.

    experiments/studies/validation/loaded.py

Reads data/h200/validation/loaded.csv with the records of items of the same launches (one H200), and
data/h100/clock/cycles.csv (one H100: duration, cycles of its SMs and bytes that DRAM read, by Nsight Compute). Of
launches of one tile the one with the least traffic is the full clock; slowness is a share a TB/s, the median launch.
"""

import csv
import lzma
import statistics
from collections import defaultdict
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "data"
GPC_SMS = [16] * 6 + [18] * 2  # as in profiles/gpus/h200.ini
SECTOR_BYTES = 32
BYTES_A_US_A_TB_PER_S = 1e6
FULL_CLOCK_TB_PER_S = 0.2  # at most, of the launch that slowness is counted from
LEAST_TB_PER_S = 0.8  # of launches that slowness is read from


def paces():
    """ns a step of each worker of each launch, by run_id: {run_id: {worker: ns}}."""
    items = defaultdict(lambda: defaultdict(list))
    with lzma.open(DATA / "h200/validation/loaded_items.csv.xz", "rt") as file:
        for row in csv.DictReader(file):
            if row["repetition"] == "0":
                items[row["run_id"]][int(row["worker"])].append(
                    (int(row["start_ns"]), int(row["steps"]))
                )
    found = {}
    for run_id, workers in items.items():
        pace = {
            worker: (max(own)[0] - min(own)[0]) / sum(steps for _, steps in sorted(own)[:-1])
            for worker, own in workers.items()
            if len(own) > 1
        }
        if len(pace) == sum(GPC_SMS):  # persistent CTAs, one an SM
            found[run_id] = pace
    return found


def sm_spread(pace):
    ends = [sum(GPC_SMS[: gpc + 1]) for gpc in range(len(GPC_SMS))]
    gpcs = [
        statistics.median(pace[sm] for sm in range(end - sms, end))
        for end, sms in zip(ends, GPC_SMS)
    ]
    return statistics.pstdev(gpcs) / statistics.mean(gpcs)


def report(where, launches):
    """launches: [(kind, ns a step or a cycle, TB/s)]."""
    for kind in sorted({launch[0] for launch in launches}):
        own = sorted((traffic, ns) for name, ns, traffic in launches if name == kind)
        if own[0][0] > FULL_CLOCK_TB_PER_S:
            continue
        full_clock = own[0][1]
        slower = [
            (ns / full_clock - 1) / traffic for traffic, ns in own if traffic >= LEAST_TB_PER_S
        ]
        if slower:
            print(
                f"{where}, {kind}: dram-slowness {statistics.median(slower):.3f} ({min(slower):.3f} to"
                f" {max(slower):.3f}, {len(slower)} launches of up to {own[-1][0]:.1f} TB/s)"
            )


def main():
    known = paces()
    launches, spreads = [], []
    with open(DATA / "h200/validation/loaded.csv") as file:
        for row in csv.DictReader(file):
            if row["repetition"] != "0" or row["run_id"] not in known:
                continue
            pace = known[row["run_id"]]
            traffic = (
                float(row["dram_read_sectors"])
                * SECTOR_BYTES
                / float(row["time_us"])
                / BYTES_A_US_A_TB_PER_S
            )
            kind = f"D = {row['head_dim']}, {row['tile_q']}x{row['tile_kv']}"
            launches.append((kind, statistics.mean(pace.values()), traffic))
            spreads.append(sm_spread(pace))
    print(
        f"H200: sm-spread {statistics.mean(spreads):.4f} ({min(spreads):.4f} to {max(spreads):.4f})"
    )
    report("H200, records of items", launches)
    with open(DATA / "h100/clock/cycles.csv") as file:
        report(
            "H100, clock",
            [
                (
                    row["kernel"],
                    float(row["time_ns"]) / float(row["sm_cycles"]),
                    float(row["dram_read_bytes"]) / float(row["time_ns"]) / 1e3,
                )
                for row in csv.DictReader(file)
            ],
        )


if __name__ == "__main__":
    main()
