#!/usr/bin/env python3
"""Costs of the kernels of all ways of serving, from times of lists/calibration_ways.ini.

    fit_ways.py --program SAWTOOTH --csv calibration_ways.csv --gpu h200 --forward-base mma-h200 --output FOLDER

Each kernel (decode, decode with cascades, or not packed; family, head dim, tile) has costs with which the timed model comes
closest to the measured times of its launches, by least squares of the logarithms of their ratios: what a step takes, what a
lone CTA's takes more, what a piece or an item takes beyond its steps, what pages add to a step, what share of DRAM's rate its
loads reach, what a sequence of a cascade takes to be merged, and what passes before the combine kernel's first read. Which of them a kernel has depends on what its launches can
tell apart. Of kernels that are not packed it also takes the better of keep-step on and off: CTAs of an SM that keep step end
together, so that a last round of few CTAs goes to few SMs, in pairs. Writes FAMILY-decode-ways-GPU.ini and FAMILY-cascade-ways-GPU.ini of both families, and mma-ways-GPU.ini, which is
the forward kernel's file of --forward-base with the sections of these tiles. Prints the ratios that are left.
"""

import argparse
import collections
import csv
import math
import os
import subprocess
import tempfile

from costs import EVERY

KEYS = (
    "kernel pass batch heads kv_heads seq_q seq_kv head_dim dtype mask tile_q tile_kv ctas_per_sm launch kv_split "
    "pack_gqa prefix prefix_group cascade page_rows page_table"
).split()

Cost = collections.namedtuple("Cost", "key first least most")
STEP = Cost("step-ns", 1000.0, 50.0, 1e5)
EXPOSED = Cost("exposed-ns", 300.0, 0.0, 1e5)
END = Cost("item-end-ns", 2000.0, 200.0, 1e5)  # not below item-spread-ns of kernels/mma
PAGE = Cost("page-step-ns", 50.0, 0.0, 1e4)
DRAM = Cost("dram-share", 0.9, 0.3, 1.0)
LOW_DRAM = DRAM._replace(first=0.45)
MERGE = Cost("merge-ns", 2000.0, 0.0, 1e5)
COMBINE = Cost("combine-ns", 3000.0, 0.0, 1e5)

KEEP_STEP = "keep-step = on; measured; timed: last rounds of few CTAs take as long as full ones\n"

DECODE_HEAD = """\
# What {what} by the kernels of family {family} costs on {name}:
# experiments/studies/serving/fit_ways.py on {rows}
# key = value; source; note

[kernel]
description = {what} by kernels/decode, family {family}, on {name}
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--csv", required=True)
    parser.add_argument("--gpu", required=True)
    parser.add_argument("--forward-base", required=True, help="kernel costs of the forward kernel")
    parser.add_argument("--output", required=True, help="a folder")
    parser.add_argument("--start", help="a folder with files of costs to begin with")
    parser.add_argument(
        "--ways", default="decode,cascade,alone", help="the folder has the files of the others"
    )
    return parser.parse_args()


def way_of(row):
    if row["pack_gqa"] != "on":
        return "alone"
    return "cascade" if row["cascade"] == "on" else "decode"


def launches(path):
    """{(way, family, head dim, tile_q, tile_kv): [(point, us)]} of the first repetition, without gaps
    between tensors."""
    found = collections.defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["status"] != "ok" or row["repetition"] not in ("", "0"):
                continue
            shape = (way_of(row), row["kernel"]) + tuple(
                int(row[key]) for key in ("head_dim", "tile_q", "tile_kv")
            )
            point = {key: row[key] for key in KEYS if row[key]}
            found[shape].append((point, float(row["time_us"])))
    return dict(sorted(found.items()))


def costs_of(shape, points):
    """Those that the launches of a shape tell apart."""
    if shape[0] == "alone":
        return [STEP, EXPOSED, END, COMBINE]
    if shape[0] == "cascade":
        return [END, MERGE, DRAM]
    paged = ["page_rows" in point for point, _ in points]
    costs = [STEP, END]
    # Without a prefix those of many rows lie in L2, where DRAM does not tell.
    if any(paged) and not all(paged):
        costs.append(PAGE)
    if any(paged):
        costs.append(DRAM)
    return costs


def section_of(text, name):
    """{key: line} of a section."""
    lines = (
        text.split(f"\n[{name}]\n", 1)[-1].split("\n[", 1)[0].splitlines() if name in text else []
    )
    return {line.split(" = ")[0]: line for line in lines if " = " in line}


def of_decode(text, shape):
    """What a cascade's steps have of the decode kernel of its tile, whose loop they share: lines of
    its section, and of the least tile's where the tile itself was not told apart from L2."""
    _, _, dim, rows, kv_rows = shape
    least = section_of(text, f"d{dim}-16x{kv_rows}")
    own = least | section_of(text, f"d{dim}-{rows}x{kv_rows}")
    return "".join(own[key] + "\n" for key in (STEP.key, PAGE.key) if key in own)


