// The histogram of LRU stack distances, split by tensor and kind of access: all that is needed to
// say how many sectors hit or miss in a fully associative LRU of any capacity (Mattson, Gecsei,
// Slutz, Traiger, "Evaluation techniques for storage hierarchies", IBM Systems Journal 1970).
#pragma once

#include <array>
#include <cstdint>
#include <span>
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

/// The distances of one tensor under one kind of access: a hash table with open addressing, because
/// a sawtooth has almost as many bins as visits.
class DistanceClass {
 public:
  void add(int64_t lines, int64_t sectors) {
    // Neighbours in a scan mostly have the same distance.
    if (table_[last_].lines != lines) last_ = place_of(lines);
    table_[last_].sectors += sectors;
  }
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
  size_t bin_count() const { return used_; }
  int64_t sectors() const;
  /// Sectors that miss in an LRU of `capacity_lines` lines: the cold ones and every distance that
  /// is at least the capacity.
  int64_t misses(int64_t capacity_lines) const;
  /// Bins by ascending distance, without the cold ones.
  std::vector<DistanceBin> bins() const;

 private:
  static constexpr int64_t free = -1;
  static constexpr int initial_bits = 4;

  // Multiplicative hashing by the golden ratio (Knuth, TAOCP 3, 6.4) spreads even steps evenly.
  size_t home(int64_t lines) const {
    return size_t(uint64_t(lines) * 0x9e3779b97f4a7c15 >> (64 - table_bits_));
  }
  size_t next(size_t place) const { return (place + 1) & (table_.size() - 1); }
  size_t place_of(int64_t lines) {
    size_t place = home(lines);
    while (table_[place].lines != lines) {
      if (table_[place].lines == free) return claim(lines);
      place = next(place);
    }
    return place;
  }
  size_t claim(int64_t lines);
  size_t free_place(int64_t lines) const;

  int table_bits_ = initial_bits;
  std::vector<DistanceBin> table_ =
      std::vector<DistanceBin>(size_t{1} << initial_bits, DistanceBin{free, 0});
  size_t used_ = 0;  // at most half of the table
  size_t last_ = 0;  // the place that was added to
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
