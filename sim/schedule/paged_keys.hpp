// Where rows of paged K and V lie: the pages of a tensor follow one another, and each holds its
// rows of one K/V head after the other, [page, head, row, dim].
#pragma once

#include <cstdint>

#include "scheduler/integer_math.hpp"
#include "scheduler/pages.hpp"
#include "scheduler/problem.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::sim {

class PagedKeys {
 public:
  PagedKeys() = default;
  /// Pages and tiles divide one another.
  PagedKeys(const Problem& problem, const Tiling& tiling, const Pages& pages)
      : pages_(pages),
        kv_heads_(problem.kv_heads),
        tile_rows_(tiling.kv_rows),
        row_bytes_(problem.row_bytes()) {}

  bool paged() const { return pages_.paged(); }
  /// Rows of a tile that are neighbours in memory.
  int64_t run_rows() const { return min_of(pages_.rows, tile_rows_); }
  int64_t run_bytes() const { return run_rows() * row_bytes_; }
  /// Of K, or of V.
  int64_t all_bytes() const { return pages_.count * kv_heads_ * pages_.rows * row_bytes_; }

  /// From the first byte of the tensor to byte `byte` of tile `tile` of flat K/V head `head`.
  int64_t address(int64_t head, int64_t tile, int64_t byte) const {
    const int64_t key = tile * tile_rows_ + byte / row_bytes_;
    const int64_t page = pages_.page_of(head / kv_heads_, key);
    const int64_t row = (page * kv_heads_ + head % kv_heads_) * pages_.rows + key % pages_.rows;
    return row * row_bytes_ + byte % row_bytes_;
  }

 private:
  Pages pages_;
  int64_t kv_heads_ = 1;
  int64_t tile_rows_ = 1;
  int64_t row_bytes_ = 1;
};

}  // namespace sawtooth::sim
