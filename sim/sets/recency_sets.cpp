#include "sim/sets/recency_sets.hpp"

#include <stdexcept>

#if defined(__x86_64__)
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 takes the undefined operands inside its own AVX-512 intrinsics for ours (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#endif

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
    Row row;
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
    visit_whole_avx512(visits, missed_sectors.data());
  } else {
    visit_avx512(visits, missed_sectors.data());
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
  const uint32_t* first_part = partition_.first_parts().data();
  const SetPartition::Part* parts = partition_.parts().data();
  for (const AtomId atom : visits) {
    uint32_t missed = 0;
    const uint32_t end = first_part[atom + 1];
    for (uint32_t tag = first_part[atom]; tag < end; ++tag) {
      uint32_t* tags = &tags_[size_t{parts[tag].set_class} * ways_];
      if (!(hits_move_ ? access_lru(tags, tag) : access_fifo(tags, tag))) {
        missed += parts[tag].sectors;
      }
    }
    *missed_sectors++ = missed;
  }
}

#if defined(__x86_64__)

#define SAWTOOTH_AVX512 __attribute__((target("avx512f")))

namespace {

/// The ways where `tag` was found, one or none. `ways` has a bit for every way, and `hits_move` all
/// bits or none.
SAWTOOTH_AVX512 inline uint32_t access(RecencySets::Row* row, uint32_t tag, uint32_t ways,
                                       uint32_t hits_move) {
  const __m512i tags = _mm512_load_si512(row);
  const __m512i own = _mm512_set1_epi32(static_cast<int>(tag));
  const uint32_t found = _mm512_cmpeq_epi32_mask(tags, own);
  // The places up to the one that was found, or all on a miss, take what stood before them.
  const uint32_t moving = (found ^ (found - 1)) & ways & (found == 0 ? ~0U : hits_move);
  constexpr int last_place = RecencySets::vector_ways - 1;
  const __m512i moved = _mm512_alignr_epi32(tags, own, last_place);
  _mm512_store_si512(row, _mm512_mask_mov_epi32(tags, static_cast<__mmask16>(moving), moved));
  return found;
}

}  // namespace

SAWTOOTH_AVX512 void RecencySets::visit_avx512(std::span<const AtomId> visits,
                                               uint32_t* missed_sectors) {
  const uint32_t* first_part = partition_.first_parts().data();
  const SetPartition::Part* parts = partition_.parts().data();
  Row* rows = rows_.data();
  const uint32_t ways = (1U << ways_) - 1;
  const uint32_t hits_move = hits_move_ ? ~0U : 0;
  for (const AtomId atom : visits) {
    uint32_t missed = 0;
    const uint32_t end = first_part[atom + 1];
    for (uint32_t tag = first_part[atom]; tag < end; ++tag) {
      const SetPartition::Part part = parts[tag];
      const uint32_t found = access(&rows[part.set_class], tag, ways, hits_move);
      missed += found == 0 ? part.sectors : 0;
    }
    *missed_sectors++ = missed;
  }
}

/// visit_avx512() where part numbers are atom numbers.
SAWTOOTH_AVX512 void RecencySets::visit_whole_avx512(std::span<const AtomId> visits,
                                                     uint32_t* missed_sectors) {
  const SetPartition::Part* parts = partition_.parts().data();
  Row* rows = rows_.data();
  const uint32_t ways = (1U << ways_) - 1;
  const uint32_t hits_move = hits_move_ ? ~0U : 0;
  for (const AtomId atom : visits) {
    const SetPartition::Part part = parts[atom];
    const uint32_t found = access(&rows[part.set_class], atom, ways, hits_move);
    *missed_sectors++ = found == 0 ? part.sectors : 0;
  }
}

#else

void RecencySets::visit_avx512(std::span<const AtomId> visits, uint32_t* missed_sectors) {
  visit_scalar(visits, missed_sectors);
}
void RecencySets::visit_whole_avx512(std::span<const AtomId> visits, uint32_t* missed_sectors) {
  visit_scalar(visits, missed_sectors);
}

#endif

}  // namespace sawtooth::sim
