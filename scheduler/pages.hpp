// Pages: K and V of a sequence lie in pages of `rows` keys each, which a table names (Kwon et al.,
// "PagedAttention", arXiv 2309.06180). A page holds its keys of all K/V heads. Key j of a sequence
// stands in row j mod rows of the page that its table has at j / rows.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"
#include "scheduler/integer_math.hpp"
#include "scheduler/permutation.hpp"

namespace sawtooth {

struct Pages {
  int64_t rows = 0;  // keys a page; 0: K and V are not paged
  /// The page of each run of `rows` keys, `stride` entries a sequence. Not owned; memory of the
  /// side that reads it.
  const int32_t* table = nullptr;
  int64_t stride = 0;
  int64_t count = 0;  // the numbers of all pages lie below it

  SAWTOOTH_HD constexpr bool paged() const { return rows > 0; }
  /// Of key `key` of sequence `sequence`.
  SAWTOOTH_HD constexpr int64_t page_of(int64_t sequence, int64_t key) const {
    return table[sequence * stride + key / rows];
  }
};

/// Pages that `keys` keys take.
SAWTOOTH_HD constexpr int64_t pages_for(int64_t keys, int64_t page_rows) {
  return ceil_div(keys, page_rows);
}

/// How a table without a file names the pages, counted through sequence after sequence: as they are
/// counted, or in an order that a seed shuffles, as those of a server are that has run for long.
struct PageOrder {
  bool shuffled = false;
  uint64_t seed = 0;

  /// The page that stands at `place` of `pages`.
  SAWTOOTH_HD constexpr int64_t page(int64_t place, int64_t pages) const {
    return shuffled ? permuted(place, pages, mix_seed(seed, 0)) : place;
  }
};

}  // namespace sawtooth
