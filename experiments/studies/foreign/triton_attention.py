"""Two attention kernels in Triton, forward; lengths are multiples of both tiles.

attention_kernel, the plain way: a program a Q tile, ascending, K/V from the first tile to the last, tiles without a
mask first and the diagonal after them (FlashAttention-2's algorithm, arXiv 2307.08691, section 3.1). With room for
stamps the launch writes at every step where it is (kernels/common/order_stamp.py).

persistent_kernel: a static share of the Q tiles for each of the workers, and a K/V loop in `stages` stages that goes
forwards (linear) or turns round from item to item (sawtooth).
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


@triton.jit
def persistent_kernel(q, k, v, o, seq, heads, workers, scale_log2, sawtooth, HEAD_DIM: tl.constexpr,
                      TILE_Q: tl.constexpr, TILE_KV: tl.constexpr, STAGES: tl.constexpr,
                      CAUSAL: tl.constexpr):
    columns = tl.arange(0, HEAD_DIM)
    q_tiles = seq // TILE_Q
    turn = 0
    for item in range(tl.program_id(0), heads * q_tiles, workers):
        base = (item // q_tiles).to(tl.int64) * seq * HEAD_DIM
        rows = (item % q_tiles) * TILE_Q + tl.arange(0, TILE_Q)
        at = base + rows[:, None] * HEAD_DIM + columns[None, :]
        q_rows = tl.load(q + at)
        output = tl.zeros([TILE_Q, HEAD_DIM], tl.float32)
        largest = tl.full([TILE_Q], float("-inf"), tl.float32)
        total = tl.zeros([TILE_Q], tl.float32)
        steps = seq // TILE_KV
        if CAUSAL:
            steps = tl.cdiv((item % q_tiles + 1) * TILE_Q, TILE_KV)
        backward = sawtooth * (turn % 2)
        for step in tl.range(0, steps, num_stages=STAGES):
            tile = backward * (steps - 1) + (1 - 2 * backward) * step
            keys = tile * TILE_KV + tl.arange(0, TILE_KV)
            k_tile = tl.load(k + base + columns[:, None] + keys[None, :] * HEAD_DIM)
            scores = tl.dot(q_rows, k_tile) * scale_log2
            if CAUSAL:
                scores = tl.where(rows[:, None] >= keys[None, :], scores, float("-inf"))
            raised = tl.maximum(largest, tl.max(scores, 1))
            shrink = tl.exp2(largest - raised)
            weights = tl.exp2(scores - raised[:, None])
            total = total * shrink + tl.sum(weights, 1)
            v_tile = tl.load(v + base + keys[:, None] * HEAD_DIM + columns[None, :])
            output = tl.dot(weights.to(v_tile.dtype), v_tile, output * shrink[:, None])
            largest = raised
        tl.store(o + at, (output / total[:, None]).to(o.dtype.element_ty))
        turn += 1
# fmt: on


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


def persistent(q, k, v, o, scan, causal, stages, warps, tile_kv, workers):
    """q, k, v, o: contiguous [heads, seq, head_dim] on a GPU; items of one head after another, in static shares."""
    heads, seq, head_dim = q.shape
    tiles = dict(HEAD_DIM=head_dim, TILE_Q=TILE_Q, TILE_KV=tile_kv, STAGES=stages, num_warps=warps)
    scale_log2 = math.log2(math.e) / math.sqrt(head_dim)
    is_sawtooth = int(scan == "sawtooth")
    persistent_kernel[(workers,)](
        q, k, v, o, seq, heads, workers, scale_log2, is_sawtooth, CAUSAL=causal, **tiles
    )
