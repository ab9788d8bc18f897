#!/usr/bin/env python3
"""L2 and DRAM counters of cuDNN's and FlashAttention-2's backward kernels, to judge their presets.

    peers_counters.py launch [REPETITIONS]     launches them on every shape; needs a GPU and PyTorch
    peers_counters.py record SAWTOOTH CSV      counts the main kernels of launch by `sawtooth record`
    peers_counters.py rows RECORDED CSV        rows of results.csv of what record has counted; no GPU
    peers_counters.py list                     the same points as a configuration of `sawtooth simulate`

Backward passes run through PyTorch's autograd, whose kernels of additions and conversions are not counted: the
presets describe main kernels. Inputs are random. A launch finds L2 full of other lines (`record --flush`).
"""

import csv
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PEERS = HERE.parent / "peers"
KIB = 1024
SHAPES = [  # heads, length, head dim, mask
    (heads, length * KIB, head_dim, mask)
    for heads, length in ((4, 16), (1, 32), (4, 32), (1, 48), (1, 64), (1, 128))
    for head_dim in (64, 128)
    for mask in ("none", "causal")
]
KERNELS = {  # what a main kernel's name has, the peer and the preset
    "flash_bwd_dq_dk_dv": ("sdpa-flash", "flash-attention-2-backward"),
    "bprop": ("sdpa-cudnn", "cudnn-backward"),
}
# Names of GH100 (cupti/metric_table.cpp).
METRICS = (
    "dram__sectors_read.sum,dram__sectors_write.sum,lts__t_sectors_op_red.sum,"
    "lts__t_sectors_srcunit_tex_op_read.sum,lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum,"
    "lts__t_sectors_srcunit_ltcfabric_op_read.sum,lts__t_sectors_srcunit_ltcfabric_op_read_lookup_miss.sum,"
    "lts__t_sectors_srcunit_tex_op_write.sum,l1tex__m_xbar2l1tex_read_sectors.sum"
)
REPETITIONS = 3


def launch(repetitions):
    import torch

    sys.path.insert(0, str(PEERS))
    import kernels
    import session
    import shapes as shaping

    for heads, length, head_dim, mask in SHAPES:
        shape = shaping.Shape(1, heads, length, head_dim, mask, of_pass="backward")
        tensors = session.inputs(torch, shape)
        for peer, _ in KERNELS.values():
            run = kernels.PEERS[peer].prepare_backward(torch, *tensors, mask == "causal")
            for _ in range(repetitions):
                run()
    torch.cuda.synchronize()


def record(sawtooth, path):
    # Names with "convert" or "dot_do_o" are of the small kernels.
    command = [sawtooth, "record", "--gpu", "h200", "--flush", "--metrics", METRICS]
    command += ["--kernel", "|".join(KERNELS), "--csv", path, "--"]
    return subprocess.run([*command, sys.executable, __file__, "launch"], check=False).returncode


def launched(recorded):
    """Recorded rows by (shape, kernel), in the order of launch(). Raises ValueError for another number."""
    by_kernel = {part: [row for row in recorded if part in row["kernel_name"]] for part in KERNELS}
    found = {}
    for part, rows in by_kernel.items():
        repetitions, rest = divmod(len(rows), len(SHAPES))
        if rest or not repetitions:
            raise ValueError(f"{len(rows)} launches of {part} are no multiple of {len(SHAPES)}")
        for number, row in enumerate(rows):
            found.setdefault((SHAPES[number // repetitions], part), []).append(row)
    return found


def cells(shape, part):
    heads, length, head_dim, mask = shape
    kernel, system = KERNELS[part]
    lengths = dict(batch=1, heads=heads, kv_heads=heads, seq_q=length, seq_kv=length)
    return {
        **dict(experiment="peers", source="measured", gpu="h200", system=system, kernel=kernel),
        **{"pass": "backward"},
        **lengths,
        **dict(head_dim=head_dim, dtype="bf16", mask=mask, state="cold", dq="", small_kernels=""),
    }


def rows(recorded, path):
    with open(recorded, encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    made = []
    for (shape, part), of_shape in launched(table).items():
        for turn, row in enumerate(of_shape):
            made.append({**row, **cells(shape, part), "repetition": turn})
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(made[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(made)


def configuration():
    yield "# The shapes of peers_counters.py, by preset: peers_counters.py list"
    yield "experiment = peers\ngpu = h200"
    for number, (heads, length, head_dim, mask) in enumerate(SHAPES):
        yield f"\n[{number + 1}]\nsystem = {', '.join(system for _, system in KERNELS.values())}"
        yield f"heads = {heads}\nseq = {length // KIB}K\nhead-dim = {head_dim}\nmask = {mask}"


def main(arguments):
    command, *rest = arguments or [""]
    if command == "launch" and len(rest) < 2:
        launch(int(rest[0]) if rest else REPETITIONS)
    elif command == "record" and len(rest) == 2:
        return record(*rest)
    elif command == "rows" and len(rest) == 2:
        try:
            rows(*rest)
        except (OSError, ValueError) as error:
            print(f"peers_counters.py: {error}", file=sys.stderr)
            return 2
    elif command == "list" and not rest:
        print("\n".join(configuration()))
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
