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

#include <cstdint>
#include <string_view>
#include <vector>

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
  int64_t buffer_tiles() const;  // one more than the highest number
  int64_t reads() const;         // tiles that CTAs read, those of several CTAs several times
  /// The kernel read this table once, from DRAM: sectors.
  int64_t table_sectors() const;
};

/// Throws std::invalid_argument for sizes that are not positive and lanes that no CTA is left for.
LockstepOrder lockstep_order(const LockstepPattern& pattern, int64_t per_half);

}  // namespace sawtooth::experiments
