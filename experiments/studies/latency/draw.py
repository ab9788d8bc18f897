#!/usr/bin/env python3
"""The figures of README.md: when sawtooth pays in time.

    draw.py TIMES.csv COUNTERS.csv FOLDER     writes FOLDER/stages.png and FOLDER/steps.png

stages: by how much sawtooth is faster than linear at the first length beyond half of L2, against the
stages of the kernel's loop. steps: time a step of a launch against the share of its steps whose K/V
tiles come from DRAM; a kernel's launches lie on a line whose slope is what a miss exposes.
"""

import math
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "plots" / "lib"))
import figure  # noqa: E402  (the path above leads to it)
import tables  # noqa: E402

SECTOR, ELEMENT = 32, 2
FIRST_BEYOND = {"64": 131072, "128": 65536}


def launches(times, counters):
    """{(head dim, stages, warps): {(length, scan): (time a step in ns, share of missing steps)}}"""
    reads = {point(row): int(row["dram_read_sectors"]) for row in counters}
    found = {}
    for row in times:
        if row["mask"] != "none" or row["launch"] != "static":
            continue
        words = row["kernel"].split("-")  # triton-N-stages-N-warps
        length, head_dim = int(row["seq_q"]), int(row["head_dim"])
        rounds = math.ceil(length / int(row["tile_q"]) / int(row["workers"]))
        steps = rounds * length / int(row["tile_kv"])
        share = None
        if point(row) in reads:
            q_and_kv = reads[point(row)] * SECTOR / ELEMENT / head_dim
            share = (q_and_kv - length) / (2 * length * rounds)
        key = row["head_dim"], int(words[1]), int(words[3])
        cell = 1000 * float(row["time_us"]) / steps, share
        found.setdefault(key, {})[length, row["scan"]] = cell
    return found


def point(row):
    return tuple(row[k] for k in ("kernel", "head_dim", "mask", "seq_q", "scan"))


def draw_stages(found):
    fig, axes = figure.new_figure()
    for i, (head_dim, warps) in enumerate((d, w) for d in ("64", "128") for w in (4, 8)):
        at = FIRST_BEYOND[head_dim]
        gains = []
        for stages in (1, 2, 3, 4):
            of = found[head_dim, stages, warps]
            gains.append(100 * (of[at, "linear"][0] / of[at, "sawtooth"][0] - 1))
        axes.plot(
            (1, 2, 3, 4),
            gains,
            color=figure.SERIES[i],
            marker="os^D"[i],
            label=f"D={head_dim}, {warps} warps",
        )
    axes.set_xticks((1, 2, 3, 4))
    axes.set_xlabel("stages of the K/V loop")
    axes.set_ylabel("sawtooth is faster by, %")
    axes.legend()
    return fig


def draw_steps(found):
    fig, grid = figure.new_figure(figure.PAGE_INCHES, 2.4, ncols=2)
    for axes, head_dim in zip(grid, ("64", "128")):
        for stages in (1, 2, 3, 4):
            of = found[head_dim, stages, 8]
            shown = [cell for (_, scan), cell in of.items() if scan != "reverse" and cell[1]]
            shown.sort(key=lambda cell: cell[1])
            axes.plot(
                [share for _, share in shown],
                [ns for ns, _ in shown],
                color=figure.SERIES[stages - 1],
                marker="os^D"[stages - 1],
                linestyle=":",
                label=f"{stages} stages",
            )
        axes.set_title(f"D={head_dim}, 8 warps, no mask")
        axes.set_xlabel("share of steps whose K and V come from DRAM")
        axes.set_ylabel("time a step, ns")
        axes.set_ylim(0)
        axes.legend(ncols=2)
    return fig


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    times, counters = (tables.read(path) for path in sys.argv[1:3])
    folder = Path(sys.argv[3])
    folder.mkdir(exist_ok=True)
    found = launches(times, counters)
    draw_stages(found).savefig(folder / "stages.png", dpi=150)
    draw_steps(found).savefig(folder / "steps.png", dpi=150)


if __name__ == "__main__":
    main()
