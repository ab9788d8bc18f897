#include "sim/sets/recency_sets.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/sets/recency_row_avx512.hpp"

namespace sawtooth::sim {
namespace {

constexpr uint32_t empty_way = UINT32_MAX;  // no part has this number

}  // namespace

RecencySets::RecencySets(const SetPartition& partition, uint32_t ways, bool hits_move,
                         VectorPath path)
    : partition_(partition), ways_(ways), hits_move_(hits_move) {
  if (!vector_path_available(path)) {
    throw std::invalid_argument("sets: this CPU or build has no such vector path");
  }
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
  if (!by_vectors_) {
    visit_scalar(visits, missed_sectors.data());
  } else if (partition_.whole_atoms()) {
    visit_whole(visits, missed_sectors.data());
  } else {
    visit_parts(visits, missed_sectors.data());
  }
}

void RecencySets::mark_held(std::span<uint8_t> held) const {
  const auto mark = [held](uint32_t tag) {
    if (tag != empty_way) held[tag] = 1;
  };
  for (const uint32_t tag : tags_) mark(tag);
  for (const RecencyRow& row : rows_) {
    for (const uint32_t tag : row.tags) mark(tag);
  }
}

inline bool RecencySets::access_lru(uint32_t* tags, uint32_t tag) const {
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

inline bool RecencySets::access_fifo(uint32_t* tags, uint32_t tag) const {
  for (uint32_t place = 0; place < ways_; ++place) {
    if (tags[place] == tag) return true;
  }
  for (uint32_t place = ways_ - 1; place > 0; --place) tags[place] = tags[place - 1];
  tags[0] = tag;
  return false;
}

void RecencySets::visit_scalar(std::span<const AtomId> visits, uint32_t* missed_sectors) {
  const SetPartition::Part* parts = partition_.parts().data();
  for (const AtomId atom : visits) {
    uint32_t missed = 0;
    const auto [begin, end] = partition_.parts_of(atom);
    for (uint32_t tag = begin; tag < end; ++tag) {
      uint32_t* tags = &tags_[size_t{parts[tag].set_class} * ways_];
      if (!(hits_move_ ? access_lru(tags, tag) : access_fifo(tags, tag))) {
        missed += parts[tag].sectors;
      }
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
      for (size_t i = 0; i < count; ++i) {
        missed_sectors[i] = found[i] == 0 ? partition_.parts()[visits[i]].sectors : 0;
      }
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
  // One loop a policy: what the loops do is so little that a choice inside would be seen.
  if (hits_move_) {
    for (size_t i = 0; i < count; ++i)
      found_ways[i] = make_first_avx512(rows[parts[tags[i]].set_class], tags[i], ways, ways);
  } else {
    for (size_t i = 0; i < count; ++i)
      found_ways[i] = make_first_avx512(rows[parts[tags[i]].set_class], tags[i], ways, 0);
  }
}

/// Atoms of several parts, which look_up() cannot take apart. The policy's choice is hidden behind
/// the loop over parts.
SAWTOOTH_ROWS_AVX512 void RecencySets::visit_parts(std::span<const AtomId> visits,
                                                   uint32_t* missed_sectors) {
  const SetPartition::Part* parts = partition_.parts().data();
  RecencyRow* rows = rows_.data();
  const uint32_t ways = (1U << ways_) - 1;
  const uint32_t moved_by_hits = hits_move_ ? ways : 0;
  for (const AtomId atom : visits) {
    uint32_t missed = 0;
    const auto [begin, end] = partition_.parts_of(atom);
    for (uint32_t tag = begin; tag < end; ++tag) {
      const SetPartition::Part part = parts[tag];
      missed +=
          make_first_avx512(rows[part.set_class], tag, ways, moved_by_hits) == 0 ? part.sectors : 0;
    }
    *missed_sectors++ = missed;
  }
}

#else

// Never called: by_vectors_ is false.
void RecencySets::look_up(const uint32_t*, size_t) {}
void RecencySets::visit_parts(std::span<const AtomId>, uint32_t*) {}

#endif

}  // namespace sawtooth::sim
