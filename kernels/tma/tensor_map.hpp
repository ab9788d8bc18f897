// Tensor maps for the copy engine: how a [batch, head, row, head_dim] tensor is cut into boxes.
// CUDA driver API: cuTensorMapEncodeTiled (taken through the runtime, nothing links libcuda).
//
// The map has five dimensions, innermost first: elements of a panel, rows, panels, heads, batch. A
// box holds all panels of `box_rows` rows of one head, so one instruction loads a tile. Panels of
// 64 elements arrive in the 128-byte swizzle, panels of 32 in the 64-byte one: the layouts of
// kernels/mma/shared_tile.hpp and of wgmma's operands. Where the last panel of a row is not full,
// the innermost dimension is the row and a box one panel, whose columns past the row arrive as
// zeros.
#pragma once

#include <cstdint>

#include <cuda.h>

#include "kernels/common/strides.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth::kernels {

struct TensorExtent {
  int64_t batch = 1;
  int64_t heads = 1;
  int64_t rows = 1;
  int64_t head_dim = 64;
};

/// What a miss in L2 brings at least (CUtensorMapL2promotion). Where every byte is read once 256
/// bytes cost a tenth of DRAM's speed: on an H200 132 SMs read 4,073 GB/s with them and 4,593 with
/// 128.
enum class MissBytes : uint8_t { of_128, of_256 };

/// Map of `tensor` (16-byte aligned, strides multiples of 8 elements) for 16-bit elements.
/// Throws std::runtime_error with the driver's code when it refuses.
CUtensorMap make_tensor_map(const void* tensor, ElementType type, const TensorExtent& extent,
                            const Strides& strides, const BoxExtent& box_extent,
                            MissBytes miss_bytes = MissBytes::of_256);

}  // namespace sawtooth::kernels
