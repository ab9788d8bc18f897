// What a launch hands to the Hopper kernel, beside the three tensor maps.
#pragma once

#include <cstdint>

#include "scheduler/problem.hpp"
#include "scheduler/schedule.hpp"

namespace sawtooth::kernels::hopper {

/// Distances in elements between neighbours; the head dim itself is contiguous.
struct TensorStrides {
  int64_t batch = 0;
  int64_t head = 0;
  int64_t row = 0;

  SAWTOOTH_HD constexpr int64_t offset(int64_t batch_index, int64_t head_index,
                                       int64_t row_index) const {
    return batch_index * batch + head_index * head + row_index * row;
  }
};

/// L2 policies in the encoding of createpolicy's fractional forms with fraction 1, as the
/// instruction returns them.
inline constexpr uint64_t evict_normal = 0x1000000000000000;
inline constexpr uint64_t evict_first = 0x12F0000000000000;
inline constexpr uint64_t evict_last = 0x14F0000000000000;

struct Arguments {
  Problem problem;
  Schedule schedule;
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  void* o = nullptr;
  float* lse = nullptr;  // [batch, heads, seq_q]; null: not written
  TensorStrides q_strides;
  TensorStrides k_strides;
  TensorStrides v_strides;
  TensorStrides o_strides;
  float scale_log2 = 1;  // scale * log2(e), positive
  uint64_t q_policy = evict_first;
  uint64_t kv_policy = evict_last;
  // State of one launch, zero when it starts.
  unsigned long long* ticket = nullptr;  // dynamic: the next item
  int* attach_tiles = nullptr;           // attach: [batch, kv_heads], the tile last started
};

}  // namespace sawtooth::kernels::hopper
