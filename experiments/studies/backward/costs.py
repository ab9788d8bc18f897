#!/usr/bin/env python3
"""Prints the costs of a family of backward kernels, a file for experiments/profiles/kernels, from records of their items.

    data=experiments/data/h100/backward
    costs.py mma $data/calibration.csv $data/calibration_items.csv.xz $data/pairs.csv $data/pairs_items.csv.xz \
      > experiments/profiles/kernels/mma-backward-h100-sxm.ini
    data=experiments/data/h200/backward  # and mma-backward-h200.ini, of kernels/mma as it was
    costs.py hopper $data/calibration_hopper.csv $data/calibration_hopper_items.csv.xz > .../hopper-backward-h200.ini

Rows and items are what `measure --csv` and `--item-trace` wrote. Steps, jitter and how two CTAs share an SM are from
launches without a mask, whose items are equal; what an item takes beyond its steps from causal launches, one CTA an SM,
whose items are not; how items of different lengths share an SM from the second pair of files. docs/models/backward.md says how the timed model uses them.
"""

import argparse
import collections
import csv
import lzma
import math
import pathlib
import statistics

GPUS = {"h200": "an NVIDIA H200", "h100-sxm": "an NVIDIA H100"}
SMS = 132
LATENCY_DRAM_NS = 360  # profiles/gpus/h200.ini
PORT_BYTES_A_NS = 7324 / SMS  # the same, l2-gb-per-s
ITEM_BEGIN_NS = {"mma": 800, "hopper": 0}  # of mma as its forward kernels; hopper finds items ahead
ITEM_SPREAD_NS = 200  # profiles/kernels/mma-h200.ini: of mma where no file says less
ELEMENT_BYTES = 2
SLOW = 0.1  # items that take so much longer are in the wrong phase; no other spread comes near
LEAST_BIAS = 0.002  # of an older CTA; below it two CTAs alternate
EXPONENTIALS_A_NS = 5.72e12 / 1e9 / SMS  # profiles/kernels/mma-h200.ini, exp-tera-per-s
TENSOR_FLOP_A_NS = 484.8e12 / 1e9 / SMS  # tensor-tflops
FIXED_NS = 35  # fixed-ns
AS_FORWARD_128 = {  # of kernels/hopper: profiles/kernels/hopper-h200.ini
    "power-slowness": 0.122,
    "dram-slowness": 0.049,
}
# Not from the records that this reads: README.md, "Orders in which items get longer".
DRAM_LATE_NS = 1400
DRAM_LATE_NOTE = "least error in DRAM reads of the seven points of kernels/hopper in list descending, on an H100, among 1100, 1400 and 1800"
LONG_STEPS = 100  # of items that tell what an item takes
BOTH_COMPUTE = 0.7  # of a launch under a mask, in which every SM still has two CTAs

Kernel = collections.namedtuple("Kernel", "head_dim tile_q tile_kv")


class Launch:
    """Starts and steps of the items of each CTA of a launch, in the order of time."""

    def __init__(self, row, workers):
        self.gpu = row["gpu"]
        self.mask = row["mask"]
        self.kernel = Kernel(*(int(row[name]) for name in Kernel._fields))
        self.ctas_per_sm = int(row["ctas_per_sm"])
        self.ctas = {worker: sorted(items) for worker, items in workers.items()}

    def items(self):
        """(worker, steps, ns) of every item that another one follows."""
        for worker, items in self.ctas.items():
            for (start, steps), (end, _) in zip(items, items[1:]):
                yield worker, steps, end - start

    def paces(self, item_ns):
        """ns a step of the items of each CTA."""
        paces = collections.defaultdict(list)
        for worker, steps, ns in self.items():
            paces[worker].append((ns - item_ns) / steps)
        return list(paces.values())

    def steps(self):
        return next(iter(self.ctas.values()))[0][1]


