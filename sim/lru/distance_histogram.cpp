#include "sim/lru/distance_histogram.hpp"

#include <algorithm>
#include <map>

namespace sawtooth::sim {

/// A place of its own for a distance that is new.
size_t DistanceClass::claim(int64_t lines) {
  if (2 * (used_ + 1) > table_.size()) {
    ++table_bits_;
    std::vector<DistanceBin> larger(size_t{1} << table_bits_, DistanceBin{free, 0});
    table_.swap(larger);
    for (const DistanceBin& bin : larger)
      if (bin.lines != free) table_[free_place(bin.lines)] = bin;
  }
  ++used_;
  const size_t place = free_place(lines);
  table_[place].lines = lines;
  return place;
}

size_t DistanceClass::free_place(int64_t lines) const {
  size_t place = home(lines);
  while (table_[place].lines != free) place = next(place);
  return place;
}

void DistanceClass::add(const DistanceClass& more) {
  add_cold(more.cold_);
  for (const DistanceBin& bin : more.table_)
    if (bin.lines != free) add(bin.lines, bin.sectors);
}

int64_t DistanceClass::sectors() const {
  int64_t sum = cold_;
  for (const DistanceBin& bin : table_) sum += bin.sectors;
  return sum;
}

int64_t DistanceClass::misses(int64_t capacity_lines) const {
  int64_t sum = cold_;
  for (const DistanceBin& bin : table_)
    if (bin.lines >= capacity_lines) sum += bin.sectors;
  return sum;
}

std::vector<DistanceBin> DistanceClass::bins() const {
  std::vector<DistanceBin> sorted;
  sorted.reserve(used_);
  for (const DistanceBin& bin : table_)
    if (bin.lines != free) sorted.push_back(bin);
  std::sort(sorted.begin(), sorted.end(),
            [](const DistanceBin& a, const DistanceBin& b) { return a.lines < b.lines; });
  return sorted;
}

void DistanceHistogram::add(const DistanceHistogram& more) {
  for (size_t tensor = 0; tensor < classes_.size(); ++tensor)
    for (size_t access = 0; access < classes_[tensor].size(); ++access)
      classes_[tensor][access].add(more.classes_[tensor][access]);
}

std::vector<DistanceBin> DistanceHistogram::merged_bins() const {
  std::map<int64_t, int64_t> merged;
  for (const auto& by_access : classes_)
    for (const DistanceClass& distances : by_access)
      for (const DistanceBin& bin : distances.bins()) merged[bin.lines] += bin.sectors;
  std::vector<DistanceBin> bins;
  bins.reserve(merged.size());
  for (const auto& [lines, sectors] : merged) bins.push_back({lines, sectors});
  return bins;
}

int64_t DistanceHistogram::cold_sectors() const {
  int64_t sum = 0;
  for (const auto& by_access : classes_)
    for (const DistanceClass& distances : by_access) sum += distances.cold_sectors();
  return sum;
}

}  // namespace sawtooth::sim
