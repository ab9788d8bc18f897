#!/usr/bin/env python3
"""Races this project's kernels, called plainly, against PyTorch's back ends; prints the tables of a race.

    race.py run PASS OUT.csv [--list LIST] [--only WORDS] [--rounds N] [--gpu NAME]    needs a GPU and PyTorch
    race.py table RACE.csv ... [--lengths]                                             needs neither

PASS is forward or backward. In every round each contender runs in a burst of about a millisecond, in an order
that is shuffled anew, so that clocks and heat are the same for all (backends.py). Outputs are compared with those
of the first peer. A row is a contender on a shape: its median time, and the first peer's time over its own in the
same round: the median over rounds with the 95 % interval. --only keeps the sections of the list whose names have
all the words.

Exit codes: 0 fine, 1 a check failed, 2 wrong usage, 3 PyTorch or a GPU is missing.
"""

import argparse
import configparser
import itertools
import random
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parents[2] / "plots" / "lib")]
import backends  # noqa: E402  (the path above leads to it)
import measures  # noqa: E402
import plain_call  # noqa: E402
import table  # noqa: E402

OURS = "sawtooth"
BURST_US = 1000  # long beside the resolution of events
LONG_LAUNCH_US = 5000  # a longer one needs no launch in front
LARGEST_DIFFERENCE = {
    "bf16": 1e-2,
    "fp16": 1e-2,
    "fp32": 1e-5,
}  # of two outputs, relative, as a norm
SUFFIXES = {"K": 1 << 10, "M": 1 << 20}


class Shape(NamedTuple):
    dtype: str
    batch: int
    heads: int
    seq_kv: int
    head_dim: int
    mask: str


COLUMNS = ("gpu", "pass", *Shape._fields, "contender", "peer", "rounds", "time_us")
COLUMNS += ("ratio", "ratio_low", "ratio_high", "status")


def count(text):
    return int(text[:-1]) * SUFFIXES[text[-1]] if text[-1:] in SUFFIXES else int(text)


def listed(path, of_pass, only=()):
    """[(shape, names of the peers)] of the sections of a list."""
    reader = configparser.ConfigParser()
    with open(path, encoding="utf-8") as file:
        reader.read_file(file)
    found = []
    for name in reader.sections():
        words = name.replace(",", " ").split()
        if words[0] != of_pass or not set(only) <= set(words):
            continue
        section = reader[name]
        axes = [section[key].split(",") for key in ("head-dim", "mask", "seq")]
        for head_dim, mask, length in itertools.product(*axes):
            seq = count(length)
            batch = max(1, count(section["tokens"]) // seq)
            dtype = section.get("dtype", "bf16")
            shape = Shape(dtype, batch, section.getint("heads"), seq, int(head_dim), mask)
            found.append((shape, section["peers"].split(",")))
    return found


def launches_of(torch, of_pass, shape, peers):
    """({name: launch} of those that run and are right, {name: reason} of the others)"""
    torch.manual_seed(1)  # zeros would be faster than anything real
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}[shape.dtype]
    size = (shape.batch, shape.heads, shape.seq_kv, shape.head_dim)
    q, k, v, gradient = (torch.randn(size, device="cuda", dtype=kind) for _ in range(4))
    more = (gradient,) if of_pass == "backward" else ()
    launches, reasons, yardstick = {}, {}, None
    for name in (*peers, OURS):
        module, first = (plain_call, ()) if name == OURS else (backends, (name,))
        try:
            launch = getattr(module, of_pass)(torch, *first, q, k, v, shape.mask, *more)
            output = launch()
            torch.cuda.synchronize()
        except Exception as error:  # back ends refuse with many kinds of error
            reasons[name] = f"{type(error).__name__}: {str(error).splitlines()[0]}".replace(
                ",", ";"
            )
            continue
        output = output if isinstance(output, (tuple, list)) else (output,)
        if yardstick is None:
            yardstick = [tensor.clone() for tensor in output]
        off = max(difference(*pair) for pair in zip(output, yardstick, strict=True))
        if off <= LARGEST_DIFFERENCE[shape.dtype]:
            launches[name] = launch
        else:
            reasons[name] = f"output differs from the first peer's by {off:.1e}"
    return launches, reasons


def difference(a, b):
    return float((a.float() - b.float()).norm() / b.float().norm())


def burst_of(torch, launch):
    warm = [backends.Burst(torch, launch, 1, False).time_us() for _ in range(2)][-1]
    return backends.Burst(torch, launch, max(1, int(BURST_US / warm)), warm < LONG_LAUNCH_US)


def raced(bursts, rounds, seed):
    """{name: time of each round} of {name: burst}, shuffled anew in every round."""
    times, turns, shuffled = {name: [] for name in bursts}, list(bursts), random.Random(seed)
    for _ in range(rounds):
        shuffled.shuffle(turns)
        for name in turns:
            times[name].append(bursts[name].time_us())
    return times


