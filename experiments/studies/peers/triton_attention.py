"""Attention forward in Triton, the plain way: a program a Q tile, ascending, K/V from the first tile to
the last, tiles without a mask first and the diagonal after them (FlashAttention-2's algorithm,
arXiv 2307.08691, section 3.1). Lengths are multiples of both tiles. With room for stamps the launch
writes at every step where it is (kernels/common/order_stamp.py).
"""

import math
import pathlib
import sys

import triton
import triton.language as tl

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "kernels/common"))
from order_stamp import stamp_order

TILE_Q = 128
TILE_KV = 64


# A parameter a line would hide the kernel.
# fmt: off
@triton.jit
def _attend(output, largest, total, q_rows, k, v, base, begin, end, rows, scale_log2, stamps,
            stamp_count, HEAD_DIM: tl.constexpr, TILE_KV: tl.constexpr, MASKED: tl.constexpr):
    columns = tl.arange(0, HEAD_DIM)
    for first in range(begin, end, TILE_KV):
        if stamps is not None:
            item = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)
            stamp_order(stamps, stamp_count, item, first // TILE_KV)
        keys = first + tl.arange(0, TILE_KV)
        # K is read transposed, [HEAD_DIM, TILE_KV].
        k_tile = tl.load(k + base + columns[:, None] + keys[None, :] * HEAD_DIM)
        scores = tl.dot(q_rows, k_tile) * scale_log2
        if MASKED:
            scores = tl.where(rows[:, None] >= keys[None, :], scores, float("-inf"))
        raised = tl.maximum(largest, tl.max(scores, 1))
        shrink = tl.exp2(largest - raised)
        weights = tl.exp2(scores - raised[:, None])
        total = total * shrink + tl.sum(weights, 1)
        v_tile = tl.load(v + base + keys[:, None] * HEAD_DIM + columns[None, :])
        output = tl.dot(weights.to(v_tile.dtype), v_tile, output * shrink[:, None])
        largest = raised
    return output, largest, total


@triton.jit
def attention_kernel(q, k, v, o, lse, seq, scale_log2, stamps, stamp_count, HEAD_DIM: tl.constexpr,
                     TILE_Q: tl.constexpr, TILE_KV: tl.constexpr, CAUSAL: tl.constexpr):
    first_row = tl.program_id(0) * TILE_Q
    base = tl.program_id(1).to(tl.int64) * seq * HEAD_DIM
    rows = first_row + tl.arange(0, TILE_Q)
    at = base + rows[:, None] * HEAD_DIM + tl.arange(0, HEAD_DIM)[None, :]
    q_rows = tl.load(q + at)
    output = tl.zeros([TILE_Q, HEAD_DIM], tl.float32)
    largest = tl.full([TILE_Q], float("-inf"), tl.float32)
    total = tl.zeros([TILE_Q], tl.float32)
    if CAUSAL:
        output, largest, total = _attend(output, largest, total, q_rows, k, v, base, 0, first_row,
                                         rows, scale_log2, stamps, stamp_count, HEAD_DIM, TILE_KV,
                                         False)
        output, largest, total = _attend(output, largest, total, q_rows, k, v, base, first_row,
                                         first_row + TILE_Q, rows, scale_log2, stamps, stamp_count,
                                         HEAD_DIM, TILE_KV, True)
    else:
        output, largest, total = _attend(output, largest, total, q_rows, k, v, base, 0, seq, rows,
                                         scale_log2, stamps, stamp_count, HEAD_DIM, TILE_KV, False)
    tl.store(o + at, (output / total[:, None]).to(o.dtype.element_ty))
    tl.store(lse + tl.program_id(1).to(tl.int64) * seq + rows, largest + tl.log2(total))
# fmt: on


def refusal(shape):
    """Why the kernel cannot run the shape, or an empty text."""
    if shape.seq % max(TILE_Q, TILE_KV):
        return f"lengths are multiples of {max(TILE_Q, TILE_KV)}"
    if shape.head_dim not in (16, 32, 64, 128):
        return "head dim is 16, 32, 64 or 128"
    return ""


def attention(q, k, v, o, lse, causal, stamps=None, stamp_count=None):
    """q, k, v, o: contiguous [batch, heads, seq, head_dim] on a GPU; lse: [batch, heads, seq] of
    fp32, base 2, which the tutorial writes too. stamps and stamp_count: as order_stamp.py says."""
    batch, heads, seq, head_dim = q.shape
    grid = (seq // TILE_Q, batch * heads)
    tiles = dict(HEAD_DIM=head_dim, TILE_Q=TILE_Q, TILE_KV=TILE_KV)
    tiles.update(num_warps=8 if head_dim == 128 else 4, num_stages=3)
    scale_log2 = math.log2(math.e) / math.sqrt(head_dim)
    attention_kernel[grid](
        q, k, v, o, lse, seq, scale_log2, stamps, stamp_count, CAUSAL=causal, **tiles
    )
