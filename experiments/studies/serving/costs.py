#!/usr/bin/env python3
"""Costs of the decode kernels from times of launches that drawn.ini does not have.

    costs.py --program SAWTOOTH --csv ../../data/h200/serving/calibration.csv --output mma-decode-h200.ini

A kernel has three numbers: what a step takes (step-ns), what a piece of a unit takes beyond its steps (item-end-ns), and what
a step takes longer with pages (page-step-ns). The first two are those with which the timed model has the median times of the
kernel's cold launches of contiguous K and V, of which there are two lengths; the third is that with which it has those with
pages in the mean. Kernels of 32 rows, one CTA an SM, have no launches with pages: their one loader takes twice what the two of
an SM take together. Without any launch with pages the third is 0.
"""

import argparse
import collections
import csv
import os
import statistics
import subprocess
import tempfile

PROBLEM = "batch heads kv_heads seq_q seq_kv head_dim dtype mask tile_q tile_kv ctas_per_sm".split()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--csv", action="append", required=True)
    parser.add_argument("--kernel", default="mma")
    parser.add_argument(
        "--first",
        action="store_true",
        help="of the first repetition alone, whose tensors have no gaps between them",
    )
    parser.add_argument("--output", required=True)
    return parser.parse_args()


def measured(options, paged):
    """{(head dim, tile_q, tile_kv): {problem: us}}, with pages or without."""
    times = collections.defaultdict(lambda: collections.defaultdict(list))
    for path in options.csv:
        with open(path) as file:
            for row in csv.DictReader(file):
                if row["state"] != "cold" or row["lengths"] or (row["page_rows"] != "") != paged:
                    continue
                if row["kernel"] != options.kernel or row["status"] != "ok":
                    continue
                shape = row["head_dim"], row["tile_q"], row["tile_kv"]
                keys = PROBLEM + ["page_rows", "page_table"] * paged
                times[shape][tuple((key, row[key]) for key in keys)].append(float(row["time_us"]))
    return {
        shape: {
            problem: us[0] if options.first else statistics.median(us)
            for problem, us in problems.items()
        }
        for shape, problems in sorted(times.items())
    }


def section(shape, costs):
    head_dim, q_rows, kv_rows = shape
    step, end, page = costs
    kind = "measured" if q_rows == "16" and page > 0 else "assumed"
    return (
        f"\n[d{head_dim}-{q_rows}x{kv_rows}]\n"
        f"step-ns = {step:.1f}; measured; timed: duration\n"
        f"item-end-ns = {end:.0f}; measured; timed: duration\n"
        f"page-step-ns = {page:.1f}; {kind}; timed: duration with pages\n"
    )


# Of every decode kernel; fit_ways.py has it too.
EVERY = """
[every]
exposed-ns = 0; measured; in step-ns, for its CTAs always share an SM as they do here
item-begin-ns = 0; measured; in item-end-ns
launch-ns = 8000; measured; the calls that the times of this file are from, with what they do beside the kernel
item-spread-ns = 0; assumed; not told apart from the jitter of steps
lead-k-steps = 1; assumed; a stage or more ahead
lead-v-steps = 1; assumed; as lead-k-steps
"""

HEAD = """\
# What the decode kernels of family {kernel} cost on an NVIDIA H200: experiments/studies/serving/costs.py on
# experiments/data/h200/serving/{rows}
# key = value; source; note

[kernel]
description = decode by kernels/decode, family {kernel}, on an NVIDIA H200
"""


def head(options):
    return HEAD.format(kernel=options.kernel, rows=os.path.basename(options.csv[0])) + EVERY


def predicted(options, shape, problems, costs):
    """Times of the problems, us."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "costs.ini")
        with open(path, "w") as file:
            file.write(head(options) + section(shape, [*costs, 0][:3]))
        times = []
        for problem in problems:
            command = [options.program, "simulate", "--gpu", "h200", "--timing", "timed"]
            command += "--l2 halves --pack-gqa on --kv-split auto --launch static".split()
            command += ["--quiet", "--csv", "-", "--kernel-costs", path]
            for key, value in problem:
                command += ["--" + key.replace("_", "-"), value]
            answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            times.append(float(next(csv.DictReader(answer.splitlines()))["time_us"]))
        return times


def fit(options, shape, problems):
    """(step-ns, item-end-ns) by Newton's method on both times, with differences as slopes."""
    names = list(problems)
    if len(names) != 2:
        raise SystemExit(f"costs.py: {shape} has {len(names)} cold lengths; needed: 2")
    wanted = [problems[name] for name in names]
    costs = [1000.0, 2000.0]
    # Where DRAM is slower than the steps times hardly depend on them.
    while costs[0] < 1e5:
        slower = predicted(options, shape, names, [costs[0] + 100, costs[1]])
        if all(a > 1.01 * b for a, b in zip(slower, predicted(options, shape, names, costs))):
            break
        costs[0] *= 2
    for _ in range(6):
        here = predicted(options, shape, names, costs)
        missing = [a - b for a, b in zip(wanted, here)]
        if max(abs(m) / w for m, w in zip(missing, wanted)) < 1e-3:
            break
        by_step = [
            (a - b) / 100
            for a, b in zip(predicted(options, shape, names, [costs[0] + 100, costs[1]]), here)
        ]
        by_end = [
            (a - b) / 1000
            for a, b in zip(predicted(options, shape, names, [costs[0], costs[1] + 1000]), here)
        ]
        determinant = by_step[0] * by_end[1] - by_end[0] * by_step[1]
        end = costs[1] + (by_step[0] * missing[1] - missing[0] * by_step[1]) / determinant
        if end >= 0:
            costs[0] += (missing[0] * by_end[1] - by_end[0] * missing[1]) / determinant
        else:  # no piece takes less than its steps: the step alone, by least squares of shares
            end = 0.0
            left = [m - slope * (end - costs[1]) for m, slope in zip(missing, by_end)]
            costs[0] += sum(l * s / w**2 for l, s, w in zip(left, by_step, wanted)) / sum(
                (s / w) ** 2 for s, w in zip(by_step, wanted)
            )
        costs[1] = end
    print(shape, [f"{c:.1f}" for c in costs], "wanted", wanted, "predicted", here)
    return costs


def fit_pages(options, shape, problems, costs):
    """page-step-ns with which predicted over measured times are 1 in the mean."""
    names = list(problems)

    def ratio(page):
        times = predicted(options, shape, names, [*costs, page])
        return statistics.mean(us / problems[name] for us, name in zip(times, names))

    low, high = 0.0, 100.0
    at_low, at_high = ratio(low), ratio(high)
    page = max(0.0, low + (1 - at_low) * (high - low) / (at_high - at_low))
    print(
        shape,
        f"page-step-ns {page:.1f}: {at_low:.3f} of the times without it, {ratio(page):.3f} with",
    )
    return page


def main():
    options = arguments()
    text = head(options)
    paged = measured(options, True)
    page_steps = {}
    for shape, problems in measured(options, False).items():
        costs = fit(options, shape, problems)
        if shape in paged:
            page_steps[shape[0]] = fit_pages(options, shape, paged[shape], costs)
        costs.append(page_steps.get(shape[0], 0) * (1 if shape in paged else 2))
        text += section(shape, costs)
    with open(options.output, "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
