"""Attention forward in CuteDSL in four steps, the counterpart of kernels/ladder levels 1 to 4.

What stays the same: a CTA of four warps owns a Q tile of 64 rows of one head, head dim 128, K/V tiles of
64 rows, mma.sync m16n8k16, online softmax, no mask, lengths that are multiples of 64 (FlashAttention-2's
algorithm, arXiv 2307.08691, section 3.1). What a step changes is in `Level`.
"""

import dataclasses
import math

import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import CopyUniversalOp, cpasync, warp

HEAD_DIM = 128
TILE = 64  # rows of Q and of K/V
WARPS = 4
THREADS = 32 * WARPS
CHUNK = 8  # elements of 16 bytes, what one copy moves
ATOM_ROWS, ATOM_COLUMNS = 8, 8 * CHUNK  # of the swizzle: eight chunks of 16 bytes are the 32 banks


@dataclasses.dataclass(frozen=True)
class Level:
    number: int
    name: str
    stages: int  # K/V tiles in shared memory; with two, cp.async fills one while the other is used
    swizzled: bool  # 16-byte chunks of a row permuted by XOR with the row, so that columns spread over banks
    ldmatrix: bool  # four 8x8 matrices an instruction instead of words, and of half words for V

    @property
    def shared_bytes(self):
        return (1 + 2 * self.stages) * TILE * HEAD_DIM * 2


LEVELS = (
    Level(1, "naive", stages=1, swizzled=False, ldmatrix=False),
    Level(2, "pipelined", stages=2, swizzled=False, ldmatrix=False),
    Level(3, "swizzled", stages=2, swizzled=True, ldmatrix=False),
    Level(4, "ldmatrix", stages=2, swizzled=True, ldmatrix=True),
)


def rows_and_columns(accumulator):
    """A view [rows, columns] of an accumulator ((2, 2), MMA rows, MMA columns): of the first mode, 0 goes
    along a row and 1 from row r to r + 8."""
    shape, stride = accumulator.layout.shape, accumulator.layout.stride
    layout = cute.make_layout(
        ((shape[0][1], shape[1]), (shape[0][0], shape[2])),
        stride=((stride[0][1], stride[1]), (stride[0][0], stride[2])),
    )
    return cute.make_tensor(accumulator.iterator, layout)


def as_left_operand(scores):
    """Two accumulators of 8 columns side by side as one A operand of 16."""
    divided = cute.logical_divide(scores.layout, (None, None, 2))
    shape, stride = divided.shape, divided.stride
    layout = cute.make_layout(
        ((shape[0], shape[2][0]), shape[1], shape[2][1]),
        stride=((stride[0], stride[2][0]), stride[1], stride[2][1]),
    )
    return cute.make_tensor(scores.iterator, layout)


