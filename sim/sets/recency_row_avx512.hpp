// A row of recency_row.hpp as one vector. For source files alone: it silences warnings.
#pragma once

#if defined(__x86_64__)

#include <cstdint>

#include <immintrin.h>

#include "sim/sets/recency_row.hpp"

#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 takes the undefined operands inside its own AVX-512 intrinsics for ours (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

/// Functions that call make_first_avx512() have this target.
#define SAWTOOTH_ROWS_AVX512 [[gnu::target("avx512f,bmi")]]

namespace sawtooth::sim {

/// Makes `tag` the first one of a set whose ways are the bits of `ways`, under LRU. Returns the way
/// where the tag was, as a bit.
SAWTOOTH_ROWS_AVX512 [[gnu::always_inline]] inline uint32_t make_first_avx512(RecencyRow& row,
                                                                              uint32_t tag,
                                                                              uint32_t ways) {
  constexpr int last_way = RecencyRow::ways - 1;
  const __m512i held = _mm512_load_si512(&row);
  const __m512i own = _mm512_set1_epi32(static_cast<int>(tag));
  const uint32_t found = _mm512_cmpeq_epi32_mask(held, own);
  const uint32_t moving = _blsmsk_u32(found) & ways;
  _mm512_store_si512(
      &row, _mm512_mask_alignr_epi32(held, static_cast<__mmask16>(moving), held, own, last_way));
  return found;
}

}  // namespace sawtooth::sim

#endif
