#!/usr/bin/env python3
"""Two programs of somebody else's, as the guide takes them (docs/guide/your-kernel.md).

    programs.py triton SCAN [LAUNCHES.csv]        a persistent Triton kernel, SCAN linear or sawtooth
    programs.py pytorch ATTENTION [LAUNCHES.csv]  a PyTorch layer; ATTENTION sdpa (FlashAttention-2) or the kernel
                                                  above, as linear or sawtooth

Each runs every length a few times and, when asked, writes what it launched: a row a launch of attention, in columns
of results.csv. The layer prints a hash of its output, which is the same in every run.
"""

import hashlib
import pathlib
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parents[2] / "plots" / "lib")]
import table  # noqa: E402  (the path above leads to it)

LENGTHS = (32768, 65536, 131072, 163840)  # K and V inside half of an H200's L2 and beyond
LAUNCHES = 4  # of each length
HEAD_DIM = 64
TILE = 128
WORKERS = 132


def triton_attention(q, k, v, scan):
    """q, k, v: [length, 64]."""
    from triton_attention import persistent

    o = torch.empty_like(q)
    persistent(q, k, v, o, scan, stages=2, warps=8, tile=TILE, workers=WORKERS)
    return o


def described(kernel, length, scan, **schedule):
    row = dict(kernel=kernel, seq_q=length, seq_kv=length, head_dim=HEAD_DIM, dtype="bf16")
    return {**row, "scan": scan, **schedule}


def triton_row(length, scan):
    shape = dict(tile_q=TILE, tile_kv=TILE, launch="static", workers=WORKERS, ctas_per_sm=1)
    return described("triton-2-stages-8-warps", length, scan, **shape, lse="off")


def sdpa_row(length):
    # From the last K/V tile to the first in every item: without a mask the same as linear, seen in a mirror.
    shape = dict(tile_q=128, tile_kv=128, launch="grid", workers=264, ctas_per_sm=2)
    return described("flash-attention-2", length, "linear", **shape, lse="on")


def triton(scan):
    for length in LENGTHS:
        q, k, v = (
            torch.randn(length, HEAD_DIM, device="cuda", dtype=torch.bfloat16) for _ in range(3)
        )
        for _ in range(LAUNCHES):
            triton_attention(q, k, v, scan)
            yield triton_row(length, scan)


def pytorch(attention):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    project = torch.nn.Linear(HEAD_DIM, 3 * HEAD_DIM, device="cuda", dtype=torch.bfloat16)
    join = torch.nn.Linear(HEAD_DIM, HEAD_DIM, device="cuda", dtype=torch.bfloat16)
    digest = hashlib.sha256()
    for length in LENGTHS:
        x = torch.randn(length, HEAD_DIM, device="cuda", dtype=torch.bfloat16)
        for _ in range(LAUNCHES):
            with torch.no_grad(), sdpa_kernel(SDPBackend.FLASH_ATTENTION):
                q, k, v = (part.contiguous() for part in project(x).chunk(3, dim=-1))
                if attention == "sdpa":
                    heads = (part[None, None] for part in (q, k, v))
                    o = torch.nn.functional.scaled_dot_product_attention(*heads)[0, 0]
                    yield sdpa_row(length)
                else:
                    o = triton_attention(q, k, v, attention)
                    yield triton_row(length, attention)
                x = join(o)
        digest.update(x.float().cpu().numpy().tobytes())
    print("output", digest.hexdigest()[:16])


def main(arguments):
    programs = {"triton": triton, "pytorch": pytorch}
    if len(arguments) not in (2, 3) or arguments[0] not in programs:
        sys.exit(__doc__)
    torch.manual_seed(1)
    rows = list(programs[arguments[0]](arguments[1]))
    torch.cuda.synchronize()
    if len(arguments) == 3:
        table.write(arguments[2], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
