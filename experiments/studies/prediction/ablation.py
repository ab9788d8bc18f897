#!/usr/bin/env python3
"""What each mechanism of the timed model is worth: errors of lists without it, beside those of other seeds.

    ablation.py SAWTOOTH [LIST ...]     predicts lists of prediction.py (without one: LISTS) once for each mechanism that
                                        `simulate --without` knows and each of three seeds; writes results/ablation.csv

A row is a list and what is left out (`nothing` for each seed): median and 90 % mark of errors. A mechanism earns its place
where its row is worse than every seed's. A list takes ten minutes of one core; rows that are there stay. Standard library only.
"""

import sys
from pathlib import Path

import prediction  # whose path leads to the others
import measures
import table

# An H100 and three H200s; of both passes the last.
LISTS = ("families_sixth", "families_fourth", "families_eighth", "sealed")
SEEDS = (0, 1, 2)
# `nothing` is what the seeds are of; `repeats` changes how a walk is made, not what is modelled.
MECHANISMS = """stalls latency bandwidth merging sharing starts ticket-race jitter sm-spread age-bias soft-edge
    scattered-pages early-write-back item-cost prefetch-cost power""".split()
COUNTERS = (prediction.DRAM, "l2_read_miss_sectors", "fabric_read_sectors", prediction.TIME)
RESULTS = Path(__file__).resolve().parent / "results" / "ablation.csv"


def row_of(program, name, without, seed):
    folder = prediction.BUILD / "ablation" / name
    folder.mkdir(parents=True, exist_ok=True)
    gpu, measured, _ = prediction.LISTS[name]
    points = prediction.options_of(name, gpu, prediction.DATA / measured, folder)
    predicted, errors = (folder / f"{what}.csv" for what in ("predicted", "errors"))
    options = ["--timing=timed", "--l2=halves", "--quiet", "--overwrite", f"--without={without}"]
    prediction.run([program, "simulate", *points, *options, f"--seed={seed}", f"--csv={predicted}"])
    prediction.run([program, "compare", predicted, prediction.DATA / measured, "--csv", errors])
    row = {"list": name, "without": without, "seed": seed}
    compared = table.read(errors)
    for counter in COUNTERS:
        of_counter = table.where(compared, counter=counter)
        sizes = [abs(float(r["relative_error"])) for r in of_counter if r["relative_error"]]
        for mark, share in (("median", 0.5), ("ninety", 0.9)):
            row[f"{counter}_{mark}"] = f"{measures.quantile(sizes, share):.5f}"
    return row


def main(program, *names):
    for name in names:
        if name not in prediction.LISTS:
            print(f"no list {name}; allowed: {', '.join(prediction.LISTS)}", file=sys.stderr)
            return 2
    rows = table.read(RESULTS, replaced=True) if RESULTS.exists() else []
    there = {(row["list"], row["without"], int(row["seed"])) for row in rows}
    for name in names or LISTS:
        wanted = [("nothing", seed) for seed in SEEDS] + [(without, 0) for without in MECHANISMS]
        for without, seed in wanted:
            if (name, without, seed) not in there:
                rows.append(row_of(program, name, without, seed))
                table.write(RESULTS, rows)
                print(*rows[-1].values(), flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
