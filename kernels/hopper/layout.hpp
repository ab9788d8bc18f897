// How wgmma finds a tile in shared memory, and which thread holds what of its accumulators.
#pragma once

#include <cstdint>

#include "kernels/common/lane_columns.hpp"
#include "scheduler/host_device.hpp"

namespace sawtooth::kernels::hopper {

// Shared-memory matrix descriptors of wgmma. PTX ISA: "Asynchronous warpgroup level matrix
// instructions", "Matrix descriptor" and "Shared memory matrix layout".
//
// Everything here lies in the 128-byte swizzle: rows of 128 bytes, groups of 8 rows (1024 bytes),
// 16-byte chunk c of row r stored at chunk c xor (r mod 8). Groups start at multiples of 1024
// bytes, so the descriptor's base offset stays 0.

inline constexpr int swizzle_row_bytes = 128;
inline constexpr int swizzle_group_rows = 8;
inline constexpr int swizzle_group_bytes = swizzle_row_bytes * swizzle_group_rows;
inline constexpr int panel_columns = swizzle_row_bytes / 2;  // of 16-bit elements
inline constexpr int wgmma_k = 16;                           // depth of one instruction

/// Addresses and offsets in a descriptor are counted in 16 bytes and have 14 bits.
SAWTOOTH_HD constexpr uint64_t descriptor_units(uint32_t bytes) {
  return (bytes & 0x3ffff) >> 4;
}

/// leading_bytes and stride_bytes as the layout below needs them.
SAWTOOTH_HD constexpr uint64_t swizzled_descriptor(uint32_t address, uint32_t leading_bytes,
                                                   uint32_t stride_bytes) {
  constexpr uint64_t swizzle_128_bytes = 1;
  return descriptor_units(address) | descriptor_units(leading_bytes) << 16 |
         descriptor_units(stride_bytes) << 32 | swizzle_128_bytes << 62;
}

/// A matrix whose contraction dimension is contiguous (Q, K): groups of 8 rows follow each other;
/// the leading offset is not read in this layout.
SAWTOOTH_HD constexpr uint64_t rows_descriptor(uint32_t address) {
  return swizzled_descriptor(address, 16, swizzle_group_bytes);
}
/// Bytes from one 16-deep slice to the next: inside a panel, then on to the next panel.
SAWTOOTH_HD constexpr uint32_t rows_slice_offset(int slice, int panel_rows) {
  constexpr int slices_a_panel = panel_columns / wgmma_k;
  return uint32_t(slice / slices_a_panel * panel_rows * swizzle_row_bytes +
                  slice % slices_a_panel * wgmma_k * 2);
}

/// A matrix whose other dimension is contiguous (V, contracted over its rows): panels of 64
/// columns are `panel_rows` x 128 bytes apart, groups of 8 rows follow each other.
SAWTOOTH_HD constexpr uint64_t columns_descriptor(uint32_t address, int panel_rows) {
  return swizzled_descriptor(address, uint32_t(panel_rows * swizzle_row_bytes),
                             swizzle_group_bytes);
}
SAWTOOTH_HD constexpr uint32_t columns_slice_offset(int slice) {
  return uint32_t(slice * wgmma_k * swizzle_row_bytes);
}

/// The descriptor `bytes` further on; the address field does not overflow below 256 KiB.
SAWTOOTH_HD constexpr uint64_t advance(uint64_t descriptor, uint32_t bytes) {
  return descriptor + (bytes >> 4);
}

/// The same where nothing carries into the upper word: no address is behind 256 KiB.
SAWTOOTH_HD constexpr uint64_t advance_low(uint64_t descriptor, uint32_t bytes) {
  return (descriptor & 0xffff'ffff'0000'0000) | uint32_t(uint32_t(descriptor) + (bytes >> 4));
}

// Which element of a 64-row tile a thread of the warpgroup holds in which register. PTX ISA:
// "Register fragments and shared memory matrix layouts" of wgmma.m64nNk16.
//
// A thread holds two rows, 8 apart. Accumulator register i: row half i / 2 % 2, column
// 8 (i / 4) + 2 (lane % 4) + i % 2. A fragments (16-bit pairs) repeat the same pattern, so the
// accumulators 8s ... 8s + 7 of a score tile are, pairwise rounded, the A fragment of slice s.

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
}  // namespace sawtooth::kernels::hopper
