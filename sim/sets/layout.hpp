// Where the tiles lie in memory, in lines of the cache: what a hash needs to know.
#pragma once

#include <array>
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

/// Tensors follow one another in the order of Tensor, each from a multiple of
/// tensor_alignment_bytes on; inside a tensor heads follow one another without gaps, also where
/// those of some sequences are shorter. Paged K and V lie as sim/schedule/atoms.hpp says.
class MemoryLayout {
 public:
  /// `atoms` are runs of pages where there are pages, and else not pairs, and must outlive this;
  /// `cache_line_bytes` is 32, 64 or 128.
  MemoryLayout(const HeadAtoms& atoms, int64_t cache_line_bytes);

  /// Puts the lines of each atom of `head` behind `spans`.
  void append(Tensor tensor, int64_t head, std::vector<LineSpan>& spans) const;

 private:
  struct Place {  // of the heads of a sequence
    uint64_t begin_bytes = 0;
    uint64_t head_bytes = 0;
  };

  bool is_paged(Tensor tensor) const {
    return (tensor == Tensor::k || tensor == Tensor::v) && atoms_.paged_keys(tensor).paged();
  }

  const HeadAtoms& atoms_;
  int64_t cache_line_bytes_;
  std::array<std::vector<Place>, tensor_count> places_;
};

}  // namespace sawtooth::sim
