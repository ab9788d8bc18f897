// The soft edge of a set-associative half as a few classes of sets.
//
// A class holds an equal share of all lines; its sets overflow at one size of stream. Inside a
// class a half is a fully associative LRU, so every class is exact on tiles (docs/exactness.md, A)
// and the whole stays deterministic. The conversion from a stack distance to a share of hits is
// that of Smith (IEEE TSE 1978) and Hill and Smith (IEEE TC 1989), with a measured instead of a
// binomial spread, because an L2 hash fills sets more evenly than chance.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/halves/parameters.hpp"

namespace sawtooth::sim {

/// Weights are exact integers: a line weighs weight_units where sets fill evenly.
inline constexpr int64_t weight_units = 1024;

struct SetClass {
  int64_t home_units = 0;  // of a line's weight_units, those whose home is half 0
  // What a line weighs in these sets, by who has read it: index 1 half 0, 2 half 1, 3 both.
  std::array<int64_t, 4> reader_units{};
};

/// Number of classes when sets are on.
inline constexpr int set_class_count = 32;

/// One even class when sets are off. Otherwise classes overflow between edge_low and edge_high,
/// evenly, but for those that overflow last, at edge_high together; the mean is the capacity.
std::vector<SetClass> set_classes(const HalvesParameters& parameters);

}  // namespace sawtooth::sim
