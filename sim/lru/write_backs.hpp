// Write-backs of a fully associative LRU at every capacity in one pass.
//
// A line that was written stays dirty until it is evicted, and costs a DRAM write then. At a
// capacity C it has left between two accesses when the later one has a distance of at least C. So
// the greatest distance since its last write, its dirty level, says up to which capacity that write
// has gone out before the next one (Thompson and Smith, "Efficient (Stack) Algorithms for Analysis
// of Write-Back and Sector Memories", ACM TOCS 7(1), 1989). What is dirty at the end has gone where
// enough was touched behind it; the rest stays in the cache and is not counted.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/lru/distance_histogram.hpp"
#include "sim/schedule/atoms.hpp"
#include "sim/schedule/visit.hpp"

namespace sawtooth::sim {

class WriteBacks {
 public:
  /// A visit of `visit.times` workers to an atom of size `size`, whose lines have the distance
  /// `lines` at the first of them; negative: the atom's first visit.
  void visit(const Visit& visit, const AtomSize& size, int64_t lines);

  /// Call it after the last visit, with all atoms visited, the most recent first, and the sizes of
  /// atoms by number.
  void finish(std::span<const AtomId> recency, std::span<const AtomSize> sizes);

  /// Sectors of `tensor` that an LRU of `capacity_lines` lines has written to DRAM.
  int64_t sectors(Tensor tensor, int64_t capacity_lines) const;

 private:
  static constexpr int64_t clean = -1;

  // Dirty at the end; `behind` are the lines touched since its last visit.
  struct Left {
    AtomSize size;
    int64_t behind = 0;
    int64_t level = 0;
  };

  std::vector<int64_t> level_;  // of an atom, or clean
  std::array<DistanceClass, tensor_count> written_again_;
  std::vector<Left> left_;
};

}  // namespace sawtooth::sim
