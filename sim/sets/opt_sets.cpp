#include "sim/sets/opt_sets.hpp"

#include <algorithm>
#include <stdexcept>

namespace sawtooth::sim {

std::vector<uint32_t> next_visits(std::span<const AtomId> visits, size_t atoms) {
  if (visits.size() >= UINT32_MAX) {
    throw std::invalid_argument("opt: " + std::to_string(visits.size()) +
                                " visits of tiles; allowed: fewer than 2^32 - 1");
  }
  std::vector<uint32_t> next(visits.size());
  std::vector<uint32_t> later(atoms, UINT32_MAX);
  for (size_t i = visits.size(); i-- > 0;) {
    next[i] = later[visits[i]];
    later[visits[i]] = static_cast<uint32_t>(i);
  }
  return next;
}

OptSets::OptSets(const SetPartition& partition, uint32_t ways, std::span<const AtomId> all_visits)
    : partition_(partition),
      ways_(ways),
      next_visit_(next_visits(all_visits, partition.atoms())),
      table_(size_t{partition.classes()} * ways) {}

void OptSets::visit(std::span<const AtomId> visits, std::span<uint32_t> missed_sectors) {
  for (size_t i = 0; i < visits.size(); ++i) {
    uint32_t missed = 0;
    const uint64_t next = uint64_t{next_visit_[now_++]} << 32;
    const uint32_t end = partition_.first_part(visits[i] + 1);
    for (uint32_t part = partition_.first_part(visits[i]); part < end; ++part) {
      const SetPartition::Part& line = partition_.parts()[part];
      const auto first = table_.begin() + static_cast<ptrdiff_t>(size_t{line.set_class} * ways_);
      const auto last = first + ways_;
      auto way = std::find_if(first, last, [&](const Way& held) { return held.part == part; });
      if (way == last) {
        missed += line.sectors;
        way = std::max_element(first, last,
                               [](const Way& a, const Way& b) { return a.needed < b.needed; });
      }
      // A line that is never needed again stays below an empty way: UINT32_MAX is no part.
      *way = {part, next | part};
    }
    missed_sectors[i] = missed;
  }
}

}  // namespace sawtooth::sim