class Attention:
    """One level for one type of 16 bits. q, k, v, o: [heads, seq, 128], contiguous."""

    def __init__(self, level, dtype):
        self.level = level
        self.dtype = dtype

    @cute.jit
    def __call__(
        self,
        q: cute.Pointer,
        k: cute.Pointer,
        v: cute.Pointer,
        o: cute.Pointer,
        heads: cutlass.Int32,
        seq: cutlass.Int32,
        scale_log2: cutlass.Float32,
    ):
        self.kernel(q, k, v, o, seq, scale_log2).launch(
            grid=[seq // TILE, heads, 1],
            block=[THREADS, 1, 1],
            smem=self.level.shared_bytes,
        )

    def tile_layout(self, tiles):
        """[rows, columns, tiles] in shared memory."""
        if not self.level.swizzled:
            return cute.make_layout((TILE, HEAD_DIM, tiles), stride=(HEAD_DIM, 1, TILE * HEAD_DIM))
        atom = cute.make_composed_layout(
            cute.make_swizzle(3, 3, 3),
            0,
            cute.make_layout((ATOM_ROWS, ATOM_COLUMNS), stride=(ATOM_COLUMNS, 1)),
        )
        return cute.tile_to_shape(atom, (TILE, HEAD_DIM, tiles), (0, 1, 2))

    @cute.kernel
    def kernel(
        self,
        q: cute.Pointer,
        k: cute.Pointer,
        v: cute.Pointer,
        o: cute.Pointer,
        seq: cutlass.Int32,
        scale_log2: cutlass.Float32,
    ):
        level, dtype = self.level, self.dtype
        thread, _, _ = cute.arch.thread_idx()
        q_tile, head, _ = cute.arch.block_idx()
        tiles = seq // TILE

        shared = cutlass.utils.SmemAllocator()
        s_q = shared.allocate_tensor(dtype, self.tile_layout(1), 1024)[None, None, 0]
        s_k = shared.allocate_tensor(dtype, self.tile_layout(level.stages), 1024)
        s_v = shared.allocate_tensor(dtype, self.tile_layout(level.stages), 1024)

        begin = cute.assume(cutlass.Int64(head) * seq * HEAD_DIM, divby=HEAD_DIM)
        all_rows = cute.make_layout((seq, HEAD_DIM), stride=(HEAD_DIM, 1))
        tile_shape = (TILE, HEAD_DIM)
        g_q, g_o = (
            cute.local_tile(cute.make_tensor(at + begin, all_rows), tile_shape, (q_tile, 0))
            for at in (q, o)
        )
        g_k, g_v = (
            cute.local_tile(cute.make_tensor(at + begin, all_rows), tile_shape, (None, 0))
            for at in (k, v)
        )

        # Global to shared memory, 16 bytes a thread and turn: eight rows of 16 chunks at once.
        if cutlass.const_expr(level.stages > 1):
            load = cute.make_copy_atom(
                cpasync.CopyG2SOp(cache_mode=cpasync.LoadCacheMode.GLOBAL),
                dtype,
                num_bits_per_copy=128,
            )
        else:
            load = cute.make_copy_atom(CopyUniversalOp(), dtype, num_bits_per_copy=128)
        threads = cute.make_layout(
            (THREADS * CHUNK // HEAD_DIM, HEAD_DIM // CHUNK), stride=(HEAD_DIM // CHUNK, 1)
        )
        chunk = cute.make_layout((1, CHUNK))
        copy = cute.make_tiled_copy_tv(load, threads, chunk)
        mine = copy.get_slice(thread)

        mma = cute.make_tiled_mma(
            warp.MmaF16BF16Op(dtype, cutlass.Float32, (16, 8, 16)),
            (WARPS, 1, 1),
            permutation_mnk=(WARPS * 16, 16, 16),
        )
        mma_mine = mma.get_slice(thread)
        # V's tile [keys, columns] is the operand [columns, keys].
        s_vt = cute.make_tensor(s_v.iterator, cute.select(s_v.layout, mode=[1, 0, 2]))
        r_q = mma_mine.make_fragment_A(mma_mine.partition_A(s_q))
        r_k = mma_mine.make_fragment_B(mma_mine.partition_B(s_k[None, None, 0]))
        r_v = mma_mine.make_fragment_B(mma_mine.partition_B(s_vt[None, None, 0]))
        output = cute.make_rmem_tensor(
            mma_mine.partition_shape_C((TILE, HEAD_DIM)), cutlass.Float32
        )
        output.fill(0.0)

        # Shared memory to operands.
        if cutlass.const_expr(level.ldmatrix):
            words = cute.make_copy_atom(
                warp.LdMatrix8x8x16bOp(transpose=False, num_matrices=4), dtype
            )
            turned = cute.make_copy_atom(
                warp.LdMatrix8x8x16bOp(transpose=True, num_matrices=4), dtype
            )
        else:
            words = cute.make_copy_atom(CopyUniversalOp(), dtype, num_bits_per_copy=32)
            turned = cute.make_copy_atom(CopyUniversalOp(), dtype, num_bits_per_copy=16)
        copy_q, copy_k = cute.make_tiled_copy_A(words, mma), cute.make_tiled_copy_B(words, mma)
        copy_v = cute.make_tiled_copy_B(turned, mma)
        from_q = copy_q.get_slice(thread).partition_S(s_q)
        from_k = copy_k.get_slice(thread).partition_S(s_k)
        from_v = copy_v.get_slice(thread).partition_S(s_vt)
        to_q = copy_q.get_slice(thread).retile(r_q)
        to_k = copy_k.get_slice(thread).retile(r_k)
        to_v = copy_v.get_slice(thread).retile(r_v)

        # A copy of half words from a swizzled tensor loses its offsets in this version of the compiler, so
        # places are computed here: of rows r and r + 1, the chunks of eight columns after another.
        elements_v = cute.make_tensor(
            s_v.iterator, cute.make_layout(level.stages * TILE * HEAD_DIM)
        )
        half_words = cute.make_rmem_tensor(16, cutlass.Int32)
        for i in cutlass.range_constexpr(16):
            row = thread % 4 * 2 + i // 8
            half_words[i] = row * ATOM_COLUMNS + thread % 32 // 4 + ((i % 8) ^ row) * CHUNK

        rows = cute.size(rows_and_columns(output), mode=[0])
        maximum = cute.make_rmem_tensor(rows, cutlass.Float32)
        total = cute.make_rmem_tensor(rows, cutlass.Float32)  # of this thread's columns
        maximum.fill(-cutlass.Float32.inf)
        total.fill(0.0)

        cute.copy(copy, mine.partition_S(g_q), mine.partition_D(s_q))
        if cutlass.const_expr(level.stages > 1):
            cute.copy(
                copy,
                mine.partition_S(g_k)[None, None, None, 0],
                mine.partition_D(s_k)[None, None, None, 0],
            )
            cute.copy(
                copy,
                mine.partition_S(g_v)[None, None, None, 0],
                mine.partition_D(s_v)[None, None, None, 0],
            )
            cute.arch.cp_async_commit_group()  # the first group: Q and K/V tile 0
        else:
            cute.arch.sync_threads()
            cute.copy(copy_q, from_q, to_q)

        for tile in cutlass.range(tiles, unroll=1):
            stage = tile % level.stages
            if cutlass.const_expr(level.stages > 1):
                if tile + 1 < tiles:
                    to = (tile + 1) % level.stages
                    cute.copy(
                        copy,
                        mine.partition_S(g_k)[None, None, None, tile + 1],
                        mine.partition_D(s_k)[None, None, None, to],
                    )
                    cute.copy(
                        copy,
                        mine.partition_S(g_v)[None, None, None, tile + 1],
                        mine.partition_D(s_v)[None, None, None, to],
                    )
                cute.arch.cp_async_commit_group()  # empty at the end: the count below holds for every tile
                cute.arch.cp_async_wait_group(level.stages - 1)
                cute.arch.sync_threads()
                if tile == 0:
                    cute.copy(copy_q, from_q, to_q)
            else:
                cute.copy(
                    copy,
                    mine.partition_S(g_k)[None, None, None, tile],
                    mine.partition_D(s_k)[None, None, None, 0],
                )
                cute.copy(
                    copy,
                    mine.partition_S(g_v)[None, None, None, tile],
                    mine.partition_D(s_v)[None, None, None, 0],
                )
                cute.arch.sync_threads()

            scores = cute.make_rmem_tensor(
                mma_mine.partition_shape_C((TILE, TILE)), cutlass.Float32
            )
            scores.fill(0.0)
            for step in cutlass.range_constexpr(HEAD_DIM // 16):
                cute.copy(copy_k, from_k[None, None, step, stage], to_k[None, None, step])
                cute.gemm(mma, scores, r_q[None, None, step], r_k[None, None, step], scores)

            self.softmax_step(scores, output, maximum, total, scale_log2)

            weights = cute.make_rmem_tensor(scores.layout, dtype)
            weights.store(scores.load().to(dtype))
            left = as_left_operand(weights)
            for step in cutlass.range_constexpr(TILE // 16):
                if cutlass.const_expr(level.swizzled and not level.ldmatrix):
                    first = stage * (TILE * HEAD_DIM) + step * (16 * ATOM_COLUMNS)
                    for i in cutlass.range_constexpr(4):  # rows r, r + 1, r + 8, r + 9
                        for n in cutlass.range_constexpr(HEAD_DIM // 8):
                            rest = i // 2 * (ATOM_ROWS * ATOM_COLUMNS) + n // 8 * (
                                TILE * ATOM_COLUMNS
                            )
                            r_v[i, n, step] = elements_v[
                                half_words[i % 2 * 8 + n % 8] + first + rest
                            ]
                else:
                    cute.copy(copy_v, from_v[None, None, step, stage], to_v[None, None, step])
                cute.gemm(mma, output, left[None, None, step], r_v[None, None, step], output)
            cute.arch.sync_threads()  # the stage is free again

        # O through Q's place in shared memory, so that stores are whole sectors.
        final = rows_and_columns(output)
        for row in cutlass.range_constexpr(rows):
            whole = total[row]
            whole = whole + cute.arch.shuffle_sync_bfly(whole, offset=1)
            whole = whole + cute.arch.shuffle_sync_bfly(whole, offset=2)
            final[row, None].store(final[row, None].load() * (1.0 / whole))
        rounded = cute.make_rmem_tensor(output.layout, dtype)
        rounded.store(output.load().to(dtype))
        pairs = cute.make_tiled_copy_C(
            cute.make_copy_atom(CopyUniversalOp(), dtype, num_bits_per_copy=32), mma
        ).get_slice(thread)
        cute.copy(pairs, pairs.retile(rounded), pairs.partition_D(s_q))
        cute.arch.sync_threads()
        store = cute.make_tiled_copy_tv(
            cute.make_copy_atom(CopyUniversalOp(), dtype, num_bits_per_copy=128), threads, chunk
        )
        writes = store.get_slice(thread)
        through = cute.make_rmem_tensor(writes.partition_S(s_q).shape, dtype)
        cute.autovec_copy(writes.partition_S(s_q), through)
        cute.copy(store, through, writes.partition_D(g_o))

    @cute.jit
    def softmax_step(
        self,
        scores: cute.Tensor,
        output: cute.Tensor,
        maximum: cute.Tensor,
        total: cute.Tensor,
        scale_log2: cutlass.Float32,
    ):
        """The maxima of `scores` join those of the rows, output and sums move to the new reference; scores become
        probabilities."""
        now, so_far = rows_and_columns(scores), rows_and_columns(output)
        for row in cutlass.range_constexpr(cute.size(maximum)):
            values = now[row, None].load()
            largest = values.reduce(cute.ReductionOp.MAX, -cutlass.Float32.inf, 0)
            largest = cute.arch.fmax(largest, cute.arch.shuffle_sync_bfly(largest, offset=1))
            largest = cute.arch.fmax(largest, cute.arch.shuffle_sync_bfly(largest, offset=2))
            reference = cute.arch.fmax(maximum[row], largest * scale_log2)
            factor = cute.math.exp2(maximum[row] - reference, fastmath=True)
            weights = cute.math.exp2(values * scale_log2 - reference, fastmath=True)
            maximum[row] = reference
            total[row] = total[row] * factor + weights.reduce(
                cute.ReductionOp.ADD, cutlass.Float32(0.0), 0
            )
            so_far[row, None].store(so_far[row, None].load() * factor)
            now[row, None].store(weights)
