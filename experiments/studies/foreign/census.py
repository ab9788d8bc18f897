#!/usr/bin/env python3
"""What other people's kernels do to L2: launches of attention kernels and of PyTorch's own, by `sawtooth record`.

    census.py launch [LAUNCHES.csv]      launches each, the first time outside the range that is recorded; a GPU, PyTorch
    census.py measure FOLDER SAWTOOTH    records them, from a cold L2, into FOLDER/census.csv
    census.py table FOLDER               a line a kernel at D = 128; no GPU

A kernel that cannot run is said and left out. A further one is an entry of KERNELS.
"""

import functools
import itertools
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "sawtooth" / "python" / "sawtooth"
sys.path += [str(HERE), str(HERE.parents[2] / "plots" / "lib"), str(PACKAGE)]
import contenders  # noqa: E402  (the path above leads to it)
import table  # noqa: E402

RANGE = "census"
SECTOR = 32
LENGTH = 65536
SHAPES = tuple(itertools.product((64, 128), ("none", "causal")))
COLUMNS = ("what", "seq_q", "head_dim", "mask", "cold_read_sectors", "written_sectors")
KEPT = (
    *("kernel_name", "grid", "block", "shared_bytes", "registers", "time_us", "sm_read_sectors"),
    *("l2_read_sectors", "l2_read_miss_sectors", "l2_write_sectors", "l2_write_miss_sectors"),
    *("fabric_read_sectors", "fabric_read_miss_sectors", "dram_read_sectors", "dram_write_sectors"),
    "status",
)


def left_out(what, why):
    print(f"census.py: {what} is left out: {why}", file=sys.stderr)


def sectors(*tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors) // SECTOR


def triton(torch, q, k, v, mask):
    from triton_attention import attention

    o = torch.empty_like(q)
    lse = torch.empty(q.shape[:3], device="cuda", dtype=torch.float32)
    return lambda: attention(q, k, v, o, lse, mask == "causal")


def sdpa(name, torch, *problem):
    return contenders.forward(torch, name, *problem)


# name -> function of torch, q, k, v and mask that gives a launch
KERNELS = {name: functools.partial(sdpa, name) for name in contenders.PEERS} | {"triton": triton}


def attention(torch):
    """(cells of COLUMNS, launch) of each kernel and shape."""
    for head_dim, mask in SHAPES:
        size = (1, 1, LENGTH, head_dim)
        q, k, v = (torch.randn(size, device="cuda", dtype=torch.bfloat16) for _ in range(3))
        for name, prepare in KERNELS.items():
            try:
                run = prepare(torch, q, k, v, mask)
            except (ImportError, RuntimeError) as error:
                left_out(name, error)
                continue
            yield (name, LENGTH, head_dim, mask, sectors(q, k, v), sectors(q)), run


def pytorch(torch):
    """Kernels beside attention in a model: 16K tokens of 8,192 channels, a matrix of 8,192 x 8,192."""
    x, residual = (torch.randn(16384, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    weight = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    scale = torch.randn(8192, device="cuda", dtype=torch.bfloat16)
    out = torch.empty_like(x)
    functional = torch.nn.functional

    def cells(what, read, written):
        return what, x.shape[0], "", "", read, written

    big, small = sectors(x), sectors(scale)
    yield cells("matmul", big + sectors(weight), big), lambda: torch.mm(x, weight, out=out)
    yield cells("layer_norm", big + small, big), lambda: functional.layer_norm(x, (8192,), scale)
    yield cells("softmax", big, big), lambda: torch.softmax(x, -1)
    yield cells("gelu", big, big), lambda: functional.gelu(x)
    yield cells("add", 2 * big, big), lambda: torch.add(x, residual, out=out)
    yield cells("transpose", big, big), lambda: x.t().contiguous()
    yield cells("sum of rows", big, sectors(x[:, 0])), lambda: x.sum(-1)


def launch(path):
    import torch

    torch.manual_seed(1)
    rows = []
    with torch.no_grad():
        for cells, run in itertools.chain(attention(torch), pytorch(torch)):
            run()
            torch.cuda.synchronize()
            torch.cuda.nvtx.range_push(RANGE)
            run()
            torch.cuda.nvtx.range_pop()
            rows.append(dict(zip(COLUMNS, cells)))
        torch.cuda.synchronize()
    table.write(path, rows)


def measure(folder, sawtooth):
    folder.mkdir(parents=True, exist_ok=True)
    part, said = folder / "part.csv", folder / "launches.csv"
    words = [sawtooth, "record", "--gpu", "h200", "--flush", "--nvtx", RANGE, "--csv", part, "--"]
    words += [sys.executable, HERE / "census.py", "launch", said]
    subprocess.run(words, check=False)  # rows have their status
    table.write(folder / "census.csv", joined(table.read(part), table.read(said)))
    part.unlink()
    said.unlink()


def joined(recorded, said):
    if len(recorded) != len(said):
        names = "\n".join(row["kernel_name"] for row in recorded)
        sys.exit(f"census.py: {len(recorded)} launches where {len(said)} were made:\n{names}")
    return [
        {**more, **{column: row[column] for column in KEPT}} for row, more in zip(recorded, said)
    ]


def print_table(folder):
    print(
        "| kernel | shape | time, ms | reads reach L2 | in the own half | DRAM reads | L2 writes |"
    )
    print("|---" * 7 + "|")
    for row in table.read(folder / "census.csv"):
        if row["head_dim"] != "64":  # there every kernel reads its inputs about once
            print(line(row))


def line(row):
    value = {
        column: float(row[column] or "nan")
        for column in row
        if column.endswith("_sectors") or column == "time_us"
    }
    shape = f"D {row['head_dim']}, {row['mask']}" if row["head_dim"] else "16K x 8K"
    return (
        f"| {row['what']} | {shape} | {value['time_us'] / 1000:.2f} "
        f"| {value['l2_read_sectors'] / value['sm_read_sectors']:.0%} "
        f"| {1 - value['l2_read_miss_sectors'] / value['l2_read_sectors']:.1%} "
        f"| {value['dram_read_sectors'] / value['cold_read_sectors']:.2f} "
        f"| {value['l2_write_sectors'] / value['written_sectors']:.2f} |"
    )


def main(arguments):
    if arguments[:1] == ["launch"] and len(arguments) in (1, 2):
        launch((arguments[1:] or [os.devnull])[0])
    elif arguments[:1] == ["measure"] and len(arguments) == 3:
        measure(pathlib.Path(arguments[1]).resolve(), pathlib.Path(arguments[2]).resolve())
    elif arguments[:1] == ["table"] and len(arguments) == 2:
        print_table(pathlib.Path(arguments[1]))
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
