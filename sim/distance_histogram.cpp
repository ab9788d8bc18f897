#include "sim/distance_histogram.hpp"

#include <algorithm>
#include <map>

namespace sawtooth::sim {

int64_t DistanceClass::sectors() const {
  int64_t sum = cold_;
  for (const auto& [lines, sectors] : bins_) sum += sectors;
  return sum;
}

int64_t DistanceClass::misses(int64_t capacity_lines) const {
  int64_t sum = cold_;
  for (const auto& [lines, sectors] : bins_) {
    if (lines >= capacity_lines) sum += sectors;
  }
  return sum;
}

std::vector<DistanceBin> DistanceClass::bins() const {
  std::vector<DistanceBin> sorted;
  sorted.reserve(bins_.size());
  for (const auto& [lines, sectors] : bins_) sorted.push_back({lines, sectors});
  std::sort(sorted.begin(), sorted.end(),
            [](const DistanceBin& a, const DistanceBin& b) { return a.lines < b.lines; });
  return sorted;
}

std::vector<DistanceBin> DistanceHistogram::merged_bins() const {
  std::map<int64_t, int64_t> merged;
  for (const auto& by_access : classes_) {
    for (const DistanceClass& distances : by_access) {
      for (const DistanceBin& bin : distances.bins()) merged[bin.lines] += bin.sectors;
    }
  }
  std::vector<DistanceBin> bins;
  bins.reserve(merged.size());
  for (const auto& [lines, sectors] : merged) bins.push_back({lines, sectors});
  return bins;
}

int64_t DistanceHistogram::cold_sectors() const {
  int64_t sum = 0;
  for (const auto& by_access : classes_) {
    for (const DistanceClass& distances : by_access) sum += distances.cold_sectors();
  }
  return sum;
}

}  // namespace sawtooth::sim