def read_launches(rows_path, items_path):
    with open(rows_path, newline="") as file:
        rows = {row["run_id"]: row for row in csv.DictReader(file)}
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    with (lzma.open if items_path.suffix == ".xz" else open)(items_path, "rt", newline="") as file:
        for item in csv.DictReader(file):
            launch = found[item["run_id"], item["repetition"]]
            launch[int(item["worker"])].append((int(item["start_ns"]), int(item["steps"])))
    return [Launch(rows[run], workers) for (run, _), workers in found.items()]


def item_ns_of(launches):
    """What an item takes beyond its steps: the intercept of a line through items of all lengths."""
    items = [
        (steps, ns)
        for launch in launches
        if launch.mask == "causal" and launch.ctas_per_sm == 1
        for _, steps, ns in launch.items()
        if steps > LONG_STEPS
    ]
    return statistics.linear_regression(*zip(*items)).intercept


def equal(launches, ctas_per_sm):
    return [l for l in launches if l.mask == "none" and l.ctas_per_sm == ctas_per_sm]


def median_over(launches, value):
    return statistics.median(value(launch) for launch in launches)


def mean_pace(launches, item_ns):
    return median_over(
        launches, lambda l: statistics.mean(p for cta in l.paces(item_ns) for p in cta)
    )


def step_jitter(launch, item_ns):
    """Standard deviation of a step, as a share: how the items of a CTA differ beyond what all items at the same place in
    their CTAs differ by."""
    ctas = launch.paces(item_ns)
    places = min(len(cta) for cta in ctas)
    means = [statistics.mean(cta[place] for cta in ctas) for place in range(places)]
    beyond = [[cta[place] / means[place] for place in range(places)] for cta in ctas]
    return math.sqrt(statistics.mean(map(statistics.variance, beyond)) * launch.steps())


def sm_spread(launch, item_ns):
    """Standard deviation, as a share, of what steps take an SM for the whole launch: how the means of CTAs differ beyond
    what the jitter of their steps makes of it."""
    ctas = launch.paces(item_ns)
    means = [statistics.mean(cta) for cta in ctas]
    variance = statistics.pvariance(means) / statistics.mean(means) ** 2
    steps = launch.steps() * statistics.mean(map(len, ctas))
    return math.sqrt(max(0, variance - step_jitter(launch, item_ns) ** 2 / steps))


def ahead_of_mean(launch, item_ns):
    """By how much the older ones of two CTAs are faster than the mean of both. CTAs that an SM gets first are nearly all
    among the first 132; where these are not faster than the others, two CTAs alternate."""
    paces = [statistics.mean(cta) for cta in launch.paces(item_ns)]

    def ahead(older, younger):
        return (sum(younger) - sum(older)) / sum(paces)

    first = ahead(paces[:SMS], paces[SMS:])
    paces.sort()
    return first if first < LEAST_BIAS else ahead(paces[:SMS], paces[SMS:])


def share_of_variance(times):
    """Of a mean over so many correlation times, beside that at one moment."""
    return 1 if times < 1e-6 else 2 * (times - 1 + math.exp(-times)) / times**2


def correlation_times(share):
    low, high = 0.01, 1e4
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if share_of_variance(middle) > share else (low, middle)
    return low


