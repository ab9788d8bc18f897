#include "sim/lru/distance_histogram.hpp"

#include <algorithm>

#include "scheduler/integer_math.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::sim {

void DistanceClass::add(const DistanceClass& more) {
  add_cold(more.cold_);
  for (const auto& [lines, sectors] : more.sectors_) add(lines, sectors);
}

int64_t DistanceClass::misses(int64_t capacity_lines) const {
  int64_t sum = cold_;
  for (const auto& [lines, sectors] : sectors_)
    if (lines >= capacity_lines) sum += sectors;
  return sum;
}

std::vector<DistanceBin> DistanceClass::bins() const {
  std::vector<DistanceBin> sorted;
  sorted.reserve(sectors_.size());
  for (const auto& [lines, sectors] : sectors_) sorted.push_back({lines, sectors});
  std::ranges::sort(sorted, {}, &DistanceBin::lines);
  return sorted;
}

void DistanceHistogram::add(const DistanceHistogram& more) {
  for (size_t tensor = 0; tensor < classes_.size(); ++tensor)
    for (size_t access = 0; access < classes_[tensor].size(); ++access)
      classes_[tensor][access].add(more.classes_[tensor][access]);
}

int64_t DistanceHistogram::cold_sectors() const {
  int64_t sum = 0;
  for (const auto& by_access : classes_)
    for (const DistanceClass& distances : by_access) sum += distances.cold_sectors();
  return sum;
}

void WriteBacks::visit(const Visit& visit, const AtomSize& size, int64_t lines) {
  if (visit.atom >= level_.size()) level_.resize(visit.atom + size_t{1}, clean);
  int64_t& level = level_[visit.atom];
  const int64_t own = size.lines - int64_t{1};  // distance of the workers behind the first
  if (level != clean) level = std::max(level, lines);
  if (visit.access == Access::read || visit.access == Access::prefetch) {
    if (level != clean && visit.times > 1) level = std::max(level, own);
    return;
  }
  DistanceClass& written = written_again_[size.tensor];
  if (level != clean) written.add(level, size.sectors);
  if (visit.times > 1) written.add(own, int64_t{size.sectors} * (visit.times - 1));
  level = 0;
}

void WriteBacks::finish(std::span<const AtomId> recency, std::span<const AtomSize> sizes) {
  int64_t behind = 0;
  for (const AtomId atom : recency) {
    const AtomSize& size = sizes[atom];
    if (level_[atom] != clean) left_.push_back({size, behind, level_[atom]});
    behind += size.lines;
  }
}

int64_t WriteBacks::sectors(Tensor tensor, int64_t capacity_lines) const {
  int64_t sum = written_again_[static_cast<size_t>(tensor)].misses(capacity_lines);
  for (const Left& left : left_) {
    if (left.size.tensor != static_cast<uint8_t>(tensor)) continue;
    // Its first lines are the first to leave.
    const int64_t lines =
        left.level >= capacity_lines
            ? left.size.lines
            : clamp_to(left.behind + left.size.lines - capacity_lines, 0, left.size.lines);
    sum += min_of(lines * sectors_per_line, left.size.sectors);
  }
  return sum;
}

}  // namespace sawtooth::sim
