#!/usr/bin/env python3
"""Attention forward in cuTile (cuda.tile), compiled ahead of time into cubins.

    experiments/studies/peers/cutile_attention.py FOLDER [--gpu sm_90]

needs the package cuda-tile with its compiler (pip's extra "tileiras"), no GPU and no driver. The
order of work is that of cuTile's own attention sample: one CTA a Q tile of a head in a hardware grid,
Q ascending, K/V first to last. peers.py launches the cubins on a machine that need not have the
package.
"""

import argparse
import os

TILE_Q, TILE_KV = 128, 64
HEAD_DIMS = (64, 128)
MASKS = ("none", "causal")
SYMBOL = "attention"
ARRAYS = ("q", "k", "v", "o")  # heads of all batches x length x head dim, rows of one head dense


def cubin_name(head_dim, mask):
    return f"cutile_d{head_dim}_{mask}.cubin"


def define(ct):
    """The kernel; `ct` is cuda.tile. scale_log2 is 1 / sqrt(D) times log2(e), so that exp2 serves."""

    # fmt: off
    @ct.kernel
    def attention(q, k, v, o, scale_log2, head_dim: ct.Constant[int], causal: ct.Constant[bool]):
        item, head = ct.bid(0), ct.bid(1)
        queries = ct.load(q, (head, item, 0), (1, TILE_Q, head_dim)).reshape((TILE_Q, head_dim))
        largest = ct.full((TILE_Q, 1), -float("inf"), ct.float32)
        total = ct.full((TILE_Q, 1), 0.0, ct.float32)
        output = ct.full((TILE_Q, head_dim), 0.0, ct.float32)
        rows = item * TILE_Q + ct.arange(TILE_Q, dtype=ct.int32).reshape((TILE_Q, 1))
        tiles = ct.cdiv(k.shape[1], TILE_KV)
        if causal:
            tiles = min(tiles, ct.cdiv((item + 1) * TILE_Q, TILE_KV))
        for tile in range(tiles):
            keys = ct.load(k, (head, 0, tile), (1, head_dim, TILE_KV), order=(0, 2, 1))
            scores = ct.mma(queries, keys.reshape((head_dim, TILE_KV)),
                            ct.full((TILE_Q, TILE_KV), 0.0, ct.float32))
            if causal:
                columns = tile * TILE_KV + ct.arange(TILE_KV, dtype=ct.int32)
                scores = ct.where(rows >= columns.reshape((1, TILE_KV)), scores, -float("inf"))
            new = ct.maximum(largest, ct.max(scores, axis=1, keepdims=True) * scale_log2)
            weights = ct.exp2(scores * scale_log2 - new)
            shrink = ct.exp2(largest - new)
            total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
            largest = new
            values = ct.load(v, (head, tile, 0), (1, TILE_KV, head_dim))
            output = ct.mma(weights.astype(q.dtype), values.reshape((TILE_KV, head_dim)),
                            output * shrink)
        normal = (output / total).astype(o.dtype)
        ct.store(o, (head, item, 0), normal.reshape((1, TILE_Q, head_dim)))

    # fmt: on
    return attention


def signature(ct, compilation, head_dim, mask):
    rules = dict(index_dtype=ct.int32, stride_lower_bound_incl=0, stride_constant=(None, None, 1))
    rules.update(alias_groups=(), may_alias_internally=False, base_addr_divisible_by=16)
    rules.update(stride_divisible_by=(head_dim, head_dim, 1))
    rules.update(shape_divisible_by=(1, TILE_Q, head_dim))
    array = compilation.ArrayConstraint(ct.bfloat16, 3, **rules)
    scale = compilation.ScalarConstraint(ct.float32)
    parameters = [array] * len(ARRAYS) + [scale, head_dim, mask == "causal"]
    convention = compilation.CallingConvention.cutile_python_v1()
    return compilation.KernelSignature(parameters, convention, symbol=SYMBOL)


def main():
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("folder")
    parser.add_argument(
        "--gpu", default="sm_90", help="architecture of the cubins, sm_90 if not given"
    )
    options = parser.parse_args()
    import cuda.tile as ct
    import cuda.tile.compilation as compilation

    os.makedirs(options.folder, exist_ok=True)
    made = dict(gpu_code=options.gpu, output_format="cubin")
    for head_dim in HEAD_DIMS:
        for mask in MASKS:
            path = os.path.join(options.folder, cubin_name(head_dim, mask))
            signatures = [signature(ct, compilation, head_dim, mask)]
            compilation.export_kernel(define(ct), signatures, path, **made)
            print(path)


if __name__ == "__main__":
    main()