def without_section(text, name):
    """A file of costs without one of its sections."""
    parts = text.split("\n[")
    return "\n[".join(part for part in parts if not part.startswith(name + "]"))


class Model:
    """Times of launches by the timed model, with fixed lines of a kernel's section."""

    def __init__(self, options, head, shape, points, fixed=""):
        self.options = options
        self.fixed = fixed
        self.head = head
        self.shape = shape
        self.points = points
        self.known = {}

    def section(self, costs, values):
        _, _, dim, q_rows, kv_rows = self.shape
        lines = [f"\n[d{dim}-{q_rows}x{kv_rows}]"]
        for cost, value in zip(costs, values):
            digits = 3 if cost.key == DRAM.key else 1
            lines.append(f"{cost.key} = {value:.{digits}f}; measured; timed: duration")
        return "\n".join(lines) + "\n" + self.fixed

    def times(self, costs, values):
        text = self.head + self.section(costs, values)
        if text in self.known:
            return self.known[text]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "costs.ini")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            points = os.path.join(folder, "points.ini")
            with open(points, "w", encoding="utf-8") as file:
                file.write(f"gpu = {self.options.gpu}\ntiming = timed\nl2 = halves\n")
                file.write(f"kernel-costs = {path}\n")
                for number, (point, _) in enumerate(self.points):
                    file.write(f"[{number}]\n")
                    for key, value in point.items():
                        file.write(f"{key.replace('_', '-')} = {value}\n")
            command = [self.options.program, "simulate", points, "--quiet", "--csv", "-"]
            answer = subprocess.run(command, capture_output=True, text=True)
            if answer.returncode != 0:
                raise SystemExit(answer.stderr)
        rows = csv.DictReader(answer.stdout.splitlines())
        self.known[text] = [float(row["time_us"]) for row in rows]
        return self.known[text]

    def residuals(self, costs, values):
        return [
            math.log(predicted / us)
            for predicted, (_, us) in zip(self.times(costs, values), self.points)
        ]


def solve(matrix, right):
    """x of matrix x = right by Gauss's method with pivots."""
    size = len(right)
    rows = [row[:] + [value] for row, value in zip(matrix, right)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda row: abs(rows[row][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for j in range(i + 1, size):
            factor = rows[j][i] / rows[i][i]
            rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i])]
    x = [0.0] * size
    for i in reversed(range(size)):
        x[i] = (rows[i][size] - sum(rows[i][j] * x[j] for j in range(i + 1, size))) / rows[i][i]
    return x


def fit(model, costs):
    """Levenberg's and Marquardt's method, within the bounds of each cost; values and residuals."""
    values = [cost.first for cost in costs]
    square = lambda r: sum(x * x for x in r)
    here = model.residuals(costs, values)
    damping = 1e-2
    for _ in range(25):
        slopes = []
        for i, cost in enumerate(costs):
            step = max(abs(values[i]) * 0.02, 20.0 if cost.key != DRAM.key else 0.01)
            if values[i] + step > cost.most:
                step = -step
            moved = values[:i] + [values[i] + step] + values[i + 1 :]
            slopes.append([(a - b) / step for a, b in zip(model.residuals(costs, moved), here)])
        gradient = [sum(s * r for s, r in zip(slope, here)) for slope in slopes]
        normal = [[sum(a * b for a, b in zip(s, t)) for t in slopes] for s in slopes]
        scale = [cost.first for cost in costs]
        better = False
        for _ in range(6):
            damped = [
                [
                    normal[i][j]
                    + (damping * (normal[i][i] + 1e-4 / scale[i] ** 2) if i == j else 0)
                    for j in range(len(costs))
                ]
                for i in range(len(costs))
            ]
            change = solve(damped, [-g for g in gradient])
            tried = [
                min(max(v + c, cost.least), cost.most) for v, c, cost in zip(values, change, costs)
            ]
            there = model.residuals(costs, tried)
            if square(there) < square(here):
                gained = square(here) - square(there)
                values, here, damping, better = tried, there, damping / 3, True
                break
            damping *= 4
        if not better or gained < 1e-4:
            break
    return values, here


