#include "sim/halves/lru_sets.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sawtooth::sim {

LruSets::LruSets(uint32_t sets, uint32_t ways, uint32_t dirty_ways, uint32_t reduced_sets,
                 VectorPath path)
    : ways_(ways),
      dirty_ways_(dirty_ways),
      reduced_sets_(reduced_sets),
      rows_a_set_((ways + RecencyRow::ways - 1) / RecencyRow::ways),
      renew_(renewer(path)),
      rows_(size_t{sets} * rows_a_set_) {
  for (RecencyRow& row : rows_) std::fill_n(row.tags, RecencyRow::ways, no_line);
  if (rows_a_set_ == 1)
    for (uint32_t set = 0; set < sets; ++set)
      way_bits_.push_back(static_cast<uint16_t>((1u << this->ways(set)) - 1));
  grow(0);
}

LruSets::Renew LruSets::renewer(VectorPath path) const {
  if (!vector_path_available(path))
    throw std::invalid_argument("halves: this CPU or build has no such vector path");
  if (rows_a_set_ > 1) return &LruSets::renew_lines;
  const auto takes = [path](VectorPath one) {
    return path == one || (path == VectorPath::automatic && vector_path_available(one));
  };
  if (takes(VectorPath::avx512)) return &LruSets::renew_avx512;
  if (takes(VectorPath::avx2)) return &LruSets::renew_avx2;
  return &LruSets::renew_portable;
}

template <class Vector>
[[gnu::always_inline]] inline PieceMask LruSets::renew_by(const LineSets& sets, uint32_t first,
                                                          PieceMask which, uint32_t flag,
                                                          bool spares) {
  const uint16_t* const set_of = sets.sets() + first;
  const RowYouths* const youths = &row_youths[ways_];
  RecencyRow* const rows = rows_.data();
  const uint32_t reduced_sets = reduced_sets_;
  PieceMask held = 0;
  for (; which != 0; which &= which - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(which));
    const uint32_t set = set_of[i];
    const bool was_held = spares && spares_oldest(set)
                              ? touch_line(set, first + i, Access::read)
                              : make_first<Vector>(rows[set], (first | flag) + i,
                                                   set < reduced_sets ? youths[-1] : youths[0]);
    held |= PieceMask{was_held} << i;
  }
  return held;
}

PieceMask LruSets::renew_portable(const LineSets& sets, uint32_t first, PieceMask which,
                                  uint32_t flag) {
  return reduced_lines_ == 0 ? renew_by<RowVector16>(sets, first, which, flag, false)
                             : renew_by<RowVector16>(sets, first, which, flag, true);
}

PieceMask LruSets::renew_lines(const LineSets& sets, uint32_t first, PieceMask which,
                               uint32_t /*flag*/) {
  return touch_lines(sets, first, which, Access::read);
}

#if defined(__x86_64__)

#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 takes the undefined operands inside its own AVX-512 intrinsics for ours (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#define SAWTOOTH_ROWS_AVX512 [[gnu::target("avx512f,bmi")]]

/// make_first() on a row as one vector, of a set whose ways are the bits of `ways`. Returns the way
/// where the tag was, as a bit.
SAWTOOTH_ROWS_AVX512 [[gnu::always_inline]] static inline uint32_t make_first_avx512(
    RecencyRow& row, uint32_t tag, uint32_t ways) {
  constexpr int last_way = RecencyRow::ways - 1;
  const __m512i held = _mm512_load_si512(&row);
  const __m512i own = _mm512_set1_epi32(static_cast<int>(tag));
  const uint32_t found = _mm512_cmpeq_epi32_mask(held, own);
  const uint32_t moving = _blsmsk_u32(found) & ways;
  _mm512_store_si512(
      &row, _mm512_mask_alignr_epi32(held, static_cast<__mmask16>(moving), held, own, last_way));
  return found;
}

[[gnu::target("avx2")]] PieceMask LruSets::renew_avx2(const LineSets& sets, uint32_t first,
                                                      PieceMask which, uint32_t flag) {
  return reduced_lines_ == 0 ? renew_by<RowVector32>(sets, first, which, flag, false)
                             : renew_by<RowVector32>(sets, first, which, flag, true);
}

