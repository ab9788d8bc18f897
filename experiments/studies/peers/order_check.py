#!/usr/bin/env python3
"""Does `sawtooth order` find the schedule of a launch from its stamps?

    order_check.py measure STEPS.csv.xz SAWTOOTH   this project's kernels (lists/orders.ini) and the Triton
                                                   peer write their steps; needs a GPU and PyTorch
    order_check.py check STEPS.csv.xz SAWTOOTH     the schedules behind them, a line a launch: no GPU

STEPS has a row a K/V step: kernel, mask, launch, section, q_order, scan, q_tiles say which launch it was,
then the columns of stamps (docs/reference/formats.md). A schedule is found where launch, section, q_order
and scan are those that the launch had; another scan counts where it describes all steps as well, another
order where it describes all items. Exit code 1 where one is not found.
"""

import collections
import csv
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LIST = HERE / "lists" / "orders.ini"
KEYS = ("kernel", "mask", "launch", "section", "q_order", "scan", "q_tiles")
STAMPS = ("cta", "item", "tile", "sm", "time_ns")
SCHEDULE = ("launch", "section", "q_order", "scan")
ALL = 99.95  # per cent, as printed with one digit


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def own_steps(sawtooth, folder):
    rows, trace = folder / "rows.csv", folder / "trace.csv"
    words = (sawtooth, "measure", LIST, "--csv", rows, "--order-trace", trace, "--repetitions", "1")
    subprocess.run([str(word) for word in words], check=False, stdout=subprocess.DEVNULL)
    points = {row["run_id"]: row for row in read(rows) if row["run_id"]}
    for step in read(trace):
        point = points[step["run_id"]]
        q_tiles = -(-int(point["seq_q"]) // int(point["tile_q"]))
        item = int(step["head"]) * q_tiles + int(step["q_tile"])
        yield [point[key] for key in KEYS[:-1]] + [q_tiles] + [
            *(step["worker"], item, step["kv_tile"], step["sm"], step["start_ns"])
        ]


def triton_steps(folder):
    import torch

    from triton_attention import TILE_KV, TILE_Q, attention
    from order_stamp import write_order_stamps  # triton_attention names its folder

    torch.manual_seed(1)
    heads, length, head_dim = 4, 4096, 64
    q, k, v = (
        torch.randn(1, heads, length, head_dim, device="cuda", dtype=torch.bfloat16)
        for _ in range(3)
    )
    o, lse = torch.empty_like(q), torch.empty(q.shape[:3], device="cuda", dtype=torch.float32)
    for mask in ("none", "causal"):
        stamps = torch.zeros(
            (heads * (length // TILE_Q) * (length // TILE_KV), 5), dtype=torch.int64, device="cuda"
        )
        count = torch.zeros(1, dtype=torch.int64, device="cuda")
        attention(q, k, v, o, lse, mask == "causal", stamps, count)
        expected = torch.nn.functional.scaled_dot_product_attention(
            q, k, v, is_causal=mask == "causal"
        )
        error = ((o - expected).float().norm() / expected.float().norm()).item()
        if not error < 0.01:
            raise RuntimeError(f"the stamped launch is off by {error}")
        path = folder / "stamps.csv"
        write_order_stamps(stamps, count, path)
        steps = read(path)
        first = min(int(step["time_ns"]) for step in steps)
        for step in sorted(steps, key=lambda step: int(step["time_ns"])):
            step["time_ns"] = int(step["time_ns"]) - first
            yield ["triton", mask, "grid", 1, "ascending", "linear", length // TILE_Q] + [
                step[column] for column in STAMPS
            ]


def measure(path, sawtooth):
    with tempfile.TemporaryDirectory() as name, lzma.open(
        path, "wt", encoding="utf-8", newline=""
    ) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(KEYS + STAMPS)
        writer.writerows(own_steps(sawtooth, pathlib.Path(name)))
        writer.writerows(triton_steps(pathlib.Path(name)))


def found_schedule(sawtooth, q_tiles, steps, folder):
    """launch, section, q_order, scan as `order` prints them; its shares of items and of steps in per cent."""
    path = folder / "stamps.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([STAMPS, *steps])
    printed = subprocess.run(
        [sawtooth, "order", path, "--q-tiles", q_tiles], check=True, capture_output=True, text=True
    ).stdout
    found = dict(re.findall(r"^([a-z-]+) = ([\w-]+)", printed, re.MULTILINE))
    schedule = tuple(found.get(key.replace("_", "-"), "") for key in SCHEDULE)
    items, steps = (
        float((re.findall(rf"{what}: ([\d.]+) %", printed) or ["0"])[0])
        for what in ("items in place", "steps in order")
    )
    return schedule, items, steps


def check(path, sawtooth):
    launches = collections.defaultdict(list)
    with lzma.open(path, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            launches[tuple(row[key] for key in KEYS)].append([row[column] for column in STAMPS])
    failed, other_names = 0, 0
    with tempfile.TemporaryDirectory() as name:
        for launch, steps in launches.items():
            wanted = tuple(dict(zip(KEYS, launch))[key] for key in SCHEDULE)
            schedule, in_place, in_order = found_schedule(
                sawtooth, launch[-1], steps, pathlib.Path(name)
            )
            order = schedule[:3] == wanted[:3] or in_place >= ALL
            good = order and (schedule[3] == wanted[3] or in_order >= ALL)
            failed += not good
            other_names += good and schedule != wanted
            print(
                *("found" if good else "NOT FOUND", launch[0], launch[1], *wanted),
                *("->", *schedule) if schedule != wanted else (),
                f"items {in_place:.1f} %, steps {in_order:.1f} %",
            )
    print(
        f"{len(launches)} launches: {len(launches) - failed} found, {other_names} of them by another name "
        f"that describes the same"
    )
    return failed


def main(arguments):
    if len(arguments) != 3 or arguments[0] not in ("measure", "check"):
        sys.exit(__doc__)
    path, sawtooth = pathlib.Path(arguments[1]), arguments[2]
    if arguments[0] == "measure":
        measure(path, sawtooth)
        return 0
    return 1 if check(path, sawtooth) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
