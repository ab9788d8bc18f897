// What a level of the ladder is given: one head dim, one tiling, no mask, whole tiles.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"

namespace sawtooth::kernels::ladder {

// The shape of the ladder that this one follows (kernels/ladder/README.md).
inline constexpr int head_dim = 128;
inline constexpr int tile_rows = 64;  // of Q and of K/V
inline constexpr int tile_elements = tile_rows * head_dim;
inline constexpr int warps = 4;  // each owns 16 rows of the Q tile
inline constexpr int threads = 32 * warps;
inline constexpr int chunk = 8;  // elements of 16 bytes, what one copy moves

/// Device memory. q, k, v, o: [heads, seq, head_dim] of 16-bit elements, contiguous; `heads` counts
/// batches too. lse: [heads, seq], base-2 logarithm of the sum of exp2(scale_log2 * score).
struct Arguments {
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  void* o = nullptr;
  float* lse = nullptr;  // level 5 keeps its state there; the other levels do not touch it
  int64_t seq = 0;       // a multiple of tile_rows
  float scale_log2 = 1;  // softmax scale * log2(e)

  /// Element at which tile `tile` of head `head` begins.
  SAWTOOTH_HD constexpr int64_t tile_begin(int64_t head, int64_t tile) const {
    return (head * seq + tile * tile_rows) * head_dim;
  }
  SAWTOOTH_HD constexpr int64_t tiles() const { return seq / tile_rows; }
};

}  // namespace sawtooth::kernels::ladder
