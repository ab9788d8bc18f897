// What a launch hands to the backward kernels: one value in constant memory.
#pragma once

#include <cstdint>

#include "kernels/common/order_trace.hpp"
#include "kernels/common/strides.hpp"
#include "kernels/mma/arguments.hpp"
#include "kernels/mma/backward/dq_sums.hpp"
#include "scheduler/integer_math.hpp"
#include "scheduler/problem.hpp"
#include "scheduler/schedule.hpp"

namespace sawtooth::kernels {

/// Rows of a head in `lse_log2` and `row_sums` are padded to a multiple of this, which every Q tile
/// divides: each tile begins on a line and is whole.
inline constexpr int64_t row_padding = 128;

struct BackwardArguments {
  static constexpr Pass pass = Pass::backward;
  Problem problem;
  Schedule schedule;
  const void *q = nullptr, *k = nullptr, *v = nullptr, *o = nullptr, *d_o = nullptr;
  const float* lse = nullptr;  // [batch, heads, seq_q], of the forward pass
  void *dq = nullptr, *dk = nullptr, *dv = nullptr;
  Strides q_strides, k_strides, v_strides, o_strides, d_o_strides;
  Strides dq_strides, dk_strides, dv_strides;
  float scale = 1;
  float scale_log2 = 1;   // scale * log2(e)
  LoadPolicies policies;  // dO is loaded like Q
  // Workspace. [batch, heads, padded rows]: log-sum-exp in powers of two, +inf for rows that see
  // nothing or do not exist, so that their probabilities are 0; and rowsum(dO * O).
  float* lse_log2 = nullptr;
  float* row_sums = nullptr;
  float* dq_sums = nullptr;  // dq_rows * head_dim of each head, before the scale; null: none
  // State of one launch, zero when it starts.
  unsigned long long* ticket = nullptr;  // dynamic: the next item
  int* attach_tiles = nullptr;           // attach: [batch, kv_heads], the Q tile last started
  unsigned* dq_turns = nullptr;          // ordered: [batch, heads, Q tiles], additions so far
  OrderTrace trace;
  bool dq_in_parts = false;  // as kernels/hopper/backward/shape.hpp says, not dq_sums.hpp
  // With kv_split > 1 the main kernel stores these in place of dk and dv, and another one sums them
  // up: [batch, kv_heads, kv_split, seq_kv, head_dim] in the type of K and V.
  void* dk_parts = nullptr;
  void* dv_parts = nullptr;

  /// The head of what the main kernel stores for an item, counted in its sequence.
  SAWTOOTH_HD constexpr int64_t stored_head(int64_t kv_head, int64_t part) const {
    return kv_head * schedule.kv_split + part;
  }
  SAWTOOTH_HD constexpr int64_t padded_rows() const {
    return ceil_div(problem.seq_q, row_padding) * row_padding;
  }
  /// Rows that a head has in `dq_sums`: whole tiles where these lie in parts, else whole bands.
  SAWTOOTH_HD constexpr int64_t dq_rows() const {
    // Powers of two: a division by one or the other would stand in every step of the main kernels.
    const int64_t multiple = dq_in_parts ? row_padding : dq_band_rows;
    return (problem.seq_q + multiple - 1) & -multiple;
  }
};

/// The kernel of dQ under dq = separate takes these: its items are those of the forward pass.
struct DqArguments : BackwardArguments {
  static constexpr Pass pass = Pass::forward;
};

}  // namespace sawtooth::kernels
