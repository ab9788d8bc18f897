// Reads in lockstep: which tile each CTA read at each step of the recorded patterns
// (experiments/data/h200/streams/lockstep_reads.csv).
//
// CTAs sit one an SM and are numbered by half of L2: 0 to per_half - 1 at half 0, the others at
// half 1. At each step every CTA reads one tile of 32 KiB or none, and no CTA begins the next step
// before all have ended this one. So the order of reads is known up to those of one step, and what
// the counters say is a property of L2 alone: no timing is in it.
// Idea: access patterns that tell replacement policies apart (Abel and Reineke, "Measurement-based
// Modeling of the Cache Replacement Policy", RTAS 2013), here by sums over all sets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/support/csv.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {

inline constexpr int64_t lockstep_tile_bytes = 32 * 1024;

/// "Pair" is the CTA of one number in each half; both read the same tile.
enum class LockstepFamily : uint8_t {
  ring,      // pairs go round a ring from `lanes` places, evenly apart
  pairs,     // the same from places of chance; `readers` pairs a place
  single,    // each CTA from a place of its own, by chance
  follow,    // a pair a lane reads fresh tiles; `readers` pairs follow at `distance`, and as
             // many at `distance` + `second` if that is given
  one_half,  // a CTA of half 0 a lane reads fresh tiles; `readers` follow, `across` or not
  chain,     // follow, the readers evenly apart up to `distance`
  hot,       // fresh tiles by a pair a lane; in the time of `second` of them `readers` pairs
             // each read `distance` of the same hot tiles once
  causal,    // items by stride, ascending; item i reads tiles 0 to i; neighbours share a half
             // or alternate (`across`)
  causal_sawtooth,  // every other item of a CTA from the other end
};
inline constexpr std::string_view lockstep_family_names[] = {
    "ring", "pairs", "single", "follow", "one-half", "chain", "hot", "causal", "causal-sawtooth"};

enum class LockstepAccess : uint8_t { ld, cp_async };
inline constexpr std::string_view lockstep_access_names[] = {"ld", "cp-async"};

struct LockstepPattern {
  LockstepFamily family = LockstepFamily::ring;
  int64_t mib = 0;      // of the ring, of the buffer that fresh tiles come from, of K/V
  int64_t lanes = 1;    // fresh tiles a step; ring: places
  int64_t readers = 1;  // pairs
  int64_t distance_mib = 0;
  int64_t second_mib = 0;
  bool across = false;
  int64_t seed = 1;
  int64_t pace_us = 0;  // added to each step
  LockstepAccess access = LockstepAccess::ld;
  int64_t steps = 0;  // causal: as many as its items take
  friend bool operator==(const LockstepPattern&, const LockstepPattern&) = default;
};

struct LockstepOrder {
  static constexpr int32_t none = -1;

  int64_t per_half = 0;        // CTAs
  std::vector<int32_t> tiles;  // step after step, CTA after CTA: a number from 0, or none

  int64_t ctas() const { return 2 * per_half; }
  int64_t steps() const { return static_cast<int64_t>(tiles.size()) / ctas(); }
  /// One more than the highest number.
  int64_t buffer_tiles() const {
    return tiles.empty() ? 0 : *std::ranges::max_element(tiles) + int64_t{1};
  }
  /// Tiles that CTAs read, those of several CTAs several times.
  int64_t reads() const {
    return static_cast<int64_t>(tiles.size()) - std::ranges::count(tiles, none);
  }
  /// The kernel read this table once, from DRAM: sectors.
  int64_t table_sectors() const {
    return static_cast<int64_t>(tiles.size() * sizeof(int32_t)) / sector_bytes;
  }
};

inline bool is_causal(const LockstepPattern& pattern) {
  return pattern.family == LockstepFamily::causal ||
         pattern.family == LockstepFamily::causal_sawtooth;
}

/// Adds steps until all items are done.
inline void add_causal_steps(const LockstepPattern& pattern, int64_t items, LockstepOrder& order) {
  struct Worker {
    int64_t item, done = 0;
    bool backwards = false;
  };
  std::vector<Worker> workers;
  for (int64_t w = 0; w < order.ctas(); ++w) workers.push_back({.item = w});
  for (;;) {
    std::vector<int32_t> step(workers.size(), LockstepOrder::none);
    for (size_t w = 0; w < workers.size(); ++w) {
      Worker& worker = workers[w];
      if (worker.item >= items) continue;
      const size_t other_half = w % 2 * static_cast<size_t>(order.per_half);
      step[pattern.across ? other_half + w / 2 : w] =
          static_cast<int32_t>(worker.backwards ? worker.item - worker.done : worker.done);
      if (++worker.done > worker.item)
        worker = {
            .item = worker.item + order.ctas(),
            .backwards = pattern.family == LockstepFamily::causal_sawtooth && !worker.backwards};
    }
    if (std::ranges::count(step, LockstepOrder::none) == order.ctas()) return;
    order.tiles.insert(order.tiles.end(), step.begin(), step.end());
  }
}

