#!/usr/bin/env python3
"""Reads what `sawtooth measure --item-trace` recorded: how fast SMs are, how CTAs share one, who starts first.

    sawtooth measure experiments/studies/validation/lists/calibration.ini --csv calibration.csv --item-trace items.csv
    python3 experiments/studies/validation/read_items.py calibration.csv items.csv --die die.ini

Prints the parameters of a GPU profile that items show, and with --die writes the file that `sawtooth
simulate --die` takes: the speeds of this GPU's SMs, for each kernel, alone and with two CTAs, the half of L2 that
each sits at and the half that tickets are drawn in, medians over the launches. An item lasts until its CTA's next one
begins, so the last one of a CTA is not used. SMs are in the order in which CTAs come to them (sim/timed/placement.hpp); H200 alone.
"""
import argparse
import csv
import lzma
import math
import statistics
import sys
from collections import defaultdict

# CTAs of one GPC, as sim/timed/placement.hpp has them; the first eight are taken TPC by TPC.
SMS = 132
PARTS = (
    [(c, c + 2) for c in range(0, 8, 2)]
    + [(8, 16)]
    + [(c, c + 16) for c in range(16, 96, 16)]
    + [(96, 114), (114, 132)]
)
GPCS = [(0, 16)] + PARTS[5:]
SMS_A_HALF = 66
# The older and the younger CTA of each SM, of 264: sim/timed/cta_order.hpp.
SHARERS = (
    [(sm, sm + 80) for sm in range(8)]
    + [(sm, sm + 132) for sm in range(8, 80)]
    + [(sm + 8, sm + 132) for sm in range(80, SMS)]
)
SECOND_CTAS = {younger for _, younger in SHARERS}
LONG_STEPS = 500
ITEM_NS = 3400  # item-begin-ns and item-end-ns of experiments/profiles/gpus/h200.ini
APART = 0.002  # a TPC that is further from the median of its GPC has a speed of its own
NORMAL = 1.4826  # standard deviation of a normal distribution over its median absolute deviation
KERNELS = ("d64-128x128", "d64-128x64", "d128-128x64", "d128-128x128")
PAIRS = 128 * 128  # of a query and a key, a step of the larger tiles
FLOP_A_PAIR = 4  # a product and a sum for Q K^T and for P V, an element of a row
LINE_BYTES = 128
ELEMENT_BYTES = 2
LOCKSTEP_ITEMS = 2  # the first items of a launch, in which CTAs still are where they started
# Turns of a GPC's TPCs, as sim/timed/start_order.hpp has them, by their number.
TURNS = {8: (4, 5, 7, 2, 3, 6, 0, 1), 9: (4, 5, 8, 2, 3, 7, 0, 1, 6)}


def opened(path):
    return (
        lzma.open(path, "rt", newline="")
        if path.endswith(".xz")
        else open(path, newline="", encoding="utf-8")
    )


class Launch:
    """One recorded launch: of each CTA its items, in the order of time, as (start, item, steps)."""

    def __init__(self, point):
        self.point = point
        self.items = defaultdict(list)

    def add(self, row):
        self.items[int(row["worker"])].append(
            (int(row["start_ns"]), int(row["item"]), int(row["steps"]))
        )

    def sort(self):
        for items in self.items.values():
            items.sort()

    def has_ctas(self, an_sm):
        p = self.point
        return p["launch"] != "grid" and p["workers"] == str(an_sm * SMS)

    def is_lone(self):
        return self.has_ctas(1) and not self.prefetches()

    def prefetches(self):
        return self.point["prefetch"] != "0"

    def is_steady(self):
        """Persistent CTAs, items alike and so long that what is between them does not count."""
        p = self.point
        return (
            p["launch"] != "grid"
            and p["mask"] == "none"
            and all(item[2] >= LONG_STEPS for items in self.items.values() for item in items)
        )

    def is_unequal(self):
        """One CTA an SM, with enough items, of lengths that differ."""
        items = [item for of_cta in self.items.values() for item in of_cta]
        return (
            self.is_lone()
            and len({item[2] for item in items}) > 2
            and len(items) > (LOCKSTEP_ITEMS + 2) * SMS
        )

    def shows_speeds(self):
        return self.is_steady() and self.is_lone()

    def kernel(self):
        p = self.point
        return f"d{p['head_dim']}-{p['tile_q']}x{p['tile_kv']}"

    def has_lines(self, cta):
        """Whether lines of a tile fall to this CTA to prefetch (scheduler/prefetch.hpp, one head)."""
        p = self.point
        lines = int(p["tile_kv"]) * int(p["head_dim"]) * ELEMENT_BYTES // LINE_BYTES
        workers = int(p["workers"])
        return self.prefetches() and cta * lines // workers < (cta + 1) * lines // workers

    def pace(self, cta):
        """Nanoseconds a step, from a CTA's first start to its last."""
        items = self.items[cta]
        steps = sum(item[2] for item in items[:-1])
        return (items[-1][0] - items[0][0] - ITEM_NS * (len(items) - 1)) / steps

    def first_tickets(self):
        return {cta: items[0][1] for cta, items in self.items.items()}

    def first_starts(self):
        return [self.items[cta][0][0] for cta in range(SMS)]


