#!/usr/bin/env python3
"""What other people's kernels do to L2: launches of attention kernels and of PyTorch's own, by `sawtooth record`.

    census.py launch [LAUNCHES.csv]      launches each, the first time outside the range that is recorded; a GPU, PyTorch
    census.py measure FOLDER SAWTOOTH    records them, from a cold L2, into FOLDER/census.csv
    census.py table FOLDER               a line a kernel; no GPU

SAWTOOTH_CUTILE, SAWTOOTH_FLASHINFER and SAWTOOTH_CUTE name what was compiled elsewhere (peers/kernels.py,
ladder/cute_ladder.py), SAWTOOTH_FLASH_ATTENTION_3 the program of peers/flash_attention_3.cu. A kernel that cannot
run is said and left out.
"""

import csv
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "peers"), str(HERE.parent / "ladder")]

RANGE = "census"
SECTOR = 32
LENGTH = 65536
SHAPES = tuple((head_dim, mask) for head_dim in (64, 128) for mask in ("none", "causal"))
PEERS = ("sdpa-flash", "sdpa-cudnn", "sdpa-efficient", "triton", "cutile", "flashinfer")
COLUMNS = ("what", "seq_q", "head_dim", "mask", "cold_read_sectors", "written_sectors")

KEPT = (
    *("kernel_name", "grid", "block", "shared_bytes", "registers", "time_us", "sm_read_sectors"),
    *("l2_read_sectors", "l2_read_miss_sectors", "l2_write_sectors", "l2_write_miss_sectors"),
    *("fabric_read_sectors", "fabric_read_miss_sectors", "dram_read_sectors", "dram_write_sectors"),
    "status",
)


def sectors(*tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors) // SECTOR


def attention(torch):
    """(cells of COLUMNS, launch) of each kernel and shape."""
    import kernels
    from shapes import Shape

    known = dict(kernels.PEERS)
    efficient = kernels.sdpa("EFFICIENT_ATTENTION")
    known["sdpa-efficient"] = kernels.Peer("sdpa-efficient", "", efficient)
    for head_dim, mask in SHAPES:
        q, k, v = (
            torch.randn(1, 1, LENGTH, head_dim, device="cuda", dtype=torch.bfloat16)
            for _ in range(3)
        )
        for name in PEERS:
            shape = Shape(1, 1, LENGTH, head_dim, mask)
            reason = known[name].refusal(shape)
            if reason:
                print(f"census.py: {name} is left out: {reason}", file=sys.stderr)
                continue
            run = known[name].prepare(torch, q, k, v, mask == "causal")
            yield (name, LENGTH, head_dim, mask, sectors(q, k, v), sectors(q)), run


def cute_ladder(torch):
    import cute_ladder as ladder

    cubins = os.environ.get("SAWTOOTH_CUTE")
    if not cubins:
        print("census.py: CuteDSL is left out: SAWTOOTH_CUTE names no folder", file=sys.stderr)
        return
    q, k, v = (
        torch.randn(1, 1, LENGTH, ladder.HEAD_DIM, device="cuda", dtype=torch.float16)
        for _ in range(3)
    )
    o = torch.empty_like(q)
    run = ladder.launchers(torch, pathlib.Path(cubins), q, k, v, o)[4]
    yield ("cutedsl-ladder-4", LENGTH, ladder.HEAD_DIM, "none", sectors(q, k, v), sectors(o)), run


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
        for source in (attention, cute_ladder, pytorch):
            for cells, run in source(torch):
                run()
                torch.cuda.synchronize()
                torch.cuda.nvtx.range_push(RANGE)
                run()
                torch.cuda.nvtx.range_pop()
                rows.append(cells)
        torch.cuda.synchronize()
    write(path, COLUMNS, rows)


def write(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def record(sawtooth, which, path, command):
    words = [sawtooth, "record", "--gpu", "h200", "--flush", *which, "--csv", path, "--", *command]
    subprocess.run([str(word) for word in words], check=False)  # rows have their status
    return read(path)


def measure(folder, sawtooth):
    folder.mkdir(parents=True, exist_ok=True)
    part, said = folder / "part.csv", folder / "launches.csv"
    command = (sys.executable, HERE / "census.py", "launch", said)
    rows = joined(record(sawtooth, ("--nvtx", RANGE), part, command), read(said))
    keep(folder, rows)
    program = os.environ.get("SAWTOOTH_FLASH_ATTENTION_3")
    if program:
        shapes = [word for head_dim, mask in SHAPES for word in (LENGTH, head_dim, mask)]
        launches = record(sawtooth, ("--kernel", "device_kernel"), part, (program, 1, *shapes))
        # The program's check comes before the launch of each shape.
        said_by_program = [
            dict(
                zip(
                    COLUMNS,
                    (
                        *("flash-attention-3", LENGTH, head_dim, mask),
                        *(3 * LENGTH * head_dim * 2 // SECTOR, LENGTH * head_dim * 2 // SECTOR),
                    ),
                )
            )
            for head_dim, mask in SHAPES
        ]
        keep(folder, rows + joined(launches[1::2], said_by_program))
    else:
        print(
            "census.py: FlashAttention-3 is left out: SAWTOOTH_FLASH_ATTENTION_3 names no program"
        )
    part.unlink()
    said.unlink()


def keep(folder, rows):
    write(folder / "census.csv", rows[0].keys(), [row.values() for row in rows])


def joined(recorded, said):
    if len(recorded) != len(said):
        names = "\n".join(row["kernel_name"] for row in recorded)
        sys.exit(f"census.py: {len(recorded)} launches where {len(said)} were made:\n{names}")
    return [
        {**more, **{column: row[column] for column in KEPT}}
        for row, more in zip(recorded, said, strict=True)
    ]


def table(folder):
    print(
        "| kernel | shape | time, ms | reads that reach L2, of all | of these from the own half | DRAM reads, over "
        "compulsory | L2 writes, over output |"
    )
    print("|---" * 7 + "|")
    for row in read(folder / "census.csv"):
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
        table(pathlib.Path(arguments[1]))
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
