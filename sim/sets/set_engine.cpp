#include "sim/sets/set_engine.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/sets/policy_sets.hpp"
#include "sim/sets/recency_row_avx512.hpp"

namespace sawtooth::sim {

namespace {

constexpr uint32_t empty_way = UINT32_MAX;  // no part has this number

}  // namespace

std::unique_ptr<SetEngine> make_set_engine(const SetPartition& partition,
                                           const SetGeometry& geometry,
                                           const SetsParameters& parameters,
                                           const std::vector<Priority>* priorities) {
  const auto ways = static_cast<uint32_t>(geometry.ways);
  if (parameters.policy == SetPolicy::opt) return std::make_unique<OptSets>(partition, ways);
  if (priorities == nullptr && parameters.policy == SetPolicy::lru)
    return std::make_unique<RecencySets>(partition, ways, parameters.path);
  return with_policy(parameters.policy, partition.classes(), ways, parameters.seed,
                     [&](auto policy) -> std::unique_ptr<SetEngine> {
                       return std::make_unique<PolicySets<decltype(policy)>>(
                           partition, geometry, std::move(policy), priorities);
                     });
}

RecencySets::RecencySets(const SetPartition& partition, uint32_t ways, VectorPath path)
    : partition_(partition), ways_(ways) {
  if (!vector_path_available(path))
    throw std::invalid_argument("sets: this CPU or build has no such vector path");
  by_vectors_ = (path == VectorPath::automatic || path == VectorPath::avx512) &&
                ways <= vector_ways && vector_path_available(VectorPath::avx512);
  if (by_vectors_) {
    RecencyRow row;
    for (uint32_t& tag : row.tags) tag = empty_way;
    rows_.assign(partition.classes(), row);
  } else {
    tags_.assign(size_t{partition.classes()} * ways, empty_way);
  }
}

void RecencySets::visit(std::span<const AtomId> visits, std::span<uint32_t> missed_sectors) {
  if (!by_vectors_)
    visit_scalar(visits, missed_sectors.data());
  else if (partition_.whole_atoms())
    visit_whole(visits, missed_sectors.data());
  else
    visit_parts(visits, missed_sectors.data());
}

void RecencySets::mark_held(std::span<uint8_t> held) const {
  const auto mark = [held](uint32_t tag) {
    if (tag != empty_way) held[tag] = 1;
  };
  for (const uint32_t tag : tags_) mark(tag);
  for (const RecencyRow& row : rows_)
    for (const uint32_t tag : row.tags) mark(tag);
}

inline bool RecencySets::access(uint32_t* tags, uint32_t tag) const {
  // Each tag moves one place on, until the one that was looked for has left its own.
  uint32_t moved = tag;
  for (uint32_t place = 0; place < ways_; ++place) {
    const uint32_t old = tags[place];
    tags[place] = moved;
    if (old == tag) return true;
    moved = old;
  }
  return false;
}

void RecencySets::visit_scalar(std::span<const AtomId> visits, uint32_t* missed_sectors) {
  const SetPartition::Part* parts = partition_.parts().data();
  for (const AtomId atom : visits) {
    uint32_t missed = 0;
    const auto [begin, end] = partition_.parts_of(atom);
    for (uint32_t tag = begin; tag < end; ++tag) {
      uint32_t* tags = &tags_[size_t{parts[tag].set_class} * ways_];
      if (!access(tags, tag)) missed += parts[tag].sectors;
    }
    *missed_sectors++ = missed;
  }
}

void RecencySets::visit_whole(std::span<const AtomId> visits, uint32_t* missed_sectors) {
  const uint32_t sectors = partition_.one_size_sectors();
  const uint32_t* found = found_.data();
  while (!visits.empty()) {
    const size_t count = std::min(visits.size(), slice_accesses);
    look_up(visits.data(), count);  // part numbers are atom numbers
    if (sectors != 0) {
      for (size_t i = 0; i < count; ++i) missed_sectors[i] = found[i] == 0 ? sectors : 0;
    } else {
      for (size_t i = 0; i < count; ++i)
        missed_sectors[i] = found[i] == 0 ? partition_.parts()[visits[i]].sectors : 0;
    }
    visits = visits.subspan(count);
    missed_sectors += count;
  }
}

#if defined(__x86_64__)

SAWTOOTH_ROWS_AVX512 void RecencySets::look_up(const uint32_t* tags, size_t count) {
  RecencyRow* rows = rows_.data();
  const SetPartition::Part* parts = partition_.parts().data();
  uint32_t* found_ways = found_.data();
  const uint32_t ways = (1U << ways_) - 1;
  for (size_t i = 0; i < count; ++i)
    found_ways[i] = make_first_avx512(rows[parts[tags[i]].set_class], tags[i], ways);
}

/// Atoms of several parts, which look_up() cannot take apart.
SAWTOOTH_ROWS_AVX512 void RecencySets::visit_parts(std::span<const AtomId> visits,
                                                   uint32_t* missed_sectors) {
  const SetPartition::Part* parts = partition_.parts().data();
  RecencyRow* rows = rows_.data();
  const uint32_t ways = (1U << ways_) - 1;
  for (const AtomId atom : visits) {
    uint32_t missed = 0;
    const auto [begin, end] = partition_.parts_of(atom);
    for (uint32_t tag = begin; tag < end; ++tag) {
      const SetPartition::Part part = parts[tag];
      missed += make_first_avx512(rows[part.set_class], tag, ways) == 0 ? part.sectors : 0;
    }
    *missed_sectors++ = missed;
  }
}

#else

// Never called: by_vectors_ is false.
void RecencySets::look_up(const uint32_t*, size_t) {}
void RecencySets::visit_parts(std::span<const AtomId>, uint32_t*) {}

#endif

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
  for (auto place = first; place != end; ++place)
    if (*place <= last + 1 && (best == end || *place > *best)) best = place;
  if (best == end) return false;
  *best = now;
  return true;
}

}  // namespace sawtooth::sim
