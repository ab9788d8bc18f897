// A consumer warp: 16 or 32 packed query rows and its keys of every tile; the four warps of a row
// group meet when a piece ends. The products are those of kernels/mma.
#pragma once

#include "kernels/decode/cascade_merge.cuh"
#include "kernels/decode/merge.cuh"
#include "kernels/decode/storage.cuh"
#include "kernels/hopper/barrier.cuh"
#include "kernels/mma/online_softmax.cuh"
#include "kernels/mma/ptx.cuh"

namespace sawtooth::kernels::decode {

template <class Shape>
class Consumer {
  using Core = TensorCore<typename Shape::Element>;
  static constexpr int row_blocks = Shape::row_blocks;
  static constexpr int depth_blocks = Shape::head_dim / 16;
  static constexpr int score_fragments = 2 * Shape::key_blocks;
  using Scores = float[row_blocks][score_fragments][4];
  using Output = float[row_blocks][Shape::head_dim / 8][4];
  using Queries = uint32_t[Shape::q_in_registers ? depth_blocks : 1][4];

 public:
  __device__ Consumer(const DecodeArguments& arguments, Storage<Shape>& storage)
      : arguments_(arguments),
        storage_(storage),
        group_(thread_number() / Shape::group_threads),
        box_rows_(arguments.pages == nullptr ? Shape::kv_rows
                                             : Shape::box_rows(arguments.page_rows)) {}

  __device__ void run() {
    for (RingPosition<work_slots> slot;; slot.advance()) {
      storage_.work_full[slot.stage].wait(slot.parity);
      const WorkOf<Shape> work = storage_.work[slot.stage];
      if (work.ends) return;
      process(work, storage_.work[slot.stage]);
      __syncwarp();
      if (thread_number() % 32 == 0) storage_.work_empty[slot.stage].arrive();
    }
  }

 private:
  /// `shared` is the same work: what only the end needs takes no registers until then.
  __device__ void process(const WorkOf<Shape>& work, const WorkOf<Shape>& shared) {
    Output output;
    clear(output);
    SoftmaxState<row_blocks> softmax;
    softmax.reset();
    if (work.tiles > 0) {
      load_q(work);
      Queries q;
      if constexpr (Shape::q_in_registers) {
#pragma unroll
        for (int k = 0; k < depth_blocks; ++k) read_q(q[k], 0, k);
      }
      // Keys from here on are hidden from some row, or do not exist.
      int seen_by_all = max(0, work.keys - (arguments_.causal ? arguments_.positions - 1 : 0));
      if constexpr (Shape::cascades)
        if (work.of_prefix) seen_by_all = work.keys;
      for (int tile = work.first_tile; tile < work.first_tile + work.tiles; ++tile) {
        storage_.full[stage_.stage].wait(stage_.parity);
        if ((tile + 1) * Shape::kv_rows <= seen_by_all)
          step<false>(work, tile, q, output, softmax);
        else
          step<true>(work, tile, q, output, softmax);
        __syncwarp();
        if (thread_number() % 32 == 0) storage_.empty[stage_.stage].arrive();
        stage_.advance();
      }
    }
    if constexpr (Shape::cascades)
      CascadeMerge<Shape>(arguments_, storage_, shared, group_).finish(output, softmax);
    else
      PieceMerge<Shape>(arguments_, storage_, work, group_).finish(output, softmax);
  }