def started(costs, folder, file, shape):
    """The costs, which begin with those of a file's section."""
    with open(os.path.join(folder, file + ".ini"), encoding="utf-8") as fitted:
        known = section_of(fitted.read(), "d{}-{}x{}".format(*shape[2:]))
    first = {key: float(line.split(" = ")[1].split(";")[0]) for key, line in known.items()}
    return [cost._replace(first=first.get(cost.key, cost.first)) for cost in costs]


def fit_best(models, costs):
    """(model, values, residuals) of the model that is left the least; where a cascade's share of DRAM
    is sought, from a high and from a low one."""
    starts = [costs]
    if MERGE in costs:
        starts.append([LOW_DRAM if cost is DRAM else cost for cost in costs])
    fits = [(model, *fit(model, start)) for model in models for start in starts]
    return min(fits, key=lambda of: sum(x * x for x in of[2]))


def main():
    options = arguments()
    experiments = os.environ.get("SAWTOOTH_EXPERIMENTS", "experiments")
    base = os.path.join(experiments, "profiles", "kernels", options.forward_base + ".ini")
    with open(base, encoding="utf-8") as file:
        forward = file.read()
    name = {"h200": "an NVIDIA H200", "h100-sxm": "an NVIDIA H100 SXM"}.get(
        options.gpu, options.gpu
    )
    texts = {}
    shapes = launches(options.csv)
    # Cascades have costs of decode.
    for shape in sorted(shapes, key=lambda shape: (shape[0] == "cascade", shape)):
        points = shapes[shape]
        way, family = shape[:2]
        if way not in options.ways.split(","):
            continue
        file = f"{family}-{way}-ways-{options.gpu}" if way != "alone" else f"mma-ways-{options.gpu}"
        words = {"decode": "decode", "cascade": "decode with cascades"}
        head = forward
        if way != "alone":
            head = DECODE_HEAD.format(
                what=words[way], family=family, name=name, rows=os.path.relpath(options.csv)
            )
            head += EVERY
        head = without_section(head, "d{}-{}x{}".format(*shape[2:]))
        variants = ["", KEEP_STEP] if way == "alone" else [""]
        if way == "cascade":
            decode = f"{family}-decode-ways-{options.gpu}"
            if decode not in texts:
                with open(
                    os.path.join(options.output, decode + ".ini"), encoding="utf-8"
                ) as fitted:
                    texts[decode] = fitted.read()
            variants = [of_decode(texts[decode], shape)]
        costs = costs_of(shape, points)
        if options.start:
            costs = started(costs, options.start, file, shape)
        model, values, left = fit_best(
            [Model(options, head, shape, points, fixed) for fixed in variants], costs
        )
        print(shape, {cost.key: round(value, 3) for cost, value in zip(costs, values)}, model.fixed)
        for (point, us), residual in zip(points, left):
            ways = " ".join(
                f"{key}={point[key]}" for key in KEYS[2:] if key in point and key != "page_table"
            )
            print(f"  {us:9.2f} us, predicted {math.exp(residual) * 100 - 100:+5.1f} %  {ways}")
        before = without_section(texts.get(file, head), "d{}-{}x{}".format(*shape[2:]))
        texts[file] = before.rstrip("\n") + "\n" + model.section(costs, values)
    for file, text in texts.items():
        with open(os.path.join(options.output, file + ".ini"), "w", encoding="utf-8") as output:
            output.write(text)


if __name__ == "__main__":
    main()