/// Pairs are dealt out to lanes; group 0 of each lane leads.
inline LockstepOrder lockstep_order(const LockstepPattern& p, int64_t per_half) {
  using enum LockstepFamily;
  constexpr int64_t tiles_per_mib = (int64_t{1} << 20) / lockstep_tile_bytes;
  const int64_t buffer = p.mib * tiles_per_mib, distance = p.distance_mib * tiles_per_mib;
  const int64_t second = p.second_mib * tiles_per_mib;
  LockstepOrder order{.per_half = per_half, .tiles = {}};
  if (is_causal(p)) {
    add_causal_steps(p, buffer, order);
    return order;
  }
  std::mt19937_64 random(static_cast<uint64_t>(p.seed));
  std::vector<int64_t> places;  // of chance
  for (int64_t cta = 0; cta < order.ctas(); ++cta) {
    const bool shared = p.family == pairs && cta % per_half % p.readers != 0;
    if (p.family == pairs && cta >= per_half)
      places.push_back(places[static_cast<size_t>(cta - per_half)]);
    else
      places.push_back(shared ? places.back()
                              : static_cast<int64_t>(random() % static_cast<uint64_t>(buffer)));
  }
  const auto tile_of = [&](int64_t step, int64_t cta) -> int64_t {
    const int64_t half = cta / per_half, pair = cta % per_half, lane = pair % p.lanes,
                  group = pair / p.lanes, fresh = step * p.lanes + lane;
    if (p.family == ring) return lane * buffer / p.lanes + step;
    if (p.family == pairs || p.family == single) return places[static_cast<size_t>(cta)] + step;
    if (group > (p.family == follow && second > 0 ? 2 : 1) * p.readers) return -1;
    if (p.family == follow)
      return fresh - (group == 0 ? 0 : distance) - (group > p.readers ? second : 0);
    if (p.family == one_half)
      return half != (group > 0 && p.across) ? -1 : fresh - (group == 0 ? 0 : distance);
    if (p.family == chain)  // to the nearest tile
      return fresh - (2 * distance * group + p.readers) / (2 * p.readers);
    if (group == 0) return distance + fresh % (buffer - distance);
    // Hot: `distance` hot reads in `second` fresh ones, evenly.
    const int64_t due = fresh * distance / second;
    return (fresh + 1) * distance / second > due ? due % distance : -1;
  };
  for (int64_t step = 0; step < p.steps; ++step)
    for (int64_t cta = 0; cta < order.ctas(); ++cta) {
      const int64_t tile = tile_of(step, cta);  // below 0: a follower waits for what it follows
      order.tiles.push_back(tile < 0 ? LockstepOrder::none : static_cast<int32_t>(tile % buffer));
    }
  return order;
}

/// One row of lockstep_reads.csv: a pattern at a place of memory.
struct LockstepRow {
  LockstepPattern pattern;  // its steps are those that were read, of causal ones as well
  int64_t ctas = 0;
  bool apart = false;
  int64_t dram_read_sectors = 0;
};

inline TypedColumns<LockstepRow> lockstep_columns() {
  using Row = LockstepRow;
  using Pattern = LockstepPattern;
  static constexpr std::string_view across[] = {"no", "yes"}, places[] = {"together", "apart"};
  return {{"family", [](Row& row) { return named(lockstep_family_names, row.pattern.family); }},
          {"mib", &Row::pattern, &Pattern::mib},
          {"lanes", &Row::pattern, &Pattern::lanes},
          {"readers", &Row::pattern, &Pattern::readers},
          {"distance_mib", &Row::pattern, &Pattern::distance_mib},
          {"second_mib", &Row::pattern, &Pattern::second_mib},
          {"across", [](Row& row) { return named(across, row.pattern.across); }},
          {"seed", &Row::pattern, &Pattern::seed},
          {"pace_us", &Row::pattern, &Pattern::pace_us},
          {"access", [](Row& row) { return named(lockstep_access_names, row.pattern.access); }},
          {"ctas", &Row::ctas},
          {"place", [](Row& row) { return named(places, row.apart); }},
          {"steps", &Row::pattern, &Pattern::steps},
          {"dram_read_sectors", &Row::dram_read_sectors}};
}

}  // namespace sawtooth::experiments
