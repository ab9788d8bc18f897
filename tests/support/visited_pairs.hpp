// How often a tile of Q of a head of a sequence meets a K/V tile: in a replay, and by definition.
#pragma once

#include <map>
#include <optional>
#include <tuple>

#include "scheduler/cascade.hpp"
#include "sim/schedule/wavefront.hpp"
#include "tests/support/brute_force.hpp"

namespace sawtooth::tests {

/// Times by batch index, query head, Q tile and K/V tile.
using VisitedPairs = std::map<std::tuple<int64_t, int64_t, int64_t, int64_t>, int64_t>;

struct PairCounter : sim::WavefrontSink {
  explicit PairCounter(const sim::Request& request) {
    if (request.cascade) cascade.emplace(request.problem, request.tiling, request.sequences.prefix);
  }
  void at(int64_t, int64_t, const Item& item, const sim::TilePair& pair) {
    Range stack{item.batch, item.batch + 1};
    if (cascade && item.part == 0) stack = cascade->sequences_of(item.index);
    for (int64_t batch = stack.begin; batch < stack.end; ++batch)
      ++pairs[{batch, pair.head, pair.q_tile, pair.kv_tile}];
  }
  std::optional<Cascade> cascade;
  VisitedPairs pairs;
};

/// Each pair of tiles that the masks of all sequences let see each other, `times` times.
inline VisitedPairs visible_pairs(const sim::Request& request, int64_t times = 1) {
  VisitedPairs visible;
  for (int64_t batch = 0; batch < request.problem.batch; ++batch) {
    const Problem own = request.sequences.of(request.problem, batch);
    for (int64_t head = 0; head < own.heads; ++head)
      for (int64_t q = 0; q < q_tiles(own, request.tiling); ++q)
        for (int64_t kv = 0; kv < kv_tiles(own, request.tiling); ++kv)
          if (tile_sees(own, request.tiling, q, kv)) visible[{batch, head, q, kv}] = times;
  }
  return visible;
}

}  // namespace sawtooth::tests
