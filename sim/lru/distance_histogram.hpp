// The histogram of LRU stack distances, split by tensor and kind of access: all that is needed to
// say how many sectors hit or miss in a fully associative LRU of any capacity (Mattson, Gecsei,
// Slutz, Traiger, "Evaluation techniques for storage hierarchies", IBM Systems Journal 1970).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/schedule/atoms.hpp"
#include "sim/schedule/visit.hpp"

namespace sawtooth::sim {

/// One bin: `sectors` were accessed at a distance of `lines` distinct other lines.
struct DistanceBin {
  int64_t lines = 0;
  int64_t sectors = 0;
  friend bool operator==(const DistanceBin&, const DistanceBin&) = default;
};

/// The distances of one tensor under one kind of access.
class DistanceClass {
 public:
  void add(int64_t lines, int64_t sectors) { sectors_[lines] += sectors; }
  void add_cold(int64_t sectors) { cold_ += sectors; }
  void add(const DistanceClass& more);
  /// `workers` visit all `lines` lines of an atom one after the other, forwards, and so `times`
  /// over: `others` lines were touched since the last of their visits; below 0: there was none.
  void add_visits(int64_t others, int64_t lines, int64_t sectors, int64_t workers,
                  int64_t times = 1) {
    if (others < 0)
      add_cold(sectors * times);
    else
      add(others + lines - 1, sectors * times);
    if (workers > 1) add(lines - 1, sectors * times * (workers - 1));
  }

  int64_t cold_sectors() const { return cold_; }
  size_t bin_count() const { return sectors_.size(); }
  int64_t sectors() const { return misses(0); }
  /// Sectors that miss in an LRU of `capacity_lines` lines: the cold ones and every distance that
  /// is at least the capacity.
  int64_t misses(int64_t capacity_lines) const;
  /// Bins by ascending distance, without the cold ones.
  std::vector<DistanceBin> bins() const;

 private:
  std::unordered_map<int64_t, int64_t> sectors_;  // by distance
  int64_t cold_ = 0;
};

class DistanceHistogram {
 public:
  DistanceClass& of(Tensor tensor, Access access) {
    return classes_[static_cast<size_t>(tensor)][static_cast<size_t>(access)];
  }
  const DistanceClass& of(Tensor tensor, Access access) const {
    return classes_[static_cast<size_t>(tensor)][static_cast<size_t>(access)];
  }
  void add(const DistanceHistogram& more);
  int64_t cold_sectors() const;

 private:
  std::array<std::array<DistanceClass, access_count>, tensor_count> classes_;
};

// Write-backs of a fully associative LRU at every capacity in one pass.
//
// A line that was written stays dirty until it is evicted, and costs a DRAM write then. At a
// capacity C it has left between two accesses when the later one has a distance of at least C. So
// the greatest distance since its last write, its dirty level, says up to which capacity that write
// has gone out before the next one (Thompson and Smith, "Efficient (Stack) Algorithms for Analysis
// of Write-Back and Sector Memories", ACM TOCS 7(1), 1989). What is dirty at the end has gone where
// enough was touched behind it; the rest stays in the cache and is not counted.

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