def launches_of(points_path, items_path):
    with opened(points_path) as file:
        points = {row["run_id"]: row for row in csv.DictReader(file)}
    launches = {}
    with opened(items_path) as file:
        for row in csv.DictReader(file):
            if row["run_id"] not in points:
                sys.exit(
                    f"read_items.py: {items_path} has launches of a point that {points_path} has not: "
                    f"run_id {row['run_id']}"
                )
            key = row["run_id"], row["repetition"]
            launches.setdefault(key, Launch(points[row["run_id"]])).add(row)
    for launch in launches.values():
        launch.sort()
    return list(launches.values())


def slowness(launch, ctas=range(SMS)):
    """Of each SM, as a share of a step of its CTA: the median over the TPCs of its GPC, and of a TPC that is apart
    from that its own; the two SMs of a TPC count alike."""
    paces = [launch.pace(cta) for cta in ctas]
    usual = statistics.median(paces)
    tpcs = [statistics.mean(paces[c : c + 2]) / usual - 1 for c in range(0, SMS, 2)]
    shares = []
    for begin, end in GPCS:
        of_gpc = statistics.median(tpcs[begin // 2 : end // 2])
        shares += [
            own if abs(own - of_gpc) > APART else of_gpc
            for own in tpcs[begin // 2 : end // 2]
            for _ in range(2)
        ]
    middle = statistics.median(shares)
    return [share - middle for share in shares]


def tpc_spread(launch):
    paces = [launch.pace(cta) for cta in range(SMS)]
    halves = [(paces[c] - paces[c + 1]) / 2 for c in range(0, SMS, 2)]
    return statistics.mean(halves) / statistics.mean(paces)


def jitter(launch, parts=None, first=0):
    """Standard deviation of a step: items of a GPC's SMs two apart, taken at the same place of their CTAs, which
    are numbered from `first` on."""
    values = []
    for begin, end in parts or PARTS[5:]:
        for cta in range(first + begin, first + end - 2, 4):
            here, there = launch.items[cta], launch.items[cta + 2]
            for k in range(min(len(here), len(there)) - 1):
                steps = here[k][2], there[k][2]
                times = [
                    (items[k + 1][0] - items[k][0] - ITEM_NS) / n
                    for items, n in zip((here, there), steps)
                ]
                values.append((times[0] / times[1] - 1) * math.sqrt(statistics.mean(steps) / 2))
    return NORMAL * statistics.median(abs(value) for value in values)


def jitter_shared(launch):
    """The same for the older and the younger CTA of an SM: 16 to 79 and, on the same SMs, 148 to 211. The last
    item but one of a CTA may run alone, and is left out."""
    shortened = Launch(launch.point)
    shortened.items = {cta: items[:-1] for cta, items in launch.items.items()}
    return [jitter(shortened, PARTS[5:9], first) for first in (0, SMS)]


def bias_persistent(launch):
    """(younger - older) / (younger + older), times of a step of the two CTAs of an SM."""
    younger = statistics.mean(launch.pace(c) for c in launch.items if c in SECOND_CTAS)
    older = statistics.mean(launch.pace(c) for c in launch.items if c not in SECOND_CTAS)
    return (younger - older) / (younger + older)


def bias_grid(launch, held):
    """The same from a launch of one item a CTA. The older CTA ends first, after t; then the younger
    one is the older, and ends after 2 t - t * older / younger: the starts of the CTAs that follow.
    """
    starts = sorted(items[0][0] for items in launch.items.values())[held : 2 * held]
    first = statistics.median(starts[: held // 2])
    second = statistics.median(starts[held // 2 :])
    ratio = 2 - second / first
    return (1 - ratio) / (1 + ratio)


def start_spread(launch):
    """From the first TPC of a GPC to its last, ns."""
    spreads = []
    for begin, end in PARTS[5:10]:
        starts = [launch.items[cta][0][0] for cta in range(begin, end, 2)]
        spreads.append(max(starts) - min(starts))
    return statistics.median(spreads)


def paces(launches, ctas_an_sm):
    """Of each kernel without prefetch, ns a step."""
    known = defaultdict(list)
    for launch in launches:
        if launch.is_steady() and launch.has_ctas(ctas_an_sm) and not launch.prefetches():
            older = [
                launch.pace(cta)
                for cta in launch.items
                if cta not in SECOND_CTAS or ctas_an_sm == 1
            ]
            younger = [
                launch.pace(cta) for cta in launch.items if cta in SECOND_CTAS and ctas_an_sm > 1
            ] or older
            known[launch.kernel()].append(
                (statistics.median(older) + statistics.median(younger)) / 2
            )
    return {kernel: statistics.median(values) for kernel, values in known.items()}


def step_costs(launches):
    """(TFLOP/s, tera exponentials a second, {kernel: (fixed ns, exposed ns)}) of sim/timed/step_cost.hpp, from paces
    alone and with two CTAs, or nothing where a kernel is missing. Between the two kernels of head dim 64 half of all
    products and exponentials differ, between 128x128 at 64 and 128x64 at 128 half of the exponentials alone; two CTAs
    take twice the pipes' time, and what a lone one takes beyond it is exposed."""
    narrow, small, wide, large = KERNELS
    alone, shared = paces(launches, 1), paces(launches, 2)
    if not (set(KERNELS) <= set(alone) and {narrow, small, wide} <= set(shared)):
        return None
    exp_ns = 2 * (alone[narrow] - alone[wide])  # of 128 x 128
    tensor_ns = 2 * (alone[narrow] - alone[small]) - exp_ns  # of 128 x 128 x 64
    works = {narrow: (1, 1), small: (0.5, 0.5), wide: (1, 0.5), large: (2, 1)}
    busy = {kernel: works[kernel][0] * tensor_ns + works[kernel][1] * exp_ns for kernel in KERNELS}
    fixed = {kernel: max(0, shared[kernel] / 2 - busy[kernel]) for kernel in (narrow, small, wide)}
    fixed[large] = fixed[wide]  # nobody has two CTAs of it on an SM
    costs = {
        kernel: (fixed[kernel], alone[kernel] - busy[kernel] - fixed[kernel]) for kernel in KERNELS
    }
    return PAIRS * 64 * FLOP_A_PAIR * SMS / tensor_ns / 1000, PAIRS * SMS / exp_ns / 1000, costs


def prefetch_costs(launch, alone):
    """What a step takes longer than that of the same kernel without prefetch, ns: without lines of its own and, on
    top, with them; of CTAs that all have some, all and nothing."""
    usual = statistics.median(other.pace(cta) for other in alone for cta in range(SMS))
    with_lines = [launch.pace(cta) for cta in range(SMS) if launch.has_lines(cta)]
    without = [launch.pace(cta) for cta in range(SMS) if not launch.has_lines(cta)] or with_lines
    return statistics.median(without) - usual, statistics.median(with_lines) - statistics.median(
        without
    )


def prefetch_costs_shared(launch, usual):
    """The same of two CTAs on an SM, whose steps take `usual` ns on average without prefetch: where neither has lines;
    on top, where both have; and by which share a step of a CTA with lines beside one without is the longer one, where
    the older and the younger one are such CTAs equally often."""
    times = defaultdict(list)
    for older, younger in SHARERS:
        times[launch.has_lines(older), launch.has_lines(younger)].append(
            (launch.pace(older), launch.pace(younger))
        )
    if len(times) < 4:
        return None
    older, younger = (
        {key: statistics.median(pair[at] for pair in pairs) for key, pairs in times.items()}
        for at in (0, 1)
    )
    mean = {key: (older[key] + younger[key]) / 2 for key in times}
    ratio = {key: older[key] / younger[key] for key in times}
    neither, both = (False, False), (True, True)
    return (
        mean[neither] - usual,
        mean[both] - mean[neither],
        math.log(ratio[True, False] / ratio[False, True]) / 4,
    )


def turn(cta):
    """Of an SM's TPC in its GPC's order of starts, 0 to 1."""
    begin, end = next(gpc for gpc in GPCS if gpc[0] <= cta < gpc[1])
    tpcs = (end - begin) // 2
    number = (cta - begin) // 2
    if begin == 0:  # its last four TPCs come first
        number = (number + 4) % 8
    return TURNS[tpcs][number] / (tpcs - 1)


def line_through(points):
    """Least squares: (at 0, slope)."""
    xs, ys = zip(*points)
    x_mean, y_mean = statistics.mean(xs), statistics.mean(ys)
    square = sum((x - x_mean) ** 2 for x in xs)
    slope = sum((x - x_mean) * (y - y_mean) for x, y in points) / square
    return y_mean - slope * x_mean, slope


def item_times(launch):
    """What items of unequal length take beyond their steps, ns, and by how much more in the TPC of a GPC that starts
    last than in the first; the first items, in which CTAs stay together, are not used for the latter.
    """
    times = [
        (cta, k, item[2], after[0] - item[0])
        for cta, items in launch.items.items()
        for k, (item, after) in enumerate(zip(items, items[1:]))
    ]
    item_ns, step_ns = line_through([(steps, ns) for _, _, steps, ns in times])
    late = []
    for begin, end in GPCS:
        for k in {time[1] for time in times if time[1] >= LOCKSTEP_ITEMS}:
            own = [
                (turn(cta), ns - step_ns * steps)
                for cta, at, steps, ns in times
                if begin <= cta < end and at == k
            ]
            if not own:
                continue
            middle = statistics.median(ns for _, ns in own)
            usual = NORMAL * statistics.median(abs(ns - middle) for _, ns in own)
            late += [
                (at, ns - middle) for at, ns in own if abs(ns - middle) < 3 * usual
            ]  # no TPC that is apart
    return item_ns, line_through(late)[1]


def near_tickets(launches):
    """CTAs of the GPCs that draw the first tickets: those at the half of L2 that has the counter."""
    tickets = [launch.first_tickets() for launch in launches]
    mean = {
        gpc: statistics.median(statistics.mean(t[cta] for cta in range(*gpc)) for t in tickets)
        for gpc in GPCS
    }
    near = {cta for gpc in GPCS if mean[gpc] < (SMS - 1) / 2 for cta in range(*gpc)}
    if len(near) != SMS_A_HALF:
        sys.exit(
            f"read_items.py: first tickets do not tell the halves of L2 apart: {len(near)} SMs draw early ones, "
            f"where a half has {SMS_A_HALF}; record more launches with tickets"
        )
    return near


def mean_tickets(launch, near):
    """Of the first ones, near and far from the counter; 32.5 and 98.5 where those of one half come first."""
    tickets = launch.first_tickets()
    return [
        statistics.mean(t for cta, t in tickets.items() if (cta in near) == side)
        for side in (True, False)
    ]


def ticket_hop(launch, near):
    """How much later the first items of the far SMs begin, ns."""
    starts = launch.first_starts()
    far, here = [
        [t for cta, t in enumerate(starts) if (cta in near) == side] for side in (False, True)
    ]
    return statistics.mean(far) - statistics.mean(here)


def shape(launch):
    p = launch.point
    return f"D={p['head_dim']} {p['tile_q']}x{p['tile_kv']} {p['mask']} {p['launch']}"


def report(launches, near):
    for launch in launches:
        prefetch = ", prefetch" if launch.prefetches() else ""
        if launch.has_ctas(1) and launch.point["launch"] == "dynamic":
            print(
                f"{shape(launch)}: first tickets near and far "
                f"{' and '.join(f'{t:.0f}' for t in mean_tickets(launch, near))}, "
                f"far ones {ticket_hop(launch, near):.0f} ns later"
            )
        if launch.shows_speeds():
            shares = slowness(launch)
            print(
                f"{shape(launch)}: SMs differ by {100 * statistics.pstdev(shares):.3f} %, "
                f"those of a TPC by {200 * tpc_spread(launch):.3f} %, step jitter {jitter(launch):.4f}"
            )
        elif launch.is_steady() and launch.has_ctas(1):
            alone = [
                other
                for other in launches
                if other.shows_speeds() and other.kernel() == launch.kernel()
            ]
            costs = prefetch_costs(launch, alone) if alone else (math.nan, math.nan)
            print(
                f"{shape(launch)}{prefetch}: SMs of a TPC differ by {200 * tpc_spread(launch):.3f} %, a step takes "
                f"{costs[0]:.1f} ns more, with lines of its own another {costs[1]:.1f}"
            )
        elif launch.has_ctas(2):
            older, younger = jitter_shared(launch)
            print(
                f"{shape(launch)}{prefetch}: older CTA preferred by {100 * bias_persistent(launch):.2f} %, "
                f"step jitter {older:.3f} and {younger:.3f}"
            )
            usual = paces(launches, 2).get(launch.kernel())
            costs = prefetch_costs_shared(launch, usual) if launch.prefetches() and usual else None
            if costs:
                print(
                    f"{shape(launch)}{prefetch}, two CTAs: a step takes {costs[0]:.1f} ns more, with lines of both "
                    f"another {costs[1]:.1f}; with lines beside a CTA without {100 * costs[2]:.1f} % longer"
                )
        elif launch.is_unequal():
            item_ns, spread_ns = item_times(launch)
            print(
                f"{shape(launch)}: an item takes {item_ns:.0f} ns beyond its steps, {spread_ns:.0f} more in the last "
                f"TPC of a GPC than in the first"
            )
        elif launch.point["launch"] == "grid" and launch.point["mask"] == "none":
            print(
                f"{shape(launch)}: older CTA preferred by {100 * bias_grid(launch, 2 * SMS):.2f} %"
            )


def speeds_text(key, launches, ctas=range(SMS)):
    shares = [
        statistics.median(values)
        for values in zip(*(slowness(launch, ctas) for launch in launches))
    ]
    return (
        f"\n[{key}]\nvalue = {','.join(f'{share:.6f}' for share in shares)}\nsource = measured\n"
        f"note = median of {len(launches)} launches; in the order in which CTAs come to SMs\n"
    )


def die_text(steady, shared, dynamic, near, name):
    text = f"# Facts of one die, written by experiments/studies/validation/read_items.py\n[die]\nname = {name}\n"
    text += speeds_text("sm-slowness", steady)
    for kernel in sorted({launch.kernel() for launch in steady}):
        text += speeds_text(
            f"sm-slowness {kernel}", [launch for launch in steady if launch.kernel() == kernel]
        )
    for kernel in sorted({launch.kernel() for launch in shared}):
        for key, ctas in zip(("older", "younger"), zip(*SHARERS)):
            text += speeds_text(
                f"sm-slowness-{key} {kernel}",
                [launch for launch in shared if launch.kernel() == kernel],
                ctas,
            )
    if dynamic:
        halves = [int((cta in near) != (0 in near)) for cta in range(SMS)]
        text += (
            f"\n[cta-half]\nvalue = {','.join(map(str, halves))}\nsource = measured\n"
            f"note = GPCs that draw the first tickets in {len(dynamic)} launches sit at one half of L2; "
            f"0 is that of the first CTA\n"
            f"\n[ticket-half]\nvalue = {int(0 not in near)}\nsource = measured\n"
            f"note = half whose SMs draw the first tickets\n"
        )
    return text


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("points", help="CSV of sawtooth measure")
    parser.add_argument("items", help="its --item-trace, or that compressed by xz")
    parser.add_argument("--die", help="file to write")
    parser.add_argument("--name", default="NVIDIA H200")
    options = parser.parse_args(arguments)
    launches = launches_of(options.points, options.items)
    steady = [launch for launch in launches if launch.shows_speeds()]
    if not steady:
        sys.exit(
            f"read_items.py: {options.items} has no launch of {SMS} persistent CTAs, one an SM, without a mask "
            f"and with items of at least {LONG_STEPS} steps"
        )
    shared = [
        launch
        for launch in launches
        if launch.has_ctas(2) and launch.is_steady() and not launch.prefetches()
    ]
    dynamic = [
        launch for launch in launches if launch.has_ctas(1) and launch.point["launch"] == "dynamic"
    ]
    near = near_tickets(dynamic) if dynamic else set()
    report(launches, near)
    costs = step_costs(launches)
    if costs:
        print(f"step-tensor-tflops {costs[0]:.1f}, step-exp-tera-per-s {costs[1]:.2f}")
        for kernel, (fixed_ns, exposed_ns) in costs[2].items():
            print(
                f"step-fixed-ns {kernel} {fixed_ns:.0f}, step-exposed-ns {kernel} {exposed_ns:.0f}"
            )
    print(
        f"step-jitter {statistics.median(map(jitter, steady)):.4f}, "
        f"start-spread-ns {statistics.median(map(start_spread, steady)):.0f}"
    )
    if dynamic:
        print(
            f"ticket-hop-ns {statistics.median(ticket_hop(launch, near) for launch in dynamic):.0f}"
        )
    if options.die:
        with open(options.die, "w", encoding="utf-8") as file:
            file.write(die_text(steady, shared, dynamic, near, options.name))


if __name__ == "__main__":
    main()
