// Streams of attention: `ctas` CTAs scan K/V tiles in turn, each from a start of its own (up to two
// tiles of skew), and each stands still in one of 16 turns. Shared: all scan the same K/V;
// private: each its own. One visit is one tile.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "sim/schedule/atoms.hpp"

namespace sawtooth::tests {

struct AttentionStream {
  uint32_t ctas = 48;
  bool is_shared = true;
  bool sawtooth = false;
  uint32_t scan_lines = 65536;  // of one pass of one CTA
  uint32_t tile_lines = 128;

  uint32_t tiles() const { return scan_lines / tile_lines; }
  uint32_t atoms() const { return is_shared ? tiles() : tiles() * ctas; }

  /// Every tile once, as a first pass of all CTAs in step leaves them.
  std::vector<sim::AtomId> first_pass() const {
    std::vector<sim::AtomId> visits;
    visits.reserve(atoms());
    for (uint32_t tile = 0; tile < tiles(); ++tile) {
      for (uint32_t cta = 0; cta < (is_shared ? 1 : ctas); ++cta) {
        visits.push_back(cta * tiles() + tile);
      }
    }
    return visits;
  }

  std::vector<sim::AtomId> visits(size_t count) const {
    constexpr uint64_t skew_tiles = 3;
    constexpr uint64_t turns_a_stall = 16;
    std::mt19937_64 random(1);
    std::vector<uint64_t> position(ctas);
    for (uint64_t& start : position) start = random() % skew_tiles;
    std::vector<sim::AtomId> visits;
    visits.reserve(count + ctas);
    while (visits.size() < count) {
      for (uint32_t cta = 0; cta < ctas; ++cta) {
        if (random() % turns_a_stall == 0) continue;
        const uint64_t pass = position[cta] / tiles();
        const auto step = static_cast<uint32_t>(position[cta]++ % tiles());
        const uint32_t tile = sawtooth && pass % 2 == 1 ? tiles() - 1 - step : step;
        visits.push_back(is_shared ? tile : cta * tiles() + tile);
      }
    }
    visits.resize(count);
    return visits;
  }
};

}  // namespace sawtooth::tests
