// What a launch hands to the decode kernels: one value in constant memory.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/attention/variants.hpp"
#include "kernels/common/strides.hpp"
#include "scheduler/kv_shares.hpp"
#include "scheduler/sequences.hpp"

namespace sawtooth::kernels::decode {

/// Row r of a K/V head is query position r / group of head r mod group of its group
/// (scheduler/tiling.hpp).
struct DecodeArguments {
  int32_t batch = 0;
  int32_t kv_heads = 0;
  int32_t group = 1;      // query heads a K/V head
  int32_t positions = 1;  // query rows of a head
  int32_t row_tiles = 1;  // of a K/V head
  int32_t most_keys = 0;  // of a sequence
  bool causal = false;
  const int32_t* lengths = nullptr;  // keys of each sequence; null: all have most_keys
  // K and V lie in pages: [page, K/V head, row, dim] by the strides. Without a table sequence b is
  // page b, of most_keys rows.
  const int32_t* pages = nullptr;
  int64_t pages_a_sequence = 0;  // from one row of the table to the next
  int32_t page_rows = 0;         // with a table a power of two,
  int32_t page_shift = 0;        // and this its logarithm
  const void *q = nullptr, *k = nullptr, *v = nullptr;
  void* o = nullptr;
  float* lse = nullptr;  // [batch, heads, positions]; null: not written
  Strides q_strides, k_strides, v_strides, o_strides;  // `batch` of K: page to page
  float scale_log2 = 1;                                // scale * log2(e)
  uint64_t kv_policy = 0;
  int32_t tiles_ahead = 0;  // of a CTA's first piece, that L2 is asked for before the launch begins
  float* pieces = nullptr;  // what cut units leave for each other
  unsigned* arrivals = nullptr;  // of pieces; zero when a launch starts and when it ends
  // Kernels for cascades take what groups of sequences share, whole K/V tiles.
  Prefix prefix;
  int32_t least_keys = 0;  // of a sequence: the prefix, and what each query sees behind it

  SAWTOOTH_HD constexpr int32_t rows() const { return group * positions; }
  SAWTOOTH_HD constexpr int32_t units_a_sequence() const { return kv_heads * row_tiles; }
};

/// Bounds that the kernels are built for.
inline constexpr int32_t most_sequences = 2048;  // with lengths of their own
inline constexpr int32_t least_page_rows = 16;
inline constexpr int32_t most_page_rows = 256;

// The decode kernels of this build, or with `cascades` those for calls with a prefix.

void add_mma_variants(bool cascades, std::vector<KernelVariant>& variants);
void add_mma_tma_variants(bool cascades, std::vector<KernelVariant>& variants);

}  // namespace sawtooth::kernels::decode