def rows_of(times, reasons, peer, **known):
    """A row a contender; one that did not run has its reason."""
    for name, own in times.items():
        row = dict(known, contender=name, peer=peer, rounds=len(own), status="ok")
        row["time_us"] = f"{statistics.median(own):.2f}"
        if peer in times:
            ratios = measures.median_interval([b / a for a, b in zip(own, times[peer])])
            row.update(zip(("ratio", "ratio_low", "ratio_high"), map("{:.4f}".format, ratios)))
        yield row
    for name, reason in reasons.items():
        yield dict(known, contender=name, peer=peer, status=reason)


def run(options):
    try:
        import torch
    except ImportError as error:
        torch = None
        missing = f"PyTorch cannot be imported: {error}"
    if torch and not torch.cuda.is_available():
        torch, missing = None, "PyTorch sees no GPU"
    if not torch:
        print(f"race.py: {missing}", file=sys.stderr)
        return 3
    rows, correct = [], True
    for shape, peers in listed(options.list, options.of_pass, options.only.split()):
        launches, reasons = launches_of(torch, options.of_pass, shape, peers)
        bursts = {name: burst_of(torch, launch) for name, launch in launches.items()}
        times = raced(bursts, options.rounds, str(shape))
        known = {"gpu": options.gpu, "pass": options.of_pass, **shape._asdict()}
        rows += rows_of(times, reasons, peers[0], **known)
        correct = correct and not any("differs" in reason for reason in reasons.values())
        table.write(options.csv, rows, COLUMNS)  # stays, whatever comes next
        for row in rows[-len(times) - len(reasons) :]:
            print(*shape, row["contender"], row.get("time_us", ""), row["status"], flush=True)
    return 0 if correct else 1


def kind(row):
    name = f"{row['contender']} / {row['peer']}, {row['dtype']}"
    return f"{name}, D = {row['head_dim']}, {row['mask']}"


def timed(rows):
    ours = [row for row in rows if row["ratio"] and row["contender"] not in backends.PEERS]
    return sorted(ours, key=lambda row: (row["contender"] != OURS, row["contender"]))


def summary(rows):
    """One table: the geometric mean over lengths, and the least, of each GPU and pass."""
    columns = sorted(table.grouped(timed(rows), "pass", "gpu"), reverse=True)
    yield "| peer's time / ours | " + " | ".join(
        f"{of_pass}, {gpu}" for of_pass, gpu in columns
    ) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    kinds = {}
    for row in timed(rows):
        ratios = kinds.setdefault(kind(row), {}).setdefault((row["pass"], row["gpu"]), [])
        ratios.append(table.number(row, "ratio"))
    for name, found in kinds.items():
        cells = [
            f"{measures.geometric_mean(found[c]):.3f} ({min(found[c]):.2f})" if c in found else "-"
            for c in columns
        ]
        yield f"| {name} | " + " | ".join(cells) + " |"


def by_length(rows):
    """A table a GPU and pass."""
    for (gpu, of_pass), of_gpu in table.grouped(timed(rows), "gpu", "pass").items():
        lengths = sorted({int(row["seq_kv"]) for row in of_gpu})
        yield f"\n{gpu}, {of_pass}\n\n| | " + " | ".join(map(measures.short, lengths)) + " |"
        yield "|---" * (len(lengths) + 1) + "|"
        kinds = {}
        for row in of_gpu:
            kinds.setdefault(kind(row), {})[int(row["seq_kv"])] = table.number(row, "ratio")
        for name, ratios in kinds.items():
            cells = [f"{ratios[n]:.2f}" if n in ratios else "-" for n in lengths]
            yield f"| {name} | " + " | ".join(cells) + " |"


def print_tables(options):
    rows = [row for path in options.races for row in table.read(path)]
    print("\n".join((by_length if options.lengths else summary)(rows)))


def main(arguments=None):
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run")
    running.add_argument("of_pass", choices=("forward", "backward"))
    running.add_argument("csv")
    running.add_argument("--list", default=HERE / "lists" / "race.ini")
    running.add_argument("--only", default="")
    running.add_argument("--rounds", type=int, default=15)
    running.add_argument("--gpu", default="h200", help="name of the gpu column")
    running.set_defaults(work=run)
    tables = commands.add_parser("table")
    tables.add_argument("races", nargs="+")
    tables.add_argument("--lengths", action="store_true", help="a table a GPU and pass, by length")
    tables.set_defaults(work=print_tables)
    options = parser.parse_args(arguments)
    try:
        return options.work(options) or 0
    except (table.TableError, OSError) as error:
        print(f"race.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