def wrong_phase(launch, item_ns):
    """(right phase ns, slowness, steps of a slip, steps between slips, locked share), or None."""
    ctas = launch.paces(item_ns)
    paces = sorted(p for cta in ctas for p in cta)
    right = paces[len(paces) // 10]
    slow = [p / right - 1 for p in paces if p > (1 + SLOW) * right]
    if not slow:
        return None
    slowness = statistics.median(slow)
    locked = [cta for cta in ctas if min(cta) > (1 + SLOW) * right]
    # The part of an item's time that its CTA is in the wrong phase.
    shares = [
        min(1, max(0, (1 - right / p) * (1 + slowness) / slowness))
        for cta in ctas
        if cta not in locked
        for p in cta
    ]
    share, variance = statistics.mean(shares), statistics.pvariance(shares)
    times = correlation_times(variance / (share * (1 - share)))
    slip = launch.steps() / times / (1 - share)
    return right, slowness, slip, slip * (1 - share) / share, len(locked) / len(ctas)


def met_share(launches, item_ns, right_ns, slowness, slipping):
    """Of items of different lengths that begin on an SM beside another one: the share after which both are in the wrong
    phase, from the mean pace of those that end while all SMs have two."""

    def of(launch):
        end = max(items[-1][0] for items in launch.ctas.values())
        found = [
            (next_start - start - item_ns, steps)
            for items in launch.ctas.values()
            for (start, steps), (next_start, _) in zip(items, items[1:])
            if next_start < BOTH_COMPUTE * end
        ]
        pace = sum(ns for ns, _ in found) / sum(steps for _, steps in found)
        return ((pace / right_ns - 1) / slowness - slipping) / (1 - slipping)

    return median_over(launches, of)


class Section:
    def __init__(self, name):
        print(f"\n[{name}]")

    def add(self, key, value, note, digits=None, source="measured"):
        text = value if digits is None else f"{value:.{digits}f}"
        print(f"{key} = {text}; {source}; {note}")


def print_sharing(section, kernel, shared, masked, item_ns, alone_ns):
    """How two CTAs share an SM. A step is half of what it takes with both; `masked` launches have a mask."""
    told = "records of items: "
    ahead = median_over(shared, lambda l: ahead_of_mean(l, item_ns))
    phases = [found for l in shared if (found := wrong_phase(l, item_ns))]
    pace = statistics.median(p[0] for p in phases) if phases else mean_pace(shared, item_ns)
    step_ns = pace / 2
    section.add("step-ns", step_ns, told + "half of a step of two CTAs that share an SM", 1)
    note = told + f"a CTA alone takes {alone_ns:.1f} ns"
    section.add("exposed-ns", max(0, alone_ns - step_ns), note, 1)
    note = told + f"the older one of two CTAs is {100 * ahead:.2f} % faster than their mean"
    if ahead > LEAST_BIAS:
        pairs = kernel.tile_q * kernel.tile_kv
        exp_ns = pairs / EXPONENTIALS_A_NS
        pipe_ns = 10 * pairs * kernel.head_dim / TENSOR_FLOP_A_NS + exp_ns + FIXED_NS
        section.add(
            "age-bias", ahead * pipe_ns / exp_ns, note + ", as a share of the exponentials' part", 4
        )
        jitter = median_over(shared, lambda l: step_jitter(l, item_ns))
        section.add(
            "jitter-shared", jitter, told + "standard deviation of a step of one of the two", 4
        )
        return
    section.add("keep-step", "on", note)
    if not phases:
        jitter = median_over(shared, lambda l: step_jitter(l, item_ns))
        section.add("jitter-in-step", jitter, told + "standard deviation of a step of the two", 4)
        return
    section.add("jitter-in-step", 0, told + "in their phases", 0)
    names = (
        "wrong-phase-slowness",
        "wrong-phase-steps",
        "wrong-phase-every-steps",
        "wrong-phase-locked-share",
    )
    notes = (
        "what the slow items take longer than the fastest tenth",
        "that a slip into the wrong phase lasts, from mean and variance of the items of other SMs",
        "between slips, from the same",
        "SMs whose items are all slow",
    )
    found = [statistics.median(values) for values in zip(*phases)]
    for name, note, digits, value in zip(names, notes, (4, 0, 0, 4), found[1:]):
        section.add(name, value, told + note, digits)
    right_ns, slowness, slip, between, _ = found
    met = met_share(masked, item_ns, right_ns, slowness, slip / (slip + between))
    note = "items under a mask that begin beside another one, whose SM is in the wrong phase from there on"
    section.add("wrong-phase-met-share", met, told + note, 2)


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("family", choices=sorted(ITEM_BEGIN_NS))
    parser.add_argument("rows", type=pathlib.Path)
    parser.add_argument("items", type=pathlib.Path)
    parser.add_argument("pairs", type=pathlib.Path, nargs="*")
    options = parser.parse_args()
    launches = read_launches(options.rows, options.items)
    pairs = read_launches(*options.pairs) if options.pairs else []
    begin_ns = ITEM_BEGIN_NS[options.family]
    files = [path.name for path in (options.rows, options.items, *options.pairs)]
    (gpu,) = {GPUS[launch.gpu] for launch in launches + pairs}
    folder = "/".join(options.rows.resolve().parts[-4:-1])
    print(
        f"""# What kernels of kernels/{options.family}/backward cost on {gpu}: studies/backward/costs.py {options.family}
# on experiments/{folder}: {", ".join(files)}
# key = value; source; note

[kernel]
description = kernels/{options.family}/backward on {gpu}
family = {options.family}-backward"""
    )
    if options.family == "hopper":
        every = Section("every")
        why = "the next item is found and loaded while one is computed"
        every.add("item-begin-ns", "0", why, source="assumed")
        why = "not told apart from the jitter of steps"
        every.add("item-spread-ns", "0", why, source="assumed")
        for key, value in (("launch-ns", "5880"), ("refill-ns", "4450")):
            every.add(key, value, "as kernels/hopper", source="assumed")
        every.add("dram-late-ns", DRAM_LATE_NS, DRAM_LATE_NOTE)
    for kernel in sorted({launch.kernel for launch in launches}):
        of_kernel = [launch for launch in launches if launch.kernel == kernel]
        item_ns = item_ns_of(of_kernel)
        alone, shared = equal(of_kernel, 1), equal(of_kernel, 2)
        alone_ns = mean_pace(alone, item_ns)
        section = Section(f"d{kernel.head_dim}-{kernel.tile_q}x{kernel.tile_kv}")
        told = "records of items: "
        if shared:
            masked = [l for l in pairs if l.kernel == kernel and l.mask == "causal"]
            print_sharing(section, kernel, shared, masked, item_ns, alone_ns)
        else:
            section.add("step-ns", alone_ns, told + "a step of a CTA alone on its SM", 1)
            section.add("exposed-ns", 0, told + "in step-ns, for an SM holds one CTA", 0)
        if options.family == "hopper" and kernel.head_dim == 128:
            for key, value in AS_FORWARD_128.items():
                note = "as kernels/hopper at head dim 128 (hopper-h200)"
                section.add(key, value, note, source="assumed")
        jitter = median_over(alone, lambda l: step_jitter(l, item_ns))
        section.add("jitter", jitter, told + "standard deviation of a step of a CTA alone", 4)
        spread = median_over(alone, lambda l: sm_spread(l, item_ns))
        note = "standard deviation of what SMs take longer for the whole launch, a CTA alone"
        section.add("sm-spread", spread, told + note, 5)
        # K, V and the first tiles of Q and dO.
        bytes_loaded = 2 * (kernel.tile_q + kernel.tile_kv) * kernel.head_dim * ELEMENT_BYTES
        loads_ns = LATENCY_DRAM_NS + bytes_loaded / PORT_BYTES_A_NS
        note = f"items take {item_ns:.0f} ns beyond their steps, of which first loads are {loads_ns:.0f}"
        note += f" and item-begin-ns {begin_ns}" if begin_ns else ""
        item_end_ns = max(0, item_ns - loads_ns - begin_ns)
        section.add("item-end-ns", item_end_ns, told + note, 0)
        if begin_ns and item_end_ns < ITEM_SPREAD_NS:
            section.add("item-spread-ns", item_end_ns, "at most item-end-ns", 0, source="assumed")
        section.add(
            "resident-ctas",
            2 if shared else 1,
            "of shared memory (kernels/attention/variants.inc)",
            0,
        )


if __name__ == "__main__":
    main()
