// Lists of visible tiles drawn by a seed, with what each row sees of them
// (scheduler/tile_lists.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "scheduler/problem.hpp"
#include "scheduler/tile_lists.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::kernels {

/// Causal in documents; a window and sinks; a prefix that all see; whole tiles; two ranges of each
/// row anywhere, with tiles in the lists that no row sees.
enum class ListKind : int { documents, sinks, prefix, blocks, anything };
inline constexpr int list_kinds = 5;

class HostLists {
 public:
  HostLists(ListKind kind, const Problem& problem, const Tiling& tiling, uint64_t seed)
      : generator_(seed) {
    if (kind != ListKind::blocks) draw_spans(kind, problem);
    list_tiles(kind, problem, tiling);
    lists_.of_q = {begin_.data(), tiles_.data()};
    lists_.q_rows = tiling.q_rows;
    lists_.kv_rows = tiling.kv_rows;
    lists_.spans = spans_.empty() ? nullptr : spans_.data();
  }
  HostLists(const HostLists&) = delete;
  HostLists& operator=(const HostLists&) = delete;

  /// Valid as long as this.
  Mask mask() const { return {.kind = MaskKind::listed, .listed = &lists_}; }

 private:
  int32_t pick(int64_t low, int64_t high) {
    return int32_t(std::uniform_int_distribution<int64_t>(low, high)(generator_));
  }

  void draw_spans(ListKind kind, const Problem& problem) {
    const auto keys = int32_t(problem.seq_kv);
    const int32_t window = pick(1, keys), prefix = pick(0, keys), longest = pick(1, keys);
    int32_t document = 0;
    for (int64_t row = 0; row < problem.seq_q; ++row) {
      const auto end = int32_t(std::clamp<int64_t>(row + keys - problem.seq_q + 1, 0, keys));
      if (kind == ListKind::documents) {
        if (pick(0, longest) == 0) document = std::max(0, end - 1);
        spans_.push_back({0, 0, std::min(document, end), end});
      } else if (kind == ListKind::sinks) {
        const int32_t begin = std::max(0, end - window);
        spans_.push_back({0, std::min(prefix, begin), begin, end});
      } else if (kind == ListKind::prefix) {
        spans_.push_back({0, 0, 0, std::max(prefix, end)});
      } else {
        spans_.push_back({pick(0, keys), pick(0, keys), pick(0, keys), pick(0, keys)});
      }
    }
  }

  /// Of every Q tile those that some row sees, by looking at every pair.
  void list_tiles(ListKind kind, const Problem& problem, const Tiling& tiling) {
    const int32_t share = pick(0, 4);
    for (int64_t q_tile = 0; q_tile < q_tiles(problem, tiling); ++q_tile) {
      const Range rows = tile_rows(q_tile, tiling.q_rows, problem.seq_q);
      for (int64_t tile = 0; tile < kv_tiles(problem, tiling); ++tile) {
        const Range keys = tile_rows(tile, tiling.kv_rows, problem.seq_kv);
        bool seen = kind == ListKind::blocks ? pick(0, 3) < share
                                             : kind == ListKind::anything && pick(0, 4) == 0;
        for (int64_t row = rows.begin; !spans_.empty() && !seen && row < rows.end; ++row)
          for (int64_t key = keys.begin; !seen && key < keys.end; ++key)
            seen = spans_[size_t(row)].contain(key);
        if (seen) tiles_.push_back(int32_t(tile));
      }
      begin_.push_back(int64_t(tiles_.size()));
    }
  }

  std::mt19937_64 generator_;
  std::vector<int64_t> begin_{0};
  std::vector<int32_t> tiles_;
  std::vector<KeySpans> spans_;
  ListedTiles lists_;
};

}  // namespace sawtooth::kernels
