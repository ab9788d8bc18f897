#!/usr/bin/env python3
"""Times the forward kernels over 16 packed sequences of mixed lengths beside the same kernels with
equal lengths, and FlashAttention-2's varlen kernel (PyTorch's), all in one run, on one GPU.

A case is a distribution of lengths, a head dim and a mask, with 16 heads in bf16. Equal lengths are
the mean one, so that there are as many rows. In every round each contender runs a burst, in an order
shuffled anew; times are medians of rounds, a launch each. FLOP are 4 x head dim for each pair of a
query and a key that it sees.

    SAWTOOTH_LIBRARY=libsawtooth_kernels.so varlen.py --csv varlen.csv [--rounds 9]
    varlen.py --list > lists/varlen.ini    (what the simulator is to predict)
"""

import argparse
import csv
import itertools
import random
import statistics
import sys
from pathlib import Path

import on_gpu

sys.path.append(str(Path(__file__).parent.parent / "peers"))
import plain_call  # noqa: E402

SEQUENCES, HEADS = 16, 16
# Of the kernels that take packed sequences.
TILES = {("hopper", 64): (192, 128), ("hopper", 128): (128, 128)}
TILES |= {("mma", 64): (128, 128), ("mma", 128): (128, 64)}
COLUMNS = "lengths mask head_dim family layout us tflop_s error".split()
# Low and high of a uniform distribution, and a geometric one, whose logarithm is uniform.
DISTRIBUTIONS = {
    "uniform 256..8K": lambda draw: int(draw.uniform(256, 8192)),
    "uniform 1K..16K": lambda draw: int(draw.uniform(1024, 16384)),
    "log-uniform 128..16K": lambda draw: int(128 * 128 ** draw.random()),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--csv")
    parser.add_argument("--list", action="store_true", help="print the cases for the simulator")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--families", default="hopper,mma")
    return parser.parse_args()


def lengths_of(name):
    draw = random.Random(name)
    return [DISTRIBUTIONS[name](draw) for _ in range(SEQUENCES)]


def print_list():
    """Mixed lengths and equal ones, as plans without a schedule walk them."""
    print("# The cases of varlen.py --list: 16 sequences, packed.")
    print("experiment = serving-varlen\ngpu = h200\ntiming = timed\nl2 = halves")
    print(f"heads = {HEADS}\nlaunch = dynamic\nsequence-order = longest")
    cases = itertools.product(DISTRIBUTIONS, ("causal", "none"), (128, 64), ("hopper", "mma"))
    for name, mask, head_dim, family in cases:
        lengths = lengths_of(name)
        tile_q, tile_kv = TILES[family, head_dim]
        masked = mask == "causal"
        for layout, of in (("mixed", lengths), ("equal", [sum(lengths) // SEQUENCES] * SEQUENCES)):
            print(f"\n[{name}, {mask}, {head_dim}, {family}, {layout}]")
            print(f"kernel = {family}\nmask = {mask}\nhead-dim = {head_dim}")
            print(f"tile-q = {tile_q}\ntile-kv = {tile_kv}")
            print(f"ctas-per-sm = {1 if family == 'hopper' else 2}")
            print("lengths = " + "+".join(map(str, of)))
            print(f"section = {'auto:32M' if masked else '1'}")
            print(f"q-order = {'descending' if masked else 'ascending'}")
            print(f"scan = {'reverse' if masked else 'linear'}")


def flop(lengths, mask, head_dim):
    pairs = sum(n * (n + 1) // 2 if mask == "causal" else n * n for n in lengths)
    return 4 * head_dim * HEADS * pairs


def reference(torch, q, k, v, lengths, mask):
    """By PyTorch, sequence after sequence."""
    parts = []
    for begin, n in zip([0, *itertools.accumulate(lengths)], lengths):
        one = [t[begin : begin + n].transpose(0, 1).unsqueeze(0) for t in (q, k, v)]
        out = torch.nn.functional.scaled_dot_product_attention(*one, is_causal=mask == "causal")
        parts.append(out.squeeze(0).transpose(0, 1))
    return torch.cat(parts)


def flash_varlen(torch, q, k, v, lengths, mask):
    begins = torch.tensor([0, *itertools.accumulate(lengths)], dtype=torch.int32, device="cuda")
    most = max(lengths)

    def launch():
        return torch.ops.aten._flash_attention_forward(
            q, k, v, begins, begins, most, most, 0.0, mask == "causal", False
        )[0]

    return launch


def burst_us(torch, launch, count):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    launch()
    begin.record()
    for _ in range(count):
        launch()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1000 / count


def race(torch, contenders, rounds):
    times = {name: [] for name in contenders}
    counts = {
        name: max(2, int(8000 / burst_us(torch, launch, 1))) for name, launch in contenders.items()
    }
    for turn in range(rounds + 1):
        names = list(contenders)
        random.shuffle(names)
        for name in names:
            us = burst_us(torch, contenders[name], counts[name])
            if turn > 0:
                times[name].append(us)
    return {name: statistics.median(values) for name, values in times.items()}


def run_case(torch, options, name, mask, head_dim):
    lengths = lengths_of(name)
    equal = [sum(lengths) // SEQUENCES] * SEQUENCES
    contenders, errors, sizes = {}, {}, {}
    for layout, of in {"mixed": lengths, "equal": equal}.items():
        shape = (sum(of), HEADS, head_dim)
        q, k, v = (torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in range(3))
        expected = reference(torch, q, k, v, of, mask)
        for family in options.families.split(","):
            o = torch.full_like(q, float("nan"))
            launch = plain_call.prepare(
                torch, q, k, v, mask == "causal", o, lengths=of, family=family
            )
            launch()
            contenders[family, layout] = launch
            difference = (o.float() - expected.float()).norm() / expected.float().norm()
            errors[family, layout] = f"{difference.item():.2e}"
            sizes[family, layout] = flop(of, mask, head_dim)
        try:
            launch = flash_varlen(torch, q, k, v, of, mask)
            launch()
            contenders["flash", layout] = launch
            sizes["flash", layout] = flop(of, mask, head_dim)
        except (RuntimeError, TypeError) as error:
            print(f"FlashAttention-2 refuses: {str(error)[:100]}")
    q, k, v = (
        torch.randn((SEQUENCES, HEADS, equal[0], head_dim), device="cuda", dtype=torch.bfloat16)
        for _ in range(3)
    )
    for family in options.families.split(","):
        o = torch.full_like(q, float("nan"))
        tile_q, tile_kv = TILES[family, head_dim]
        launch = plain_call.prepare(
            torch, q, k, v, mask == "causal", o, family=family, tile_q=tile_q, tile_kv=tile_kv
        )
        contenders[family, "fixed"] = launch
        sizes[family, "fixed"] = flop(equal, mask, head_dim)
    rows = []
    for key, us in race(torch, contenders, options.rounds).items():
        row = dict(zip(("family", "layout"), key), lengths=name, mask=mask, head_dim=head_dim)
        row.update(
            us=f"{us:.2f}", tflop_s=f"{sizes[key] / us / 1e6:.2f}", error=errors.get(key, "")
        )
        rows.append(row)
        print(" ".join(f"{row[column]}" for column in COLUMNS), flush=True)
    return rows


def main():
    options = arguments()
    if options.list:
        return print_list()
    if not options.csv:
        sys.exit("varlen.py: --csv is missing")
    torch = on_gpu.torch_of("varlen.py")
    if refusal := plain_call.refusal(None):
        sys.exit(f"varlen.py: {refusal}")
    rows = []
    for name, mask, head_dim in itertools.product(DISTRIBUTIONS, ("causal", "none"), (128, 64)):
        rows += run_case(torch, options, name, mask, head_dim)
        with open(options.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
