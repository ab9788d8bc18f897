#!/usr/bin/env python3
"""Races this project's kernels, called plainly, against PyTorch's back ends; prints the tables of a race.

    race.py run PASS OUT.csv [--list LIST] [--only WORDS] [--rounds N] [--gpu NAME]    needs a GPU, PyTorch, this package
    race.py table RACE.csv ... [--lengths | --shapes]                                  needs neither

PASS is forward or backward. In every round each contender runs in a burst of about a millisecond, in an order
that is shuffled anew, so that clocks and heat are the same for all (contenders.py of the Python package). Outputs
are compared with those of the first peer. A row is a contender on a shape: its median time, and the median over
rounds of the first peer's time over its own, with the 95 % interval. --only keeps the sections of the list whose
names have all the words. A list that is a RACE.csv of an earlier run races its shapes again, beside the same peers.

Exit codes: 0 fine, 1 a check failed, 2 wrong usage, 3 PyTorch or a GPU is missing.
"""

import configparser
import itertools
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "sawtooth" / "python" / "sawtooth"
sys.path += [str(HERE), str(HERE.parents[2] / "plots" / "lib"), str(PACKAGE)]
import contenders  # noqa: E402  (the path above leads to it)
import measures  # noqa: E402
import table  # noqa: E402

COLUMNS = ("gpu", "pass", *contenders.Shape._fields, "contender", "peer", "rounds", "time_us")
COLUMNS += ("ratio", "ratio_low", "ratio_high", "status")


def raced_before(path, of_pass):
    """[(shape, names of the peers)] of the rows of a race."""
    shapes = {}
    for row in table.read(path):
        if row["pass"] == of_pass:
            counts = [int(row[name]) for name in ("batch", "heads", "kv_heads", "seq_kv")]
            width = contenders.width(row["head_dim"])
            shape = contenders.Shape(row["dtype"], *counts, width, row["mask"])
            shapes.setdefault(shape, []).append(row["contender"])
    return [(s, [name for name in raced if name != contenders.OURS]) for s, raced in shapes.items()]


def listed(path, of_pass, only=()):
    """[(shape, names of the peers)] of the sections of a list."""
    if str(path).endswith(".csv"):
        return raced_before(path, of_pass)
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
            seq = contenders.count(length)
            batch = max(1, contenders.count(section["tokens"]) // seq)
            dtype = section.get("dtype", "bf16")
            heads = section.getint("heads")
            shape = contenders.Shape(
                dtype, batch, heads, heads, seq, contenders.width(head_dim), mask
            )
            found.append((shape, section["peers"].split(",")))
    return found


def run(options):
    torch, missing = contenders.torch_with_gpu()
    if not torch:
        print(f"race.py: {missing}", file=sys.stderr)
        return 3
    from sawtooth.bench import OURS  # the package is built with CUDA

    rows, correct = [], True
    for shape, peers in listed(options.list, options.of_pass, options.only.split()):
        of = (torch, options.of_pass, shape, peers, OURS, options.rounds)
        made = contenders.raced_rows(*of, measures.median_interval, gpu=options.gpu)
        rows += made
        correct = correct and not any("differs" in row["status"] for row in made)
        table.write(options.csv, rows, COLUMNS)  # stays, whatever comes next
        for row in made:
            print(*shape, row["contender"], row.get("time_us", ""), row["status"], flush=True)
    return 0 if correct else 1


def kind(row):
    name = f"{row['contender']} / {row['peer']}, {row['dtype']}"
    return f"{name}, D = {row['head_dim']}, {row['mask']}"


def timed(rows):
    ours = [row for row in rows if row["ratio"] and row["contender"] not in contenders.PEERS]
    return sorted(ours, key=lambda row: (row["contender"] != contenders.OURS, row["contender"]))


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


def whole(rows):
    """One table: all shapes of a pass and GPU together, whatever their kind."""
    yield "| pass, GPU | peer's time / ours | shapes | geometric mean | at 0.99 or more | least |"
    yield "|---" * 6 + "|"
    for key, found in table.grouped(timed(rows), "pass", "gpu", "contender", "peer").items():
        of_pass, gpu, contender, peer = key
        ratios = [table.number(row, "ratio") for row in found]
        level = sum(ratio >= 0.99 for ratio in ratios)
        mean = f"{measures.geometric_mean(ratios):.3f} | {level} | {min(ratios):.2f}"
        yield f"| {of_pass}, {gpu} | {contender} / {peer} | {len(ratios)} | {mean} |"


def print_tables(options):
    rows = [row for path in options.races for row in table.read(path)]
    print("\n".join((options.kind or summary)(rows)))


def main(arguments):
    parser = table.Parser(description=__doc__)
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
    kinds = tables.add_mutually_exclusive_group()
    for name, kind, words in (
        ("--lengths", by_length, "a table a GPU and pass, by length"),
        ("--shapes", whole, "all shapes of a GPU and pass together"),
    ):
        kinds.add_argument(name, dest="kind", action="store_const", const=kind, help=words)
    tables.set_defaults(work=print_tables)
    options = parser.parse_args(arguments)
    return options.work(options) or 0


if __name__ == "__main__":
    sys.exit(table.exit_code(main, sys.argv[1:], "race.py"))
