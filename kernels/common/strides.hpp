// How a tensor of four dimensions lies in memory.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"

namespace sawtooth::kernels {

/// Distances in elements between neighbours; the head dim itself is contiguous.
struct Strides {
  int64_t batch = 0;
  int64_t head = 0;
  int64_t row = 0;

  SAWTOOTH_HD constexpr int64_t offset(int64_t batch_index, int64_t head_index,
                                       int64_t row_index) const {
    return batch_index * batch + head_index * head + row_index * row;
  }
  friend constexpr bool operator==(const Strides&, const Strides&) = default;
};

/// [batch, head, length, dim] without gaps.
constexpr Strides contiguous_strides(int64_t heads, int64_t length, int64_t head_dim) {
  return {heads * length * head_dim, length * head_dim, head_dim};
}

// What one instruction of the copy engine loads.

/// So many rows of one head, in panels of so many columns.
struct BoxExtent {
  int rows = 0;
  int panel_columns = 64;  // or 32
  bool one_panel = false;  // at a time, not all of a row
};

}  // namespace sawtooth::kernels
