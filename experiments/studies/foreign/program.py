#!/usr/bin/env python3
"""A program with one attention kernel of somebody else, as `sawtooth learn` runs it (docs/guide/your-kernel.md).

    program.py KERNEL --seq N [--heads N] [--causal 0|1] [--head-dim 128] [--scan linear|sawtooth] [--launches 3]

bf16, batch 1, random inputs. KERNEL: sdpa-flash, sdpa-cudnn, sdpa-efficient (PyTorch's back ends), flex
(FlexAttention), triton (a program a Q tile), triton-1-stage ... triton-3-stages (persistent, a K/V loop of so many
stages; --scan is theirs). Lists such as 16K,64K run every combination, seq slowest, scan fastest.
"""

import argparse
import itertools
import pathlib
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "sawtooth" / "python" / "sawtooth"
sys.path += [str(HERE), str(PACKAGE)]
import contenders  # noqa: E402  (the path above leads to it)

KERNELS = ("flex", "triton", "triton-1-stage", "triton-2-stages", "triton-3-stages")
BLOCK = 128


def causal_blocks(length):
    """The BlockMask that create_block_mask would make, which takes length^2 numbers for it."""
    from torch.nn.attention.flex_attention import BlockMask

    blocks = torch.arange(length // BLOCK, device="cuda", dtype=torch.int32)
    below = blocks.repeat(len(blocks), 1)
    diagonal = blocks[:, None].repeat(1, len(blocks))
    lists = (torch.ones_like(blocks), diagonal, blocks, below)
    return BlockMask.from_kv_blocks(
        *(one[None, None].contiguous() for one in lists),
        BLOCK_SIZE=BLOCK,
        mask_mod=lambda batch, head, row, key: row >= key,
    )


def flex(q, k, v, causal):
    from torch.nn.attention.flex_attention import flex_attention

    mask = causal_blocks(q.shape[2]) if causal else None
    call = torch.compile(flex_attention, dynamic=True)
    return lambda: call(q, k, v, block_mask=mask)


def triton(name, q, k, v, causal, scan):
    import triton_attention

    o = torch.empty_like(q)
    if name == "triton":
        lse = torch.empty(q.shape[:3], device="cuda", dtype=torch.float32)
        return lambda: triton_attention.attention(q, k, v, o, lse, causal)
    workers = torch.cuda.get_device_properties(0).multi_processor_count
    how = dict(causal=causal, stages=int(name.split("-")[1]), warps=8, tile_kv=64, workers=workers)
    return lambda: triton_attention.persistent(q[0], k[0], v[0], o[0], scan, **how)


def launch_of(name, q, k, v, causal, scan):
    if name == "flex":
        return flex(q, k, v, causal)
    if name in KERNELS:
        return triton(name, q, k, v, causal, scan)
    return contenders.forward(torch, name, q, k, v, "causal" if causal else "none")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernel", choices=[*contenders.PEERS, *KERNELS])
    listed = lambda text: [contenders.count(word) for word in text.split(",")]
    parser.add_argument("--seq", type=listed, required=True)
    parser.add_argument("--heads", type=listed, default=[1])
    parser.add_argument("--causal", type=listed, default=[0])
    parser.add_argument("--scan", type=lambda text: text.split(","), default=["linear"])
    parser.add_argument("--head-dim", type=int, default=128)
    parser.add_argument("--launches", type=int, default=3)
    given = parser.parse_args()
    torch.manual_seed(1)
    for seq, heads, causal, scan in itertools.product(
        given.seq, given.heads, given.causal, given.scan
    ):
        size = (1, heads, seq, given.head_dim)
        q, k, v = (torch.randn(size, device="cuda", dtype=torch.bfloat16) for _ in range(3))
        with torch.no_grad():
            launch = launch_of(given.kernel, q, k, v, bool(causal), scan)
            for _ in range(given.launches):
                launch()
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
