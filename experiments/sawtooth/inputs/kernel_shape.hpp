// The name of one of the kernels of kernels/mma where a file has a value for it alone:
// d128-128x64 has head dim 128, 128 rows of Q and 64 of K/V a tile.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "scheduler/tiling.hpp"

namespace sawtooth::experiments {

struct KernelShape {
  int64_t head_dim = 0;
  Tiling tiling;

  bool is_of(int64_t other_head_dim, const Tiling& other) const {
    return head_dim == other_head_dim && tiling.q_rows == other.q_rows &&
           tiling.kv_rows == other.kv_rows;
  }
};

/// Nothing where `name` is not of that form.
std::optional<KernelShape> parse_kernel_shape(std::string_view name);

/// A section's name: a key, or a key and, after a blank, the kernel that its value is for.
struct SectionName {
  std::string_view key;
  std::string_view kernel;  // empty: of all kernels
};
SectionName split_section_name(std::string_view name);

}  // namespace sawtooth::experiments
