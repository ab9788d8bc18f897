// What a wavefront tells a cache model: who touched which atom, in time order.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/schedule/atoms.hpp"

namespace sawtooth::sim {

/// A reduction is an addition that L2 carries out: it leaves its line dirty, as a write does, and
/// reads it from DRAM where it is missing.
enum class Access : uint8_t { read, write, prefetch, reduce };
inline constexpr int access_count = 4;
inline constexpr std::array<std::string_view, access_count> access_names{"read", "write",
                                                                         "prefetch", "reduce"};

/// Whether it leaves its line dirty.
constexpr bool changes(Access access) {
  return access == Access::write || access == Access::reduce;
}

/// `times` visits to `atom` in direct succession, by `times` different workers from `worker` on.
/// The first may miss; the others hit at the distance of the atom's own lines
/// (docs/models/exactness.md, D). A prefetch brings the atom into L2 without delivering it to an
/// SM.
struct Visit {
  AtomId atom = 0;
  Access access = Access::read;
  uint32_t times = 1;
};

}  // namespace sawtooth::sim
