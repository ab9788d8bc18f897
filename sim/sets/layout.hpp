// Where the tiles lie in memory, in lines of the cache: what a hash needs to know.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/schedule/atoms.hpp"

namespace sawtooth::sim {

/// The neighbouring lines of one atom.
struct LineSpan {
  uint64_t first = 0;
  uint32_t lines = 0;
  uint32_t sectors = 0;  // used of the lines: a ragged tile may not fill its last one
};

/// cudaMalloc maps large buffers in pages of 2 MiB (CUDA Driver API,
/// cuMemGetAllocationGranularity).
inline constexpr uint64_t tensor_alignment_bytes = uint64_t{2} << 20;

/// The lines of each atom of `atoms`. Tensors follow one another in the order of Tensor, each from
/// a multiple of tensor_alignment_bytes on; inside a tensor heads follow one another without gaps.
/// `cache_line_bytes` is 32, 64 or 128.
std::vector<LineSpan> line_spans(const AtomTable& atoms, int64_t cache_line_bytes);

}  // namespace sawtooth::sim
