#include "sim/halves/recency_rows.hpp"

#include <algorithm>
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

RecencyRows::RecencyRows(uint32_t sets, uint32_t ways, uint32_t dirty_ways, uint32_t reduced_sets,
                         VectorPath path)
    : ways_(ways),
      dirty_ways_(dirty_ways),
      reduced_sets_(reduced_sets),
      by_vectors_((path == VectorPath::automatic || path == VectorPath::avx512) &&
                  ways <= vector_ways && vector_path_available(VectorPath::avx512)),
      vectors_a_row_((ways + vector_ways - 1) / vector_ways) {
  if (!vector_path_available(path)) {
    throw std::invalid_argument("halves: this CPU or build has no such vector path");
  }
  Vector empty;
  std::fill_n(empty.tags, vector_ways, no_tag);
  vectors_.assign(size_t{sets} * vectors_a_row_, empty);
}

PieceMask RecencyRows::touch_scalar(const uint16_t* sets, uint32_t first_tag, PieceMask which,
                                    bool write) {
  PieceMask held = 0;
  for_each_piece(which, [&](uint32_t i) {
    uint32_t* const tags = row(sets[i]);
    uint32_t* const end = tags + ways_of(sets[i]);
    const uint32_t tag = first_tag + i;
    uint32_t* at = std::find_if(tags, end, [&](uint32_t other) { return (other & no_tag) == tag; });
    const bool hit = at != end;
    if (!hit) --at;  // the last one leaves
    const uint32_t old = *at;
    // What now passes the last place that may be dirty; nothing where the tag was before that.
    uint32_t* const last = tags + std::min(dirty_ways_, ways_of(sets[i])) - 1;
    if ((!hit || at > last) && (*last & dirty) != 0) {
      *last &= no_tag;
      written_back_.push_back(*last);
    }
    std::copy_backward(tags, at, at + 1);
    *tags = tag | (write ? dirty : 0) | (hit ? old & dirty : 0);
    held |= PieceMask{hit} << i;
  });
  return held;
}

void RecencyRows::drop(uint32_t set, uint32_t tag) {
  uint32_t* const tags = row(set);
  uint32_t* const end = tags + ways_of(set);
  uint32_t* const at =
      std::find_if(tags, end, [&](uint32_t other) { return (other & no_tag) == tag; });
  if (at == end) return;
  std::copy(at + 1, end, at);
  *(end - 1) = no_tag;
}

#if defined(__x86_64__)

__attribute__((target("avx512f,bmi"))) PieceMask RecencyRows::touch_vectors(const uint16_t* sets,
                                                                            uint32_t first_tag,
                                                                            PieceMask which,
                                                                            bool write) {
  Vector* const rows = vectors_.data();
  const uint32_t all_ways = (1U << ways_) - 1;
  const uint32_t may_be_dirty = (1U << dirty_ways_) - 1;
  const uint32_t dirtied = write ? dirty : 0;
  const __m512i tag_bits = _mm512_set1_epi32(static_cast<int>(no_tag));
  const __m512i dirty_bit = _mm512_set1_epi32(static_cast<int>(dirty));
  constexpr int last_place = vector_ways - 1;
  PieceMask held = 0;
  for (; which != 0; which &= which - 1) {
    const int i = std::countr_zero(which);
    const uint32_t set = sets[i];
    const uint32_t tag = first_tag + static_cast<uint32_t>(i);
    const uint32_t ways = all_ways >> (set < reduced_sets_ ? 1 : 0);
    const __m512i old = _mm512_load_si512(&rows[set]);
    const uint32_t dirty_ways = _mm512_test_epi32_mask(old, dirty_bit);
    const uint32_t found = _mm512_cmpeq_epi32_mask(_mm512_and_si512(old, tag_bits),
                                                   _mm512_set1_epi32(static_cast<int>(tag)));
    // The last place that may be dirty, if a tag passes it.
    const uint32_t window = may_be_dirty & ways;
    const uint32_t passed = (found & window) == 0 ? window ^ (window >> 1) : 0;
    if ((dirty_ways & passed) != 0)
      written_back_.push_back(rows[set].tags[std::countr_zero(passed)] & no_tag);
    const __m512i kept = _mm512_mask_and_epi32(old, static_cast<__mmask16>(passed), old, tag_bits);
    const uint32_t own = tag | dirtied | ((dirty_ways & found) != 0 ? dirty : 0);
    const auto moving = static_cast<__mmask16>(_blsmsk_u32(found) & ways);
    _mm512_store_si512(
        &rows[set], _mm512_mask_alignr_epi32(kept, moving, kept,
                                             _mm512_set1_epi32(static_cast<int>(own)), last_place));
    held |= PieceMask{found != 0} << i;
  }
  return held;
}

#else

// Never called: by_vectors_ is false.
PieceMask RecencyRows::touch_vectors(const uint16_t*, uint32_t, PieceMask, bool) {
  return 0;
}

#endif

}  // namespace sawtooth::sim
