// The end of a piece. The four warps of a row group, which saw different keys, add up their sums in
// shared memory, and every thread then has 4 neighbouring columns in 32 of a row. A whole unit is
// written; a cut one leaves its piece in global memory, and the row group whose piece comes last
// adds all of them, in an order that does not depend on which came last.
#pragma once

#include "kernels/decode/storage.cuh"
#include "kernels/hopper/barrier.cuh"
#include "kernels/mma/online_softmax.cuh"
#include "kernels/mma/ptx.cuh"

namespace sawtooth::kernels::decode {

/// exp2 of the difference of two maxima of scores; a row that saw no key has weight 0.
__device__ inline float weight_of(float maximum, float top, float scale_log2) {
  return maximum == minus_infinity ? 0.0f : exp2_approximate((maximum - top) * scale_log2);
}

/// Where a row lies in a piece: number `row` of its tile.
struct PieceRow {
  const float* piece;
  int row;
};

template <class Shape>
class PieceMerge {
 protected:
  static constexpr int row_blocks = Shape::row_blocks;
  static constexpr int chunks = Shape::head_dim / chunk_columns;
  static constexpr int columns = 4;  // of a thread in each chunk
  static constexpr int at_once = Shape::merged_columns / chunk_columns;  // chunks in shared memory
  // On their way to a thread; so many that none spills.
  static constexpr int pieces_at_once =
      Shape::cascades ? (Shape::head_dim == 64 ? 4 : 2) : (Shape::head_dim <= 128 ? 8 : 4);
  using Output = float[row_blocks][Shape::head_dim / 8][4];
  using Sums = float4[row_blocks][chunks];

 public:
  __device__ PieceMerge(const DecodeArguments& arguments, Storage<Shape>& storage,
                        const WorkOf<Shape>& work, int group)
      : arguments_(arguments),
        storage_(storage),
        work_(work),
        group_(group),
        thread_(thread_number() % Shape::group_threads) {}

  /// By all threads of the row group; `output` is used up.
  __device__ void finish(Output& output, const SoftmaxState<row_blocks>& softmax) {
    Sums sums;
    float maximum[row_blocks];
    float sum[row_blocks];
    add_warps(output, softmax, sums, maximum, sum);
    const UnitPieces pieces{work_.first_share, work_.last_share};
    if (pieces.count() > 1) {
      leave(pieces.slot(work_.share), sums, maximum, sum);
      if (!comes_last(pieces)) return;
      add_pieces(pieces, sums, maximum, sum);
    }
    store(sums, maximum, sum);
  }

 protected:
  __device__ void add_warps(Output& output, const SoftmaxState<row_blocks>& softmax, Sums& sums,
                            float (&maximum)[row_blocks], float (&sum)[row_blocks]) {
    const int warp = thread_ / 32;
    const int lane = thread_ % 32;
    auto& maxima_of = storage_.maximum[group_];
    auto& sums_of = storage_.sum[group_];
#pragma unroll
    for (int block = 0; block < row_blocks; ++block)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float whole = sum_of_quad(softmax.sum[block][half]);
        if (lane % 4 == 0) {
          maxima_of[warp][block * 16 + half * 8 + lane / 4] = softmax.maximum[block][half];
          sums_of[warp][block * 16 + half * 8 + lane / 4] = whole;
        }
      }
    meet();
    const auto top_of = [&](int row) {
      float top = maxima_of[0][row];
#pragma unroll
      for (int other = 1; other < Shape::group_warps; ++other)
        top = fmaxf(top, maxima_of[other][row]);
      return top;
    };
#pragma unroll
    for (int block = 0; block < row_blocks; ++block) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float factor =
            weight_of(softmax.maximum[block][half], top_of(block * 16 + half * 8 + lane / 4),
                      arguments_.scale_log2);
#pragma unroll
        for (auto& fragment : output[block]) {
          fragment[2 * half] *= factor;
          fragment[2 * half + 1] *= factor;
        }
      }
      const int row = own_row(block);
      maximum[block] = top_of(row);
      sum[block] = 0;
#pragma unroll
      for (int other = 0; other < Shape::group_warps; ++other)
        sum[block] += sums_of[other][row] *
                      weight_of(maxima_of[other][row], maximum[block], arguments_.scale_log2);
    }
    auto& partial = storage_.partial[group_];