// In sets that no reduction has changed, which are most.
SAWTOOTH_ROWS_AVX512 PieceMask LruSets::renew_avx512(const LineSets& sets, uint32_t first,
                                                     PieceMask which, uint32_t flag) {
  if (reduced_lines_ != 0) return renew_avx2(sets, first, which, flag);
  const uint16_t* const set_of = sets.sets() + first;
  const uint16_t* const way_bits = way_bits_.data();
  RecencyRow* const rows = rows_.data();
  const auto renew = [&](uint32_t i) __attribute__((always_inline, target("avx512f,bmi")))
                         ->PieceMask {
    const uint32_t set = set_of[i];
    return PieceMask{make_first_avx512(rows[set], (first | flag) + i, way_bits[set]) != 0} << i;
  };
  PieceMask held = 0;
  if ((which & (which + 1)) == 0) {  // from the first one on, as most are
    const auto count = static_cast<uint32_t>(std::bit_width(which));
    for (uint32_t i = 0; i < count; ++i) held |= renew(i);
  } else {
    for (; which != 0; which &= which - 1)
      held |= renew(static_cast<uint32_t>(std::countr_zero(which)));
  }
  return held;
}

#else

PieceMask LruSets::renew_avx2(const LineSets& sets, uint32_t first, PieceMask which,
                              uint32_t flag) {
  return renew_lines(sets, first, which, flag);
}
PieceMask LruSets::renew_avx512(const LineSets& sets, uint32_t first, PieceMask which,
                                uint32_t flag) {
  return renew_lines(sets, first, which, flag);
}

#endif

PieceMask LruSets::touch_lines(const LineSets& sets, uint32_t first, PieceMask which,
                               Access access) {
  PieceMask held = 0;
  for_each_piece(which, [&](uint32_t i) {
    held |= PieceMask{touch_line(sets.of(first + i), first + i, access)} << i;
  });
  return held;
}

// How many of its set are younger; all, if it is not held.
uint32_t LruSets::place_of(uint32_t set, uint32_t line) const {
  const uint32_t* const lines = this->lines(set);
  uint32_t found = 0;
  for (uint32_t way = 0; way < rows_a_set_ * RecencyRow::ways; ++way)
    found |= (lines[way] & ~reduced) == line ? way + 1 : 0;
  return found == 0 ? ways(set) : found - 1;
}

// Returns whether it was held.
bool LruSets::touch_line(uint32_t set, uint32_t line, Access access) {
  uint32_t* const lines = this->lines(set);
  uint32_t place = place_of(set, line);
  const bool held = place < ways(set);
  if (!held) {
    make_room(set);
    place = ways(set) - 1;
  }
  const bool was_reduced = reduced_.of(line);
  if ((!held || place >= dirty_ways_) && !was_reduced && dirty_.of(line)) write_back(line);
  std::copy_backward(lines, lines + place, lines + place + 1);
  if (access == Access::reduce && !was_reduced) {
    reduced_.set(line);
    ++reduced_lines_;
  }
  if (access == Access::write && was_reduced) no_more_reduced(line);
  if (changes(access)) dirty_.set(line);
  lines[0] = reduced_.of(line) ? line | reduced : line;
  return held;
}

// Makes one that may leave the oldest line. Those that were reduced and are older than it are
// written back and stay; where all were reduced, the oldest leaves.
void LruSets::make_room(uint32_t set) {
  if (!spares_oldest(set)) return;
  uint32_t* const first = lines(set);
  uint32_t* const end = first + ways(set);
  const auto clean = [this](uint32_t& line) {
    line &= ~reduced;
    no_more_reduced(line);
    write_back(line);
  };
  uint32_t* leaves = end - 1;
  while (leaves != first && (*leaves & reduced) != 0) --leaves;
  if ((*leaves & reduced) != 0) return clean(*(end - 1));
  std::for_each(leaves + 1, end, clean);
  std::rotate(leaves, leaves + 1, end);
}

void LruSets::drop(const LineSets& sets, uint32_t line) {
  const uint32_t set = sets.of(line);
  const uint32_t place = place_of(set, line);
  if (place == ways(set)) return;
  uint32_t* const lines = this->lines(set);
  // Those that are old while the line is there.
  for (uint32_t old = dirty_ways_; old < ways(set); ++old)
    if (lines[old] < no_line && dirty_.of(lines[old])) write_back(lines[old]);
  if (reduced_.of(line)) no_more_reduced(line);
  dirty_.clear(line);
  std::copy(lines + place + 1, lines + ways(set), lines + place);
  lines[ways(set) - 1] = no_line;
}

void LruSets::settle(const LineSets& sets) {
  for (uint32_t first = 0; first < sets.lines(); first += pieces_a_mask) {
    for_each_piece(dirty_.from(first), [&](uint32_t i) {
      const uint32_t line = first + i, set = sets.of(line), place = place_of(set, line);
      if (place == ways(set) || (place >= dirty_ways_ && lines(set)[place] == line))
        write_back(line);
    });
  }
}

void LruSets::no_more_reduced(uint32_t line) {
  reduced_.clear(line);
  --reduced_lines_;
}

void LruSets::write_back(uint32_t line) {
  dirty_.clear(line);
  written_back_.push_back(line);
}

}  // namespace sawtooth::sim
