#include "sim/sets/opt_sets.hpp"

#include <algorithm>
#include <utility>

namespace sawtooth::sim {

OptSets::OptSets(const SetPartition& partition, uint32_t ways)
    : partition_(partition),
      places_(ways - 1),
      accesses_(partition.classes(), 0),
      free_since_(size_t{partition.classes()} * places_, 0) {}

void OptSets::visit(std::span<const AtomId> visits, std::span<uint32_t> missed_sectors) {
  last_.resize(partition_.parts().size(), 0);
  for (size_t i = 0; i < visits.size(); ++i) {
    uint32_t missed = 0;
    const auto [begin, end] = partition_.parts_of(visits[i]);
    for (uint32_t part = begin; part < end; ++part) {
      const SetPartition::Part& line = partition_.parts()[part];
      if (!access(line.set_class, part)) missed += line.sectors;
    }
    missed_sectors[i] = missed;
  }
}

void OptSets::forget(AtomId atom) {
  last_.resize(partition_.parts().size(), 0);
  const auto [begin, end] = partition_.parts_of(atom);
  std::fill(last_.begin() + begin, last_.begin() + end, uint64_t{0});
}

bool OptSets::access(uint32_t set, uint32_t part) {
  const uint64_t now = ++accesses_[set];
  const uint64_t last = std::exchange(last_[part], now);
  if (last == 0) return false;
  if (last + 1 == now) return true;  // no place had to be kept
  // The place that came free last, but not later than the access that followed.
  const auto first = free_since_.begin() + static_cast<ptrdiff_t>(size_t{set} * places_);
  const auto end = first + places_;
  auto best = end;
  for (auto place = first; place != end; ++place) {
    if (*place <= last + 1 && (best == end || *place > *best)) best = place;
  }
  if (best == end) return false;
  *best = now;
  return true;
}

}  // namespace sawtooth::sim