  /// This row group's rows, into shared memory; rows that do not exist become zeros.
  __device__ void load_q(const WorkOf<Shape>& work) const {
    constexpr int row_chunks = Shape::row_bytes / chunk_bytes;
    const int thread = thread_number() % Shape::group_threads;
    constexpr int element_bytes = 2;
    meet();  // all have left the rows of the piece before
#pragma unroll
    for (int i = 0; i < Shape::group_rows * row_chunks / Shape::group_threads; ++i) {
      const int number = i * Shape::group_threads + thread;
      const int row = group_ * Shape::group_rows + number / row_chunks;
      const int chunk = number % row_chunks;
      int packed_row = work.row_tile * Shape::rows + row;
      int sequence = work.sequence;
      if constexpr (Shape::cascades) {
        const int place = row / arguments_.rows();
        packed_row = place < work.sequences ? row - place * arguments_.rows() : arguments_.rows();
        sequence += place;
      }
      const bool exists = packed_row < arguments_.rows();
      if constexpr (Shape::cascades)
        if (!exists) sequence = work.sequence;
      const int position = exists ? packed_row / arguments_.group : 0;
      const int head =
          work.kv_head * arguments_.group + (exists ? packed_row - position * arguments_.group : 0);
      const char* const from =
          static_cast<const char*>(arguments_.q) +
          arguments_.q_strides.offset(sequence, head, position) * element_bytes +
          chunk * chunk_bytes;
      constexpr uint64_t no_preference = 0x10F0000000000000ull;  // evict_normal
      copy_16_bytes_or_zero(
          shared_address(storage_.q) + uint32_t(Shape::QTile::offset(chunk / 8, row, chunk % 8)),
          from, no_preference, exists);
    }
    commit_copies();
    wait_for_copies<0>();
    meet();
  }

  __device__ void read_q(uint32_t (&q)[4], int block, int k) const {
    const uint32_t lane_base =
        shared_address(storage_.q) +
        uint32_t(Shape::QTile::lane_offset_rows_first(thread_number() % 32) +
                 (group_ * Shape::group_rows + block * 16) * Shape::QTile::row_bytes);
    load_matrices(q, (lane_base ^ Shape::QTile::column_block_xor(k)) +
                         uint32_t(Shape::QTile::column_block_shift(k)));
  }

  /// Byte offset in a tile of this warp's key block `block`.
  __device__ uint32_t key_block_offset(int block) const {
    const int row = thread_number() / 32 % Shape::group_warps * Shape::warp_keys + block * 16;
    const int box = row / box_rows_;
    return uint32_t(box * box_rows_ * Shape::row_bytes + (row - box * box_rows_) * 128);
  }

  template <bool Masked>
  __device__ void step(const Work& work, int tile, const Queries& q, Output& output,
                       SoftmaxState<row_blocks>& softmax) const {
    const int lane = thread_number() % 32;
    const uint32_t panel_bytes = uint32_t(box_rows_ * 128);
    const uint32_t k_tile = shared_address(storage_.k[stage_.stage]) + k_lane_offset(lane);
    const uint32_t v_tile = shared_address(storage_.v[stage_.stage]) + v_lane_offset(lane);
    const int first_key =
        tile * Shape::kv_rows + thread_number() / 32 % Shape::group_warps * Shape::warp_keys;
    Scores scores;
    multiply_qk(scores, q, k_tile, panel_bytes);
    if constexpr (Masked) hide(scores, work, first_key);
    softmax.raise_maximum(scores, output, arguments_.scale_log2);
#pragma unroll
    for (int block = 0; block < Shape::key_blocks; ++block) {
      uint32_t p[row_blocks][4];
#pragma unroll
      for (int rows = 0; rows < row_blocks; ++rows)
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) {
          const int half = pair % 2;
          const float reference = softmax.reference(rows, half, arguments_.scale_log2);
          const float* from = &scores[rows][2 * block + pair / 2][2 * half];
          const float low = exp2_approximate(from[0] * arguments_.scale_log2 - reference);
          const float high = exp2_approximate(from[1] * arguments_.scale_log2 - reference);
          softmax.sum[rows][half] += low + high;
          p[rows][pair] = Core::pack(low, high);
        }
      const uint32_t v = v_tile + key_block_offset(block);
      const int left = work.keys - (first_key + block * 16) - lane % 4 * 2;
#pragma unroll
      for (int d = 0; d < depth_blocks; ++d) {
        uint32_t b[4];
        load_matrices_transposed(b, (v ^ uint32_t(d % 4 * 32)) + uint32_t(d / 4) * panel_bytes);
        if constexpr (Masked) {
          // Where no key lies V may be anything, and 0 times infinity is no number.
          b[0] = keep(b[0], left);
          b[2] = keep(b[2], left);
          b[1] = keep(b[1], left - 8);
          b[3] = keep(b[3], left - 8);
        }
#pragma unroll
        for (int rows = 0; rows < row_blocks; ++rows) {
          Core::multiply_add(output[rows][2 * d], p[rows], b[0], b[1]);
          Core::multiply_add(output[rows][2 * d + 1], p[rows], b[2], b[3]);
        }
      }
    }
  }

