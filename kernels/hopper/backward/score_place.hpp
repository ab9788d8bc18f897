// Where a warpgroup's dS^T, in accumulators, goes in shared memory as dS: panels of 64 keys, a row
// a query, in the swizzle of wgmma's operands. Plain C++: tests/kernels checks it without a GPU.
#pragma once

#include <cstdint>

#include "kernels/hopper/descriptor.hpp"
#include "kernels/hopper/fragment.hpp"

namespace sawtooth::kernels::hopper {

/// Byte in a panel of 64 keys where this thread's address of the first 16 queries lies; further 16
/// queries are matrix_store_step on. Matrices 0 and 1 are keys 0 to 7 and 8 to 15 of the warp for
/// the first 8 queries, 2 and 3 the same for the next 8: registers 4 u ... 4 u + 3 of pairwise
/// rounded accumulators.
SAWTOOTH_HD constexpr uint32_t matrix_store_offset(int thread_in_warpgroup) {
  const int lane = thread_in_warpgroup % 32;
  const int query = lane / 16 * 8 + lane % 8;
  const int chunk = thread_in_warpgroup / 32 * 2 + lane / 8 % 2;
  return uint32_t(query * swizzle_row_bytes + (chunk ^ query % swizzle_group_rows) * 16);
}
inline constexpr uint32_t matrix_store_step = 16 * swizzle_row_bytes;

}  // namespace sawtooth::kernels::hopper