#pragma unroll
    for (int block = 0; block < row_blocks; ++block)
#pragma unroll
      for (int first = 0; first < chunks; first += at_once) {
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int n = 0; n < at_once * chunk_columns / 8; ++n) {
            const float(&from)[4] = output[block][first * (chunk_columns / 8) + n];
            *reinterpret_cast<float2*>(&partial[warp][half * 8 + lane / 4][n * 8 + lane % 4 * 2]) =
                make_float2(from[2 * half], from[2 * half + 1]);
          }
        meet();
#pragma unroll
        for (int i = 0; i < at_once; ++i) {
          float4 total = make_float4(0, 0, 0, 0);
#pragma unroll
          for (int other = 0; other < Shape::group_warps; ++other) {
            const float4 part = *column_of(partial[other][thread_ / 8], i);
            total =
                make_float4(total.x + part.x, total.y + part.y, total.z + part.z, total.w + part.w);
          }
          sums[block][first + i] = total;
        }
        meet();  // also before maxima and sums of the next piece
      }
  }

  __device__ void leave(int64_t slot, const Sums& sums, const float (&maximum)[row_blocks],
                        const float (&sum)[row_blocks]) const {
    float* const piece = piece_at(slot);
#pragma unroll
    for (int block = 0; block < row_blocks; ++block) {
      if (!exists(block)) continue;
#pragma unroll
      for (int chunk = 0; chunk < chunks; ++chunk)
        __stcg(row_of({piece, tile_row(block)}) + chunk * (chunk_columns / columns),
               sums[block][chunk]);
      if (thread_ % 8 == 0)
        __stcg(summary_of({piece, tile_row(block)}), make_float2(maximum[block], sum[block]));
    }
  }

  /// Whether all other pieces of these rows were left before. The count goes back to zero, for the
  /// next launch.
  __device__ bool comes_last(const UnitPieces& pieces) {
    meet();  // all have left what they have, and one fence orders it
    if (thread_ == 0) {
      const auto others = unsigned(pieces.count() - 1);
      unsigned* const arrivals = arguments_.arrivals + pieces.first * Shape::row_groups + group_;
      storage_.comes_last[group_] = arrive(arrivals, others) == others;
    }
    meet();
    return storage_.comes_last[group_] != 0;
  }

  __device__ void add_pieces(const UnitPieces& pieces, Sums& sums, float (&maximum)[row_blocks],
                             float (&sum)[row_blocks]) {
#pragma unroll
    for (int block = 0; block < row_blocks; ++block) {
      const int first_row = work_.row_tile * Shape::rows + group_ * Shape::group_rows + block * 16;
      const int rows = min(max(arguments_.rows() - first_row, 0), 16);
      if (rows == 0) continue;
      add_rows(
          pieces.first, pieces.last, rows,
          [&](int64_t share, int row) -> PieceRow {
            return {piece_at(pieces.slot(share)), group_ * Shape::group_rows + block * 16 + row};
          },
          sums[block], maximum[block], sum[block]);
    }
  }

  /// Pieces `first` to `last` have `rows` rows, 16 at most; row_at(piece, row) tells where a row
  /// lies. Threads have the sums of row thread / 8.
  template <class RowAt>
  __device__ void add_rows(int64_t first, int64_t last, int rows, RowAt row_at,
                           float4 (&total)[chunks], float& maximum, float& sum) {
    // So many rows that several teams fit the threads, each with its part of the pieces.
    int team_rows = 1;
    while (team_rows < rows) team_rows *= 2;
    const int teams = 16 / team_rows;
    const int slot = thread_ / 8;
    add_team_pieces(first, slot % team_rows < rows ? last : -1, slot % team_rows, slot / team_rows,
                    teams, row_at, total, maximum, sum);
    if (teams > 1) add_teams(team_rows, teams, total, maximum, sum);
  }

  /// A team's pieces of row `row` are every `teams`-th from `first` + `team` on.
  template <class RowAt>
  __device__ void add_team_pieces(int64_t first, int64_t last, int row, int team, int teams,
                                  RowAt row_at, float4 (&total)[chunks], float& maximum,
                                  float& sum) const {
    float top = minus_infinity;
    float whole = 0;
#pragma unroll
    for (float4& chunk : total) chunk = make_float4(0, 0, 0, 0);
    for (int64_t share = first + team; share <= last; share += pieces_at_once * teams) {
      // All on their way before the first is used; past the end the last one, without weight.
      float2 summary[pieces_at_once];
      float4 part[pieces_at_once][chunks];
#pragma unroll
      for (int i = 0; i < pieces_at_once; ++i) {
        const PieceRow at = row_at(min_of(share + i * teams, last), row);
        summary[i] = __ldcg(summary_of(at));
#pragma unroll
        for (int chunk = 0; chunk < chunks; ++chunk)
          part[i][chunk] = __ldcg(row_of(at) + chunk * (chunk_columns / columns));
      }
      float higher = top;
#pragma unroll
      for (int i = 0; i < pieces_at_once; ++i) {
        if (share + i * teams > last) summary[i] = make_float2(minus_infinity, 0);
        higher = fmaxf(higher, summary[i].x);
      }
      const float kept = weight_of(top, higher, arguments_.scale_log2);
      top = higher;
      whole *= kept;
#pragma unroll
      for (float4& chunk : total)
        chunk = make_float4(chunk.x * kept, chunk.y * kept, chunk.z * kept, chunk.w * kept);
#pragma unroll
      for (int i = 0; i < pieces_at_once; ++i) {
        const float weight = weight_of(summary[i].x, top, arguments_.scale_log2);
        whole += summary[i].y * weight;
#pragma unroll
        for (int chunk = 0; chunk < chunks; ++chunk)
          total[chunk] = make_float4(total[chunk].x + part[i][chunk].x * weight,
                                     total[chunk].y + part[i][chunk].y * weight,
                                     total[chunk].z + part[i][chunk].z * weight,
                                     total[chunk].w + part[i][chunk].w * weight);
      }
    }
    maximum = top;
    sum = whole;
  }

  /// The sums of the teams, which lie `team_rows` rows of threads apart, to all of them.
  __device__ void add_teams(int team_rows, int teams, float4 (&total)[chunks], float& maximum,
                            float& sum) {
    float* const maxima = storage_.maximum[group_][0];
    float* const wholes = storage_.sum[group_][0];
    const int slot = thread_ / 8;
    const int row = slot % team_rows;
    if (thread_ % 8 == 0) {
      maxima[slot] = maximum;
      wholes[slot] = sum;
    }
    meet();
    float top = minus_infinity;
    for (int team = 0; team < teams; ++team) top = fmaxf(top, maxima[team * team_rows + row]);
    const float weight = weight_of(maximum, top, arguments_.scale_log2);
    float whole = 0;
    for (int team = 0; team < teams; ++team)
      whole += wholes[team * team_rows + row] *
               weight_of(maxima[team * team_rows + row], top, arguments_.scale_log2);
    maximum = top;
    sum = whole;
    auto& partial = storage_.partial[group_][0];
#pragma unroll
    for (int first = 0; first < chunks; first += at_once) {
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        const float4& own = total[first + i];
        *column_of(partial[slot], i) =
            make_float4(own.x * weight, own.y * weight, own.z * weight, own.w * weight);
        total[first + i] = make_float4(0, 0, 0, 0);
      }
      meet();
      for (int team = 0; team < teams; ++team)
#pragma unroll
        for (int i = 0; i < at_once; ++i) {
          float4& own = total[first + i];
          const float4 part = *column_of(partial[team * team_rows + row], i);
          own = make_float4(own.x + part.x, own.y + part.y, own.z + part.z, own.w + part.w);
        }
      meet();  // also before maxima and sums of the next rows
    }
  }
  /// This thread's columns of the `i`-th chunk of a row in shared memory.
  __device__ float4* column_of(float (&row)[Shape::merged_columns + 8], int i) const {
    return reinterpret_cast<float4*>(&row[i * chunk_columns + thread_ % 8 * columns]);
  }

  __device__ void store(const Sums& sums, const float (&maximum)[row_blocks],
                        const float (&sum)[row_blocks]) const {
#pragma unroll
    for (int block = 0; block < row_blocks; ++block)
      if (exists(block))
        store_row(work_.sequence, packed(block), sums[block], maximum[block], sum[block]);
  }

  /// O and log-sum-exp of a packed row; one that saw no key gives 0 and -inf.
  __device__ void store_row(int64_t sequence, int packed_row, const float4 (&sums)[chunks],
                            float maximum, float sum) const {
    using Core = TensorCore<typename Shape::Element>;
    const int position = packed_row / arguments_.group;
    const int head = work_.kv_head * arguments_.group + packed_row - position * arguments_.group;
    const float factor = sum == 0 ? 0 : __fdividef(1, sum);
    auto* const to = static_cast<typename Shape::Element*>(arguments_.o) +
                     arguments_.o_strides.offset(sequence, head, position) + thread_ % 8 * columns;
#pragma unroll
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const float4& part = sums[chunk];
      *reinterpret_cast<uint2*>(to + chunk * chunk_columns) =
          make_uint2(Core::pack(part.x * factor, part.y * factor),
                     Core::pack(part.z * factor, part.w * factor));
    }
    if (arguments_.lse != nullptr && thread_ % 8 == 0) {
      constexpr float natural_log_of_2 = 0.693147180559945f;
      const int64_t heads = int64_t(arguments_.kv_heads) * arguments_.group;
      arguments_.lse[(sequence * heads + head) * arguments_.positions + position] =
          sum == 0 ? minus_infinity
                   : (maximum * arguments_.scale_log2 + log2f(sum)) * natural_log_of_2;
    }
  }

  __device__ int packed(int block) const {
    return work_.row_tile * Shape::rows + tile_row(block);
  }
  __device__ bool exists(int block) const {
    if constexpr (Shape::cascades)
      return tile_row(block) < work_.sequences * arguments_.rows();
    else
      return packed(block) < arguments_.rows();
  }

  __device__ float* piece_at(int64_t slot) const {
    return arguments_.pieces + slot * Shape::piece_floats;
  }
  __device__ int own_row(int block) const {
    return block * 16 + thread_ / 8;
  }
  __device__ int tile_row(int block) const {
    return group_ * Shape::group_rows + own_row(block);
  }
  __device__ float4* row_of(const PieceRow& at) const {
    return reinterpret_cast<float4*>(const_cast<float*>(at.piece) + at.row * Shape::head_dim) +
           thread_ % 8;
  }
  __device__ float2* summary_of(const PieceRow& at) const {
    return reinterpret_cast<float2*>(const_cast<float*>(at.piece) + Shape::rows * Shape::head_dim) +
           at.row;
  }
  __device__ void meet() const {
    hopper::named_barrier_sync(1 + group_, Shape::group_threads);
  }

  const DecodeArguments& arguments_;
  Storage<Shape>& storage_;
  const WorkOf<Shape>& work_;
  int group_;
  int thread_;
};

}  // namespace sawtooth::kernels::decode
