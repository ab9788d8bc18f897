// What sampled tiles tell of all: the counting behind simulate_sampled_lru and sample_trace, for
// tiles that come from anywhere. sampled_lru.hpp says how and after whom.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/lru/distance_histogram.hpp"
#include "sim/lru/stack_distance.hpp"
#include "sim/prediction.hpp"
#include "sim/schedule/atoms.hpp"

namespace sawtooth::sim {

class SampledCounts {
 public:
  static constexpr size_t groups = 16;  // of tiles, for the jackknife

  /// What is known of a tile in flight.
  struct Known {
    bool seen = false;
    std::optional<AtomId> followed;  // its number in the stack
    size_t group = 0;
  };

  /// Follows a share `rate` of the tiles, chosen by `seed`.
  SampledCounts(double rate, uint64_t seed);

  /// One of all tiles that there are; `number` chooses whether it is followed.
  void add_tile(int64_t number, uint32_t lines);
  /// Throws std::invalid_argument where too few tiles are followed; call it after the last one.
  void require_enough_tiles() const;

  /// A tile comes into flight, and leaves it.
  Known begin(int64_t number, uint32_t lines);
  void end(const Known& tile, uint32_t lines);

  /// A visit to a tile in flight.
  void count(Known& tile, const AtomSize& size, Tensor tensor, Access access, uint32_t times);

  int64_t visits() const { return visits_; }

  /// The followed visits, scaled so that all sectors are there.
  DistanceHistogram histogram() const;
  /// Tiles and 95 % intervals of misses at one capacity.
  Sampling sampling(int64_t capacity_lines) const;

 private:
  // Visits of one kind that were followed, by what the stack saw between them.
  struct Followed {
    // sampled lines between, lines of the tile -> sectors, for each group
    std::map<std::pair<int64_t, uint32_t>, std::array<int64_t, groups>> sectors;
    int64_t reused = 0;  // sectors of all visits that are neither first nor followed each other
  };
  // Distances that a visit may have, in lines.
  struct Distances {
    double low, middle, high;
  };
  enum class End { low, high };
  struct MissesByGroup;

  uint64_t hash_of(int64_t number) const;
  bool is_followed(uint64_t hash) const;
  Interval interval(std::span<const Access> accesses, int64_t capacity_lines) const;
  Distances distances(int64_t between, uint32_t lines) const;
  MissesByGroup misses_by_group(const Followed& followed, End end, int64_t capacity_lines) const;
  double wilson(double share, double variance, double count, double direction) const;

  double rate_;
  uint64_t salt_;
  int64_t tiles_ = 0;  // that are followed
  int64_t all_tiles_ = 0;
  uint32_t largest_lines_ = 1;
  StackDistance stack_;
  AtomId stack_size_ = 0;
  std::map<uint32_t, std::vector<AtomId>> free_;  // numbers in the stack, by lines
  DistanceHistogram known_;
  std::array<std::array<Followed, access_count>, tensor_count> followed_;
  int64_t visits_ = 0;
};

}  // namespace sawtooth::sim