  /// Two chains of additions where one would be waited for.
  __device__ void multiply_qk(Scores& scores, const Queries& q, uint32_t k_tile,
                              uint32_t panel_bytes) const {
    constexpr int chains = row_blocks * Shape::key_blocks == 1 ? 2 : 1;
    float sums[chains][row_blocks][score_fragments][4];
#pragma unroll
    for (auto& chain : sums) clear(chain);
#pragma unroll
    for (int k = 0; k < depth_blocks; ++k) {
      uint32_t a[row_blocks][4];
#pragma unroll
      for (int rows = 0; rows < row_blocks; ++rows) {
        if constexpr (Shape::q_in_registers) {
#pragma unroll
          for (int i = 0; i < 4; ++i) a[rows][i] = q[k][i];
        } else {
          read_q(a[rows], rows, k);
        }
      }
#pragma unroll
      for (int block = 0; block < Shape::key_blocks; ++block) {
        uint32_t b[4];
        load_matrices(b, ((k_tile + key_block_offset(block)) ^ uint32_t(k % 4 * 32)) +
                             uint32_t(k / 4) * panel_bytes);
#pragma unroll
        for (int rows = 0; rows < row_blocks; ++rows) {
          Core::multiply_add(sums[k % chains][rows][2 * block], a[rows], b[0], b[1]);
          Core::multiply_add(sums[k % chains][rows][2 * block + 1], a[rows], b[2], b[3]);
        }
      }
    }
#pragma unroll
    for (int rows = 0; rows < row_blocks; ++rows)
#pragma unroll
      for (int n = 0; n < score_fragments; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          scores[rows][n][i] = sums[0][rows][n][i];
          if constexpr (chains == 2) scores[rows][n][i] += sums[1][rows][n][i];
        }
  }

  /// Scores of keys that a row does not see become -inf.
  __device__ void hide(Scores& scores, const Work& work, int first_key) const {
    const int lane = thread_number() % 32;
#pragma unroll
    for (int rows = 0; rows < row_blocks; ++rows)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int packed_row = work.row_tile * Shape::rows + group_ * Shape::group_rows +
                               rows * 16 + half * 8 + lane / 4;
        const int position = packed_row / arguments_.group;
        const int hidden = arguments_.causal ? arguments_.positions - 1 - position : 0;
        const int seen = work.keys - max(0, hidden) - first_key - lane % 4 * 2;
#pragma unroll
        for (int n = 0; n < score_fragments; ++n)
#pragma unroll
          for (int i = 0; i < 2; ++i)
            if (n * 8 + i >= seen) scores[rows][n][2 * half + i] = minus_infinity;
      }
  }

  /// The result keeps those of two keys that are below `left`.
  __device__ static uint32_t keep(uint32_t pair, int left) {
    return left >= 2 ? pair : left == 1 ? pair & 0xffffu : 0u;
  }

  using Rows = SharedTile<16, 64>;
  __device__ static uint32_t k_lane_offset(int lane) {
    return uint32_t(Rows::lane_offset_chunks_first(lane));
  }
  __device__ static uint32_t v_lane_offset(int lane) {
    return uint32_t(Rows::lane_offset_rows_first(lane));
  }

  /// The threads of this row group.
  __device__ void meet() const {
    hopper::named_barrier_sync(1 + group_, Shape::group_threads);
  }

  const DecodeArguments& arguments_;
  Storage<Shape>& storage_;
  int group_;
  int box_rows_;
  RingPosition<Shape::stages> stage_;
};

}  // namespace sawtooth::kernels::decode
