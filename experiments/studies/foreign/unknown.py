#!/usr/bin/env python3
"""What share of other people's launches lies in the range of `simulate --kernel unknown`, and how wide it is.

    unknown.py [PROGRAM]      five minutes of two cores; prints a line for DRAM reads and one for times
"""

import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

EXPERIMENTS = Path(__file__).resolve().parents[2]
DATA = EXPERIMENTS / "data/h200"
sys.path.append(str(EXPERIMENTS.parent / "plots/lib"))
from table import read as rows  # noqa: E402  (the path above leads to it)

KEYS = (
    "system heads kv_heads seq_q seq_kv head_dim mask tile_q tile_kv q_order launch workers ctas_per_sm scan"
).split()


def launches():
    """Rows of other people's kernels by their point: those of a library have no schedule, that is the system's."""
    triton = [row for row in rows(f"{DATA}/orders/gains.csv") if row["kernel"].startswith("triton")]
    for row in triton:
        row.update(system="", heads="1", kv_heads="1")
    found = defaultdict(list)
    for row in triton + rows(f"{DATA}/peers/peers.csv") + rows(f"{DATA}/peers/gqa.csv"):
        found[tuple(row[key] for key in KEYS)].append(row)
    return found


def main(program="sawtooth"):
    measured = launches()
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "unknown.ini"
        sections = (
            "".join(f"{key.replace('_', '-')} = {cell}\n" for key, cell in zip(KEYS, point) if cell)
            for point in measured
        )
        text = "".join(f"[{number}]\n{section}" for number, section in enumerate(sections))
        given.write_text("gpu = h200\nkernel = unknown\n" + text, encoding="utf-8")
        table = given.with_suffix(".csv")
        subprocess.run([program, "simulate", given, "--quiet", "--csv", table], check=True)
        predicted = rows(str(table))
    for column in ("dram_read_sectors", "time_us"):
        inside, widths = [], []
        for row, real in zip(predicted, measured.values(), strict=True):
            low, high = float(row[column + "_low"]), float(row[column + "_high"])
            widths.append(high / low)
            inside += [low <= float(one[column]) <= high for one in real if one[column]]
        share = statistics.mean(inside)
        print(f"{column}: {share:.1%} of {len(inside)}, width {statistics.median(widths):.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
