// Which element of a 64-row tile a thread of the warpgroup holds in which register. PTX ISA:
// "Register fragments and shared memory matrix layouts" of wgmma.m64nNk16.
//
// A thread holds two rows, 8 apart. Accumulator register i: row half i / 2 % 2, column
// 8 (i / 4) + 2 (lane % 4) + i % 2. A fragments (16-bit pairs) repeat the same pattern, so the
// accumulators 8s ... 8s + 7 of a score tile are, pairwise rounded, the A fragment of slice s.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"

namespace sawtooth::kernels::hopper {

inline constexpr int warpgroup_threads = 128;
inline constexpr int warpgroup_rows = 64;  // m of every wgmma
inline constexpr int warp_rows = 16;
inline constexpr int rows_a_thread = 2;
inline constexpr int row_half_distance = 8;

/// Accumulator registers a thread of an m64 x `columns` tile holds.
SAWTOOTH_HD constexpr int accumulators(int columns) {
  return warpgroup_rows * columns / warpgroup_threads;
}
/// Row of the tile of a thread's first half.
SAWTOOTH_HD constexpr int first_row(int thread_in_warpgroup) {
  return thread_in_warpgroup / 32 * warp_rows + thread_in_warpgroup % 32 / 4;
}
SAWTOOTH_HD constexpr int row_half(int i) {
  return i / 2 % 2;
}
/// Column of register i in lane 0 of a quad; lane q of the quad is 2 q further on.
SAWTOOTH_HD constexpr int quad_column(int i) {
  return i / 4 * 8 + i % 2;
}
SAWTOOTH_HD constexpr int column_offset(int lane) {
  return 2 * (lane % 4);
}
/// Place of register i among those of its row, in the order of their columns.
SAWTOOTH_HD constexpr int place_in_row(int i) {
  return i / 4 * 2 + i % 2;
}
/// One bit a place: the accumulators of a row, 64 at most, whose columns lie in
/// [begin, end), counted from the lane's first and not negative. Two of every
/// eight columns are the lane's own.
SAWTOOTH_HD constexpr uint64_t accumulators_between(int begin, int end) {
  const auto before = [](unsigned column) {
    const unsigned places = column / 8 * 2 + (column % 8 < 2 ? column % 8 : 2);
    return places < 64 ? (uint64_t(1) << places) - 1 : ~uint64_t(0);
  };
  return before(unsigned(end)) & ~before(unsigned(begin));
}

}  // namespace sawtooth::kernels::hopper
