// The histogram of LRU stack distances, split by tensor and kind of access: all that is needed to
// say how many sectors hit or miss in a fully associative LRU of any capacity (Mattson, Gecsei,
// Slutz, Traiger, "Evaluation techniques for storage hierarchies", IBM Systems Journal 1970).
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/atoms.hpp"
#include "sim/visit.hpp"

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
  void add(int64_t lines, int64_t sectors) {
    if (lines != last_lines_) {
      last_bin_ = &bins_[lines];  // references into an unordered_map outlive rehashing
      last_lines_ = lines;
    }
    *last_bin_ += sectors;
  }
  void add_cold(int64_t sectors) { cold_ += sectors; }

  int64_t cold_sectors() const { return cold_; }
  size_t bin_count() const { return bins_.size(); }
  int64_t sectors() const;
  /// Sectors that miss in an LRU of `capacity_lines` lines: the cold ones and every distance that
  /// is at least the capacity.
  int64_t misses(int64_t capacity_lines) const;
  /// Bins by ascending distance, without the cold ones.
  std::vector<DistanceBin> bins() const;

  DistanceClass() = default;
  DistanceClass(const DistanceClass& other) : bins_(other.bins_), cold_(other.cold_) {}
  DistanceClass& operator=(const DistanceClass& other) {
    bins_ = other.bins_;
    cold_ = other.cold_;
    last_lines_ = no_bin;
    return *this;
  }

 private:
  static constexpr int64_t no_bin = -1;
  std::unordered_map<int64_t, int64_t> bins_;
  int64_t cold_ = 0;
  int64_t last_lines_ = no_bin;
  int64_t* last_bin_ = nullptr;
};

class DistanceHistogram {
 public:
  DistanceClass& of(Tensor tensor, Access access) {
    return classes_[static_cast<size_t>(tensor)][static_cast<size_t>(access)];
  }
  const DistanceClass& of(Tensor tensor, Access access) const {
    return classes_[static_cast<size_t>(tensor)][static_cast<size_t>(access)];
  }
  /// All tensors and accesses in one list by ascending distance.
  std::vector<DistanceBin> merged_bins() const;
  int64_t cold_sectors() const;

 private:
  std::array<std::array<DistanceClass, access_count>, tensor_count> classes_;
};

}  // namespace sawtooth::sim
